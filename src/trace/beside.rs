//! Slices that take less than their whole time from the own time of the slice around them: those that lie beside an earlier
//! slice inside it for a while, and those that outlive it.
//!
//! ```text
//! a      |====================|        own time of a: what none of the others covers
//! b        |=======|
//! c             |=======|              alone from the end of b on
//! d                         |=====|    inside of a until the end of a
//! ```
//!
//! Slices that cross others and asynchronous slices are like that. Earlier slices start before a slice does, so they cover
//! its start, if any part of it.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::slices::{SliceId, SliceRow, Slices};
use crate::base::{TimeSpan, Timestamp};
use crate::event::SliceKind;

/// Those slices, and the children that are not in the row below their parents'.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// Sorted by slice.
    partly: Vec<Partly>,
    /// (parent, child), sorted.
    far: Vec<(u32, u32)>,
}

/// A slice, and the span in which it alone covers the slice around it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Partly {
    slice: u32,
    alone: TimeSpan,
}

impl Beside {
    /// Finds them.
    pub(crate) fn of(slices: &Slices) -> Beside {
        let mut found = Beside::default();
        let mut rows = slices.rows.as_slice();
        while let Some(first) = rows.first() {
            let count = rows.partition_point(|row| row.track <= first.track);
            let (track, rest) = rows.split_at(count);
            in_track(slices, track, &mut found);
            rows = rest;
        }
        found.partly.sort_unstable_by_key(|it| it.slice);
        found.far.sort_unstable();
        found
    }

    /// Returns the span in which a slice alone covers the slice around it, if that is not its whole time.
    #[inline]
    pub(super) fn alone(&self, slice: usize) -> Option<TimeSpan> {
        if self.partly.is_empty() {
            return None;
        }
        let found = (self.partly).binary_search_by_key(&(slice as u32), |it| it.slice);
        let found = found.ok().and_then(|at| self.partly.get(at));
        found.map(|it| it.alone)
    }

    /// Returns the children of a slice that are not in the row below it.
    pub(crate) fn far_children(&self, parent: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.far.partition_point(|(of, _)| *of < parent);
        let far = self.far.iter().skip(first);
        let far = far.take_while(move |(of, _)| *of == parent);
        far.map(|(_, child)| *child)
    }

    /// Returns whether each child is in the row below its parent.
    pub(crate) fn has_no_far_children(&self) -> bool {
        self.far.is_empty()
    }

    /// Allocated heap memory in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let partly = self.partly.capacity() * size_of::<Partly>();
        (partly + self.far.capacity() * size_of::<(u32, u32)>()) as u64
    }
}

/// Finds those of a track's rows.
fn in_track(slices: &Slices, rows: &[SliceRow], found: &mut Beside) {
    // Slices of one row do not overlap, and mostly all slices inside a slice are in the row below, and end with it. So only
    // slices that have others in several rows, or that others outlive, are of interest.
    let mut wide = FxHashSet::default();
    let end = |slice: u32| slices.end(slice as usize).or_greatest();
    let above = std::iter::once(0..0).chain(rows.iter().map(|row| row.slices.clone()));
    for (row, above) in rows.iter().zip(above) {
        let own = row.slices.start as usize..row.slices.end as usize;
        for (slice, parent) in row.slices.clone().zip(slices.parents.range(own)) {
            let Some(parent) = parent.get() else {
                continue;
            };
            let is_far = !above.contains(&parent);
            found.far.extend(is_far.then_some((parent, slice)));
            if is_far || end(slice) > end(parent) {
                wide.insert(parent);
            }
        }
    }
    if wide.is_empty() {
        return;
    }
    let mut inside: FxHashMap<u32, Vec<(i64, u32)>> = FxHashMap::default();
    for slice in rows.iter().flat_map(|row| row.slices.clone()) {
        if let Some(parent) = slices.parent(slice as usize)
            && wide.contains(&parent.0)
            // Calls of functions follow each other: those that are drawn to cross were measured more exactly than the times
            // of their events.
            && slices.label(SliceId(slice)).kind != SliceKind::Functions
        {
            let of_parent = inside.entry(parent.0).or_default();
            of_parent.push((slices.starts.at(slice as usize), slice));
        }
    }
    for (parent, mut of_parent) in inside {
        of_parent.sort_unstable();
        let mut covered = i64::MIN;
        for (start, slice) in of_parent {
            let whole = TimeSpan {
                start: Timestamp(start),
                end: Timestamp(end(slice)),
            };
            let alone = TimeSpan {
                start: Timestamp(start.max(covered)),
                end: Timestamp(end(slice).min(end(parent))),
            };
            if alone != whole {
                found.partly.push(Partly { slice, alone });
            }
            covered = covered.max(end(slice));
        }
    }
}
