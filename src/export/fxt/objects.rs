//! Userspace objects to which the selection refers but which it does not contain: registered before its range, or by
//! threads that are left out. Without them the pointers of its events would lose their names.
//!
//! Objects from before the range are written at its start, the others at their own time. Of each pointer, only the
//! last object that an event of the selection can mean is written.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::item::{Item, ItemTime, What, order_of};
use crate::event::{FieldRef, Role, ValueRef};
use crate::formats::Events;
use crate::query::selection::Chosen;
use crate::trace::{EventId, SourceId, Trace, TrackId};

/// Items for these objects.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// Objects that were registered before the range, in their order.
    pub at_start: Vec<Item>,
    /// Objects that were registered inside the range.
    pub inside: Vec<Item>,
}

/// A pointer of a process in one of several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pointer {
    source: Option<SourceId>,
    process: u64,
    address: u64,
}

/// An object: its place in its file, and its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    part: u32,
    offset: u64,
    event: u32,
}

impl Objects {
    /// Finds the objects. Returns at once if the trace contains none (hardly any does) or the selection contains all.
    pub(super) fn new(trace: &Trace, chosen: &Chosen<'_>, reader: &dyn Events) -> Objects {
        let mut objects = Objects::default();
        let all = events_of_objects(trace);
        if all.is_empty() {
            return objects;
        }
        let search = Search {
            trace,
            chosen,
            reader,
        };
        let written = search.written(&all);
        let mut missing: Vec<Place> = (all.iter())
            .filter(|id| !written.contains(id))
            .map(|&id| search.place(EventId(id)))
            .collect();
        if missing.is_empty() {
            return objects;
        }
        missing.sort_unstable();
        let needed = search.needed(&search.by_pointer(&all));
        let span = chosen.span;
        for place in missing.iter().filter(|place| needed.contains(place)) {
            let id = place.event;
            let time = trace.events.time(EventId(id));
            if time < span.start {
                let at = ItemTime::first_at(span.start.0);
                objects.at_start.push(Item::new(What::Object, at, id, 0));
            } else if span.contains(time) {
                let at = ItemTime {
                    time: time.0,
                    order: order_of(id),
                };
                objects.inside.push(Item::new(What::Object, at, id, 0));
            }
        }
        objects
    }
}

/// Returns all events that name the target of a pointer.
fn events_of_objects(trace: &Trace) -> Vec<u32> {
    let kinds = trace.kinds.iter();
    let is_object: Vec<bool> = kinds.map(|kind| kind.role == Role::PointerName).collect();
    if !is_object.contains(&true) {
        return Vec::new();
    }
    let is_object = &is_object;
    let segments = trace.events.segments().par_iter();
    let found = segments.flat_map_iter(|segment| {
        let rows = 0..segment.columns.len() as u32;
        rows.filter_map(move |index| {
            let kind = segment.kind(index).index();
            let is_one = is_object.get(kind) == Some(&true);
            is_one.then(|| segment.first + index)
        })
    });
    found.collect()
}

struct Search<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    reader: &'a dyn Events,
}

impl Search<'_> {
    fn place(&self, id: EventId) -> Place {
        let event = self.trace.events.get(id);
        Place {
            part: event.part,
            offset: event.row.place,
            event: id.0,
        }
    }

    fn pointer(&self, id: EventId, process: u64, address: u64) -> Pointer {
        Pointer {
            source: self.trace.source_of(id.0, |source| &source.events),
            process,
            address,
        }
    }

    /// Returns the objects that are points of the selection.
    fn written(&self, all: &[u32]) -> FxHashSet<u32> {
        let (trace, chosen) = (self.trace, self.chosen);
        let all: FxHashSet<u32> = all.iter().copied().collect();
        let tracks = (0..trace.tracks.len() as u32).into_par_iter();
        let chosen_tracks = tracks.filter(|&number| chosen.has_track(TrackId(number)));
        chosen_tracks
            .flat_map_iter(|number| {
                let events = trace.instants.of(&trace.tracks[number as usize].instants);
                events.filter(|id| {
                    all.contains(id) && chosen.span.contains(trace.events.time(EventId(*id)))
                })
            })
            .collect()
    }

    /// Returns the objects of each pointer, in the order of their file.
    fn by_pointer(&self, all: &[u32]) -> FxHashMap<Pointer, Vec<Place>> {
        let mut objects: FxHashMap<Pointer, Vec<Place>> = FxHashMap::default();
        for &id in all {
            let id = EventId(id);
            let mut fields: Vec<FieldRef<'_>> = Vec::new();
            let event = self.trace.events.get(id);
            self.reader.fields_into(event.into(), &mut fields);
            let value = |index: usize| fields.get(index).map(|field| &field.value);
            let process = match value(1) {
                Some(&ValueRef::Koid(process)) => process,
                _ => 0,
            };
            if let Some(&ValueRef::Pointer(address)) = value(0) {
                let of_pointer = objects.entry(self.pointer(id, process, address));
                of_pointer.or_default().push(self.place(id));
            }
        }
        objects
            .values_mut()
            .for_each(|places| places.sort_unstable());
        objects
    }

    /// Returns the objects that pointers of the selection mean.
    fn needed(&self, objects: &FxHashMap<Pointer, Vec<Place>>) -> FxHashSet<Place> {
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
            .flat_map_iter(|id| self.meant_by(EventId(id), objects))
            .collect()
    }

    fn meant_by(&self, id: EventId, objects: &FxHashMap<Pointer, Vec<Place>>) -> Vec<Place> {
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
        let here = self.place(id);
        let last_before = |address: u64| {
            let places = objects.get(&self.pointer(id, process.pid, address))?;
            let after = places.partition_point(|place| *place <= here);
            places.get(after.checked_sub(1)?).copied()
        };
        pointers.filter_map(last_before).collect()
    }

    /// Returns the begin events of slices that cross the range's start.
    fn begins_across_start(&self) -> Vec<u32> {
        let (trace, span) = (self.trace, self.chosen.span);
        let mut begins = Vec::new();
        for (number, track) in trace.tracks.iter().enumerate() {
            if !self.chosen.has_track(TrackId(number as u32)) {
                continue;
            }
            for row in trace.slices.rows_of(track) {
                let first = trace.slices.overlapping(row, span).next();
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
