//! The points of a counter's plot: their number is bounded, whatever the number of samples.

use crate::base::TimeSpan;
use crate::load::LoadedTrace;
use crate::query::area::counters;
use crate::trace::{CounterTrackId, Trace};

/// The quantity that is plotted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The value.
    #[default]
    Value,
    /// The change from sample to sample.
    Delta,
    /// The change per second.
    Rate,
}

/// Returns at most about four points for each of `columns` columns: (ns since `origin`, value).
pub(crate) fn points(
    loaded: &LoadedTrace,
    id: CounterTrackId,
    span: TimeSpan,
    columns: u32,
    origin: i64,
    mode: Mode,
) -> Vec<[f64; 2]> {
    if mode == Mode::Value {
        return counters::points(&loaded.trace, &loaded.index, id, span, columns, origin);
    }
    let steps = changes(&loaded.trace, id, span, columns);
    let mut points = Vec::with_capacity(steps.len() * 2);
    for Change { start, end, by } in steps {
        let value = match mode {
            Mode::Rate => by / ((end - start).max(1) as f64 / 1e9),
            Mode::Delta | Mode::Value => by,
        };
        // A change is drawn over the time since the sample before it.
        points.push([start.saturating_sub(origin) as f64, value]);
        points.push([end.saturating_sub(origin) as f64, value]);
    }
    points
}

/// A change of a counter between two samples.
struct Change {
    /// The times of the samples, in ns.
    start: i64,
    end: i64,
    by: f64,
}

/// Returns changes from sample to sample; from column to column if there are more samples than columns.
fn changes(trace: &Trace, id: CounterTrackId, span: TimeSpan, columns: u32) -> Vec<Change> {
    let Some(track) = trace.counters.tracks.get(id.0 as usize) else {
        return Vec::new();
    };
    let rows = track.samples.start as usize..track.samples.end as usize;
    let (Some(times), Some(values)) = (
        trace.counters.times.get(rows.clone()),
        trace.counters.values.get(rows),
    ) else {
        return Vec::new();
    };
    let first = times
        .partition_point(|&time| time <= span.start.0)
        .saturating_sub(1);
    let last = (times.partition_point(|&time| time < span.end.0) + 1).min(times.len());
    let columns = (columns.max(1)) as usize;
    let mut steps = Vec::new();
    let mut push = |from: usize, until: usize| {
        if let (Some(&start), Some(&end), Some(old), Some(new)) = (
            times.get(from),
            times.get(until),
            values.get(from),
            values.get(until),
        ) && end > start
        {
            let by = new - old;
            steps.push(Change { start, end, by });
        }
    };
    if last.saturating_sub(first) <= columns * 2 {
        for at in first..last.saturating_sub(1) {
            push(at, at + 1);
        }
        return steps;
    }
    // More samples than columns: from the last sample of one column to the last sample of the next.
    let mut before = first;
    for column in 1..=columns {
        let edge = i128::from(span.start.0)
            + i128::from(span.duration().0) * column as i128 / columns as i128;
        let at = times[first..last].partition_point(|&time| i128::from(time) <= edge) + first;
        let at = at.saturating_sub(1).max(before);
        if at > before {
            push(before, at);
            before = at;
        }
    }
    steps
}
