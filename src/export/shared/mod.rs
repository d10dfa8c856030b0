//! Code that is shared by file formats that number threads, flows and asynchronous operations: numbers of processes and
//! threads (`koids`, `numbers`), marks of arrows (`flow_marks`), ids of asynchronous slices (`async_ids`) and names of
//! their tracks (`async_groups`), names of counters, losses, threads that items refer to
//! (`met`), where items are cut (`borders`, `crossing`), the arguments of events, and how pieces are encoded on all cores
//! (`pieces`).

pub(super) mod arguments;
pub(crate) mod async_groups;
pub(crate) mod async_ids;
pub(crate) mod borders;
pub(crate) mod counter_names;
pub(crate) mod crossing;
pub(crate) mod flow_marks;
pub(crate) mod koids;
pub(crate) mod layers;
pub(crate) mod lone_flows;
pub(crate) mod losses;
pub(crate) mod met;
pub(crate) mod numbers;
pub(crate) mod pieces;

use crate::trace::{ThreadId, TrackKind};

/// What ran when an event of a CPU track was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Thread(ThreadId),
    Idle,
    /// The recording does not say what.
    Unknown,
}

impl Interrupted {
    /// Returns what an event of a track interrupted, if `thread` recorded it; `None` for tracks that are not of a CPU.
    pub(crate) fn of(kind: TrackKind, thread: Option<ThreadId>) -> Option<Interrupted> {
        let is_on_cpu = matches!(kind, TrackKind::Cpu(_));
        is_on_cpu.then_some(match thread {
            Some(ThreadId::IDLE) => Interrupted::Idle,
            Some(thread) => Interrupted::Thread(thread),
            None => Interrupted::Unknown,
        })
    }
}

/// A thread in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ThreadKoids {
    /// The koid of its process.
    pub process: u64,
    /// Its own koid.
    pub thread: u64,
}

impl ThreadKoids {
    /// Returns the koids of a process itself. Readers expect the main thread to have the koid of the process.
    #[must_use]
    pub(crate) const fn of_process(koid: u64) -> ThreadKoids {
        ThreadKoids {
            process: koid,
            thread: koid,
        }
    }

    /// Returns another thread of the same process.
    #[must_use]
    pub(crate) fn with_thread(self, thread: u64) -> ThreadKoids {
        ThreadKoids { thread, ..self }
    }
}
