//! Slices: durations on tracks, as columns of some 16 bytes each where most are short (see `packed`, `slice_ends`).
//!
//! They lie sorted by (track, row, start); a row holds no two slices that overlap, so both the starts and
//! the ends of a row are sorted. A track's rows are what is drawn one below the other.

use super::events::EventId;
use super::packed::Packed;
use super::slice_ends::{EndColumns, EndExceptions, Ends, Finishes};
use super::tracks::TrackId;
use crate::base::{Nanos, StringId, TimeSpan, Timestamp};
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
    /// Rows whose end was not seen although [`Slices::end`] has one, ascending: it is where they are drawn up to.
    pub unended: Vec<u32>,
    /// Slices whose measured duration is not the distance from their drawn start to their drawn end: (row, ns), sorted.
    /// Ask [`Slices::measured`].
    pub measured: Vec<(u32, i64)>,
    /// Those of `unended` that were still open at the end of their file, where several files share one axis; ascending.
    pub lasting: Vec<u32>,
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
    /// First nanosecond after; `None` if its end was not seen.
    pub end: Option<Timestamp>,
    /// The duration that the recorder measured, in ns, where that is not the distance from start to end.
    pub measured_ns: Option<i64>,
    /// What it is called.
    pub label: LabelId,
    /// The slice around it.
    pub parent: Option<SliceId>,
    /// The event that began it.
    pub begin: EventId,
    /// The event that ended it.
    pub finish: Option<EventId>,
}

impl Slice {
    /// The duration: measured by the recorder, else from start to end. `None` if the slice never ended.
    #[must_use]
    pub fn duration(&self) -> Option<Nanos> {
        match (self.measured_ns, self.end) {
            (Some(measured), _) => Some(Nanos(measured)),
            (None, Some(end)) => Some(end - self.start),
            (None, None) => None,
        }
    }
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

    /// Where a slice is drawn up to: its end if that was seen, else the time that proves it over, else `i64::MAX`
    /// (with several files on one axis: the end of its file). A duration is [`Slices::own_end`] minus the start.
    /// Panics if there is no such row, as slices do.
    #[inline]
    #[must_use]
    pub fn end(&self, row: usize) -> i64 {
        self.ends.get(row, self.starts.at(row))
    }

    /// First nanosecond after a slice; `i64::MAX` if its end was not seen, in whichever file. Ends of a row are not
    /// sorted. Panics if there is no such row, as slices do.
    #[inline]
    #[must_use]
    pub fn own_end(&self, row: usize) -> i64 {
        match self.is_unended(row) {
            true => i64::MAX,
            false => self.end(row),
        }
    }

    /// Whether a slice's end was not seen. Panics if there is no such row, as slices do.
    #[inline]
    #[must_use]
    pub fn is_unfinished(&self, row: usize) -> bool {
        self.own_end(row) == i64::MAX
    }

    /// The unfinished slices among those of a row, in order; those that ended are not looked at.
    pub fn unfinished_in(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        let from = self.unended.partition_point(|&it| it < range.start);
        let until = self.unended.partition_point(|&it| it < range.end).max(from);
        let listed = &self.unended[from..until];
        // Nothing of a row comes after what never ends.
        let last = range.clone().next_back();
        let last =
            last.filter(|&it| listed.last() != Some(&it) && self.end(it as usize) == i64::MAX);
        listed.iter().copied().chain(last)
    }

    /// Where a slice is drawn up to; `i64::MAX` if it was still open at the end of its file. Ends of a row are sorted.
    /// Panics if there is no such row, as slices do.
    #[inline]
    #[must_use]
    pub fn open_end(&self, row: usize) -> i64 {
        match contains(&self.lasting, row) {
            true => i64::MAX,
            false => self.end(row),
        }
    }

    /// Whether a slice's end was not seen although [`Slices::end`] has one.
    #[inline]
    #[must_use]
    pub fn is_unended(&self, row: usize) -> bool {
        contains(&self.unended, row)
    }

    /// The measured duration of a slice in ns, where that is not the distance from its drawn start to its drawn end.
    #[inline]
    #[must_use]
    pub fn measured(&self, row: usize) -> Option<i64> {
        if self.measured.is_empty() {
            return None;
        }
        let row = row as u32;
        let found = self.measured.binary_search_by_key(&row, |entry| entry.0);
        self.measured.get(found.ok()?).map(|entry| entry.1)
    }

    /// How much of a slice's duration lies in a part of it, in ns. Where the measured duration is not what is drawn, a
    /// part has the share of it that is drawn there.
    #[must_use]
    pub fn part_of_duration(&self, row: usize, whole: (i64, i64), part: (i64, i64)) -> i64 {
        let drawn = part.1.saturating_sub(part.0).max(0);
        match self.measured(row) {
            None => drawn,
            Some(measured) if part == whole => measured,
            Some(measured) => {
                let all = i128::from(whole.1.saturating_sub(whole.0).max(1));
                (i128::from(measured) * i128::from(drawn) / all) as i64
            }
        }
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
            measured_ns: self.measured(i),
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

    /// The depth of every slice, as [`Slices::depth`] returns it: for walks over many, each parent is looked at once.
    #[must_use]
    pub fn depths(&self) -> Vec<u32> {
        const UNKNOWN: u32 = u32::MAX;
        let mut depths = vec![UNKNOWN; self.len()];
        let mut path: Vec<u32> = Vec::new();
        for row in 0..self.len() {
            let mut at = row as u32;
            // Up to a slice whose depth is known, or to the outermost one.
            let mut depth = loop {
                match depths.get(at as usize) {
                    Some(&UNKNOWN) if path.len() <= self.len() => {
                        path.push(at);
                        at = self.parents.at(at as usize);
                    }
                    Some(&known) => break known.saturating_add(1),
                    None => break 0,
                }
            };
            while let Some(inner) = path.pop() {
                depths[inner as usize] = depth;
                depth = depth.saturating_add(1);
            }
        }
        depths
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
                    && contains(&self.lasting, last as usize)
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
            + (self.unended.capacity() + self.lasting.capacity()) * 4
            + self.measured.capacity() * 16
            + self.labels.capacity() * size_of::<SliceLabel>()
            + self.rows.capacity() * size_of::<SliceRow>()) as u64
    }
}

/// Whether an ascending list of rows contains `row`.
#[inline]
fn contains(rows: &[u32], row: usize) -> bool {
    !rows.is_empty() && rows.binary_search(&(row as u32)).is_ok()
}
