//! Loads files in all steps: reads bytes from a path, detects the format, reads parts in parallel, assembles and
//! indexes tables. `parts` opens several files of one recording as one. `together` joins several files on one axis, at
//! the offsets that `placing` finds. `background` loads on a separate thread and publishes generations during the load.

pub(crate) mod background;
mod beside;
mod compilers;
pub mod definitions;
mod detection;
pub mod growing;
mod guard;
mod joined;
mod loaded;
pub(crate) mod model;
pub mod opened;
mod parts;
pub mod placing;
pub mod reading;
pub mod source;
mod stream;
#[cfg(test)]
mod tests;
pub mod together;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::assemble::assemble;
use crate::assemble::preview::Preview;
use crate::base::{Cancelled, Diagnostics, Job, Location, ReadError, Severity, budget};
use crate::formats::{AnyStream, Gathered, Inside, Recording};
use crate::index::{Index, IndexedTrace};
use crate::trace::Trace;

pub(crate) use crate::base::TraceId;
pub(crate) use beside::names_traces;
pub use detection::detect;
#[cfg(feature = "gui")]
pub(crate) use detection::format_of_file;
pub(crate) use guard::catch_bus_errors;
pub use loaded::{LoadError, LoadedTrace, Timings, file_name};
pub(crate) use opened::{Change, OpenedFile};
pub(crate) use reading::Growth;
pub use reading::Reading;

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

/// Loads a file. Without a `listener`, only the last generation is created.
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

    let label = model::label(sources, paths, reading);
    let model = label.and_then(model::find);
    let begins_with = match &model {
        // It takes the place of the coarse trace.
        Some(_) => IndexedTrace::default(),
        None => coarse_trace(&recording),
    };
    let mut state = LoadedTrace {
        trace: Arc::new(begins_with.trace),
        index: Arc::new(begins_with.index),
        reader: recording.events,
        report: recording.report,
        part_count: stream.parts().len() as u32,
        path: path.clone(),
        part_paths: paths.get(1..).unwrap_or_default().to_vec(),
        part_name: None,
        file_bytes: sources.iter().map(|source| source.file_bytes).sum(),
        id: TraceId::new(),
        is_complete: false,
        timings: Timings {
            coarse: begun.elapsed(),
            full: Duration::ZERO,
        },
        members: Vec::new(),
        left_out: Vec::new(),
        named: None,
        probes: None,
        has_only_probes: false,
        reading,
        opened: still_read(sources),
        without_plots: None,
    };
    if let Some(model) = model {
        return Ok(reopen(state, model, &stream, begun, listener));
    }
    if let Some(publish) = &mut listener {
        publish(state.clone());
    }
    let left_before = budget::left_bytes();
    let preview = Preview::of(&recording.lanes, &recording.info);
    let mut gathered = read_all(&stream, preview, &mut state, job, &mut listener).map_err(fail)?;
    // The columns of events are kept as they are; the tables made from the other columns take about half as much memory
    // again.
    let columns_bytes = left_before.saturating_sub(budget::left_bytes());
    budget::require(columns_bytes / 2)
        .map_err(|problem| fail(ReadError::at_byte(0, "tables", problem)))?;
    let mut diagnostics = std::mem::take(&mut gathered.diagnostics);
    state.part_count = gathered.part_count();
    let inside = std::mem::take(&mut gathered.inside);
    let trace = assemble(
        gathered.parts,
        &gathered.lanes,
        &gathered.directory,
        gathered.info,
        job,
    );
    let mut trace = trace.map_err(|cancelled| fail(cancelled.into()))?;
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
    let index = Index::new(&trace, job).map_err(|cancelled| fail(cancelled.into()))?;
    state.index = Arc::new(index);
    state.trace = Arc::new(trace);
    state.id = state.id.next_generation();
    state.is_complete = true;
    state.timings.full = begun.elapsed();
    let in_files = sources.iter().flat_map(|source| &source.inside);
    let inside: Vec<Inside> = in_files.cloned().chain(inside).collect();
    if !inside.is_empty() {
        state = with_inside(state, inside, job)?;
    } else if let Some(label) = label {
        model::keep(label, &state, &stream);
    }
    if let Some(publish) = &mut listener {
        publish(state.clone());
    }
    Ok(state)
}

/// Completes the `state` of a recording whose columns are known from a model file.
fn reopen(
    mut state: LoadedTrace,
    model: model::Model,
    stream: &Arc<dyn AnyStream>,
    begun: Instant,
    mut listener: Option<&mut dyn FnMut(LoadedTrace)>,
) -> LoadedTrace {
    state.trace = Arc::new(model.trace);
    state.index = Arc::new(model.index);
    state.part_count = model.part_count;
    state.id = state.id.next_generation();
    let facts = model::Taking {
        stream: Arc::clone(stream),
        trace: Arc::clone(&state.trace),
        facts: model.facts,
    };
    match &mut listener {
        Some(publish) => {
            // The timeline is complete; lists of events follow when the reader can decode them.
            publish(state.clone());
            facts.take();
            // Answers about single events that were found before are not those of this generation.
            state.id = state.id.next_generation();
        }
        None => {
            state.reader = Arc::new(model::Reopened::new(state.reader, facts));
        }
    }
    state.is_complete = true;
    state.timings.full = begun.elapsed();
    if let Some(publish) = listener {
        publish(state.clone());
    }
    state
}

/// Returns a trace together with the other recordings in its file. Recordings without events are skipped.
///
/// # Errors
/// If the job is cancelled.
fn with_inside(
    loaded: LoadedTrace,
    inside: Vec<Inside>,
    job: &Job,
) -> Result<LoadedTrace, LoadError> {
    let (path, reading) = (loaded.path.clone(), loaded.reading);
    let mut main = loaded;
    let mut members = Vec::new();
    for Inside { name, input } in inside {
        let reading = Reading {
            format: None,
            ..reading
        };
        let begun = Instant::now();
        let opened = reading.open(input, job).map_err(|error| LoadError {
            path: path.clone(),
            error,
        });
        let paths = std::slice::from_ref(&path);
        let other = opened.and_then(|it| load_opened(paths, reading, &[], it, begun, job, None));
        match other {
            Ok(other) => members.push(LoadedTrace {
                part_name: Some(name),
                ..other
            }),
            Err(error) if job.is_cancelled() => return Err(error),
            Err(error) => {
                let mut trace = main.trace.as_ref().clone();
                let words = || format!("{name} in the file is left out: {}", error.error);
                trace
                    .diagnostics
                    .note_many("left_out_inside", Severity::Error, None, 1, words);
                main.trace = Arc::new(trace);
            }
        }
    }
    members.retain(|member| !member.trace.events.is_empty());
    if main.trace.events.is_empty() && !members.is_empty() {
        main = LoadedTrace {
            part_name: None,
            file_bytes: main.file_bytes,
            opened: main.opened,
            ..members.remove(0)
        };
    }
    if members.is_empty() {
        return Ok(main);
    }
    let mut all = vec![Arc::new(main)];
    all.extend(members.into_iter().map(Arc::new));
    joined::join_at(&all, &placing::place(&all, &[]), job)
        .map_err(|Cancelled| LoadError::cancelled(path))
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
    /// The reader of the recording.
    pub recording: Recording,
    /// Why the rest of the file could not be unpacked, in words; `None` if the whole file was.
    pub stopped: Option<String>,
    /// The file, if events are still read from it on demand.
    pub opened: Vec<Arc<OpenedFile>>,
    /// Whether the file also contains events of other recordings.
    pub has_more: bool,
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
    let detected = Reading {
        format: None,
        ..reading
    };
    let has_more = source.inside.into_iter().any(|inside| {
        let other = detected.open(inside.input, job);
        other.is_ok_and(|other| !other.stream.coarse().density.is_empty())
    });
    Ok(OpenedHead {
        recording,
        stopped: source.stopped.map(|stopped| stopped.words),
        opened,
        has_more,
    })
}

/// Returns the span and density of the trace, before its events are read.
fn coarse_trace(recording: &Recording) -> IndexedTrace {
    let coarse = recording.stream.coarse();
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

/// Reads all parts; for a large file, publishes previews during the load.
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
            publish_preview(state, &preview, job, publish);
        }
    })
}

/// Publishes the runs of the CPUs read so far, with the density of the coarse trace; nothing if the job is cancelled.
fn publish_preview(
    state: &mut LoadedTrace,
    preview: &Preview,
    job: &Job,
    publish: &mut dyn FnMut(LoadedTrace),
) {
    let trace = preview.trace(state.trace.span);
    let Ok(mut index) = Index::new(&trace, job) else {
        return;
    };
    index
        .overview
        .events
        .clone_from(&state.index.overview.events);
    state.trace = Arc::new(trace);
    state.index = Arc::new(index);
    state.id = state.id.next_generation();
    publish(state.clone());
}
