//! `threadline flame`: nested slices or recorded stacks merged by their paths, as a table or folded.

use std::io::Write;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, files_arguments, format_arguments, load, row_format,
    time_arguments, warn, with_progress,
};
use super::narrow::{area_of, narrowing_arguments, slices_on_cpu};
use crate::base::Job;
use crate::export::tables::write_rows;
use crate::query::flame::{Roots, of_slices, of_stacks};
use crate::tables::flames::{NAMES, Size, TREE, name_rows, tree_rows};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "flame",
    about: "Merge nested slices, or recorded stacks, into a call tree with totals; unfinished slices count \
            with their least duration (columns unfinished, at_least)",
    arguments: |command| {
        slices_on_cpu(narrowing_arguments(files_arguments(time_arguments(command))))
            .arg(
                Arg::new("as")
                    .long("as")
                    .value_name("SHAPE")
                    .help(
                        "tree: from callers to what they call; bottom-up: from what is called to its \
                         callers; names: one row for each name; folded: a;b;c N, as flame graph tools read it",
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
    examples: &[
        Example {
            line: "sample-traces/compress.fxt",
            about: "A call tree with totals",
        },
        Example {
            line: "sample-traces/compress.fxt --as folded",
            about: "For other flame graph tools",
        },
    ],
    run,
};

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let is_folded = matches
        .get_one::<String>("as")
        .is_some_and(|shape| shape == "folded");
    if is_folded && matches.value_source("format") == Some(ValueSource::CommandLine) {
        let words = "--format cannot be used with --as folded, which has a form of its own";
        return Err(CliError::Usage(words.to_owned()));
    }
    let loaded = load(matches)?;
    let trace = loaded.trace.as_ref();
    let area = area_of(matches, trace)?;
    let job = Job::default();
    let roots = if matches.get_flag("by-track") {
        Roots::Tracks
    } else {
        Roots::Merged
    };
    let flame = with_progress("merging", &job, || match matches.get_flag("stacks") {
        true => of_stacks(trace, loaded.reader.as_ref(), &area, &job),
        false => of_slices(trace, &area, roots, &job),
    });
    let flame = flame.map_err(|_| CliError::Input("cancelled".to_owned()))?;
    if flame.left_out > 0 {
        let count = flame.left_out;
        warn(&format!(
            "{count} entries did not fit into the tree: their time counts as their callers' own"
        ));
    }
    let limit = matches
        .get_one::<usize>("limit")
        .copied()
        .unwrap_or(usize::MAX);
    let mut out = answer();
    let format = row_format(matches, trace);
    match matches.get_one::<String>("as").map(String::as_str) {
        Some("folded") => {
            for line in flame.folded().take(limit) {
                writeln!(out, "{line}")?;
            }
        }
        Some("names") => {
            let rows = name_rows(&flame, limit);
            write_rows(NAMES.columns, &rows, &loaded, format, &mut out)?;
        }
        shape => {
            let (flame, size) = match shape {
                Some("bottom-up") => (flame.bottom_up(), Size::Own),
                _ => (flame, Size::Total),
            };
            let rows = tree_rows(Arc::new(flame), size, limit);
            write_rows(TREE.columns, &rows, &loaded, format, &mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}
