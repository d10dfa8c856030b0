//! Asynchronous slices and their instants: `b`, `e` and `n`.
//!
//! Readers sort by time, keep the file's order of events of one time, and let an end close the innermost open slice
//! that has its category and id. So all begins and ends are written in one order: at one time an end follows what is
//! inside its slice, and precedes what is not.
//!
//! Readers take the process as a part of an id. So each event is written in the process of its track, on a thread of
//! it; `recorded_by_pid` and `recorded_by_tid` are the thread that recorded it, if that is another.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};

use super::event_parts::{Head, When};
use super::values::{exact, json_args};
use super::{JsonEvents, add_cuts};
use crate::base::StringId;
use crate::event::slice_kind::{ASYNC_GROUP, SLICE_CATEGORY};
use crate::export::ExportError;
use crate::export::shared::ThreadKoids;
use crate::export::shared::arguments::{async_id, async_id_in};
use crate::export::shared::async_groups::AsyncGroups;
use crate::export::shared::async_ids::AsyncIds;
use crate::export::shared::borders::{EndCut, Part};
use crate::export::shared::numbers::{AsyncId, AsyncNumbers};
use crate::trace::slices::SliceLabel;
use crate::trace::{CpuId, EventId, ProcessId, SliceId, TrackId, TrackKind};

/// The state of writing asynchronous events.
#[derive(Default)]
pub(super) struct Operations {
    numbers: AsyncNumbers,
    /// Ids for slices and instants that have none.
    ids: AsyncIds,
    /// The id of the instants of a track that have none.
    of_instants: FxHashMap<TrackId, u64>,
    groups: AsyncGroups,
    /// The categories of the outermost slices with an id, for their instants.
    categories_of_ids: FxHashMap<AsyncId, Vec<StringId>>,
    /// The outermost slices around others, as far as they are known.
    outermost: FxHashMap<SliceId, SliceId>,
}

/// A slice of an asynchronous track; such slices are sorted by time, outer slices first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Operation {
    start: i64,
    begin: EventId,
    /// The number of its row in the track, counted from 0.
    depth: u32,
    slice: SliceId,
    track: TrackId,
}

/// The begin or end of the operation with a number; sorted in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BeginOrEnd {
    time: i64,
    /// Begins: the operation's own number. Ends: the number of the last operation inside it, or its own.
    last: u32,
    is_end: bool,
    /// The number of the operation. Of ends after one operation, the innermost is first.
    operation: Reverse<u32>,
}

impl JsonEvents<'_> {
    /// Writes the slices of all asynchronous tracks; returns their number.
    pub(super) fn async_slices(&mut self) -> Result<u64, ExportError> {
        let (trace, reader) = (self.trace, self.loaded.reader.as_ref());
        let own_id = |id: EventId| async_id(reader, trace.events.get(id).into());
        self.operations.ids = AsyncIds::new(trace, self.chosen, &own_id);
        self.operations.groups = AsyncGroups::new(trace, self.chosen);
        let operations = self.all_operations();
        let mut ids = vec![0; operations.len()];
        let mut count = 0;
        for mark in self.begins_and_ends(&operations) {
            let number = mark.operation.0 as usize;
            let (Some(operation), Some(id)) = (operations.get(number), ids.get_mut(number)) else {
                continue;
            };
            if mark.is_end {
                self.async_end(operation, *id)?;
            } else {
                let chosen_id = self.operations.ids.of_slice(operation.slice);
                *id = self.async_begin(operation, chosen_id)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Returns the operations of the span on all chosen tracks, also those that are not chosen themselves.
    fn all_operations(&self) -> Vec<Operation> {
        let (slices, span) = (&self.trace.slices, self.chosen.span);
        let mut all = Vec::new();
        for (row, track) in self.trace.tracks.iter().zip((0..).map(TrackId)) {
            let is_async = matches!(row.kind, TrackKind::Async(_));
            if !is_async || !self.chosen.has_track(track) {
                continue;
            }
            for (row, depth) in slices.rows_of(row).iter().zip(0..) {
                all.extend(slices.overlapping(row, span).map(|slice| Operation {
                    start: slices.starts.at(slice as usize),
                    begin: slices.begin(slice as usize),
                    depth,
                    slice: SliceId(slice),
                    track,
                }));
            }
        }
        all.sort_unstable();
        all
    }

    /// Returns the begins and ends of the chosen ones among these operations, in the order in which they are written.
    fn begins_and_ends(&self, operations: &[Operation]) -> Vec<BeginOrEnd> {
        let slices = &self.trace.slices;
        // By slice: the last operation inside it. Children come after their parents, so the order is that from the end.
        let mut last_inside: FxHashMap<SliceId, u32> = FxHashMap::default();
        let mut marks = Vec::with_capacity(2 * operations.len());
        for (number, operation) in (0..operations.len() as u32).zip(operations).rev() {
            let Operation { slice, track, .. } = *operation;
            let row = slice.0 as usize;
            let last = last_inside.get(&slice).copied().unwrap_or(number);
            if let Some(parent) = slices.parent(row) {
                let around = last_inside.entry(parent).or_insert(last);
                *around = last.max(*around);
            }
            if !self.chosen.has_all_slices_of(track) && !self.chosen.has_slice(track, row) {
                continue;
            }
            let part = self.borders.of_slice(self.trace, row);
            let begin = BeginOrEnd {
                time: part.start,
                last: number,
                is_end: false,
                operation: Reverse(number),
            };
            marks.push(begin);
            marks.extend(part.end.map(|time| BeginOrEnd {
                time,
                last,
                is_end: true,
                ..begin
            }));
        }
        marks.sort_unstable();
        marks
    }

    /// Writes the begin of a slice, whose id is `chosen_id` if its event has none; returns the number of its id.
    fn async_begin(&mut self, of: &Operation, chosen_id: u64) -> Result<u64, ExportError> {
        let label = self.trace.slices.label(of.slice);
        let part = self.borders.of_slice(self.trace, of.slice.0 as usize);
        let fields = self.fields(of.begin);
        let id = self.async_id(of.begin, async_id_in(&fields).unwrap_or(chosen_id));
        let outermost = self.outermost(of.slice).category;
        let known = self.operations.categories_of_ids.entry(id).or_default();
        if !known.contains(&outermost) {
            known.push(outermost);
        }
        let number = self.operations.numbers.of(id);
        let mut args = json_args(fields);
        self.add_kind(label, &mut args);
        add_cuts(&part, &mut args);
        let time = part.start;
        self.async_event("b", of, (time, of.begin), number, args)?;
        Ok(number)
    }

    fn async_end(&mut self, of: &Operation, number: u64) -> Result<(), ExportError> {
        let slice = self.trace.slices.get(of.slice);
        let part = self.borders.of_slice(self.trace, of.slice.0 as usize);
        let Part { end, cut, .. } = part;
        let Some(end) = end else {
            return Ok(());
        };
        let finish = slice.finish.filter(|_| cut.is_none());
        let mut args = finish.map_or_else(Map::new, |finish| json_args(self.fields(finish)));
        if slice.end.is_none() && cut != Some(EndCut::Never) {
            args.insert("end_not_seen".to_owned(), json!(true));
        }
        let event = finish.unwrap_or(of.begin);
        self.async_event("e", of, (end, event), number, args)
    }

    /// Writes the begin or end of a slice at a time, with the thread and track of an event.
    fn async_event(
        &mut self,
        phase: &'static str,
        of: &Operation,
        (time, event): (i64, EventId),
        number: u64,
        mut args: Map<String, Json>,
    ) -> Result<(), ExportError> {
        let trace = self.trace;
        let label = trace.slices.label(of.slice);
        // The format joins what has one category and one id, so slices inside each other share a category.
        let outermost = self.outermost(of.slice).category;
        if outermost != label.category {
            add_category(&exact(trace, label.category), &mut args);
        }
        let process = self.process_of(of.track);
        let owner = (self.koids).on_async_track(trace, process, trace.events.thread(event));
        self.add_recorder(owner, event, &mut args);
        let group = self.operations.groups.of_slice(trace, of.track, of.slice);
        self.add_group(group, &mut args);
        let head = Head {
            phase,
            category: &exact(trace, outermost),
            name: &exact(trace, label.name),
            owner,
        };
        self.event(&head, When::at(time), &id_text(process, number), Some(args))
    }

    /// Writes an instant of an asynchronous track of a process.
    pub(super) fn async_instant(
        &mut self,
        process: Option<ProcessId>,
        track: TrackId,
        id: EventId,
    ) -> Result<(), ExportError> {
        let trace = self.trace;
        let event = trace.events.get(id);
        let fields = self.fields(id);
        // Instants without an id share one, so that viewers show them in one row.
        let of_track = *self.operations.of_instants.entry(track).or_insert_with(|| {
            let own = trace.tracks.get(track.0 as usize);
            let first = own.and_then(|own| trace.instants.of(&own.instants).next());
            first.map_or(0, |first| self.operations.ids.of_instant(EventId(first)))
        });
        let number = self.async_id(id, async_id_in(&fields).unwrap_or(of_track));
        let kind = trace.kinds.get(event.row.kind.index());
        let (own, name) = kind.map_or_else(Default::default, |kind| (kind.category, kind.name));
        let around = self.operations.categories_of_ids.get(&number);
        let around = around.filter(|around| !around.contains(&own));
        let around = around.and_then(|around| around.first());
        let category = around.copied().unwrap_or(own);
        let mut args = json_args(fields);
        if category != own {
            add_category(&exact(trace, own), &mut args);
        }
        let owner = (self.koids).on_async_track(trace, process, trace.events.thread(id));
        self.add_recorder(owner, id, &mut args);
        let group = self.operations.groups.of_instant(trace, track, id);
        self.add_group(group, &mut args);
        self.add_cpu(event.cpu.map(CpuId), &mut args);
        let head = Head {
            phase: "n",
            category: &exact(trace, category),
            name: &exact(trace, name),
            owner,
        };
        let id = id_text(process, self.operations.numbers.of(number));
        self.event(&head, When::at(event.row.time.0), &id, Some(args))
    }

    fn process_of(&self, track: TrackId) -> Option<ProcessId> {
        match self.trace.tracks.get(track.0 as usize)?.kind {
            TrackKind::Async(process) => process,
            _ => None,
        }
    }

    /// Adds the thread that recorded an event, if it is not the one on which the event is written.
    fn add_recorder(&self, owner: ThreadKoids, event: EventId, args: &mut Map<String, Json>) {
        let thread = self.trace.events.thread(event);
        if let Some(recorder) = self.koids.recorder(thread, owner) {
            self.add_thread(["recorded_by_pid", "recorded_by_tid"], recorder, args);
        }
    }

    /// Adds the name of a track.
    fn add_group(&self, name: Option<StringId>, args: &mut Map<String, Json>) {
        if let Some(name) = name {
            args.entry(ASYNC_GROUP)
                .or_insert_with(|| json!(exact(self.trace, name)));
        }
    }

    /// Returns an id with the file of the event that has it.
    fn async_id(&self, event: EventId, id: u64) -> AsyncId {
        let file = self.trace.source_of(event.0, |source| &source.events);
        AsyncId {
            file: file.map_or(0, |file| file.0),
            id,
        }
    }

    /// Returns the label of the outermost slice around a slice, or its own.
    fn outermost(&mut self, id: SliceId) -> SliceLabel {
        let slices = &self.trace.slices;
        let known = &mut self.operations.outermost;
        let mut path = Vec::new();
        let mut at = id;
        // Steps over what is known already, so that deep nesting costs no more than shallow.
        while let Some(parent) = slices.parent(at.0 as usize) {
            path.push(at);
            at = known.get(&at).copied().unwrap_or(parent);
        }
        known.extend(path.into_iter().map(|below| (below, at)));
        slices.label(at)
    }
}

/// Adds the category of an asynchronous event that is written with the category of the outermost slice around it.
fn add_category(own: &str, args: &mut Map<String, Json>) {
    args.entry(SLICE_CATEGORY).or_insert_with(|| json!(own));
}

/// The JSON member that joins the events of an asynchronous slice: its id in its process, or in the whole trace.
fn id_text(process: Option<ProcessId>, number: u64) -> String {
    let reach = process.map_or("global", |_| "local");
    format!(",\"id2\":{{\"{reach}\":\"{number:#x}\"}}")
}
