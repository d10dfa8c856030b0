//! Pyramids of counters: the smallest and largest value of runs of samples, for each zoom level.

use super::lod::{SMALL_ROW, coarsest_within};
use crate::trace::{CounterTrack, Trace};
use serde::{Deserialize, Serialize};

/// The pyramid of a counter: smallest and largest value of runs of samples, finest level first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CounterLod {
    levels: Vec<CounterLevel>,
}

/// One level of a counter's pyramid.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CounterLevel {
    /// The samples of an entry are in the same bucket of `2^shift` ns.
    pub shift: u32,
    /// The entries; the last is a sentinel, whose `first` is the number of samples.
    pub entries: Vec<CounterEntry>,
}

/// A run of samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CounterEntry {
    /// Index of the first sample among the track's samples.
    pub first: u32,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl CounterLod {
    /// Returns the pyramid of a counter track; `None` if it has fewer than [`SMALL_ROW`] samples.
    #[must_use]
    pub(crate) fn of_large(trace: &Trace, track: &CounterTrack) -> Option<CounterLod> {
        if track.samples.len() < SMALL_ROW {
            return None;
        }
        let range = track.samples.start as usize..track.samples.end as usize;
        let times = &trace.counters.times[range.clone()];
        let values = &trace.counters.values[range];
        let count = times.len() as u32;
        let span = (i128::from(times[times.len() - 1]) - i128::from(times[0])).max(1);
        let mean = (span / i128::from(count)).max(1) as u64;
        let mut shift = (63 - mean.leading_zeros() + 3).min(62);
        let mut entries: Vec<CounterEntry> = (0..count)
            .map(|i| CounterEntry {
                first: i,
                min: values[i as usize],
                max: values[i as usize],
            })
            .collect();
        let mut levels = Vec::new();
        while shift < 62 {
            entries = merge_counters(&entries, times, shift);
            let is_small = entries.len() <= 64;
            if entries.len() as u32 <= count / 8 || is_small {
                let mut kept = entries.clone();
                kept.push(CounterEntry {
                    first: count,
                    min: 0.0,
                    max: 0.0,
                });
                levels.push(CounterLevel {
                    shift,
                    entries: kept,
                });
            }
            if is_small {
                break;
            }
            shift += 1;
        }
        Some(CounterLod { levels })
    }

    /// Returns the coarsest level whose buckets are at most `width` ns wide; `None`: read the samples themselves.
    #[must_use]
    pub(crate) fn level(&self, width: i64) -> Option<&CounterLevel> {
        coarsest_within(&self.levels, width, |level| level.shift)
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.levels
            .iter()
            .map(|level| (level.entries.capacity() * size_of::<CounterEntry>()) as u64)
            .sum()
    }
}

fn merge_counters(finer: &[CounterEntry], times: &[i64], shift: u32) -> Vec<CounterEntry> {
    let mut entries: Vec<CounterEntry> = Vec::with_capacity(finer.len() / 2 + 1);
    let mut open_bucket = None;
    for entry in finer {
        let bucket = times[entry.first as usize] >> shift;
        match entries.last_mut().filter(|_| open_bucket == Some(bucket)) {
            Some(open) => {
                open.min = open.min.min(entry.min);
                open.max = open.max.max(entry.max);
            }
            None => {
                open_bucket = Some(bucket);
                entries.push(*entry);
            }
        }
    }
    entries
}
