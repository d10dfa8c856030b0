//! `threadline search`: the matches of an expression in a trace, as a table.

use std::io::Write;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, asked_span, files_arguments, format_arguments, load,
    row_format, time_arguments, warn, with_progress,
};
use crate::base::Job;
use crate::export::tables::write_rows;
use crate::query::expression::{Expression, ExpressionError, FIELDS};
use crate::query::search::{Place, Places, Query, search};
use crate::query::seen::Seen;
use crate::tables::matches::{MATCHES, MatchRows};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "search",
    about: "Find events, slices, threads ... by text, /regex/ or expression",
    arguments,
    examples: &[
        Example {
            line: "'name ~ \"level.*\" && dur > 50ms' sample-traces/compress.fxt",
            about: "Slices of a name that took longer than 50 ms",
        },
        Example {
            line: "sched_wakeup sample-traces/sched-irq.ftrace --limit 10",
            about: "The first ten wakeups",
        },
    ],
    run,
};

fn arguments(command: clap::Command) -> clap::Command {
    let places: Vec<&str> = Place::ALL.iter().map(|(_, word)| *word).collect();
    let fields: Vec<String> = FIELDS
        .iter()
        .map(|(name, _, about)| format!("  {name:<10} {about}"))
        .collect();
    files_arguments(time_arguments(command).arg(expression_argument()))
        .arg(
            Arg::new("in")
                .long("in")
                .value_name("PLACE")
                .help("Look only in these; may be repeated")
                .action(ArgAction::Append)
                .value_delimiter(',')
                .value_parser(places),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .help("Print only the first N")
                .value_parser(value_parser!(usize)),
        )
        .arg(
            Arg::new("count")
                .long("count")
                .help("Print only how many there are")
                .action(ArgAction::SetTrue),
        )
        .args(format_arguments())
        .after_help(format!(
            "An expression compares fields: name ~ \"sched.*\" && prev_prio < 100 && dur > 1ms\n\
             with == != < <= > >= ~ !~ & and && || ! ( ); sched_switch: next_prio < 100 asks only that event.\n\
             Fields (arguments of events are fields too, by their names):\n{}",
            fields.join("\n")
        ))
}

/// Returns the EXPR argument.
fn expression_argument() -> Arg {
    Arg::new("expression")
        .value_name("EXPR")
        .help("A text, /regex/ or an expression")
        .required(true)
        .allow_hyphen_values(true)
}

/// Parses an expression; the error marks the position.
pub(super) fn parse(text: &str) -> Result<Expression, CliError> {
    Expression::parse(text).map_err(|error| usage(text, &error))
}

/// Returns the error of an expression, worded for a terminal.
pub(crate) fn usage(text: &str, error: &ExpressionError) -> CliError {
    CliError::Usage(format!("the expression is wrong:\n{}", error.pointed(text)))
}

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let text = matches
        .get_one::<String>("expression")
        .map_or("", String::as_str);
    let mut query = Query::new(parse(text)?);
    let places: Vec<Place> = matches
        .get_many::<String>("in")
        .unwrap_or_default()
        .filter_map(|word| Place::named(word))
        .collect();
    if !places.is_empty() {
        query.places = Places::of(&places);
    }
    let loaded = load(matches)?;
    query.span = asked_span(matches, &loaded.trace);
    let is_count = matches.get_flag("count");
    query.limit = match matches.get_one::<usize>("limit") {
        _ if is_count => 0,
        Some(limit) => *limit,
        None => usize::MAX,
    };
    let job = Job::default();
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let found = with_progress("searching", &job, || {
        search(trace, reader, &query, &job, &mut |_| {})
    })
    .map_err(|error| usage(text, &error))?;
    if let Some(unknown) = &found.unknown {
        let words = unknown.pointed(text);
        warn(&format!("nothing was found:\n{words}"));
    }
    let mut out = answer();
    if is_count {
        writeln!(out, "{}", found.total())?;
    } else {
        let format = row_format(matches, trace);
        let rows = MatchRows {
            seen: Seen::new(trace),
            found: Arc::new(found),
        };
        write_rows(MATCHES.columns, &rows, &loaded, format, &mut out)?;
    }
    out.flush()?;
    Ok(())
}
