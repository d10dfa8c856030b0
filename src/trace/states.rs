//! Thread states: what each thread was doing, one row from each change to the next, 26 bytes each.

use super::entities::ThreadId;
use super::events::EventId;
use crate::base::{StringId, TimeSpan, Timestamp};
use crate::event::{EndState, Interrupt};
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

    /// What it means, in words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            ThreadState::Running => "runs on a CPU",
            ThreadState::Runnable => "ready, waits for a CPU",
            ThreadState::Preempted => "ready, was pushed off its CPU",
            ThreadState::Sleeping => "waits, can be interrupted",
            ThreadState::Uninterruptible => "waits, cannot be interrupted",
            ThreadState::Stopped => "stopped by a signal",
            ThreadState::Traced => "stopped by a tracer",
            ThreadState::Created => "made, has not run yet",
            ThreadState::Zombie => "exited, not reaped yet",
            ThreadState::Dead => "gone",
            ThreadState::Parked => "a parked kernel thread",
            ThreadState::Idle => "an idle kernel thread",
            ThreadState::Unknown => "the recording does not say",
        }
    }

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

/// What is known of a state beside its row, in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateNotes(u8);

impl StateNotes {
    const WOKEN: u8 = 1;
    const SPANS_LOSS: u8 = 2;
    const INTERRUPT_SHIFT: u32 = 2;

    /// A state that began with a wakeup, which happened in an interrupt if there is one.
    #[must_use]
    pub fn woken(interrupt: Option<Interrupt>) -> StateNotes {
        let interrupt = interrupt.map_or(0, Interrupt::number) as u8;
        StateNotes(StateNotes::WOKEN | interrupt << StateNotes::INTERRUPT_SHIFT)
    }

    /// The same of a state during which events were lost.
    #[must_use]
    pub fn with_loss(self) -> StateNotes {
        StateNotes(self.0 | StateNotes::SPANS_LOSS)
    }

    /// Whether the state began with a wakeup.
    #[must_use]
    pub fn is_woken(self) -> bool {
        self.0 & StateNotes::WOKEN != 0
    }

    /// Whether events were lost, on a CPU on which the thread could have run, while the state lasted.
    #[must_use]
    pub fn spans_loss(self) -> bool {
        self.0 & StateNotes::SPANS_LOSS != 0
    }

    /// The interrupt in which the wakeup happened with which the state began.
    #[must_use]
    pub fn interrupt(self) -> Option<Interrupt> {
        Interrupt::of_number(u32::from(self.0 >> StateNotes::INTERRUPT_SHIFT))
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
    /// Running: the CPU's index. After a wakeup: the [`ThreadId`] of the waker, or of the thread that was interrupted
    /// if the wakeup happened in an interrupt. Else `u32::MAX`.
    pub partners: Vec<u32>,
    /// What else is known of each.
    pub notes: Vec<StateNotes>,
    /// The event that brought it, `u32::MAX` if none.
    pub events: Vec<u32>,
    /// The states of each thread, by [`ThreadId`].
    pub of_thread: Vec<Range<u32>>,
    /// The names of the interrupts that woke threads, where the file says them itself; sorted by the wakeup's event.
    pub woken_by: Vec<(u32, StringId)>,
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
    /// Who woke it, if the state began with a wakeup by a thread that is known; `None` if an interrupt did it.
    pub waker: Option<ThreadId>,
    /// What else is known of it.
    pub notes: StateNotes,
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

    /// The name of the interrupt that woke a thread in a wakeup event, where the file says it itself.
    #[must_use]
    pub fn woken_by(&self, event: EventId) -> Option<StringId> {
        let at = self.woken_by.binary_search_by_key(&event.0, |said| said.0);
        self.woken_by.get(at.ok()?).map(|said| said.1)
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
        let notes = self.notes[i];
        let partner = (self.partners[i] != u32::MAX).then_some(self.partners[i]);
        State {
            id,
            start: Timestamp(self.starts[i]),
            end: (self.ends[i] != i64::MAX).then(|| Timestamp(self.ends[i])),
            thread: ThreadId(after as u32),
            state,
            waker: partner
                .filter(|_| state != ThreadState::Running && notes.interrupt().is_none())
                .map(ThreadId),
            notes,
            cpu: partner.filter(|_| state == ThreadState::Running),
            event: (self.events[i] != u32::MAX).then(|| EventId(self.events[i])),
        }
    }

    /// The row in which a run's thread runs: it began at `start` with that event (`u32::MAX`: without one).
    #[must_use]
    pub fn running_at(&self, thread: ThreadId, start: Timestamp, event: u32) -> Option<StateId> {
        let range = self.of(thread);
        let starts = self.starts.get(range.start as usize..range.end as usize)?;
        let first = range.start + starts.partition_point(|&at| at < start.0) as u32;
        let mut same = (first..range.end).take_while(|&row| self.starts[row as usize] == start.0);
        let is_it = |row: &u32| {
            let at = *row as usize;
            self.states[at] == ThreadState::Running && self.events[at] == event
        };
        same.find(is_it).map(StateId)
    }

    /// The state that followed a run: it began where the run ended. `None` if the states do not know of the run's end.
    #[must_use]
    pub fn behind_run(&self, runs: &super::Runs, run: usize) -> Option<StateId> {
        let thread = ThreadId(*runs.threads.get(run)?);
        let (start, end) = (*runs.starts.get(run)?, *runs.ends.get(run)?);
        let range = self.of(thread);
        if let Some(running) = self.running_at(thread, Timestamp(start), runs.events[run]) {
            let next = running.0 + 1;
            if range.contains(&next) && self.starts[next as usize] == end {
                return Some(StateId(next));
            }
        }
        let starts = self.starts.get(range.start as usize..range.end as usize)?;
        let at = starts.partition_point(|&start| start < end);
        (starts.get(at) == Some(&end)).then_some(StateId(range.start + at as u32))
    }

    /// The rows among `range` (of one thread) that overlap `span`.
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

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.starts.capacity() * 8
            + self.ends.capacity() * 8
            + self.states.capacity()
            + self.partners.capacity() * 4
            + self.notes.capacity()
            + self.events.capacity() * 4
            + self.of_thread.capacity() * 8) as u64
    }
}
