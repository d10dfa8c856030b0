//! `threadline table`: one of the trace's tables as TSV, CSV or JSON on standard output.

use std::io::Write;

use clap::{Arg, ArgMatches};

use super::command::{
    CliError, Command, answer, asked_span, files_arguments, format_arguments, load, row_format,
    time_arguments,
};
use crate::export::tables::{self, TABLES};
use crate::export::{Chosen, Selection};

/// This command's row.
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
    run: table,
};

fn table(matches: &ArgMatches) -> Result<(), CliError> {
    let name = matches.get_one::<String>("name").map_or("", String::as_str);
    let table =
        tables::find(name).ok_or_else(|| CliError::Usage(format!("there is no table '{name}'")))?;
    let format = row_format(matches);
    let loaded = load(matches)?;
    let span = asked_span(matches, &loaded.trace);
    let selection = Selection::range(span);
    let chosen = Chosen::new(&loaded.trace, &selection);
    let mut out = answer();
    table.write(&loaded, &chosen, format, &mut out)?;
    out.flush()?;
    Ok(())
}
