//! `threadline compare`: two traces side by side, name by name, the largest change first.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, value_parser};

use super::command::{
    CliError, Command, answer, asked_span, format_arguments, not_loaded, row_format,
    time_arguments, warn_of_losses, with_progress,
};
use crate::base::Job;
use crate::export::rows::{Cell, RowWriter};
use crate::load::{LoadedTrace, open};
use crate::query::area::Area;
use crate::query::compare::{CompareWhat, Compared, Side, SortBy, compare, sort};
use crate::trace::SliceKind;

/// This command's row.
pub const COMMAND: Command = Command {
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
                    .help("Whose change comes first [default: sum, of events count]; unfinished slices count with what is certain of them")
                    .value_parser(["sum", "count", "mean", "p95"]),
            )
            .args(format_arguments())
    },
    run,
};

const COLUMNS: &[&str] = &[
    "name",
    "category",
    "change",
    "count_a",
    "count_b",
    "sum_a",
    "sum_b",
    "mean_a",
    "mean_b",
    "p50_a",
    "p50_b",
    "p95_a",
    "p95_b",
    "max_a",
    "max_b",
    "kind",
    "unfinished_a",
    "unfinished_b",
    "at_least_a",
    "at_least_b",
];

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
    // Times since the start mean the same stretch of both.
    let areas = [&left, &right].map(|loaded| Area::of(asked_span(matches, &loaded.trace)));
    let sides = [(&left, &areas[0]), (&right, &areas[1])].map(|(loaded, area)| Compared {
        trace: &loaded.trace,
        area,
    });
    let mut rows = compare(sides[0], sides[1], what, &Job::default()).unwrap_or_default();
    sort(&mut rows, by);
    let mut out = answer();
    let mut table = RowWriter::new(&mut out, row_format(matches), COLUMNS)?;
    for row in &rows {
        let mut cells: Vec<Cell> = vec![
            row.name.as_str().into(),
            row.category.as_str().into(),
            Cell::Int(row.change(by)),
        ];
        let has_times = what != CompareWhat::Events;
        let both = |cell: &dyn Fn(&Side) -> Cell| {
            [&row.left, &row.right].map(|side| side.as_ref().map_or(Cell::None, cell))
        };
        cells.extend(both(&|side| side.count.into()));
        let time = |value: Cell| if has_times { value } else { Cell::None };
        cells.extend(both(&|side| time(Cell::Int(side.sum_ns))));
        // Of nothing there is no mean, not even 0.
        let mean = |side: &Side| Cell::from((side.count > 0).then(|| side.mean_ns()));
        cells.extend(both(&|side| time(mean(side))));
        cells.extend(both(&|side| side.p50_ns.into()));
        cells.extend(both(&|side| side.p95_ns.into()));
        cells.extend(both(&|side| side.max_ns.into()));
        cells.push(row.kind.map(SliceKind::word).into());
        let open = |value: Cell| match what {
            CompareWhat::Slices => value,
            _ => Cell::None,
        };
        cells.extend(both(&|side| open(side.unfinished.into())));
        cells.extend(both(&|side| open(Cell::Int(side.unfinished_ns))));
        table.row(&cells)?;
    }
    table.finish()?;
    out.flush()?;
    Ok(())
}

fn load_one(matches: &ArgMatches, name: &str) -> Result<LoadedTrace, CliError> {
    let path = matches
        .get_one::<PathBuf>(name)
        .map_or(Path::new(""), PathBuf::as_path);
    let job = Job::default();
    let loaded =
        with_progress("reading", &job, || open(path, &job)).map_err(|error| not_loaded(&error))?;
    warn_of_losses(&loaded);
    Ok(loaded)
}
