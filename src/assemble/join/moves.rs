//! Maps the ids of one member of a joined trace to the joined trace's ids.

use std::ops::Range;

use crate::base::{Maybe, Nanos, StringId, Timestamp};
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
    pub(super) processes: Processes,
    pub(super) first_event: u32,
    pub(super) first_label: u32,
}

/// The processes of the joined trace that the processes of a member became.
#[derive(Clone, Copy, Debug)]
pub(super) enum Processes {
    /// Process `n` of the member became process `n` + this number.
    From(u32),
    /// All became this process of another member.
    Home(ProcessId),
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

    /// Maps ends of runs and states. A run or state without an end lasts to the end of the member's file.
    pub(super) fn ends(&self, ends: &[Maybe<i64>]) -> impl Iterator<Item = Maybe<i64>> {
        ends.iter().map(|&end| self.end(end))
    }

    /// Maps one end, in ns; see [`Moves::ends`].
    pub(super) fn end(&self, end: Maybe<i64>) -> Maybe<i64> {
        let end = end.get().map(|end| self.time(Timestamp(end)));
        Maybe::new(end.unwrap_or(self.end).0)
    }

    pub(super) fn string(&self, id: StringId) -> StringId {
        self.strings
            .get(id.0 as usize)
            .copied()
            .unwrap_or(StringId::EMPTY)
    }

    pub(super) fn thread(&self, id: ThreadId) -> ThreadId {
        match id {
            ThreadId::IDLE => id,
            ThreadId(number) => ThreadId(self.first_thread + number - 1),
        }
    }

    pub(super) fn process(&self, id: ProcessId) -> ProcessId {
        match self.processes {
            Processes::From(first) => ProcessId(first + id.0),
            Processes::Home(home) => home,
        }
    }

    pub(super) fn cpu(&self, id: CpuId) -> CpuId {
        CpuId(self.first_cpu + id.0)
    }

    pub(super) fn event(&self, id: EventId) -> EventId {
        EventId(self.first_event + id.0)
    }

    pub(super) fn events(&self, ids: &[Maybe<u32>]) -> impl Iterator<Item = Maybe<u32>> {
        let moved = |id: u32| id + self.first_event;
        ids.iter().map(move |id| id.get().map(moved).into())
    }

    pub(super) fn track_kind(&self, kind: TrackKind) -> TrackKind {
        match kind {
            TrackKind::Cpu(cpu) => TrackKind::Cpu(self.cpu(cpu)),
            TrackKind::Thread(thread) => TrackKind::Thread(self.thread(thread)),
            TrackKind::Nobody => TrackKind::Nobody,
            TrackKind::Async(process) => TrackKind::Async(process.map(|id| self.process(id))),
        }
    }
}

pub(super) fn moved_range(range: &Range<u32>, by: u32) -> Range<u32> {
    range.start + by..range.end + by
}
