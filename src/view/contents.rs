//! What a trace contains: its format, span, counts and costs, each described once for `info`, its JSON and the Info pane.
//!
//! Does not list the facts that the file states about itself ([`TraceInfo::facts`](crate::event::TraceInfo::facts)),
//! its diagnostics, or the files on its axis.

use serde_json::{Value as Json, json};

use super::ruler;
use crate::base::time::grouped;
use crate::base::{Nanos, TimeSpan};
use crate::event::part::ClockUnit;
use crate::load::LoadedTrace;

/// One line about a trace.
pub(crate) struct Content {
    /// What the line is about, for people.
    pub label: &'static str,
    /// The line's value.
    pub value: ContentValue,
    /// The same for scripts: names with values.
    pub fields: Vec<(&'static str, Json)>,
}

/// The value of a line about a trace.
pub(crate) enum ContentValue {
    /// A text; empty if the trace does not state it.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A number that is a lower bound.
    AtLeast(u64),
    /// The path of a file, or of one of several, and the size of all in bytes.
    Files(String, u64),
}

impl ContentValue {
    /// Returns the value for people: digits in groups, sizes with units.
    #[must_use]
    pub(crate) fn words(&self) -> String {
        match self {
            ContentValue::Text(text) => text.clone(),
            ContentValue::Count(count) => count_words(*count),
            ContentValue::AtLeast(count) => format!("at least {}", count_words(*count)),
            ContentValue::Files(name, bytes) => format!("{name} ({})", ruler::size_text(*bytes)),
        }
    }

    /// Returns the value for scripts that read lines of text: plain digits.
    #[must_use]
    pub(crate) fn plain(&self) -> String {
        match self {
            ContentValue::Text(text) => text.clone(),
            ContentValue::Count(count) => count.to_string(),
            ContentValue::AtLeast(count) => format!("at least {count}"),
            ContentValue::Files(name, bytes) => format!("{name} ({bytes} bytes)"),
        }
    }

    /// Returns whether the trace does not state the value.
    #[must_use]
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, ContentValue::Text(text) if text.is_empty())
    }

    /// Returns whether the value says that there is nothing.
    #[must_use]
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, ContentValue::Count(0))
    }
}

fn count_words(count: u64) -> String {
    grouped(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Returns the lines about a trace, in the order of display.
#[must_use]
pub(crate) fn contents(loaded: &LoadedTrace) -> Vec<Content> {
    let trace = &loaded.trace;
    let info = &trace.info;
    let text = |label: &'static str, text: &str| Content {
        label,
        value: ContentValue::Text(text.to_owned()),
        fields: vec![(label, json!(text))],
    };
    let count = |label: &'static str, name: &'static str, count: usize| Content {
        label,
        value: ContentValue::Count(count as u64),
        fields: vec![(name, json!(count))],
    };
    vec![
        text("format", &info.format),
        file(loaded),
        span(trace.span, info.clock_unit),
        text("clock", &info.clock),
        Content {
            label: "wall clock",
            value: ContentValue::Text(info.wall_clock_of(trace.span).unwrap_or_default()),
            fields: vec![
                ("wall_clock_start", json!(info.wall_clock(trace.span.start))),
                ("wall_clock_end", json!(info.wall_clock(trace.span.end))),
            ],
        },
        count("events", "events", trace.events.len()),
        count("cpus", "cpus", trace.cpus.len()),
        count("processes", "processes", trace.processes.len()),
        // The first thread stands for events of no known thread.
        count("threads", "threads", trace.threads.len().saturating_sub(1)),
        count("slices", "slices", trace.slices.len()),
        count("instants", "instants", trace.instants.len()),
        count(
            "counter tracks",
            "counter_tracks",
            trace.counters.tracks.len(),
        ),
        count(
            "counter samples",
            "counter_samples",
            trace.counters.times.len(),
        ),
        count("flows", "flows", trace.flows.rows.len()),
        count("runs", "runs", trace.runs.len()),
        count("states", "states", trace.states.len()),
        count("logs", "logs", trace.logs.rows.len()),
        count("file uses", "files", trace.files.rows.len()),
        lost(loaded),
        loaded_in(loaded),
        Content {
            label: "memory",
            value: ContentValue::Text(ruler::size_text(loaded.memory_bytes())),
            fields: vec![("memory_bytes", json!(loaded.memory_bytes()))],
        },
    ]
}

fn file(loaded: &LoadedTrace) -> Content {
    let path = loaded.path.display().to_string();
    Content {
        label: "file",
        value: ContentValue::Files(loaded.with_others(path), loaded.file_bytes),
        fields: vec![
            ("path", json!(loaded.path.to_string_lossy())),
            ("file_bytes", json!(loaded.file_bytes)),
        ],
    }
}

/// Returns the line with duration, start and end; without a unit for clocks that do not count nanoseconds.
fn span(span: TimeSpan, unit: ClockUnit) -> Content {
    let length = ruler::length_text(span.duration(), unit);
    let (start, end) = match unit {
        ClockUnit::Nanoseconds => (span.start.to_string(), span.end.to_string()),
        _ => (grouped(span.start.0), grouped(span.end.0)),
    };
    Content {
        label: "span",
        value: ContentValue::Text(format!("{length} (from {start} to {end})")),
        fields: vec![
            ("start_ns", json!(span.start.0)),
            ("end_ns", json!(span.end.0)),
        ],
    }
}

fn lost(loaded: &LoadedTrace) -> Content {
    let trace = &loaded.trace;
    let (lost, are_more) = (trace.lost_events(), trace.are_more_lost());
    Content {
        label: "lost events",
        value: match are_more {
            true => ContentValue::AtLeast(lost),
            false => ContentValue::Count(lost),
        },
        fields: vec![
            ("lost_events", json!(lost)),
            ("lost_events_is_lower_bound", json!(are_more)),
        ],
    }
}

fn loaded_in(loaded: &LoadedTrace) -> Content {
    let timings = loaded.timings;
    let full = Nanos(i64::try_from(timings.full.as_nanos()).unwrap_or(i64::MAX));
    let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    Content {
        label: "loaded in",
        value: ContentValue::Text(full.to_string()),
        fields: vec![(
            "timings_ms",
            json!({ "coarse": ms(timings.coarse), "full": ms(timings.full) }),
        )],
    }
}
