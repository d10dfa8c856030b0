//! `threadline info`: what a trace contains, for people or as JSON.

use std::collections::BTreeMap;
use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::json;

use super::command::{CliError, Command, Example, files_arguments, load, stdout};
use super::terminal;
use crate::base::visible::{Visible, one_line};
use crate::base::{Diagnostic, Severity};
use crate::event::Fact;
use crate::export::aligned::{Tone, cut, width_of};
use crate::load::LoadedTrace;
use crate::view::contents::{ContentValue, contents};

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
        .arg(
            Arg::new("complete")
                .long("complete")
                .help("Build everything that any pane can ask for first, as loading does anyway: for measurements")
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
    let fields = contents(loaded).into_iter().flat_map(|it| it.fields);
    let mut object: serde_json::Map<String, serde_json::Value> = fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    object.insert("sources".to_owned(), json!(sources));
    object.insert("diagnostics".to_owned(), json!(diagnostics));
    object.insert("facts".to_owned(), facts_json(&trace.info.facts).into());
    object.into()
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

/// A line of the output: a label and a value.
struct Line {
    label: String,
    value: ContentValue,
    /// Whether the line is about something that is wrong.
    is_trouble: bool,
}

impl Line {
    fn text(label: &str, text: impl Into<String>) -> Line {
        Line {
            label: label.to_owned(),
            value: ContentValue::Text(text.into()),
            is_trouble: false,
        }
    }
}

fn lines_of(loaded: &LoadedTrace) -> Vec<Line> {
    let trace = &loaded.trace;
    let contents = contents(loaded).into_iter();
    let stated = contents.filter(|content| !content.value.is_absent());
    let mut lines: Vec<Line> = stated
        .map(|content| Line {
            label: content.label.to_owned(),
            value: content.value,
            is_trouble: false,
        })
        .collect();
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
        Severity::Error | Severity::DataLoss => Line {
            is_trouble: true,
            ..Line::text("trouble", text)
        },
    }
}

fn write_text(loaded: &LoadedTrace, out: &mut dyn Write) -> std::io::Result<()> {
    for Line { label, value, .. } in lines_of(loaded) {
        let value = value.plain();
        writeln!(out, "{:<16} {}", one_line(&label), one_line(&value))?;
    }
    Ok(())
}

/// Minimum width of labels, in characters, including the space after them.
const LABEL: usize = 17;

/// Writes the answer for a person: digits in groups, sizes with units, long values in several lines.
fn write_for_person(loaded: &LoadedTrace, out: &mut dyn Write) -> std::io::Result<()> {
    let (width, colours) = (terminal::width(), terminal::colours());
    for line in lines_of(loaded) {
        let tone = if line.is_trouble {
            Tone::Trouble
        } else if line.value.is_zero() {
            Tone::Dim
        } else {
            Tone::Normal
        };
        let (label, text) = (line.label, line.value.words());
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
