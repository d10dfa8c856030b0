//! An opened text: its blocks of lines, each of which yields columns for the lanes of all CPUs.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::base::column::store_inside;
use crate::base::leading::digits;
use crate::base::lines::{cut_at_line_ends, lines};
use crate::base::{Cancelled, Diagnostics, Job, Problem, ReadError, Severity, Timestamp};
use crate::event::part::{ClockUnit, UnnamedClock};
use crate::event::{
    Coarse, DecodedEvent, DensitySample, Directory, Fact, FieldRef, Lane, LaneColumns, Need, Part,
    PartColumns, ThreadEntry, ThreadKey, TraceInfo,
};
use crate::formats::etrace_lines::{Found, Lines};
use crate::formats::kind_table::{Kinds, ListedKinds};
use crate::formats::stream::{KeptFacts, PartRead};
use crate::formats::text_end::note_cut_line;
use crate::formats::{EventRef, Events, Gathered, HasReport, Input, Recording, Report, Stream};

use super::emit::{BlockRead, Emitter, no_columns};
use super::facts::{Facts, Layout};
use super::last::Last;
use super::refused::Refused;
use super::summary::{BlockStart, Shape, State, Summary, Whole, edges, summarise};
use super::{describe, gaps, graph, refused, sniff, with_etrace};
use crate::formats::ftrace_line::prefix;
use crate::formats::ftrace_line::prefix::split_prefix;
use crate::trace::Trace;

const BLOCK_BYTES: usize = 4 << 20;
/// Number of bytes of each block that are read when the file is opened.
const SAMPLE_BYTES: usize = 1 << 12;
/// A clock of integers counts events if its average step is smaller than this.
const SMALL_STEP: i64 = 16;

/// A range of lines.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) range: Range<usize>,
    pub(super) first_line: u64,
    /// The last event before it.
    pub(super) last: Last,
}

/// An opened text.
#[derive(Debug)]
pub(super) struct FtraceReader {
    pub(super) input: Input,
    pub(super) kinds: Kinds,
    /// Facts from the head, with the CPUs and times of a sample of each block.
    pub(super) info: TraceInfo,
    lanes: Vec<Lane>,
    coarse: Coarse,
    /// What the head and a sample of each block show.
    sample: Whole,
    /// Byte range of each block.
    ranges: Vec<Range<usize>>,
    parts: Vec<Part>,
    pub(super) facts: Facts,
    /// Names of pids from the columns, each with the number of the block that contains it.
    names: Mutex<FxHashMap<u32, (u32, Vec<u8>)>>,
    /// Facts about the whole text, set after it was read.
    pub(super) whole: OnceLock<Whole>,
    /// The etrace lines, set after all blocks were read.
    etrace: OnceLock<Lines>,
}

/// A block that was read.
pub(super) struct Read {
    start: BlockStart,
    block: BlockRead,
}

/// Facts from the head and the first lines of each block.
struct Sample {
    whole: Whole,
    density: Vec<DensitySample>,
}

impl FtraceReader {
    pub(super) fn open(input: Input, job: &Job) -> Result<FtraceReader, ReadError> {
        let text = input.bytes();
        if let Some(Refused { words }) = refused::refused(text) {
            return Err(ReadError::at_line(
                1,
                "ftrace text",
                Problem::Other(words.to_owned()),
            ));
        }
        let head = text.get(sniff::head_of(text)).unwrap_or(text);
        let layout = if sniff::is_graph(head) {
            Layout::Graph
        } else {
            Layout::Events
        };
        let facts = Facts::of(text, head, layout);
        let block_count = if layout == Layout::Graph {
            1
        } else {
            text.len() / BLOCK_BYTES
        };
        let mut ranges = cut_at_line_ends(text, block_count.max(1));
        if layout == Layout::Events {
            begin_with_events(text, &mut ranges, &facts);
        }
        let parts = (ranges.iter())
            .map(|range| Part {
                start: range.start as u64,
                size_bytes: range.len() as u64,
            })
            .collect();
        let mut reader = FtraceReader {
            input,
            kinds: Kinds::default(),
            info: TraceInfo::default(),
            lanes: Vec::new(),
            coarse: Coarse::default(),
            sample: State::new().conclude(),
            ranges,
            parts,
            facts,
            names: Mutex::new(FxHashMap::default()),
            whole: OnceLock::new(),
            etrace: OnceLock::new(),
        };
        let Sample { whole, density } = reader.sample(job)?;
        reader.info = reader.info_of(&whole);
        reader.lanes = whole.lanes();
        reader.coarse = Coarse::of_one_lane(density);
        reader.sample = whole;
        Ok(reader)
    }

    fn head(&self) -> &[u8] {
        let text = self.input.bytes();
        text.get(sniff::head_of(text)).unwrap_or(text)
    }

    fn sample(&self, job: &Job) -> Result<Sample, ReadError> {
        let text = self.input.bytes();
        let mut state = State::new();
        let mut density = Vec::new();
        for (number, range) in self.ranges.iter().enumerate() {
            let sample = match number {
                0 => self.head(),
                _ => {
                    let block = text.get(range.clone()).unwrap_or(&[]);
                    block.get(..SAMPLE_BYTES).unwrap_or(block)
                }
            };
            let summary = summarise(sample, &self.facts, job)?;
            let first = summary.first.map(|first| Timestamp(first.time));
            density.extend(first.map(|first| DensitySample::new(0, first, range.len() as u64)));
            let _ = state.pass(summary);
        }
        let whole = state.conclude();
        Ok(Sample { whole, density })
    }

    /// Returns facts about the text; `whole` is about all its lines, or about a sample.
    fn info_of(&self, whole: &Whole) -> TraceInfo {
        let (head, layout) = (self.head(), self.facts.layout);
        let clock_unit = match whole.is_raw {
            _ if self.facts.has_steps_alone => ClockUnit::Order,
            true => bare_unit(head, &self.facts),
            false => ClockUnit::Nanoseconds,
        };
        let mut facts = Vec::new();
        let comments = lines(head, 1, 0)
            .map(|line| line.bytes)
            .filter_map(|line| line.strip_prefix(b"# "));
        for comment in comments {
            for name in ["tracer", "entries-in-buffer/entries-written", "latency"] {
                let value = comment
                    .strip_prefix(name.as_bytes())
                    .and_then(|rest| rest.strip_prefix(b": "));
                if let Some(value) = value {
                    let value = String::from_utf8_lossy(value.trim_ascii());
                    facts.push(Fact::new(name, value));
                }
            }
        }
        TraceInfo {
            format: if layout == Layout::Graph {
                "ftrace text (function_graph)".to_owned()
            } else {
                "ftrace text".to_owned()
            },
            is_of_kernel: true,
            clock: clock_words(head, layout, clock_unit).to_owned(),
            unnamed_clock: UnnamedClock::OfKernel,
            clock_unit,
            resolution_ns: match layout {
                // The clocks of a graph's CPUs advance by durations, in ns.
                Layout::Graph => 1,
                Layout::Events => whole.resolution_ns,
            },
            wall_clock_zero_ns: self.facts.wall_clock_zero_ns,
            clock_marks: self.facts.clock_marks.clone(),
            cpu_count: cpu_count(head),
            facts,
            ..TraceInfo::default()
        }
    }

    /// Returns the lines just before a block.
    fn before(&self, block: &Block) -> &[u8] {
        const BYTES: usize = 1 << 17;
        let end = block.range.start;
        let bytes = self.input.bytes();
        let text = bytes.get(end.saturating_sub(BYTES)..end).unwrap_or(&[]);
        let start = match end > BYTES {
            true => memchr::memchr(b'\n', text).map_or(text.len(), |line_end| line_end + 1),
            false => 0,
        };
        text.get(start..).unwrap_or(&[])
    }

    /// Returns a block with the last event before it.
    pub(super) fn block(&self, part: u32, start: &BlockStart, whole: &Whole) -> Block {
        Block {
            range: self.ranges.get(part as usize).cloned().unwrap_or_default(),
            first_line: start.first_line,
            last: whole.last_before(start),
        }
    }

    /// Reads a block for all lanes.
    pub(super) fn read_block(
        &self,
        number: u32,
        block: &Block,
        whole: &Whole,
        job: &Job,
    ) -> Result<BlockRead, ReadError> {
        let text = self.input.bytes().get(block.range.clone()).unwrap_or(&[]);
        let mut emitter = Emitter::new(&self.kinds, whole.lane_clock(), block.last, &self.facts);
        if whole.has_several_buffers() && !self.facts.is_of_several_files {
            emitter.look_for_doubles(self.before(block));
        }
        if self.facts.layout == Layout::Graph {
            emitter.first_tasks(text, &whole.cpus);
        }
        if whole.has_etrace {
            emitter.look_for_etrace(self.input.bytes());
        }
        emitter.read(text, block.range.start as u64, block.first_line, job)?;
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        for (pid, name) in &emitter.seen_names {
            // The name from the last block is the final one.
            let known = names.entry(*pid).or_insert_with(|| (number, Vec::new()));
            if known.0 <= number {
                *known = (number, name.to_vec());
            }
        }
        drop(names);
        Ok(emitter.into_read())
    }
}

/// All blocks that could be read, and the facts about the whole text.
struct Complete {
    read: Vec<PartRead<Read>>,
    whole: Whole,
}

impl FtraceReader {
    fn text_of(&self, range: &Range<usize>) -> &[u8] {
        self.input.bytes().get(range.clone()).unwrap_or(&[])
    }

    /// Adds what was found while blocks were read to the facts. Reads all blocks again if they were read with wrong facts.
    fn complete(
        &self,
        mut read: Vec<PartRead<Read>>,
        assumed: Whole,
        job: &Job,
    ) -> Result<Complete, ReadError> {
        if self.facts.layout == Layout::Graph {
            let whole = assumed;
            return Ok(Complete { read, whole });
        }
        let mut state = State::new();
        for part in &mut read {
            state.pass(std::mem::take(&mut part.read.block.summary));
        }
        let whole = state.conclude();
        if !whole.is_read_as(&assumed) {
            read = (read.into_par_iter())
                .map(|PartRead { part, read }| {
                    let start = read.start;
                    drop(read);
                    let block = self.block(part, &start, &whole);
                    let block = self.read_block(part, &block, &whole, job)?;
                    let read = Read { start, block };
                    Ok(PartRead { part, read })
                })
                .collect::<Result<_, ReadError>>()?;
        }
        Ok(Complete { read, whole })
    }

    /// Returns the start of each block, and the facts about the whole text; reads all lines.
    ///
    /// # Errors
    /// Errors if the job was cancelled.
    pub(super) fn facts_first(&self, job: &Job) -> Result<(Vec<BlockStart>, Whole), ReadError> {
        let summaries: Vec<Summary> = (self.ranges.par_iter())
            .map(|range| summarise(self.text_of(range), &self.facts, job))
            .collect::<Result<_, _>>()?;
        let mut state = State::new();
        let starts = summaries.into_iter().map(|it| state.pass(it)).collect();
        Ok((starts, state.conclude()))
    }
}

/// Moves the starts of ranges to lines with columns, so that no event is in two ranges. A range without such a line
/// near its start is unchanged.
fn begin_with_events(text: &[u8], ranges: &mut [Range<usize>], facts: &Facts) {
    const NEAR: usize = 1 << 16;
    let mut before: Option<&mut Range<usize>> = None;
    for range in ranges {
        let start = range.start;
        let near = text.get(start..range.end.min(start.saturating_add(NEAR)));
        // If the end of a mark is before the columns of a line, the name is longer than a task's name can be.
        let is_begin = |line: &[u8]| {
            let prefix = facts.split(line);
            prefix.is_some_and(|prefix| prefix.comm.len() < prefix::TASK_WIDTH)
        };
        let found = lines(near.unwrap_or(&[]), 1, 1).find(|line| is_begin(line.bytes));
        let moved = found.map_or(0, |line| (line.offset as usize).saturating_sub(1));
        if let Some(before) = before.filter(|_| moved > 0) {
            before.end = start + moved;
            range.start = start + moved;
        }
        before = Some(range);
    }
}

/// Returns the number of the machine's CPUs from the header: the kernel prints `#P:2`, trace-cmd `cpus=2`.
fn cpu_count(head: &[u8]) -> Option<u32> {
    let head_lines = lines(head, 1, 0).map(|line| line.bytes);
    head_lines
        .filter(|line| line.starts_with(b"#") || line.starts_with(b"cpus="))
        .filter_map(|line| {
            let number = line.strip_prefix(b"cpus=").or_else(|| {
                let at = memchr::memmem::find(line, b"#P:")?;
                line.get(at + 3..)
            })?;
            let count = digits(number)?.value;
            u32::try_from(count)
                .ok()
                .filter(|count| (1..=8192).contains(count))
        })
        .next()
}

/// Returns a description of the clock; empty if times are seconds.
fn clock_words(head: &[u8], layout: Layout, unit: ClockUnit) -> &'static str {
    let first = lines(head, 1, 0).find_map(|line| match layout {
        Layout::Graph => graph::split_line(line.bytes).map(|line| line.time.is_some()),
        Layout::Events => split_prefix(line.bytes).map(|_| true),
    });
    let is_latency = || memchr::memmem::find(head, b" latency trace v").is_some();
    match (unit, first) {
        (ClockUnit::Order, Some(false)) => {
            "steps counted for each CPU separately: the text has no times"
        }
        (ClockUnit::Order, _) => "bare numbers, in the order of the events",
        (ClockUnit::Cycles, _) => "bare numbers of unknown length",
        (_, Some(false)) => "durations added up for each CPU separately",
        (_, Some(true)) if is_latency() => "since the report's first event",
        _ => "",
    }
}

/// Returns the unit of a clock that prints integers.
fn bare_unit(head: &[u8], facts: &Facts) -> ClockUnit {
    let times: Vec<i64> = lines(head, 1, 0)
        .filter_map(|line| facts.split(line.bytes))
        .map(|prefix| prefix.time)
        .collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return ClockUnit::Cycles;
    };
    let steps = (times.len() as i64).max(1);
    if last.saturating_sub(*first) <= steps.saturating_mul(SMALL_STEP) {
        ClockUnit::Order
    } else {
        ClockUnit::Cycles
    }
}

impl FtraceReader {
    pub(super) fn recording(self) -> Recording {
        let reader = Arc::new(self);
        let mut diagnostics = Diagnostics::default();
        note_cut_line(reader.input.bytes(), &mut diagnostics);
        Recording {
            info: reader.info.clone(),
            lanes: reader.lanes.clone(),
            diagnostics,
            stream: reader.clone(),
            events: reader.clone(),
            report: Some(reader),
            instead: None,
        }
    }

    fn directory(&self) -> Directory {
        let ListedKinds { kinds, mut strings } = self.kinds.list();
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut threads: Vec<ThreadEntry> = names
            .iter()
            .map(|(pid, (_, name))| ThreadEntry {
                key: ThreadKey(*pid),
                tid: u64::from(*pid),
                file_key: u64::from(*pid),
                process: None,
                name: Some(strings.intern(name)),
            })
            .collect();
        threads.sort_by_key(|entry| entry.key);
        threads.push(ThreadEntry {
            key: ThreadKey::IDLE,
            tid: 0,
            file_key: 0,
            process: None,
            name: Some(strings.intern_text("<idle>")),
        });
        Directory {
            kinds,
            threads,
            strings,
            syscall_abi: self.facts.abi,
            ..Directory::default()
        }
    }

    /// Returns the diagnostics of the text as a whole.
    pub(super) fn whole_diagnostics(&self, whole: &Whole) -> Diagnostics {
        let mut found = Diagnostics::default();
        if self.facts.layout == Layout::Events && !whole.has_columns() {
            let place = crate::base::Location::Line(1);
            found.note("no_columns", Severity::Info, place, || {
                "no line has a task, CPU and time: the trace options raw, hex, bin and nocontext-info leave \
                 them out; record without these options"
                    .to_owned()
            });
        }
        found
    }

    /// Returns the number of the part with the etrace lines.
    fn etrace_part(&self, whole: &Whole) -> u32 {
        (self.ranges.len() * whole.cpus.len()) as u32
    }

    /// Returns the etrace lines, if the event is in their part.
    pub(super) fn etrace_of(&self, event: EventRef) -> Option<&Lines> {
        let part = self.etrace_part(self.whole.get()?);
        self.etrace.get().filter(|_| event.part == part)
    }

    /// Returns the columns of the text's report, once the text was read.
    pub(super) fn shape(&self) -> Shape {
        self.whole
            .get()
            .map_or_else(Shape::default, |whole| whole.shape)
    }
}

impl Stream for FtraceReader {
    type Summary = Summary;
    type State = State;
    type Start = BlockStart;
    type Whole = Whole;
    type Read = Read;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        self.coarse.clone()
    }

    fn first_state(&self) -> State {
        State::new()
    }

    fn summarise(&self, part: u32, job: &Job) -> Result<Summary, ReadError> {
        let range = self.ranges.get(part as usize).cloned().unwrap_or_default();
        match self.facts.layout {
            Layout::Graph => summarise(self.text_of(&range), &self.facts, job),
            Layout::Events => {
                let base = range.start as u64;
                edges(self.text_of(&range), base, &self.facts, job)
            }
        }
    }

    fn fold(
        &self,
        state: &mut State,
        _part: u32,
        summary: Summary,
        _job: &Job,
    ) -> Result<BlockStart, Cancelled> {
        Ok(state.pass(summary))
    }

    fn conclude(&self, end: State, _job: &Job) -> Result<Whole, Cancelled> {
        let mut whole = end.conclude();
        whole.assume(&self.sample);
        Ok(whole)
    }

    fn read(
        &self,
        part: u32,
        start: &BlockStart,
        whole: &Whole,
        job: &Job,
    ) -> Result<Read, ReadError> {
        job.check()?;
        let block = self.block(part, start, whole);
        let read = self.read_block(part, &block, whole, job)?;
        job.advance(block.range.len() as u64);
        Ok(Read {
            start: *start,
            block: read,
        })
    }

    fn gather(
        &self,
        read: Vec<PartRead<Read>>,
        whole: Whole,
        job: &Job,
    ) -> Result<Gathered, ReadError> {
        let Complete { read, whole } = self.complete(read, whole, job)?;
        let mut etrace = Found::default();
        let mut lanes: Vec<Vec<PartColumns>> = whole.cpus.iter().map(|_| Vec::new()).collect();
        let block_count = self.ranges.len() as u32;
        for PartRead { part: block, read } in read {
            etrace.append(read.block.etrace);
            let mut of_cpu: FxHashMap<u32, LaneColumns> = (read.block.columns.into_iter())
                .map(|it| (it.cpu, it.columns))
                .collect();
            for ((lane, parts), cpu) in (0..).zip(&mut lanes).zip(&whole.cpus) {
                let columns = of_cpu.remove(cpu);
                parts.push(PartColumns {
                    part: lane * block_count + block,
                    lane,
                    columns: columns.unwrap_or_else(|| no_columns(whole.lane_clock())),
                });
            }
        }
        let blocks_read = lanes.first().map_or(0, Vec::len);
        let mut parts: Vec<PartColumns> = lanes.into_iter().flatten().collect();
        let mut columns: Vec<_> = parts.iter_mut().map(|part| &mut part.columns).collect();
        gaps::settle(&mut columns, blocks_read, job)?;
        gaps::add_overwritten(&mut columns, sniff::overwritten(self.head()));
        let lines = match whole.has_etrace {
            true => {
                let lines = etrace.lines(job)?;
                Some(self.etrace.get_or_init(|| lines))
            }
            false => None,
        };
        let kinds = lines.map(|lines| with_etrace::kinds_of(&self.kinds, lines));
        let mut info = self.info_of(&whole);
        let mut counts = vec![Fact::new("lines", whole.line_count.to_string())];
        let buffers = whole.buffers.clone();
        counts.extend(buffers.map(|text| Fact::new("buffers", text)));
        info.facts.splice(0..0, counts);
        let mut gathered = Gathered {
            parts,
            lanes: whole.lanes(),
            directory: self.directory(),
            info,
            diagnostics: self.whole_diagnostics(&whole),
            inside: Vec::new(),
        };
        if let (Some(lines), Some(kinds)) = (lines, kinds) {
            lines.add_to(&mut gathered, self.etrace_part(&whole), &kinds, job)?;
        }
        // A second read finds the same facts.
        let _ = self.whole.set(whole);
        Ok(gathered)
    }

    fn facts(&self) -> Option<Vec<u8>> {
        store_inside(&(self.whole.get()?, self.etrace.get())).ok()
    }

    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()> {
        let (whole, etrace): (Whole, Option<Lines>) = facts.restored()?;
        self.kinds.take_from(trace);
        if let Some(lines) = etrace {
            self.etrace.set(lines).ok()?;
        }
        self.whole.set(whole).ok()
    }
}

impl Events for FtraceReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        let text = self.input.bytes();
        if let Some(lines) = self.etrace_of(event) {
            return lines.decode(event, need, decoded);
        }
        if let Need::Field(name) = need
            && describe::is_in_columns(name)
        {
            let value = describe::column_value(text, &self.facts, event, name);
            decoded
                .fields
                .extend(value.map(|value| FieldRef::of_value(name, value)));
            return;
        }
        if need == Need::AnyField {
            return decoded.perhaps();
        }
        decoded.take(
            describe::describe(text, &self.kinds, &self.facts, event),
            need,
        );
    }

    fn memory_bytes(&self) -> u64 {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let etrace = self.etrace.get().map_or(0, Lines::memory_bytes);
        self.kinds.memory_bytes() + names.len() as u64 * 64 + etrace
    }
}

impl HasReport for FtraceReader {
    fn report(&self) -> &dyn Report {
        self
    }
}
