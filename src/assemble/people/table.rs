//! Threads and processes, their births, execs and exits, in the form that stages pass on.

use rustc_hash::FxHashMap;

use crate::base::{StringId, Timestamp};
use crate::event::ProcessKey;
use crate::trace::{EventId, Process, ProcessId, Thread, ThreadId};

/// Maps the reader's process keys to processes.
pub(crate) type ProcessOfKey = FxHashMap<ProcessKey, ProcessId>;

/// All threads and processes of the trace.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// Threads; the first is the idle task.
    pub threads: Vec<Thread>,
    /// Processes.
    pub processes: Vec<Process>,
    /// Maps the reader's process keys to processes.
    pub process_of_key: ProcessOfKey,
}

impl People {
    /// Returns the process of a thread.
    pub(crate) fn process_of(&self, thread: ThreadId) -> Option<ProcessId> {
        self.threads.get(thread.0 as usize)?.process
    }

    /// Returns the process of a thread; the idle thread's if the thread is unknown.
    pub(crate) fn process_of_or_idle(&self, thread: Option<ThreadId>) -> Option<ProcessId> {
        self.process_of(thread.unwrap_or(ThreadId::IDLE))
    }

    /// Returns the row of a process.
    pub(crate) fn process(&self, id: ProcessId) -> Option<&Process> {
        self.processes.get(id.0 as usize)
    }
}

/// An exec or exit, with the trace's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    /// Time, ns on the trace's clock.
    pub time: Timestamp,
    /// The thread that executes a program or exits.
    pub thread: ThreadId,
    /// The event.
    pub event: EventId,
    /// The program of an exec; `None` for an exit.
    pub program: Option<StringId>,
}

/// A thread that took its leader's place by `execve`: after it, the leader's number is the thread's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenOver {
    /// Time of the exec, ns on the trace's clock.
    pub time: Timestamp,
    /// The thread that called `execve`.
    pub caller: ThreadId,
    /// The thread whose number it has from then on.
    pub leader: ThreadId,
}

/// A fork, with the trace's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Born {
    /// Time, ns on the trace's clock.
    pub time: Timestamp,
    /// The thread that forked, if it is known.
    pub parent: Option<ThreadId>,
    /// The new thread.
    pub child: ThreadId,
    /// Whether the file states that the child is a thread of its parent's process.
    pub is_thread: bool,
    /// The event that records the fork.
    pub event: EventId,
}
