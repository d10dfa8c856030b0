//! The process that records for the window: `threadline record`, started with the arguments that the window shows.
//!
//! ```text
//! RecordSettings --arguments--> threadline record --live DIR -o DIR/recording.dat
//!     DIR (record/live)  --LiveReader, only new pages-->  traces of the last part, until the process ends
//!     DIR/recording.dat  --load-->                        the whole trace
//! ```
//!
//! The window has no rights: if root's are needed, the process gets them from polkit, for `threadline-tracer` alone. The
//! window holds the other end of the process's standard input. A line `stop` ends the recording; if the window ends
//! without that line, the process restores the kernel and removes the folder.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::base::task::Work;
use crate::base::user_folder::cache_folder;
use crate::base::{Cancelled, Nanos, Task, TraceId, Waker};
use crate::load::LoadedTrace;
use crate::record::{LiveReader, Report, last_report, program_path};
use crate::view::recording::{FinishedRecording, RecordFacts};
use crate::view::{RecordRights, RecordSettings, RecordState};

/// How often the process and its folder are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Least time between the starts of two loads of what was recorded.
const LEAST_PAUSE: Duration = Duration::from_millis(100);
/// A load is followed by a pause of at least this many times its duration, so that one processor is mostly free.
const REST: u32 = 2;
/// Pages are kept up to the number that loads in about this time.
const LOAD_TIME: Duration = Duration::from_millis(150);
/// How long the process may take to restore the kernel after the window lost interest in the recording.
const MOST_CLEANING: Duration = Duration::from_secs(3);
/// Beginning of the names of folders of recordings.
const PREFIX: &str = "threadline-recording-";
/// Name of the file in such a folder.
const FILE: &str = "recording.dat";

/// Where the folders of recordings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the user's cache folder, which is on a disk.
    Cache,
    /// In the folder for temporary files.
    Temporary,
}

/// A recording that the window makes. Dropping it ends the process and deletes the recording.
pub(super) struct Recorder {
    task: Task<(), Seen>,
    is_stopped: Arc<AtomicBool>,
    /// Deleted after the task has ended, because fields are dropped in their order.
    folder: TempDir,
    /// The id of the last trace that was handed out.
    pub(super) last: Option<TraceId>,
}

/// What the thread that watches the process saw last.
#[derive(Clone)]
pub(super) struct Seen {
    /// The state of the recording.
    pub(super) state: RecordState,
    /// The newest trace.
    pub(super) trace: Option<LiveTrace>,
}

/// A trace of what was recorded until a moment.
#[derive(Clone)]
pub(super) struct LiveTrace {
    /// The trace.
    pub(super) loaded: Arc<LoadedTrace>,
    /// When its pages were read.
    pub(super) read: Instant,
}

impl Recorder {
    /// Starts to record; `wake` is called whenever there is something new to take.
    ///
    /// # Errors
    /// If no folder can be created.
    pub(super) fn start(
        settings: &RecordSettings,
        rights: RecordRights,
        place: Place,
        wake: impl Into<Waker>,
    ) -> std::io::Result<Recorder> {
        let cache = cache_folder();
        let parent = match (place, cache) {
            (Place::Cache, Some(cache)) => cache,
            _ => std::env::temp_dir(),
        };
        std::fs::create_dir_all(&parent)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let mut command = Command::new(program_path());
        command.arg("record").args(settings.arguments());
        if rights == RecordRights::Root {
            command.arg("--pkexec");
        }
        command.arg("--live").arg(folder.path());
        command.arg("-o").arg(folder.path().join(FILE));
        // The recording belongs to the user of the window, also if that is root by sudo.
        command.env_remove("SUDO_UID").env_remove("SUDO_GID");
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        command.stderr(Stdio::piped());
        let mut recorder = Recorder {
            task: Task::default(),
            is_stopped: Arc::default(),
            folder,
            last: None,
        };
        let is_stopped = Arc::clone(&recorder.is_stopped);
        let folder = recorder.folder.path().to_path_buf();
        recorder.task.start(wake, "recording", move |work| {
            Running::start(command, folder, is_stopped).watch(work)
        });
        Ok(recorder)
    }

    /// Ends the recording: its file is written.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
    }

    /// Returns what was seen since the last call.
    pub(super) fn take(&mut self) -> Option<Seen> {
        if let Some(seen) = self.task.take() {
            return Some(seen);
        }
        let failure = self.task.take_failure()?;
        Some(Seen {
            state: RecordState::Failed(failure.to_string()),
            trace: None,
        })
    }

    /// Returns the path of the finished recording.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    /// Returns whether a path is that of a recording that is deleted with its window.
    pub(super) fn is_of(path: &Path) -> bool {
        let folder = path.parent().and_then(Path::file_name);
        let is_ours = folder.is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        is_ours && path.file_name().is_some_and(|name| name == FILE)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // The process removes its files before the folder is deleted.
        self.task.interrupt();
        self.task.wait();
    }
}

/// The process, as the thread that watches it sees it.
struct Running {
    child: Result<Child, String>,
    /// Closed when the window has lost interest.
    stdin: Option<ChildStdin>,
    folder: PathBuf,
    is_stopped: Arc<AtomicBool>,
    reader: Option<LiveReader>,
    next: Instant,
    seen: Seen,
}

impl Running {
    fn start(mut command: Command, folder: PathBuf, is_stopped: Arc<AtomicBool>) -> Running {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().map_err(|error| {
            format!("the program that records could not be started: {error}: {program}")
        });
        let mut running = Running {
            child,
            stdin: None,
            folder,
            is_stopped,
            reader: None,
            next: Instant::now(),
            seen: Seen {
                state: RecordState::Starting,
                trace: None,
            },
        };
        running.stdin = running.child.as_mut().ok().and_then(|it| it.stdin.take());
        running
    }

    /// Watches the process until it ends; publishes what was seen meanwhile.
    fn watch(mut self, work: &Work<Seen>) -> Result<Seen, Cancelled> {
        let mut is_told = false;
        loop {
            let child = match &mut self.child {
                Ok(child) => child,
                Err(words) => {
                    self.seen.state = RecordState::Failed(std::mem::take(words));
                    return Ok(self.seen);
                }
            };
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(_)) => return self.end(work),
                Err(error) => {
                    self.seen.state = RecordState::Failed(error.to_string());
                    return Ok(self.seen);
                }
            }
            if work.check().is_err() {
                self.give_up();
                return Err(Cancelled);
            }
            if self.is_stopped.load(Ordering::Acquire) && !std::mem::replace(&mut is_told, true) {
                if let Some(stdin) = &mut self.stdin {
                    // If the process has just ended, the next turn sees that.
                    let _ended = writeln!(stdin, "stop");
                }
                self.seen.state = RecordState::Finishing;
                work.publish(self.seen.clone());
            }
            if !is_told && self.look(work) {
                work.publish(self.seen.clone());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Reads what is new. Returns whether the window has something new to show.
    fn look(&mut self, work: &Work<Seen>) -> bool {
        if self.reader.is_none() {
            self.reader = LiveReader::open(&self.folder);
        }
        let Some(reader) = &mut self.reader else {
            return false;
        };
        let mut is_new = false;
        let read = Instant::now();
        if read >= self.next && reader.read_new().unwrap_or(false) {
            let path = self.folder.join(FILE);
            let began = Instant::now();
            // After an error the next pages are tried; the file of the recording also contains the pages that failed.
            if let Ok(loaded) = reader.load(&path, work)
                && !loaded.trace.events.is_empty()
            {
                reader.keep_what_loads_within(LOAD_TIME, began.elapsed());
                self.seen.trace = Some(LiveTrace {
                    loaded: Arc::new(self.seen.next_generation(loaded)),
                    read,
                });
                is_new = true;
            }
            self.next = (read + LEAST_PAUSE).max(Instant::now() + read.elapsed() * REST);
        }
        let shown = self.seen.trace.as_ref().filter(|_| reader.is_cut());
        let state = RecordState::Running {
            facts: facts_of(last_report(&self.folder).unwrap_or_default()),
            shown: shown.map(|trace| trace.loaded.trace.span.duration()),
        };
        is_new |= state != self.seen.state;
        self.seen.state = state;
        is_new
    }

    /// Returns the state after the process has ended.
    fn end(mut self, work: &Work<Seen>) -> Result<Seen, Cancelled> {
        let Ok(child) = &mut self.child else {
            return Ok(self.seen);
        };
        let mut words = String::new();
        if let Some(stderr) = &mut child.stderr {
            let _cut = stderr.read_to_string(&mut words);
        }
        let report = last_report(&self.folder).unwrap_or_default();
        let Some(events) = report.ended else {
            if self.reader.is_none() && self.is_stopped.load(Ordering::Acquire) {
                // The user stopped before anything was recorded.
                self.seen.state = RecordState::Idle;
                return Ok(self.seen);
            }
            self.seen.state = RecordState::Failed(without_name(&words));
            return Ok(self.seen);
        };
        self.seen.state = RecordState::Finishing;
        work.publish(self.seen.clone());
        let path = self.folder.join(FILE);
        match crate::load::open(&path, work) {
            Ok(loaded) => {
                self.seen.trace = Some(LiveTrace {
                    loaded: Arc::new(self.seen.next_generation(loaded)),
                    read: Instant::now(),
                });
                self.seen.state = RecordState::Finished(FinishedRecording {
                    facts: facts_of(report),
                    events,
                    is_disk_full: report.is_disk_full,
                    saved: None,
                    is_saving: false,
                });
            }
            Err(error) => {
                work.check()?;
                self.seen.state = RecordState::Failed(error.to_string());
            }
        }
        Ok(self.seen)
    }

    /// Ends the process without a file, and waits until the kernel is restored.
    fn give_up(&mut self) {
        drop(self.stdin.take());
        let Ok(child) = &mut self.child else { return };
        let began = Instant::now();
        while began.elapsed() < MOST_CLEANING && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Seen {
    /// Returns a trace as the next generation of the newest one.
    fn next_generation(&self, loaded: LoadedTrace) -> LoadedTrace {
        let before = self.trace.as_ref().map(|trace| trace.loaded.id);
        let id = before.map_or(loaded.id, TraceId::next_generation);
        LoadedTrace { id, ..loaded }
    }
}

fn facts_of(report: Report) -> RecordFacts {
    RecordFacts {
        elapsed: Nanos(
            i64::try_from(report.elapsed_ms)
                .unwrap_or(i64::MAX)
                .saturating_mul(1_000_000),
        ),
        bytes: report.bytes,
        lost: report.lost,
    }
}

/// Returns what the program wrote to standard error, without its name.
fn without_name(words: &str) -> String {
    let lines = words.lines();
    let lines = lines.map(|line| line.strip_prefix("threadline: ").unwrap_or(line));
    let words = lines.collect::<Vec<_>>().join("\n");
    match words.trim() {
        "" => "the program that records ended without a reason".to_owned(),
        words => words.to_owned(),
    }
}
