//! Facts about a block of lines: its CPUs, its first and last event, and the columns of its lines.
//!
//! ```text
//! block: | number of lines, first event | ... | last event |     all that later blocks need: read before any block is read
//!        | CPUs, columns, etrace lines                     |     found while the block is read
//! ```
//!
//! What a block is read with is taken from samples: whether the text is of several buffers, and whether lines are from
//! the build tracer. If some block shows that this was wrong, all blocks are read again. The report, and a text of the
//! function graph tracer, need all facts first.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::etrace_call::is_etrace_call;
use super::event_lines::{EventLine, LineKind, event_lines};
use super::facts::Facts;
use super::instances::Instances;
use super::last::Last;
use crate::base::lines::{line_count, lines};
use crate::base::{Job, ReadError};
use crate::event::{Lane, LaneClock};
use crate::formats::ftrace_line::line::Plain;
use crate::formats::ftrace_line::prefix::Prefix;

const CHECK_BYTES: u64 = 1 << 20;
/// Number of bytes in which a block's last event is searched first.
const TAIL_BYTES: usize = 1 << 13;

/// Facts about a block.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub lines: u64,
    /// The CPUs of events and losses.
    pub cpus: BTreeSet<u32>,
    pub first: Option<Last>,
    pub last: Option<Last>,
    pub is_raw: bool,
    /// Maximum number of decimals of a time.
    pub digits: u8,
    pub has_etrace: bool,
    pub shape: Shape,
    pub instances: Instances,
}

impl Summary {
    /// Adds an event, but for its CPU. `now` is the event as the last one.
    #[inline]
    pub(super) fn add(&mut self, prefix: &Prefix<'_>, now: &Last) {
        if self.first.is_none() {
            self.first = Some(*now);
        }
        self.is_raw |= prefix.is_raw();
        self.digits = self.digits.max(prefix.precision.unwrap_or(0));
        self.has_etrace |= is_etrace_call(prefix.body);
        self.shape.has_steps |= !prefix.step.is_empty();
        let width = &mut self.shape.instance_width;
        *width = (*width).max(prefix.instance.len());
        self.instances.count(prefix.instance);
    }
}

/// Summarises the lines of a block.
///
/// # Errors
/// Errors if the job was cancelled.
pub(crate) fn summarise(text: &[u8], facts: &Facts, job: &Job) -> Result<Summary, ReadError> {
    summary_until(text, facts, job, |_| false)
}

/// Returns what later blocks need of a block that begins at offset `base`: its number of lines, first and last event. If
/// it contains no event, its summary is complete.
///
/// # Errors
/// Errors if the job was cancelled.
pub(super) fn edges(
    text: &[u8],
    base: u64,
    facts: &Facts,
    job: &Job,
) -> Result<Summary, ReadError> {
    let has_event = |summary: &Summary| summary.first.is_some();
    let mut summary = summary_until(text, facts, job, has_event)?;
    summary.lines = line_count(text, base);
    if summary.first.is_some() {
        summary.last = last_event(text, facts);
    }
    Ok(summary)
}

/// Summarises the lines of a block up to the one that fulfils `is_enough`.
fn summary_until(
    text: &[u8],
    facts: &Facts,
    job: &Job,
    is_enough: impl Fn(&Summary) -> bool,
) -> Result<Summary, ReadError> {
    let mut summary = Summary::default();
    let mut checked = 0;
    for EventLine { line, kind } in event_lines(text, 1, 0, facts) {
        if line.offset - checked >= CHECK_BYTES {
            job.check()?;
            checked = line.offset;
        }
        summary.lines = line.number;
        match kind {
            LineKind::Graph(found) => {
                summary.cpus.insert(found.cpu);
                summary.shape.has_graph_columns |= found.time.is_some() && found.task.is_some();
                if let (Some(time), None) = (found.time, summary.first) {
                    summary.first = Some(Last {
                        time,
                        cpu: found.cpu,
                        ..Last::default()
                    });
                }
            }
            LineKind::Event(prefix) => {
                let now = summary.last.unwrap_or_default().then(&prefix);
                summary.add(&prefix, &now);
                summary.cpus.insert(now.cpu);
                summary.last = Some(now);
            }
            LineKind::Other(Plain::Lost(cpu, _)) => {
                summary.cpus.insert(cpu);
            }
            LineKind::Other(_) | LineKind::Continues => {}
        }
        if is_enough(&summary) {
            break;
        }
    }
    Ok(summary)
}

/// Returns the last event of a block, with the number of lines of its time before it; reads only the block's end.
fn last_event(text: &[u8], facts: &Facts) -> Option<Last> {
    let mut bytes = TAIL_BYTES;
    loop {
        let tail = match text.len().checked_sub(bytes) {
            Some(start @ 1..) => {
                let tail = text.get(start..).unwrap_or(&[]);
                let first = lines(tail, 1, 1).nth(1);
                first.map_or(&[][..], |line| {
                    tail.get(line.offset as usize - 1..).unwrap_or(&[])
                })
            }
            _ => text,
        };
        let mut last: Option<Last> = None;
        let mut has_earlier = false;
        for line in event_lines(tail, 1, 1, facts) {
            if let LineKind::Event(prefix) = line.kind {
                let now = last.unwrap_or_default().then(&prefix);
                has_earlier |= last.is_some_and(|last| last.written != now.written);
                last = Some(now);
            }
        }
        if has_earlier || tail.len() == text.len() || last.is_some_and(|last| last.is_last_step()) {
            return last;
        }
        bytes = bytes.saturating_mul(8);
    }
}

/// What a block needs from the blocks before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockStart {
    /// Number of its first line, counted from 1.
    pub first_line: u64,
    /// The last event before the block; `None` if there is none.
    pub last: Option<Last>,
}

/// Facts about the blocks so far.
#[derive(Debug)]
pub(super) struct State {
    next: BlockStart,
    first: Option<Last>,
    cpus: BTreeSet<u32>,
    is_raw: bool,
    digits: u8,
    has_etrace: bool,
    shape: Shape,
    instances: Instances,
}

impl State {
    /// Returns the state before the first block.
    #[must_use]
    pub(super) fn new() -> State {
        State {
            next: BlockStart {
                first_line: 1,
                last: None,
            },
            first: None,
            cpus: BTreeSet::new(),
            is_raw: false,
            digits: 0,
            has_etrace: false,
            shape: Shape::default(),
            instances: Instances::default(),
        }
    }

    /// Advances the state past a block, and returns the block's start.
    pub(crate) fn pass(&mut self, summary: Summary) -> BlockStart {
        let start = self.next;
        self.next.first_line += summary.lines;
        self.next.last = summary.last.or(start.last);
        self.first = self.first.or(summary.first);
        self.cpus.extend(summary.cpus);
        self.is_raw |= summary.is_raw;
        self.digits = self.digits.max(summary.digits);
        self.has_etrace |= summary.has_etrace;
        self.shape = self.shape.and(summary.shape);
        self.instances = std::mem::take(&mut self.instances).and(summary.instances);
        start
    }

    /// Returns the facts about all blocks.
    #[must_use]
    pub(super) fn conclude(self) -> Whole {
        let mut cpus: Vec<u32> = self.cpus.into_iter().collect();
        // A text without events has one lane, and that lane has no CPU.
        let has_cpus = !cpus.is_empty() || self.first.is_some();
        if cpus.is_empty() {
            cpus.push(0);
        }
        Whole {
            cpus,
            has_cpus,
            first: self.first,
            is_raw: self.is_raw,
            // Lines with the same time are placed up to 999 ns apart: see `Last::spread`.
            resolution_ns: match (self.is_raw, self.digits) {
                (false, 1..=6) => 1000,
                _ => 1,
            },
            has_etrace: self.has_etrace,
            shape: self.shape,
            buffers: self.instances.text(),
            line_count: self.next.first_line - 1,
        }
    }
}

/// Facts about the whole text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Whole {
    /// CPUs of the lanes, sorted; at least one.
    pub cpus: Vec<u32>,
    /// Whether there was an event on any CPU.
    pub has_cpus: bool,
    /// The first event.
    first: Option<Last>,
    /// Whether times are integers without a decimal point.
    pub is_raw: bool,
    /// Times are multiples of this number of ns.
    pub resolution_ns: i64,
    /// Whether some lines are from the build tracer.
    pub has_etrace: bool,
    /// The columns of the text's report.
    pub shape: Shape,
    /// Text with the number of events of each buffer, if there are several.
    pub buffers: Option<String>,
    /// Number of lines.
    pub line_count: u64,
}

impl Whole {
    /// Adds what a sample shows about how blocks are read.
    pub(super) fn assume(&mut self, sample: &Whole) {
        self.has_etrace |= sample.has_etrace;
        self.shape = self.shape.and(sample.shape);
    }

    /// Returns whether blocks are read in the same way with the facts of `assumed`.
    #[must_use]
    pub(super) fn is_read_as(&self, assumed: &Whole) -> bool {
        let of = |whole: &Whole| (whole.has_several_buffers(), whole.has_etrace);
        of(self) == of(assumed)
    }

    /// Returns whether some lines are of instances.
    #[must_use]
    pub(super) fn has_several_buffers(&self) -> bool {
        self.shape.instance_width > 0
    }

    /// Returns the clock of all lanes.
    #[must_use]
    pub(super) fn lane_clock(&self) -> LaneClock {
        match self.has_several_buffers() {
            true => LaneClock::OfSeveralBuffers,
            false => LaneClock::default(),
        }
    }

    /// Returns whether any line has a time.
    #[must_use]
    pub(crate) fn has_columns(&self) -> bool {
        self.first.is_some()
    }

    /// Returns the last event before a block; before the first event, an event with its time and without a thread.
    #[must_use]
    pub(crate) fn last_before(&self, start: &BlockStart) -> Last {
        start.last.unwrap_or(Last {
            thread: None,
            written: None,
            ..self.first.unwrap_or(Last {
                cpu: self.cpus.first().copied().unwrap_or(0),
                ..Last::default()
            })
        })
    }

    /// Returns the lane of each CPU.
    #[must_use]
    pub(super) fn lanes(&self) -> Vec<Lane> {
        let lane = |cpu: &u32| Lane {
            name: format!("CPU {cpu}"),
            cpu: self.has_cpus.then_some(*cpu),
        };
        self.cpus.iter().map(lane).collect()
    }
}

/// The columns that some lines of the file have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    /// Length of the longest name of an instance; 0 if there are none.
    pub instance_width: usize,
    /// Whether lines contain the time since the previous line (`--ts-diff`).
    pub has_steps: bool,
    /// Whether the lines of a graph have columns of tasks and times.
    pub has_graph_columns: bool,
}

impl Shape {
    /// Returns the columns that are in either text.
    #[must_use]
    pub(super) fn and(self, other: Shape) -> Shape {
        Shape {
            instance_width: self.instance_width.max(other.instance_width),
            has_steps: self.has_steps || other.has_steps,
            has_graph_columns: self.has_graph_columns || other.has_graph_columns,
        }
    }
}
