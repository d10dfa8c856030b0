//! What all marks of a flow say alike: readers join them by id, category and name together, over all processes.
//!
//! A flow keeps its id if no other has it, and gets one that nobody has otherwise. Its name is that of its first
//! arrow that has one, else that of the event which began it.

use rustc_hash::FxHashMap;

use super::super::fxt::flows::{FlowMark, FlowStepSort};
use crate::base::StringId;
use crate::trace::Trace;

/// What the marks of a flow have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowLabel {
    /// The id, which no other flow has.
    pub id: u64,
    /// The name.
    pub name: StringId,
    /// The category; empty if none of its events has one.
    pub category: StringId,
}

/// The labels of all flows, by their number in the marks.
pub fn flow_labels(trace: &Trace, marks: &[FlowMark]) -> Vec<FlowLabel> {
    let count = marks.iter().map(|mark| mark.flow as usize + 1).max();
    let mut labels = vec![FlowLabel::default(); count.unwrap_or(0)];
    let mut owners: FxHashMap<u64, u32> = FxHashMap::default();
    // Readers keep 32 bits of an id.
    let mut next = 1_u64 << 30;
    for mark in marks.iter().filter(|mark| mark.id <= u64::from(u32::MAX)) {
        owners.entry(mark.id).or_insert(mark.flow);
    }
    for mark in marks {
        let Some(label) = labels.get_mut(mark.flow as usize) else {
            continue;
        };
        let kind = trace.events.get(mark.event).row.kind;
        let kind = trace.kinds.get(usize::from(kind.0));
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
            let kind = trace.kinds.get(usize::from(kind.0));
            label.name = kind.map_or(StringId::EMPTY, |kind| kind.name);
        }
    }
    labels
}
