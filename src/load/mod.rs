//! Loads files, and conducts all steps: bytes from a path, detection of the format, parts read in parallel, tables
//! assembled and indexed. `parts` opens several files of one recording as one. `together` joins several files on one
//! axis, at the offsets that `placing` finds. `background` does the same on a thread of its own and publishes
//! generations on the way.

pub(crate) mod background;
pub mod definitions;
mod detection;
pub mod growing;
mod guard;
pub mod opened;
mod parts;
pub mod placing;
pub mod reading;
pub mod source;
pub mod together;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::assemble::assemble;
use crate::assemble::preview::Preview;
use crate::base::{Diagnostics, Job, Location, ReadError, Severity, budget};
use crate::event::FirstDay;
use crate::formats::{AnyStream, Events, Gathered, HasReport, Recording};
use crate::index::{Index, IndexedTrace};
use crate::trace::Trace;

pub(crate) use crate::base::TraceId;
pub(crate) use definitions::Attached;
pub use detection::detect;
pub(crate) use opened::{Change, DamagedFile, OpenedFile};
pub(crate) use reading::Growth;
pub use reading::Reading;

/// A loaded trace: its tables, indexes and reader. Cheap to clone.
#[derive(Clone)]
pub struct LoadedTrace {
    /// The tables.
    pub trace: Arc<Trace>,
    /// The indexes over the tables.
    pub index: Arc<Index>,
    /// Decodes single events.
    pub reader: Arc<dyn Events>,
    /// Prints the whole trace as its reference tool does; `None` if there is no such tool.
    pub report: Option<Arc<dyn HasReport>>,
    /// The number of parts of the reader; events refer to parts by number.
    pub part_count: u32,
    /// The path that it was loaded from.
    pub path: PathBuf,
    /// The other files of the same recording (strace's `-ff`, one a CPU), which were read as one with it.
    pub part_paths: Vec<PathBuf>,
    /// Size on disk, in bytes; of all its files together.
    pub file_bytes: u64,
    /// Identifies this trace among all that this process has loaded.
    pub id: TraceId,
    /// Whether everything was read.
    pub is_complete: bool,
    /// How long it took.
    pub timings: Timings,
    /// The traces that this one joins on one axis, in the order of `trace.sources`; empty for a single recording.
    pub members: Vec<Arc<LoadedTrace>>,
    /// Files that were to be opened with it but could not be read.
    pub left_out: Vec<LoadError>,
    /// The probe definitions that are attached to it.
    pub probes: Option<Attached>,
    /// Settings that the file was read with.
    pub reading: Reading,
    /// The files that its events are still read from. A joined trace's are in its members.
    pub opened: Vec<Arc<OpenedFile>>,
    /// This trace without the user's plots; `None` if it has no plots.
    pub without_plots: Option<Arc<LoadedTrace>>,
}

impl fmt::Debug for LoadedTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoadedTrace({}, {:?})", self.path.display(), self.id)
    }
}

/// How long loading took, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the coarse trace (span and density) was ready.
    pub coarse: Duration,
    /// Until the whole trace was ready.
    pub full: Duration,
}

impl LoadedTrace {
    /// Returns the trace as it was read, without the user's plots.
    #[must_use]
    pub(crate) fn as_read(loaded: &Arc<LoadedTrace>) -> Arc<LoadedTrace> {
        let plain = loaded.without_plots.as_ref();
        Arc::clone(plain.unwrap_or(loaded))
    }

    /// Returns the heap bytes of the tables, the indexes and the reader. The mapped file is not counted.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.trace.memory_bytes() + self.index.memory_bytes() + self.reader.memory_bytes()
            - self.shared_bytes()
            + self
                .members
                .iter()
                .map(|member| member.memory_bytes())
                .sum::<u64>()
            + self.without_plots.as_ref().map_or(0, |plain| {
                // All other tables are shared.
                plain.trace.strings.memory_bytes() + plain.trace.counters.memory_bytes()
            })
    }

    /// Returns the heap bytes of the events that a joined trace shares with its members.
    fn shared_bytes(&self) -> u64 {
        let events = |member: &Arc<LoadedTrace>| member.trace.events.memory_bytes();
        self.members.iter().map(events).sum()
    }

    /// Returns all files that must be read to load it again.
    #[must_use]
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        if !self.members.is_empty() {
            return self.members.iter().flat_map(|it| it.paths()).collect();
        }
        std::iter::once(&self.path)
            .chain(&self.part_paths)
            .cloned()
            .collect()
    }

    /// Iterates over all files that its events are still read from.
    pub(crate) fn opened_files(&self) -> Box<dyn Iterator<Item = &Arc<OpenedFile>> + '_> {
        let theirs = self.members.iter().flat_map(|it| it.opened_files());
        Box::new(self.opened.iter().chain(theirs))
    }

    /// Returns the first file that was cut short or rewritten since it was opened, and which of the two happened.
    #[must_use]
    pub(crate) fn damage(&self) -> Option<DamagedFile> {
        self.opened_files().find_map(|file| file.damaged())
    }

    /// Returns whether the user set the date of its times.
    #[must_use]
    pub(crate) fn has_given_day(&self) -> bool {
        self.trace.info.first_day == FirstDay::Given
    }

    /// Returns its file's name without the folder; the first file's if there are several.
    #[must_use]
    pub fn file_name(&self) -> String {
        file_name(&self.path)
    }
}

/// Returns a file's name without its folder, as text; the whole path if it has no file name.
#[must_use]
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Why a file could not be opened: the path, then the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Path of the file.
    pub path: PathBuf,
    /// The error.
    pub error: ReadError,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for LoadError {}

/// Opens a file and loads all of it. `-` is standard input.
///
/// # Errors
/// If no part of it can be shown.
pub fn open(path: &Path, job: &Job) -> Result<LoadedTrace, LoadError> {
    load(path, Reading::default(), job, None)
}

/// Loads `bytes` as [`open`] loads a file with this name and content.
///
/// # Errors
/// If no part of them can be shown.
pub fn open_bytes(
    name: &str,
    bytes: Vec<u8>,
    reading: Reading,
    job: &Job,
) -> Result<LoadedTrace, LoadError> {
    let begun = Instant::now();
    let source = source::of_bytes(bytes, name, job);
    load_source(Path::new(name), source, reading, begun, job, None)
}

/// Loads a file. Without a `listener` only the last generation is made.
fn load(
    path: &Path,
    reading: Reading,
    job: &Job,
    listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let begun = Instant::now();
    let source = source::read(path, reading, job);
    load_source(path, source, reading, begun, job, listener)
}

fn load_source(
    path: &Path,
    source: Result<source::Source, ReadError>,
    reading: Reading,
    begun: Instant,
    job: &Job,
    listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let fail = |error| LoadError {
        path: path.to_path_buf(),
        error,
    };
    let source = source.map_err(fail)?;
    let recording = reading.open(source.input.clone(), job).map_err(fail)?;
    let paths = [path.to_path_buf()];
    load_opened(&paths, reading, &[source], recording, begun, job, listener)
}

/// Loads a recording that was opened from `paths`, whose bytes are `sources`; `begun` is when loading started.
fn load_opened(
    paths: &[PathBuf],
    reading: Reading,
    sources: &[source::Source],
    recording: Recording,
    begun: Instant,
    job: &Job,
    mut listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let path = paths.first().cloned().unwrap_or_default();
    let fail = |error| LoadError {
        path: path.clone(),
        error,
    };
    let stream = Arc::clone(&recording.stream);
    job.add_total(stream.parts().iter().map(|part| part.size_bytes).sum());

    let coarse = coarse_trace(&recording);
    let mut state = LoadedTrace {
        trace: Arc::new(coarse.trace),
        index: Arc::new(coarse.index),
        reader: recording.events,
        report: recording.report,
        part_count: stream.parts().len() as u32,
        path: path.clone(),
        part_paths: paths.get(1..).unwrap_or_default().to_vec(),
        file_bytes: sources.iter().map(|source| source.file_bytes).sum(),
        id: TraceId::new(),
        is_complete: false,
        timings: Timings {
            coarse: begun.elapsed(),
            full: Duration::ZERO,
        },
        members: Vec::new(),
        left_out: Vec::new(),
        probes: None,
        reading,
        opened: still_read(sources),
        without_plots: None,
    };
    if let Some(publish) = &mut listener {
        publish(state.clone());
    }
    let left_before = budget::left_bytes();
    let preview = Preview::of(&recording.lanes, &recording.info);
    let mut gathered = read_all(&stream, preview, &mut state, job, &mut listener).map_err(fail)?;
    // The events' columns are kept as they are; the tables made from the rest take about half as much memory again.
    let columns_bytes = left_before.saturating_sub(budget::left_bytes());
    budget::require(columns_bytes / 2)
        .map_err(|problem| fail(ReadError::at_byte(0, "tables", problem)))?;
    let mut diagnostics = std::mem::take(&mut gathered.diagnostics);
    state.part_count = gathered.part_count();
    let mut trace = assemble(
        gathered.parts,
        &gathered.lanes,
        &gathered.directory,
        gathered.info,
        job,
    );
    for source in sources {
        note_change(source, reading.growth, &mut diagnostics);
    }
    for stopped in sources.iter().filter_map(|source| source.stopped.as_ref()) {
        let at = Location::Byte(stopped.at);
        diagnostics.note("unpacking_stopped", Severity::DataLoss, at, || {
            stopped.words.clone()
        });
    }
    let built = std::mem::take(&mut trace.diagnostics);
    trace.diagnostics = recording.diagnostics;
    trace.diagnostics.merge(diagnostics);
    trace.diagnostics.merge(built);
    state.index = Arc::new(Index::new(&trace));
    state.trace = Arc::new(trace);
    job.check().map_err(|cancelled| fail(cancelled.into()))?;
    state.id = state.id.next_generation();
    state.is_complete = true;
    state.timings.full = begun.elapsed();
    if let Some(publish) = &mut listener {
        publish(state.clone());
    }
    Ok(state)
}

/// Returns the files whose bytes are still read on demand.
fn still_read(sources: &[source::Source]) -> Vec<Arc<OpenedFile>> {
    let mapped = sources.iter().filter(|source| source.is_mapped);
    mapped.filter_map(|source| source.opened.clone()).collect()
}

/// Adds a diagnostic if a file has changed while it was loaded.
fn note_change(source: &source::Source, growth: Growth, diagnostics: &mut Diagnostics) {
    let Some(change) = source.opened.as_ref().and_then(|opened| opened.change()) else {
        return;
    };
    let (code, severity, words) = match change {
        Change::Grown { .. } if growth == Growth::Expected => return,
        Change::Grown { .. } => ("file_grew", Severity::Info, change.to_string()),
        Change::CutShort | Change::Rewritten => {
            let words = format!("{change}: what is shown may be wrong; open it again");
            ("file_changed", Severity::DataLoss, words)
        }
    };
    diagnostics.note(code, severity, Location::Byte(0), || words);
}

/// A recording of which only the head was read.
pub struct OpenedHead {
    /// Its reader.
    pub recording: Recording,
    /// Why the rest of the file could not be unpacked, in words; `None` if all was.
    pub stopped: Option<String>,
    /// The file, if events are still read from it on demand.
    pub opened: Vec<Arc<OpenedFile>>,
}

/// Opens only a file's head, for commands that need no tables (`report`).
///
/// # Errors
/// If no part of it can be shown.
pub fn open_head(path: &Path, reading: Reading, job: &Job) -> Result<OpenedHead, LoadError> {
    let fail = |error| LoadError {
        path: path.to_path_buf(),
        error,
    };
    let source = source::read(path, reading, job).map_err(fail)?;
    let opened = still_read(std::slice::from_ref(&source));
    let recording = reading.open(source.input, job).map_err(fail)?;
    Ok(OpenedHead {
        recording,
        stopped: source.stopped.map(|stopped| stopped.words),
        opened,
    })
}

/// Returns the span and density of the trace, before its events are read.
fn coarse_trace(recording: &Recording) -> IndexedTrace {
    let coarse = &recording.coarse;
    let mut cpus: Vec<u32> = (recording.lanes.iter())
        .filter_map(|lane| lane.cpu)
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    let trace = Trace {
        info: recording.info.clone(),
        span: coarse.span,
        cpus: cpus
            .into_iter()
            .map(|number| crate::trace::Cpu { number })
            .collect(),
        diagnostics: recording.diagnostics.clone(),
        ..Trace::default()
    };
    let mut index = Index::default();
    index.overview.events = crate::index::overview::steps_of_density(coarse.span, &coarse.density);
    IndexedTrace { trace, index }
}

/// A file of this size or larger is shown lane by lane while it is read.
const SHOW_FROM_BYTES: u64 = 64 << 20;
/// Number of steps in which a file of at least [`SHOW_FROM_BYTES`] is shown.
const STEPS: usize = 6;

/// Reads all parts; for a large file, publishes previews on the way.
fn read_all(
    stream: &Arc<dyn AnyStream>,
    mut preview: Preview,
    state: &mut LoadedTrace,
    job: &Job,
    listener: &mut Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<Gathered, ReadError> {
    let total: u64 = stream.parts().iter().map(|part| part.size_bytes).sum();
    let Some(publish) = listener.as_mut().filter(|_| total >= SHOW_FROM_BYTES) else {
        return stream.read_all(1, job, &mut |_| {});
    };
    stream.read_all(STEPS, job, &mut |shown| {
        for part in shown {
            preview.add(part.lane, part.columns);
        }
        if !preview.is_empty() {
            publish_preview(state, &preview, publish);
        }
    })
}

/// Publishes the runs of the CPUs read so far, with the density of the coarse trace.
fn publish_preview(
    state: &mut LoadedTrace,
    preview: &Preview,
    publish: &mut dyn FnMut(LoadedTrace),
) {
    let trace = preview.trace(state.trace.span);
    let mut index = Index::new(&trace);
    index
        .overview
        .events
        .clone_from(&state.index.overview.events);
    state.trace = Arc::new(trace);
    state.index = Arc::new(index);
    state.id = state.id.next_generation();
    publish(state.clone());
}
