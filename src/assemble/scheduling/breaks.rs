//! Breaks: where the switches of a CPU do not follow each other, although no loss is recorded there. A thread that waited
//! for this CPU may have run meanwhile.
//!
//! Many such recordings are filtered by threads (`record -P`): the kernel then records a switch if one of its two threads
//! was chosen. The idle thread cannot be chosen, and neither was a thread whose run begins or ends in a break. The other
//! thread of each of their switches was chosen: all its switches are recorded, and its waits are known. Of all other
//! threads any run may be missing, on any CPU.
//!
//! ```text
//! t60 -> t70      t70 was not chosen: t60 was
//!                 a break
//! t80 -> t60      t80 was not chosen: t60 was
//! ```
//!
//! The filter is assumed not to change while it records, except for threads that begin or end. If a switch contradicts the
//! filter, because none of its two threads was chosen, the recording was not filtered by threads. FXT has no such filter.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::losses::{Hole, meets};
use super::changes::SwitchRow;
use crate::trace::{CpuId, ThreadId};

/// Two successive switches of a CPU between which switches are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub cpu: CpuId,
    /// When switches are missing.
    pub hole: Hole,
    /// The thread that the first switch brought, and the time of that switch in ns.
    pub brought: (ThreadId, i64),
    /// The thread that the second switch takes off, and the time of that switch in ns.
    pub taken_off: (ThreadId, i64),
}

/// The breaks of a recording.
#[derive(Default)]
pub(super) struct Breaks {
    /// The holes of each CPU, in order of time.
    of_cpu: Vec<Vec<Hole>>,
    /// The chosen threads, if the recording was filtered by threads.
    chosen: Option<FxHashSet<ThreadId>>,
}

impl Breaks {
    /// `all` are the breaks, those of a CPU in order of time.
    pub(super) fn new(all: &[Break], cpu_count: usize) -> Breaks {
        let mut of_cpu = vec![Vec::new(); if all.is_empty() { 0 } else { cpu_count }];
        for found in all {
            if let Some(holes) = of_cpu.get_mut(found.cpu.0 as usize) {
                holes.push(found.hole);
            }
        }
        Breaks {
            of_cpu,
            chosen: None,
        }
    }

    /// Finds out whether the recording was filtered by threads. `switches` are all its switches.
    pub(super) fn with_filter<'a>(
        self,
        all: &[Break],
        switches: impl Iterator<Item = &'a SwitchRow> + Clone,
    ) -> Breaks {
        let chosen = match all.is_empty() {
            true => None,
            false => chosen(&left_out(all, switches.clone()), switches),
        };
        Breaks { chosen, ..self }
    }

    /// Returns whether the recording was filtered by threads.
    pub(super) fn are_of_a_filter(&self) -> bool {
        self.chosen.is_some()
    }

    /// Returns whether any run of a thread may be missing, because the recording was filtered by other threads.
    pub(super) fn leave_out(&self, thread: ThreadId) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_some_and(|chosen| !chosen.contains(&thread))
    }

    /// Returns whether a ready thread may have run on one of these CPUs between two times without a recorded switch.
    pub(super) fn may_hide_a_run(
        &self,
        thread: ThreadId,
        cpus: impl IntoIterator<Item = CpuId>,
        from: i64,
        until: i64,
    ) -> bool {
        let is_broken = |cpu: CpuId| {
            let holes = self.of_cpu.get(cpu.0 as usize);
            holes.is_some_and(|holes| meets(holes, from, until))
        };
        match self.chosen {
            Some(_) => self.leave_out(thread),
            None => cpus.into_iter().any(is_broken),
        }
    }
}

/// Returns the threads that a filter by threads left out, if there was one: those with a break at a switch. Without the threads
/// whose break is their last switch, or their first: a chosen thread may have ended, or begun, there.
fn left_out<'a>(
    all: &[Break],
    switches: impl Iterator<Item = &'a SwitchRow>,
) -> FxHashSet<ThreadId> {
    let ends = all.iter().flat_map(|it| [it.brought.0, it.taken_off.0]);
    let mut times: FxHashMap<ThreadId, Option<(i64, i64)>> = ends.map(|id| (id, None)).collect();
    for row in switches {
        for thread in [row.prev, row.next].into_iter().flatten() {
            if let Some(times) = times.get_mut(&thread) {
                let (first, last) = times.unwrap_or((row.time, row.time));
                *times = Some((first.min(row.time), last.max(row.time)));
            }
        }
    }
    let times = |thread: ThreadId| times.get(&thread).copied().flatten();
    let mut left_out = FxHashSet::default();
    for &Break {
        brought, taken_off, ..
    } in all
    {
        if times(brought.0).is_some_and(|(_, last)| last > brought.1) {
            left_out.insert(brought.0);
        }
        if times(taken_off.0).is_some_and(|(first, _)| first < taken_off.1) {
            left_out.insert(taken_off.0);
        }
    }
    left_out.remove(&ThreadId::IDLE);
    left_out
}

/// Returns the threads by which a recording was filtered; `None` if it was not. `left_out` are the threads that were left out
/// besides the idle thread.
fn chosen<'a>(
    left_out: &FxHashSet<ThreadId>,
    switches: impl Iterator<Item = &'a SwitchRow> + Clone,
) -> Option<FxHashSet<ThreadId>> {
    if left_out.is_empty() {
        return None;
    }
    let is_left_out = |thread| thread == ThreadId::IDLE || left_out.contains(&thread);
    let pairs = switches.filter_map(|row| row.prev.zip(row.next));
    let mut chosen = FxHashSet::default();
    for (prev, next) in pairs.clone() {
        match (is_left_out(prev), is_left_out(next)) {
            (true, true) => return None,
            (true, false) => _ = chosen.insert(next),
            (false, true) => _ = chosen.insert(prev),
            (false, false) => {}
        }
    }
    let mut pairs = pairs;
    let are_explained = pairs.all(|(prev, next)| chosen.contains(&prev) || chosen.contains(&next));
    are_explained.then_some(chosen)
}
