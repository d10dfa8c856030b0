//! Userspace objects to which the selection refers but which it does not contain: registered before its range, or by
//! threads that are left out. Without them the pointers of its events would lose their names.
//!
//! Objects from before the range are written at its start, the others at their own time. Of each pointer, only the
//! last object that an event of the selection can mean is written.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::item::{Item, What};
use crate::event::ValueRef;
use crate::formats::Events;
use crate::formats::fxt::FxtSource;
use crate::query::selection::Chosen;
use crate::trace::{EventId, Trace, TrackId};

/// Items for these objects.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// Objects that were registered before the range, in their order.
    pub at_start: Vec<Item>,
    /// Objects that were registered inside the range.
    pub inside: Vec<Item>,
}

impl Objects {
    /// Finds the objects. Returns at once if the file contains none (hardly any does) or the selection contains all.
    pub fn new(
        trace: &Trace,
        chosen: &Chosen<'_>,
        reader: &dyn Events,
        fxt: Option<FxtSource<'_>>,
    ) -> Objects {
        let mut objects = Objects::default();
        let Some(fxt) = fxt.filter(|fxt| fxt.has_objects()) else {
            return objects;
        };
        let mut missing = Missing {
            trace,
            chosen,
            reader,
            fxt,
            events: Vec::new(),
        };
        missing.find();
        if missing.events.is_empty() {
            return objects;
        }
        let needed = missing.needed();
        let span = chosen.span;
        for &(_, id) in missing.events.iter().filter(|row| needed.contains(&row.0)) {
            let time = trace.events.time(EventId(id));
            if time < span.start {
                let at = (span.start.0, 0);
                objects.at_start.push(Item::new(What::Object, at, id, 0));
            } else if span.contains(time) {
                let at = (time.0, super::item::order_of(id));
                objects.inside.push(Item::new(What::Object, at, id, 0));
            }
        }
        objects
    }
}

struct Missing<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    reader: &'a dyn Events,
    fxt: FxtSource<'a>,
    /// Places and events of objects that are not points of the selection, in the file's order.
    events: Vec<(u64, u32)>,
}

impl Missing<'_> {
    fn find(&mut self) {
        let (trace, chosen, fxt) = (self.trace, self.chosen, self.fxt);
        let is_object = |id: u32| fxt.is_object(trace.events.get(EventId(id)).row.place);
        let tracks = (0..trace.tracks.len() as u32).into_par_iter();
        let chosen_tracks = tracks.filter(|&number| chosen.has_track(TrackId(number)));
        let written: FxHashSet<u32> = chosen_tracks
            .flat_map_iter(|number| {
                let events = trace.instants.of(&trace.tracks[number as usize].instants);
                events.filter(|&id| {
                    chosen.span.contains(trace.events.time(EventId(id))) && is_object(id)
                })
            })
            .collect();
        self.events = (0..trace.events.len() as u32)
            .into_par_iter()
            .filter(|&id| is_object(id) && !written.contains(&id))
            .map(|id| (trace.events.get(EventId(id)).row.place, id))
            .collect();
        self.events.sort_unstable();
    }

    /// Returns the places of the objects that pointers of the selection mean.
    fn needed(&self) -> FxHashSet<u64> {
        let (trace, chosen) = (self.trace, self.chosen);
        let across = self.begins_across_start();
        let inside = (0..trace.events.len() as u32)
            .into_par_iter()
            .filter(|&id| {
                let id = EventId(id);
                chosen.span.contains(trace.events.time(id))
                    && chosen.has_thread(trace.events.thread(id))
            });
        inside
            .chain(across.into_par_iter())
            .flat_map_iter(|id| self.meant_by(EventId(id)))
            .collect()
    }

    fn meant_by(&self, id: EventId) -> Vec<u64> {
        let event = self.trace.events.get(id);
        let Some(process) = self.trace.process_of(self.trace.events.thread(id)) else {
            return Vec::new();
        };
        let mut fields = Vec::new();
        self.reader.fields_into(event.into(), &mut fields);
        let pointers = fields.iter().filter_map(|field| match field.value {
            ValueRef::Pointer(pointer) => Some(pointer),
            _ => None,
        });
        pointers
            .filter_map(|pointer| self.fxt.object_of(process.pid, pointer, event.row.place))
            .collect()
    }

    /// Returns the begin events of slices that cross the range's start.
    fn begins_across_start(&self) -> Vec<u32> {
        let (trace, span) = (self.trace, self.chosen.span);
        let mut begins = Vec::new();
        for (number, track) in trace.tracks.iter().enumerate() {
            if !self.chosen.has_track(TrackId(number as u32)) {
                continue;
            }
            let rows = track.rows.start as usize..track.rows.end as usize;
            for row in trace.slices.rows.get(rows).unwrap_or_default() {
                let first = trace.slices.overlapping_on(row, span).next();
                let first = first.map(|first| first as usize);
                begins.extend(
                    first
                        .filter(|&first| trace.slices.starts.at(first) < span.start.0)
                        .map(|first| trace.slices.begins.at(first)),
                );
            }
        }
        begins
    }
}
