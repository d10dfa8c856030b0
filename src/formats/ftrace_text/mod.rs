//! ftrace as text: `trace` and `trace_pipe`, latency reports, function_graph, and `trace-cmd report`.
//!
//! ```text
//! # tracer: nop
//!             bash-96      [001] d..2.    69.626109: sched_switch: prev_comm=bash prev_pid=96 ...
//!  0)   0.541 us    |      mutex_unlock();
//! ```
//!
//! Opening looks through all lines once, in parallel: which CPUs there are, and where blocks of lines begin.
//! A block holds lines of all CPUs; it is read once (`emit`), and what it has for the other lanes waits
//! until they ask. Events mean what they mean in binary traces (`recipe`, `event::pairs`); what text alone
//! has are atrace marks. Described in the kernel's `Documentation/trace/ftrace.rst`.
//!
//! Text has microseconds where the recording had nanoseconds; lines of one microsecond keep their order by
//! lying one nanosecond apart. A clock without a point (counter, x86-tsc) is
//! taken for an order if it goes up in small steps, else for cycles. The latency format counts from its
//! start. function_graph without a column of times gives every CPU a clock of its own that durations move; without
//! durations, too, that clock counts steps.

mod describe;
mod doubles;
mod emit;
mod event_lines;
mod facts;
mod fields;
mod flags;
mod forms;
mod gaps;
mod graph;
mod instances;
mod latency_columns;
mod line;
mod prefix;
mod probe_text;
mod raw_graph;
mod recipe;
mod refused;
mod report;
mod sniff;
mod tasks;
mod tracers;
mod with_etrace;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::base::lines::{cut_at_line_ends, lines};
use crate::base::{Diagnostics, Job, Nanos, Problem, ReadError, Severity, TimeSpan, Timestamp};
use crate::event::part::ClockUnit;
use crate::event::{
    Coarse, Directory, EventDetail, Lane, LaneColumns, Part, ThreadEntry, ThreadKey, TraceInfo,
    Value,
};
use crate::formats::text_end::note_cut_line;
use crate::formats::text_kinds::Kinds;
use crate::formats::{EventRef, Format, Input, Reader, Report};

use emit::{Emitter, Last, Layout};
use event_lines::{EventLine, LineKind, event_lines};
use facts::Facts;
use instances::Instances;
use line::{Body, Plain, classify};
use prefix::{digits, split_prefix};
use refused::Refused;
use report::Shape;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "ftrace text",
    extensions: &["txt", "ftrace", "systrace"],
    sniff: sniff::sniff,
    open: |input, job| {
        Ok(with_etrace::with_its_etrace(FtraceReader::open(
            input, job,
        )?))
    },
    together: None,
};

/// Whether a line is an event that the kernel or trace-cmd has put in columns.
#[must_use]
pub fn is_event_line(line: &[u8]) -> bool {
    split_prefix(line)
        .is_some_and(|prefix| !matches!(classify(prefix.body), Body::Text | Body::Stack(_)))
}

const BLOCK_BYTES: usize = 4 << 20;
/// A bare clock whose steps are smaller on average counts events.
const SMALL_STEP: i64 = 16;

/// A stretch of lines.
#[derive(Debug)]
struct Block {
    range: Range<usize>,
    first_line: u64,
    /// What stands before it.
    last: Last,
    first_time: Option<i64>,
    /// What was read of it for lanes that did not ask yet.
    waiting: Mutex<Vec<Option<LaneColumns>>>,
    /// Whether it was read, or is; set while `waiting` is held.
    is_begun: AtomicBool,
}

/// An opened text.
#[derive(Debug)]
struct FtraceReader {
    input: Input,
    kinds: Kinds,
    info: TraceInfo,
    cpus: Vec<u32>,
    blocks: Vec<Block>,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
    facts: Facts,
    /// Whether lines of the build tracer are among the others.
    has_etrace: bool,
    /// What its report looks like.
    shape: Shape,
    /// Events that were overwritten before anybody read them, as the header says.
    overwritten: u64,
    /// What columns called pids, with the block that said it.
    names: Mutex<FxHashMap<u32, (usize, Vec<u8>)>>,
}

/// What a block looks like from outside.
#[derive(Debug, Default)]
struct Summary {
    lines: u64,
    cpus: Vec<u32>,
    first: Option<Last>,
    last: Option<Last>,
    is_raw: bool,
    has_etrace: bool,
    shape: Shape,
    instances: Instances,
}

fn summarize(text: &[u8], facts: &Facts) -> Summary {
    let mut summary = Summary::default();
    let mut has_cpu = vec![false; 8192];
    let mut see = |cpu: u32| {
        if let Some(seen) = has_cpu.get_mut(cpu as usize) {
            *seen = true;
        }
    };
    for EventLine { line, kind } in event_lines(text, 1, 0, facts) {
        summary.lines = line.number;
        if let LineKind::Graph(found) = kind {
            see(found.cpu);
            summary.shape.has_graph_columns |= found.time.is_some() && found.task.is_some();
            if let (Some(time), None) = (found.time, summary.first) {
                summary.first = Some(Last {
                    time,
                    cpu: found.cpu,
                    ..Last::default()
                });
            }
        } else if let LineKind::Event(prefix) = kind {
            see(prefix.cpu);
            let mut now = summary.last.unwrap_or(Last {
                written: i64::MIN,
                ..Last::default()
            });
            let _ = now.spread(&prefix);
            now.cpu = prefix.cpu;
            now.thread = prefix.pid;
            summary.first = summary.first.or(Some(now));
            summary.last = Some(now);
            summary.is_raw |= prefix.is_raw();
            summary.has_etrace |= with_etrace::is_call(prefix.body);
            summary.shape.has_steps |= !prefix.step.is_empty();
            let width = &mut summary.shape.instance_width;
            *width = (*width).max(prefix.instance.len());
            summary.instances.count(prefix.instance);
        } else if let LineKind::Other(Plain::Lost(cpu, _)) = kind {
            see(cpu);
        }
    }
    summary.cpus = (0..)
        .zip(has_cpu)
        .filter_map(|(cpu, seen)| seen.then_some(cpu))
        .collect();
    summary
}

impl FtraceReader {
    fn open(input: Input, job: &Job) -> Result<FtraceReader, ReadError> {
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
        let mut summaries: Vec<Summary> = ranges
            .par_iter()
            .map(|range| {
                job.check()?;
                let text = text.get(range.clone()).unwrap_or(&[]);
                Ok(summarize(text, &facts))
            })
            .collect::<Result<_, ReadError>>()?;
        let mut cpus: Vec<u32> = summaries
            .iter()
            .flat_map(|summary| summary.cpus.iter().copied())
            .collect();
        cpus.sort_unstable();
        cpus.dedup();
        // Where nothing happened, it did so on no CPU: the one lane there is then has none.
        let has_cpus = !cpus.is_empty() || summaries.iter().any(|it| it.first.is_some());
        if cpus.is_empty() {
            cpus.push(0);
        }
        let is_raw = summaries.iter().any(|summary| summary.is_raw);
        let has_etrace = summaries.iter().any(|summary| summary.has_etrace);
        let shapes = summaries.iter().map(|summary| summary.shape);
        let shape = shapes.fold(Shape::default(), Shape::and);
        let instances = summaries
            .iter_mut()
            .map(|summary| std::mem::take(&mut summary.instances));
        let instances = instances.fold(Instances::default(), Instances::and);
        let first = summaries.iter().find_map(|summary| summary.first);
        let mut last = first.unwrap_or_default();
        last.thread = ThreadKey::UNKNOWN.0;
        last.written = i64::MIN;
        let mut first_line = 1;
        let mut blocks = Vec::with_capacity(ranges.len());
        for (range, summary) in ranges.into_iter().zip(summaries) {
            blocks.push(Block {
                range,
                first_line,
                last,
                first_time: summary.first.map(|first| first.time),
                waiting: Mutex::new(Vec::new()),
                is_begun: AtomicBool::new(false),
            });
            last = summary.last.unwrap_or(last);
            first_line += summary.lines;
        }
        let lanes = cpus
            .iter()
            .map(|cpu| Lane {
                name: format!("CPU {cpu}"),
                cpu: has_cpus.then_some(*cpu),
            })
            .collect();
        let parts = (0..cpus.len() as u32)
            .flat_map(|lane| blocks.iter().map(move |block| (lane, block)))
            .map(|(lane, block)| Part {
                lane,
                size_bytes: share(block, cpus.len()),
            })
            .collect();
        let clock_unit = match is_raw {
            _ if facts.has_steps_alone => ClockUnit::Order,
            true => bare_unit(head, &facts),
            false => ClockUnit::Nanoseconds,
        };
        let mut told = vec![("lines".to_owned(), (first_line - 1).to_string())];
        told.extend(instances.text().map(|text| ("buffers".to_owned(), text)));
        let comments = lines(head, 1, 0)
            .map(|line| line.bytes)
            .filter_map(|line| line.strip_prefix(b"# "));
        for comment in comments {
            for name in ["tracer", "entries-in-buffer/entries-written", "latency"] {
                let value = comment
                    .strip_prefix(name.as_bytes())
                    .and_then(|rest| rest.strip_prefix(b": "));
                if let Some(value) = value {
                    let value = String::from_utf8_lossy(value.trim_ascii()).into_owned();
                    told.push((name.to_owned(), value));
                }
            }
        }
        let overwritten = sniff::overwritten(head);
        let info = TraceInfo {
            format: if layout == Layout::Graph {
                "ftrace text (function_graph)".to_owned()
            } else {
                "ftrace text".to_owned()
            },
            clock: clock_words(head, layout, clock_unit).to_owned(),
            clock_unit,
            wall_clock_zero_ns: facts.wall_clock_zero_ns,
            cpu_count: cpu_count(head),
            facts: told,
            ..TraceInfo::default()
        };
        Ok(FtraceReader {
            input,
            kinds: Kinds::default(),
            info,
            cpus,
            blocks,
            lanes,
            parts,
            facts,
            has_etrace,
            shape,
            overwritten,
            names: Mutex::new(FxHashMap::default()),
        })
    }

    /// Some lines that stand before a block.
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

    /// Reads the next block behind `number` that nobody reads, for whoever asks for it later. Whether there was one.
    fn read_another(&self, number: usize, job: &Job) -> Result<bool, ReadError> {
        for (at, block) in self.blocks.iter().enumerate().skip(number + 1) {
            if block.is_begun.load(Ordering::Relaxed) {
                continue;
            }
            let Ok(mut waiting) = block.waiting.try_lock() else {
                continue;
            };
            if !block.is_begun.swap(true, Ordering::Relaxed) {
                *waiting = self.columns_of(at, job)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn columns_of(&self, number: usize, job: &Job) -> Result<Vec<Option<LaneColumns>>, ReadError> {
        let columns = self.read_block(number, job)?;
        Ok(columns.into_iter().map(Some).collect())
    }

    /// Reads a block for all lanes.
    fn read_block(&self, number: usize, job: &Job) -> Result<Vec<LaneColumns>, ReadError> {
        let Some(block) = self.blocks.get(number) else {
            return Ok(Vec::new());
        };
        let text = self.input.bytes().get(block.range.clone()).unwrap_or(&[]);
        let mut emitter = Emitter::new(&self.kinds, &self.cpus, block.last, &self.facts);
        if self.shape.instance_width > 0 && !self.facts.is_of_several_files {
            emitter.look_for_doubles(self.before(block));
        }
        emitter.read(text, block.range.start as u64, block.first_line, job)?;
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        for (pid, name) in &emitter.seen_names {
            // The last block that says a name is right.
            let known = names.entry(*pid).or_insert_with(|| (number, Vec::new()));
            if known.0 <= number {
                *known = (number, name.to_vec());
            }
        }
        drop(names);
        Ok(emitter.into_columns())
    }
}

/// Moves the starts of ranges to lines with columns: no event stands in two of them. A range in which no event begins
/// nearby stays as it is.
fn begin_with_events(text: &[u8], ranges: &mut [Range<usize>], facts: &Facts) {
    const NEAR: usize = 1 << 16;
    let mut before: Option<&mut Range<usize>> = None;
    for range in ranges {
        let start = range.start;
        let near = text.get(start..range.end.min(start.saturating_add(NEAR)));
        // The end of a mark may stand before the columns of a line: no name is so long.
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

/// A lane's share of a block's bytes.
fn share(block: &Block, lane_count: usize) -> u64 {
    (block.range.len() / lane_count.max(1)) as u64
}

/// How many CPUs the machine has, as the header says: `#P:2` of the kernel, `cpus=2` of trace-cmd.
fn cpu_count(head: &[u8]) -> Option<u32> {
    let said = lines(head, 1, 0).map(|line| line.bytes);
    said.filter(|line| line.starts_with(b"#") || line.starts_with(b"cpus="))
        .filter_map(|line| {
            let number = line.strip_prefix(b"cpus=").or_else(|| {
                let at = memchr::memmem::find(line, b"#P:")?;
                line.get(at + 3..)
            })?;
            let count = digits(number)?.0;
            u32::try_from(count)
                .ok()
                .filter(|count| (1..=8192).contains(count))
        })
        .next()
}

/// What the text tells of its clock: nothing, where it has seconds.
fn clock_words(head: &[u8], layout: Layout, unit: ClockUnit) -> &'static str {
    let first = lines(head, 1, 0).find_map(|line| match layout {
        Layout::Graph => graph::split_line(line.bytes).map(|line| line.time.is_some()),
        Layout::Events => split_prefix(line.bytes).map(|_| true),
    });
    let is_latency = || memchr::memmem::find(head, b" latency trace v").is_some();
    match (unit, first) {
        (ClockUnit::Order, Some(false)) => {
            "steps counted, for each CPU by itself: the text has no times"
        }
        (ClockUnit::Order, _) => "bare numbers that number the events",
        (ClockUnit::Cycles, _) => "bare numbers of unknown length",
        (_, Some(false)) => "durations added up, for each CPU by itself",
        (_, Some(true)) if is_latency() => "since the report's first event",
        _ => "",
    }
}

/// What a clock counts that prints bare numbers.
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

impl Reader for FtraceReader {
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
        let timed = self
            .blocks
            .iter()
            .filter_map(|block| Some((block, block.first_time?)));
        let mut density = Vec::new();
        let mut span: Option<(i64, i64)> = None;
        for (block, time) in timed {
            let size = u32::try_from(share(block, self.cpus.len())).unwrap_or(u32::MAX);
            let range = span.get_or_insert((time, time));
            *range = (range.0.min(time), range.1.max(time));
            density.extend((0..self.cpus.len() as u32).map(|lane| (lane, Timestamp(time), size)));
        }
        density.sort_by_key(|entry| (entry.0, entry.1));
        let (first, last) = span.unwrap_or_default();
        Coarse {
            span: TimeSpan::new(Timestamp(first), Timestamp(last).saturating_add(Nanos(1))),
            density,
        }
    }

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        let block_count = self.blocks.len().max(1);
        let (lane, number) = (part as usize / block_count, part as usize % block_count);
        let Some(block) = self.blocks.get(number).filter(|_| lane < self.cpus.len()) else {
            return Ok(LaneColumns::new(0));
        };
        job.check()?;
        // Whoever comes first reads the block for all; the others take what waits for them. Parts are asked for CPU by
        // CPU, so that all threads come to the same block at once: who finds it being read reads another meanwhile.
        let mut waiting = loop {
            match block.waiting.try_lock() {
                Ok(waiting) => break waiting,
                Err(TryLockError::Poisoned(error)) => break error.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    if !self.read_another(number, job)? {
                        break block.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                    }
                }
            }
        };
        let columns = match waiting.get_mut(lane).and_then(Option::take) {
            Some(columns) => columns,
            None => {
                block.is_begun.store(true, Ordering::Relaxed);
                *waiting = self.columns_of(number, job)?;
                let own = waiting.get_mut(lane).and_then(Option::take);
                own.unwrap_or_default()
            }
        };
        if waiting.iter().all(Option::is_none) {
            *waiting = Vec::new();
        }
        job.advance(share(block, self.cpus.len()));
        Ok(columns)
    }

    fn settle(&self, parts: &mut [&mut LaneColumns]) -> Diagnostics {
        gaps::settle(parts, self.blocks.len());
        gaps::add_overwritten(parts, self.overwritten);
        Diagnostics::default()
    }

    fn directory(&self) -> Directory {
        let (kinds, mut strings) = self.kinds.list();
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

    fn diagnostics(&self) -> Diagnostics {
        let mut found = Diagnostics::default();
        note_cut_line(self.input.bytes(), &mut found);
        let has_columns = self.blocks.iter().any(|block| block.first_time.is_some());
        if self.facts.layout == Layout::Events && !has_columns {
            let place = crate::base::Location::Line(1);
            found.note("no_columns", Severity::Info, place, || {
                "no line says its task, CPU and time: the trace options raw, hex, bin and \
                 nocontext-info leave them out; record without these"
                    .to_owned()
            });
        }
        found
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        describe::describe(self.input.bytes(), &self.kinds, &self.facts, event)
    }

    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        if name.starts_with("common_") {
            return describe::column_value(self.input.bytes(), &self.facts, event, name);
        }
        let fields = self.describe(event).fields;
        let field = fields.into_iter().find(|field| field.name == name)?;
        Some(field.value)
    }

    fn report(&self) -> Option<&dyn Report> {
        Some(self)
    }

    fn memory_bytes(&self) -> u64 {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        self.kinds.memory_bytes() + names.len() as u64 * 64
    }
}

#[cfg(test)]
mod tests;
