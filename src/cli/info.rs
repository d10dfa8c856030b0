//! `threadline info`: what a trace holds, for people or as JSON.

use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::json;

use super::command::{CliError, Command, files_arguments, load};
use crate::base::visible::{Visible, harmless};
use crate::base::{Nanos, TimeSpan};
use crate::event::part::ClockUnit;
use crate::load::LoadedTrace;
use crate::view::ruler;

/// This command's row.
pub const COMMAND: Command = Command {
    name: "info",
    about: "Say what a trace holds: format, span, counts, clocks, what was odd",
    arguments: |command| {
        files_arguments(command).arg(
            Arg::new("json")
                .long("json")
                .help("Print one JSON object")
                .action(ArgAction::SetTrue),
        )
    },
    run: info,
};

fn info(matches: &ArgMatches) -> Result<(), CliError> {
    let loaded = load(matches)?;
    let mut out = std::io::stdout().lock();
    if matches.get_flag("json") {
        let text = serde_json::to_string_pretty(&as_json(&loaded))
            .map_err(|error| CliError::Output(error.into()))?;
        let mut out = Visible::json(out);
        writeln!(out, "{text}")?;
        out.finish()?;
    } else {
        write_text(&loaded, &mut out)?;
    }
    Ok(())
}

fn as_json(loaded: &LoadedTrace) -> serde_json::Value {
    let trace = &loaded.trace;
    let diagnostics: Vec<_> = trace
        .diagnostics
        .rows()
        .iter()
        .map(|row| {
            json!({
                "severity": row.severity,
                "code": row.code,
                "count": row.count,
                "first": row.places.first().map(ToString::to_string),
                "message": row.message,
            })
        })
        .collect();
    let facts: serde_json::Map<String, serde_json::Value> = trace
        .info
        .facts
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    let sources: Vec<_> = trace
        .sources
        .iter()
        .map(|source| {
            json!({
                "name": source.name,
                "format": source.info.format,
                "clock": source.info.clock,
                "offset_ns": source.offset().0,
                "evidence": source.evidence,
            })
        })
        .collect();
    json!({
        "format": trace.info.format,
        "path": loaded.path.to_string_lossy(),
        "file_bytes": loaded.file_bytes,
        "clock": trace.info.clock,
        "wall_clock_start": trace.info.wall_clock(trace.span.start),
        "wall_clock_end": trace.info.wall_clock(trace.span.end),
        "sources": sources,
        "start_ns": trace.span.start.0,
        "end_ns": trace.span.end.0,
        "events": trace.events.len(),
        "lost_events": trace.lost_events(),
        "lost_events_is_lower_bound": trace.are_more_lost(),
        "cpus": trace.cpus.len(),
        "processes": trace.processes.len(),
        "threads": trace.threads.len().saturating_sub(1),
        "slices": trace.slices.len(),
        "instants": trace.instants.len(),
        "counter_tracks": trace.counters.tracks.len(),
        "counter_samples": trace.counters.times.len(),
        "flows": trace.flows.rows.len(),
        "runs": trace.runs.len(),
        "states": trace.states.len(),
        "logs": trace.logs.rows.len(),
        "files": trace.files.rows.len(),
        "diagnostics": diagnostics,
        "timings_ms": {
            "coarse": loaded.timings.coarse.as_secs_f64() * 1e3,
            "full": loaded.timings.full.as_secs_f64() * 1e3,
        },
        "memory_bytes": loaded.memory_bytes(),
        "facts": facts,
    })
}

/// How long it is and from when to when; clocks without seconds count in their own steps.
fn span_text(span: TimeSpan, unit: ClockUnit) -> String {
    let length = ruler::length_text(span.duration(), unit);
    match unit {
        ClockUnit::Nanoseconds => format!("{length} (from {} to {})", span.start, span.end),
        _ => format!(
            "{length} (from {} to {})",
            ruler::grouped(span.start.0),
            ruler::grouped(span.end.0)
        ),
    }
}

fn write_text(loaded: &LoadedTrace, out: &mut dyn Write) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let mut row =
        |name: &str, value: String| writeln!(out, "{:<16} {}", harmless(name), harmless(&value));
    row("format", trace.info.format.clone())?;
    row(
        "file",
        format!("{} ({} bytes)", loaded.path.display(), loaded.file_bytes),
    )?;
    row("span", span_text(trace.span, trace.info.clock_unit))?;
    if !trace.info.clock.is_empty() {
        row("clock", trace.info.clock.clone())?;
    }
    if let Some(wall) = trace.info.wall_clock_of(trace.span) {
        row("wall clock", wall)?;
    }
    let counts = [
        ("events", trace.events.len()),
        ("cpus", trace.cpus.len()),
        ("processes", trace.processes.len()),
        ("threads", trace.threads.len().saturating_sub(1)),
        ("slices", trace.slices.len()),
        ("instants", trace.instants.len()),
        ("counter tracks", trace.counters.tracks.len()),
        ("counter samples", trace.counters.times.len()),
        ("flows", trace.flows.rows.len()),
        ("runs", trace.runs.len()),
        ("states", trace.states.len()),
        ("logs", trace.logs.rows.len()),
        ("file uses", trace.files.rows.len()),
    ];
    for (name, count) in counts {
        row(name, count.to_string())?;
    }
    let lost = trace.lost_events();
    row(
        "lost events",
        match trace.are_more_lost() {
            true => format!("at least {lost}"),
            false => lost.to_string(),
        },
    )?;
    let full = Nanos(i64::try_from(loaded.timings.full.as_nanos()).unwrap_or(i64::MAX));
    row("loaded in", full.to_string())?;
    row("memory", ruler::size_text(loaded.memory_bytes()))?;
    for source in &trace.sources {
        row(
            "on the axis",
            format!(
                "{} {}: {}",
                source.name,
                source.offset_text(),
                source.evidence
            ),
        )?;
    }
    for (name, value) in &trace.info.facts {
        let mut lines = value.lines();
        row(name, lines.next().unwrap_or_default().to_owned())?;
        for line in lines {
            row("", line.to_owned())?;
        }
    }
    for diagnostic in trace.diagnostics.rows() {
        let place = diagnostic
            .places
            .first()
            .map(|place| format!(" at {place}"))
            .unwrap_or_default();
        let text = format!(
            "{}{place}: {} ({} times)",
            diagnostic.code, diagnostic.message, diagnostic.count
        );
        row(
            if diagnostic.severity == crate::base::Severity::Info {
                "note"
            } else {
                "trouble"
            },
            text,
        )?;
    }
    Ok(())
}
