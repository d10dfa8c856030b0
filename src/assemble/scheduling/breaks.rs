//! Breaks: where the switches of a CPU do not follow each other, although no loss is recorded there. A thread that waited
//! for this CPU may have run meanwhile.
//!
//! Many such recordings are filtered by threads (`record -P`): the kernel then records a switch if one of its two threads
//! was chosen. The idle thread cannot be chosen, and a thread whose run begins or ends in a break was not. The other thread
//! of each of their switches was chosen: all its switches are recorded, and its waits are known. Of all other threads any
//! run may be missing, on any CPU.
//!
//! ```text
//! t60 -> t70      t70 was not chosen: t60 was
//!                 a break
//! t80 -> t60      t80 was not chosen: t60 was
//! ```
//!
//! A break at the begin or the end of a thread's life proves nothing: kernels choose children after their fork, and
//! give up a thread before its last switch. They also give up a number when its thread ends, so that a thread which goes on
//! under that number (`execve` by another thread than the leader) was chosen for a part of its time only: its breaks prove
//! nothing, and its waits are not known. A recording was not filtered by threads if more than a few breaks are of
//! threads that share switches with the idle thread, if many switches have no chosen thread, or if only one or two
//! breaks suggest a filter. FXT has no such filter.
//!
//! Of the 77 ftrace recordings with switches of the corpus and the samples (67 trace.dat files, 10 texts), 5 have
//! switches that do not follow each other outside of losses, at 1 to 6 places each.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::losses::{Hole, meets};
use super::changes::SwitchRow;
use super::threads::Threads;
use crate::trace::{CpuId, Thread, ThreadId};

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

/// The threads by which a recording was filtered.
pub(super) struct Filter {
    chosen: FxHashSet<ThreadId>,
}

/// The breaks of a recording.
#[derive(Default)]
pub(super) struct Breaks {
    /// The holes of each CPU, in order of time.
    of_cpu: Vec<Vec<Hole>>,
    /// The filter that explains them, if there was one.
    filter: Option<Filter>,
}

impl Breaks {
    /// `all` are the breaks, those of a CPU in order of time.
    pub(super) fn new(all: &[Break], cpu_count: usize, filter: Option<Filter>) -> Breaks {
        let mut of_cpu = vec![Vec::new(); if all.is_empty() { 0 } else { cpu_count }];
        for found in all {
            if let Some(holes) = of_cpu.get_mut(found.cpu.0 as usize) {
                holes.push(found.hole);
            }
        }
        Breaks { of_cpu, filter }
    }

    /// Returns the threads by which the recording was filtered.
    pub(super) fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// Returns whether any run of a thread may be missing, because the recording was filtered by other threads.
    pub(super) fn leave_out(&self, thread: ThreadId) -> bool {
        let filter = self.filter.as_ref();
        filter.is_some_and(|filter| !filter.has_chosen(thread))
    }

    /// Returns whether a thread may have run on one of these CPUs between two times without a recorded switch.
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
        match self.filter {
            Some(_) => self.leave_out(thread),
            None => cpus.into_iter().any(is_broken),
        }
    }
}

/// A filter explains at least this many breaks.
const LEAST_EXPLAINED: usize = 3;
/// At most one break in this many may be at a thread that was chosen.
const MOST_ODD: usize = 8;

impl Filter {
    /// Returns the filter that explains all breaks; `None` if there was none. `switches` are all switches of the recording.
    pub(super) fn of<'a>(
        all: &[Break],
        switches: impl Iterator<Item = &'a SwitchRow> + Clone,
        threads: Threads<'_>,
    ) -> Option<Filter> {
        if all.is_empty() {
            return None;
        }
        let pairs = switches.clone().filter_map(|row| row.prev.zip(row.next));
        let mut chosen = FxHashSet::default();
        for (prev, next) in pairs.clone() {
            match (prev == ThreadId::IDLE, next == ThreadId::IDLE) {
                (true, false) => _ = chosen.insert(next),
                (false, true) => _ = chosen.insert(prev),
                _ => {}
            }
        }
        let renumbered = threads.taken_over.iter();
        let renumbered: FxHashSet<ThreadId> =
            renumbered.flat_map(|it| [it.caller, it.leader]).collect();
        let lives = Lives::new(all, switches, threads.all);
        // With the number of breaks that prove it.
        let mut left_out: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let (mut explained, mut odd) = (0, 0);
        for found in all {
            let mut proven = lives.left_out_by(found);
            proven.retain(|thread| !renumbered.contains(thread));
            let is_odd = proven.iter().any(|thread| chosen.contains(thread));
            odd += usize::from(is_odd);
            explained += usize::from(!is_odd && !proven.is_empty());
            for thread in proven.into_iter().filter(|it| !chosen.contains(it)) {
                *left_out.entry(thread).or_default() += 1;
            }
        }
        // Most recordings with breaks have no filter: their switches need not be read twice more.
        if explained < LEAST_EXPLAINED || odd * MOST_ODD > explained {
            return None;
        }
        odd += without_contradictions(&mut left_out, pairs.clone());
        for (prev, next) in pairs.clone() {
            match (left_out.contains_key(&prev), left_out.contains_key(&next)) {
                (true, true) => odd += 1,
                (true, false) if next != ThreadId::IDLE => _ = chosen.insert(next),
                (false, true) if prev != ThreadId::IDLE => _ = chosen.insert(prev),
                _ => {}
            }
        }
        let (mut count, mut unexplained) = (0, 0);
        for (prev, next) in pairs {
            count += 1;
            let is_explained = chosen.contains(&prev) || chosen.contains(&next);
            unexplained += usize::from(!is_explained);
        }
        let is_filter = odd * MOST_ODD <= explained && unexplained * 4 <= count;
        chosen.retain(|thread| !renumbered.contains(thread));
        is_filter.then_some(Filter { chosen })
    }

    pub(super) fn has_chosen(&self, thread: ThreadId) -> bool {
        self.chosen.contains(&thread)
    }
}

/// Removes threads that share more switches with other threads of `left_out` than they have breaks: the filter would have
/// left out these switches, so such a thread was chosen, at least for most of its time. Returns the number of its breaks.
fn without_contradictions(
    left_out: &mut FxHashMap<ThreadId, usize>,
    pairs: impl Iterator<Item = (ThreadId, ThreadId)>,
) -> usize {
    let mut shared: FxHashMap<ThreadId, FxHashMap<ThreadId, usize>> = FxHashMap::default();
    let is_left_out = |thread: &ThreadId| left_out.contains_key(thread);
    for (prev, next) in pairs.filter(|(prev, next)| is_left_out(prev) && is_left_out(next)) {
        for (own, other) in [(prev, next), (next, prev)] {
            *shared.entry(own).or_default().entry(other).or_default() += 1;
        }
    }
    let sums = shared
        .iter()
        .map(|(thread, with)| (*thread, with.values().sum()));
    let mut switches: FxHashMap<ThreadId, usize> = sums.collect();
    let mut order: Vec<(usize, ThreadId)> = switches
        .iter()
        .map(|(thread, count)| (count.saturating_sub(left_out[thread]), *thread))
        .collect();
    // The greatest contradiction first: without that thread, there may be none at the others.
    order.sort_unstable_by_key(|&(excess, thread)| (std::cmp::Reverse(excess), thread));
    let mut odd = 0;
    for (_, thread) in order {
        let breaks = left_out[&thread];
        if switches[&thread] <= breaks {
            continue;
        }
        left_out.remove(&thread);
        odd += breaks;
        for (other, count) in &shared[&thread] {
            if let Some(sum) = switches.get_mut(other) {
                *sum = sum.saturating_sub(*count);
            }
        }
    }
    odd
}

/// The first and last switch of each thread with a break, and what is recorded of its life.
struct Lives<'a> {
    times: FxHashMap<ThreadId, (i64, i64)>,
    threads: &'a [Thread],
    /// Whether the recording has begins and ends of threads.
    has_begins: bool,
    has_ends: bool,
}

impl<'a> Lives<'a> {
    fn new<'b>(
        all: &[Break],
        switches: impl Iterator<Item = &'b SwitchRow>,
        threads: &'a [Thread],
    ) -> Lives<'a> {
        let ends = all.iter().flat_map(|it| [it.brought.0, it.taken_off.0]);
        let mut times: FxHashMap<ThreadId, (i64, i64)> =
            ends.map(|id| (id, (i64::MAX, i64::MIN))).collect();
        for row in switches {
            for thread in [row.prev, row.next].into_iter().flatten() {
                if let Some((first, last)) = times.get_mut(&thread) {
                    (*first, *last) = (row.time.min(*first), row.time.max(*last));
                }
            }
        }
        Lives {
            times,
            threads,
            has_begins: threads.iter().any(|thread| thread.start.is_some()),
            has_ends: threads.iter().any(|thread| thread.end.is_some()),
        }
    }

    /// Returns the threads that a filter left out if it explains a break.
    fn left_out_by(&self, found: &Break) -> Vec<ThreadId> {
        let Break {
            brought: (brought, since),
            taken_off: (taken_off, until),
            ..
        } = *found;
        let times = |thread| self.times.get(&thread).copied().unwrap_or_default();
        let life = |thread: ThreadId| self.threads.get(thread.0 as usize);
        let ends_here = match life(brought).and_then(|thread| thread.end) {
            Some(end) => end.0 <= until,
            None => !self.has_ends && times(brought).1 <= since,
        };
        let begins_here = match life(taken_off).and_then(|thread| thread.start) {
            Some(start) => start.0 >= since,
            None => !self.has_begins && times(taken_off).0 >= until,
        };
        let both = [(brought, ends_here), (taken_off, begins_here)];
        let proven = both.into_iter();
        let proven = proven.filter(|&(thread, is_unsure)| thread != ThreadId::IDLE && !is_unsure);
        proven.map(|(thread, _)| thread).collect()
    }
}
