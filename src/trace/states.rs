//! Thread states: what each thread was doing, one row from each change to the next, 25 bytes each.

use super::entities::ThreadId;
use super::events::EventId;
use crate::base::{TimeSpan, Timestamp};
use crate::event::EndState;
use std::ops::Range;

/// Row number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ThreadState {
    /// Runs on a CPU.
    Running,
    /// Ready, waits for a CPU.
    Runnable,
    /// Ready, was pushed off its CPU.
    Preempted,
    /// Waits, can be interrupted.
    Sleeping,
    /// Waits, cannot be interrupted.
    Uninterruptible,
    /// Stopped by a signal.
    Stopped,
    /// Stopped by a tracer.
    Traced,
    /// Was made, has not run yet.
    Created,
    /// Exited, not reaped.
    Zombie,
    /// Gone.
    Dead,
    /// Parked.
    Parked,
    /// An idle kernel thread.
    Idle,
    /// The file does not say.
    #[default]
    Unknown,
}

impl ThreadState {
    /// All states, in the order of their numbers.
    pub const ALL: [ThreadState; 13] = [
        ThreadState::Running,
        ThreadState::Runnable,
        ThreadState::Preempted,
        ThreadState::Sleeping,
        ThreadState::Uninterruptible,
        ThreadState::Stopped,
        ThreadState::Traced,
        ThreadState::Created,
        ThreadState::Zombie,
        ThreadState::Dead,
        ThreadState::Parked,
        ThreadState::Idle,
        ThreadState::Unknown,
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ThreadState::Running => "running",
            ThreadState::Runnable => "runnable",
            ThreadState::Preempted => "preempted",
            ThreadState::Sleeping => "sleeping",
            ThreadState::Uninterruptible => "uninterruptible",
            ThreadState::Stopped => "stopped",
            ThreadState::Traced => "traced",
            ThreadState::Created => "created",
            ThreadState::Zombie => "zombie",
            ThreadState::Dead => "dead",
            ThreadState::Parked => "parked",
            ThreadState::Idle => "idle",
            ThreadState::Unknown => "unknown",
        }
    }

    /// Whether it waits for a CPU.
    #[must_use]
    pub fn is_ready(self) -> bool {
        matches!(self, ThreadState::Runnable | ThreadState::Preempted)
    }
}

impl From<EndState> for ThreadState {
    fn from(state: EndState) -> ThreadState {
        match state {
            EndState::Runnable => ThreadState::Runnable,
            EndState::Preempted => ThreadState::Preempted,
            EndState::Sleeping => ThreadState::Sleeping,
            EndState::Uninterruptible => ThreadState::Uninterruptible,
            EndState::Stopped => ThreadState::Stopped,
            EndState::Traced => ThreadState::Traced,
            EndState::Zombie => ThreadState::Zombie,
            EndState::Dead => ThreadState::Dead,
            EndState::Parked => ThreadState::Parked,
            EndState::Idle => ThreadState::Idle,
            EndState::Unknown => ThreadState::Unknown,
        }
    }
}

/// The columns, sorted by thread, then start.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// First nanosecond.
    pub starts: Vec<i64>,
    /// First nanosecond after; `i64::MAX` if it lasted to the trace's end.
    pub ends: Vec<i64>,
    /// Doing what.
    pub states: Vec<ThreadState>,
    /// Running: the CPU's index. Ready after a wakeup: the waker's [`ThreadId`]. Else `u32::MAX`.
    pub partners: Vec<u32>,
    /// The event that brought it, `u32::MAX` if none.
    pub events: Vec<u32>,
    /// The states of each thread, by [`ThreadId`].
    pub of_thread: Vec<Range<u32>>,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Its row number.
    pub id: StateId,
    /// First nanosecond.
    pub start: Timestamp,
    /// First nanosecond after; `None` if it lasted to the trace's end.
    pub end: Option<Timestamp>,
    /// Whose.
    pub thread: ThreadId,
    /// Doing what.
    pub state: ThreadState,
    /// Who woke it, for a ready state after a wakeup whose waker is known.
    pub waker: Option<ThreadId>,
    /// The index of the CPU, for a running state.
    pub cpu: Option<u32>,
    /// The event that brought it.
    pub event: Option<EventId>,
}

impl States {
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

    /// The rows of a thread.
    #[must_use]
    pub fn of(&self, thread: ThreadId) -> Range<u32> {
        self.of_thread
            .get(thread.0 as usize)
            .cloned()
            .unwrap_or(0..0)
    }

    /// One row. Panics if there is no such row.
    #[must_use]
    pub fn get(&self, id: StateId) -> State {
        let i = id.0 as usize;
        // Threads without states have empty ranges that start at the next thread's first row.
        let after = self.of_thread.partition_point(|range| range.end <= id.0);
        let state = self.states[i];
        let partner = (self.partners[i] != u32::MAX).then_some(self.partners[i]);
        State {
            id,
            start: Timestamp(self.starts[i]),
            end: (self.ends[i] != i64::MAX).then(|| Timestamp(self.ends[i])),
            thread: ThreadId(after as u32),
            state,
            waker: partner
                .filter(|_| state != ThreadState::Running)
                .map(ThreadId),
            cpu: partner.filter(|_| state == ThreadState::Running),
            event: (self.events[i] != u32::MAX).then(|| EventId(self.events[i])),
        }
    }

    /// The rows among `range` (of one thread) that overlap `span`.
    #[must_use]
    pub fn overlapping(&self, range: Range<u32>, span: TimeSpan) -> Range<u32> {
        let (from, until) = (range.start as usize, range.end as usize);
        let first = from + self.ends[from..until].partition_point(|&end| end <= span.start.0);
        let last = from + self.starts[from..until].partition_point(|&start| start < span.end.0);
        first as u32..last.max(first) as u32
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.starts.capacity() * 8
            + self.ends.capacity() * 8
            + self.states.capacity()
            + self.partners.capacity() * 4
            + self.events.capacity() * 4
            + self.of_thread.capacity() * 8) as u64
    }
}
