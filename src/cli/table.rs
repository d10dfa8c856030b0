//! `threadline table`: one of the trace's tables on standard output, aligned for a person or as TSV, CSV or JSON.

use std::io::Write;

use clap::{Arg, ArgMatches};

use super::command::{
    CliError, Command, Example, answer, asked_span, files_arguments, format_arguments, load,
    row_format, time_arguments, while_printing,
};
use crate::base::Job;
use crate::export::tables::write;
use crate::export::{Chosen, Selection};
use crate::tables::{self, TABLES};

/// The row of this command.
pub const COMMAND: Command = Command {
    name: "table",
    about: "Print one of the trace's tables",
    arguments: |command| {
        let command = time_arguments(command).arg(
            Arg::new("name")
                .value_name("NAME")
                .help("Which table")
                .required(true)
                .value_parser(TABLES.iter().map(|table| table.name).collect::<Vec<_>>()),
        );
        files_arguments(command).args(format_arguments())
    },
    examples: &[
        Example {
            line: "slices sample-traces/compress.fxt",
            about: "All slices in order of time",
        },
        Example {
            line: "processes sample-traces/lua-make-j2.etrace.zst --format json",
            about: "All processes of a build, for scripts",
        },
    ],
    run: table,
};

fn table(matches: &ArgMatches) -> Result<(), CliError> {
    let name = matches.get_one::<String>("name").map_or("", String::as_str);
    let table =
        tables::find(name).ok_or_else(|| CliError::Usage(format!("there is no table '{name}'")))?;
    let loaded = load(matches)?;
    let format = row_format(matches, &loaded.trace);
    let span = asked_span(matches, &loaded.trace);
    let selection = Selection::range(span);
    let chosen = Chosen::new(&loaded.trace, &selection);
    let mut out = answer();
    let job = Job::default();
    while_printing("writing", &job, || {
        write(table, &loaded, &chosen, format, &mut out, &job)
    })?;
    out.flush()?;
    Ok(())
}
