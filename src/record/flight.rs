//! A flight recorder: the last events are kept in memory, and written to a file each time the trigger matches.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::desk::{Desk, Flight, Recorded};
use super::output::{CpuDraft, Drafts, Target, active_clock, write};
use super::ring::{CpuRing, Limits, held};
use super::to_file::SEARCH_EVERY;
use super::trigger::Trigger;
use super::trouble::RecordError;
use super::watch::{Subject, Watch};
use crate::base::atomic_file::Overwrite;
use crate::event::clocks::kernel_clock;
use crate::event::part::ClockUnit;

/// Records until the planned end; writes a file each time the trigger matches.
pub(super) fn fly(desk: &mut Desk<'_>, flight: &Flight) -> Result<Recorded, RecordError> {
    // Errors now, not when the trigger matches, if no file can be written there.
    let target = &desk.plan.target;
    Drafts::beside(target)?;
    let paths =
        (0..flight.repeat.min(MOST_LOOKED_AT)).map(|it| numbered(&target.path, it as usize));
    if target.overwrite == Overwrite::Refuse
        && let Some(path) = paths.into_iter().find(|path| path.exists())
    {
        return Err(RecordError::Exists(path));
    }
    let trigger = desk.trigger(&flight.trigger)?;
    let unit = kernel_clock(active_clock(&desk.session.clocks)).unit;
    let limits = Limits {
        // What is kept grows older until the file is written.
        keep: (unit == ClockUnit::Nanoseconds).then(|| flight.keep.saturating_add(flight.after)),
        bytes: (flight.bytes / desk.cpus.len().max(1) as u64) as usize,
        page_size: desk.page_size as usize,
    };
    let rings: Vec<CpuRing> = (desk.cpus.iter())
        .map(|source| CpuRing::new(source.cpu, limits))
        .collect();
    let shared = Arc::clone(&desk.shared);
    let shared = shared.as_ref();
    let cpus = desk.cpus;
    std::thread::scope(|scope| {
        let readers: Vec<_> = cpus
            .iter()
            .zip(&rings)
            .map(|(source, ring)| scope.spawn(move || ring.fill(&source.pages, shared)))
            .collect();
        let mut flown = Flown {
            desk: &mut *desk,
            flight,
            rings: &rings,
            trigger,
            files: Vec::new(),
        };
        let landing = flown.run();
        let stopped = flown.desk.session.switch("0");
        shared.is_stopping.store(true, Ordering::Release);
        for reader in readers {
            let result = reader.join();
            result.unwrap_or_else(|_| Err(std::io::Error::other("a reader panicked")))?;
        }
        stopped?;
        flown.land(landing?)
    })
}

/// Of so many files, those that exist are found before the start.
const MOST_LOOKED_AT: u32 = 10_000;

/// A running flight recorder.
struct Flown<'a, 'd> {
    desk: &'a mut Desk<'d>,
    flight: &'a Flight,
    rings: &'a [CpuRing],
    trigger: Trigger,
    /// The files that were written, with their sizes in bytes.
    files: Vec<(PathBuf, u64)>,
}

/// The end of a flight.
struct Landing {
    elapsed: Duration,
    command: Option<ExitStatus>,
}

impl Flown<'_, '_> {
    /// Writes a file each time the trigger matches, until the planned end.
    fn run(&mut self) -> Result<Landing, RecordError> {
        self.desk.session.switch("1")?;
        let mut watch = Watch::new();
        let mut subject = Subject::start(&self.desk.plan.ending.command, &self.desk.plan.on)?;
        let mut next = Instant::now();
        let rings = self.rings;
        let held = || Some(held(rings));
        let mut is_over = false;
        while !is_over && self.has_room() {
            is_over = watch.is_over(self.desk, &mut subject, &held)?;
            if Instant::now() < next && !is_over {
                continue;
            }
            next = Instant::now() + SEARCH_EVERY;
            if !self.matches() {
                continue;
            }
            let until = watch.elapsed() + self.flight.after;
            while watch.elapsed() < until && !is_over {
                is_over = watch.is_over(self.desk, &mut subject, &held)?;
            }
            self.write()?;
        }
        Ok(Landing {
            elapsed: watch.elapsed(),
            command: subject.status,
        })
    }

    /// Searches what the kernel still held when recording stopped: a program that is recorded often ends with what it is
    /// recorded for.
    fn land(mut self, landing: Landing) -> Result<Recorded, RecordError> {
        if self.has_room() && self.matches() {
            self.write()?;
        }
        let counts = self.desk.counts();
        Ok(Recorded {
            events: counts.read,
            lost: counts.lost,
            command: landing.command,
            is_disk_full: false,
            trigger_share: Some(self.trigger.spent.as_secs_f64() / landing.elapsed.as_secs_f64()),
            files: self.files,
        })
    }

    /// Returns whether another file may be written.
    fn has_room(&self) -> bool {
        self.files.len() < self.flight.repeat as usize
    }

    /// Returns whether the trigger matches what it has not searched.
    fn matches(&mut self) -> bool {
        let fresh = self.rings.iter().map(CpuRing::take_fresh).collect();
        self.trigger.matches(fresh)
    }

    /// Writes the kept pages to the next file.
    fn write(&mut self) -> Result<(), RecordError> {
        let target = Target {
            path: numbered(&self.desk.plan.target.path, self.files.len()),
            ..self.desk.plan.target.clone()
        };
        let drafts = Drafts::beside(&target)?;
        let mut cpus = Vec::new();
        for ring in self.rings {
            let mut pages = drafts.file()?;
            let mut size = 0;
            for page in ring.pages() {
                pages.write_all(&page)?;
                size += page.len() as u64;
            }
            let cpu = ring.cpu;
            cpus.push(CpuDraft { cpu, pages, size });
        }
        let about = self.desk.about()?;
        let bytes = write(&target, &about, cpus, drafts)?;
        self.files.push((target.path, bytes));
        Ok(())
    }
}

/// Returns the path of the file that follows `number` others: `trace.dat`, `trace-2.dat` ...
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return path.to_path_buf();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(ending) => format!("{stem}-{}.{}", number + 1, ending.to_string_lossy()),
        None => format!("{stem}-{}", number + 1),
    };
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_after_the_first_have_a_number() {
        let path = Path::new("/a/trace.dat");
        assert_eq!(numbered(path, 0), path);
        assert_eq!(numbered(path, 1), Path::new("/a/trace-2.dat"));
        assert_eq!(numbered(Path::new("x"), 9), Path::new("x-10"));
    }
}
