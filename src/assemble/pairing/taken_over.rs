//! The `execve` of a thread that does not lead its process: the kernel gives the thread its leader's number, so that the
//! call ends under another number than it began.
//!
//! ```text
//! 6607   sys_enter_execve                                              the slice ends there on this track
//! 6606                     sched_process_exec pid=6606 old_pid=6607  sys_exit_execve
//! ```
//!
//! None of the 18 trace.dat files of the corpus and the samples with `sched_process_exec` contains such a call.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::group::{Numbered, Pieces};
use super::super::people::TakenOver;
use super::super::track_number;
use super::calls::Calls;
use super::row::Row;

/// The ends of these calls, which are moved from the leader's track to the caller's.
#[derive(Default)]
pub(super) struct MovedEnds {
    /// Events whose marks leave their own track.
    taken: FxHashSet<u32>,
    /// By track: the ends that are moved to it.
    given: FxHashMap<u32, Vec<Row>>,
}

impl MovedEnds {
    /// Finds the end of each call. `tracks` are sorted by number; `rows_of` writes the marks of a track, in order.
    pub(super) fn new(
        taken_over: &[TakenOver],
        cpu_count: usize,
        calls: &Calls,
        tracks: &[Numbered<Pieces<'_, Row>>],
        rows_of: impl Fn(&Pieces<'_, Row>, &mut Vec<Row>),
    ) -> MovedEnds {
        let mut moved = MovedEnds::default();
        let mut rows = Vec::new();
        let mut of_track = None;
        // Sorted by leader, so that the marks of each are joined once.
        let mut taken_over = taken_over.to_vec();
        taken_over.sort_unstable_by_key(|it| (it.leader, it.time));
        for it in taken_over {
            let track = track_number::of_thread(it.leader, cpu_count);
            if of_track != Some(track) {
                let found = tracks.binary_search_by_key(&track, |of| of.number);
                let Some(of) = found.ok().and_then(|at| tracks.get(at)) else {
                    continue;
                };
                rows_of(&of.own, &mut rows);
                of_track = Some(track);
            }
            let first = rows.partition_point(|row| row.time < it.time.0);
            let ends = calls.exec_ends(rows.get(first..).unwrap_or(&[]));
            moved.taken.extend(ends.iter().map(|row| row.event));
            let caller = track_number::of_thread(it.caller, cpu_count);
            moved.given.entry(caller).or_default().extend(ends);
        }
        moved
    }

    /// Adds the ends that are moved to a track to the track's marks.
    pub(super) fn give(&self, track: u32, rows: &mut Vec<Row>) {
        if let Some(ends) = self.given.get(&track) {
            rows.extend(ends);
            rows.sort_by_key(|row| row.time);
        }
    }

    /// Removes the ends that are moved away from a track. Call it after the programs of the track were determined,
    /// because these ends show which program runs after them.
    pub(super) fn take(&self, track: u32, rows: &mut Vec<Row>) {
        if !self.taken.is_empty() && !self.given.contains_key(&track) {
            rows.retain(|row| !self.taken.contains(&row.event));
        }
    }
}
