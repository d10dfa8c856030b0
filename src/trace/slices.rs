//! Slices: durations on tracks, as columns of some 16 bytes each where most are short (see `packed`, `slice_ends`).
//!
//! They lie sorted by (track, row, start); a row holds no two slices that overlap, so both the starts and
//! the ends of a row are sorted. A track's rows are what is drawn one below the other.

use super::events::EventId;
use super::packed::Packed;
use super::slice_ends::{EndColumns, EndExceptions, Ends, Finishes};
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
    pub starts: Packed<i64>,
    /// Rows of `labels`.
    pub label_ids: Packed<u32>,
    /// The slice around it, `u32::MAX` if none.
    pub parents: Packed<u32>,
    /// The event that began it.
    pub begins: Packed<u32>,
    /// When they end: ask [`Slices::end`].
    pub ends: Ends,
    /// Which events ended them: ask [`Slices::finish`].
    pub finishes: Finishes,
    /// Where several files are on one axis: those that never ended, in order. Their end is that of their file.
    pub unended: Vec<u32>,
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

    /// First nanosecond after a slice; `i64::MAX` if it never ended (of several files on one axis: the end of
    /// its file). Panics if there is no such row, as slices do.
    #[inline]
    #[must_use]
    pub fn end(&self, row: usize) -> i64 {
        self.ends.get(row, self.starts.at(row))
    }

    /// First nanosecond after a slice; `i64::MAX` if it never ended, in whichever file. Panics if there is no such row,
    /// as slices do.
    #[inline]
    #[must_use]
    pub fn own_end(&self, row: usize) -> i64 {
        match self.is_unended(row) {
            true => i64::MAX,
            false => self.end(row),
        }
    }

    /// Whether a slice never ended and has the end of its file, as there are several on one axis.
    #[inline]
    fn is_unended(&self, row: usize) -> bool {
        !self.unended.is_empty() && self.unended.binary_search(&(row as u32)).is_ok()
    }

    /// The event that ended a slice, `u32::MAX` if none (unfinished, or arrived whole). Panics if there is no such
    /// row, as slices do.
    #[inline]
    #[must_use]
    pub fn finish(&self, row: usize) -> u32 {
        self.finishes.get(row, self.begins.at(row))
    }

    /// Sets the columns of all slices: when each starts and what began it, when it ends and what ended it.
    pub fn set_times(&mut self, starts: Vec<(i64, u32)>, ends: &[(i64, u32)]) {
        let (starts, begins): (Vec<i64>, Vec<u32>) = starts.into_iter().unzip();
        let (mut lengths, mut steps) = (vec![0; ends.len()], vec![0; ends.len()]);
        let mut columns = EndColumns {
            lengths: &mut lengths,
            steps: &mut steps,
        };
        let mut exceptions = EndExceptions::default();
        let known = ends.iter().zip(starts.iter().zip(&begins));
        for (row, (&(end, finish), (&start, &begin))) in known.enumerate() {
            let place = (row, row as u32);
            columns.set(place, (start, end), (begin, finish), &mut exceptions);
        }
        self.ends = Ends::new(lengths, exceptions.long, &starts);
        self.finishes = Finishes::new(steps, exceptions.far, &begins);
        self.starts = Packed::new(&starts);
        self.begins = Packed::new(&begins);
    }

    /// One slice. Panics if there is no such row, as slices do.
    #[must_use]
    pub fn get(&self, id: SliceId) -> Slice {
        let i = id.0 as usize;
        let some = |value: u32| (value != u32::MAX).then_some(value);
        Slice {
            id,
            start: Timestamp(self.starts.at(i)),
            end: Some(self.own_end(i))
                .filter(|&end| end != i64::MAX)
                .map(Timestamp),
            label: LabelId(self.label_ids.at(i)),
            parent: some(self.parents.at(i)).map(SliceId),
            begin: EventId(self.begins.at(i)),
            finish: some(self.finish(i)).map(EventId),
        }
    }

    /// What a slice is called.
    #[must_use]
    pub fn label(&self, id: SliceId) -> SliceLabel {
        self.labels
            .get(self.label_ids.at(id.0 as usize) as usize)
            .copied()
            .unwrap_or_default()
    }

    /// How many slices are around it, to the outermost.
    #[must_use]
    pub fn depth(&self, id: SliceId) -> u32 {
        let mut depth = 0;
        let mut at = self.parents.at(id.0 as usize);
        while at != u32::MAX {
            depth += 1;
            at = self.parents.at(at as usize);
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
        let first = self.first_that(row, |i| {
            self.starts.at(i) >= span.start.0 || self.end(i) > span.start.0
        }) as usize;
        let is_before = |start| start < span.end.0;
        let last = from + self.starts.partition_point(from..until, is_before);
        first as u32..(last.max(first)) as u32
    }

    /// The same, where what never ended lasts on behind the end of its file.
    #[must_use]
    pub fn overlapping_on(&self, row: &SliceRow, span: TimeSpan) -> Range<u32> {
        let found = self.overlapping(row, span);
        match row.slices.clone().next_back() {
            // Nothing of its row comes after it.
            Some(last)
                if found.is_empty()
                    && self.is_unended(last as usize)
                    && self.starts.at(last as usize) < span.start.0 =>
            {
                last..row.slices.end
            }
            _ => found,
        }
    }

    /// The first slice of `row` that `is_it`, as all that come after it are; else the row's end.
    #[must_use]
    pub fn first_that(&self, row: &SliceRow, is_it: impl Fn(usize) -> bool) -> u32 {
        let (mut low, mut high) = (row.slices.start, row.slices.end);
        while low < high {
            let middle = low.midpoint(high);
            if is_it(middle as usize) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.starts.memory_bytes()
            + self.ends.memory_bytes()
            + self.label_ids.memory_bytes()
            + self.parents.memory_bytes()
            + self.begins.memory_bytes()
            + self.finishes.memory_bytes()
            + self.unended.capacity() * 4
            + self.labels.capacity() * size_of::<SliceLabel>()
            + self.rows.capacity() * size_of::<SliceRow>()) as u64
    }
}
