//! The one conductor: a path becomes bytes, bytes find their format, parts are read in parallel, built and
//! indexed. `background` does the same off the window's thread and publishes what it has on the way.

pub mod background;
mod guard;
pub mod source;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::base::{Diagnostics, Job, Location, Problem, ReadError, Severity};
use crate::build::{PartColumns, build};
use crate::event::LaneColumns;
use crate::formats::{FORMATS, Format, Input, Reader, Sniff};
use crate::index::Index;
use crate::trace::Trace;

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
    /// Size of the file on disk.
    pub file_bytes: u64,
    /// Counts up as more of the file is known.
    pub generation: u32,
    /// Whether everything was read.
    pub is_complete: bool,
    /// How long it took.
    pub timings: Timings,
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
    /// Heap bytes held: tables, indexes, and what describing needs. The mapped file is not counted.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.trace.memory_bytes() + self.index.memory_bytes() + self.reader.memory_bytes()
    }
}

/// Why a file could not be opened: the error first, the path last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Which file.
    pub path: PathBuf,
    /// What was wrong with it.
    pub error: ReadError,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.error, self.path.display())
    }
}

impl std::error::Error for LoadError {}

/// Opens a file whole. `-` is standard input.
///
/// # Errors
/// If nothing of it can be shown.
pub fn open(path: &Path, job: &Job) -> Result<LoadedTrace, LoadError> {
    open_with(path, job, &mut |_| {})
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
    let begun = Instant::now();
    let fail = |error| LoadError {
        path: path.to_path_buf(),
        error,
    };
    let source = source::read(path, job).map_err(fail)?;
    let reader = open_reader(source.input.clone(), job).map_err(fail)?;
    let reader: Arc<dyn Reader> = Arc::from(reader);
    job.set_total(reader.parts().iter().map(|part| part.size_bytes).sum());

    let blank = LoadedTrace {
        trace: Arc::default(),
        index: Arc::default(),
        reader: reader.clone(),
        path: path.to_path_buf(),
        file_bytes: source.file_bytes,
        generation: 0,
        is_complete: false,
        timings: Timings::default(),
    };
    let mut timings = Timings::default();
    let coarse = coarse_trace(reader.as_ref());
    timings.coarse = begun.elapsed();
    publish(LoadedTrace {
        trace: Arc::new(coarse.0),
        index: Arc::new(coarse.1),
        timings,
        ..blank.clone()
    });

    let (columns, mut diagnostics) = read_parts(reader.as_ref(), job).map_err(fail)?;
    let directory = reader.directory();
    let mut trace = build(
        columns,
        reader.lanes(),
        &directory,
        reader.info().clone(),
        job,
    );
    if source.was_changed() {
        diagnostics.note("file_changed", Severity::DataLoss, Location::Byte(0), || {
            "the file was changed while it was read; what is shown may be incomplete: open it again".to_owned()
        });
    }
    let built = std::mem::take(&mut trace.diagnostics);
    trace.diagnostics = reader.diagnostics();
    trace.diagnostics.merge(diagnostics);
    trace.diagnostics.merge(built);
    let index = Index::new(&trace);
    job.check().map_err(|cancelled| fail(cancelled.into()))?;
    timings.full = begun.elapsed();
    let loaded = LoadedTrace {
        trace: Arc::new(trace),
        index: Arc::new(index),
        generation: 1,
        is_complete: true,
        timings,
        ..blank
    };
    publish(loaded.clone());
    Ok(loaded)
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
            let problem = if head.is_empty() {
                Problem::Other("the file is empty".to_owned())
            } else {
                Problem::Other(format!(
                    "this is no trace that Threadline can read; it reads: {}",
                    names.join(", ")
                ))
            };
            ReadError::at_byte(0, "file", problem)
        })
}

/// Opens a file's head only: for what needs no tables (`report`).
///
/// # Errors
/// If nothing of it can be shown.
pub fn open_reader_only(path: &Path, job: &Job) -> Result<Box<dyn Reader>, LoadError> {
    let fail = |error| LoadError {
        path: path.to_path_buf(),
        error,
    };
    let source = source::read(path, job).map_err(fail)?;
    open_reader(source.input, job).map_err(fail)
}

/// How much of a file detection looks at.
const HEAD_BYTES: usize = 64 * 1024;

fn open_reader(input: Input, job: &Job) -> Result<Box<dyn Reader>, ReadError> {
    let head = &input.bytes()[..input.bytes().len().min(HEAD_BYTES)];
    let format = detect(head)?;
    (format.open)(input, job)
}

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

/// Reads all parts in parallel. A part that cannot be read becomes a diagnostic.
fn read_parts(
    reader: &dyn Reader,
    job: &Job,
) -> Result<(Vec<PartColumns>, Diagnostics), ReadError> {
    let results: Vec<Result<LaneColumns, ReadError>> = (0..reader.parts().len() as u32)
        .into_par_iter()
        .map(|part| reader.read_part(part, job))
        .collect();
    job.check()?;
    let mut columns = Vec::with_capacity(results.len());
    let mut diagnostics = Diagnostics::default();
    for (part, result) in results.into_iter().enumerate() {
        match result {
            Ok(read) => columns.push(PartColumns {
                part: part as u32,
                lane: reader.parts()[part].lane,
                columns: read,
            }),
            Err(error) => {
                diagnostics.note("unreadable_part", Severity::DataLoss, error.at, || {
                    error.to_string()
                });
            }
        }
    }
    Ok((columns, diagnostics))
}
