//! Plots: samples from a number of chosen events, and a trace with these samples as counter tracks, so that plots are
//! drawn, described and summed like all counters.

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use super::expression::{Expression, ExpressionError, Matcher, Verdict};
use super::item::event_ref;
use super::latency::Among;
use super::search::{EventFilter, filter_events};
use crate::base::{Cancelled, Job, TimeSpan};
use crate::event::{FieldRole, Value};
use crate::formats::Events;
use crate::index::counter_lod::CounterLod;
use crate::index::{Index, IndexedTrace};
use crate::query::Item;
use crate::trace::counters::CounterScope;
use crate::trace::plots::{Measure, Plot};
use crate::trace::{CounterTrack, CounterTrackId, EventId, SliceId, Trace};

/// Number of events (or slices) that a thread examines at a time.
const CHUNK: usize = 1 << 14;

/// The numbers of one plot, sorted by time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The times of the samples in ns.
    pub times: Vec<i64>,
    /// The values.
    pub values: Vec<f64>,
    /// The events with the values.
    pub events: Vec<u32>,
    /// The number of events that match; matching events without a number make no sample.
    pub meant: u64,
}

/// Why there is no plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlotError {
    /// The filter is wrong, or needs something that the trace cannot have.
    Filter(ExpressionError),
    /// The question has no answer, for this reason.
    Question(String),
    /// The job was cancelled.
    Cancelled,
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlotError::Filter(error) => error.fmt(f),
            PlotError::Question(why) => f.write_str(why),
            PlotError::Cancelled => f.write_str("it was stopped"),
        }
    }
}

impl From<ExpressionError> for PlotError {
    fn from(error: ExpressionError) -> PlotError {
        PlotError::Filter(error)
    }
}

impl From<Cancelled> for PlotError {
    fn from(_: Cancelled) -> PlotError {
        PlotError::Cancelled
    }
}

/// Returns the expression of a plot's filter: the name of a kind of events matches all events of the kind.
///
/// # Errors
///
/// Errors if the text is not a valid expression.
pub(crate) fn filter_of(trace: &Trace, filter: &str) -> Result<Expression, ExpressionError> {
    let name = filter.trim();
    let is_kind =
        (trace.kinds.iter()).any(|kind| trace.strings.bytes(kind.name) == name.as_bytes());
    match is_kind && !name.is_empty() {
        true => Expression::parse(&format!("{name}:")),
        false => Expression::parse(name),
    }
}

/// Gathers the numbers of a plot, in parallel. The job's progress counts events (slices for durations).
///
/// # Errors
/// Errors if the filter cannot be used, or if the job was cancelled.
pub fn samples_of(
    trace: &Trace,
    reader: &dyn Events,
    plot: &Plot,
    job: &Job,
) -> Result<Samples, PlotError> {
    let expression = filter_of(trace, &plot.filter)?;
    let measure = plot.measure();
    if measure == Some(Measure::Duration) {
        return durations(trace, reader, &expression, job);
    }
    let filter = EventFilter {
        expression: Some(expression),
        among: Among::All,
        span: TimeSpan::ALL,
    };
    let found = filter_events(trace, reader, &filter, job, &mut |_| ())?;
    job.check()?;
    let count = found.len();
    let chunks: Vec<usize> = (0..count).step_by(CHUNK).collect();
    let number = |at: usize, id: EventId| match measure {
        Some(Measure::Count) => Some((at + 1) as f64),
        Some(Measure::Gap) => {
            let before = found.get(at.checked_sub(1)?)?;
            Some((trace.events.time(id) - trace.events.time(before)).0 as f64)
        }
        Some(Measure::Duration) | None => {
            number_of(&reader.value(event_ref(trace, id), &plot.field)?)
        }
    };
    let parts: Vec<Samples> = chunks
        .into_par_iter()
        .map(|first| {
            let mut part = Samples::default();
            for at in first..count.min(first + CHUNK) {
                let Some(id) = found.get(at).filter(|_| !job.is_cancelled()) else {
                    break;
                };
                if let Some(value) = number(at, id) {
                    part.push(trace.events.time(id).0, value, id.0);
                }
            }
            part
        })
        .collect();
    job.check()?;
    let mut all = Samples {
        meant: count as u64,
        ..Samples::default()
    };
    parts.into_iter().for_each(|part| all.append(part));
    Ok(all)
}

/// Returns the durations of the slices that match.
fn durations(
    trace: &Trace,
    reader: &dyn Events,
    expression: &Expression,
    job: &Job,
) -> Result<Samples, PlotError> {
    let matcher = Matcher::new(expression, trace, reader)?;
    let count = trace.slices.len();
    job.set_total(count as u64);
    let chunks: Vec<usize> = (0..count).step_by(CHUNK).collect();
    let parts: Vec<Vec<(i64, f64, u32)>> = chunks
        .into_par_iter()
        .map(|first| {
            let mut probe = matcher.probe();
            let until = count.min(first + CHUNK);
            let rows = first..if job.is_cancelled() { first } else { until };
            let meant = rows.filter(|&row| probe.is_match(Item::Slice(SliceId(row as u32))));
            let taken = meant.filter_map(|row| {
                let slice = trace.slices.get(SliceId(row as u32));
                let length = slice.duration().filter(|_| slice.end.is_some())?;
                Some((slice.start.0, length.0 as f64, trace.slices.begins.at(row)))
            });
            let part = taken.collect();
            job.advance((until - first) as u64);
            part
        })
        .collect();
    job.check()?;
    let mut rows = parts.concat();
    rows.par_sort_by_key(|row| row.0);
    let mut all = Samples {
        meant: rows.len() as u64,
        ..Samples::default()
    };
    for (time, value, event) in rows {
        all.push(time, value, event);
    }
    Ok(all)
}

impl Samples {
    pub(crate) fn push(&mut self, time: i64, value: f64, event: u32) {
        self.times.push(time);
        self.values.push(value);
        self.events.push(event);
    }

    fn append(&mut self, mut other: Samples) {
        self.times.append(&mut other.times);
        self.values.append(&mut other.values);
        self.events.append(&mut other.events);
    }
}

/// A value as a number; a text counts if it is one.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(value) => Some(*value as f64),
        Value::UInt(value) | Value::Pointer(value) | Value::Koid(value) => Some(*value as f64),
        Value::Double(value) => Some(*value),
        Value::Text(text) => {
            let text = text.trim();
            match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok().map(|it| it as f64),
                None => text.parse().ok(),
            }
        }
        Value::Null | Value::Bytes(_) | Value::List(_) => None,
    }
    .filter(|number| number.is_finite())
}

/// A plot and its samples.
#[derive(Clone, Debug)]
pub struct MadePlot {
    /// The plot.
    pub plot: Plot,
    /// Its samples.
    pub samples: Arc<Samples>,
}

/// Returns the trace with plots as its last counter tracks, and its index. All other tables are shared.
#[must_use]
pub fn with_plots(trace: &Trace, index: &Index, plots: &[MadePlot]) -> IndexedTrace {
    let (mut trace, mut index) = (trace.clone(), index.clone());
    for MadePlot { plot, samples } in plots {
        let name = trace.strings.intern_text(&plot.title());
        let counters = &mut trace.counters;
        let first = counters.times.len();
        let fits = first + samples.times.len() < u32::MAX as usize;
        if fits {
            counters.times.extend_from_slice(&samples.times);
            counters.values.extend_from_slice(&samples.values);
            counters.events.extend_from_slice(&samples.events);
        }
        let values = samples.values.iter().copied();
        let low = values.clone().reduce(f64::min).unwrap_or(0.0);
        let high = values.reduce(f64::max).unwrap_or(0.0);
        counters.tracks.push(CounterTrack {
            name,
            scope: CounterScope::Global,
            samples: first as u32..counters.times.len() as u32,
            range: (low, high),
        });
        trace.plots.push(plot.clone());
    }
    let first = trace.counters.tracks.len() - plots.len();
    index.counters.resize(first, None);
    let pyramids = trace.counters.tracks.iter().skip(first);
    let pyramids = pyramids.map(|track| CounterLod::of_large(&trace, track).map(Arc::new));
    index.counters.extend(pyramids);
    IndexedTrace { trace, index }
}

/// Returns the counter track of a plot, if the trace has it.
#[must_use]
pub fn track_of(trace: &Trace, plot: &Plot) -> Option<CounterTrackId> {
    let at = trace.plots.iter().position(|other| other == plot)?;
    let first = trace.counters.tracks.len().checked_sub(trace.plots.len())?;
    Some(CounterTrackId((first + at) as u32))
}

/// Returns the plot of a counter track; `None` if the track is a recorded counter.
#[must_use]
pub fn plot_of(trace: &Trace, track: CounterTrackId) -> Option<&Plot> {
    let first = trace.counters.tracks.len().checked_sub(trace.plots.len())?;
    trace.plots.get((track.0 as usize).checked_sub(first)?)
}

/// The most events whose fields are read.
const MOST_ASKED: usize = 64;
/// The most events that are compared with the filter.
const MOST_TRIED: usize = 200_000;

/// Returns the names of the numeric fields of the first events that match a filter, in the order of the fields.
///
/// # Errors
/// If the job is cancelled.
pub fn numbers_of(
    trace: &Trace,
    reader: &dyn Events,
    filter: &str,
    job: &Job,
) -> Result<Vec<String>, Cancelled> {
    let expression = filter_of(trace, filter);
    let Ok(matcher) = expression.and_then(|it| Matcher::new(&it, trace, reader)) else {
        return Ok(Vec::new());
    };
    let mut probe = matcher.probe();
    let (mut asked, mut tried) = (0, 0);
    // Fields that every event has come last.
    let (mut names, mut common): (Vec<String>, Vec<String>) = Default::default();
    for id in (0..trace.events.len() as u32).map(EventId) {
        if (id.0 as usize).is_multiple_of(CHUNK) {
            job.check()?;
        }
        let verdict = matcher.of_kind(trace.events.kind(id));
        if verdict == Verdict::No {
            continue;
        }
        tried += 1;
        if tried > MOST_TRIED || asked == MOST_ASKED {
            break;
        }
        if verdict == Verdict::Ask && !probe.is_match(Item::Event(id)) {
            continue;
        }
        asked += 1;
        for field in reader.fields(event_ref(trace, id)) {
            let names = match field.role {
                FieldRole::Common => &mut common,
                _ => &mut names,
            };
            if number_of(&field.value).is_some() && !names.contains(&field.name) {
                names.push(field.name);
            }
        }
    }
    common.retain(|name| !names.contains(name));
    names.append(&mut common);
    Ok(names)
}
