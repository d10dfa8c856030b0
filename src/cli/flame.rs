//! `threadline flame`: nested slices or recorded stacks merged by their paths, as a table or folded.

use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{
    CliError, Command, answer, files_arguments, format_arguments, load, row_format, time_arguments,
};
use super::narrow::{area_of, narrowing_arguments, slices_on_cpu};
use crate::base::Job;
use crate::export::rows::{Cell, RowWriter};
use crate::query::flame::{Flame, Node, Roots, of_slices, of_stacks};

/// This command's row.
pub const COMMAND: Command = Command {
    name: "flame",
    about: "Merge nested slices, or recorded stacks, into a call tree with totals; slices that never ended count with the \
            time that they lasted at least (columns unfinished, at_least)",
    arguments: |command| {
        slices_on_cpu(narrowing_arguments(files_arguments(time_arguments(command))))
            .arg(
                Arg::new("as")
                    .long("as")
                    .value_name("SHAPE")
                    .help(
                        "tree: callers before what they call; bottom-up: turned over; names: one row a name; \
                         folded: a;b;c N, as flame graph tools read it",
                    )
                    .default_value("tree")
                    .value_parser(["tree", "bottom-up", "names", "folded"]),
            )
            .arg(
                Arg::new("stacks")
                    .long("stacks")
                    .help("Recorded stacks (kernel_stack and others) instead of slices")
                    .action(ArgAction::SetTrue),
            )
            .arg(
                Arg::new("by-track")
                    .long("by-track")
                    .help("Each thread and track by itself")
                    .action(ArgAction::SetTrue),
            )
            .arg(
                Arg::new("limit")
                    .long("limit")
                    .value_name("N")
                    .help("Print only the first N rows")
                    .value_parser(value_parser!(usize)),
            )
            .args(format_arguments())
    },
    run,
};

/// A total contains what unfinished slices certainly lasted: `unfinished` and `at_least` say how many they are, and how
/// much of the total.
const TREE: &[&str] = &[
    "depth",
    "name",
    "total",
    "self",
    "count",
    "share",
    "unfinished",
    "at_least",
];
const NAMES: &[&str] = &["name", "total", "self", "count", "unfinished", "at_least"];

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let loaded = load(matches)?;
    let trace = loaded.trace.as_ref();
    let area = area_of(matches, trace)?;
    let job = Job::default();
    let roots = if matches.get_flag("by-track") {
        Roots::Tracks
    } else {
        Roots::Merged
    };
    let flame = if matches.get_flag("stacks") {
        of_stacks(trace, loaded.reader.as_ref(), &area, &job)
    } else {
        of_slices(trace, &area, roots, &job)
    };
    let flame = flame.map_err(|_| CliError::Input("cancelled".to_owned()))?;
    if flame.left_out > 0 {
        let _unwritable = writeln!(
            std::io::stderr(),
            "threadline: {} did not fit and count as their callers' own",
            flame.left_out
        );
    }
    let limit = matches
        .get_one::<usize>("limit")
        .copied()
        .unwrap_or(usize::MAX);
    let mut out = answer();
    let format = row_format(matches);
    match matches.get_one::<String>("as").map(String::as_str) {
        Some("folded") => {
            for line in flame.folded() {
                writeln!(out, "{line}")?;
            }
        }
        Some("names") => {
            let mut rows = RowWriter::new(&mut out, format, NAMES)?;
            for row in flame.by_name().into_iter().take(limit) {
                rows.row(&[
                    row.name.into(),
                    row.total.into(),
                    row.own.into(),
                    row.count.into(),
                    row.unfinished.into(),
                    row.unfinished_ns.into(),
                ])?;
            }
            rows.finish()?;
        }
        shape => {
            let turned = (shape == Some("bottom-up")).then(|| flame.bottom_up());
            let flame = turned.as_ref().unwrap_or(&flame);
            // Turned over, what counts is the time of its own.
            let size = |node: &Node| match turned {
                Some(_) => node.own,
                None => node.total,
            };
            let mut rows = RowWriter::new(&mut out, format, TREE)?;
            for id in in_depth(flame).into_iter().take(limit) {
                rows.row(&cells(flame, id, size))?;
            }
            rows.finish()?;
        }
    }
    out.flush()?;
    Ok(())
}

/// All nodes but the root, each right before what it calls.
fn in_depth(flame: &Flame) -> Vec<u32> {
    let mut order = Vec::with_capacity(flame.nodes.len());
    let mut open = vec![0];
    while let Some(id) = open.pop() {
        if id != 0 {
            order.push(id);
        }
        open.extend(flame.nodes[id as usize].children.iter().rev());
    }
    order
}

fn cells(flame: &Flame, id: u32, size: impl Fn(&Node) -> i64) -> [Cell; 8] {
    let node = &flame.nodes[id as usize];
    let share = size(node) as f64 / flame.nodes[0].total.max(1) as f64;
    [
        node.depth.into(),
        flame.name(id).into(),
        node.total.into(),
        node.own.into(),
        node.count.into(),
        Cell::Float((share * 10_000.0).round() / 10_000.0),
        node.unfinished.into(),
        node.unfinished_ns.into(),
    ]
}
