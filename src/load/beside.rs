//! Traces that processes of a recorded build wrote (clang's `-ftime-trace`), found by the paths in the recording.
//!
//! ```text
//! the recording names   /src/out/a.json, written by process 7
//! looked for            /src/out/a.json                                                  where the recording says
//!                       FOLDER/src/out/a.json, then FOLDER/out/a.json, then FOLDER/a.json  if the recording was copied
//! ```
//!
//! FOLDER is the recording's own folder, or the one that the user named; in the second case no other place is searched.
//! A file that the recording does not name is never opened. A file that it names is a trace of the build if it is
//! Chrome JSON and starts within the life of the process that wrote it or, without a common clock, contains the number
//! of that process: a later build writes to the same paths.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::compilers::{Writer, writers, writes};
use super::detection::may_be_self_trace;
use super::reading::CompilerTraces;
use super::{LoadError, LoadedTrace, Reading, load};
use crate::base::strings::base_name;
use crate::base::{Job, Nanos, Severity, StringId, budget};
use crate::trace::Trace;

/// Endings of the names of traces: clang's, and those of the linker lld.
const ENDINGS: [&[u8]; 2] = [b".json", b".time-trace"];
/// Maximum number of paths of one recording that are searched.
const MOST_NAMED: usize = 100_000;
/// Maximum number of trailing folders of a path that are searched.
const MOST_FOLDERS: usize = 64;
/// Maximum number of traces that are opened with one recording.
const MOST_TRACES: usize = 4096;
/// Maximum size of these traces together, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// A path that a recording names, and the last process that wrote it.
struct Named {
    path: StringId,
    writer: Writer,
}

/// An existing Chrome JSON file at a place that a recorded path may mean.
struct Candidate {
    named: Named,
    /// Its possible places, the most likely first.
    places: Vec<PathBuf>,
}

/// The result of opening a candidate.
enum Outcome {
    Opened(Arc<LoadedTrace>),
    /// Another process wrote it, or the same process number in another run of the build.
    OtherRun,
    Failed(LoadError),
}

/// Files that recordings name.
pub(super) struct Beside {
    builds: Vec<Build>,
}

/// The files that one recording names.
struct Build {
    /// Index of the recording among the members.
    index: usize,
    candidates: Vec<Candidate>,
    /// Number of files that are not opened because there are too many.
    too_many: u64,
}

/// The results for one recording.
#[derive(Default)]
struct Tally {
    opened: Vec<Arc<LoadedTrace>>,
    of_other_runs: u64,
    too_many: u64,
    failed: Vec<LoadError>,
}

/// Returns a path without symbolic links; unchanged if it does not exist.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Traces that are already open.
struct Known {
    paths: FxHashSet<PathBuf>,
    /// The names of traces whose writer was found, each with the writer.
    written: FxHashSet<(Vec<u8>, Writer)>,
}

impl Known {
    fn of(members: &[Arc<LoadedTrace>]) -> Known {
        let files = members.iter().flat_map(|member| member.all_paths());
        let written = members.iter().zip(writers(members));
        Known {
            paths: files.map(|path| real(&path)).collect(),
            written: written
                .filter_map(|(member, writer)| {
                    let name = member.path.file_name()?.as_encoded_bytes().to_vec();
                    Some((name, writer?))
                })
                .collect(),
        }
    }
}

impl Beside {
    /// Finds files that processes of the recordings `members[from..]` wrote. Files that are members already are
    /// skipped.
    ///
    /// # Errors
    /// If the job was cancelled.
    pub(super) fn find(
        members: &[Arc<LoadedTrace>],
        from: usize,
        reading: Reading,
        job: &Job,
    ) -> Result<Beside, LoadError> {
        let mut builds = Vec::new();
        if reading.compiler_traces == CompilerTraces::LeftOut {
            return Ok(Beside { builds });
        }
        let mut known = None;
        for (index, loaded) in members.iter().enumerate().skip(from) {
            let mut build = Build {
                index,
                candidates: Vec::new(),
                too_many: 0,
            };
            let named = build.named(&loaded.trace);
            if let Some(places) = Places::of(loaded, reading).filter(|_| !named.is_empty()) {
                let known = known.get_or_insert_with(|| Known::of(members));
                build.find(named, loaded, &places, known, job)?;
            }
            if !build.candidates.is_empty() || build.too_many > 0 {
                builds.push(build);
            }
        }
        Ok(Beside { builds })
    }

    /// Returns whether there is nothing to open and nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.builds.is_empty()
    }

    /// Opens the files, and adds diagnostics to the recordings about what was opened and what was not.
    ///
    /// # Errors
    /// If the job was cancelled.
    pub(super) fn open(
        self,
        members: &mut [Arc<LoadedTrace>],
        reading: Reading,
        job: &Job,
    ) -> Result<Vec<Arc<LoadedTrace>>, LoadError> {
        let mut opened = Vec::new();
        for build in self.builds {
            let Some(member) = members.get_mut(build.index) else {
                continue;
            };
            let tally = build.open(member, reading, job)?;
            if let Some(noted) = tally.noted_in(member) {
                *member = Arc::new(noted);
            }
            opened.extend(tally.opened);
        }
        Ok(opened)
    }
}

/// Returns whether a recording names files that may be traces of its programs: which of them exist may change.
pub(crate) fn names_traces(loaded: &LoadedTrace) -> bool {
    let trace = &loaded.trace;
    let mut written = trace.files.rows.iter().filter(|row| writes(row));
    written.any(|row| may_be_trace(trace.strings.bytes(row.path)))
        || loaded.members.iter().any(|member| names_traces(member))
}

/// Returns whether a trace may have this path, by its ending.
fn may_be_trace(path: &[u8]) -> bool {
    ENDINGS.iter().any(|ending| path.ends_with(ending))
}

impl Build {
    /// Returns the paths of traces that processes wrote, in the order in which they were first written.
    fn named(&mut self, trace: &Trace) -> Vec<Named> {
        let mut all: Vec<Named> = Vec::new();
        let mut numbers: FxHashMap<StringId, usize> = FxHashMap::default();
        for row in trace.files.rows.iter().filter(|row| writes(row)) {
            let path = trace.strings.bytes(row.path);
            if !may_be_trace(path) {
                continue;
            }
            let Some(process) = trace.thread(row.thread).process else {
                continue;
            };
            let writer = Writer {
                trace: self.index,
                process,
            };
            let path = row.path;
            match numbers.get(&path) {
                Some(&number) => all[number].writer = writer,
                None if all.len() == MOST_NAMED => self.too_many += 1,
                None => {
                    numbers.insert(path, all.len());
                    all.push(Named { path, writer });
                }
            }
        }
        all
    }

    /// Adds the candidates among the files in `named`.
    fn find(
        &mut self,
        named: Vec<Named>,
        loaded: &LoadedTrace,
        places: &Places,
        known: &mut Known,
        job: &Job,
    ) -> Result<(), LoadError> {
        let mut folders = FxHashMap::default();
        let mut left_bytes = MOST_BYTES.min(budget::left_bytes() / 4);
        for named in named {
            job.check().map_err(|cancelled| LoadError {
                path: loaded.path.clone(),
                error: cancelled.into(),
            })?;
            let path = loaded.trace.strings.bytes(named.path);
            if (known.written).contains(&(base_name(path).to_vec(), named.writer)) {
                continue;
            }
            let mut places = places.of_path(path, &mut folders);
            places.retain(|path| may_be_self_trace(path));
            let Some(first) = places.first() else {
                continue;
            };
            if places.iter().any(|path| known.paths.contains(&real(path))) {
                continue;
            }
            let size = std::fs::metadata(first).map_or(0, |found| found.len());
            if self.candidates.len() == MOST_TRACES || size > left_bytes {
                self.too_many += 1;
                continue;
            }
            left_bytes -= size;
            known.paths.insert(real(first));
            self.candidates.push(Candidate { named, places });
        }
        Ok(())
    }

    fn open(self, build: &LoadedTrace, reading: Reading, job: &Job) -> Result<Tally, LoadError> {
        let outcomes: Vec<Outcome> = (self.candidates.par_iter())
            .map(|candidate| candidate.open(build, reading, job))
            .collect();
        let mut tally = Tally {
            too_many: self.too_many,
            ..Tally::default()
        };
        let mut paths = FxHashSet::default();
        for outcome in outcomes {
            match outcome {
                // In a copy, two recorded paths may mean one file.
                Outcome::Opened(loaded) if !paths.insert(real(&loaded.path)) => {}
                Outcome::Opened(loaded) => tally.opened.push(loaded),
                Outcome::OtherRun => tally.of_other_runs += 1,
                Outcome::Failed(error) if job.is_cancelled() => return Err(error),
                Outcome::Failed(error) => tally.failed.push(error),
            }
        }
        Ok(tally)
    }
}

/// The places where files of a recording may be.
struct Places {
    /// Whether files are also searched at the recorded path.
    as_named: bool,
    folder: Option<PathBuf>,
}

impl Places {
    /// Returns the places; `None` if there are none.
    fn of(build: &LoadedTrace, reading: Reading) -> Option<Places> {
        let own_folder = || {
            // Standard input is in no folder.
            let is_file = build.path.is_file();
            let path = std::path::absolute(&build.path).ok().filter(|_| is_file)?;
            Some(path.parent()?.to_path_buf())
        };
        match reading.compiler_traces {
            CompilerTraces::LeftOut => None,
            CompilerTraces::Beside => Some(Places {
                as_named: true,
                folder: own_folder(),
            }),
            CompilerTraces::In(folder) => Some(Places {
                as_named: false,
                folder: Some(folder.to_path_buf()),
            }),
        }
    }

    /// Returns the existing files at places that `path` may mean, the most likely first. `folders` caches which folders
    /// exist.
    fn of_path(&self, path: &[u8], folders: &mut FxHashMap<PathBuf, bool>) -> Vec<PathBuf> {
        let Some(path) = path_of(path) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let is_file = |path: &Path| path.metadata().is_ok_and(|found| found.is_file());
        if self.as_named && path.is_absolute() && is_file(&path) {
            found.push(path.clone());
        }
        let Some(folder) = &self.folder else {
            return found;
        };
        let mut steps = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => steps.push(name),
                // The folders before `..` need not be folders of the recording.
                Component::ParentDir => steps.clear(),
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            }
        }
        let first = steps.len().saturating_sub(MOST_FOLDERS + 1);
        for from in first..steps.len() {
            let mut place = folder.clone();
            place.extend(&steps[from..]);
            let Some(parent) = place.parent() else {
                continue;
            };
            let exists = match folders.get(parent) {
                Some(exists) => *exists,
                None => {
                    let exists = parent.is_dir();
                    folders.insert(parent.to_path_buf(), exists);
                    exists
                }
            };
            if exists && is_file(&place) && !found.contains(&place) {
                found.push(place);
            }
        }
        found
    }
}

/// Returns a recorded path as a path of this system; `None` if it is not valid here.
fn path_of(path: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
    }
    #[cfg(not(unix))]
    {
        std::str::from_utf8(path).ok().map(PathBuf::from)
    }
}

impl Candidate {
    /// Opens the first place that contains a trace of the writer.
    fn open(&self, build: &LoadedTrace, reading: Reading, job: &Job) -> Outcome {
        let mut outcome = Outcome::OtherRun;
        let reading = Reading {
            midnight_ns: None,
            format: None,
            ..reading
        };
        for place in &self.places {
            match load(place, reading, job, None) {
                Ok(loaded) if self.is_of_the_writer(build, &loaded) => {
                    let path = build.trace.strings.bytes(self.named.path);
                    return Outcome::Opened(Arc::new(LoadedTrace {
                        named: Some(Arc::from(path)),
                        ..loaded
                    }));
                }
                Ok(_) => outcome = Outcome::OtherRun,
                Err(error) => outcome = Outcome::Failed(error),
            }
        }
        outcome
    }

    /// Returns whether the process that wrote to the path during the build also wrote this trace.
    fn is_of_the_writer(&self, build: &LoadedTrace, loaded: &LoadedTrace) -> bool {
        let Some(process) = self.named.writer.process_in(&build.trace) else {
            return false;
        };
        let zero = |loaded: &LoadedTrace| loaded.trace.info.wall_clock_zero_ns;
        if let (Some(theirs), Some(ours)) = (zero(loaded), zero(build)) {
            /// Clocks of one machine differ by less, even if they are adjusted during a build.
            const SLACK: Nanos = Nanos(1_000_000_000);
            let shift = Nanos(theirs.saturating_sub(ours));
            let span = loaded.trace.span;
            let starts = self.named.writer.start(&build.trace);
            let starts = process.start.or(starts);
            let is_late_enough = starts.is_none_or(|start| {
                span.start.saturating_add(shift).saturating_add(SLACK) >= start
            });
            let is_early_enough = process
                .end
                .is_none_or(|end| span.start.saturating_add(shift) <= end.saturating_add(SLACK));
            return is_late_enough && is_early_enough;
        }
        loaded
            .trace
            .processes
            .iter()
            .any(|it| it.pid == process.pid)
    }
}

impl Tally {
    /// Returns the recording with diagnostics about what was opened and what was not; `None` if there are none.
    fn noted_in(&self, build: &LoadedTrace) -> Option<LoadedTrace> {
        let is_empty = self.opened.is_empty()
            && self.failed.is_empty()
            && self.of_other_runs == 0
            && self.too_many == 0;
        if is_empty {
            return None;
        }
        let mut trace = build.trace.as_ref().clone();
        let mut note = |code, severity, count: usize, words: String| {
            let count = count as u64;
            if count > 0 {
                let all = &mut trace.diagnostics;
                all.note_many(code, severity, None, count, || words);
            }
        };
        let traces = |count: usize| match count {
            1 => "1 trace".to_owned(),
            count => format!("{count} traces"),
        };
        let count = self.opened.len();
        note("compiler_traces", Severity::Info, count, {
            let from = common_folder(&self.opened);
            format!(
                "{} that processes of this recording wrote (-ftime-trace) opened with it, from {}",
                traces(count),
                from.display()
            )
        });
        let count = self.of_other_runs as usize;
        note("compiler_traces_of_other_runs", Severity::Info, count, {
            format!(
                "{} at paths that this recording names were not opened: by their times or process numbers they are of another run",
                traces(count)
            )
        });
        let count = self.too_many as usize;
        note("compiler_traces_left_out", Severity::Error, count, {
            format!(
                "{} that processes of this recording wrote were not opened: at most {MOST_TRACES} with {} MB together are; open others by naming them",
                traces(count),
                MOST_BYTES >> 20
            )
        });
        let count = self.failed.len();
        if let Some(first) = self.failed.first() {
            note("compiler_traces_unreadable", Severity::Error, count, {
                let many = traces(count);
                format!("{many} that processes of this recording wrote cannot be read: {first}")
            });
        }
        Some(LoadedTrace {
            trace: Arc::new(trace),
            id: build.id.next_generation(),
            ..build.clone()
        })
    }
}

/// Returns the innermost folder that contains all these files.
fn common_folder(files: &[Arc<LoadedTrace>]) -> PathBuf {
    let mut folders = files.iter().filter_map(|file| file.path.parent());
    let mut common = folders.next().unwrap_or(Path::new("")).to_path_buf();
    for folder in folders {
        while !folder.starts_with(&common) && common.pop() {}
    }
    common
}
