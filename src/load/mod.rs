//! The one conductor: a path becomes bytes, bytes find their format, parts are read in parallel, built and
//! indexed. `parts` opens the files of one recording as one. `together` puts several files on one axis, at the places that `placing` finds for them.
//! `background` does the same off the window's thread and publishes what it has on the way.

pub mod background;
pub mod definitions;
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

use rayon::prelude::*;

use crate::base::{Diagnostics, Job, Location, Problem, ReadError, Severity, budget};
use crate::build::preview::Preview;
use crate::build::{PartColumns, build};
use crate::event::{FirstDay, LaneColumns};
use crate::formats::format::BoxedReader;
use crate::formats::{FORMATS, Format, Reader, Sniff};
use crate::index::Index;
use crate::probes;
use crate::trace::Trace;

pub use definitions::Attached;
pub use opened::{Change, OpenedFile};
pub use reading::{Growth, Reading};

/// A trace that can be shown and asked. Cheap to clone.
#[derive(Clone)]
pub struct LoadedTrace {
    /// The tables.
    pub trace: Arc<Trace>,
    /// What makes them quick.
    pub index: Arc<Index>,
    /// Decodes single events.
    pub reader: Arc<dyn Reader>,
    /// Where it came from.
    pub path: PathBuf,
    /// The other files of the same recording (strace's `-ff`, one a CPU), which were read with it as one.
    pub part_paths: Vec<PathBuf>,
    /// Size of the file on disk.
    pub file_bytes: u64,
    /// Counts up as more of the file is known.
    pub generation: u32,
    /// Whether everything was read.
    pub is_complete: bool,
    /// How long it took.
    pub timings: Timings,
    /// The traces that this one puts on one axis, in the order of `trace.sources`; empty for a file by itself.
    pub members: Vec<Arc<LoadedTrace>>,
    /// Files that were to be opened with it and could not be.
    pub left_out: Vec<LoadError>,
    /// The probe definitions that were opened beside it.
    pub probes: Option<Attached>,
    /// How the file was read.
    pub reading: Reading,
    /// The files that its events are still read from. Those of members are the members'.
    pub opened: Vec<Arc<OpenedFile>>,
    /// The same without what the user had plotted; `None`: nothing was.
    pub without_plots: Option<Arc<LoadedTrace>>,
}

impl fmt::Debug for LoadedTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "LoadedTrace({}, generation {})",
            self.path.display(),
            self.generation
        )
    }
}

/// How long loading took, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the coarse picture was there.
    pub coarse: Duration,
    /// Until everything was there.
    pub full: Duration,
}

impl LoadedTrace {
    /// The trace as it was read, without what the user had plotted.
    #[must_use]
    pub fn as_read(loaded: &Arc<LoadedTrace>) -> Arc<LoadedTrace> {
        let plain = loaded.without_plots.as_ref();
        Arc::clone(plain.unwrap_or(loaded))
    }

    /// Heap bytes held: tables, indexes, and what describing needs. The mapped file is not counted.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.trace.memory_bytes() + self.index.memory_bytes() + self.reader.memory_bytes()
            - self.shared_bytes()
            + self
                .members
                .iter()
                .map(|member| member.memory_bytes())
                .sum::<u64>()
            + self.without_plots.as_ref().map_or(0, |plain| {
                // All other tables are the same ones.
                plain.trace.strings.memory_bytes() + plain.trace.counters.memory_bytes()
            })
    }

    /// What a joined trace counts and its members hold.
    fn shared_bytes(&self) -> u64 {
        let events = |member: &Arc<LoadedTrace>| member.trace.events.memory_bytes();
        self.members.iter().map(events).sum()
    }

    /// All files that are read to have it again.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        if !self.members.is_empty() {
            return self.members.iter().flat_map(|it| it.paths()).collect();
        }
        std::iter::once(&self.path)
            .chain(&self.part_paths)
            .cloned()
            .collect()
    }

    /// All files that its events are still read from.
    pub fn opened_files(&self) -> Box<dyn Iterator<Item = &Arc<OpenedFile>> + '_> {
        let theirs = self.members.iter().flat_map(|it| it.opened_files());
        Box::new(self.opened.iter().chain(theirs))
    }

    /// The first file that was cut short or written over since it was opened, and which of the two.
    #[must_use]
    pub fn damage(&self) -> Option<(&Path, Change)> {
        self.opened_files()
            .find_map(|file| Some((file.path(), file.damage()?)))
    }

    /// Whether the user said what day its times are of.
    #[must_use]
    pub fn has_given_day(&self) -> bool {
        self.trace.info.first_day == FirstDay::Given
    }

    /// Its file's name without the folder; of several, the first one's.
    #[must_use]
    pub fn file_name(&self) -> String {
        file_name(&self.path)
    }
}

/// A file's name without its folder, in words; the whole path where it has no such name.
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
    /// Which file.
    pub path: PathBuf,
    /// What was wrong with it.
    pub error: ReadError,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for LoadError {}

/// Opens a file whole. `-` is standard input.
///
/// # Errors
/// If nothing of it can be shown.
pub fn open(path: &Path, job: &Job) -> Result<LoadedTrace, LoadError> {
    load(path, Reading::default(), job, None)
}

/// Opens a file and hands each generation to `publish` as soon as it is there (the last is also the answer).
///
/// # Errors
/// If nothing of it can be shown.
pub fn open_with(
    path: &Path,
    job: &Job,
    publish: &mut dyn FnMut(LoadedTrace),
) -> Result<LoadedTrace, LoadError> {
    load(path, Reading::default(), job, Some(publish))
}

/// Without a listener no generation is made but the last.
fn load(
    path: &Path,
    reading: Reading,
    job: &Job,
    listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let begun = Instant::now();
    let fail = |error| LoadError {
        path: path.to_path_buf(),
        error,
    };
    let source = source::read(path, reading, job).map_err(fail)?;
    let reader = reading.open(source.input.clone(), job).map_err(fail)?;
    let paths = [path.to_path_buf()];
    load_opened(&paths, reading, &[source], reader, begun, job, listener)
}

/// Reads what was opened from `paths`, which are `sources`, at `begun`.
fn load_opened(
    paths: &[PathBuf],
    reading: Reading,
    sources: &[source::Source],
    reader: BoxedReader,
    begun: Instant,
    job: &Job,
    mut listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<LoadedTrace, LoadError> {
    let path = paths.first().cloned().unwrap_or_default();
    let fail = |error| LoadError {
        path: path.clone(),
        error,
    };
    let reader: Arc<dyn Reader> = Arc::from(reader);
    job.add_total(reader.parts().iter().map(|part| part.size_bytes).sum());

    let (coarse, density) = coarse_trace(reader.as_ref());
    let mut state = LoadedTrace {
        trace: Arc::new(coarse),
        index: Arc::new(density),
        reader: reader.clone(),
        path: path.clone(),
        part_paths: paths.get(1..).unwrap_or_default().to_vec(),
        file_bytes: sources.iter().map(|source| source.file_bytes).sum(),
        generation: 0,
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
    let (mut columns, mut diagnostics) =
        read_parts(&mut state, job, &mut listener).map_err(fail)?;
    // The events' columns stay as they are; the tables that are made of the rest take about half as much again.
    let columns_bytes = left_before.saturating_sub(budget::left_bytes());
    budget::require(columns_bytes / 2)
        .map_err(|problem| fail(ReadError::at_byte(0, "tables", problem)))?;
    let mut all: Vec<&mut LaneColumns> = columns.iter_mut().map(|part| &mut part.columns).collect();
    diagnostics.merge(reader.settle(&mut all));
    let directory = reader.directory();
    let mut trace = build(
        columns,
        reader.lanes(),
        &directory,
        reader.info().clone(),
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
    trace.diagnostics = reader.diagnostics();
    trace.diagnostics.merge(diagnostics);
    trace.diagnostics.merge(built);
    state.index = Arc::new(Index::new(&trace));
    state.trace = Arc::new(trace);
    job.check().map_err(|cancelled| fail(cancelled.into()))?;
    state.generation += 1;
    state.is_complete = true;
    state.timings.full = begun.elapsed();
    if let Some(publish) = &mut listener {
        publish(state.clone());
    }
    Ok(state)
}

/// The files of `sources` whose bytes are read on demand.
fn still_read(sources: &[source::Source]) -> Vec<Arc<OpenedFile>> {
    let mapped = sources.iter().filter(|source| source.is_mapped);
    mapped.filter_map(|source| source.opened.clone()).collect()
}

/// Notes what happened to a file while it was loaded.
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

/// The format that is surest of these bytes.
///
/// # Errors
/// If no format knows them; the words say what was tried.
pub fn detect(head: &[u8]) -> Result<&'static Format, ReadError> {
    let best = FORMATS
        .iter()
        .rev()
        .max_by_key(|format| (format.sniff)(head));
    best.filter(|format| (format.sniff)(head) != Sniff::No)
        .ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
            let problem = if probes::sniff(head) || probes::sniff_profile(head) {
                Problem::Other(
                    "these are definitions of probes, no trace: open them together with the trace that they made"
                        .to_owned(),
                )
            } else if head.is_empty() {
                Problem::Other("the file is empty".to_owned())
            } else {
                Problem::UnknownFormat {
                    known: names.join(", "),
                }
            };
            ReadError::at_byte(0, "file", problem)
        })
}

/// A file's head and what reads the rest.
pub struct OpenedReader {
    /// Reads events.
    pub reader: BoxedReader,
    /// In words, what could not be unpacked.
    pub stopped: Option<String>,
    /// The file, where events are read from it on demand.
    pub opened: Vec<Arc<OpenedFile>>,
}

/// Opens a file's head only: for what needs no tables (`report`).
///
/// # Errors
/// If nothing of it can be shown.
pub fn open_reader_only(
    path: &Path,
    reading: Reading,
    job: &Job,
) -> Result<OpenedReader, LoadError> {
    let fail = |error| LoadError {
        path: path.to_path_buf(),
        error,
    };
    let source = source::read(path, reading, job).map_err(fail)?;
    let opened = still_read(std::slice::from_ref(&source));
    let reader = reading.open(source.input, job).map_err(fail)?;
    Ok(OpenedReader {
        reader,
        stopped: source.stopped.map(|stopped| stopped.words),
        opened,
    })
}

/// How much of a file detection looks at.
const HEAD_BYTES: usize = 64 * 1024;
/// How much it looks at where that was nothing known: other text may stand before a trace.
const WIDE_HEAD_BYTES: usize = 4 * 1024 * 1024;

/// The span and density of the trace, before its events are read.
fn coarse_trace(reader: &dyn Reader) -> (Trace, Index) {
    let coarse = reader.coarse();
    let mut cpus: Vec<u32> = reader.lanes().iter().filter_map(|lane| lane.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let trace = Trace {
        info: reader.info().clone(),
        span: coarse.span,
        cpus: cpus
            .into_iter()
            .map(|number| crate::trace::Cpu { number })
            .collect(),
        diagnostics: reader.diagnostics(),
        ..Trace::default()
    };
    let mut index = Index::default();
    index.overview.events = crate::index::overview::steps_of_density(coarse.span, &coarse.density);
    (trace, index)
}

/// Files from this size on are shown lane by lane while they are read.
const SHOW_FROM_BYTES: u64 = 64 << 20;
/// In how many steps.
const STEPS: usize = 6;

/// Reads all parts in parallel; in a large file, publishes what is known on the way. A part that cannot be
/// read becomes a diagnostic.
fn read_parts(
    state: &mut LoadedTrace,
    job: &Job,
    listener: &mut Option<&mut dyn FnMut(LoadedTrace)>,
) -> Result<(Vec<PartColumns>, Diagnostics), ReadError> {
    let reader = state.reader.clone();
    let parts = reader.parts();
    let total: u64 = parts.iter().map(|part| part.size_bytes).sum();
    let is_shown = listener.is_some() && total >= SHOW_FROM_BYTES;
    let step = if is_shown {
        parts.len().div_ceil(STEPS)
    } else {
        parts.len()
    };
    let mut columns = Vec::with_capacity(parts.len());
    let mut diagnostics = Diagnostics::default();
    let mut preview = Preview::default();
    for (number, group) in parts.chunks(step.max(1)).enumerate() {
        let first = number * step;
        let read = |at: usize| {
            // The columns of a part take at most about as much as the part.
            budget::require(group.get(at).map_or(0, |part| part.size_bytes))
                .map_err(|problem| ReadError::at_byte(0, "events", problem))?;
            reader.read_part((first + at) as u32, job)
        };
        let results: Vec<Result<LaneColumns, ReadError>> =
            (0..group.len()).into_par_iter().map(read).collect();
        job.check()?;
        for (at, result) in results.into_iter().enumerate() {
            match result {
                Ok(read) => {
                    let (part, lane) = ((first + at) as u32, group[at].lane);
                    let part = PartColumns {
                        part,
                        lane,
                        columns: read,
                    };
                    if is_shown {
                        preview.add(&part, reader.lanes());
                    }
                    columns.push(part);
                }
                Err(error) if matches!(error.problem, Problem::NoMemory { .. }) => {
                    return Err(error);
                }
                Err(error) => {
                    let words = || error.to_string();
                    diagnostics.note("unreadable_part", Severity::DataLoss, error.at, words);
                }
            }
        }
        let is_last = first + group.len() == parts.len();
        if let Some(publish) = listener
            .as_mut()
            .filter(|_| is_shown && !is_last && !preview.is_empty())
        {
            publish_preview(state, &preview, publish);
        }
    }
    Ok((columns, diagnostics))
}

/// Publishes who ran on the CPUs read so far, over the density of the coarse picture.
fn publish_preview(
    state: &mut LoadedTrace,
    preview: &Preview,
    publish: &mut dyn FnMut(LoadedTrace),
) {
    let trace = preview.trace(state.reader.lanes(), state.reader.info(), state.trace.span);
    let mut index = Index::new(&trace);
    index
        .overview
        .events
        .clone_from(&state.index.overview.events);
    state.trace = Arc::new(trace);
    state.index = Arc::new(index);
    state.generation += 1;
    publish(state.clone());
}
