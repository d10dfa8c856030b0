//! The draw list of a counter.

use crate::base::TimeSpan;
use crate::index::Index;
use crate::trace::{CounterTrackId, Trace};

/// A counter's values over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterStep {
    /// First nanosecond.
    pub start: i64,
    /// First nanosecond after: the next step's start.
    pub end: i64,
    /// The time of the last sample: `last` holds from there to the end.
    pub settled: i64,
    /// The smallest value in it.
    pub min: f64,
    /// The largest value in it.
    pub max: f64,
    /// The value at its end.
    pub last: f64,
    /// Row number of its first sample.
    pub first: u32,
    /// The number of samples in the block.
    pub count: u32,
}

/// Writes the values of a counter to `out`, which is emptied first.
pub fn counter(
    trace: &Trace,
    index: &Index,
    track: CounterTrackId,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<CounterStep>,
) {
    out.clear();
    let number = track.0 as usize;
    let Some(track) = trace.counters.tracks.get(number) else {
        return;
    };
    if span.is_empty() || track.samples.is_empty() {
        return;
    }
    let width = (span.duration().0 / i64::from(pixels.max(1))).max(1);
    let (times, values) = (&trace.counters.times, &trace.counters.values);
    let base = track.samples.start;
    let end_of_file = trace
        .file_span(number as u32, |source| &source.counters)
        .end
        .0;
    let level = index
        .counters
        .get(number)
        .and_then(Option::as_ref)
        .and_then(|lod| lod.level(width));
    let mut push = |first: u32, until: u32, min: f64, max: f64| {
        let start = times[(base + first) as usize];
        let end = if base + until < track.samples.end {
            times[(base + until) as usize]
        } else {
            end_of_file
        };
        let last = values[(base + until - 1) as usize];
        let settled = times[(base + until - 1) as usize];
        if let Some(open) = out.last_mut()
            && open.start.div_euclid(width) == start.div_euclid(width)
        {
            open.end = end;
            open.settled = settled;
            open.min = open.min.min(min);
            open.max = open.max.max(max);
            open.last = last;
            open.count += until - first;
            return;
        }
        out.push(CounterStep {
            start,
            end,
            settled,
            min,
            max,
            last,
            first: base + first,
            count: until - first,
        });
    };
    if let Some(level) = level {
        let entries = &level.entries;
        let runs = &entries[..entries.len().saturating_sub(1)];
        let after =
            runs.partition_point(|entry| times[(base + entry.first) as usize] <= span.start.0);
        for at in after.saturating_sub(1)..runs.len() {
            let (entry, next) = (entries[at], entries[at + 1]);
            if times[(base + entry.first) as usize] >= span.end.0 {
                break;
            }
            push(entry.first, next.first, entry.min, entry.max);
        }
    } else {
        for row in trace.counters.in_force(track, span) {
            let value = values[row as usize];
            push(row - base, row - base + 1, value, value);
        }
    }
}
