//! A recording that writes its pages to files at once.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::desk::{Desk, Recorded};
use super::live::LiveFolder;
use super::output::{CpuDraft, Drafts, write};
use super::pump::Pump;
use super::trigger::{FreshPages, Trigger};
use super::trouble::RecordError;
use super::watch::{Subject, Watch};

/// How often new pages are searched for the trigger.
pub(super) const SEARCH_EVERY: Duration = Duration::from_millis(100);
/// How often new events are put where another process reads them.
const SHOWN_EVERY: Duration = Duration::from_millis(50);

/// Records until the planned end, then writes the file.
pub(super) fn to_file(desk: &mut Desk<'_>) -> Result<Recorded, RecordError> {
    let drafts = Drafts::beside(&desk.plan.target)?;
    let mut live = desk.plan.live.as_ref().map(|live| {
        let cpus = desk.cpus.iter().map(|source| source.cpu);
        LiveFolder::new(live, &desk.plan.order, cpus.collect())
    });
    let files: Vec<File> = match &live {
        Some(live) => live.page_files()?,
        None => {
            let files = desk.cpus.iter().map(|_| drafts.file());
            files.collect::<std::io::Result<_>>()?
        }
    };
    if let Some(live) = &mut live {
        live.open(desk.session, &desk.names)?;
    }
    let taken: Vec<AtomicU64> = desk.cpus.iter().map(|_| AtomicU64::new(0)).collect();
    let until = desk.plan.ending.until.clone();
    let mut search = match &until {
        Some(word) => Some(FileSearch::new(desk.trigger(word)?, &files, &taken)),
        None => None,
    };
    let shared = Arc::clone(&desk.shared);
    let rest_every = match (&live, &until) {
        (Some(_), _) => Some(SHOWN_EVERY),
        (None, Some(_)) => Some(SEARCH_EVERY),
        (None, None) => None,
    };
    let (cpus, page_size) = (desk.cpus, desk.page_size as usize);
    let mut watch = Watch::new();
    let mut subject = None;
    let sizes = std::thread::scope(|scope| {
        let outs = files.iter().zip(&taken);
        let pumps: Vec<_> = cpus
            .iter()
            .zip(outs)
            .map(|(source, (out, taken))| {
                let pump = Pump {
                    pages: &source.pages,
                    out,
                    page_size,
                    rest_every,
                    taken,
                    shared: &shared,
                };
                scope.spawn(move || pump.run())
            })
            .collect();
        let seen = Seen {
            search: search.as_mut(),
            live: live.as_mut(),
        };
        let watched = watch_files(desk, &mut watch, &mut subject, seen);
        let stopped = desk.session.switch("0");
        shared.is_stopping.store(true, Ordering::Release);
        let sizes = pumps.into_iter().map(|pump| {
            let result = pump.join();
            result.unwrap_or_else(|_| Err(std::io::Error::other("a reader panicked")))
        });
        let sizes: std::io::Result<Vec<u64>> = sizes.collect();
        watched?;
        stopped?;
        sizes.map_err(RecordError::Io)
    })?;
    if live
        .as_ref()
        .is_some_and(|it| it.is_abandoned(desk.is_stopped))
    {
        return Err(RecordError::Abandoned);
    }
    let elapsed = watch.elapsed();
    let spent = search.map(|search| search.trigger.spent);
    let (counts, about) = (desk.counts(), desk.about()?);
    let pages = cpus.iter().zip(files).zip(sizes);
    let pages = pages.map(|((source, pages), size)| CpuDraft {
        cpu: source.cpu,
        pages,
        size,
    });
    let target = &desk.plan.target;
    let bytes = write(target, &about, pages.collect(), drafts)?;
    if live
        .as_ref()
        .is_some_and(|it| it.is_abandoned(desk.is_stopped))
    {
        let _gone = std::fs::remove_file(&target.path);
        return Err(RecordError::Abandoned);
    }
    Ok(Recorded {
        files: vec![(target.path.clone(), bytes)],
        events: counts.read,
        lost: counts.lost,
        command: subject.and_then(|subject| subject.status),
        is_disk_full: shared.is_full.load(Ordering::Acquire),
        trigger_share: spent.map(|spent| spent.as_secs_f64() / elapsed.as_secs_f64()),
    })
}

/// What reads the pages while they are recorded.
struct Seen<'a, 'f> {
    search: Option<&'a mut FileSearch<'f>>,
    live: Option<&'a mut LiveFolder>,
}

/// Starts recording and waits until the planned end or until the search matches.
fn watch_files(
    desk: &mut Desk<'_>,
    watch: &mut Watch,
    subject: &mut Option<Subject>,
    mut seen: Seen<'_, '_>,
) -> Result<(), RecordError> {
    desk.session.switch("1")?;
    *watch = Watch::new();
    let subject = subject.insert(Subject::start(&desk.plan.ending.command, &desk.plan.on)?);
    while !watch.is_over(desk, subject, &|| None)? {
        if let Some(live) = &mut seen.live {
            live.refresh(desk.session, &mut desk.names);
        }
        if let Some(search) = &mut seen.search
            && search.has_matched(desk)?
        {
            return Ok(());
        }
    }
    Ok(())
}

/// Searches the pages that were written to the files.
struct FileSearch<'a> {
    trigger: Trigger,
    files: &'a [File],
    taken: &'a [AtomicU64],
    seen: Vec<u64>,
    next: Instant,
}

impl<'a> FileSearch<'a> {
    fn new(trigger: Trigger, files: &'a [File], taken: &'a [AtomicU64]) -> FileSearch<'a> {
        FileSearch {
            trigger,
            files,
            taken,
            seen: vec![0; files.len()],
            next: Instant::now(),
        }
    }

    fn has_matched(&mut self, desk: &Desk<'_>) -> std::io::Result<bool> {
        if Instant::now() < self.next {
            return Ok(false);
        }
        self.next = Instant::now() + SEARCH_EVERY;
        let mut fresh = Vec::new();
        let sources = desk.cpus.iter().zip(self.files).zip(self.taken);
        for (((source, file), taken), seen) in sources.zip(&mut self.seen) {
            let taken = taken.load(Ordering::Acquire);
            let mut pages = vec![0; (taken - *seen) as usize];
            file.read_exact_at(&mut pages, *seen)?;
            *seen = taken;
            let pages = Arc::new(pages);
            let cpu = source.cpu;
            fresh.push(FreshPages { cpu, pages });
        }
        Ok(self.trigger.matches(fresh))
    }
}
