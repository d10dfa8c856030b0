//! Context switches, wakeups, and what the file itself reports about thread states.

use crate::base::{Maybe, StringId};
use crate::event::{ThreadKey, ThreadState};

/// One context switch, at its event's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The event.
    pub event: u32,
    /// The CPU on which it happened.
    pub cpu: u32,
    /// The thread that stopped running.
    pub prev: ThreadKey,
    /// The thread that runs from now on.
    pub next: ThreadKey,
    /// Priority of `prev`.
    pub prev_priority: i32,
    /// Priority of `next`.
    pub next_priority: i32,
    /// The state of `prev` from now on.
    pub prev_state: ThreadState,
    /// What can be derived from the switch.
    pub content: SwitchContent,
}

/// What the file states about the thread state that starts with a switch or wakeup. Only FXT files of our own exporter
/// contain this, for states that readers would derive differently from the records alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateFacts {
    /// The switch that took the thread off its CPU, or the wakeup.
    pub event: u32,
    /// Whether the thread was observed to wait for a CPU until it ran.
    pub is_wait: Option<bool>,
    /// Whether events were lost while the state lasted.
    pub spans_loss: Option<bool>,
    /// Whether the thread may have run meanwhile, because switches are missing where no loss was recorded.
    pub misses_switches: bool,
    /// How long the state lasted at most, in ns, if no event of the thread's scheduling ended it.
    pub longest_ns: Option<i64>,
    /// The name of the recorded interrupt handler that woke the thread.
    pub woken_by: Option<StringId>,
}

/// A run that starts at its event's time, in our own Chrome JSON, which contains no switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeRun {
    /// The event.
    pub event: u32,
    /// The CPU.
    pub cpu: u32,
    /// The thread.
    pub thread: ThreadKey,
    /// How long it lasted, in ns; `None` if it was still running at the trace's end.
    pub duration_ns: Option<i64>,
    /// The thread's priority.
    pub priority: i32,
    /// The thread's state after the run.
    pub end_state: ThreadState,
}

/// A state of its event's thread that starts at the event's time, in our own Chrome JSON, which contains no switches
/// and wakeups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeState {
    /// The event.
    pub event: u32,
    /// The state.
    pub state: ThreadState,
    /// How long it lasted, in ns; `None` if it lasted to the trace's end.
    pub duration_ns: Option<i64>,
    /// The CPU, for a running state.
    pub cpu: Option<u32>,
    /// The wakeup with which the state started.
    pub wakeup: Option<WholeWakeup>,
    /// Whether events were lost while it lasted.
    pub spans_loss: bool,
    /// See [`StateFacts::misses_switches`].
    pub misses_switches: bool,
}

/// The wakeup with which a [`WholeState`] started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeWakeup {
    /// The thread that woke this thread, or that was interrupted; `None` if unknown.
    pub waker: Option<ThreadKey>,
    /// The interrupt in which it happened.
    pub interrupt: Option<Interrupt>,
    /// The name of the recorded interrupt handler.
    pub woken_by: Option<StringId>,
}

/// What can be derived from a context switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchContent {
    /// The thread on the CPU, and the states of both threads.
    #[default]
    RunsAndStates,
    /// Only the thread on the CPU. Our FXT files contain such switches for recordings with runs but no switches.
    Runs,
    /// The states of both threads, and that the incoming thread is on the CPU: the outgoing thread was not seen there.
    /// Our FXT files contain such switches.
    StatesAndNextRun,
}

/// A thread was made ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wakeup {
    /// The event.
    pub event: u32,
    /// The thread that was woken.
    pub thread: ThreadKey,
    /// The thread that woke it, if it is recorded (an interrupt on an idle CPU: `IDLE`).
    pub waker: Maybe<ThreadKey>,
    /// The CPU that the thread is to run on, if it is recorded.
    pub target_cpu: Maybe<u32>,
    /// Which of the kernel's wakeup events this is.
    pub sort: WakeupSort,
    /// The interrupt in which the wakeup happened, by the event's own flags: then `waker` is only the interrupted
    /// thread. Also `None` if the file has no flags.
    pub interrupt: Option<Interrupt>,
}

/// A thread was moved to the run queue of another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The event.
    pub event: u32,
    /// The thread.
    pub thread: ThreadKey,
    /// The CPU on whose run queue it was, or on which it ran last.
    pub from_cpu: u32,
    /// The CPU that it was moved to.
    pub to_cpu: u32,
}

/// A thread ran on a CPU until now, according to an event of another thread (`sched_stat_runtime` adds up the time of
/// the thread that runs there).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighted {
    /// The event.
    pub event: u32,
    /// The thread that ran.
    pub thread: ThreadKey,
}

/// Which of the kernel's wakeup events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeupSort {
    /// The waker requests the wakeup (`sched_waking`).
    Waking,
    /// The thread was put on a run queue (`sched_wakeup`).
    Wakeup,
    /// A new thread was put on a run queue (`sched_wakeup_new`).
    New,
}

/// An interrupt that ran in place of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Interrupt {
    /// A softirq.
    Soft = 1,
    /// A hardware interrupt.
    Hard = 2,
    /// An interrupt that cannot be masked.
    Nmi = 3,
}

impl Interrupt {
    /// Returns the innermost interrupt in which an event with these `common_flags` happened.
    #[inline]
    #[must_use]
    pub(crate) fn of_flags(flags: u64) -> Option<Interrupt> {
        const HARDIRQ: u64 = 0x08;
        const SOFTIRQ: u64 = 0x10;
        const NMI: u64 = 0x40;
        match flags {
            flags if flags & NMI != 0 => Some(Interrupt::Nmi),
            flags if flags & HARDIRQ != 0 => Some(Interrupt::Hard),
            flags if flags & SOFTIRQ != 0 => Some(Interrupt::Soft),
            _ => None,
        }
    }

    /// Returns the interrupt with this [`Interrupt::number`]; `None` for 0 and for other numbers.
    #[inline]
    #[must_use]
    pub(crate) fn of_number(number: u32) -> Option<Interrupt> {
        match number {
            1 => Some(Interrupt::Soft),
            2 => Some(Interrupt::Hard),
            3 => Some(Interrupt::Nmi),
            _ => None,
        }
    }

    /// Returns the interrupt with this [`Interrupt::word`].
    #[must_use]
    pub(crate) fn of_word(word: &[u8]) -> Option<Interrupt> {
        let all = [Interrupt::Soft, Interrupt::Hard, Interrupt::Nmi];
        all.into_iter().find(|it| it.word().as_bytes() == word)
    }

    /// Returns the interrupt's number, 1 to 3.
    #[inline]
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Returns the interrupt in words, for sentences.
    #[must_use]
    pub(crate) fn words(self) -> &'static str {
        match self {
            Interrupt::Soft => "a softirq",
            Interrupt::Hard => "a hardware interrupt",
            Interrupt::Nmi => "an NMI",
        }
    }

    /// Returns the interrupt in one word, for tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Interrupt::Soft => "softirq",
            Interrupt::Hard => "hardirq",
            Interrupt::Nmi => "nmi",
        }
    }
}
