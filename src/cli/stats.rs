//! `threadline stats`: sums over slices, runs, states, events or counters, as a table.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches};

use super::command::{
    CliError, Command, Example, answer, files_arguments, format_arguments, load, row_format,
    time_arguments, while_printing, with_progress,
};
use super::narrow::{area_of, narrowing_arguments, selection_of, slices_on_cpu};
use crate::base::Job;
use crate::event::SliceKind;
use crate::export::Chosen;
use crate::export::tables::{write, write_rows};
use crate::load::LoadedTrace;
use crate::query::area::counters::counters;
use crate::query::area::events::event_counts;
use crate::query::area::{Area, Group, GroupBy, What, groups};
use crate::tables::MadeRow;
use crate::tables::builds::SYSCALLS;
use crate::tables::columns::{ColumnDef, Weight};
use crate::tables::groups::{
    COUNTER_SUMS, EVENT_GROUPS, GROUPS, counter_rows, event_rows, group_row,
};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "stats",
    about: "Add up slices, runs, states, events or counters: counts, sums, percentiles",
    arguments: |command| {
        slices_on_cpu(narrowing_arguments(files_arguments(time_arguments(command))))
            .arg(
                Arg::new("of")
                    .long("of")
                    .value_name("WHAT")
                    .help(
                        "What to add up: slices with their whole durations (unfinished ones apart, with \
                         their least duration), runs and states with their part inside the range, events by \
                         their number; calls: system calls with their errors, as strace -c prints them",
                    )
                    .default_value("slices")
                    .value_parser(["slices", "runs", "states", "events", "counters", "calls"]),
            )
            .arg(
                Arg::new("by")
                    .long("by")
                    .value_name("KEY")
                    .help("What to group by (name: for states, the state; thread-name: all threads of a name)")
                    .default_value("name")
                    .value_parser(["name", "thread", "thread-name", "process", "cpu"]),
            )
            .arg(
                Arg::new("kind")
                    .long("kind")
                    .value_name("KIND")
                    .help("Only slices of this kind; without it each kind has its own rows")
                    .value_parser(PossibleValuesParser::new(
                        SliceKind::ALL.map(SliceKind::word),
                    )),
            )
            .args(format_arguments())
    },
    examples: &[
        Example {
            line: "sample-traces/sched-irq-syscalls.dat",
            about: "Which slices took the time",
        },
        Example {
            line: "sample-traces/sched-irq-syscalls.dat --of runs --by thread",
            about: "Which threads used the CPUs",
        },
    ],
    run,
};

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
        "events" => return events(matches, &loaded, &area, by, &mut out),
        "calls" => return calls(matches, &loaded, &mut out),
        "runs" => What::Runs,
        "states" => What::States,
        "counters" => {
            let rows = counter_rows(trace, &counters(trace, &area));
            let format = row_format(matches, trace);
            write_rows(COUNTER_SUMS.columns, &rows, &loaded, format, &mut out)?;
            out.flush()?;
            return Ok(());
        }
        _ => What::Slices,
    };
    // The command line cannot cancel the job.
    let job = Job::default();
    let found = with_progress("adding up", &job, || groups(trace, &area, what, by, &job));
    let found = found.unwrap_or_default();
    // Only panes show shares.
    let row = |group: &Group| group_row(trace, group, 1.0);
    let rows: Vec<MadeRow> = found.iter().map(row).collect();
    write_rows(
        &columns_for(&found, by),
        &rows,
        &loaded,
        row_format(matches, trace),
        &mut out,
    )?;
    out.flush()?;
    Ok(())
}

/// Returns the columns of groups. A thread, process or CPU has one row for each kind of slices: if there are several
/// kinds, the kind is a key column.
fn columns_for(groups: &[Group], by: GroupBy) -> Vec<ColumnDef<'static>> {
    let mut columns = GROUPS.columns.to_vec();
    let first = groups.first().map(|group| group.key.kind);
    if by != GroupBy::Name && groups.iter().any(|group| Some(group.key.kind) != first) {
        let kind = columns.iter_mut().find(|column| column.name == "kind");
        kind.into_iter()
            .for_each(|column| column.weight = Weight::Key);
    }
    columns
}

/// Prints the table `syscalls`, restricted to the selection.
fn calls(matches: &ArgMatches, loaded: &LoadedTrace, out: &mut impl Write) -> Result<(), CliError> {
    let selection = selection_of(matches, &loaded.trace)?;
    let chosen = Chosen::new(&loaded.trace, &selection);
    let format = row_format(matches, &loaded.trace);
    let job = Job::default();
    while_printing("adding up", &job, || {
        write(&SYSCALLS, loaded, &chosen, format, out, &job)
    })?;
    out.flush()?;
    Ok(())
}

fn events(
    matches: &ArgMatches,
    loaded: &LoadedTrace,
    area: &Area,
    by: GroupBy,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let trace = loaded.trace.as_ref();
    // The command line cannot cancel the job.
    let job = Job::default();
    let found = with_progress("counting", &job, || event_counts(trace, area, by, &job));
    let found = found.unwrap_or_default();
    let rows = event_rows(trace, &found, by, area.span);
    write_rows(
        EVENT_GROUPS.columns,
        &rows,
        loaded,
        row_format(matches, trace),
        out,
    )?;
    out.flush()?;
    Ok(())
}
