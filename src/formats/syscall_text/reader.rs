//! An opened text of system calls: one lane, cut into parts that are read in parallel.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::base::column::store_inside;
use crate::base::lines::cut_at_line_ends;
use crate::base::{Cancelled, Diagnostics, Job, Location, Problem, ReadError, Severity};
use crate::event::keys::Derive;
use crate::event::part::ClockUnit;
use crate::event::{
    Coarse, DecodedEvent, Directory, Fact, FirstDay, Lane, LaneColumns, Need, Part, ThreadEntry,
    TraceInfo,
};
use crate::formats::kind_table::{Kinds, ListedKinds};
use crate::formats::stream::{KeptFacts, PartRead, in_one_lane};
use crate::formats::text_end::note_cut_line;
use crate::formats::{EventRef, Events, Gathered, Input, Recording, Stream};

use super::clock::Clock;
use super::dialect::Dialect;
use super::emit::{self, Source};
use super::fold::{Found, PartStart, State};
use super::head::{Caller, Head};
use super::summary::{Summary, summarise};
use super::times::split_duration;
use super::{describe, sniff, values};
use crate::trace::Trace;

const PART_BYTES: usize = 2 << 20;
/// How many bytes of a text are searched for durations.
const MOST_EXAMINED: usize = 16 << 10;

/// An opened text.
#[derive(Debug)]
pub(super) struct TextReader {
    pub(super) input: Input,
    pub(super) head: Head,
    /// Pid in the file's name.
    file_pid: Option<u32>,
    /// Byte range of each part.
    ranges: Vec<Range<usize>>,
    /// Facts about the whole text, set after it was read.
    pub(super) found: OnceLock<Found>,
    pub(super) kinds: Arc<Kinds>,
    pub(super) info: TraceInfo,
    pub(super) lanes: Vec<Lane>,
    pub(super) parts: Vec<Part>,
}

impl TextReader {
    pub(super) fn open(input: Input, dialect: Dialect) -> Result<TextReader, ReadError> {
        TextReader::open_with(input, dialect, Arc::default())
    }

    /// Opens one of several files that share their kinds.
    pub(super) fn open_with(
        input: Input,
        dialect: Dialect,
        kinds: Arc<Kinds>,
    ) -> Result<TextReader, ReadError> {
        let start = input.bytes();
        let start = start.get(..1 << 16).unwrap_or(start);
        if dialect == Dialect::Strace && sniff::is_only_summary(start) {
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
        let text = input.bytes();
        let ranges = cut_at_line_ends(text, (text.len() / PART_BYTES).max(1));
        let parts = (ranges.iter())
            .map(|range| Part {
                start: range.start as u64,
                size_bytes: range.len() as u64,
            })
            .collect();
        let head = Head::of(text, dialect);
        let name = dialect.format_name();
        let mut facts = Vec::new();
        if head.clock == Clock::DaySeconds {
            let words = "whole seconds; lines of one second are spread 1 µs apart";
            facts.push(Fact::new("times", words));
        }
        let info = TraceInfo {
            format: name.to_owned(),
            clock: head.clock.text(input.midnight_ns),
            clock_unit: match head.clock {
                Clock::Lines => ClockUnit::Lines,
                _ => ClockUnit::Nanoseconds,
            },
            wall_clock_zero_ns: match head.clock {
                Clock::Unix => Some(0),
                Clock::Day | Clock::DaySeconds => input.midnight_ns,
                Clock::Lines | Clock::Relative => None,
            },
            first_day: match (head.clock, input.midnight_ns) {
                (Clock::Day | Clock::DaySeconds, None) => FirstDay::Unknown,
                (Clock::Day | Clock::DaySeconds, Some(_)) => FirstDay::Given,
                _ => FirstDay::OfFile,
            },
            facts,
            ..TraceInfo::default()
        };
        Ok(TextReader {
            input,
            head,
            file_pid,
            ranges,
            found: OnceLock::new(),
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
            dialect: self.head.dialect,
            head: &self.head,
            kinds: &self.kinds,
        }
    }
}

/// Returns the pid at the end of a file name from `strace -ff -o NAME`: `NAME.1234`.
pub(super) fn pid_of_name(name: &str) -> Option<u32> {
    let (_, digits) = name.rsplit_once('.')?;
    let pid = values::plain_number(digits.as_bytes())?;
    u32::try_from(pid)
        .ok()
        .filter(|pid| (1..=1 << 22).contains(pid))
}

impl TextReader {
    pub(super) fn recording(self) -> Recording {
        let reader = Arc::new(self);
        Recording {
            info: reader.info.clone(),
            lanes: reader.lanes.clone(),
            diagnostics: reader.diagnostics(),
            stream: reader.clone(),
            events: reader,
            report: None,
            instead: None,
        }
    }

    pub(super) fn directory(&self) -> Directory {
        let ListedKinds { kinds, strings } = self.kinds.list();
        let threads = vec![ThreadEntry {
            key: Caller::Lone.key(),
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

    pub(super) fn diagnostics(&self) -> Diagnostics {
        let mut all = Diagnostics::default();
        note_cut_line(self.input.bytes(), &mut all);
        if self.head.clock == Clock::DaySeconds {
            // Verbs print this: their durations look exact.
            all.note_many("whole_seconds", Severity::Error, None, 1, || {
                "the times are whole seconds (-t): a duration that strace did not measure (-T) may be wrong by a second".to_owned()
            });
        }
        if self.head.clock == Clock::Lines && self.is_measured() {
            // As above: most verbs show only what is counted in lines.
            all.note_many("durations_in_lines", Severity::Error, None, 1, || {
                "the text has no times (-t, -r): durations are counted in lines, and what strace measured (-T) is only an argument of each call".to_owned()
            });
        }
        all
    }

    /// Returns whether strace printed durations near the start of the text.
    fn is_measured(&self) -> bool {
        let text = self.input.bytes();
        let start = text.get(..MOST_EXAMINED).unwrap_or(text);
        let mut lines = start.split(|&byte| byte == b'\n');
        lines.any(|line| split_duration(line).1.is_some())
    }

    /// Returns the text of a part.
    fn text_of(&self, part: u32) -> &[u8] {
        let range = self.ranges.get(part as usize).cloned();
        let text = range.and_then(|range| self.input.bytes().get(range));
        text.unwrap_or(&[])
    }

    /// Returns the diagnostics of the file as a whole.
    pub(super) fn whole_diagnostics(&self, whole: &Found) -> Diagnostics {
        let mut all = Diagnostics::default();
        if let Some(line) = whole.table_line {
            all.note(
                "summary_table",
                Severity::Info,
                Location::Line(line),
                || "the table of strace -C after the calls is kept as notes".to_owned(),
            );
        }
        let children = whole.namespaces.len() as u64;
        if children > 0 {
            all.note_many("pid_namespace", Severity::Info, None, children, || {
                "forks returned numbers of a PID namespace, and their children were found by their first lines: \
                 --decode-pids=pidns makes strace print both numbers"
                    .to_owned()
            });
        }
        all
    }
}

impl Stream for TextReader {
    type Summary = Summary;
    type State = State;
    type Start = PartStart;
    type Whole = Found;
    type Read = LaneColumns;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        self.head.coarse(self.input.bytes(), &self.ranges)
    }

    fn first_state(&self) -> State {
        State::new(&self.head)
    }

    fn summarise(&self, part: u32, job: &Job) -> Result<Summary, ReadError> {
        let base = self
            .ranges
            .get(part as usize)
            .map_or(0, |range| range.start);
        summarise(self.text_of(part), base as u64, &self.head, job)
    }

    fn fold(
        &self,
        state: &mut State,
        part: u32,
        summary: Summary,
        _job: &Job,
    ) -> Result<PartStart, Cancelled> {
        let base = self
            .ranges
            .get(part as usize)
            .map_or(0, |range| range.start);
        Ok(state.pass(&self.head, base as u64, summary))
    }

    fn conclude(&self, end: State, _job: &Job) -> Result<Found, Cancelled> {
        Ok(end.conclude(self.file_pid, || self.head.own_pid(self.input.bytes())))
    }

    fn read(
        &self,
        part: u32,
        start: &PartStart,
        whole: &Found,
        job: &Job,
    ) -> Result<LaneColumns, ReadError> {
        emit::emit(&self.source(), self.text_of(part), start, whole, job)
    }

    fn gather(
        &self,
        read: Vec<PartRead<LaneColumns>>,
        whole: Found,
        _job: &Job,
    ) -> Result<Gathered, ReadError> {
        let mut info = self.info.clone();
        let lines = Fact::new("lines", whole.line_count.to_string());
        info.facts.insert(0, lines);
        let diagnostics = self.whole_diagnostics(&whole);
        // A second read finds the same facts.
        let _ = self.found.set(whole);
        Ok(Gathered {
            parts: in_one_lane(read),
            lanes: self.lanes.clone(),
            directory: self.directory(),
            info,
            diagnostics,
            inside: Vec::new(),
        })
    }

    fn facts(&self) -> Option<Vec<u8>> {
        store_inside(self.found.get()?).ok()
    }

    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()> {
        let found = facts.restored()?;
        self.kinds.take_from(trace);
        self.found.set(found).ok()
    }
}

impl Events for TextReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        let halves = self.found.get().map(|found| &found.halves);
        match need {
            Need::AnyField => decoded.perhaps(),
            _ => decoded.take(describe::describe(&self.source(), halves, event), need),
        }
    }

    fn memory_bytes(&self) -> u64 {
        let found = self.found.get().map_or(0, Found::memory_bytes);
        self.kinds.memory_bytes() + found
    }
}
