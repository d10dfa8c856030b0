//! System-call traces as text: strace's and those of MINIX's trace(1), one grammar with two dialects.
//!
//! ```text
//! strace  15634 1795231677.383917 brk(NULL)       = 0x56002162a000 <0.000007>
//! MINIX     311|*wait4(-1, ** SIGCHLD ** W_EXITED(0), 0, NULL) = 312
//! ```
//!
//! Opening looks through all lines once, in parallel (`scan`): it cuts the text and gives each part what it
//! must know of the text before it. Parts are read in parallel (`emit`, `acts`); any line again by `describe`.
//! Keys are pids; a lone process whose pid is not told has a key of its own and is shown as tid 0.
//!
//! What is on the axis is `clock`'s matter: times of day count from the first day's midnight, relative
//! ones from the first line; a text without times has one step a line. strace's manual and MINIX's
//! `minix/usr.bin/trace` are the specifications.

mod acts;
mod clock;
mod describe;
mod emit;
mod family;
mod family_starts;
mod halves;
mod line;
mod numbers;
mod prefix;
mod scan;
mod sniff;
mod values;

use std::sync::Arc;

use crate::base::{
    Diagnostics, Job, Location, Nanos, Problem, ReadError, Severity, TimeSpan, Timestamp,
};
use crate::event::keys::Derive;
use crate::event::part::ClockUnit;
use crate::event::{
    Coarse, Directory, EventDetail, FirstDay, Lane, LaneColumns, Part, ThreadEntry, TraceInfo,
};
use crate::formats::text_end::note_cut_line;
use crate::formats::text_kinds::Kinds;
use crate::formats::{EventRef, Format, Input, Reader};

use clock::Clock;
use emit::Source;
pub use numbers::error_name;
use prefix::Dialect;
use scan::Scan;

/// strace's row in `FORMATS`.
pub const STRACE: Format = Format {
    name: "strace",
    extensions: &["strace"],
    sniff: sniff::sniff_strace,
    open: |input, job| Ok(Box::new(TextReader::open(input, Dialect::Strace, job)?)),
    together: Some(family::TOGETHER),
};

/// MINIX's row in `FORMATS`.
pub const MINIX: Format = Format {
    name: "MINIX trace(1)",
    extensions: &["trace"],
    sniff: sniff::sniff_minix,
    open: |input, job| Ok(Box::new(TextReader::open(input, Dialect::Minix, job)?)),
    together: None,
};

/// An opened text.
#[derive(Debug)]
struct TextReader {
    input: Input,
    dialect: Dialect,
    scan: Scan,
    kinds: Arc<Kinds>,
    info: TraceInfo,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
}

impl TextReader {
    fn open(input: Input, dialect: Dialect, job: &Job) -> Result<TextReader, ReadError> {
        TextReader::open_with(input, dialect, Arc::default(), job)
    }

    /// The same, for one of several files that share their kinds.
    fn open_with(
        input: Input,
        dialect: Dialect,
        kinds: Arc<Kinds>,
        job: &Job,
    ) -> Result<TextReader, ReadError> {
        let head = input.bytes();
        let head = head.get(..1 << 16).unwrap_or(head);
        if dialect == Dialect::Strace && sniff::is_only_summary(head) {
            return Err(ReadError::at_line(
                1,
                "strace text",
                Problem::Other(
                    "this is only the summary table of strace -c: it has no calls to draw; record \
                     without -c"
                        .to_owned(),
                ),
            ));
        }
        let file_pid = pid_of_name(&input.file_name).filter(|_| dialect == Dialect::Strace);
        let scan = scan::scan(input.bytes(), dialect, file_pid, job)?;
        let parts = scan
            .parts
            .iter()
            .map(|part| Part {
                lane: 0,
                size_bytes: part.range.len() as u64,
            })
            .collect();
        let name = match dialect {
            Dialect::Strace => STRACE.name,
            Dialect::Minix => MINIX.name,
        };
        let mut facts = vec![("lines".to_owned(), scan.line_count.to_string())];
        if scan.clock == Clock::DaySeconds {
            let words = "whole seconds; lines of one second are spread 1 µs apart";
            facts.push(("times".to_owned(), words.to_owned()));
        }
        let info = TraceInfo {
            format: name.to_owned(),
            clock: scan.clock.text(input.midnight_ns),
            clock_unit: match scan.clock {
                Clock::Lines => ClockUnit::Lines,
                _ => ClockUnit::Nanoseconds,
            },
            wall_clock_zero_ns: match scan.clock {
                Clock::Unix => Some(0),
                Clock::Day | Clock::DaySeconds => input.midnight_ns,
                Clock::Lines | Clock::Relative => None,
            },
            first_day: match (scan.clock, input.midnight_ns) {
                (Clock::Day | Clock::DaySeconds, None) => FirstDay::Unknown,
                (Clock::Day | Clock::DaySeconds, Some(_)) => FirstDay::Given,
                _ => FirstDay::OfFile,
            },
            facts,
            ..TraceInfo::default()
        };
        Ok(TextReader {
            input,
            dialect,
            scan,
            kinds,
            info,
            lanes: vec![Lane {
                name: format!("{name} lines"),
                cpu: None,
            }],
            parts,
        })
    }

    fn source(&self) -> Source<'_> {
        Source {
            text: self.input.bytes(),
            dialect: self.dialect,
            scan: &self.scan,
            kinds: &self.kinds,
        }
    }
}

/// The pid at the end of a name as `strace -ff -o NAME` makes them: `NAME.1234`.
fn pid_of_name(name: &str) -> Option<u32> {
    let (_, digits) = name.rsplit_once('.')?;
    let pid = values::plain_number(digits.as_bytes())?;
    u32::try_from(pid)
        .ok()
        .filter(|pid| (1..=1 << 22).contains(pid))
}

impl Reader for TextReader {
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
        let mut density: Vec<(u32, Timestamp, u32)> = self
            .scan
            .parts
            .iter()
            .map(|part| {
                let size = u32::try_from(part.range.len()).unwrap_or(u32::MAX);
                (0, Timestamp(part.time.last()), size)
            })
            .collect();
        density.sort_by_key(|entry| entry.1);
        let first = density.first().map_or(Timestamp(0), |entry| entry.1);
        let last = density.last().map_or(Timestamp(0), |entry| entry.1);
        Coarse {
            span: TimeSpan::new(first, last.saturating_add(Nanos(1))),
            density,
        }
    }

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        match self.scan.parts.get(part as usize) {
            Some(start) => emit::emit(&self.source(), start, job),
            None => Ok(LaneColumns::new(0)),
        }
    }

    fn directory(&self) -> Directory {
        let (kinds, strings) = self.kinds.list();
        let threads = vec![ThreadEntry {
            key: scan::LONE,
            tid: 0,
            file_key: 0,
            process: None,
            name: None,
        }];
        Directory {
            kinds,
            threads,
            derive: Derive::Programs,
            strings,
            ..Directory::default()
        }
    }

    fn diagnostics(&self) -> Diagnostics {
        let mut all = Diagnostics::default();
        note_cut_line(self.input.bytes(), &mut all);
        if let Some(line) = self.scan.table_line {
            all.note(
                "summary_table",
                Severity::Info,
                Location::Line(line),
                || "the table of strace -C behind the calls is kept as notes".to_owned(),
            );
        }
        all
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        describe::describe(&self.source(), event)
    }

    fn memory_bytes(&self) -> u64 {
        let starts = self.scan.parts.iter();
        let open: usize = starts.map(|part| part.open.capacity() * 16 + 256).sum();
        let tables = (open + self.scan.forks.capacity() * 16) as u64;
        self.kinds.memory_bytes() + self.scan.halves.memory_bytes() + tables
    }
}

#[cfg(test)]
mod tests;
