//! Reads the files of `strace -ff`, one per process, as one recording.
//!
//! Each file has its own reader and lane; kinds are shared. Files with relative times or without times do not show how
//! their times are related: a diagnostic reports this.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::clock::{Clock, begin_next_day};
use super::dialect::Dialect;
use super::family_starts::join_at_forks;
use super::fold::{Found, PartStart, State};
use super::reader::{TextReader, pid_of_name};
use super::sniff;
use super::summary::Summary;
use crate::base::column::store_inside;
use crate::base::{Cancelled, Diagnostics, Job, Location, ReadError, Severity, TimeSpan};
use crate::event::{
    Coarse, DecodedEvent, DensitySample, Fact, Lane, LaneColumns, Need, Part, PartColumns,
    TraceInfo,
};
use crate::formats::format::{Input, Sniff, Together};
use crate::formats::kind_table::Kinds;
use crate::formats::stream::{KeptFacts, PartRead};
use crate::formats::{EventRef, Events, Gathered, Recording, Stream};
use crate::trace::Trace;

/// Opens several strace files together.
pub(super) const TOGETHER: Together = Together { are_parts, open };

/// Returns whether the files are `NAME.1234`, `NAME.1235`, ...: with one name and distinct pids, each empty or a text
/// of strace.
fn are_parts(inputs: &[Input]) -> bool {
    let mut pids = FxHashSet::default();
    let mut stem: Option<&str> = None;
    for input in inputs {
        let Some(pid) = pid_of_name(&input.file_name) else {
            return false;
        };
        let name = input
            .file_name
            .rsplit_once('.')
            .map_or("", |(name, _)| name);
        if *stem.get_or_insert(name) != name || !pids.insert(pid) {
            return false;
        }
        let bytes = input.bytes();
        let head = bytes.get(..1 << 14).unwrap_or(bytes);
        if !head.is_empty() && sniff::sniff_strace(head) == Sniff::No {
            return false;
        }
    }
    inputs.len() > 1
}

fn open(inputs: Vec<Input>, _job: &Job) -> Result<Recording, ReadError> {
    let kinds = Arc::new(Kinds::default());
    let mut readers = Vec::with_capacity(inputs.len());
    for input in inputs {
        // Kinds are shared so that kind numbers are the same in all files.
        let shared = Arc::clone(&kinds);
        readers.push(TextReader::open_with(input, Dialect::Strace, shared)?);
    }
    let firsts: Vec<Option<i64>> = readers.iter().map(first_time_of_day).collect();
    for (reader, is_later) in readers.iter_mut().zip(begin_next_day(&firsts)) {
        reader.head.days = i64::from(is_later);
    }
    Ok(Family::new(readers).recording())
}

/// Returns the first time of a file, if it is a time of day.
fn first_time_of_day(reader: &TextReader) -> Option<i64> {
    let is_of_day = matches!(reader.head.clock, Clock::Day | Clock::DaySeconds);
    (is_of_day && !reader.parts.is_empty()).then(|| reader.head.start().last())
}

/// The files of one recording.
struct Family {
    readers: Vec<TextReader>,
    /// Number of the first part of each file.
    first_parts: Vec<u32>,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
    info: TraceInfo,
}

impl Family {
    fn new(readers: Vec<TextReader>) -> Family {
        let mut family = Family {
            first_parts: Vec::new(),
            lanes: Vec::new(),
            parts: Vec::new(),
            info: TraceInfo::default(),
            readers,
        };
        for reader in &family.readers {
            family.first_parts.push(family.parts.len() as u32);
            family.parts.extend_from_slice(&reader.parts);
            family.lanes.push(Lane {
                name: reader.input.file_name.clone(),
                cpu: None,
            });
        }
        if let Some(first) = family.readers.first() {
            family.info = TraceInfo {
                format: format!(
                    "{}, {} files of -ff",
                    Dialect::Strace.format_name(),
                    family.readers.len()
                ),
                facts: Vec::new(),
                ..first.info.clone()
            };
        }
        family
    }

    fn file_of(&self, part: u32) -> Option<PartOfFile<'_>> {
        let after = self.first_parts.partition_point(|&first| first <= part);
        let index = after.checked_sub(1)?;
        let first = self.first_parts.get(index)?;
        Some(PartOfFile {
            index,
            reader: self.readers.get(index)?,
            number: part - first,
        })
    }
}

/// A part and the file that it belongs to.
struct PartOfFile<'a> {
    /// The index of the file.
    index: usize,
    reader: &'a TextReader,
    /// The part's number in the file.
    number: u32,
}

impl Family {
    fn recording(self) -> Recording {
        let family = Arc::new(self);
        Recording {
            info: family.info.clone(),
            lanes: family.lanes.clone(),
            diagnostics: family.diagnostics(),
            stream: family.clone(),
            events: family,
            report: None,
            instead: None,
        }
    }

    fn diagnostics(&self) -> Diagnostics {
        let mut all = Diagnostics::default();
        let clock = self.readers.first().map(|reader| reader.head.clock);
        if matches!(clock, Some(Clock::Lines | Clock::Relative)) {
            all.note("files_unplaced", Severity::Info, Location::Line(1), || {
                "the files have no common clock: a child's file begins at its fork, other files at 0 (record with -ttt)"
                    .to_owned()
            });
        }
        for reader in &self.readers {
            all.merge(reader.diagnostics());
        }
        all
    }
}

impl Stream for Family {
    type Summary = Summary;
    /// One state per file.
    type State = Vec<State>;
    type Start = PartStart;
    /// Facts of each file.
    type Whole = Vec<Found>;
    type Read = LaneColumns;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        let mut all = Coarse::default();
        let mut span: Option<TimeSpan> = None;
        for (lane, reader) in (0..).zip(&self.readers) {
            let one = Stream::coarse(reader);
            if one.density.is_empty() {
                continue;
            }
            let density = one.density.into_iter();
            all.density
                .extend(density.map(|sample| DensitySample { lane, ..sample }));
            span = Some(span.map_or(one.span, |span| {
                TimeSpan::new(span.start.min(one.span.start), span.end.max(one.span.end))
            }));
        }
        all.span = span.unwrap_or_default();
        all
    }

    fn first_state(&self) -> Vec<State> {
        self.readers.iter().map(Stream::first_state).collect()
    }

    fn summarise(&self, part: u32, job: &Job) -> Result<Summary, ReadError> {
        match self.file_of(part) {
            Some(file) => file.reader.summarise(file.number, job),
            None => Ok(Summary::default()),
        }
    }

    fn fold(
        &self,
        states: &mut Vec<State>,
        part: u32,
        summary: Summary,
        job: &Job,
    ) -> Result<PartStart, Cancelled> {
        let file = self.file_of(part);
        match file.and_then(|file| Some((states.get_mut(file.index)?, file))) {
            Some((state, file)) => file.reader.fold(state, file.number, summary, job),
            None => Ok(PartStart::default()),
        }
    }

    fn conclude(&self, end: Vec<State>, job: &Job) -> Result<Vec<Found>, Cancelled> {
        let ends = self.readers.iter().zip(end);
        let found = ends.map(|(reader, end)| reader.conclude(end, job));
        let mut found = found.collect::<Result<Vec<Found>, Cancelled>>()?;
        join_at_forks(&self.readers, &mut found);
        Ok(found)
    }

    fn read(
        &self,
        part: u32,
        start: &PartStart,
        whole: &Vec<Found>,
        job: &Job,
    ) -> Result<LaneColumns, ReadError> {
        let file = self.file_of(part);
        match file.and_then(|file| Some((whole.get(file.index)?, file))) {
            Some((whole, file)) => file.reader.read(file.number, start, whole, job),
            None => Ok(LaneColumns::new(0)),
        }
    }

    fn gather(
        &self,
        read: Vec<PartRead<LaneColumns>>,
        whole: Vec<Found>,
        _job: &Job,
    ) -> Result<Gathered, ReadError> {
        let lines: u64 = whole.iter().map(|found| found.line_count).sum();
        let mut info = self.info.clone();
        info.facts = vec![Fact::new("lines", lines.to_string())];
        let mut diagnostics = Diagnostics::default();
        for (reader, found) in self.readers.iter().zip(whole) {
            diagnostics.merge(reader.whole_diagnostics(&found));
            let _ = reader.found.set(found);
        }
        let lane_of = |part: u32| self.file_of(part).map_or(0, |file| file.index as u32);
        let parts = read.into_iter().map(|PartRead { part, read }| PartColumns {
            part,
            lane: lane_of(part),
            columns: read,
        });
        let parts = parts.collect();
        let first = self.readers.first();
        Ok(Gathered {
            parts,
            lanes: self.lanes.clone(),
            directory: first.map(TextReader::directory).unwrap_or_default(),
            info,
            diagnostics,
            inside: Vec::new(),
        })
    }

    fn facts(&self) -> Option<Vec<u8>> {
        let found: Option<Vec<&Found>> = self.readers.iter().map(|it| it.found.get()).collect();
        store_inside(&found?).ok()
    }

    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()> {
        let found: Vec<Found> = facts.restored()?;
        let first = self.readers.first()?;
        if found.len() != self.readers.len() {
            return None;
        }
        // All files share their kinds.
        first.kinds.take_from(trace);
        for (reader, found) in self.readers.iter().zip(found) {
            let _ = reader.found.set(found);
        }
        Some(())
    }
}

impl Events for Family {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        if let Some(file) = self.file_of(event.part) {
            let part = file.number;
            (file.reader).decode(EventRef { part, ..event }, need, decoded);
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.readers.iter().map(Events::memory_bytes).sum()
    }
}
