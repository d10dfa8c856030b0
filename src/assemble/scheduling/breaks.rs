//! Breaks: where the switches of a CPU do not follow each other, although no loss is recorded there. A thread that waited
//! for this CPU may have run meanwhile.
//!
//! Such recordings are mostly filtered by threads (`record -P`): a switch is then recorded if one of its two threads was
//! chosen. A thread whose run begins or ends in a break was not chosen. So each other thread of its recorded switches was:
//! all switches of that thread are there, and its waits are known also over breaks. If two threads that were not chosen
//! share a recorded switch, the recording was not filtered by threads, and nothing is known of any thread.
//!
//! ```text
//! t60 -> t70      t60 was chosen
//!                 a break: t70 was not chosen, and neither was t80
//! t80 -> t50      t50 was chosen: it did not run in the break
//! ```

use rustc_hash::FxHashSet;

use super::super::losses::{Hole, meets};
use super::changes::SwitchRow;
use crate::trace::{CpuId, ThreadId};

/// Two successive switches of a CPU between which switches are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub cpu: CpuId,
    /// When they are missing.
    pub hole: Hole,
    /// The thread that the first switch brought.
    pub brought: ThreadId,
    /// The thread that the second takes off.
    pub taken_off: ThreadId,
}

/// The breaks of a recording.
#[derive(Default)]
pub(super) struct Breaks {
    /// The holes of each CPU, in order of time.
    of_cpu: Vec<Vec<Hole>>,
    /// The threads all of whose switches are recorded.
    whole: FxHashSet<ThreadId>,
}

impl Breaks {
    /// `all` are the breaks, those of a CPU in order of time; `switches` all switches of the recording.
    pub(super) fn new<'a>(
        all: &[Break],
        cpu_count: usize,
        switches: impl Iterator<Item = &'a SwitchRow>,
    ) -> Breaks {
        if all.is_empty() {
            return Breaks::default();
        }
        let mut of_cpu = vec![Vec::new(); cpu_count];
        for found in all {
            if let Some(holes) = of_cpu.get_mut(found.cpu.0 as usize) {
                holes.push(found.hole);
            }
        }
        let threads = all.iter().flat_map(|it| [it.brought, it.taken_off]);
        Breaks {
            of_cpu,
            whole: chosen(&threads.collect(), switches).unwrap_or_default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_cpu.is_empty()
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
        !self.is_empty() && !self.whole.contains(&thread) && cpus.into_iter().any(is_broken)
    }
}

/// Returns the threads by which a recording was filtered, as far as its switches show them; `left_out` are threads of which
/// switches are missing. `None` if it was not filtered by threads.
fn chosen<'a>(
    left_out: &FxHashSet<ThreadId>,
    switches: impl Iterator<Item = &'a SwitchRow>,
) -> Option<FxHashSet<ThreadId>> {
    let mut chosen = FxHashSet::default();
    for (prev, next) in switches.filter_map(|row| row.prev.zip(row.next)) {
        match (left_out.contains(&prev), left_out.contains(&next)) {
            (true, true) => return None,
            (true, false) => _ = chosen.insert(next),
            (false, true) => _ = chosen.insert(prev),
            (false, false) => {}
        }
    }
    Some(chosen)
}
