//! Thread states: one row from each change to the next, 26 bytes each.

use super::entities::ThreadId;
use super::overlap::{contains, overlapping};
use super::segments::EventId;
use crate::base::column::Column;
use crate::base::{Maybe, StringId, TimeSpan, Timestamp};
use crate::event::Interrupt;
pub use crate::event::ThreadState;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Row number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

/// Flags of a state, in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable, Serialize, Deserialize)]
#[repr(transparent)]
pub struct StateNotes(u8);

impl StateNotes {
    const WOKEN: u8 = 1;
    const SPANS_LOSS: u8 = 2;
    const INTERRUPT_SHIFT: u32 = 2;
    const INTERRUPT_MASK: u8 = 3;
    const MISSES_SWITCHES: u8 = 16;

    /// Returns the notes of a state that started with a wakeup, and the interrupt that the wakeup happened in, if any.
    #[must_use]
    pub(crate) fn woken(interrupt: Option<Interrupt>) -> StateNotes {
        let interrupt = interrupt.map_or(0, Interrupt::number) as u8;
        StateNotes(StateNotes::WOKEN | interrupt << StateNotes::INTERRUPT_SHIFT)
    }

    /// Returns the notes with the flag that events were lost during the state.
    #[must_use]
    pub(crate) fn with_loss(self) -> StateNotes {
        StateNotes(self.0 | StateNotes::SPANS_LOSS)
    }

    /// Returns the notes with the flag that the thread may have run during the state, because switches are missing where no
    /// loss was recorded; also with that of losses.
    #[must_use]
    pub(crate) fn with_missing_switches(self) -> StateNotes {
        StateNotes(self.0 | StateNotes::SPANS_LOSS | StateNotes::MISSES_SWITCHES)
    }

    /// Returns whether the thread may have run at any time during the state.
    #[must_use]
    pub(crate) fn misses_switches(self) -> bool {
        self.0 & StateNotes::MISSES_SWITCHES != 0
    }

    /// Returns whether the state started with a wakeup.
    #[must_use]
    pub(crate) fn is_woken(self) -> bool {
        self.0 & StateNotes::WOKEN != 0
    }

    /// Returns whether events were lost, on a CPU on which the thread could have run, while the state lasted.
    #[must_use]
    pub(crate) fn spans_loss(self) -> bool {
        self.0 & StateNotes::SPANS_LOSS != 0
    }

    /// Returns the interrupt in which the wakeup happened that started the state.
    #[must_use]
    pub fn interrupt(self) -> Option<Interrupt> {
        let number = self.0 >> StateNotes::INTERRUPT_SHIFT & StateNotes::INTERRUPT_MASK;
        Interrupt::of_number(u32::from(number))
    }
}

/// The columns of all states, sorted by thread, then start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct States {
    /// First nanosecond.
    pub starts: Column<i64>,
    /// First nanosecond after; none if it lasted to the trace's end.
    pub ends: Column<Maybe<i64>>,
    /// The state.
    #[serde(with = "crate::base::column::checked")]
    pub states: Vec<ThreadState>,
    /// For a running state: the CPU's index. After a wakeup: the [`ThreadId`] of the waker, or of the interrupted
    /// thread if the wakeup happened in an interrupt. Else none.
    pub partners: Column<Maybe<u32>>,
    /// Further facts about each state.
    pub notes: Column<StateNotes>,
    /// The event that started the state.
    pub events: Column<Maybe<u32>>,
    /// Rows that are only partly known, ascending: open at the end of their file, if several files share one axis, or
    /// cut by an export. They lasted at least as long as they are drawn.
    pub partial: Vec<u32>,
    /// The states of each thread, by [`ThreadId`].
    pub of_thread: Vec<Range<u32>>,
    /// The names of the interrupts that woke threads, if the file contains them; sorted by the wakeup's event.
    pub woken_by: Vec<(u32, StringId)>,
}

/// One state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The state's row number.
    pub id: StateId,
    /// First nanosecond.
    pub start: Timestamp,
    /// First nanosecond after; `None` if it lasted to the trace's end.
    pub end: Option<Timestamp>,
    /// The thread.
    pub thread: ThreadId,
    /// The state.
    pub state: ThreadState,
    /// The thread that woke it, if the state started with a wakeup by a known thread; `None` if an interrupt woke it.
    pub waker: Option<ThreadId>,
    /// Further facts about the state.
    pub notes: StateNotes,
    /// The index of the CPU, for a running state.
    pub cpu: Option<u32>,
    /// The event that started the state.
    pub event: Option<EventId>,
}

impl States {
    /// Number of states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there is no state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the name of the interrupt that woke a thread in this wakeup event, if the file contains it.
    #[must_use]
    pub(crate) fn woken_by(&self, event: EventId) -> Option<StringId> {
        let at = self.woken_by.binary_search_by_key(&event.0, |row| row.0);
        self.woken_by.get(at.ok()?).map(|row| row.1)
    }

    /// Returns the rows of a thread's states.
    #[must_use]
    pub fn of(&self, thread: ThreadId) -> Range<u32> {
        self.of_thread
            .get(thread.0 as usize)
            .cloned()
            .unwrap_or(0..0)
    }

    /// Returns a state. Panics if there is no such row.
    #[must_use]
    pub fn get(&self, id: StateId) -> State {
        let i = id.0 as usize;
        // Threads without states have empty ranges that start at the next thread's first row.
        let after = self.of_thread.partition_point(|range| range.end <= id.0);
        let state = self.states[i];
        let notes = self.notes[i];
        let partner = self.partners[i].get();
        State {
            id,
            start: Timestamp(self.starts[i]),
            end: self.ends[i].get().map(Timestamp),
            thread: ThreadId(after as u32),
            state,
            waker: partner
                .filter(|_| state != ThreadState::Running && notes.interrupt().is_none())
                .map(ThreadId),
            notes,
            cpu: partner.filter(|_| state == ThreadState::Running),
            event: self.events[i].get().map(EventId),
        }
    }

    /// Returns whether only a part of a state is known, although it has an end; see [`States::partial`].
    #[inline]
    #[must_use]
    pub(crate) fn is_partial(&self, row: usize) -> bool {
        contains(&self.partial, row)
    }

    /// Returns whether the end of a state is not known: it lasted to the recording's end, or only a part of it is known.
    /// The state of a thread that has ended is over.
    #[inline]
    #[must_use]
    pub(crate) fn is_open(&self, row: usize) -> bool {
        let is_last = self.ends.get(row).is_some_and(|end| end.is_none());
        let is_over = self.states.get(row).is_some_and(|state| state.is_over());
        (is_last && !is_over) || self.is_partial(row)
    }

    /// Returns whether the duration of a state is not certain: its end is not known, or events were lost meanwhile, in
    /// which it may have ended and begun again.
    #[inline]
    #[must_use]
    pub(crate) fn is_uncertain(&self, row: usize) -> bool {
        let is_last = self.ends.get(row).is_some_and(|end| end.is_none());
        let spans_loss = self.notes.get(row).is_some_and(|notes| notes.spans_loss());
        is_last || spans_loss || self.is_partial(row)
    }

    /// Returns the thread that woke the state's thread, or the thread that was interrupted by the interrupt that woke
    /// it; `None` if the state did not start with a wakeup, or the waker is not known.
    #[must_use]
    pub(crate) fn woken_in(&self, id: StateId) -> Option<ThreadId> {
        let at = id.0 as usize;
        let is_woken = self.notes.get(at).is_some_and(|notes| notes.is_woken());
        let partner = self.partners.get(at).and_then(|partner| partner.get());
        partner.filter(|_| is_woken).map(ThreadId)
    }

    /// Returns the state of the same thread that follows a state.
    pub(crate) fn next_of_thread(&self, id: StateId) -> Option<StateId> {
        let next = StateId(id.0 + 1);
        let is_same = self.of(self.get(id).thread).contains(&next.0);
        is_same.then_some(next)
    }

    /// Returns the running state of a thread that starts at `start` with this event (`None`: without an event).
    #[must_use]
    pub(crate) fn running_at(
        &self,
        thread: ThreadId,
        start: Timestamp,
        event: Option<EventId>,
    ) -> Option<StateId> {
        let event = Maybe::from(event.map(|id| id.0));
        let range = self.of(thread);
        let starts = self.starts.get(range.start as usize..range.end as usize)?;
        let first = range.start + starts.partition_point(|&at| at < start.0) as u32;
        let is_it = |row: &u32| {
            let at = *row as usize;
            self.starts[at] == start.0
                && self.states[at] == ThreadState::Running
                && self.events[at] == event
        };
        // With a coarse clock, thousands of states may begin at one time; mostly they are in order of their events.
        let count = starts[(first - range.start) as usize..].partition_point(|&at| at == start.0);
        let same = first..first + count as u32;
        let events = self.events.get(same.start as usize..same.end as usize)?;
        let guess = same.start + events.partition_point(|&other| other < event) as u32;
        let guess = Some(guess).filter(|guess| same.contains(guess) && is_it(guess));
        guess.or_else(|| same.clone().find(is_it)).map(StateId)
    }

    /// Returns the state that follows a run: it starts where the run ends. `None` if the thread has no state that
    /// starts there.
    #[must_use]
    pub(crate) fn behind_run(&self, runs: &super::runs::Runs, run: usize) -> Option<StateId> {
        let thread = ThreadId(*runs.threads.get(run)?);
        let (start, end) = (*runs.starts.get(run)?, *runs.ends.get(run)?);
        let range = self.of(thread);
        if let Some(running) = self.running_at(thread, Timestamp(start), runs.event(run)) {
            let next = running.0 + 1;
            if range.contains(&next) && end == self.starts[next as usize] {
                return Some(StateId(next));
            }
        }
        let starts = self.starts.get(range.start as usize..range.end as usize)?;
        let end = end.get()?;
        let at = starts.partition_point(|&start| start < end);
        (starts.get(at) == Some(&end)).then_some(StateId(range.start + at as u32))
    }

    /// Returns the states within `range` (states of one thread) that overlap `span`.
    #[must_use]
    pub(crate) fn overlapping(&self, range: Range<u32>, span: TimeSpan) -> Range<u32> {
        overlapping(&self.starts, &self.ends, range, span)
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let lists =
            self.states.capacity() + self.partial.capacity() * 4 + self.of_thread.capacity() * 8;
        self.starts.memory_bytes()
            + self.ends.memory_bytes()
            + self.partners.memory_bytes()
            + self.notes.memory_bytes()
            + self.events.memory_bytes()
            + lists as u64
    }
}
