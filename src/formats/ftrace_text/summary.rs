//! Summarises a block of lines: its CPUs, its first and last event, and the columns of its lines. The summaries of all
//! blocks, combined in order, yield what each block needs to be read, and the facts about the whole text.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::emit::Last;
use super::etrace_call::is_etrace_call;
use super::event_lines::{EventLine, LineKind, event_lines};
use super::facts::Facts;
use super::instances::Instances;
use crate::base::{Job, ReadError};
use crate::event::{Lane, ThreadKey};
use crate::formats::ftrace_line::line::Plain;

const CHECK_BYTES: u64 = 1 << 20;

/// Summary of a block.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub lines: u64,
    pub cpus: Vec<u32>,
    pub first: Option<Last>,
    pub last: Option<Last>,
    pub is_raw: bool,
    /// Maximum number of decimals of a time.
    pub digits: u8,
    pub has_etrace: bool,
    pub shape: Shape,
    pub instances: Instances,
}

/// Summarises the lines of a block.
///
/// # Errors
/// Errors if the job was cancelled.
pub(crate) fn summarise(text: &[u8], facts: &Facts, job: &Job) -> Result<Summary, ReadError> {
    let mut summary = Summary::default();
    let mut checked = 0;
    let mut has_cpu = vec![false; 8192];
    let mut see = |cpu: u32| {
        if let Some(seen) = has_cpu.get_mut(cpu as usize) {
            *seen = true;
        }
    };
    for EventLine { line, kind } in event_lines(text, 1, 0, facts) {
        if line.offset - checked >= CHECK_BYTES {
            job.check()?;
            checked = line.offset;
        }
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
            let mut now = summary.last.unwrap_or_default();
            let _ = now.spread(&prefix);
            now.cpu = prefix.cpu;
            now.thread = Some(ThreadKey(prefix.pid));
            summary.first = summary.first.or(Some(now));
            summary.last = Some(now);
            summary.is_raw |= prefix.is_raw();
            summary.digits = summary.digits.max(prefix.precision.unwrap_or(0));
            summary.has_etrace |= is_etrace_call(prefix.body);
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
    Ok(summary)
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
    pub(crate) fn conclude(self) -> Whole {
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
            ..self.first.unwrap_or_default()
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
