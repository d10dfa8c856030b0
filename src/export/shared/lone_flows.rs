//! Lone flow events: begins without a following step or end, steps and ends without a begin, marks outside of all
//! slices; no arrow was made of them. They are written with their own kind, and must not become arrows when they are
//! read: see [`ReadFlow`].

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow_marks::FlowStepSort;
use crate::event::FieldRef;
use crate::formats::{EventRef, Events};
use crate::fxt::agreed::REALLY_IN;
use crate::query::selection::Chosen;
use crate::trace::flows::LoneFlow;
use crate::trace::{ProcessId, Trace};

/// Returns the chosen lone flow events, in the order of their events. Few files contain any.
pub(crate) fn lone_flows(trace: &Trace, chosen: &Chosen<'_>) -> Vec<LoneFlow> {
    let is_chosen = |flow: &&LoneFlow| {
        chosen.span.contains(trace.events.time(flow.event))
            && chosen.has_track_of(trace.events.thread(flow.event))
            && chosen.has_cpu_of(flow.event)
    };
    trace.flows.lone.iter().filter(is_chosen).copied().collect()
}

/// Returns whether a record itself names its slice, or states that it has none: readers do not drop such a mark outside
/// of all slices.
pub(crate) fn names_its_slice(reader: &dyn Events, event: EventRef) -> bool {
    let mut fields: Vec<FieldRef<'_>> = Vec::new();
    reader.fields_into(event, &mut fields);
    fields.iter().any(|field| field.name == REALLY_IN)
}

/// A flow mark of one id, as the reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadFlow {
    /// Its role in its flow.
    pub sort: FlowStepSort,
    /// The process of its thread.
    pub process: Option<ProcessId>,
    /// The number of its flow.
    pub flow: u32,
    /// Whether it must not become part of an arrow.
    pub is_lone: bool,
}

/// Returns whether the marks of one id, in their order, will be read as exactly the arrows that they belong to.
pub(crate) fn reads_as_meant(marks: &[ReadFlow]) -> bool {
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
        // As the reader does: an id that several processes opened stays ambiguous for others until all have closed it.
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
