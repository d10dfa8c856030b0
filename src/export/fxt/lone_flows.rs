//! Flow records of FXT files that no arrow was made of: begins that nothing follows, steps and ends of flows that
//! nothing began, marks outside of all slices. They are written as what they are, and may make no arrow when they
//! are read: see [`ReadFlow`].

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::flows::FlowStepSort;
use crate::event::{FieldRef, Role};
use crate::export::Chosen;
use crate::formats::{EventRef, Reader};
use crate::trace::{EventId, ProcessId, Segment, ThreadId, Trace};

/// How an argument is called that says which slice a flow event is of.
pub const REALLY_IN: &str = "really_in";

/// One such record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoneFlow {
    /// It.
    pub event: EventId,
    /// What it does.
    pub sort: FlowStepSort,
    /// The flow's id.
    pub id: u64,
    /// Whose.
    pub thread: ThreadId,
}

/// The lone flow records that were chosen, in the order of their events. Hardly any file has some.
pub fn lone_flows(trace: &Trace, chosen: &Chosen<'_>, reader: &dyn Reader) -> Vec<LoneFlow> {
    let sources = reader.fxt_sources();
    let all: u64 = sources.iter().map(|fxt| fxt.flow_count()).sum();
    if all == 0 {
        return Vec::new();
    }
    let of_fxt = |id: &EventId| {
        let event = EventRef::from(trace.events.get(*id));
        reader.fxt_source_of(event).is_some()
    };
    let flows = trace.flows.rows.iter();
    let mut in_arrows: Vec<EventId> = flows
        .flat_map(|flow| [flow.from.event, flow.to.event])
        .collect();
    in_arrows.par_sort_unstable();
    in_arrows.dedup();
    in_arrows.retain(of_fxt);
    if in_arrows.len() as u64 >= all {
        return Vec::new();
    }
    // One file's records say by their places alone what they are; of several the others have other kinds.
    let only = reader.fxt_source();
    let kinds = trace.kinds.iter();
    let may_be: Vec<bool> = kinds.map(|kind| kind.role == Role::Consumed).collect();
    let lone_flow = |id: EventId| {
        let event = EventRef::from(trace.events.get(id));
        let (op, key) = reader.fxt_source_of(event)?.flow(event.place)?;
        let thread = trace.events.thread(id);
        let is_lone = in_arrows.binary_search(&id).is_err();
        let is_chosen = chosen.has_track_of(thread) && chosen.has_cpu_of(id);
        (is_lone && is_chosen).then_some(LoneFlow {
            event: id,
            sort: op.into(),
            id: key,
            thread,
        })
    };
    let of_segment = |segment: &Segment| {
        let (mut found, span) = (Vec::new(), chosen.span);
        let range = segment.lower_bound(span.start)..segment.lower_bound(span.end);
        segment.columns.visit(range, |index, _, place| {
            let may_be = || may_be.get(usize::from(segment.kind(index).0)) == Some(&true);
            if only.map_or_else(may_be, |fxt| fxt.is_flow(place)) {
                found.extend(lone_flow(EventId(segment.first + index)));
            }
        });
        found
    };
    let segments = trace.events.segments().par_iter();
    let mut found: Vec<LoneFlow> = segments.flat_map_iter(of_segment).collect();
    found.sort_unstable_by_key(|flow| flow.event);
    found
}

/// Whether a record says itself which slice it is of, or that it is of none: such are never left out for lying outside of
/// all slices.
pub fn says_where(reader: &dyn Reader, event: EventRef) -> bool {
    let mut fields: Vec<FieldRef<'_>> = Vec::new();
    reader.fields_into(event, &mut fields);
    fields.iter().any(|field| field.name == REALLY_IN)
}

/// A flow mark of one id as it will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadFlow {
    /// What it does.
    pub sort: FlowStepSort,
    /// Where.
    pub process: Option<ProcessId>,
    /// The number of its flow.
    pub flow: u32,
    /// Whether it must make no arrow.
    pub is_lone: bool,
}

/// Whether the marks of one id, in their order, will be read as the arrows that they are of, and none more.
pub fn reads_as_meant(marks: &[ReadFlow]) -> bool {
    let mut open: FxHashMap<Option<ProcessId>, u32> = FxHashMap::default();
    let mut owners: FxHashSet<Option<ProcessId>> = FxHashSet::default();
    for mark in marks {
        let is_own = open.contains_key(&mark.process);
        if mark.sort == FlowStepSort::Begin {
            if !is_own {
                open.insert(mark.process, mark.flow);
                owners.insert(mark.process);
            } else if !mark.is_lone {
                return false;
            }
            continue;
        }
        // An id that several processes had open stays ambiguous for others until all have closed it.
        let owner = match owners.len() {
            _ if is_own => Some(mark.process),
            1 => owners.iter().next().copied(),
            _ => None,
        };
        let from = owner.and_then(|owner| open.get(&owner));
        match (from, mark.is_lone) {
            (None, true) => continue,
            (Some(&flow), false) if flow == mark.flow => {}
            _ => return false,
        }
        if mark.sort == FlowStepSort::End
            && let Some(owner) = owner
        {
            open.remove(&owner);
            if open.is_empty() {
                owners.clear();
            }
        }
    }
    true
}
