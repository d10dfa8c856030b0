//! `strace -ff`: a file for each process, read as one recording.
//!
//! Each file has a reader and a lane of its own; kinds are shared. Files that were recorded with relative times, or
//! without times, do not say how they lie to each other: that is a diagnostic.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::clock::{Clock, begin_next_day};
use super::family_starts::start_at_forks;
use super::prefix::Dialect;
use super::{STRACE, TextReader, pid_of_name, sniff};
use crate::base::{Diagnostics, Job, Location, ReadError, Severity, TimeSpan};
use crate::event::{Coarse, Directory, EventDetail, Lane, LaneColumns, Part, TraceInfo};
use crate::formats::format::{BoxedReader, EventRef, Input, Reader, Sniff, Together};
use crate::formats::text_kinds::Kinds;

/// How strace's files are opened together.
pub(super) const TOGETHER: Together = Together { are_parts, open };

/// `NAME.1234`, `NAME.1235`: one name, each pid once, and strace's text in all that are not empty.
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

fn open(inputs: Vec<Input>, job: &Job) -> Result<BoxedReader, ReadError> {
    let kinds = Arc::new(Kinds::default());
    let mut readers = Vec::with_capacity(inputs.len());
    for input in inputs {
        // Shared kinds are numbers that mean the same in all files.
        let shared = Arc::clone(&kinds);
        readers.push(TextReader::open_with(input, Dialect::Strace, shared, job)?);
    }
    let firsts: Vec<Option<i64>> = readers.iter().map(first_time_of_day).collect();
    for (reader, is_later) in readers.iter_mut().zip(begin_next_day(&firsts)) {
        if is_later {
            for part in &mut reader.scan.parts {
                part.time = part.time.later(1);
            }
        }
    }
    start_at_forks(&mut readers);
    Ok(Box::new(Family::new(readers)))
}

/// When a file begins, if that is a time of day.
fn first_time_of_day(reader: &TextReader) -> Option<i64> {
    let is_of_day = matches!(reader.scan.clock, Clock::Day | Clock::DaySeconds);
    let first = reader.scan.parts.first().filter(|_| is_of_day)?;
    (!reader.input.bytes().is_empty()).then(|| first.time.last())
}

/// The files of one recording.
struct Family {
    readers: Vec<TextReader>,
    /// The first part of each.
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
            let lane = family.lanes.len() as u32;
            let parts = reader.parts.iter();
            family.parts.extend(parts.map(|part| Part {
                lane: lane + part.lane,
                ..part.clone()
            }));
            family.lanes.push(Lane {
                name: reader.input.file_name.clone(),
                cpu: None,
            });
        }
        let lines: u64 = family
            .readers
            .iter()
            .map(|reader| reader.scan.line_count)
            .sum();
        if let Some(first) = family.readers.first() {
            family.info = TraceInfo {
                format: format!("{}, {} files of -ff", STRACE.name, family.readers.len()),
                facts: vec![("lines".to_owned(), lines.to_string())],
                ..first.info.clone()
            };
        }
        family
    }

    /// The reader of a part, and the part as that reader counts.
    fn reader_of(&self, part: u32) -> Option<(&TextReader, u32)> {
        let after = self.first_parts.partition_point(|&first| first <= part);
        let at = after.checked_sub(1)?;
        let first = self.first_parts.get(at)?;
        Some((self.readers.get(at)?, part - first))
    }
}

impl Reader for Family {
    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        let mut all = Coarse::default();
        let mut span: Option<TimeSpan> = None;
        for (lane, reader) in (0..).zip(&self.readers) {
            let one = reader.coarse();
            if one.density.is_empty() {
                continue;
            }
            let density = one.density.into_iter();
            all.density
                .extend(density.map(|(_, time, bytes)| (lane, time, bytes)));
            span = Some(span.map_or(one.span, |span| {
                TimeSpan::new(span.start.min(one.span.start), span.end.max(one.span.end))
            }));
        }
        all.span = span.unwrap_or_default();
        all
    }

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        match self.reader_of(part) {
            Some((reader, own)) => reader.read_part(own, job),
            None => Ok(LaneColumns::new(0)),
        }
    }

    fn directory(&self) -> Directory {
        self.readers
            .first()
            .map(Reader::directory)
            .unwrap_or_default()
    }

    fn diagnostics(&self) -> Diagnostics {
        let mut all = Diagnostics::default();
        let clock = self.readers.first().map(|reader| reader.scan.clock);
        if matches!(clock, Some(Clock::Lines | Clock::Relative)) {
            all.note("files_unplaced", Severity::Info, Location::Line(1), || {
                "the files have no times that say how they lie to each other: a child's begins at its fork, others at 0 (record with -ttt)"
                    .to_owned()
            });
        }
        for reader in &self.readers {
            all.merge(reader.diagnostics());
        }
        all
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        match self.reader_of(event.part) {
            Some((reader, part)) => reader.describe(EventRef { part, ..event }),
            None => EventDetail::default(),
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.readers.iter().map(Reader::memory_bytes).sum()
    }
}
