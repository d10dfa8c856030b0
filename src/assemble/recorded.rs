//! The events of all parts, and the maps from each part's numbers to the trace's. Every stage reads them.

use crate::base::streaks::Streaks;
use crate::base::{StringId, Timestamp};
use crate::event::{EventColumns, LaneClock};
use crate::trace::{CpuId, EventId, Events, LabelId, ThreadId, ThreadMap};

/// The events of all parts.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The parts that have events, in segment order.
    pub parts: Vec<Part>,
    /// All events.
    pub events: Events,
    /// The numbers of all CPUs, sorted; the index of a CPU in this list is its [`CpuId`].
    pub cpus: Vec<u32>,
}

/// A part of the file: its segment, and the maps of its strings and labels.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Index of its segment.
    pub segment: u32,
    /// The id of its first event.
    pub first_event: u32,
    /// The CPU of its lane, if the lane has one.
    pub cpu: Option<CpuId>,
    /// The clock of its events.
    pub clock: LaneClock,
    /// Maps the part's string ids to the trace's.
    pub strings: StringMap,
    /// The trace's id of each of the part's labels.
    pub labels: Streaks<LabelId>,
}

/// Maps the string ids of one table to the trace's string ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringMap(pub Streaks<StringId>);

impl StringMap {
    /// Returns the trace's id of a string; the empty string's id if the table has no such string.
    pub(super) fn get(&self, id: StringId) -> StringId {
        self.0.get(id.0 as usize).unwrap_or(StringId::EMPTY)
    }
}

impl Part {
    /// Returns the trace's id of one of the part's strings.
    pub(crate) fn string(&self, id: StringId) -> StringId {
        self.strings.get(id)
    }

    /// Returns the trace's id of one of the part's events.
    #[inline]
    pub(super) fn event(&self, local: u32) -> EventId {
        EventId(self.first_event + local)
    }
}

impl Recorded {
    /// Returns the same events with a map from keys to threads.
    #[must_use]
    pub(crate) fn with_threads(mut self, threads: ThreadMap) -> Recorded {
        self.events.threads = threads;
        self
    }

    /// Returns the event columns of a part.
    #[inline]
    pub(super) fn columns(&self, part: &Part) -> &EventColumns {
        &self.events.segments()[part.segment as usize].columns
    }

    /// Returns the lane index of a part.
    pub(crate) fn lane(&self, part: &Part) -> u32 {
        self.events.segments()[part.segment as usize].lane
    }

    /// Returns the time of one of a part's events.
    #[inline]
    pub(super) fn time(&self, part: &Part, local: u32) -> Timestamp {
        self.columns(part).time(local)
    }

    /// Returns the thread of one of a part's events, if it has one.
    #[inline]
    pub(super) fn thread(&self, part: &Part, local: u32) -> Option<ThreadId> {
        let columns = self.columns(part);
        let threads = &self.events.threads;
        threads.at(columns.thread(local), columns.time(local))
    }

    /// Returns the CPU of one of a part's events: that of the part's lane, else the one that the event names.
    #[inline]
    pub(crate) fn cpu(&self, part: &Part, local: u32) -> Option<CpuId> {
        (part.cpu).or_else(|| self.columns(part).cpu(local).map(CpuId))
    }

    /// Returns the id of the CPU with a number; `None` if no lane or row has that number.
    pub(crate) fn cpu_id(&self, number: u32) -> Option<CpuId> {
        let found = self.cpus.binary_search(&number).ok();
        found.map(|index| CpuId(index as u32))
    }
}
