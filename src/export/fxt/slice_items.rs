//! Rows of slices as items: the start of a slice, and its end if that is an event of its own.

use super::forms::Form;
use super::item::{
    Item, ItemTime, SliceAt, What, order_of, order_of_end, order_of_inner_end, order_of_whole,
    order_of_whole_in,
};
use super::items::Items;
use super::lanes::Stretch;
use crate::trace::TrackId;

/// A row of slices, with what its items need.
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
            // A slice that never ended is cut at the range's end.
            Form::Whole if self.chosen.ends_before_trace() => What::Whole,
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

    /// Returns whether an event of its own ends a slice that ends.
    pub(super) fn has_own_end(&self, slice: &SliceAt, form: Form) -> bool {
        let began = slice.start >= self.chosen.span.start.0;
        match form {
            // A slice that ended when the range starts is not in the range.
            Form::Async => began || slice.facts.end > self.chosen.span.start.0,
            Form::Whole => false,
            // A slice that began before the range is written whole.
            Form::AsCame => began && !self.begins.is_whole_as(self.trace, slice, form),
        }
    }
}
