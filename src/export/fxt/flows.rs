//! Arrows back to the marks that they were made of: begin, steps, end, each a mark at one time.
//!
//! A mark outside of the range moves to its border, if the other end of its arrow is inside, and says when it really
//! was; arrows of which both ends are outside are left out. Readers bind a mark to the innermost
//! slice around it: one that is really of another slice, or of none, says so in `really_in`, and we bind it to none.
//! No slice is made up for it, so that a range has as many slices as before.
//!
//! Flows keep their ids unless a reader would then bind them otherwise than they were: such a flow gets an
//! artificial id with bit 63 set.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::base::{StringId, Timestamp};
use crate::export::Chosen;
use crate::trace::flows::FlowPoint;
use crate::trace::{EventId, ProcessId, SliceId, ThreadId, Trace};

const ARTIFICIAL: u64 = 1 << 63;

/// What a mark does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowStepSort {
    /// The flow leaves.
    Begin,
    /// It passes through.
    Step,
    /// It arrives.
    End,
}

/// A mark.
#[derive(Clone, Copy, Debug)]
pub struct FlowMark {
    /// When, on the trace's clock, inside the range.
    pub time: i64,
    /// The event that it was.
    pub event: EventId,
    /// What it does.
    pub sort: FlowStepSort,
    /// The flow's id.
    pub id: u64,
    /// Its name, if the table says it (that of the arrow which arrives here).
    pub name: Option<StringId>,
    /// Whose.
    pub thread: ThreadId,
    /// Its place among what is told at its time: its event, or that of the flow's mark before it where that is later.
    pub order: u32,
    /// Whether its time is the border's.
    pub is_moved: bool,
    /// Of what it is, if not of the innermost slice that is written around it.
    pub really_in: Option<ReallyIn>,
    /// The number of its flow among those that are written.
    pub flow: u32,
}

/// What a mark is of that is not bound to the slice around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReallyIn {
    /// A slice that is not around it in what is written.
    Slice(SliceId),
    /// No slice.
    Nothing,
}

/// All marks in time order.
#[derive(Debug, Default)]
pub struct FlowMarks {
    /// The marks.
    pub marks: Vec<FlowMark>,
    /// Flows that got an artificial id.
    pub renamed_count: u64,
}

impl FlowMarks {
    /// Finds the marks of what was chosen.
    pub fn new(trace: &Trace, chosen: &Chosen<'_>) -> FlowMarks {
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
            // Only one arrow goes on from where another arrived: the others that leave there are flows of their own.
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
                    found.push(
                        flow.from,
                        (FlowStepSort::Begin, None),
                        number,
                        (trace, chosen),
                    );
                    number
                }
            };
            mark_of.insert((flow.to.event, flow.key), found.marks.len());
            let to = (FlowStepSort::End, Some(flow.name));
            found.push(flow.to, to, number, (trace, chosen));
            // At the border several of a flow's marks may have one time.
            if let [.., from, to] = found.marks.as_mut_slice()
                && from.flow == to.flow
                && from.time == to.time
            {
                to.order = to.order.max(from.order);
            }
        }
        found.marks.sort_by_key(|mark| (mark.time, mark.order));
        found.choose_ids(trace, ids);
        found
    }

    fn push(
        &mut self,
        point: FlowPoint,
        (sort, name): (FlowStepSort, Option<StringId>),
        flow: u32,
        (trace, chosen): (&Trace, &Chosen<'_>),
    ) {
        let span = chosen.span;
        let last = Timestamp(span.end.0.saturating_sub(1));
        let mut time = point.time.max(span.start).min(last);
        let ends = point
            .slice
            .map(|slice| trace.slices.own_end(slice.0 as usize));
        if ends.is_some_and(|end| end == time.0) && time > span.start {
            // An arrow from or to the very end of its slice would be bound to no slice: it is told just before.
            time = Timestamp(time.0 - 1);
        }
        let is_moved = time != point.time;
        // Elsewhere the slice around it is how it was found.
        let is_inside = ends.is_some_and(|end| end > time.0);
        let is_sure = !is_moved && is_inside && !chosen.limits_cpus();
        let around = || written_around(trace, chosen, point.thread, time);
        let really_in = match point.slice {
            Some(slice) if is_sure || around() == Some(slice) => None,
            Some(slice) => Some(ReallyIn::Slice(slice)),
            // Readers drop marks outside of slices that do not say so.
            None => Some(ReallyIn::Nothing),
        };
        self.marks.push(FlowMark {
            time: time.0,
            event: point.event,
            sort,
            id: 0,
            name,
            thread: point.thread,
            order: point.event.0,
            is_moved,
            really_in,
            flow,
        });
    }

    /// Gives every flow its own id, or an artificial one where a reader would take it for another's.
    fn choose_ids(&mut self, trace: &Trace, mut ids: Vec<u64>) {
        type Open = FxHashMap<(Option<ProcessId>, u64), u32>;
        type Owners = FxHashMap<u64, Vec<Option<ProcessId>>>;
        let mut open: Open = FxHashMap::default();
        let mut owners: Owners = FxHashMap::default();
        let mut home: Vec<Option<ProcessId>> = vec![None; ids.len()];
        let mut is_clash = vec![false; ids.len()];
        // As a reader does it: an id that several processes had open stays ambiguous until all have closed it.
        let end = |open: &mut Open, owners: &mut Owners, key: (Option<ProcessId>, u64)| {
            open.remove(&key);
            if let Some(list) = owners.get_mut(&key.1)
                && !list.iter().any(|owner| open.contains_key(&(*owner, key.1)))
            {
                list.clear();
            }
        };
        // A flow that will be told under another id never was there.
        let forget = |open: &mut Open, owners: &mut Owners, key: (Option<ProcessId>, u64)| {
            open.remove(&key);
            if let Some(list) = owners.get_mut(&key.1) {
                list.retain(|owner| *owner != key.0);
            }
        };
        for mark in &self.marks {
            let flow = mark.flow as usize;
            if is_clash[flow] {
                continue;
            }
            let process = trace.thread(mark.thread).process;
            let id = ids[flow];
            if mark.sort == FlowStepSort::Begin {
                match open.entry((process, id)) {
                    Entry::Occupied(_) => is_clash[flow] = true,
                    Entry::Vacant(free) => {
                        free.insert(mark.flow);
                        owners.entry(id).or_default().push(process);
                        home[flow] = process;
                    }
                }
                continue;
            }
            let found = match open.get(&(process, id)) {
                Some(&other) => Some(other),
                None => match owners.get(&id).map(Vec::as_slice) {
                    Some([only]) => open.get(&(*only, id)).copied(),
                    _ => None,
                },
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
        for mark in &mut self.marks {
            mark.id = ids[mark.flow as usize];
        }
    }
}

/// The innermost slice around a time that is written.
fn written_around(
    trace: &Trace,
    chosen: &Chosen<'_>,
    thread: ThreadId,
    time: Timestamp,
) -> Option<SliceId> {
    let innermost = trace.innermost_slice(thread, time);
    std::iter::successors(innermost, |&slice| trace.slices.get(slice).parent)
        .find(|&slice| chosen.has_slice(trace.slices.row_of(slice).track, slice.0 as usize))
}
