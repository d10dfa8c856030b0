//! Two lines that form one call, with lost events between them: they may be halves of two calls.
//!
//! ```text
//! SysClone|flags=CLONE_THREAD     CPU:n [LOST 45 EVENTS]     SchedFork|pid=..      may belong to a vfork
//! RenameFrom|.. RF|a              CPU:n [LOST 4 EVENTS]      RenameTo|.. RT|d      may belong to another file
//! ```
//!
//! A task writes nothing else between the two lines, so they form one call if no gap is between them on the CPUs on
//! which they were written. Otherwise it is unknown how the child was created, and no rename or link is assumed.

use super::calls::remove_at;
use super::kinds::Kinds;
use super::sorts::Sort;
use crate::base::{Diagnostics, Location, Severity, Timestamp};
use crate::event::{FileOp, ForkSort, Gap, KindId, LaneColumns, Life, ThreadKey};

/// How many events back the first half of a call is searched.
const MOST_BACK: usize = 1 << 14;
/// Minimum number of lines between halves of two calls: the failure of the first, the start of the second, and its
/// text.
const LEAST_BETWEEN_HALVES: u64 = 3;

/// What was found of the first half of a call.
struct FirstHalf {
    /// Its time; if it was not found, the earliest time that was searched.
    time: Timestamp,
    cpu: Option<u32>,
}

/// Gaps by CPU, sorted by time, with counts of lost events; gaps of one CPU do not overlap.
struct Holes(Vec<(Option<u32>, Timestamp, Timestamp, u64)>);

impl Holes {
    fn of(parts: &[&mut LaneColumns]) -> Holes {
        let hole = |gap: &Gap| {
            let lost = gap.lost.unwrap_or(u64::MAX);
            (gap.cpu, gap.start, gap.end, lost)
        };
        let gaps = parts.iter().flat_map(|part| &part.gaps);
        let mut all: Vec<_> = gaps.map(hole).collect();
        all.sort_unstable();
        Holes(all)
    }

    /// Returns how many events `cpu` lost between two times. An upper bound: gaps that overlap the range count in full.
    fn lost(&self, cpu: Option<u32>, from: Timestamp, to: Timestamp) -> u64 {
        let behind = (self.0).partition_point(|hole| (hole.0, hole.1) < (cpu, to));
        let before = self.0.get(..behind).unwrap_or(&[]).iter().rev();
        before
            .take_while(|hole| hole.0 == cpu && hole.2 > from)
            .fold(0, |sum, hole| sum.saturating_add(hole.3))
    }

    /// Returns how many events were lost between the halves of a call.
    fn between(&self, first: &FirstHalf, second: (Timestamp, Option<u32>)) -> u64 {
        let mut cpus = vec![None, first.cpu, second.1];
        cpus.dedup();
        let lost = cpus.iter().map(|&cpu| self.lost(cpu, first.time, second.0));
        lost.fold(0, u64::saturating_add)
    }
}

/// Checks the forks in the parts from number `first` on, which contain etrace lines; gaps are taken from all parts.
pub(crate) fn doubt_forks(
    parts: &mut [&mut LaneColumns],
    first: usize,
    clone: KindId,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    // Without gaps no two halves are doubtful: skip the searches.
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
            let call = first_half(parts, first, (number, row.event), parent, &[clone]);
            if holes.between(&call, fork) > 0 {
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

/// Removes the renames and links, in the parts from number `first` on, whose halves may not belong together. `kind`
/// maps a kind of [`Kinds`] to its number in the parts, `location` a place to the location of the event.
pub(crate) fn doubt_renames(
    parts: &mut [&mut LaneColumns],
    first: usize,
    kind: &dyn Fn(KindId) -> KindId,
    location: &dyn Fn(u64) -> Option<Location>,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if parts.iter().all(|part| part.gaps.is_empty()) {
        return diagnostics;
    }
    let holes = Holes::of(parts);
    let kinds = |sorts: [Sort; 2]| sorts.map(|sort| kind(Kinds::of_sort(sort)));
    let renames = kinds([Sort::RenameFrom, Sort::Rename2From]);
    let links = kinds([Sort::LinkFrom, Sort::LinkatFrom]);
    for number in first..parts.len() {
        let Some(part) = parts.get(number) else {
            break;
        };
        let mut doubtful: Vec<u32> = Vec::new();
        for (index, row) in (0_u32..).zip(&part.files) {
            let starts = match row.op {
                FileOp::Rename => &renames,
                FileOp::Link => &links,
                _ => continue,
            };
            let events = &part.events;
            let second = (events.time(row.event), events.cpu(row.event));
            let by = events.thread(row.event);
            let from = first_half(parts, first, (number, row.event), by, starts);
            if holes.between(&from, second) >= LEAST_BETWEEN_HALVES {
                doubtful.push(index);
                let place = location(events.place(row.event));
                diagnostics.note_many("rename_over_lost", Severity::Error, place, 1, || {
                    "events were lost between the line that says from where and this one, which says to where: they \
                     need not belong together, so it is no use of a file"
                        .to_owned()
                });
            }
        }
        if let Some(part) = parts.get_mut(number) {
            remove_at(&mut part.files, &doubtful);
        }
    }
    diagnostics
}

/// Finds the latest event of thread `by` with one of `kinds` before the event `at` (part, index).
fn first_half(
    parts: &[&mut LaneColumns],
    first: usize,
    at: (usize, u32),
    by: ThreadKey,
    kinds: &[KindId],
) -> FirstHalf {
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
            if kinds.contains(&events.kind(index)) && events.thread(index) == by {
                return FirstHalf {
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
    FirstHalf {
        time: earliest.unwrap_or(Timestamp::MIN),
        cpu: None,
    }
}
