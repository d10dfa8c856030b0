//! The interface of readers: how the bytes of a recording become columns.
//!
//! ```text
//! bytes -> parts: | summarise | summarise | summarise |      in parallel
//!                   fold ->     fold ->     fold -> conclude  in order: what each part needs from parts before it
//!                 | read      | read      | read      |      in parallel, each with its start and the conclusion
//!                   gather: columns, and the directory of the numbers in them
//! ```
//!
//! The first three steps find what a part needs from the parts before it (string tables, running threads, open calls)
//! and from the whole file (the CPUs, the pid of lines without one). A format whose parts need nothing uses `()`.
//! [`AnyStream::read_all`] runs the steps for every format: it handles memory, progress, cancelling, unreadable parts
//! and the order of diagnostics.

use std::sync::Arc;

use bytes::Bytes;
use rayon::prelude::*;
use serde::de::DeserializeOwned;

use super::events::Events;
use super::format::{Inside, Instead};
use super::report::Report;
use crate::base::column::{self, Column};
use crate::base::{Cancelled, Diagnostics, Job, Problem, ReadError, Severity, budget};
use crate::event::{Coarse, Directory, Lane, LaneColumns, Part, PartColumns, TraceInfo};
use crate::trace::Trace;

/// An opened file whose head was read.
pub struct Recording {
    /// Facts in the head of the file. Facts that need the whole file come with [`Gathered::info`].
    pub info: TraceInfo,
    /// The lanes found in the head. The order of lanes is the order of events with equal times.
    pub lanes: Vec<Lane>,
    /// Diagnostics of the head.
    pub diagnostics: Diagnostics,
    /// Reads the events.
    pub stream: Arc<dyn AnyStream>,
    /// Decodes single events of the parts that were read.
    pub events: Arc<dyn Events>,
    /// Prints the whole trace as the reference tool does, if the format has one (`trace-cmd report`).
    pub report: Option<Arc<dyn HasReport>>,
    /// The recording that the file contains instead of events of its own.
    pub instead: Option<Instead>,
}

impl Recording {
    /// Reads the whole recording in one step.
    ///
    /// # Errors
    /// Errors if there is not enough memory, or the job was cancelled.
    pub fn read_whole(&self, job: &Job) -> Result<Gathered, ReadError> {
        self.stream.read_all(1, job, &mut |_| {})
    }
}

/// Owner of a report, which is built when it is first needed.
pub trait HasReport: Send + Sync {
    /// Returns the report, which prints the trace line by line in time order.
    fn report(&self) -> &dyn Report;
}

/// Everything that was read of a recording.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The columns, by lane, then in file order.
    pub parts: Vec<PartColumns>,
    /// The lanes. The order of lanes is the order of events with equal times.
    pub lanes: Vec<Lane>,
    /// Meaning of the numbers in the columns.
    pub directory: Directory,
    /// Facts about the file.
    pub info: TraceInfo,
    /// Diagnostics besides those in the columns.
    pub diagnostics: Diagnostics,
    /// Other recordings in the file.
    pub inside: Vec<Inside>,
}

impl Gathered {
    /// Returns the number of parts that event references can name: the largest part number plus 1.
    #[must_use]
    pub(crate) fn part_count(&self) -> u32 {
        let numbers = self.parts.iter().map(|part| part.part);
        numbers.max().map_or(0, |last| last.saturating_add(1))
    }
}

/// The result of reading one part.
#[derive(Clone, Debug)]
pub(crate) struct PartRead<T> {
    /// The part's number.
    pub part: u32,
    /// The result.
    pub read: T,
}

/// A file that is cut into parts.
pub(crate) trait Stream: Send + Sync {
    /// The result of `summarise` for one part.
    type Summary: Send;
    /// State that `fold` updates from part to part.
    type State: Send;
    /// What `read` needs from the parts before its part.
    type Start: Send + Sync;
    /// What `read` needs from the summaries of all parts.
    type Whole: Send + Sync;
    /// Result of reading a part; columns for most formats.
    type Read: Send;

    /// Returns the parts, in file order.
    fn parts(&self) -> &[Part];

    /// Returns a coarse preview from data that is fast to read: takes a small fraction of a second for any file.
    fn coarse(&self) -> Coarse {
        Coarse::default()
    }

    /// Returns the state before the first part.
    fn first_state(&self) -> Self::State;

    /// Summarises one part. Pure; runs on many threads at once.
    ///
    /// # Errors
    /// Errors only if nothing of the part can be read, or the job was cancelled.
    fn summarise(&self, part: u32, job: &Job) -> Result<Self::Summary, ReadError>;

    /// Advances the state past a part, and returns what `read` needs for that part. Called in the order of parts. Must
    /// call `job.check()` often enough that cancelling takes less than a tenth of a second.
    ///
    /// # Errors
    /// Errors only if the job was cancelled.
    fn fold(
        &self,
        state: &mut Self::State,
        part: u32,
        summary: Self::Summary,
        job: &Job,
    ) -> Result<Self::Start, Cancelled>;

    /// Returns the facts about the whole recording, from the state after the last part.
    ///
    /// # Errors
    /// Errors only if the job was cancelled.
    fn conclude(&self, end: Self::State, job: &Job) -> Result<Self::Whole, Cancelled>;

    /// Reads one part. Pure; runs on many threads at once. Damage becomes diagnostics in the result. Must call
    /// `job.check()` at least once per megabyte, and `job.advance` with the number of bytes done.
    ///
    /// # Errors
    /// Errors only if nothing of the part can be read, or the job was cancelled.
    fn read(
        &self,
        part: u32,
        start: &Self::Start,
        whole: &Self::Whole,
        job: &Job,
    ) -> Result<Self::Read, ReadError>;

    /// Returns the columns of a part with their lanes, for a preview before the whole file is read.
    fn shown<'a>(&self, _part: u32, _read: &'a Self::Read) -> Vec<Shown<'a>> {
        Vec::new()
    }

    /// Combines the results of all parts, given in the order of parts.
    ///
    /// # Errors
    /// Errors only if the job was cancelled.
    fn gather(
        &self,
        read: Vec<PartRead<Self::Read>>,
        whole: Self::Whole,
        job: &Job,
    ) -> Result<Gathered, ReadError>;

    /// See [`AnyStream::facts`].
    fn facts(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    /// See [`AnyStream::take_facts`].
    fn take_facts(&self, _facts: &KeptFacts, _trace: &Trace) -> Option<()> {
        Some(())
    }
}

/// What [`AnyStream::facts`] returned, and the model file that has its columns.
#[derive(Clone, Debug)]
pub struct KeptFacts {
    pub(crate) bytes: Column<u8>,
    pub(crate) file: Bytes,
}

impl KeptFacts {
    /// Returns the facts; `None` if they are not of this type.
    pub(crate) fn restored<T: DeserializeOwned>(&self) -> Option<T> {
        column::restore(&self.bytes, self.file.clone()).ok()
    }
}

/// A file whose parts do not depend on the parts before them: a [`Stream`] without summaries and state.
pub(crate) trait IndependentParts: Send + Sync {
    /// See [`Stream::Read`].
    type Read: Send;

    /// See [`Stream::parts`].
    fn parts(&self) -> &[Part];

    /// See [`Stream::coarse`].
    fn coarse(&self) -> Coarse {
        Coarse::default()
    }

    /// See [`Stream::read`].
    ///
    /// # Errors
    /// Errors only if nothing of the part can be read, or the job was cancelled.
    fn read(&self, part: u32, job: &Job) -> Result<Self::Read, ReadError>;

    /// See [`Stream::shown`].
    fn shown<'a>(&self, _part: u32, _read: &'a Self::Read) -> Vec<Shown<'a>> {
        Vec::new()
    }

    /// See [`Stream::gather`].
    ///
    /// # Errors
    /// Errors only if the job was cancelled.
    fn gather(&self, read: Vec<PartRead<Self::Read>>, job: &Job) -> Result<Gathered, ReadError>;

    /// See [`AnyStream::facts`].
    fn facts(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    /// See [`AnyStream::take_facts`].
    fn take_facts(&self, _facts: &KeptFacts, _trace: &Trace) -> Option<()> {
        Some(())
    }
}

impl<P: IndependentParts> Stream for P {
    type Summary = ();
    type State = ();
    type Start = ();
    type Whole = ();
    type Read = P::Read;

    fn parts(&self) -> &[Part] {
        IndependentParts::parts(self)
    }

    fn coarse(&self) -> Coarse {
        IndependentParts::coarse(self)
    }

    fn first_state(&self) {}

    fn summarise(&self, _part: u32, _job: &Job) -> Result<(), ReadError> {
        Ok(())
    }

    fn fold(&self, _state: &mut (), _part: u32, _summary: (), _job: &Job) -> Result<(), Cancelled> {
        Ok(())
    }

    fn conclude(&self, _end: (), _job: &Job) -> Result<(), Cancelled> {
        Ok(())
    }

    fn read(&self, part: u32, _start: &(), _whole: &(), job: &Job) -> Result<P::Read, ReadError> {
        IndependentParts::read(self, part, job)
    }

    fn shown<'a>(&self, part: u32, read: &'a P::Read) -> Vec<Shown<'a>> {
        IndependentParts::shown(self, part, read)
    }

    fn gather(
        &self,
        read: Vec<PartRead<P::Read>>,
        _whole: (),
        job: &Job,
    ) -> Result<Gathered, ReadError> {
        IndependentParts::gather(self, read, job)
    }

    fn facts(&self) -> Option<Vec<u8>> {
        IndependentParts::facts(self)
    }

    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()> {
        IndependentParts::take_facts(self, facts, trace)
    }
}

/// Inputs of the `read` step.
pub(crate) struct Started<S: Stream + ?Sized> {
    /// The parts that can be read, in order, each with its start.
    pub starts: Vec<(u32, S::Start)>,
    /// The facts about the whole recording.
    pub whole: S::Whole,
    /// Diagnostics of the parts that could not be summarised.
    pub diagnostics: Diagnostics,
}

/// Summarises all parts in parallel and folds them in order.
///
/// # Errors
/// Errors if there is not enough memory, or the job was cancelled.
pub(crate) fn start<S: Stream + ?Sized>(stream: &S, job: &Job) -> Result<Started<S>, ReadError> {
    let numbers: Vec<u32> = (0..stream.parts().len() as u32).collect();
    let mut diagnostics = Diagnostics::default();
    let summaries: Vec<_> = (numbers.par_iter())
        .map(|&part| stream.summarise(part, job))
        .collect();
    let mut state = stream.first_state();
    let mut starts = Vec::with_capacity(numbers.len());
    for (part, summary) in numbers.into_iter().zip(summaries) {
        job.check()?;
        if let Some(summary) = kept(summary, &mut diagnostics)? {
            starts.push((part, stream.fold(&mut state, part, summary, job)?));
        }
    }
    job.check()?;
    Ok(Started {
        starts,
        whole: stream.conclude(state, job)?,
        diagnostics,
    })
}

/// Turns the columns of parts into parts of lane 0.
#[must_use]
pub(crate) fn in_one_lane(read: Vec<PartRead<LaneColumns>>) -> Vec<PartColumns> {
    let parts = read.into_iter().map(|PartRead { part, read }| PartColumns {
        part,
        lane: 0,
        columns: read,
    });
    parts.collect()
}

/// A part that was read, for a preview before the whole file is read.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The number of the part's lane.
    pub lane: u32,
    /// Its columns.
    pub columns: &'a LaneColumns,
}

/// A stream of any format.
pub trait AnyStream: Send + Sync {
    /// Returns the parts, in file order.
    fn parts(&self) -> &[Part];

    /// Returns a coarse preview from data that is fast to read: takes a small fraction of a second for any file.
    fn coarse(&self) -> Coarse;

    /// Reads all parts in `steps` steps. After each step except the last, calls `show` with the columns of that step.
    ///
    /// # Errors
    /// Errors if there is not enough memory, or the job was cancelled.
    fn read_all(
        &self,
        steps: usize,
        job: &Job,
        show: &mut dyn FnMut(&[Shown<'_>]),
    ) -> Result<Gathered, ReadError>;

    /// Returns what decoding single events takes besides the trace, for the model file that is written on this thread;
    /// `None` if the parts were not read.
    fn facts(&self) -> Option<Vec<u8>>;

    /// Makes events decodable with the facts that were kept of the same file, without reading its parts; `trace` was made
    /// of them. `None` if there is not enough memory.
    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()>;
}

impl<S: Stream> AnyStream for S {
    fn parts(&self) -> &[Part] {
        Stream::parts(self)
    }

    fn coarse(&self) -> Coarse {
        Stream::coarse(self)
    }

    fn read_all(
        &self,
        steps: usize,
        job: &Job,
        show: &mut dyn FnMut(&[Shown<'_>]),
    ) -> Result<Gathered, ReadError> {
        read_in_steps(self, steps, job, show)
    }

    fn facts(&self) -> Option<Vec<u8>> {
        Stream::facts(self)
    }

    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()> {
        Stream::take_facts(self, facts, trace)
    }
}

/// See [`AnyStream::read_all`].
fn read_in_steps<S: Stream + ?Sized>(
    stream: &S,
    steps: usize,
    job: &Job,
    show: &mut dyn FnMut(&[Shown<'_>]),
) -> Result<Gathered, ReadError> {
    let parts = stream.parts();
    let Started {
        starts,
        whole,
        mut diagnostics,
    } = start(stream, job)?;
    let step = starts.len().div_ceil(steps.max(1)).max(1);
    let mut read = Vec::with_capacity(starts.len());
    for group in starts.chunks(step) {
        let results: Vec<_> = (group.par_iter())
            .map(|(part, start)| {
                // The columns of a part take at most about as many bytes as the part.
                if let Some(of) = parts.get(*part as usize) {
                    budget::require(of.size_bytes)
                        .map_err(|problem| ReadError::at_byte(of.start, "events", problem))?;
                }
                stream.read(*part, start, &whole, job)
            })
            .collect();
        job.check()?;
        let first = read.len();
        for ((part, _), result) in group.iter().zip(results) {
            let result = kept(result, &mut diagnostics)?;
            read.extend(result.map(|read| PartRead { part: *part, read }));
        }
        let is_last = group.last().map(|last| last.0) == starts.last().map(|last| last.0);
        if !is_last {
            let new = read.get(first..).unwrap_or(&[]);
            let shown: Vec<Shown<'_>> = new
                .iter()
                .flat_map(|new| stream.shown(new.part, &new.read))
                .collect();
            show(&shown);
        }
    }
    drop(starts);
    let mut gathered = stream.gather(read, whole, job)?;
    diagnostics.merge(std::mem::take(&mut gathered.diagnostics));
    gathered.diagnostics = diagnostics;
    Ok(gathered)
}

/// Returns the result of a part, or `None` and a diagnostic if the part is unreadable. Errors if there is not enough
/// memory.
fn kept<T>(
    result: Result<T, ReadError>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<T>, ReadError> {
    match result {
        Ok(read) => Ok(Some(read)),
        Err(error) if matches!(error.problem, Problem::NoMemory { .. }) => Err(error),
        Err(error) => {
            let words = || error.to_string();
            diagnostics.note("unreadable_part", Severity::DataLoss, error.at, words);
            Ok(None)
        }
    }
}
