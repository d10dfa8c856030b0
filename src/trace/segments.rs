//! The events of one part as the trace keeps them: the columns that its reader made, converted when they are read.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::entities::ThreadMap;
use crate::base::{Nanos, Timestamp};
use crate::event::KindId;
use crate::event::columns::{EventColumns, EventRow};

/// Id of an event in one `Trace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u32);

/// The events of one part of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Segment {
    /// Index of the part in the reader's parts.
    pub part: u32,
    /// Index of the lane in the reader's lanes.
    pub lane: u32,
    /// Index of the lane's CPU in the trace, if it has one.
    pub cpu: Option<u32>,
    /// Id of the segment's first event.
    pub first: u32,
    /// Converts the columns' times, kinds and keys to the trace's, if several files share one axis.
    #[serde(skip)]
    pub origin: Option<Arc<Origin>>,
    /// Event times are multiples of this number of ns, if it is above 1. The rest of the columns' times only keeps the
    /// file's order among events of one time.
    pub resolution_ns: i64,
    /// The events, sorted by time; shared by all traces that contain them.
    pub columns: Arc<EventColumns>,
}

/// How the columns of one of several files are converted for the trace that joins the files.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Offset that is added to the columns' times.
    pub shift: Nanos,
    /// Offset that is added to CPU indices in the event columns.
    pub first_cpu: u32,
    /// The trace's kind for each kind of the file.
    pub kinds: Vec<KindId>,
    /// The trace's threads by the file's keys.
    pub threads: ThreadMap,
}

/// One event of the columns, with its segment's part and CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's id.
    pub id: EventId,
    /// Index of the part in the reader's parts.
    pub part: u32,
    /// Index of the CPU: the lane's or the event's own.
    pub cpu: Option<u32>,
    /// Time, place, kind and key.
    pub row: EventRow,
}

impl Segment {
    /// Returns the time of event `index` of this segment. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub fn time(&self, index: u32) -> Timestamp {
        self.shifted(self.rounded(self.columns.time(index)))
    }

    /// Returns the time of event `index`, not rounded: it orders events that have the same rounded time.
    pub(crate) fn order(&self, index: u32) -> Timestamp {
        self.shifted(self.columns.time(index))
    }

    #[inline]
    fn shifted(&self, time: Timestamp) -> Timestamp {
        match &self.origin {
            None => time,
            Some(origin) => time.saturating_add(origin.shift),
        }
    }

    /// Returns a time of the columns, rounded down to the resolution of the clock: the rest only keeps events in order.
    #[inline]
    fn rounded(&self, time: Timestamp) -> Timestamp {
        match self.resolution_ns {
            step @ 2.. => Timestamp(time.0.saturating_sub(time.0.rem_euclid(step))),
            _ => time,
        }
    }

    /// Returns the kind of event `index` of this segment.
    #[inline]
    #[must_use]
    pub fn kind(&self, index: u32) -> KindId {
        let kind = self.columns.kind(index);
        match &self.origin {
            None => kind,
            Some(origin) => origin.kinds.get(kind.index()).copied().unwrap_or(kind),
        }
    }

    /// Returns the index of the CPU of event `index`: its lane's or its own.
    #[must_use]
    pub fn cpu(&self, index: u32) -> Option<u32> {
        let first = self.origin.as_ref().map_or(0, |origin| origin.first_cpu);
        self.cpu.or_else(|| Some(self.columns.cpu(index)? + first))
    }

    /// Returns the index of the first event at or after `time`.
    #[must_use]
    pub(crate) fn lower_bound(&self, time: Timestamp) -> u32 {
        let time = match &self.origin {
            None => time,
            Some(origin) => time.saturating_add(Nanos(origin.shift.0.saturating_neg())),
        };
        // A rounded time is at or after `time` only if it is at or after the next multiple of the resolution.
        let time = match (self.rounded(time), self.resolution_ns) {
            (rounded, step @ 2..) if rounded != time => rounded.saturating_add(Nanos(step)),
            _ => time,
        };
        self.columns.lower_bound(time)
    }

    /// Returns the time of the first event. Panics if the segment is empty.
    #[must_use]
    pub(crate) fn first_time(&self) -> Timestamp {
        self.time(0)
    }

    /// Returns the time of the last event. Panics if the segment is empty.
    #[must_use]
    pub(crate) fn last_time(&self) -> Timestamp {
        self.time(self.columns.len() as u32 - 1)
    }

    /// Returns event `index` with all its columns.
    pub(crate) fn event(&self, index: u32) -> Event {
        Event {
            id: EventId(self.first + index),
            part: self.part,
            cpu: self.cpu(index),
            row: EventRow {
                time: self.time(index),
                kind: self.kind(index),
                ..self.columns.row(index)
            },
        }
    }
}
