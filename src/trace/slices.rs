//! Slices: durations on tracks, in columns of some 16 bytes per slice if most are short (see `packed`, `slice_ends`).
//!
//! They are sorted by (track, row, start). Slices of a row do not overlap, so both the starts and the ends of a row are
//! sorted. A track's rows are drawn one below the other.

use super::beside::Beside;
use super::overlap::contains;
use super::packed::Packed;
use super::segments::EventId;
use super::slice_ends::{EndColumns, EndExceptions, EndRow, Ends, Finishes};
use super::tracks::{Track, TrackId};
use crate::base::column::Column;
use crate::base::streaks::{Follows, Streaks};
use crate::base::{Maybe, Nanos, RowValues, StringId, TimeSpan, Timestamp, order};
use crate::event::SliceKind;
use crate::event::family::Family;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Row number of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SliceId(pub u32);

/// Row number of a name with its category.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LabelId(pub u32);

impl Follows for LabelId {
    #[inline]
    fn after(self, steps: u32) -> LabelId {
        LabelId(self.0.wrapping_add(steps))
    }
}

/// Name and category of slices; many slices share one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SliceLabel {
    /// The name.
    pub name: StringId,
    /// The category or system.
    pub category: StringId,
    /// The family: how the slice was made from events.
    pub family: Family,
    /// The kind of work that the slice represents.
    pub kind: SliceKind,
}

impl Follows for SliceLabel {
    #[inline]
    fn after(self, steps: u32) -> SliceLabel {
        SliceLabel {
            name: self.name.after(steps),
            ..self
        }
    }
}

/// The columns of all slices. Use [`Slices::get`] for one slice, the columns for iteration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Slices {
    /// First nanosecond.
    pub starts: Packed<i64>,
    /// Index of each slice's label in `labels`.
    pub label_ids: Packed<u32>,
    /// Row of the slice that it is nested in; use [`Slices::parent`].
    pub parents: Packed<Maybe<u32>>,
    /// The event that started the slice.
    pub begins: Packed<u32>,
    /// Ends; use [`Slices::end`].
    pub ends: Ends,
    /// End events; use [`Slices::finish`].
    pub finishes: Finishes,
    /// Rows whose end was not seen although [`Slices::end`] returns one (the end of the drawn slice), ascending.
    pub unended: Column<u32>,
    /// Rows of `unended` that certainly lasted until their drawn end, because an export cut them there; ascending.
    pub cut: Column<u32>,
    /// Measured durations in ns that are not the distance from the drawn start to the drawn end. Use
    /// [`Slices::measured`].
    pub measured: RowValues<i64>,
    /// Rows of `unended` that were still open at the end of their file, if several files share one axis; ascending.
    pub lasting: Column<u32>,
    /// The slices that take less than their time from the own time of the slice around them.
    pub(crate) beside: Beside,
    /// The labels.
    pub labels: Streaks<SliceLabel>,
    /// The rows, sorted by track; a track has its range of rows.
    pub rows: Vec<SliceRow>,
}

/// One row of a track.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceRow {
    /// The track that the row belongs to.
    pub track: TrackId,
    /// The row's index in the track; 0 is the topmost.
    pub row: u32,
    /// The row's slices.
    pub slices: Range<u32>,
}

/// One slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The slice's row number.
    pub id: SliceId,
    /// First nanosecond.
    pub start: Timestamp,
    /// First nanosecond after; `None` if its end was not seen.
    pub end: Option<Timestamp>,
    /// The duration that the recorder measured, in ns, if it is not the distance from start to end.
    pub measured_ns: Option<i64>,
    /// The slice's label.
    pub label: LabelId,
    /// The slice that it is nested in.
    pub parent: Option<SliceId>,
    /// The event that started the slice.
    pub begin: EventId,
    /// The event that ended the slice; `None` if it is unfinished or was recorded whole.
    pub finish: Option<EventId>,
}

impl Slice {
    /// Returns the duration that the recorder measured, else the distance from start to end; `None` if the end was not
    /// seen and nothing was measured.
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
    /// Number of slices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there is no slice.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns where the drawn slice ends: its end if it was seen, else the time that proves that it is over, else none
    /// (with several files on one axis: the end of its file). A duration is [`Slices::own_end`] minus the start. Panics
    /// if there is no such row.
    #[inline]
    #[must_use]
    pub fn end(&self, row: usize) -> Maybe<i64> {
        self.ends.get(row, self.starts.at(row))
    }

    /// Returns the first nanosecond after a slice; `None` if its end was not seen, also with several files. These ends
    /// are not sorted within a row. Panics if there is no such row.
    #[inline]
    #[must_use]
    pub(crate) fn own_end(&self, row: usize) -> Option<i64> {
        self.end(row).get().filter(|_| !self.is_unended(row))
    }

    /// Returns whether a slice's end was not seen. Panics if there is no such row.
    #[inline]
    #[must_use]
    pub(crate) fn is_unfinished(&self, row: usize) -> bool {
        self.own_end(row).is_none()
    }

    /// Returns the unfinished slices within `range` (slices of one row), in order, without reading the finished ones.
    pub(crate) fn unfinished_in(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        let from = self.unended.partition_point(|&it| it < range.start);
        let until = self.unended.partition_point(|&it| it < range.end).max(from);
        let listed = &self.unended[from..until];
        // A slice that never ends is the last one of its row.
        let last = range.clone().next_back();
        let last = last.filter(|&it| listed.last() != Some(&it) && self.end(it as usize).is_none());
        listed.iter().copied().chain(last)
    }

    /// Returns where the drawn slice ends; none if it was still open at the end of its file. Sorted within a row.
    /// Panics if there is no such row.
    #[inline]
    #[must_use]
    pub(crate) fn open_end(&self, row: usize) -> Maybe<i64> {
        match contains(&self.lasting, row) {
            true => Maybe::NONE,
            false => self.end(row),
        }
    }

    /// Returns whether a slice's end was not seen although [`Slices::end`] returns one.
    #[inline]
    #[must_use]
    pub(crate) fn is_unended(&self, row: usize) -> bool {
        contains(&self.unended, row)
    }

    /// Returns whether a slice certainly lasted to the end that is drawn, although no end was recorded there.
    #[inline]
    #[must_use]
    pub(crate) fn is_cut(&self, row: usize) -> bool {
        contains(&self.cut, row)
    }

    /// Marks slices as cut: they are unfinished, and certainly lasted as long as they are drawn. `rows` are ascending.
    pub(crate) fn mark_cut(&mut self, rows: Vec<u32>) {
        let unended = self.unended.to_mut();
        unended.extend_from_slice(&rows);
        unended.sort_unstable();
        unended.dedup();
        self.cut = rows.into();
    }

    /// Returns the measured duration of a slice in ns, if it is not the distance from its drawn start to its drawn end.
    #[inline]
    #[must_use]
    pub fn measured(&self, row: usize) -> Option<i64> {
        self.measured.get(row)
    }

    /// As [`Slices::measured`], without slices that an export cut: the file contains only a share of their duration.
    #[inline]
    #[must_use]
    pub(crate) fn own_measured(&self, row: usize) -> Option<i64> {
        self.measured(row).filter(|_| !self.is_cut(row))
    }

    /// Returns how much of a slice's duration belongs to `drawn` ns of the drawn slice `whole`, in ns. If the measured
    /// duration differs from the drawn one, a part gets the share of it that is drawn there.
    #[must_use]
    pub fn part_of_duration(&self, row: usize, whole: TimeSpan, drawn: i64) -> i64 {
        let all = whole.end.0.saturating_sub(whole.start.0);
        match self.measured(row) {
            None => drawn,
            Some(measured) if drawn == all => measured,
            Some(measured) => {
                let all = i128::from(all.max(1));
                (i128::from(measured) * i128::from(drawn) / all) as i64
            }
        }
    }

    /// Returns the same as [`Slice::duration`], for the slice with this row number. Panics if there is no such row.
    #[inline]
    #[must_use]
    pub(crate) fn duration(&self, row: usize) -> Option<Nanos> {
        match self.measured(row).filter(|_| !self.is_cut(row)) {
            Some(measured) => Some(Nanos(measured)),
            None => Some(Timestamp(self.own_end(row)?) - Timestamp(self.starts.at(row))),
        }
    }

    /// Returns the event that began a slice. Panics if there is no such row.
    #[inline]
    #[must_use]
    pub(crate) fn begin(&self, row: usize) -> EventId {
        EventId(self.begins.at(row))
    }

    /// Returns the event that ended a slice; `None` if it is unfinished or was recorded whole. Panics if there is no
    /// such row.
    #[inline]
    #[must_use]
    pub(crate) fn finish(&self, row: usize) -> Option<EventId> {
        let event = self.finishes.get(row, self.begins.at(row));
        event.get().map(EventId)
    }

    /// Returns the slice that a slice is nested in. Panics if there is no such row.
    #[inline]
    #[must_use]
    pub(crate) fn parent(&self, row: usize) -> Option<SliceId> {
        self.parents.at(row).get().map(SliceId)
    }

    /// Sets the starts, ends and their events of all slices.
    pub(crate) fn set_times(&mut self, rows: &[EndRow]) {
        let starts: Vec<i64> = rows.iter().map(|row| row.start).collect();
        let begins: Vec<u32> = rows.iter().map(|row| row.begin).collect();
        let (mut lengths, mut steps) = (vec![0; rows.len()], vec![0; rows.len()]);
        let mut columns = EndColumns {
            lengths: &mut lengths,
            steps: &mut steps,
        };
        let mut exceptions = EndExceptions::default();
        for (at, row) in rows.iter().enumerate() {
            columns.set(at, at as u32, *row, &mut exceptions);
        }
        self.ends = Ends::new(lengths, exceptions.long, &starts);
        self.finishes = Finishes::new(steps, exceptions.far, &begins);
        self.starts = Packed::new(&starts);
        self.begins = Packed::new(&begins);
    }

    /// Returns a slice. Panics if there is no such row.
    #[must_use]
    pub fn get(&self, id: SliceId) -> Slice {
        let i = id.0 as usize;
        Slice {
            id,
            start: Timestamp(self.starts.at(i)),
            end: self.own_end(i).map(Timestamp),
            measured_ns: self.own_measured(i),
            label: LabelId(self.label_ids.at(i)),
            parent: self.parent(i),
            begin: self.begin(i),
            finish: self.finish(i),
        }
    }

    /// Returns the label of a slice.
    #[must_use]
    pub fn label(&self, id: SliceId) -> SliceLabel {
        self.labels
            .get(self.label_ids.at(id.0 as usize) as usize)
            .unwrap_or_default()
    }

    /// Returns the innermost slice of a track at `time`; `rows` are the track's rows. A slice that starts at `time`
    /// counts, a slice that ends at `time` does not. If slices overlap without being nested, the one that started last
    /// is returned.
    #[must_use]
    pub(crate) fn innermost(&self, rows: &Range<u32>, time: Timestamp) -> Option<SliceId> {
        self.rows[rows.start as usize..rows.end as usize]
            .iter()
            .filter_map(|row| {
                let slices = row.slices.start as usize..row.slices.end as usize;
                // The last slice that starts at or before `time`; of slices that start at once, the one that is not
                // empty.
                let after = self.starts.partition_point(slices, |start| start <= time.0);
                let index = row.slices.start + after.checked_sub(1)? as u32;
                (self.end(index as usize) > time.0).then_some(SliceId(index))
            })
            .max_by_key(|id| (self.starts.at(id.0 as usize), id.0))
    }

    /// Returns the first slice of these rows that starts at `time` or later; of several that start at once, the outermost.
    #[must_use]
    pub(crate) fn next_from(&self, rows: &Range<u32>, time: Timestamp) -> Option<SliceId> {
        let rows = self.rows.get(rows.start as usize..rows.end as usize)?;
        let firsts = rows.iter().filter_map(|row| {
            let slices = row.slices.start as usize..row.slices.end as usize;
            let before = self.starts.partition_point(slices, |start| start < time.0);
            let index = row.slices.start + before as u32;
            (index < row.slices.end).then_some(SliceId(index))
        });
        firsts.min_by_key(|id| self.starts.at(id.0 as usize))
    }

    /// Returns how many slices a slice is nested in.
    #[must_use]
    pub fn depth(&self, id: SliceId) -> u32 {
        let mut depth = 0;
        let mut at = self.parent(id.0 as usize);
        while let Some(around) = at {
            depth += 1;
            at = self.parent(around.0 as usize);
        }
        depth
    }

    /// Returns the depth of every slice, as [`Slices::depth`] does; faster for many slices, as each parent is read
    /// once.
    #[must_use]
    pub(crate) fn depths(&self) -> Vec<u32> {
        let mut depths: Vec<Maybe<u32>> = vec![Maybe::NONE; self.len()];
        let mut path: Vec<u32> = Vec::new();
        for row in 0..self.len() as u32 {
            let mut at = Some(SliceId(row));
            // Follow the parents to a slice whose depth is known, or to the outermost slice. No path is longer than the
            // table.
            let mut depth = loop {
                let Some(SliceId(slice)) = at else { break 0 };
                match depths[slice as usize].get() {
                    None if path.len() <= self.len() => {
                        path.push(slice);
                        at = self.parent(slice as usize);
                    }
                    known => break known.unwrap_or(0).saturating_add(1),
                }
            };
            while let Some(inner) = path.pop() {
                depths[inner as usize] = Maybe::new(depth);
                depth = depth.saturating_add(1);
            }
        }
        let known = depths.into_iter().map(|depth| depth.get().unwrap_or(0));
        known.collect()
    }

    /// Returns the row that contains a slice.
    #[must_use]
    pub fn row_of(&self, id: SliceId) -> &SliceRow {
        let after = self.rows.partition_point(|row| row.slices.start <= id.0);
        &self.rows[after - 1]
    }

    /// Returns the slices of `row` that overlap `span` (including slices of length 0 that start in it).
    #[must_use]
    pub(crate) fn overlapping(&self, row: &SliceRow, span: TimeSpan) -> Range<u32> {
        let (from, until) = (row.slices.start as usize, row.slices.end as usize);
        // A slice that ends where the span starts is outside, unless it has no length and starts there.
        let first = self.first_that(row, |i| {
            self.starts.at(i) >= span.start.0 || self.end(i) > span.start.0
        }) as usize;
        let is_before = |start| start < span.end.0;
        let last = from + self.starts.partition_point(from..until, is_before);
        first as u32..(last.max(first)) as u32
    }

    /// Returns the rows of a track, the topmost first; no row if the trace has none of its rows.
    #[must_use]
    pub(crate) fn rows_of(&self, track: &Track) -> &[SliceRow] {
        let rows = track.rows.start as usize..track.rows.end as usize;
        self.rows.get(rows).unwrap_or(&[])
    }

    /// Finds the slices that lie beside others, when all slices are in the table.
    pub(crate) fn find_beside(&mut self) {
        self.beside = Beside::of(self);
    }

    /// Returns how much of `ns`, the time of a slice in `span` of it, it takes from the own time of the slice around it:
    /// the time in which no earlier slice lies beside it, and the slice around it lasts. Panics if there is no such slice.
    #[inline]
    #[must_use]
    pub(crate) fn taken(&self, row: usize, ns: i64, span: TimeSpan) -> i64 {
        match self.beside.alone(row) {
            None => ns,
            Some(alone) => self.taken_of(row, ns, span, alone),
        }
    }

    #[cold]
    fn taken_of(&self, row: usize, ns: i64, span: TimeSpan, alone: TimeSpan) -> i64 {
        let start = Timestamp(self.starts.at(row)).max(span.start);
        let end = match self.is_unfinished(row) {
            // It certainly lasted for this time.
            true => start + Nanos(ns.max(0)),
            false => Timestamp(self.end(row).or_greatest()).min(span.end),
        };
        let part = (alone.end.min(end) - alone.start.max(start)).0.max(0);
        let whole = (end - start).0;
        match whole > 0 {
            true => (i128::from(ns) * i128::from(part) / i128::from(whole)) as i64,
            false => 0,
        }
    }

    /// Returns the first slice of `row` for which `is_it` is true, else the row's end. `is_it` must be true for all
    /// slices after that one.
    #[must_use]
    pub(crate) fn first_that(&self, row: &SliceRow, is_it: impl Fn(usize) -> bool) -> u32 {
        let rows = row.slices.start as usize..row.slices.end as usize;
        order::first_not(rows, |slice| !is_it(slice)) as u32
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let rows = self.rows.capacity() * size_of::<SliceRow>();
        self.starts.memory_bytes()
            + self.ends.memory_bytes()
            + self.label_ids.memory_bytes()
            + self.parents.memory_bytes()
            + self.begins.memory_bytes()
            + self.finishes.memory_bytes()
            + self.labels.memory_bytes()
            + self.beside.memory_bytes()
            + self.unended.memory_bytes()
            + self.cut.memory_bytes()
            + self.lasting.memory_bytes()
            + self.measured.memory_bytes()
            + rows as u64
    }
}
