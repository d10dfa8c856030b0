//! Flows: each row is one arrow, from a point in a slice to a point in another.

use super::entities::ThreadId;
use super::events::EventId;
use super::slices::SliceId;
use crate::base::{StringId, TimeSpan, Timestamp};

/// Row number of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// One arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The file's id of the flow that it is a leg of.
    pub key: u64,
    /// The flow's name.
    pub name: StringId,
    /// Where it leaves: when, whose, in which slice, by which event.
    pub from: FlowPoint,
    /// Where it arrives.
    pub to: FlowPoint,
}

impl Flow {
    /// Whether it leaves or arrives in a time span.
    #[must_use]
    pub fn has_end_in(&self, span: TimeSpan) -> bool {
        span.contains(self.from.time) || span.contains(self.to.time)
    }
}

/// One end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPoint {
    /// When.
    pub time: Timestamp,
    /// On whose track.
    pub thread: ThreadId,
    /// In which slice, if in one.
    pub slice: Option<SliceId>,
    /// By which event.
    pub event: EventId,
}

/// All flows, sorted by the time they leave; and which flows touch a slice.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    /// The arrows.
    pub rows: Vec<Flow>,
    /// (slice, flow), sorted: both ends of every arrow that has slices.
    pub by_slice: Vec<(u32, u32)>,
}

impl Flows {
    /// Sorts the arrows, and notes which touch which slice.
    #[must_use]
    pub fn new(mut rows: Vec<Flow>) -> Flows {
        rows.sort_by_key(|flow| flow.from.time);
        let ends = |(index, flow): (usize, &Flow)| {
            let slices = [flow.from.slice, flow.to.slice].into_iter().flatten();
            slices.map(move |slice| (slice.0, index as u32))
        };
        let mut by_slice: Vec<(u32, u32)> = rows.iter().enumerate().flat_map(ends).collect();
        by_slice.sort_unstable();
        by_slice.dedup();
        Flows { rows, by_slice }
    }

    /// The arrows that leave or enter a slice.
    pub fn of_slice(&self, slice: SliceId) -> impl Iterator<Item = FlowId> {
        let first = self.by_slice.partition_point(|&(of, _)| of < slice.0);
        self.by_slice[first..]
            .iter()
            .take_while(move |&&(of, _)| of == slice.0)
            .map(|&(_, flow)| FlowId(flow))
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Flow>() + self.by_slice.capacity() * 8) as u64
    }
}
