//! Flow marks to arrows: each leg from a begin or step to the next step or end of the same flow.
//!
//! A mark is bound to the innermost slice around it on its thread (a slice that begins at the same time is
//! around it, one that ends then is not). Ids are looked for in the mark's own process first; a step or end
//! from elsewhere joins a flow if exactly one process has it open, else it is ambiguous and dropped.
//! Begins of an id that is open, and steps and ends of one that is not, are dropped and counted.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::merge::Merged;
use super::process_life::Link;
use crate::base::{Nanos, Severity, StringId, Timestamp};
use crate::event::FlowOp;
use crate::trace::flows::FlowPoint;
use crate::trace::{EventId, Flow, Flows, ProcessId, Trace};

/// A flow mark with common numbers.
#[derive(Clone, Copy, Debug)]
pub struct FlowPointMark {
    time: Timestamp,
    event: EventId,
    op: FlowOp,
    key: u64,
    name: StringId,
}

/// The marks of all parts, sorted by time.
pub fn collect_marks(merged: &Merged) -> Vec<FlowPointMark> {
    let mut marks = Vec::new();
    for part in &merged.parts {
        marks.extend(part.rows.flows.iter().map(|row| FlowPointMark {
            time: merged.time(part, row.event),
            event: part.event(row.event),
            op: row.op,
            key: row.id,
            name: part.string(row.name),
        }));
    }
    marks.sort_by_key(|mark| mark.time);
    marks
}

/// An arrow whose ends are known, bound to the slices around them where there are some.
fn flow_of_link(link: &Link, trace: &Trace) -> Flow {
    let point = |event: EventId| {
        let (time, thread) = (trace.events.time(event), trace.events.thread(event));
        let just_before = time.saturating_add(Nanos(-1));
        FlowPoint {
            time,
            thread,
            // An exit ends its slice and is in it all the same.
            slice: trace
                .innermost_slice(thread, time)
                .or_else(|| trace.innermost_slice(thread, just_before)),
            event,
        }
    };
    Flow {
        key: link.key,
        name: link.name,
        from: point(link.from),
        to: point(link.to),
    }
}

/// See the module's text. `links` are arrows that were found otherwise.
pub fn build_flows(marks: Vec<FlowPointMark>, links: &[Link], trace: &mut Trace) -> Flows {
    let mut open: FxHashMap<(Option<ProcessId>, u64), FlowPoint> = FxHashMap::default();
    let mut owners: FxHashMap<u64, Vec<Option<ProcessId>>> = FxHashMap::default();
    let mut rows = Vec::new();
    let mut dropped = 0_u64;
    let shared: &Trace = trace;
    let bound: Vec<_> = marks
        .par_iter()
        .map(|mark| {
            let thread = shared.events.thread(mark.event);
            (thread, shared.innermost_slice(thread, mark.time))
        })
        .collect();
    for (mark, (thread, slice)) in marks.into_iter().zip(bound) {
        let point = FlowPoint {
            time: mark.time,
            thread,
            slice,
            event: mark.event,
        };
        let process = trace.thread(thread).process;
        let is_bound = slice.is_some();
        if mark.op == FlowOp::Begin {
            if !is_bound || open.contains_key(&(process, mark.key)) {
                dropped += 1;
            } else {
                open.insert((process, mark.key), point);
                owners.entry(mark.key).or_default().push(process);
            }
            continue;
        }
        let owner = if open.contains_key(&(process, mark.key)) {
            Some(process)
        } else {
            match owners.get(&mark.key).map(Vec::as_slice) {
                Some([only]) => Some(*only),
                _ => None,
            }
        };
        let Some(owner) = owner.filter(|_| is_bound) else {
            dropped += 1;
            continue;
        };
        if let Some(from) = open.get_mut(&(owner, mark.key)) {
            rows.push(Flow {
                key: mark.key,
                name: mark.name,
                from: *from,
                to: point,
            });
            *from = point;
        }
        if mark.op == FlowOp::End {
            open.remove(&(owner, mark.key));
            // An id that several processes had open stays ambiguous for others until all have closed it.
            if let Some(list) = owners.get_mut(&mark.key)
                && !list
                    .iter()
                    .any(|process| open.contains_key(&(*process, mark.key)))
            {
                list.clear();
            }
        }
    }
    if dropped > 0 {
        trace
            .diagnostics
            .note_many("flow_dropped", Severity::Info, None, dropped, || {
                "flow events without a slice around them, without a begin, or ambiguous".to_owned()
            });
    }
    let linked: Vec<Flow> = links
        .par_iter()
        .map(|link| flow_of_link(link, trace))
        .collect();
    rows.extend(linked);
    Flows::new(rows)
}
