//! `threadline stats`: what slices, runs, states, events or counters add up to, as a table.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches};

use super::command::{
    CliError, Command, answer, files_arguments, format_arguments, load, row_format, time_arguments,
};
use super::narrow::{area_of, narrowing_arguments, selection_of, slices_on_cpu};
use crate::base::Job;
use crate::export::Chosen;
use crate::export::rows::{Cell, RowWriter};
use crate::export::tables;
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::area::counters::counters;
use crate::query::area::events::{event_counts, per_second};
use crate::query::area::{Area, GroupBy, What, groups};
use crate::query::item::title;
use crate::trace::{SliceKind, Trace};

/// This command's row.
pub const COMMAND: Command = Command {
    name: "stats",
    about: "Add up slices, runs, states, events or counters: counts, sums, percentiles",
    arguments: |command| {
        slices_on_cpu(narrowing_arguments(files_arguments(time_arguments(command))))
            .arg(
                Arg::new("of")
                    .long("of")
                    .value_name("WHAT")
                    .help(
                        "What to add up: slices count whole (those that never ended only as unfinished, with \
                         the time that they lasted at least), runs and states with what lies in the range, \
                         events by their number; calls: system calls with their errors, as strace -c prints them",
                    )
                    .default_value("slices")
                    .value_parser(["slices", "runs", "states", "events", "counters", "calls"]),
            )
            .arg(
                Arg::new("by")
                    .long("by")
                    .value_name("KEY")
                    .help("What makes a group (of states, name is the state; thread-name: all threads of a name)")
                    .default_value("name")
                    .value_parser(["name", "thread", "thread-name", "process", "cpu"]),
            )
            .arg(
                Arg::new("kind")
                    .long("kind")
                    .value_name("KIND")
                    .help("Only slices of this kind; without it each kind has rows of its own")
                    .value_parser(PossibleValuesParser::new(
                        SliceKind::ALL.map(SliceKind::word),
                    )),
            )
            .args(format_arguments())
    },
    run,
};

const COLUMNS: &[&str] = &[
    "group",
    "category",
    "count",
    "sum",
    "self",
    "mean",
    "min",
    "p50",
    "p95",
    "p99",
    "max",
    "kind",
    "unfinished",
    "at_least",
];
const EVENT_COLUMNS: &[&str] = &["group", "category", "count", "per_second"];
const COUNTER_COLUMNS: &[&str] = &["track", "count", "mean", "min", "max", "first", "last"];

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let loaded = load(matches)?;
    let trace = loaded.trace.as_ref();
    let mut area = area_of(matches, trace)?;
    area.kind = matches.get_one::<String>("kind").and_then(|word| {
        let mut kinds = SliceKind::ALL.into_iter();
        kinds.find(|kind| kind.word() == word)
    });
    let mut out = answer();
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let by = match word("by") {
        "thread" => GroupBy::Thread,
        "thread-name" => GroupBy::ThreadName,
        "process" => GroupBy::Process,
        "cpu" => GroupBy::Cpu,
        _ => GroupBy::Name,
    };
    let what = match word("of") {
        "events" => return events(matches, trace, &area, by, &mut out),
        "calls" => return calls(matches, &loaded, &mut out),
        "runs" => What::Runs,
        "states" => What::States,
        "counters" => {
            let mut rows = RowWriter::new(&mut out, row_format(matches), COUNTER_COLUMNS)?;
            for row in counters(trace, &area) {
                let name = counter_name(trace, row.track);
                rows.row(&[
                    name.into(),
                    row.count.into(),
                    Cell::Float(row.mean),
                    Cell::Float(row.min),
                    Cell::Float(row.max),
                    Cell::Float(row.first),
                    Cell::Float(row.last),
                ])?;
            }
            rows.finish()?;
            out.flush()?;
            return Ok(());
        }
        _ => What::Slices,
    };
    // Nobody can cancel it here.
    let found = groups(trace, &area, what, by, &Job::default()).unwrap_or_default();
    let mut rows = RowWriter::new(&mut out, row_format(matches), COLUMNS)?;
    for group in &found {
        let category = group
            .key
            .name
            .map(|(_, category)| Cell::of_string(trace, category));
        // Of nothing there is no duration, not even 0.
        let known = |ns: i64| Cell::from(group.known(ns));
        let open = |value: Cell| match what {
            What::Slices => value,
            What::Runs | What::States => Cell::None,
        };
        rows.row(&[
            group.key.label(trace).into(),
            category.into(),
            group.count.into(),
            Cell::Int(group.sum_ns),
            Cell::Int(group.own_ns),
            known(group.mean_ns()),
            known(group.min_ns),
            known(group.p50_ns),
            known(group.p95_ns),
            known(group.p99_ns),
            known(group.max_ns),
            group.key.kind.map(SliceKind::word).into(),
            open(group.unfinished.into()),
            open(Cell::Int(group.unfinished_ns)),
        ])?;
    }
    rows.finish()?;
    out.flush()?;
    Ok(())
}

/// The table `syscalls`, narrowed.
fn calls(matches: &ArgMatches, loaded: &LoadedTrace, out: &mut impl Write) -> Result<(), CliError> {
    let selection = selection_of(matches, &loaded.trace)?;
    let chosen = Chosen::new(&loaded.trace, &selection);
    if let Some(table) = tables::find("syscalls") {
        table.write(loaded, &chosen, row_format(matches), out)?;
    }
    out.flush()?;
    Ok(())
}

fn events(
    matches: &ArgMatches,
    trace: &Trace,
    area: &Area,
    by: GroupBy,
    out: &mut impl Write,
) -> Result<(), CliError> {
    // Nobody can cancel it here.
    let found = event_counts(trace, area, by, &Job::default()).unwrap_or_default();
    let mut rows = RowWriter::new(out, row_format(matches), EVENT_COLUMNS)?;
    for group in &found {
        let category = group.key.name;
        let category = category.map(|(_, category)| Cell::of_string(trace, category));
        let rate = per_second(trace, area.span, group.count);
        rows.row(&[
            group.label(trace, by).into(),
            category.into(),
            group.count.into(),
            rate.map(|rate| Cell::Float((rate * 1000.0).round() / 1000.0))
                .into(),
        ])?;
    }
    rows.finish()?;
    Ok(())
}

fn counter_name(trace: &Trace, id: crate::trace::CounterTrackId) -> String {
    let item = Item::Sample(id, 0);
    match crate::query::item::cpu_number(trace, item) {
        Some(cpu) => format!("{} · CPU {cpu}", title(trace, item)),
        None => title(trace, item),
    }
}
