//! Rows of slices as items: the start of a slice, and its end if that is an event of its own.

use super::forms::Form;
use super::item::{
    Item, ItemTime, LAST_ORDER, SliceAt, SliceFacts, What, order_of, order_of_end,
    order_of_inner_end, order_of_whole, order_of_whole_in,
};
use super::items::Items;
use super::lanes::Stretch;
use crate::base::Timestamp;
use crate::trace::{SliceId, TrackId};

/// A row of slices, and the properties of the row that its items need.
pub(crate) struct SliceLane {
    /// The index of its first slice.
    pub first: usize,
    /// The number of rows of its track above it.
    pub depth: u32,
    /// Its track.
    pub track: u32,
    /// How its slices are written.
    pub form: Form,
}

impl Items<'_> {
    /// Returns a row of slices, and how they are written.
    pub(super) fn slice_lane(&self, row: u32, form: Form) -> SliceLane {
        let number = row;
        let row = &self.trace.slices.rows[row as usize];
        SliceLane {
            first: row.slices.start as usize,
            depth: number - self.trace.tracks[row.track.0 as usize].rows.start,
            track: row.track.0,
            form,
        }
    }

    /// Returns a filter for the chosen slices of a track, by their indices.
    pub(super) fn chooses_slices(&self, track: u32) -> impl Fn(&usize) -> bool + Copy + '_ {
        let (is_narrowed, track) = (self.chosen.is_narrowed(), TrackId(track));
        move |index: &usize| !is_narrowed || self.chosen.has_slice(track, *index)
    }

    pub(super) fn gather_slices(
        &self,
        row: u32,
        form: Form,
        stretch: &Stretch,
        list: &mut Vec<Item>,
    ) {
        let lane = self.slice_lane(row, form);
        let is_chosen = self.chooses_slices(lane.track);
        for index in stretch.starts_from(lane.first).filter(is_chosen) {
            list.push(self.start_item(&lane, &SliceAt::of(self.trace, index)));
        }
        if form == Form::Whole {
            return;
        }
        for index in stretch.ends_from(lane.first).filter(is_chosen) {
            let slice = SliceAt::of(self.trace, index);
            if self.has_own_end(&slice, form) {
                list.push(self.end_item(&lane, &slice));
            }
        }
    }

    /// Returns the item of a slice at its start.
    #[inline]
    pub(super) fn start_item(&self, lane: &SliceLane, slice: &SliceAt) -> Item {
        let facts = &slice.facts;
        let what = match lane.form {
            Form::Async => What::AsyncBegin,
            form if self.begins.is_whole_as(self.trace, slice, form) => What::Whole,
            // A slice that never ended is cut at the range's end, or at the end of its file.
            Form::Whole if self.cut_of_open(slice).is_some() => What::Whole,
            _ if self.ends_with_its_file(slice) => What::Whole,
            _ => What::Begin,
        };
        let order = match (what, lane.form) {
            (What::Whole, Form::AsCame) if self.is_nested_as_read() && facts.finish.is_none() => {
                order_of(facts.begin)
            }
            (What::Whole, Form::AsCame) => {
                order_of_whole_in(self.trace, &self.begins, slice.row, lane.depth)
            }
            (What::Whole, _) | (_, Form::Whole) => order_of_whole(lane.depth),
            _ => order_of(facts.begin),
        };
        let at = ItemTime {
            time: slice.start,
            order,
        };
        Item::of_slice(what, at, *slice, lane.track)
    }

    /// Returns the item of a slice's end, for an end with an event of its own.
    #[inline]
    pub(super) fn end_item(&self, lane: &SliceLane, slice: &SliceAt) -> Item {
        let what = match lane.form {
            Form::Async => What::AsyncEnd,
            _ => What::End,
        };
        // Among kept records, ends are read with the order that they had in the file.
        let order = match (self.kept, lane.form) {
            (None, Form::AsCame) => order_of_inner_end(self.trace, slice),
            _ => order_of_end(slice),
        };
        let time = slice.facts.end.or_greatest();
        Item::of_slice(what, ItemTime { time, order }, *slice, lane.track)
    }

    /// Returns when a slice that never ended is cut, in ns; `None` if it ended, or is open at the end of the exported
    /// part.
    pub(super) fn cut_of_open(&self, slice: &SliceAt) -> Option<i64> {
        let SliceFacts { end, begin, .. } = slice.facts;
        match end.is_none() {
            true => self.borders.cut_of_open_slice(self.trace, begin),
            false => None,
        }
    }

    /// Returns whether a slice never ended and is cut before the range's end, because its file ended there.
    pub(super) fn ends_with_its_file(&self, slice: &SliceAt) -> bool {
        let cut = self.cut_of_open(slice);
        cut.is_some_and(|cut| cut < self.chosen.span.end.0)
    }

    /// Returns the ends of asynchronous slices that were open at the end of their files, before the range's end.
    pub(super) fn async_ends_of_files(&self) -> Vec<Item> {
        let (trace, span) = (self.trace, self.chosen.span);
        let mut items = Vec::new();
        // Only slices of several files are open before the trace's end.
        for &index in &trace.slices.lasting {
            let track = trace.slices.row_of(SliceId(index)).track;
            let slice = SliceAt::of(trace, index as usize);
            let is_async = self.form(track.0) == Form::Async;
            let cut = self.cut_of_open(&slice).filter(|_| is_async);
            let Some(time) = cut.filter(|&cut| span.contains(Timestamp(cut))) else {
                continue;
            };
            if self.chosen.has_slice(track, index as usize) {
                let at = ItemTime {
                    time,
                    order: LAST_ORDER,
                };
                items.push(Item::of_slice(What::AsyncEnd, at, slice, track.0));
            }
        }
        items
    }

    /// Returns whether a slice that ended is written with an end record of its own.
    pub(super) fn has_own_end(&self, slice: &SliceAt, form: Form) -> bool {
        let (span, end) = (self.chosen.span, slice.facts.end);
        let began = slice.start >= span.start.0;
        // A slice that ended when the range starts is not in the range.
        let is_inside = began || end > span.start.0;
        match form {
            Form::Async => is_inside,
            Form::Whole => false,
            // Only the slice's own end record shows which slices of no length are before it. A slice that crosses both
            // borders is written whole.
            Form::AsCame => {
                is_inside
                    && (began || end < span.end.0)
                    && !self.begins.is_whole_as(self.trace, slice, form)
            }
        }
    }
}
