//! `threadline compare`: two traces side by side, one row for each name, the largest change first.

use std::io::Write;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, asked_span, format_arguments, load_files, reading,
    row_format, time_arguments, with_progress,
};
use crate::base::Job;
use crate::export::tables::write_rows;
use crate::load::LoadedTrace;
use crate::query::area::Area;
use crate::query::compare::{CompareWhat, Compared, SortBy, compare, sort};
use crate::tables::compared::{CHANGED_COUNT, COMPARED, How, compared_rows};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "compare",
    about: "Put two traces side by side: names with counts and durations, the largest change first",
    arguments: |command| {
        let file = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .value_name(value)
                .help(help)
                .required(true)
                .value_parser(value_parser!(PathBuf))
        };
        time_arguments(command)
            .arg(file("left", "A", "The first trace"))
            .arg(file("right", "B", "The second trace"))
            .arg(
                Arg::new("of")
                    .long("of")
                    .value_name("WHAT")
                    .help("What to compare; threads by their time on CPUs")
                    .default_value("slices")
                    .value_parser(["slices", "events", "threads", "states"]),
            )
            .arg(
                Arg::new("sort")
                    .long("sort")
                    .value_name("BY")
                    .help("Sort by the change of this [default: sum; for events: count]; unfinished slices count with their least duration")
                    .value_parser(["sum", "count", "mean", "p95"]),
            )
            .args(format_arguments())
    },
    examples: &[Example {
        line: "sample-traces/compress.fxt sample-traces/syscalls-part.fxt",
        about: "What changed most between two traces",
    }],
    run,
};

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let left = load_one(matches, "left")?;
    let right = load_one(matches, "right")?;
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let what = match word("of") {
        Some("events") => CompareWhat::Events,
        Some("threads") => CompareWhat::Threads,
        Some("states") => CompareWhat::States,
        _ => CompareWhat::Slices,
    };
    let by = match (word("sort"), what) {
        (Some("count"), _) | (None, CompareWhat::Events) => SortBy::Count,
        (Some("mean"), _) => SortBy::Mean,
        (Some("p95"), _) => SortBy::P95,
        _ => SortBy::Sum,
    };
    // A time since the start selects the same stretch of both traces.
    let areas = [&left, &right].map(|loaded| Area::of(asked_span(matches, &loaded.trace)));
    let sides = [(&left, &areas[0]), (&right, &areas[1])].map(|(loaded, area)| Compared {
        trace: &loaded.trace,
        area,
    });
    let job = Job::default();
    let rows = with_progress("comparing", &job, || {
        compare(sides[0], sides[1], what, &job)
    });
    let mut rows = rows.unwrap_or_default();
    sort(&mut rows, by);
    let mut out = answer();
    let mut columns = COMPARED.columns.to_vec();
    if by == SortBy::Count {
        let change = (columns.iter_mut()).find(|column| column.name == CHANGED_COUNT.name);
        change
            .into_iter()
            .for_each(|column| *column = CHANGED_COUNT);
    }
    let rows = compared_rows(rows, How { what, by });
    write_rows(
        &columns,
        &rows,
        &left,
        row_format(matches, &left.trace),
        &mut out,
    )?;
    out.flush()?;
    Ok(())
}

fn load_one(matches: &ArgMatches, name: &str) -> Result<LoadedTrace, CliError> {
    let path = matches.get_one::<PathBuf>(name).cloned();
    let paths: Vec<PathBuf> = path.into_iter().collect();
    load_files(matches, &paths, Vec::new(), reading(matches))
}
