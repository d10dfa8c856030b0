//! The marks from which readers make arrows again: the begin, steps and end of a flow, each at one time.
//!
//! A mark outside the range moves to the range's border if the other end of its arrow is inside, and keeps its real
//! time as an argument; arrows with both ends outside are left out. Readers bind a mark to the innermost slice around
//! it: a mark that belongs to another slice, or to none, has this as an argument (`really_in`), which our reader uses.
//! No slice is added for such a mark, so that a range has as many slices as before.
//!
//! Flows keep their ids unless a reader would then bind them differently: such a flow gets an artificial id with bit
//! 63 set.
//!
//! Flow events that made no arrow are also marks, each in a flow of its own: see `lone_flows`.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::lone_flows::{ReadFlow, lone_flows, names_its_slice, reads_as_meant};
use crate::base::{StringId, Timestamp};
use crate::event::{FlowKind, FlowOp};
use crate::formats::Events;
use crate::query::selection::Chosen;
use crate::trace::flows::{FlowPoint, LoneFlow};
use crate::trace::{EventId, ProcessId, SliceId, ThreadId, Trace, TrackKind};

const ARTIFICIAL: u64 = 1 << 63;

/// The role of a mark in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowStepSort {
    /// The flow starts.
    Begin,
    /// The flow passes through.
    Step,
    /// The flow ends.
    End,
}

impl From<FlowOp> for FlowStepSort {
    fn from(op: FlowOp) -> FlowStepSort {
        match op {
            FlowOp::Begin => FlowStepSort::Begin,
            FlowOp::Step => FlowStepSort::Step,
            FlowOp::End => FlowStepSort::End,
        }
    }
}

/// One mark of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowMark {
    /// Time inside the range, in ns on the trace's clock.
    pub time: i64,
    /// The event of the mark.
    pub event: EventId,
    /// Its role in its flow.
    pub sort: FlowStepSort,
    /// The flow's id.
    pub id: u64,
    /// The name of the arrow that ends here, if the arrow has one.
    pub name: Option<StringId>,
    /// The meaning of the arrow that ends here.
    pub kind: FlowKind,
    /// The thread of the event, if it has one.
    pub thread: Option<ThreadId>,
    /// The order among items of one time: its event, or that of the flow's previous mark if that is later.
    pub order: u32,
    /// Whether its time was moved to the border.
    pub is_moved: bool,
    /// The slice to which it belongs, if that is not the innermost slice that is written around it.
    pub really_in: Option<ReallyIn>,
    /// The number of its flow among the flows that are written.
    pub flow: u32,
    /// Whether it makes no arrow.
    pub is_lone: bool,
}

/// The slice of a mark that readers would bind to another slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReallyIn {
    /// To a slice that is not written around it.
    Slice(SliceId),
    /// To no slice.
    Nothing,
}

/// The role of a mark in its flow.
struct Role {
    sort: FlowStepSort,
    /// The name of the arrow that ends here.
    name: Option<StringId>,
    /// The meaning of the arrow that ends here.
    kind: FlowKind,
    /// The number of the flow.
    flow: u32,
}

/// All marks in order of time.
#[derive(Debug, Default)]
pub(crate) struct FlowMarks {
    /// The marks.
    pub marks: Vec<FlowMark>,
    /// Number of flows that got an artificial id.
    pub renamed_count: u64,
    /// Number of marks that make no arrow.
    pub lone_count: u64,
    /// Number of steps and ends among the lone marks.
    pub lone_end_count: u64,
}

impl FlowMarks {
    /// Returns the marks of the chosen arrows and lone flow events.
    pub(crate) fn new(trace: &Trace, chosen: &Chosen<'_>, reader: &dyn Events) -> FlowMarks {
        let mut found = FlowMarks::default();
        // One event may be a mark of several flows.
        let mut mark_of: FxHashMap<(EventId, u64), usize> = FxHashMap::default();
        let mut ids: Vec<u64> = Vec::new();
        let span = chosen.span;
        for flow in &trace.flows.rows {
            let is_chosen = chosen.has_track_of(flow.from.thread)
                && chosen.has_track_of(flow.to.thread)
                && (!chosen.limits_cpus()
                    || (chosen.has_cpu_of(flow.from.event) && chosen.has_cpu_of(flow.to.event)));
            if !flow.has_end_in(span) || !is_chosen {
                continue;
            }
            // An arrow continues the flow of an arrow that ended here. Only one can: other arrows from here begin
            // flows.
            let arrived = mark_of
                .get(&(flow.from.event, flow.key))
                .and_then(|&known| found.marks.get_mut(known))
                .filter(|mark| mark.sort == FlowStepSort::End);
            let number = match arrived {
                Some(mark) => {
                    mark.sort = FlowStepSort::Step;
                    mark.flow
                }
                None => {
                    ids.push(flow.key);
                    let number = ids.len() as u32 - 1;
                    let role = Role {
                        sort: FlowStepSort::Begin,
                        name: None,
                        kind: FlowKind::default(),
                        flow: number,
                    };
                    found.push(trace, chosen, flow.from, role);
                    number
                }
            };
            mark_of.insert((flow.to.event, flow.key), found.marks.len());
            let role = Role {
                sort: FlowStepSort::End,
                name: Some(flow.name),
                kind: flow.kind,
                flow: number,
            };
            found.push(trace, chosen, flow.to, role);
            // Marks of a flow that were moved to the border may have one time: `order` keeps them in sequence.
            if let [.., from, to] = found.marks.as_mut_slice()
                && from.flow == to.flow
                && from.time == to.time
            {
                to.order = to.order.max(from.order);
            }
        }
        let lone = lone_flows(trace, chosen);
        for flow in &lone {
            found.push_lone(*flow, ids.len() as u32, trace);
            ids.push(flow.key);
        }
        found.marks.sort_by_key(|mark| (mark.time, mark.order));
        found.choose_ids(trace, &mut ids);
        if !lone.is_empty() {
            found.keep_apart(trace, chosen, reader, &mut ids);
        }
        for mark in &mut found.marks {
            mark.id = ids[mark.flow as usize];
        }
        found
    }

    fn push_lone(&mut self, lone: LoneFlow, flow: u32, trace: &Trace) {
        self.lone_count += 1;
        self.lone_end_count += u64::from(lone.op != FlowOp::Begin);
        self.marks.push(FlowMark {
            time: trace.events.time(lone.event).0,
            event: lone.event,
            sort: lone.op.into(),
            id: 0,
            name: None,
            kind: FlowKind::default(),
            thread: trace.events.thread(lone.event),
            order: lone.event.0,
            is_moved: false,
            really_in: None,
            flow,
            is_lone: true,
        });
    }

    /// Gives lone marks artificial ids if readers would make arrows of them, or miss arrows because of them.
    fn keep_apart(
        &mut self,
        trace: &Trace,
        chosen: &Chosen<'_>,
        reader: &dyn Events,
        ids: &mut [u64],
    ) {
        let lone = self.marks.iter().filter(|mark| mark.is_lone);
        let mut of_ids: FxHashMap<u64, Vec<ReadFlow>> = lone
            .map(|mark| (ids[mark.flow as usize], Vec::new()))
            .collect();
        let mut have_slices: FxHashMap<Option<ThreadId>, bool> = FxHashMap::default();
        for mark in &self.marks {
            let Some(marks) = of_ids.get_mut(&ids[mark.flow as usize]) else {
                continue;
            };
            // Readers leave out marks outside of all slices. On a thread without slices of its own, they may find an
            // asynchronous slice around them.
            let around = || written_around(trace, chosen, mark.thread, Timestamp(mark.time));
            let mut is_read = || {
                let event = trace.events.get(mark.event);
                let has_own = have_slices.entry(mark.thread);
                let has_own = has_own.or_insert_with(|| has_own_slices(trace, chosen, mark.thread));
                !*has_own || around().is_some() || names_its_slice(reader, event.into())
            };
            if !mark.is_lone || is_read() {
                marks.push(ReadFlow {
                    sort: mark.sort,
                    process: trace.thread(mark.thread).process,
                    flow: mark.flow,
                    is_lone: mark.is_lone,
                });
            }
        }
        of_ids.retain(|_, marks| !reads_as_meant(marks));
        for mark in self.marks.iter().filter(|mark| mark.is_lone) {
            if of_ids.contains_key(&ids[mark.flow as usize]) {
                ids[mark.flow as usize] = ARTIFICIAL | u64::from(mark.flow);
                self.renamed_count += 1;
            }
        }
    }

    fn push(&mut self, trace: &Trace, chosen: &Chosen<'_>, point: FlowPoint, role: Role) {
        let Role {
            sort,
            name,
            kind,
            flow,
        } = role;
        let span = chosen.span;
        let last = Timestamp(span.end.0.saturating_sub(1));
        let mut time = point.time.max(span.start).min(last);
        let ends = point
            .slice
            .map(|slice| trace.slices.open_end(slice.0 as usize));
        // A thread without a track of its own: readers bind its marks to the asynchronous slice that it began, up to its
        // end, if that slice is written.
        let own = point.thread.map(TrackKind::Thread);
        let has_own = own.is_some_and(|own| trace.track_of(own).is_some());
        let is_in_async = !has_own
            && point.slice.is_some_and(|slice| {
                let end = trace.slices.open_end(slice.0 as usize);
                let start = trace.slices.starts.at(slice.0 as usize);
                start <= time.0 && end >= time.0 && end > span.start.0
            });
        // An event that begins the slice itself: others may begin inside it at the same time.
        let begins = |slice: SliceId| trace.slices.begins.at(slice.0 as usize);
        let is_own = point.slice.map(begins) == Some(point.event.0);
        if ends.is_some_and(|end| end == time.0) && time > span.start && !is_in_async && !is_own {
            // Readers would bind an end of an arrow at the very end of its slice to no slice: it moves 1 ns back.
            time = Timestamp(time.0 - 1);
        }
        let is_moved = time != point.time;
        // A mark that was not moved, inside its slice: the slice around it is the one in which it was recorded.
        let starts = point
            .slice
            .map(|slice| trace.slices.starts.at(slice.0 as usize));
        let has_begun = starts.is_some_and(|start| start <= time.0);
        let is_inside = has_begun && ends.is_some_and(|end| end > time.0);
        let is_sure = !is_moved && is_inside && !is_own && !chosen.limits_cpus();
        let around = || written_around(trace, chosen, point.thread, time);
        let really_in = match point.slice {
            Some(slice) if is_sure || is_in_async || around() == Some(slice) => None,
            Some(slice) => Some(ReallyIn::Slice(slice)),
            // Readers drop marks outside of all slices unless the mark states that it belongs to none.
            None => Some(ReallyIn::Nothing),
        };
        self.marks.push(FlowMark {
            time: time.0,
            event: point.event,
            sort,
            id: 0,
            name,
            kind,
            thread: point.thread,
            order: point.event.0,
            is_moved,
            really_in,
            flow,
            is_lone: false,
        });
    }

    /// Gives every flow its own id, or an artificial id if a reader would confuse it with another flow.
    fn choose_ids(&mut self, trace: &Trace, ids: &mut [u64]) {
        type Open = FxHashMap<(Option<ProcessId>, u64), u32>;
        type OfIds = FxHashMap<u64, Owners>;
        let mut open: Open = FxHashMap::default();
        let mut owners: OfIds = FxHashMap::default();
        let mut home: Vec<Option<ProcessId>> = vec![None; ids.len()];
        let mut is_clash = vec![false; ids.len()];
        // As the reader does: an id that several processes opened stays ambiguous until all have closed it.
        let end = |open: &mut Open, owners: &mut OfIds, key: (Option<ProcessId>, u64)| {
            let was_open = open.remove(&key).is_some();
            if let Some(owners) = owners.get_mut(&key.1) {
                owners.open_count -= u32::from(was_open);
                if owners.open_count == 0 {
                    *owners = Owners::default();
                }
            }
        };
        // A flow that gets an artificial id no longer counts for this id.
        let forget = |open: &mut Open, owners: &mut OfIds, key: (Option<ProcessId>, u64)| {
            let was_open = open.remove(&key).is_some();
            if let Some(owners) = owners.get_mut(&key.1) {
                owners.open_count -= u32::from(was_open);
                owners.count -= owners.each.remove(&key.0).unwrap_or(0);
            }
        };
        for mark in &self.marks {
            let flow = mark.flow as usize;
            if is_clash[flow] || mark.is_lone {
                continue;
            }
            let process = trace.thread(mark.thread).process;
            let id = ids[flow];
            if mark.sort == FlowStepSort::Begin {
                match open.entry((process, id)) {
                    Entry::Occupied(_) => is_clash[flow] = true,
                    Entry::Vacant(free) => {
                        free.insert(mark.flow);
                        owners.entry(id).or_default().begin(process);
                        home[flow] = process;
                    }
                }
                continue;
            }
            let found = match open.get(&(process, id)) {
                Some(&other) => Some(other),
                None => owners
                    .get(&id)
                    .and_then(Owners::only)
                    .and_then(|only| open.get(&(only, id)).copied()),
            };
            if found != Some(mark.flow) {
                is_clash[flow] = true;
                forget(&mut open, &mut owners, (home[flow], id));
            } else if mark.sort == FlowStepSort::End {
                end(&mut open, &mut owners, (home[flow], id));
            }
        }
        for (number, id) in ids.iter_mut().enumerate() {
            if is_clash[number] {
                *id = ARTIFICIAL | number as u64;
                self.renamed_count += 1;
            }
        }
    }
}

/// The processes that began flows with one id since the last time that no flow with the id was open.
#[derive(Default)]
struct Owners {
    /// The number of flows that each process began.
    each: BTreeMap<Option<ProcessId>, u32>,
    /// The number of flows that all processes began.
    count: u32,
    /// The number of open flows.
    open_count: u32,
}

impl Owners {
    fn begin(&mut self, process: Option<ProcessId>) {
        *self.each.entry(process).or_default() += 1;
        self.count += 1;
        self.open_count += 1;
    }

    /// Returns the only process that began a flow; `None` if several flows were begun.
    fn only(&self) -> Option<Option<ProcessId>> {
        let first = self.each.first_key_value().filter(|_| self.count == 1);
        first.map(|(process, _)| *process)
    }
}

/// Returns whether slices of a thread's own track may be written.
fn has_own_slices(trace: &Trace, chosen: &Chosen<'_>, thread: Option<ThreadId>) -> bool {
    let track = thread.and_then(|thread| trace.track_of(TrackKind::Thread(thread)));
    let track = track.filter(|&track| chosen.has_track(track));
    let row = track.and_then(|track| trace.tracks.get(track.0 as usize));
    let mut rows = row.map_or(&[][..], |row| trace.slices.rows_of(row)).iter();
    rows.any(|row| !trace.slices.overlapping(row, chosen.span).is_empty())
}

/// Returns the innermost slice around a time among the slices that are written.
fn written_around(
    trace: &Trace,
    chosen: &Chosen<'_>,
    thread: Option<ThreadId>,
    time: Timestamp,
) -> Option<SliceId> {
    let innermost = trace.innermost_slice(thread, time);
    std::iter::successors(innermost, |&slice| trace.slices.get(slice).parent)
        .find(|&slice| chosen.has_slice(trace.slices.row_of(slice).track, slice.0 as usize))
}
