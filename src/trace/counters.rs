//! Counter tracks and their samples: a value is valid from its sample to the next.

use super::entities::{CpuId, ProcessId, ThreadId};
use crate::base::column::Column;
use crate::base::{StringId, TimeSpan, Timestamp};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Row number of a counter track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CounterTrackId(pub u32);

/// One counter: a series of samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterTrack {
    /// Name of the counter, shown at the left.
    pub name: StringId,
    /// The owner of the counter.
    pub scope: CounterScope,
    /// Rows of the counter's samples, sorted by time.
    pub samples: Range<u32>,
    /// The smallest and largest value, without NaN.
    pub range: (f64, f64),
}

/// The owner of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// All counter tracks, and the columns of their samples.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// The tracks.
    pub tracks: Vec<CounterTrack>,
    /// Time of each sample, in ns.
    pub times: Column<i64>,
    /// Value of each sample.
    pub values: Column<f64>,
    /// Id of each sample's event.
    pub events: Column<u32>,
}

impl Counters {
    /// Returns the samples of `track` whose values hold in `span`: from the sample that holds at its start to the last
    /// sample before its end.
    #[must_use]
    pub(crate) fn in_force(&self, track: &CounterTrack, span: TimeSpan) -> Range<u32> {
        let times = &self.times[track.samples.start as usize..track.samples.end as usize];
        let first = times
            .partition_point(|&time| time <= span.start.0)
            .saturating_sub(1);
        let last = times.partition_point(|&time| time < span.end.0).max(first);
        track.samples.start + first as u32..track.samples.start + last as u32
    }

    /// Returns the row of the sample of `track` that is valid at `time`; `None` before the first.
    #[must_use]
    pub(crate) fn sample_at(&self, track: &CounterTrack, time: Timestamp) -> Option<u32> {
        let rows = track.samples.start as usize..track.samples.end as usize;
        let after = self.times.get(rows)?.partition_point(|&at| at <= time.0);
        Some(track.samples.start + after.checked_sub(1)? as u32)
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.times.memory_bytes()
            + self.values.memory_bytes()
            + self.events.memory_bytes()
            + (self.tracks.capacity() * size_of::<CounterTrack>()) as u64
    }
}
