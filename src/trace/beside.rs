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

use serde::{Deserialize, Serialize};

use super::slices::{SliceId, SliceRow, Slices};
use crate::base::column::Column;
use crate::base::{Maybe, RowValues, TimeSpan, Timestamp};
use crate::event::SliceKind;

/// Those slices, and the children that are not in the row below their parents'.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// By slice, the first and the last moment at which it alone covers the slice around it, in ns.
    partly: RowValues<[i64; 2]>,
    /// [parent, child], sorted.
    far: Column<[u32; 2]>,
}

/// Those that were found so far, in the order of tracks.
#[derive(Default)]
struct Found {
    partly: Vec<(u32, [i64; 2])>,
    far: Vec<[u32; 2]>,
}

impl Beside {
    /// Finds them.
    pub(crate) fn of(slices: &Slices) -> Beside {
        let mut found = Found::default();
        let mut rows = slices.rows.as_slice();
        while let Some(first) = rows.first() {
            let count = rows.partition_point(|row| row.track <= first.track);
            let (track, rest) = rows.split_at(count);
            in_track(slices, track, &mut found);
            rows = rest;
        }
        found.partly.sort_unstable_by_key(|it| it.0);
        found.far.sort_unstable();
        Beside {
            partly: found.partly.into_iter().collect(),
            far: found.far.into(),
        }
    }

    /// Returns the span in which a slice alone covers the slice around it, if that is not its whole time.
    #[inline]
    pub(super) fn alone(&self, slice: usize) -> Option<TimeSpan> {
        let [start, end] = self.partly.get(slice)?;
        Some(TimeSpan {
            start: Timestamp(start),
            end: Timestamp(end),
        })
    }

    /// Returns the children of a slice that are not in the row below it.
    pub(crate) fn far_children(&self, parent: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.far.partition_point(|[of, _]| *of < parent);
        let far = self.far.iter().skip(first);
        let far = far.take_while(move |[of, _]| *of == parent);
        far.map(|[_, child]| *child)
    }

    /// Returns whether each child is in the row below its parent.
    pub(crate) fn has_no_far_children(&self) -> bool {
        self.far.is_empty()
    }

    /// Allocated heap memory in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.partly.memory_bytes() + self.far.memory_bytes()
    }
}

/// Finds those of a track's rows.
fn in_track(slices: &Slices, rows: &[SliceRow], found: &mut Found) {
    // Slices of one row do not overlap, and mostly all slices inside a slice are in the row below, and end with it. So only
    // slices that have others in several rows, or that others outlive, are of interest.
    let first = rows.first().map_or(0, |row| row.slices.start);
    let count = rows.last().map_or(0, |row| row.slices.end) - first;
    let mut wide = Wide {
        first,
        is_wide: vec![false; count as usize],
        is_any: false,
    };
    let end = |slice: u32| slices.end(slice as usize).or_greatest();
    let above = std::iter::once(0..0).chain(rows.iter().map(|row| row.slices.clone()));
    for (row, above) in rows.iter().zip(above) {
        let mut end_of = slices.ends.in_order(row.slices.start);
        // Neighbours are mostly in the same slice.
        let mut last = (Maybe::NONE, i64::MAX);
        for it in inside(slices, row) {
            let Some(parent) = it.parent.get() else {
                continue;
            };
            if it.parent != last.0 {
                last = (it.parent, end(parent));
            }
            let is_far = !above.contains(&parent);
            found.far.extend(is_far.then_some([parent, it.slice]));
            if is_far || end_of(it.slice, it.start).or_greatest() > last.1 {
                wide.add(parent);
            }
        }
    }
    if !wide.is_any {
        return;
    }
    // By parent, then start.
    let mut all: Vec<(u32, i64, u32)> = Vec::new();
    for it in rows.iter().flat_map(|row| inside(slices, row)) {
        if let Some(parent) = it.parent.get().filter(|&parent| wide.has(parent))
            // Calls of functions follow each other: those that are drawn to cross were measured more exactly than the times
            // of their events.
            && slices.label(SliceId(it.slice)).kind != SliceKind::Functions
        {
            all.push((parent, it.start, it.slice));
        }
    }
    // Stable, because the slices of each row are already in order.
    all.sort();
    for of_parent in all.chunk_by(|a, b| a.0 == b.0) {
        let mut covered = i64::MIN;
        let end_of_parent = of_parent.first().map_or(i64::MAX, |it| end(it.0));
        for &(_, start, slice) in of_parent {
            let end = end(slice);
            let alone = [start.max(covered), end.min(end_of_parent)];
            if alone != [start, end] {
                found.partly.push((slice, alone));
            }
            covered = covered.max(end);
        }
    }
}

/// A slice that may be inside of another one.
struct Inner {
    slice: u32,
    start: i64,
    parent: Maybe<u32>,
}

/// Returns the slices of a row, in order. Most slices need neither the label nor the measured duration that
/// [`Slices::walk`] reads.
fn inside<'a>(slices: &'a Slices, row: &SliceRow) -> impl Iterator<Item = Inner> + 'a {
    let own = row.slices.start as usize..row.slices.end as usize;
    let columns = (slices.starts.range(own.clone())).zip(slices.parents.range(own));
    let rows = row.slices.clone().zip(columns);
    rows.map(|(slice, (start, parent))| Inner {
        slice,
        start,
        parent,
    })
}

/// The slices of a track with others in several rows, or that others outlive.
struct Wide {
    /// The track's first slice.
    first: u32,
    is_wide: Vec<bool>,
    is_any: bool,
}

impl Wide {
    fn add(&mut self, slice: u32) {
        let at = slice.checked_sub(self.first);
        if let Some(entry) = at.and_then(|at| self.is_wide.get_mut(at as usize)) {
            *entry = true;
            self.is_any = true;
        }
    }

    fn has(&self, slice: u32) -> bool {
        let at = slice.checked_sub(self.first);
        at.and_then(|at| self.is_wide.get(at as usize)) == Some(&true)
    }
}
