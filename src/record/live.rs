//! A folder in which a recording can be read while it is made. The window makes the folder and reads it
//! (`live_reader`); `threadline record --live` writes it.
//!
//! ```text
//! cpuN       whole pages of the ring buffer of CPU N, appended as they come from the kernel
//! head       sections with the layout of pages, the formats of all events and the clock; written once, when the cpuN
//!            are there, under another name first
//! names      sections with symbols, printk formats and thread names; replaced now and then
//! progress   a line of JSON for each report; the line of a recording that ended has the field `ended`
//! ```
//!
//! All of it is removed at the end, except `progress`. If the process that reads the folder ended first, nobody wants
//! the recording: then the folder is also removed.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::desk::{Recorded, Situation};
use super::names::Names;
use super::session::Session;
use crate::tracedat::layout::id;
use crate::tracefs::head::{SectionText, pack};
use crate::tracefs::order::{Order, Stacks};

/// Name of the file with layouts and formats.
pub(super) const HEAD: &str = "head";
/// Name of the file with symbols and thread names.
pub(super) const NAMES: &str = "names";
/// Name of the file with reports.
pub(super) const PROGRESS: &str = "progress";
/// How often the names of living threads are written.
const NAMES_EVERY: Duration = Duration::from_secs(2);
/// How long after the start the kernel's symbols are written: the first picture does not wait for them.
const SYMBOLS_AFTER: Duration = Duration::from_millis(500);

/// Returns the name of the file with the pages of a CPU.
pub(super) fn pages_name(cpu: u32) -> String {
    format!("cpu{cpu}")
}

/// A recording that another process reads while it is made.
#[derive(Clone, Debug)]
pub struct Live {
    /// The folder, which exists and is empty.
    pub folder: PathBuf,
    /// Whether the process that reads the folder has ended.
    is_abandoned: Arc<AtomicBool>,
}

impl Live {
    /// Returns a recording that is read in this folder.
    #[must_use]
    pub fn new(folder: &Path) -> Live {
        Live {
            folder: folder.to_path_buf(),
            is_abandoned: Arc::default(),
        }
    }

    /// Looks what the process that reads the folder wrote to standard input: a line `stop` ends the recording. If the
    /// input ended, that process has ended. Polls, because a thread that waits would keep the rights of root.
    pub(super) fn look(&self, is_stopped: &AtomicBool) {
        let stdin = std::io::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        let now = Timespec::default();
        while matches!(poll(&mut fds, Some(&now)), Ok(1..)) {
            let mut bytes = [0; 64];
            let count = stdin.lock().read(&mut bytes).unwrap_or(0);
            is_stopped.store(true, Ordering::Relaxed);
            if count == 0 {
                self.is_abandoned.store(true, Ordering::Release);
                return;
            }
        }
    }

    /// Removes the folder if nobody reads it any more.
    pub(super) fn leave(&self) {
        if self.is_abandoned.load(Ordering::Acquire) {
            let _none = std::fs::remove_file(self.folder.join(PROGRESS));
            // Only an empty folder can be removed so: it was this recording's alone.
            let _other_files = std::fs::remove_dir(&self.folder);
        }
    }
}

/// A line of `progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Time since the start, in ms.
    pub elapsed_ms: u64,
    /// Bytes that were recorded.
    pub bytes: u64,
    /// Events that were lost.
    pub lost: u64,
    /// Events in the file, once the recording has ended.
    pub ended: Option<u64>,
    /// Whether the recording ended because the disk was full.
    #[serde(default)]
    pub is_disk_full: bool,
}

impl Report {
    /// Returns the report about a running recording.
    fn of(now: Situation) -> Report {
        Report {
            elapsed_ms: now.elapsed.as_millis() as u64,
            bytes: now.bytes,
            lost: now.lost,
            ..Report::default()
        }
    }
}

/// Writes the folder. Dropping it removes what it wrote.
pub(super) struct LiveFolder {
    live: Live,
    cpus: Vec<u32>,
    /// Whether traced functions and stacks make the kernel's symbols worth their size.
    needs_symbols: bool,
    symbols: Vec<SectionText>,
    start: Instant,
    named: Option<Instant>,
}

impl LiveFolder {
    /// Starts to write a folder for a recording of these CPUs.
    pub(super) fn new(live: &Live, order: &Order, cpus: Vec<u32>) -> LiveFolder {
        LiveFolder {
            live: live.clone(),
            cpus,
            needs_symbols: order.tracer.is_some() || order.has_stacks == Stacks::Kernel,
            symbols: Vec::new(),
            start: Instant::now(),
            named: None,
        }
    }

    /// Creates the files for the pages of the CPUs.
    ///
    /// # Errors
    /// Those of open(2).
    pub(super) fn page_files(&self) -> std::io::Result<Vec<File>> {
        let make = |cpu: &u32| {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            options.open(self.live.folder.join(pages_name(*cpu)))
        };
        self.cpus.iter().map(make).collect()
    }

    /// Writes layouts, formats and the first names: from now on the folder can be read.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn open(&mut self, session: &mut Session, names: &Names) -> std::io::Result<()> {
        let formats = session.formats().map_err(std::io::Error::other)?;
        let mut sections = formats.to_vec();
        sections.push(SectionText {
            id: id::TRACECLOCK,
            body: session.clocks.clone().into_bytes(),
        });
        self.write_names(names)?;
        self.replace(HEAD, &pack(&sections))
    }

    /// Writes the names again if they are old. The folder stays readable if that fails.
    pub(super) fn refresh(&mut self, session: &mut Session, names: &mut Names) {
        let age = self.named.map_or(Duration::ZERO, |it| it.elapsed());
        let wants_symbols = self.needs_symbols && self.symbols.is_empty();
        let is_due = wants_symbols && self.start.elapsed() >= SYMBOLS_AFTER;
        if age < NAMES_EVERY && !is_due {
            return;
        }
        if is_due && let Ok(sections) = session.names() {
            let is_symbols = |it: &SectionText| matches!(it.id, id::KALLSYMS | id::PRINTK);
            let symbols = sections.into_iter().filter(is_symbols);
            self.symbols = symbols.collect();
        }
        session.add_names(names);
        let _older_names = self.write_names(names);
    }

    fn write_names(&mut self, names: &Names) -> std::io::Result<()> {
        self.named = Some(Instant::now());
        let mut sections = self.symbols.clone();
        sections.extend(names.sections());
        self.replace(NAMES, &pack(&sections))
    }

    /// Writes a file as a whole: a reader sees the old bytes or the new ones.
    fn replace(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let draft = self.live.folder.join("draft");
        std::fs::write(&draft, bytes)?;
        std::fs::rename(draft, self.live.folder.join(name))
    }

    /// Returns whether the process that reads the folder has ended.
    pub(super) fn is_abandoned(&self, is_stopped: &AtomicBool) -> bool {
        self.live.look(is_stopped);
        self.live.is_abandoned.load(Ordering::Acquire)
    }
}

impl Drop for LiveFolder {
    fn drop(&mut self) {
        let remove = |name: &str| drop(std::fs::remove_file(self.live.folder.join(name)));
        for cpu in &self.cpus {
            remove(&pages_name(*cpu));
        }
        for name in [HEAD, NAMES, "draft"] {
            remove(name);
        }
    }
}

/// Writes the lines of `progress`.
pub(super) struct Reports(File);

impl Reports {
    /// Creates the file.
    ///
    /// # Errors
    /// Those of open(2).
    pub(super) fn new(live: &Live) -> std::io::Result<Reports> {
        Ok(Reports(File::create(live.folder.join(PROGRESS))?))
    }

    /// Adds a line about a running recording.
    pub(super) fn add(&mut self, now: Situation) {
        self.write(&Report::of(now));
    }

    /// Adds the last line.
    pub(super) fn end(&mut self, last: Situation, recorded: &Recorded) {
        self.write(&Report {
            bytes: recorded.files.iter().map(|(_, bytes)| *bytes).sum(),
            lost: recorded.lost,
            ended: Some(recorded.events),
            is_disk_full: recorded.is_disk_full,
            ..Report::of(last)
        });
    }

    fn write(&mut self, report: &Report) {
        // A reader without reports still sees the pages.
        if let Ok(line) = serde_json::to_string(report) {
            let _unwritable = writeln!(self.0, "{line}");
        }
    }
}

/// Returns the last whole line of `progress` in a folder; `None` if there is none yet.
#[must_use]
pub fn last_report(folder: &Path) -> Option<Report> {
    let text = std::fs::read_to_string(folder.join(PROGRESS)).ok()?;
    let whole = text.get(..text.rfind('\n')?)?;
    serde_json::from_str(whole.lines().next_back()?).ok()
}
