//! States of threads.

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

/// The state of a thread.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    NoUninit,
    CheckedBitPattern,
    Serialize,
    Deserialize,
)]
#[repr(u8)]
pub enum ThreadState {
    /// Runs on a CPU.
    Running,
    /// Ready, waits for a CPU.
    Runnable,
    /// Ready, was pushed off its CPU.
    Preempted,
    /// Waits; a signal can interrupt it.
    Sleeping,
    /// Waits; no signal can interrupt it.
    Uninterruptible,
    /// Stopped by a signal.
    Stopped,
    /// Stopped by a tracer.
    Traced,
    /// Created, has not run yet.
    Created,
    /// Exited, not reaped.
    Zombie,
    /// Gone.
    Dead,
    /// Parked.
    Parked,
    /// An idle kernel thread.
    Idle,
    /// The file does not state it.
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

    /// Returns the meaning of the state in words.
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
            ThreadState::Unknown => "not recorded",
        }
    }

    /// Returns the name of the state.
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

    /// Returns the state with a [`ThreadState::word`].
    #[must_use]
    pub(crate) fn of_word(word: &[u8]) -> Option<ThreadState> {
        let mut all = ThreadState::ALL.into_iter();
        all.find(|state| state.word().as_bytes() == word)
    }

    /// Returns the state of a thread that a switch took off its CPU, from its [`ThreadState::letters`].
    #[must_use]
    pub(crate) fn of_letters(letters: &[u8]) -> Option<ThreadState> {
        // No switch leads to `Running` or `Created`: if two states have the same letters, the later one is meant.
        let mut all = ThreadState::ALL.into_iter().rev();
        all.find(|state| state.letters().as_bytes() == letters)
    }

    /// Returns the letters that the kernel's tools print for the state.
    #[must_use]
    pub(crate) fn letters(self) -> &'static str {
        match self {
            ThreadState::Running | ThreadState::Runnable => "R",
            ThreadState::Preempted => "R+",
            ThreadState::Sleeping => "S",
            ThreadState::Uninterruptible => "D",
            ThreadState::Stopped => "T",
            ThreadState::Traced => "t",
            ThreadState::Zombie => "Z",
            ThreadState::Dead => "X",
            ThreadState::Parked => "P",
            ThreadState::Idle => "I",
            ThreadState::Created | ThreadState::Unknown => "?",
        }
    }

    /// Returns whether the thread has ended: nothing records how long it stays in such a state.
    #[must_use]
    pub(crate) fn is_over(self) -> bool {
        matches!(self, ThreadState::Zombie | ThreadState::Dead)
    }

    /// Returns whether the thread waits for a CPU.
    #[must_use]
    pub(crate) fn is_ready(self) -> bool {
        matches!(self, ThreadState::Runnable | ThreadState::Preempted)
    }

    /// Returns whether the thread waits for something else than a CPU: it runs again only after a wakeup.
    #[must_use]
    pub(crate) fn is_asleep(self) -> bool {
        matches!(
            self,
            ThreadState::Sleeping
                | ThreadState::Uninterruptible
                | ThreadState::Idle
                | ThreadState::Stopped
                | ThreadState::Traced
                | ThreadState::Parked
        )
    }

    /// Returns whether the thread runs next: it waits for a CPU, or is new.
    #[must_use]
    pub(crate) fn is_ready_or_new(self) -> bool {
        self.is_ready() || self == ThreadState::Created
    }
}
