//! Counters of an area: the greatest, least and mean value of each, and points to plot.

use super::{Area, Lane, Lanes};
use crate::base::TimeSpan;
use crate::index::Index;
use crate::query::visible::{self, CounterStep};
use crate::trace::{CounterTrack, CounterTrackId, Trace};

/// The values of a counter in a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterSummary {
    /// The counter's track.
    pub track: CounterTrackId,
    /// The number of samples in the span.
    pub count: u64,
    /// The smallest value, including the value that holds at the start.
    pub min: f64,
    /// The largest value, including the value that holds at the start.
    pub max: f64,
    /// The mean over time: each value weighted by the time for which it held.
    pub mean: f64,
    /// The mean of the samples in the span, each counted once: for values that are measurements of their own, such as
    /// latencies. `None` if there are no samples.
    pub sample_mean: Option<f64>,
    /// The value that holds at the start, or the first value in the span.
    pub first: f64,
    /// The value that holds at the end.
    pub last: f64,
}

/// Returns the counters of `area` that have a value in its span, in the order of the trace's counters.
#[must_use]
pub fn counters(trace: &Trace, area: &Area) -> Vec<CounterSummary> {
    let tracks: Vec<u32> = match &area.lanes {
        Lanes::All => (0..trace.counters.tracks.len() as u32).collect(),
        Lanes::Of(lanes) => lanes
            .iter()
            .filter_map(|lane| match lane {
                Lane::Counter(id) => Some(id.0),
                _ => None,
            })
            .collect(),
        Lanes::Both { .. } => Vec::new(),
    };
    let span = area.span.intersection(trace.span);
    tracks
        .into_iter()
        .filter_map(|id| counter(trace, CounterTrackId(id), span))
        .collect()
}

/// Returns the values of a counter in a span; `None` if it has no value there. NaNs count as samples only.
#[must_use]
pub fn counter(trace: &Trace, id: CounterTrackId, span: TimeSpan) -> Option<CounterSummary> {
    let track = trace.counters.tracks.get(id.0 as usize)?;
    let rows = in_force(trace, track, span);
    let times = &trace.counters.times[rows.clone()];
    let values = &trace.counters.values[rows];
    let (first, last) = (*values.first()?, *values.last()?);
    let mut summary = CounterSummary {
        track: id,
        count: 0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        mean: f64::NAN,
        sample_mean: None,
        first,
        last,
    };
    let (mut weighted, mut length) = (0.0, 0.0);
    let (mut sum, mut samples) = (0.0, 0_u64);
    for (at, (&time, &value)) in times.iter().zip(values).enumerate() {
        summary.count += u64::from(time >= span.start.0);
        if value.is_nan() {
            continue;
        }
        if time >= span.start.0 {
            sum += value;
            samples += 1;
        }
        summary.min = summary.min.min(value);
        summary.max = summary.max.max(value);
        let until = times.get(at + 1).copied().unwrap_or(span.end.0);
        let held = until.saturating_sub(time.max(span.start.0)).max(0) as f64;
        weighted += value * held;
        length += held;
    }
    summary.mean = if length > 0.0 {
        weighted / length
    } else {
        last
    };
    if summary.min > summary.max {
        (summary.min, summary.max) = (f64::NAN, f64::NAN);
    }
    summary.sample_mean = (samples > 0).then(|| sum / samples as f64);
    Some(summary)
}

fn in_force(trace: &Trace, track: &CounterTrack, span: TimeSpan) -> std::ops::Range<usize> {
    let rows = track.samples.start as usize..track.samples.end as usize;
    let times = &trace.counters.times[rows.clone()];
    let after = times.partition_point(|&time| time <= span.start.0);
    let first = after.saturating_sub(1);
    let last = times.partition_point(|&time| time < span.end.0).max(first);
    rows.start + first..rows.start + last
}

/// Returns a counter as at most about four points for each of `columns`: (ns since `origin`, value), including the
/// steps at which the value changes.
#[must_use]
pub(crate) fn points(
    trace: &Trace,
    index: &Index,
    id: CounterTrackId,
    span: TimeSpan,
    columns: u32,
    origin: i64,
) -> Vec<[f64; 2]> {
    let mut steps: Vec<CounterStep> = Vec::new();
    visible::counter(trace, index, id, span, columns, &mut steps);
    let mut points = Vec::with_capacity(steps.len() * 4);
    let x = |time: i64| time.saturating_sub(origin) as f64;
    for step in &steps {
        let (start, end) = (step.start.max(span.start.0), step.end.min(span.end.0));
        if step.count > 1 && step.min < step.max {
            points.push([x(start), step.min]);
            points.push([x(start), step.max]);
        }
        points.push([x(start), step.last]);
        points.push([x(end), step.last]);
    }
    points
}
