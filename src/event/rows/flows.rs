//! Begins, steps and ends of flows.

use crate::base::StringId;
use crate::event::FlowKind;
use serde::{Deserialize, Serialize};

/// A begin, step or end of a flow, on its event's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMark {
    /// The event.
    pub event: u32,
    /// Begin, step or end.
    pub op: FlowOp,
    /// The slice that it is bound to.
    pub bound: FlowBound,
    /// The marks that belong to the same flow.
    pub joined: FlowJoin,
    /// The file's id.
    pub id: u64,
    /// The flow's name.
    pub name: StringId,
    /// The flow's category.
    pub category: StringId,
    /// The meaning of the arrow that ends here.
    pub kind: FlowKind,
}

/// What a [`FlowMark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FlowOp {
    /// The flow leaves its first slice.
    Begin,
    /// The flow passes through a slice.
    Step,
    /// The flow arrives at its last slice.
    End,
}

/// The slice that a [`FlowMark`] is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowBound {
    /// The innermost slice around it; ignored if there is none.
    Around,
    /// The innermost slice around it, or of no length at its time; if there is none, the innermost that ends at its time;
    /// ignored if there is neither.
    AroundOrEnding,
    /// The innermost slice around the nanosecond before the mark, which is at the slice's end; ignored if there is
    /// none.
    AtEnd,
    /// The first slice that begins at the mark's time or later on its thread, the outermost of several; ignored if
    /// there is none.
    Next,
    /// The slice that its event begins, on a thread or asynchronous; ignored if there is none.
    Own,
    /// The slice with this name that its thread began at this time (ns); no slice if there is none.
    Begun {
        /// The slice's start.
        at: i64,
        /// The slice's name.
        name: StringId,
    },
    /// No slice: the file itself states this.
    Nowhere,
}

/// The marks that belong to one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowJoin {
    /// The marks with its id.
    ById,
    /// The marks with its id, category and name. Further ends lead from where the first did, until the id begins again.
    ByIdAndNames,
}
