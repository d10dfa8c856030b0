//! Makes arrows from flow marks: one from each begin or step to the next step or end of the same flow.
//!
//! A mark is bound to the innermost slice that contains it on its thread; a slice contains its start, but not its end. The
//! mark of an event that begins a slice itself may be bound to that slice.
//! On a thread without slices of its own it is bound to the asynchronous slice that the thread began.
//! A mark can also state that it is bound to the next slice, or that it belongs to no slice. Marks belong together by their
//! ids, or by ids, categories and names ([`FlowJoin`]). An id is looked up in the mark's own process first. A step or end
//! from another process joins the flow if exactly one process has the id open; otherwise it is ambiguous and dropped.
//! Begins of an id that is open, and steps and ends of an id that is not, are dropped and counted. In formats whose ends do
//! not close a flow, further ends lead from the same point until the id begins again.

use std::hash::Hash;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::around::{Around, Empty};
use super::group::{Groups, gather};
use super::link::Link;
use super::people::People;
use super::recorded::{Part, Recorded};
use super::rows::PerPart;
use super::slice_table::TrackTables;
use crate::base::{Diagnostics, Maybe, Nanos, Severity, StringId, Timestamp};
use crate::event::{FlowBound, FlowJoin, FlowKind, FlowMark, FlowOp};
use crate::trace::flows::{FlowPoint, LoneFlow};
use crate::trace::{
    EventId, Events, Flow, Flows, ProcessId, SliceId, ThreadId, Track, TrackKind, tracks,
};

/// The arrows of a trace, and diagnostics about dropped marks.
#[derive(Debug, Default)]
pub(crate) struct FlowTable {
    /// The arrows.
    pub flows: Flows,
    /// Count of the marks that belong to no flow.
    pub diagnostics: Diagnostics,
}

/// The flow marks and links that [`flow_table`] makes arrows from.
pub(crate) struct FlowRows {
    /// Begins, steps and ends.
    pub marks: PerPart<FlowMark>,
    /// Arrows between known events.
    pub links: Vec<Link>,
}

/// The parts of the trace that bind marks to slices and processes.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// All events.
    pub recorded: &'a Recorded,
    /// All tracks and slices.
    pub tables: &'a TrackTables,
    /// Threads and their processes.
    pub people: &'a People,
}

impl Ground<'_> {
    /// Returns the innermost slice of a thread that contains a time.
    fn innermost(&self, thread: Option<ThreadId>, time: Timestamp) -> Option<SliceId> {
        let tracks = &self.tables.tracks;
        let track = tracks::of_kind(tracks, TrackKind::Thread(thread?))?;
        let rows = &tracks.get(track.0 as usize)?.rows;
        self.tables.slices.innermost(rows, time)
    }

    /// Returns the innermost slice that ends with a mark and began before it.
    fn ending(&self, mark: &FlowPointMark) -> Option<SliceId> {
        self.innermost(mark.thread, mark.time.saturating_add(Nanos(-1)))
    }

    /// Returns the first slice of a thread that starts at a time or later.
    fn next(&self, thread: Option<ThreadId>, time: Timestamp) -> Option<SliceId> {
        let tracks = &self.tables.tracks;
        let track = tracks::of_kind(tracks, TrackKind::Thread(thread?))?;
        let rows = &tracks.get(track.0 as usize)?.rows;
        self.tables.slices.next_from(rows, time)
    }
}

/// A flow mark with thread, label and string numbers of the trace.
#[derive(Clone, Copy, Debug)]
struct FlowPointMark {
    time: Timestamp,
    event: EventId,
    thread: Option<ThreadId>,
    op: FlowOp,
    bound: FlowBound,
    key: u64,
    name: StringId,
    kind: FlowKind,
    joined: FlowJoin,
    /// Category and name, if marks of other names belong to other flows.
    names: [StringId; 2],
}

impl FlowPointMark {
    /// Returns whether the slice around the mark does not matter.
    fn is_bound_by_itself(&self) -> bool {
        matches!(
            self.bound,
            FlowBound::Nowhere | FlowBound::Own | FlowBound::Begun { .. }
        )
    }

    /// Returns the key and the names that all marks of one flow share.
    fn identity(&self) -> (u64, [StringId; 2]) {
        (self.key, self.names)
    }
}

/// Returns the marks of all parts, sorted by time.
fn collect_marks(of_parts: PerPart<FlowMark>, recorded: &Recorded) -> Vec<FlowPointMark> {
    let of_part = |(part, marks): (&Part, Vec<FlowMark>)| {
        let mark = |row: &FlowMark| FlowPointMark {
            time: recorded.time(part, row.event),
            event: part.event(row.event),
            thread: recorded.thread(part, row.event),
            op: row.op,
            bound: match row.bound {
                FlowBound::Begun { at, name } => FlowBound::Begun {
                    at,
                    name: part.string(name),
                },
                bound => bound,
            },
            key: row.id,
            name: part.string(row.name),
            kind: row.kind,
            joined: row.joined,
            names: match row.joined {
                FlowJoin::ById => [StringId::EMPTY; 2],
                FlowJoin::ByIdAndNames => [part.string(row.category), part.string(row.name)],
            },
        };
        marks.iter().map(mark).collect::<Vec<_>>()
    };
    let parts = recorded.parts.par_iter().zip(of_parts).map(of_part);
    let parts: Vec<Vec<FlowPointMark>> = parts.collect();
    let mut marks = parts.concat();
    if !marks.is_sorted_by_key(|mark| mark.time) {
        marks.par_sort_by_key(|mark| mark.time);
    }
    marks
}

/// Returns the arrow of a link; each end is bound to the slice that contains its event, if there is one.
fn flow_of_link(link: &Link, ground: Ground<'_>) -> Flow {
    let events: &Events = &ground.recorded.events;
    let point = |event: EventId| {
        let (time, thread) = (events.time(event), events.thread(event));
        let just_before = time.saturating_add(Nanos(-1));
        FlowPoint {
            time,
            thread,
            // An exit event is at the end of its slice. A slice does not contain its end, but the event belongs to it.
            slice: ground
                .innermost(thread, time)
                .or_else(|| ground.innermost(thread, just_before)),
            event,
        }
    };
    Flow {
        key: link.key,
        name: link.name,
        kind: link.kind,
        from: point(link.from),
        to: point(link.to),
    }
}

/// An asynchronous slice that is in no other.
struct OuterAsync {
    thread: ThreadId,
    start: i64,
    end: Maybe<i64>,
    slice: SliceId,
}

/// Returns the asynchronous slices that are in no other, sorted by the thread that began them, then by start; none if all
/// of these threads have slices of their own.
fn outer_asyncs(threads: &[u32], ground: Ground<'_>) -> Vec<OuterAsync> {
    let tracks = &ground.tables.tracks;
    let has_own = |thread: &u32| {
        let kind = TrackKind::Thread(ThreadId(*thread));
        tracks::of_kind(tracks, kind).is_some()
    };
    if threads.iter().all(has_own) {
        return Vec::new();
    }
    let slices = &ground.tables.slices;
    let is_async = |track: &&Track| matches!(track.kind, TrackKind::Async(_));
    let tracks = tracks.iter().filter(is_async);
    let rows = tracks.flat_map(|track| slices.rows_of(track));
    let ids = rows.flat_map(|row| row.slices.clone());
    let outer = ids.filter(|&id| slices.parent(id as usize).is_none());
    let events = &ground.recorded.events;
    let mut all: Vec<OuterAsync> = outer
        .filter_map(|id| {
            Some(OuterAsync {
                thread: events.thread(slices.begin(id as usize))?,
                start: slices.starts.at(id as usize),
                end: slices.end(id as usize),
                slice: SliceId(id),
            })
        })
        .collect();
    all.par_sort_unstable_by_key(|it| (it.thread.0, it.start, it.slice.0));
    all
}

/// Returns the slice of `asyncs` that the mark's thread began last, if it contains the mark or ends with it.
fn outer_async_of(asyncs: &[OuterAsync], mark: &FlowPointMark) -> Option<SliceId> {
    let thread = mark.thread?;
    let key = (thread, mark.time.0);
    let after = asyncs.partition_point(|it| (it.thread, it.start) <= key);
    let last = asyncs.get(after.checked_sub(1)?)?;
    (last.thread == thread && last.end >= mark.time.0).then_some(last.slice)
}

/// A slice that marks name: the event that begins it, or its thread, start in ns and name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    Event(EventId),
    Begun(ThreadId, i64, StringId),
}

impl Named {
    fn of(mark: &FlowPointMark) -> Option<Named> {
        match mark.bound {
            FlowBound::Own => Some(Named::Event(mark.event)),
            FlowBound::Begun { at, name } => Some(Named::Begun(mark.thread?, at, name)),
            _ => None,
        }
    }
}

/// Returns, for each mark that names a slice, that slice; `None` for all others.
fn named_slices(marks: &[FlowPointMark], ground: Ground<'_>) -> Vec<Option<SliceId>> {
    let named: Vec<Option<Named>> = marks.iter().map(Named::of).collect();
    let asked = named.iter().flatten();
    let mut found: FxHashMap<Named, Option<SliceId>> = asked.map(|it| (*it, None)).collect();
    if found.is_empty() {
        return vec![None; marks.len()];
    }
    let starts = found.keys().filter_map(|it| match it {
        Named::Begun(_, start, _) => Some(*start),
        Named::Event(_) => None,
    });
    let starts: FxHashSet<i64> = starts.collect();
    let slices = &ground.tables.slices;
    let events = &ground.recorded.events;
    for (slice, event) in (0..).map(SliceId).zip(slices.begins.iter()) {
        let event = EventId(event);
        if let Some(place) = found.get_mut(&Named::Event(event)) {
            *place = Some(slice);
        }
        let start = slices.starts.at(slice.0 as usize);
        if starts.contains(&start)
            && let Some(thread) = events.thread(event)
            && let begun = Named::Begun(thread, start, slices.label(slice).name)
            && let Some(place) = found.get_mut(&begun)
        {
            place.get_or_insert(slice);
        }
    }
    let of_mark = |it: Option<Named>| it.and_then(|it| found.get(&it).copied().flatten());
    named.into_iter().map(of_mark).collect()
}

/// Returns, for each mark, the slice that it is bound to. Parallel over threads, in order of time on each.
fn slices_around(marks: &[FlowPointMark], ground: Ground<'_>) -> Vec<Option<SliceId>> {
    let mut of_threads = Groups::with_capacity(marks.len());
    let bound = |mark: &FlowPointMark| !mark.is_bound_by_itself();
    for (mark, number) in marks.iter().zip(0_u32..).filter(|(mark, _)| bound(mark)) {
        if let Some(thread) = mark.thread {
            of_threads.push(thread.0, number);
        }
    }
    let of_threads = of_threads.sorted();
    let of_threads = gather([&of_threads]);
    let threads: Vec<u32> = of_threads.iter().map(|of| of.number).collect();
    let asyncs = outer_asyncs(&threads, ground);
    let found: Vec<Vec<(u32, SliceId)>> = of_threads
        .into_par_iter()
        .map(|of| {
            let kind = TrackKind::Thread(ThreadId(of.number));
            let has_own = tracks::of_kind(&ground.tables.tracks, kind).is_some();
            let numbers = of.own.into_iter().flatten();
            let may_end = |&number: &u32| marks[number as usize].bound == FlowBound::AroundOrEnding;
            let empty = match numbers.clone().any(may_end) {
                true => Empty::ContainsItsStart,
                false => Empty::ContainsNothing,
            };
            let mut around = Around::new(ground.tables, ThreadId(of.number), empty);
            numbers
                .filter_map(|&number| {
                    let mark = &marks[number as usize];
                    let slice = match mark.bound {
                        FlowBound::Around | FlowBound::AroundOrEnding | FlowBound::AtEnd
                            if !has_own =>
                        {
                            outer_async_of(&asyncs, mark)?
                        }
                        // `Around` only walks forward, and later marks may be at the slice's end itself.
                        FlowBound::AtEnd => ground.ending(mark)?,
                        FlowBound::AroundOrEnding => match around.innermost(mark.time.0) {
                            Some(slice) => slice,
                            None => ground.ending(mark)?,
                        },
                        FlowBound::Next => ground.next(mark.thread, mark.time)?,
                        _ => around.innermost(mark.time.0)?,
                    };
                    Some((number, slice))
                })
                .collect()
        })
        .collect();
    let mut slices = named_slices(marks, ground);
    for (number, slice) in found.into_iter().flatten() {
        slices[number as usize] = Some(slice);
    }
    slices
}

/// The arrows of the flows with one id, while its marks are visited in order of time.
#[derive(Default)]
struct OneId {
    /// For each process that has the id open: the last point of its flow.
    open: FxHashMap<Option<ProcessId>, FlowPoint>,
    /// The point from which further ends lead, for flows that ended but are not closed.
    ended: FxHashMap<Option<ProcessId>, FlowPoint>,
    /// The number of processes that began the id after the last time that no process had it open.
    begin_count: u32,
    /// The first of these processes.
    first: Option<ProcessId>,
    dropped: u64,
    /// (number of the mark that the arrow ends at, arrow).
    legs: Vec<(u32, Flow)>,
}

impl OneId {
    fn start(&mut self) {
        forget(&mut self.open);
        forget(&mut self.ended);
        self.begin_count = 0;
    }

    /// Returns the process whose flow has ended, and from where a further mark of `process` leads.
    fn ended_of(&self, process: Option<ProcessId>) -> Option<Option<ProcessId>> {
        if self.ended.contains_key(&process) {
            return Some(process);
        }
        let mut all = self.ended.keys();
        let only = all.next().filter(|_| self.open.is_empty());
        only.copied().filter(|_| all.next().is_none())
    }

    /// Adds the next mark; `point` is `None` if the mark needs a slice that contains it and there is none.
    fn add(
        &mut self,
        number: u32,
        mark: &FlowPointMark,
        process: Option<ProcessId>,
        point: Option<FlowPoint>,
    ) {
        let is_own = self.open.contains_key(&process);
        let Some(point) = point else {
            self.dropped += 1;
            return;
        };
        if mark.op == FlowOp::Begin {
            if is_own {
                self.dropped += 1;
                return;
            }
            self.ended.remove(&process);
            self.open.insert(process, point);
            if self.begin_count == 0 {
                self.first = process;
            }
            self.begin_count += 1;
            return;
        }
        let leg_from = |from: FlowPoint| Flow {
            key: mark.key,
            name: mark.name,
            kind: mark.kind,
            from,
            to: point,
        };
        let ended = (!is_own).then(|| self.ended_of(process)).flatten();
        if let Some(from) = ended.and_then(|owner| self.ended.get_mut(&owner)) {
            self.legs.push((number, leg_from(*from)));
            if mark.op == FlowOp::Step {
                *from = point;
            }
            return;
        }
        // An id that several processes had open stays ambiguous for other processes until all of them have closed it.
        let owner = match self.begin_count {
            _ if is_own => process,
            1 => self.first,
            _ => {
                self.dropped += 1;
                return;
            }
        };
        if let Some(from) = self.open.get_mut(&owner) {
            self.legs.push((number, leg_from(*from)));
            if mark.op == FlowOp::Step {
                *from = point;
            }
        }
        if mark.op == FlowOp::End {
            let from = self.open.remove(&owner);
            if mark.joined == FlowJoin::ByIdAndNames {
                self.ended.extend(from.map(|from| (owner, from)));
            }
            if self.open.is_empty() {
                self.begin_count = 0;
            }
        }
    }
}

/// Empties a map that is reused for every id. A large map is replaced, as clearing it would take long for each id.
fn forget<K: Hash + Eq, V>(map: &mut FxHashMap<K, V>) {
    if map.capacity() > 64 {
        *map = FxHashMap::default();
    } else {
        map.clear();
    }
}

/// The marks that make no arrow, sorted by event.
fn lone_flows(marks: &[FlowPointMark], flows: &[Flow]) -> Vec<LoneFlow> {
    let ends = flows.iter().flat_map(|flow| [flow.from, flow.to]);
    let mut in_arrows: Vec<EventId> = ends.map(|end| end.event).collect();
    in_arrows.par_sort_unstable();
    let lone = |mark: &&FlowPointMark| in_arrows.binary_search(&mark.event).is_err();
    let lone = marks.par_iter().filter(lone);
    let mut lone: Vec<LoneFlow> = lone
        .map(|mark| LoneFlow {
            event: mark.event,
            op: mark.op,
            key: mark.key,
        })
        .collect();
    lone.sort_unstable_by_key(|flow| flow.event);
    lone
}

/// Returns all arrows: those from flow marks, and those from links.
pub(crate) fn flow_table(rows: FlowRows, ground: Ground<'_>) -> FlowTable {
    let marks = collect_marks(rows.marks, ground.recorded);
    let slices = slices_around(&marks, ground);
    let identities = marks.iter().map(FlowPointMark::identity);
    let mut by_key: Vec<((u64, [StringId; 2]), u32)> = identities.zip(0..).collect();
    by_key.par_sort_unstable();
    let walk = |mut walked: OneId, marks_of_key: &[((u64, [StringId; 2]), u32)]| {
        walked.start();
        for &(_, number) in marks_of_key {
            let mark = &marks[number as usize];
            let process = ground.people.process_of_or_idle(mark.thread);
            let slice = slices[number as usize];
            let may_be_free = matches!(mark.bound, FlowBound::Nowhere | FlowBound::Begun { .. });
            let is_bound = slice.is_some() || may_be_free;
            let point = is_bound.then_some(FlowPoint {
                time: mark.time,
                thread: mark.thread,
                slice,
                event: mark.event,
            });
            walked.add(number, mark, process, point);
        }
        walked
    };
    let walks: Vec<OneId> = by_key
        .par_chunk_by(|a, b| a.0 == b.0)
        .fold(OneId::default, walk)
        .collect();
    let dropped = walks.iter().map(|walk| walk.dropped).sum();
    let mut legs: Vec<(u32, Flow)> = walks.into_iter().flat_map(|walk| walk.legs).collect();
    // No two arrows end at the same mark, so the order does not depend on how threads shared the work.
    legs.par_sort_unstable_by_key(|(number, leg)| (leg.from.time, *number));
    let mut flows: Vec<Flow> = legs.into_iter().map(|(_, leg)| leg).collect();
    let mut diagnostics = Diagnostics::default();
    if dropped > 0 {
        diagnostics.note_many("flow_dropped", Severity::Info, None, dropped, || {
            "flow events without a slice around them, without a begin, or ambiguous".to_owned()
        });
    }
    let links = rows.links.par_iter();
    let linked: Vec<Flow> = links.map(|link| flow_of_link(link, ground)).collect();
    flows.extend(linked);
    let lone = lone_flows(&marks, &flows);
    FlowTable {
        flows: Flows {
            lone,
            ..Flows::new(flows)
        },
        diagnostics,
    }
}
