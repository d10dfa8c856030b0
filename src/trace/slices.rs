//! Slices: durations on tracks, as columns, 32 bytes each.
//!
//! They lie sorted by (track, row, start); a row holds no two slices that overlap, so both the starts and
//! the ends of a row are sorted. A track's rows are what is drawn one below the other.

use super::events::EventId;
use super::tracks::TrackId;
use crate::base::{StringId, TimeSpan, Timestamp};
use std::ops::Range;

/// Row number of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceId(pub u32);

/// Row number of a name with its category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// What slices are called: many share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SliceLabel {
    /// The name.
    pub name: StringId,
    /// The category or system.
    pub category: StringId,
    /// The row of `event::pairs::FAMILIES` that it came by.
    pub family: u8,
}

/// The columns. Use [`Slices::get`] for one slice, the columns for walks.
#[derive(Clone, Debug, Default)]
pub struct Slices {
    /// First nanosecond.
    pub starts: Vec<i64>,
    /// First nanosecond after; `i64::MAX` if it never ended.
    pub ends: Vec<i64>,
    /// Rows of `labels`.
    pub label_ids: Vec<u32>,
    /// The slice around it, `u32::MAX` if none.
    pub parents: Vec<u32>,
    /// The event that began it.
    pub begins: Vec<u32>,
    /// The event that ended it, `u32::MAX` if none (unfinished, or arrived whole).
    pub finishes: Vec<u32>,
    /// Names.
    pub labels: Vec<SliceLabel>,
    /// The rows, sorted by track; a track names its range of them.
    pub rows: Vec<SliceRow>,
}

/// One row of a track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceRow {
    /// Whose.
    pub track: TrackId,
    /// Which: 0 is the topmost.
    pub row: u32,
    /// Its slices.
    pub slices: Range<u32>,
}

/// One slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its row number.
    pub id: SliceId,
    /// First nanosecond.
    pub start: Timestamp,
    /// First nanosecond after; `None` if it never ended.
    pub end: Option<Timestamp>,
    /// What it is called.
    pub label: LabelId,
    /// The slice around it.
    pub parent: Option<SliceId>,
    /// The event that began it.
    pub begin: EventId,
    /// The event that ended it.
    pub finish: Option<EventId>,
}

impl Slices {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// One slice. Panics if there is no such row, as slices do.
    #[must_use]
    pub fn get(&self, id: SliceId) -> Slice {
        let i = id.0 as usize;
        let some = |value: u32| (value != u32::MAX).then_some(value);
        Slice {
            id,
            start: Timestamp(self.starts[i]),
            end: (self.ends[i] != i64::MAX).then(|| Timestamp(self.ends[i])),
            label: LabelId(self.label_ids[i]),
            parent: some(self.parents[i]).map(SliceId),
            begin: EventId(self.begins[i]),
            finish: some(self.finishes[i]).map(EventId),
        }
    }

    /// What a slice is called.
    #[must_use]
    pub fn label(&self, id: SliceId) -> SliceLabel {
        self.labels
            .get(self.label_ids[id.0 as usize] as usize)
            .copied()
            .unwrap_or_default()
    }

    /// How many slices are around it, to the outermost.
    #[must_use]
    pub fn depth(&self, id: SliceId) -> u32 {
        let mut depth = 0;
        let mut at = self.parents[id.0 as usize];
        while at != u32::MAX {
            depth += 1;
            at = self.parents[at as usize];
        }
        depth
    }

    /// The row that a slice lies in.
    #[must_use]
    pub fn row_of(&self, id: SliceId) -> &SliceRow {
        let after = self.rows.partition_point(|row| row.slices.start <= id.0);
        &self.rows[after - 1]
    }

    /// The slices of `row` that overlap `span` (those of no length that start in it, too).
    #[must_use]
    pub fn overlapping(&self, row: &SliceRow, span: TimeSpan) -> Range<u32> {
        let (from, until) = (row.slices.start as usize, row.slices.end as usize);
        // A slice that ends where the span starts is outside, unless it has no length and starts there.
        let is_before = |i: usize| self.ends[i] <= span.start.0 && self.starts[i] < span.start.0;
        let (mut low, mut high) = (from, until);
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let first = low;
        let last = from + self.starts[from..until].partition_point(|&start| start < span.end.0);
        first as u32..(last.max(first)) as u32
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.starts.capacity() * 8
            + self.ends.capacity() * 8
            + self.label_ids.capacity() * 4
            + self.parents.capacity() * 4
            + self.begins.capacity() * 4
            + self.finishes.capacity() * 4
            + self.labels.capacity() * size_of::<SliceLabel>()
            + self.rows.capacity() * size_of::<SliceRow>()) as u64
    }
}
