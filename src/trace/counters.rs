//! Counter tracks and their samples: a value holds from its sample to the next.

use super::entities::{CpuId, ProcessId, ThreadId};
use crate::base::{StringId, TimeSpan, Timestamp};
use std::ops::Range;

/// Row number of a counter track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterTrackId(pub u32);

/// One series of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterTrack {
    /// Shown at the left.
    pub name: StringId,
    /// Where it belongs.
    pub scope: CounterScope,
    /// Its samples, sorted by time.
    pub samples: Range<u32>,
    /// The smallest and largest value (of those that are numbers).
    pub range: (f64, f64),
}

/// Where a counter belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CounterScope {
    /// The whole machine.
    Global,
    /// One CPU.
    Cpu(CpuId),
    /// One process.
    Process(ProcessId),
    /// One thread.
    Thread(ThreadId),
}

/// All counter tracks; samples as columns.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// The tracks.
    pub tracks: Vec<CounterTrack>,
    /// When each sample was taken.
    pub times: Vec<i64>,
    /// What it was.
    pub values: Vec<f64>,
    /// The event that said so.
    pub events: Vec<u32>,
}

impl Counters {
    /// The samples of `track` that matter in `span`: from the one in force at its start to the last before its end.
    #[must_use]
    pub fn in_force(&self, track: &CounterTrack, span: TimeSpan) -> Range<u32> {
        let times = &self.times[track.samples.start as usize..track.samples.end as usize];
        let first = times
            .partition_point(|&time| time <= span.start.0)
            .saturating_sub(1);
        let last = times.partition_point(|&time| time < span.end.0).max(first);
        track.samples.start + first as u32..track.samples.start + last as u32
    }

    /// The value of `track` at `time`, if it had one yet.
    #[must_use]
    pub fn value_at(&self, track: &CounterTrack, time: Timestamp) -> Option<f64> {
        self.values
            .get(self.sample_at(track, time)? as usize)
            .copied()
    }

    /// The row of the sample of `track` that is in force at `time`.
    #[must_use]
    pub fn sample_at(&self, track: &CounterTrack, time: Timestamp) -> Option<u32> {
        let rows = track.samples.start as usize..track.samples.end as usize;
        let after = self.times.get(rows)?.partition_point(|&at| at <= time.0);
        Some(track.samples.start + after.checked_sub(1)? as u32)
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.times.capacity() * 8
            + self.values.capacity() * 8
            + self.events.capacity() * 4
            + self.tracks.capacity() * size_of::<CounterTrack>()) as u64
    }
}
