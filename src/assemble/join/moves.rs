//! Maps the ids of one member of a joined trace to the joined trace's ids.

use std::ops::Range;

use crate::base::{Nanos, StringId, Timestamp};
use crate::event::KindId;
use crate::trace::{CpuId, EventId, ProcessId, ThreadId, TrackKind};

/// For one member, the offset or map of each kind of id.
pub(super) struct Moves {
    pub(super) shift: Nanos,
    /// The end of the member's file on the joined axis.
    pub(super) end: Timestamp,
    pub(super) strings: Vec<StringId>,
    pub(super) kinds: Vec<KindId>,
    pub(super) first_cpu: u32,
    /// Thread `n` (from 1) became `first_thread + n - 1`.
    pub(super) first_thread: u32,
    pub(super) first_process: u32,
    pub(super) first_event: u32,
    pub(super) first_label: u32,
}

impl Moves {
    pub(super) fn time(&self, time: Timestamp) -> Timestamp {
        // The two ends of the axis mean "before all" and "after all": they are not shifted.
        if time == Timestamp::MIN || time == Timestamp::MAX {
            time
        } else {
            time.saturating_add(self.shift)
        }
    }

    pub(super) fn times(&self, times: &[i64]) -> impl Iterator<Item = i64> {
        times.iter().map(|&time| self.time(Timestamp(time)).0)
    }

    /// Maps ends of runs and states. An end at the axis's end means the end of the member's file.
    pub(super) fn ends(&self, ends: &[i64]) -> impl Iterator<Item = i64> {
        ends.iter().map(|&end| self.end(end))
    }

    /// Maps one end, in ns; see [`Moves::ends`].
    pub(super) fn end(&self, end: i64) -> i64 {
        match Timestamp(end) {
            Timestamp::MAX => self.end.0,
            end => self.time(end).0,
        }
    }

    pub(super) fn string(&self, id: StringId) -> StringId {
        self.strings
            .get(id.0 as usize)
            .copied()
            .unwrap_or(StringId::EMPTY)
    }

    pub(super) fn thread(&self, id: ThreadId) -> ThreadId {
        match id {
            ThreadId::IDLE | ThreadId::NONE => id,
            ThreadId(number) => ThreadId(self.first_thread + number - 1),
        }
    }

    pub(super) fn process(&self, id: ProcessId) -> ProcessId {
        ProcessId(self.first_process + id.0)
    }

    pub(super) fn cpu(&self, id: CpuId) -> CpuId {
        CpuId(self.first_cpu + id.0)
    }

    pub(super) fn event(&self, id: EventId) -> EventId {
        EventId(self.first_event + id.0)
    }

    pub(super) fn events(&self, ids: &[u32]) -> impl Iterator<Item = u32> {
        ids.iter().map(|&id| moved(id, self.first_event))
    }

    /// Maps an event id that may be `u32::MAX` for none.
    pub(super) fn event_or_none(&self, id: u32) -> u32 {
        moved(id, self.first_event)
    }

    pub(super) fn track_kind(&self, kind: TrackKind) -> TrackKind {
        match kind {
            TrackKind::Cpu(cpu) => TrackKind::Cpu(self.cpu(cpu)),
            TrackKind::Thread(thread) => TrackKind::Thread(self.thread(thread)),
            TrackKind::Async(process) => TrackKind::Async(process.map(|id| self.process(id))),
        }
    }
}

/// Adds `by` to a row number; `u32::MAX` means none and stays.
fn moved(id: u32, by: u32) -> u32 {
    if id == u32::MAX { id } else { id + by }
}

pub(super) fn moved_range(range: &Range<u32>, by: u32) -> Range<u32> {
    range.start + by..range.end + by
}
