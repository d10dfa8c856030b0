//! The threads that may get states from the events of other threads.
//!
//! trace_processor gives a thread a state when another thread wakes or creates it, and the state never ends if the thread
//! has no context switches in the file: so the events that start the states of threads that are not chosen are
//! not written as messages of Perfetto's own.

use rustc_hash::FxHashSet;

use super::sources::{KernelSources, Machine};
use crate::query::selection::Chosen;
use crate::trace::{ThreadId, Trace};

/// The threads whose states are chosen.
pub(super) struct Subjects {
    /// Machine and number of each thread; `None`: all threads.
    known: Option<FxHashSet<(u32, u64)>>,
}

impl Subjects {
    /// Finds the kernel's threads whose states are chosen.
    pub(super) fn new(trace: &Trace, chosen: &Chosen<'_>, sources: &KernelSources<'_>) -> Subjects {
        if !chosen.is_narrowed() {
            return Subjects { known: None };
        }
        let ids = (0..trace.threads.len() as u32).map(ThreadId);
        let own = ids.filter(|&id| chosen.has_states_of(id)).filter_map(|id| {
            let Machine(machine) = sources.of_thread(id)?;
            Some((machine, trace.thread(id).tid))
        });
        Subjects {
            known: Some(own.collect()),
        }
    }

    /// Returns whether the states of the thread with this number are chosen.
    #[inline]
    pub(super) fn has(&self, Machine(machine): Machine, tid: u64) -> bool {
        let known = self.known.as_ref();
        known.is_none_or(|known| known.contains(&(machine, tid)))
    }
}
