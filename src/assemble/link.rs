//! Arrows between two known events, before the slices around them are known.

use crate::base::StringId;
use crate::event::FlowKind;
use crate::trace::EventId;

/// An arrow between two events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The name of the arrow.
    pub name: StringId,
    /// The meaning of the arrow.
    pub kind: FlowKind,
    /// The id of the flow that the arrow belongs to.
    pub key: u64,
    /// The event that it starts at.
    pub from: EventId,
    /// The event that it ends at.
    pub to: EventId,
}
