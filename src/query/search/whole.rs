//! Threads, processes and tracks that were found by their names or numbers, and everything on them: the window dims
//! everything else.

use rayon::prelude::*;

use super::bit_set::BitSet;
use crate::query::Item;
use crate::trace::{ThreadId, Trace, TrackId, TrackKind};

/// The found threads, processes and tracks, and what belongs to them.
#[derive(Debug, Default)]
pub struct WholeMarks {
    /// By `ThreadId`: including the threads of found processes.
    threads: BitSet,
    /// By `TrackId`: including the tracks of found threads and processes.
    tracks: BitSet,
    /// By `RunId`: the runs of found threads.
    runs: BitSet,
}

impl WholeMarks {
    /// Returns the marks of the threads, processes and tracks among `items`, which were found by their names.
    pub(super) fn of(trace: &Trace, items: impl Iterator<Item = Item> + Clone) -> WholeMarks {
        let items = || items.clone();
        let is_any =
            items().any(|item| matches!(item, Item::Process(_) | Item::Thread(_) | Item::Track(_)));
        if !is_any {
            return WholeMarks::default();
        }
        let processes = BitSet::new(trace.processes.len());
        let threads = BitSet::new(trace.threads.len());
        let tracks = BitSet::new(trace.tracks.len());
        for item in items() {
            match item {
                Item::Process(id) => processes.set(id.0),
                Item::Thread(id) => threads.set(id.0),
                Item::Track(id) => tracks.set(id.0),
                _ => {}
            }
        }
        for (thread, id) in trace.threads.iter().zip(0..) {
            if thread
                .process
                .is_some_and(|process| processes.has(process.0))
            {
                threads.set(id);
            }
        }
        for (track, id) in trace.tracks.iter().zip(0..) {
            let is_in = match track.kind {
                TrackKind::Thread(thread) => threads.has(thread.0),
                TrackKind::Async(Some(process)) => processes.has(process.0),
                TrackKind::Async(None) | TrackKind::Cpu(_) | TrackKind::Nobody => false,
            };
            if is_in {
                tracks.set(id);
            }
        }
        let runs = BitSet::new(trace.runs.len());
        let of_runs = trace.runs.threads.par_iter().enumerate();
        of_runs.for_each(|(row, &thread)| {
            if threads.has(thread) {
                runs.set(row as u32);
            }
        });
        WholeMarks {
            threads,
            tracks,
            runs,
        }
    }

    /// Returns whether everything that a thread does was found.
    #[must_use]
    pub(crate) fn has_thread(&self, id: ThreadId) -> bool {
        self.threads.has(id.0)
    }

    /// Returns whether everything on a track was found.
    #[must_use]
    pub(crate) fn has_track(&self, id: TrackId) -> bool {
        self.tracks.has(id.0)
    }

    /// Returns whether one of the runs `first..first + count` belongs to a found thread.
    #[must_use]
    pub(crate) fn has_any_run(&self, first: u32, count: u32) -> bool {
        self.runs.has_any(first, count)
    }
}
