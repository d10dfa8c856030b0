//! Rows of slices as items: a slice's start, and its end where that is an event of its own.

use super::forms::Form;
use super::item::{
    Item, SliceFacts, What, order_of, order_of_end, order_of_inner_end, order_of_whole,
    order_of_whole_in,
};
use super::items::Items;
use super::lanes::Stretch;
use crate::trace::TrackId;

/// A row of slices as items are made of it.
pub struct SliceLane {
    /// Its first slice.
    pub first: usize,
    /// How many rows of its track are above it.
    pub depth: u32,
    /// Its track.
    pub track: u32,
    /// How its slices are written.
    pub form: Form,
}

impl Items<'_> {
    /// A row of slices, and how they are written.
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

    pub(super) fn gather_slices(
        &self,
        row: u32,
        form: Form,
        stretch: &Stretch,
        list: &mut Vec<Item>,
    ) {
        let lane = self.slice_lane(row, form);
        let track = TrackId(lane.track);
        let is_narrowed = self.chosen.is_narrowed();
        let is_chosen = |index: &usize| !is_narrowed || self.chosen.has_slice(track, *index);
        for index in stretch.starts_from(lane.first).filter(is_chosen) {
            let slice = (index, SliceFacts::of(self.trace, index));
            list.push(self.start_item(&lane, slice));
        }
        if form == Form::Whole {
            return;
        }
        for index in stretch.ends_from(lane.first).filter(is_chosen) {
            let slice = (index, SliceFacts::of(self.trace, index));
            if self.has_own_end(slice, form) {
                list.push(self.end_item(&lane, slice));
            }
        }
    }

    /// A slice where it starts.
    #[inline]
    pub(super) fn start_item(
        &self,
        lane: &SliceLane,
        (index, (start, facts)): (usize, (i64, SliceFacts)),
    ) -> Item {
        let slice = (index, (start, facts));
        let what = match lane.form {
            Form::Async => What::AsyncBegin,
            form if self.begins.is_whole_as(self.trace, slice, form) => What::Whole,
            // What never ended is cut at the range's end.
            Form::Whole if self.chosen.ends_before_trace() => What::Whole,
            _ => What::Begin,
        };
        let order = match (what, lane.form) {
            (What::Whole, Form::AsCame) if self.is_nested_as_read && facts.finish == u32::MAX => {
                order_of(facts.begin)
            }
            (What::Whole, Form::AsCame) => {
                order_of_whole_in(self.trace, &self.begins, index, lane.depth)
            }
            (What::Whole, _) | (_, Form::Whole) => order_of_whole(lane.depth),
            _ => order_of(facts.begin),
        };
        Item::of_slice(what, (start, order), (index, facts), lane.track)
    }

    /// A slice where it ends by an event of its own.
    #[inline]
    pub(super) fn end_item(
        &self,
        lane: &SliceLane,
        (index, (start, facts)): (usize, (i64, SliceFacts)),
    ) -> Item {
        let what = match lane.form {
            Form::Async => What::AsyncEnd,
            _ => What::End,
        };
        // Ends of FXT files are read from there as they were.
        let order = match (self.fxt, lane.form) {
            (None, Form::AsCame) => order_of_inner_end(self.trace, (index, (start, facts))),
            _ => order_of_end(start, &facts),
        };
        Item::of_slice(what, (facts.end, order), (index, facts), lane.track)
    }

    /// Whether a slice that ends is ended by an event of its own.
    pub(super) fn has_own_end(&self, slice: (usize, (i64, SliceFacts)), form: Form) -> bool {
        let (_, (start, facts)) = slice;
        let began = start >= self.chosen.span.start.0;
        match form {
            // One that ended when the range starts is not in it.
            Form::Async => began || facts.end > self.chosen.span.start.0,
            Form::Whole => false,
            // What began before the range is written whole.
            Form::AsCame => began && !self.begins.is_whole_as(self.trace, slice, form),
        }
    }
}
