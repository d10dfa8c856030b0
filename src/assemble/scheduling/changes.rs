//! Switches with the trace's numbers, and the changes of thread states that follow from switches and wakeups.

use crate::base::Maybe;
use crate::event::{Interrupt, SwitchContent, ThreadState, WakeupSort};
use crate::trace::{EventId, ThreadId};

/// No thread leaves its CPU, returns and leaves again, or runs, sleeps and is woken again, in so few ns.
pub(super) const SHORTEST_TURN: i64 = 1_000;

/// A context switch with the trace's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchRow {
    /// Time, ns on the trace's clock.
    pub time: i64,
    /// Id of the event; none in a preview.
    pub event: Maybe<u32>,
    /// The thread that stops, if it is known.
    pub prev: Option<ThreadId>,
    /// The thread that runs from now on, if it is known.
    pub next: Option<ThreadId>,
    /// Priority of the thread that runs from now on.
    pub next_priority: i32,
    /// Priority of the thread that stops.
    pub prev_priority: i32,
    /// State of the thread that stops, from now on.
    pub prev_state: ThreadState,
    /// What follows from the switch: runs, states or both.
    pub content: SwitchContent,
}

/// A change of a thread's state.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) time: i64,
    /// Id of the event that made it; use [`Change::event`].
    pub(super) event_number: Maybe<u32>,
    pub(super) to: To,
}

impl Change {
    /// Returns a change that no event of the thread records.
    pub(super) fn without_event(time: i64, to: To) -> Change {
        Change {
            time,
            event_number: Maybe::NONE,
            to,
        }
    }

    /// Returns the event that made the change, if there is one.
    pub(super) fn event(self) -> Option<EventId> {
        self.event_number.get().map(EventId)
    }
}

/// The new state of a thread, in 4 bytes: its CPU or waker in the low 26 bits, then a state or a wakeup, then the
/// interrupt in which the wakeup happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct To(u32);

impl To {
    /// Value of the low bits: no CPU and no waker.
    const NOBODY: u32 = (1 << 26) - 1;
    const STATE_SHIFT: u32 = 26;
    const INTERRUPT_SHIFT: u32 = 30;
    /// Wakeups have the numbers after the states.
    const WAKING: u32 = ThreadState::ALL.len() as u32;
    const WAKEUP: u32 = To::WAKING + 1;
    /// The thread was seen on a CPU.
    const SEEN: u32 = To::WAKEUP + 1;
    /// Value of the interrupt bits: the change comes before all events of its time.
    const BEFORE_EVENTS: u32 = 1 << To::INTERRUPT_SHIFT;

    pub(super) fn new(state: ThreadState, partner: Option<u32>) -> To {
        To::packed(state as u32, partner)
    }

    fn packed(number: u32, partner: Option<u32>) -> To {
        let partner = partner.unwrap_or(To::NOBODY).min(To::NOBODY);
        To(number << To::STATE_SHIFT | partner)
    }

    pub(super) fn woken(waker: Option<u32>, sort: WakeupSort, interrupt: Option<Interrupt>) -> To {
        let number = match sort {
            WakeupSort::Waking => To::WAKING,
            WakeupSort::Wakeup | WakeupSort::New => To::WAKEUP,
        };
        let interrupt = interrupt.map_or(0, Interrupt::number);
        To(To::packed(number, waker).0 | interrupt << To::INTERRUPT_SHIFT)
    }

    /// Returns the change to an unknown state; it only applies if the thread ran on `cpu`.
    pub(super) fn stops_running_on(cpu: u32) -> To {
        To::new(ThreadState::Unknown, Some(cpu))
    }

    /// As [`To::stops_running_on`], for a thread that left before an event of this time, because another thread
    /// recorded that event.
    pub(super) fn had_left(cpu: u32) -> To {
        To(To::stops_running_on(cpu).0 | To::BEFORE_EVENTS)
    }

    /// Returns the change that follows from an event that the thread recorded on `cpu`, where no switch to the thread
    /// is known: it ran.
    pub(super) fn seen_on(cpu: u32) -> To {
        To::packed(To::SEEN, Some(cpu))
    }

    /// Returns whether this is from [`To::had_left`].
    pub(super) fn is_before_events(self) -> bool {
        self.wakeup().is_none() && self.0 & To::BEFORE_EVENTS != 0
    }

    /// As [`To::seen_on`], by an event of another thread.
    pub(super) fn seen_running() -> To {
        To::packed(To::SEEN, None)
    }

    /// Returns whether this is from [`To::seen_on`] or [`To::seen_running`].
    pub(super) fn is_sighting(self) -> bool {
        self.number() == To::SEEN
    }

    fn number(self) -> u32 {
        self.0 >> To::STATE_SHIFT & 15
    }

    /// Returns the kind of wakeup if it is one; the wakeup of a new thread counts as [`WakeupSort::Wakeup`].
    pub(super) fn wakeup(self) -> Option<WakeupSort> {
        match self.number() {
            To::WAKING => Some(WakeupSort::Waking),
            To::WAKEUP => Some(WakeupSort::Wakeup),
            _ => None,
        }
    }

    /// Returns the state; unknown for a sighting.
    pub(super) fn state(self) -> ThreadState {
        if self.wakeup().is_some() {
            return ThreadState::Runnable;
        }
        let state = ThreadState::ALL.get(self.number() as usize);
        state.copied().unwrap_or_default()
    }

    /// Returns the CPU or waker, if there is one.
    pub(super) fn partner(self) -> Option<u32> {
        let partner = self.0 & To::NOBODY;
        (partner != To::NOBODY).then_some(partner)
    }

    pub(super) fn interrupt(self) -> Option<Interrupt> {
        Interrupt::of_number(self.0 >> To::INTERRUPT_SHIFT)
    }
}
