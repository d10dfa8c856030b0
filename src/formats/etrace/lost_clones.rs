//! Forks behind lost events: a clone call whose own fork was lost says nothing about the next one.
//!
//! ```text
//! SysClone|flags=CLONE_THREAD     CPU:n [LOST 45 EVENTS]     SchedFork|pid=..      may be that of a vfork
//! ```
//!
//! A task says nothing between its clone call and the fork, so the two are one if no hole lies between them on the
//! CPUs that they were written on. Else how the child was made is not known.

use crate::base::{Diagnostics, Severity, Timestamp};
use crate::event::{ForkSort, Gap, KindId, LaneColumns, Life, ThreadKey};

/// How many events back a fork's clone call is looked for.
const MOST_BACK: usize = 1 << 14;

/// What is known of a fork's clone call.
struct CloneCall {
    /// When it was; the earliest time that was looked at, if it was not found.
    time: Timestamp,
    cpu: Option<u32>,
}

/// Holes by CPU, sorted by time; those of one CPU do not overlap.
struct Holes(Vec<(Option<u32>, Timestamp, Timestamp)>);

impl Holes {
    fn of(parts: &[&mut LaneColumns]) -> Holes {
        let hole = |gap: &Gap| (gap.cpu, gap.start, gap.end);
        let gaps = parts.iter().flat_map(|part| &part.gaps);
        let mut all: Vec<_> = gaps.map(hole).collect();
        all.sort_unstable();
        Holes(all)
    }

    fn has(&self, cpu: Option<u32>, from: Timestamp, to: Timestamp) -> bool {
        let behind = (self.0).partition_point(|hole| (hole.0, hole.1) < (cpu, to));
        let before = behind.checked_sub(1).and_then(|at| self.0.get(at));
        before.is_some_and(|hole| hole.0 == cpu && hole.2 > from)
    }
}

/// Looks at the forks in the parts from `first` on, which hold etrace's lines; all parts tell of holes.
pub fn doubt_forks(parts: &mut [&mut LaneColumns], first: usize, clone: KindId) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if parts.iter().all(|part| part.gaps.is_empty()) {
        return diagnostics;
    }
    let holes = Holes::of(parts);
    let mut doubtful: Vec<(usize, usize)> = Vec::new();
    for (number, part) in parts.iter().enumerate().skip(first) {
        for (index, row) in part.lives.iter().enumerate() {
            let Life::Fork { parent, sort, .. } = row.life else {
                continue;
            };
            if sort == ForkSort::Unknown {
                continue;
            }
            let fork = (part.events.time(row.event), part.events.cpu(row.event));
            let call = clone_before(parts, first, (number, row.event), parent, clone);
            if [fork.1, call.cpu, None]
                .iter()
                .any(|&cpu| holes.has(cpu, call.time, fork.0))
            {
                doubtful.push((number, index));
            }
        }
    }
    for &(number, index) in &doubtful {
        let part = parts.get_mut(number);
        if let Some(Life::Fork { sort, .. }) =
            part.and_then(|part| Some(&mut part.lives.get_mut(index)?.life))
        {
            *sort = ForkSort::Unknown;
        }
    }
    let count = doubtful.len() as u64;
    if count > 0 {
        diagnostics.note_many("clone_before_lost", Severity::Info, None, count, || {
            "events were lost between a clone call and the fork behind it: they need not belong together, and how \
             the child was made is not known"
                .to_owned()
        });
    }
    diagnostics
}

/// The latest clone call of `parent` before the event `at` (part, index).
fn clone_before(
    parts: &[&mut LaneColumns],
    first: usize,
    at: (usize, u32),
    parent: ThreadKey,
    clone: KindId,
) -> CloneCall {
    let mut left = MOST_BACK;
    let mut earliest = None;
    for number in (first..=at.0).rev() {
        let Some(events) = parts.get(number).map(|part| &part.events) else {
            break;
        };
        let end = if number == at.0 {
            at.1 as usize
        } else {
            events.len()
        };
        for index in (end.saturating_sub(left)..end).rev() {
            let index = index as u32;
            if events.kind(index) == clone && events.thread(index) == parent {
                return CloneCall {
                    time: events.time(index),
                    cpu: events.cpu(index),
                };
            }
        }
        let start = end.saturating_sub(left);
        if end > 0 {
            earliest = Some(events.time(start as u32));
        }
        left = left.saturating_sub(end);
        if left == 0 {
            break;
        }
    }
    CloneCall {
        time: earliest.unwrap_or(Timestamp::MIN),
        cpu: None,
    }
}
