//! Runs: a thread on a CPU between two context switches. A CPU is idle when it has no run.

use super::entities::{CpuId, ThreadId};
use super::overlap::{contains, overlapping};
use super::segments::EventId;
use crate::base::column::Column;
use crate::base::{Maybe, TimeSpan, Timestamp};
use crate::event::ThreadState;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Row number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// The columns of all runs, sorted by CPU, then start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Runs {
    /// First nanosecond.
    pub starts: Column<i64>,
    /// First nanosecond after; none if it was still running at the trace's end.
    pub ends: Column<Maybe<i64>>,
    /// The thread that ran.
    pub threads: Column<u32>,
    /// The thread's priority (the kernel's scale, or a weight in FXT).
    pub priorities: Column<i32>,
    /// The thread's state after the run.
    #[serde(with = "crate::base::column::checked")]
    pub end_states: Vec<ThreadState>,
    /// The switch that started the run; none if it started before the trace. Use [`Runs::event`].
    pub events: Column<Maybe<u32>>,
    /// Rows that are only partly known, ascending: open at the end of their file, if several files share one axis, or
    /// cut by an export. They lasted at least as long as they are drawn.
    pub partial: Vec<u32>,
    /// The runs of each CPU, by [`CpuId`].
    pub of_cpu: Vec<Range<u32>>,
    /// All runs sorted by thread, then start.
    pub by_thread: Column<u32>,
    /// The range of `by_thread` of each thread, by [`ThreadId`].
    pub of_thread: Vec<Range<u32>>,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The run's row number.
    pub id: RunId,
    /// First nanosecond.
    pub start: Timestamp,
    /// First nanosecond after; `None` if it was still running at the trace's end.
    pub end: Option<Timestamp>,
    /// The CPU.
    pub cpu: CpuId,
    /// The thread.
    pub thread: ThreadId,
    /// The thread's priority (the kernel's scale, or a weight in FXT).
    pub priority: i32,
    /// The thread's state after the run.
    pub end_state: ThreadState,
    /// The switch that started the run; `None` if it started before the trace.
    pub event: Option<EventId>,
}

impl Runs {
    /// Number of runs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there is no run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Adds the rows of another CPU after these rows.
    pub(crate) fn append(&mut self, other: &Runs) {
        self.starts.extend_from_slice(&other.starts);
        self.ends.extend_from_slice(&other.ends);
        self.threads.extend_from_slice(&other.threads);
        self.priorities.extend_from_slice(&other.priorities);
        self.end_states.extend_from_slice(&other.end_states);
        self.events.extend_from_slice(&other.events);
    }

    /// Moves the empty ranges of CPUs without runs to their places, so that the ranges of all CPUs are in order.
    pub(crate) fn place_empty_cpus(&mut self) {
        let mut at = 0;
        for range in &mut self.of_cpu {
            if range.start == range.end {
                *range = at..at;
            }
            at = range.end;
        }
    }

    /// Returns a run. Panics if there is no such row.
    #[must_use]
    pub fn get(&self, id: RunId) -> Run {
        let i = id.0 as usize;
        let cpu = self
            .of_cpu
            .iter()
            .position(|range| range.contains(&id.0))
            .unwrap_or(0);
        Run {
            id,
            start: Timestamp(self.starts[i]),
            end: self.ends[i].get().map(Timestamp),
            cpu: CpuId(cpu as u32),
            thread: ThreadId(self.threads[i]),
            priority: self.priorities[i],
            end_state: self.end_states[i],
            event: self.event(i),
        }
    }

    /// Returns whether only a part of a run is known, although it has an end; see [`Runs::partial`].
    #[inline]
    #[must_use]
    pub(crate) fn is_partial(&self, row: usize) -> bool {
        contains(&self.partial, row)
    }

    /// Returns whether the end of a run is not known: it lasted to the recording's end, or only a part of it is known.
    #[inline]
    #[must_use]
    pub(crate) fn is_open(&self, row: usize) -> bool {
        self.ends.get(row).is_some_and(|end| end.is_none()) || self.is_partial(row)
    }

    /// Returns the switch that started a run; `None` if it started before the trace. Panics if there is no such row.
    #[must_use]
    pub fn event(&self, row: usize) -> Option<EventId> {
        self.events[row].get().map(EventId)
    }

    /// Returns the rows of a CPU's runs; empty if it has none.
    #[must_use]
    pub fn on(&self, cpu: CpuId) -> Range<u32> {
        self.of_cpu.get(cpu.0 as usize).cloned().unwrap_or(0..0)
    }

    /// Returns the runs within `range` (runs of one CPU) that overlap `span`.
    #[must_use]
    pub fn overlapping(&self, range: Range<u32>, span: TimeSpan) -> Range<u32> {
        overlapping(&self.starts, &self.ends, range, span)
    }

    /// Returns the row numbers of a thread's runs, sorted by start.
    #[must_use]
    pub fn of(&self, thread: ThreadId) -> &[u32] {
        match self.of_thread.get(thread.0 as usize) {
            Some(range) => &self.by_thread[range.start as usize..range.end as usize],
            None => &[],
        }
    }

    /// Returns the CPU of the thread's run at `time`, else of the last run before it, else of its first run; `None` if
    /// it never ran.
    #[must_use]
    pub fn cpu_at(&self, thread: impl Into<Option<ThreadId>>, time: Timestamp) -> Option<CpuId> {
        let runs = self.of(thread.into()?);
        let after = runs.partition_point(|&run| self.starts[run as usize] <= time.0);
        let run = *runs.get(after.saturating_sub(1))?;
        // Runs are sorted by CPU, and a CPU without runs has an empty range.
        let cpu = self.of_cpu.partition_point(|range| range.end <= run);
        Some(CpuId(cpu as u32))
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let lists = self.end_states.capacity()
            + self.partial.capacity() * 4
            + self.of_thread.capacity() * 8;
        self.starts.memory_bytes()
            + self.ends.memory_bytes()
            + self.threads.memory_bytes()
            + self.priorities.memory_bytes()
            + self.events.memory_bytes()
            + self.by_thread.memory_bytes()
            + lists as u64
    }
}
