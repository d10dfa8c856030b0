//! `threadline info`: what a trace contains, for people or as JSON.

use std::collections::BTreeMap;
use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::json;

use super::command::{CliError, Command, Example, files_arguments, load, stdout};
use super::terminal;
use crate::base::time::grouped;
use crate::base::visible::{Visible, one_line};
use crate::base::{Diagnostic, Nanos, Severity, TimeSpan};
use crate::event::Fact;
use crate::event::part::ClockUnit;
use crate::export::aligned::{Tone, cut, width_of};
use crate::load::LoadedTrace;
use crate::view::ruler;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "info",
    about: "Show what a trace contains: format, span, counts, clocks, diagnostics",
    arguments: |command| {
        files_arguments(command).arg(
            Arg::new("json")
                .long("json")
                .help("Print one JSON object")
                .action(ArgAction::SetTrue),
        )
    },
    examples: &[
        Example {
            line: "sample-traces/sched-irq-syscalls.dat",
            about: "What a trace contains",
        },
        Example {
            line: "--json sample-traces/compress.fxt",
            about: "The same for scripts",
        },
    ],
    run: info,
};

fn info(matches: &ArgMatches) -> Result<(), CliError> {
    let loaded = load(matches)?;
    let mut out = stdout();
    if matches.get_flag("json") {
        let text = serde_json::to_string_pretty(&as_json(&loaded))
            .map_err(|error| CliError::Output(error.into()))?;
        let mut out = Visible::json(out);
        writeln!(out, "{text}")?;
        out.finish()?;
    } else {
        match terminal::is_person() {
            true => write_for_person(&loaded, &mut out)?,
            false => write_text(&loaded, &mut out)?,
        }
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
        "facts": facts_json(&trace.info.facts),
    })
}

/// Returns the facts by name. If several facts have one name, such as the `statistics` of each CPU, the value is a
/// list.
fn facts_json(facts: &[Fact]) -> serde_json::Map<String, serde_json::Value> {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Fact { name, value } in facts {
        lists.entry(name).or_default().push(value);
    }
    let value = |list: Vec<&str>| match list.as_slice() {
        [one] => json!(one),
        _ => json!(list),
    };
    let named = lists.into_iter();
    named
        .map(|(name, list)| (name.to_owned(), value(list)))
        .collect()
}

/// Returns duration, start and end as text; without a unit for clocks that do not count nanoseconds.
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

/// A line of the output: a label and a value.
struct Line {
    label: String,
    value: Value,
}

enum Value {
    Text(String),
    Count(u64),
    /// A file's path and size in bytes.
    File(String, u64),
    Trouble(String),
}

impl Line {
    fn new(label: &str, value: Value) -> Line {
        Line {
            label: label.to_owned(),
            value,
        }
    }

    fn text(label: &str, text: impl Into<String>) -> Line {
        Line::new(label, Value::Text(text.into()))
    }
}

fn lines_of(loaded: &LoadedTrace) -> Vec<Line> {
    let trace = &loaded.trace;
    let path = loaded.path.display().to_string();
    let mut lines = vec![
        Line::text("format", trace.info.format.clone()),
        Line::new("file", Value::File(path, loaded.file_bytes)),
        Line::text("span", span_text(trace.span, trace.info.clock_unit)),
    ];
    if !trace.info.clock.is_empty() {
        lines.push(Line::text("clock", trace.info.clock.clone()));
    }
    let wall = trace.info.wall_clock_of(trace.span);
    lines.extend(wall.map(|wall| Line::text("wall clock", wall)));
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
    lines.extend(counts.map(|(label, count)| Line::new(label, Value::Count(count as u64))));
    let lost = trace.lost_events();
    let lost = match trace.are_more_lost() {
        true => Value::Text(format!("at least {lost}")),
        false => Value::Count(lost),
    };
    lines.push(Line::new("lost events", lost));
    let full = Nanos(i64::try_from(loaded.timings.full.as_nanos()).unwrap_or(i64::MAX));
    lines.push(Line::text("loaded in", full.to_string()));
    lines.push(Line::text(
        "memory",
        ruler::size_text(loaded.memory_bytes()),
    ));
    for source in &trace.sources {
        let offset = source.offset_text();
        let text = format!("{} {offset}: {}", source.name, source.evidence);
        lines.push(Line::text("on the axis", text));
    }
    for Fact { name, value } in &trace.info.facts {
        let mut texts = value.lines();
        lines.push(Line::text(name, texts.next().unwrap_or_default()));
        lines.extend(texts.map(|text| Line::text("", text)));
    }
    lines.extend(trace.diagnostics.rows().iter().map(line_of_diagnostic));
    lines
}

fn line_of_diagnostic(row: &Diagnostic) -> Line {
    let place = row
        .places
        .first()
        .map(|place| format!(" at {place}"))
        .unwrap_or_default();
    let text = format!("{}{place}: {} ({} times)", row.code, row.message, row.count);
    match row.severity {
        Severity::Info => Line::text("note", text),
        Severity::Error | Severity::DataLoss => Line::new("trouble", Value::Trouble(text)),
    }
}

fn write_text(loaded: &LoadedTrace, out: &mut dyn Write) -> std::io::Result<()> {
    for Line { label, value } in lines_of(loaded) {
        let value = match value {
            Value::Text(text) | Value::Trouble(text) => text,
            Value::Count(count) => count.to_string(),
            Value::File(path, bytes) => format!("{path} ({bytes} bytes)"),
        };
        writeln!(out, "{:<16} {}", one_line(&label), one_line(&value))?;
    }
    Ok(())
}

/// Minimum width of labels, in characters, including the space after them.
const LABEL: usize = 17;

/// Writes the answer for a person: digits in groups, sizes with units, long values in several lines.
fn write_for_person(loaded: &LoadedTrace, out: &mut dyn Write) -> std::io::Result<()> {
    let (width, colours) = (terminal::width(), terminal::colours());
    for Line { label, value } in lines_of(loaded) {
        let (tone, text) = match value {
            Value::Text(text) => (Tone::Normal, text),
            Value::Trouble(text) => (Tone::Trouble, text),
            Value::Count(0) => (Tone::Dim, "0".to_owned()),
            Value::Count(count) => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                (Tone::Normal, grouped(count))
            }
            Value::File(path, bytes) => {
                let size = ruler::size_text(bytes);
                (Tone::Normal, format!("{path} ({size})"))
            }
        };
        // A narrow terminal has no room for two columns.
        let beside = if width >= 2 * LABEL { LABEL } else { 0 };
        let label = cut(&visible(&label), LABEL.max(width / 3).min(width) - 1);
        let taken = width_of(&label);
        let mut first = (colours.paint(Tone::Dim, &label), taken);
        for line in wrapped(&visible(&text), width - beside) {
            let (label, taken) = std::mem::take(&mut first);
            if beside == 0 || taken >= beside {
                // There is no room beside the label: it gets its own line.
                if taken > 0 {
                    writeln!(out, "{label}")?;
                }
                let blank = " ".repeat(beside);
                writeln!(out, "{blank}{}", colours.paint(tone, &line))?;
                continue;
            }
            let blank = " ".repeat(beside - taken);
            let line = format!("{label}{blank}{}", colours.paint(tone, &line));
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

fn visible(text: &str) -> String {
    one_line(text).replace('\t', "    ")
}

/// Returns the text in lines of at most `width` columns, broken between words where possible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut rest = word.to_owned();
        while let Some(line) = lines.last_mut() {
            let before = if line.is_empty() { "" } else { " " };
            if width_of(line) + before.len() + width_of(&rest) <= width {
                *line = format!("{line}{before}{rest}");
                break;
            }
            if !line.is_empty() {
                lines.push(String::new());
                continue;
            }
            let head = cut(&rest, width.max(2));
            let head = head.trim_end_matches('…').to_owned();
            rest = rest.get(head.len()..).unwrap_or_default().to_owned();
            if head.is_empty() {
                break;
            }
            *line = head;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_broken_between_words_and_inside_long_ones() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        let parts = wrapped("abcdefghij k", 4);
        assert_eq!(parts.concat().replace(' ', ""), "abcdefghijk");
        assert!(parts.iter().all(|part| width_of(part) <= 4), "{parts:?}");
        assert_eq!(wrapped("", 4), [""]);
    }
}
