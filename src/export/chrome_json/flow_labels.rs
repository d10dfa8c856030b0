//! Labels of flows: readers join the marks of a flow by id, category and name together, across all processes.
//!
//! A flow keeps its id if no other flow has it, and gets an unused id otherwise. Its name is that of its first named
//! arrow, or else that of the event that began it.

use rustc_hash::FxHashMap;

use crate::base::StringId;
use crate::export::shared::flow_marks::{FlowMark, FlowStepSort};
use crate::trace::Trace;

/// The label that all marks of a flow share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowLabel {
    /// The id; no other flow has it.
    pub id: u64,
    /// The name.
    pub name: StringId,
    /// The category; empty if none of its events has one.
    pub category: StringId,
}

/// Returns the labels of all flows, indexed by the flow's number in the marks.
pub(crate) fn flow_labels(trace: &Trace, marks: &[FlowMark]) -> Vec<FlowLabel> {
    let count = marks.iter().map(|mark| mark.flow as usize + 1).max();
    let mut labels = vec![FlowLabel::default(); count.unwrap_or(0)];
    let mut owners: FxHashMap<u64, u32> = FxHashMap::default();
    // Readers keep only the low 32 bits of an id.
    let mut next = 1_u64 << 30;
    for mark in marks.iter().filter(|mark| mark.id <= u64::from(u32::MAX)) {
        owners.entry(mark.id).or_insert(mark.flow);
    }
    for mark in marks {
        let Some(label) = labels.get_mut(mark.flow as usize) else {
            continue;
        };
        let kind = trace.events.get(mark.event).row.kind;
        let kind = trace.kinds.get(kind.index());
        if mark.sort == FlowStepSort::Begin || mark.is_lone {
            label.id = mark.id;
            if owners.get(&mark.id) != Some(&mark.flow) {
                while owners.contains_key(&next) {
                    next += 1;
                }
                owners.insert(next, mark.flow);
                label.id = next;
            }
        }
        let or = |own: StringId, other: StringId| match own {
            StringId::EMPTY => other,
            own => own,
        };
        label.name = or(label.name, mark.name.unwrap_or_default());
        label.category = or(
            label.category,
            kind.map_or(StringId::EMPTY, |kind| kind.category),
        );
    }
    for mark in marks {
        if let Some(label) = labels.get_mut(mark.flow as usize)
            && label.name == StringId::EMPTY
        {
            let kind = trace.events.get(mark.event).row.kind;
            let kind = trace.kinds.get(kind.index());
            label.name = kind.map_or(StringId::EMPTY, |kind| kind.name);
        }
    }
    labels
}
