//! Runs: a thread on a CPU between two context switches. Idle is the time without a run.

use super::entities::{CpuId, ThreadId};
use super::events::EventId;
use crate::base::{TimeSpan, Timestamp};
use crate::event::EndState;
use std::ops::Range;

/// Row number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// The columns, sorted by CPU, then start.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// First nanosecond.
    pub starts: Vec<i64>,
    /// First nanosecond after; `i64::MAX` if it was still running at the trace's end.
    pub ends: Vec<i64>,
    /// Who ran.
    pub threads: Vec<u32>,
    /// With what priority (the kernel's scale, or a weight in FXT).
    pub priorities: Vec<i32>,
    /// What it did afterwards.
    pub end_states: Vec<EndState>,
    /// The switch that began it, `u32::MAX` if it was running before the trace began.
    pub events: Vec<u32>,
    /// The runs of each CPU, by [`CpuId`].
    pub of_cpu: Vec<Range<u32>>,
    /// All runs sorted by thread, then start.
    pub by_thread: Vec<u32>,
    /// The part of `by_thread` of each thread, by [`ThreadId`].
    pub of_thread: Vec<Range<u32>>,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its row number.
    pub id: RunId,
    /// First nanosecond.
    pub start: Timestamp,
    /// First nanosecond after; `None` if it was still running at the trace's end.
    pub end: Option<Timestamp>,
    /// Where.
    pub cpu: CpuId,
    /// Who.
    pub thread: ThreadId,
    /// With what priority.
    pub priority: i32,
    /// What it did afterwards.
    pub end_state: EndState,
    /// The switch that began it.
    pub event: Option<EventId>,
}

impl Runs {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Moves the rows of another CPU here, behind ours.
    pub fn append(&mut self, other: &mut Runs) {
        self.starts.append(&mut other.starts);
        self.ends.append(&mut other.ends);
        self.threads.append(&mut other.threads);
        self.priorities.append(&mut other.priorities);
        self.end_states.append(&mut other.end_states);
        self.events.append(&mut other.events);
    }

    /// One run. Panics if there is no such row.
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
            end: (self.ends[i] != i64::MAX).then(|| Timestamp(self.ends[i])),
            cpu: CpuId(cpu as u32),
            thread: ThreadId(self.threads[i]),
            priority: self.priorities[i],
            end_state: self.end_states[i],
            event: (self.events[i] != u32::MAX).then(|| EventId(self.events[i])),
        }
    }

    /// The runs of a CPU; none if it has none.
    #[must_use]
    pub fn on(&self, cpu: CpuId) -> Range<u32> {
        self.of_cpu.get(cpu.0 as usize).cloned().unwrap_or(0..0)
    }

    /// The runs among `range` (of one CPU) that overlap `span`.
    #[must_use]
    pub fn overlapping(&self, range: Range<u32>, span: TimeSpan) -> Range<u32> {
        let (from, until) = (range.start as usize, range.end as usize);
        let starts = &self.starts[from..until];
        let first = self.ends[from..until].partition_point(|&end| end <= span.start.0);
        // What begins and ends just then is in it.
        let first = from + first.min(starts.partition_point(|&start| start < span.start.0));
        let last = from + starts.partition_point(|&start| start < span.end.0);
        first as u32..last.max(first) as u32
    }

    /// The runs of a thread, as rows sorted by start.
    #[must_use]
    pub fn of(&self, thread: ThreadId) -> &[u32] {
        match self.of_thread.get(thread.0 as usize) {
            Some(range) => &self.by_thread[range.start as usize..range.end as usize],
            None => &[],
        }
    }

    /// Where a thread ran at a time, else last before it, else first; `None` if it never ran.
    #[must_use]
    pub fn cpu_at(&self, thread: ThreadId, time: Timestamp) -> Option<CpuId> {
        let runs = self.of(thread);
        let after = runs.partition_point(|&run| self.starts[run as usize] <= time.0);
        let run = *runs.get(after.saturating_sub(1))?;
        // The runs of a CPU follow those of the one before; some have none.
        let cpu = self.of_cpu.partition_point(|range| range.end <= run);
        Some(CpuId(cpu as u32))
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.starts.capacity() * 8
            + self.ends.capacity() * 8
            + self.threads.capacity() * 4
            + self.priorities.capacity() * 4
            + self.end_states.capacity()
            + self.events.capacity() * 4
            + self.by_thread.capacity() * 4
            + self.of_thread.capacity() * 8) as u64
    }
}
