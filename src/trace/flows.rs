//! Flows: each row is one arrow, from a point in a slice to a point in another.

use super::entities::ThreadId;
use super::segments::EventId;
use super::slices::SliceId;
use crate::base::column::Column;
use crate::base::{StringId, TimeSpan, Timestamp};
use crate::event::{FlowKind, FlowOp};
use serde::{Deserialize, Serialize};

/// Row number of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FlowId(pub u32);

/// One arrow of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The file's id of the flow that the arrow belongs to.
    pub key: u64,
    /// The flow's name.
    pub name: StringId,
    /// The meaning of the arrow.
    pub kind: FlowKind,
    /// The start: time, thread, slice and event.
    pub from: FlowPoint,
    /// The end: time, thread, slice and event.
    pub to: FlowPoint,
}

impl Flow {
    /// Returns whether the arrow starts or ends within `span`.
    #[must_use]
    pub(crate) fn has_end_in(&self, span: TimeSpan) -> bool {
        span.contains(self.from.time) || span.contains(self.to.time)
    }
}

/// One end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowPoint {
    /// Time on the trace's clock.
    pub time: Timestamp,
    /// The thread whose track it is on, if it has one.
    pub thread: Option<ThreadId>,
    /// The slice that it is in, if any.
    pub slice: Option<SliceId>,
    /// The event that it comes from.
    pub event: EventId,
}

/// A flow event that makes no arrow: it has no counterpart, or no slice around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoneFlow {
    /// The event.
    pub event: EventId,
    /// Whether it begins, continues or ends its flow.
    pub op: FlowOp,
    /// The file's id of the flow.
    pub key: u64,
}

/// All arrows, sorted by start time, and the arrows that touch each slice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Flows {
    /// The arrows, sorted by start time.
    #[serde(with = "stored")]
    pub rows: Vec<Flow>,
    /// [slice, arrow], sorted: one entry for each end of an arrow that is in a slice.
    pub(crate) by_slice: Column<[u32; 2]>,
    /// Flow events that make no arrow, sorted by event.
    pub lone: Vec<LoneFlow>,
}

impl Flows {
    /// Sorts the arrows by start time and indexes them by slice.
    #[must_use]
    pub fn new(mut rows: Vec<Flow>) -> Flows {
        rows.sort_by_key(|flow| flow.from.time);
        let ends = |(index, flow): (usize, &Flow)| {
            let slices = [flow.from.slice, flow.to.slice].into_iter().flatten();
            slices.map(move |slice| [slice.0, index as u32])
        };
        let mut by_slice: Vec<[u32; 2]> = rows.iter().enumerate().flat_map(ends).collect();
        by_slice.sort_unstable();
        by_slice.dedup();
        Flows {
            rows,
            by_slice: by_slice.into(),
            lone: Vec::new(),
        }
    }

    /// Returns the arrows that start or end in a slice.
    pub fn of_slice(&self, slice: SliceId) -> impl Iterator<Item = FlowId> {
        let first = self.by_slice.partition_point(|&[of, _]| of < slice.0);
        self.by_slice[first..]
            .iter()
            .take_while(move |&&[of, _]| of == slice.0)
            .map(|&[_, flow]| FlowId(flow))
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Flow>() + self.lone.capacity() * size_of::<LoneFlow>())
            as u64
            + self.by_slice.memory_bytes()
    }
}

/// For serde's `with`: the arrows as columns of a model file, which are copied when they are read.
mod stored {
    use bytemuck::{Pod, Zeroable};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{EventId, Flow, FlowPoint, SliceId, ThreadId};
    use crate::base::column::{Column, checked};
    use crate::base::{Maybe, StringId, Timestamp};
    use crate::event::FlowKind;

    #[derive(Serialize, Deserialize)]
    struct Stored {
        points: Column<StoredPoint>,
        keys: Column<u64>,
        names: Column<u32>,
        #[serde(with = "checked")]
        kinds: Vec<FlowKind>,
    }

    /// Of each arrow first the start, then the end.
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct StoredPoint {
        time: i64,
        event: u32,
        thread: Maybe<u32>,
        slice: Maybe<u32>,
        unused: u32,
    }

    impl From<FlowPoint> for StoredPoint {
        fn from(point: FlowPoint) -> StoredPoint {
            StoredPoint {
                time: point.time.0,
                event: point.event.0,
                thread: point.thread.map(|id| id.0).into(),
                slice: point.slice.map(|id| id.0).into(),
                unused: 0,
            }
        }
    }

    impl From<StoredPoint> for FlowPoint {
        fn from(point: StoredPoint) -> FlowPoint {
            FlowPoint {
                time: Timestamp(point.time),
                thread: point.thread.get().map(ThreadId),
                slice: point.slice.get().map(SliceId),
                event: EventId(point.event),
            }
        }
    }

    pub(super) fn serialize<S: Serializer>(
        rows: &[Flow],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let points = rows.iter().flat_map(|flow| [flow.from, flow.to]);
        let stored = Stored {
            points: points.map(StoredPoint::from).collect(),
            keys: rows.iter().map(|flow| flow.key).collect(),
            names: rows.iter().map(|flow| flow.name.0).collect(),
            kinds: rows.iter().map(|flow| flow.kind).collect(),
        };
        stored.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Flow>, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let points = stored.points.as_chunks::<2>().0;
        let columns = points.iter().zip(&stored.keys).zip(&stored.names);
        let rows = columns.zip(&stored.kinds);
        let rows = rows.map(|(((&[from, to], &key), &name), &kind)| Flow {
            key,
            name: StringId(name),
            kind,
            from: from.into(),
            to: to.into(),
        });
        Ok(rows.collect())
    }
}
