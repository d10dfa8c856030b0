//! `threadline table`: writes a table of the trace to standard output or a file: aligned for a person, or as TSV, CSV,
//! JSON or Parquet. Without a name, lists all tables.

use std::io::Write;

use clap::{Arg, ArgMatches};

use super::command::{
    CliError, Command, Example, answer, asked_span, files_arguments, format_arguments, formulas,
    load, row_format, time_arguments, while_printing,
};
use super::export::export_to;
use super::output::{is_stdout, output_arguments, overwrite_of, path_of, refusal};
use crate::base::Job;
use crate::export::parquet::PARQUET;
use crate::export::rows::{Formulas, RowWriter};
use crate::export::tables::{CSV, JSON, QUOTED_CSV, TSV, write};
use crate::export::{self, Chosen, ExportError, Exporter, Overwrite, Selection};
use crate::tables::{self, ColumnDef, TABLES, TableDef};
use crate::trace::Trace;

/// The row of this command.
pub(crate) const COMMAND: Command = Command {
    name: "table",
    about: "Print one of the trace's tables; without a name, list all tables",
    arguments,
    examples: &[
        Example {
            line: "slices sample-traces/compress.fxt",
            about: "All slices in time order",
        },
        Example {
            line: "processes sample-traces/lua-make-j2.etrace.zst --format json",
            about: "All processes of a build, for scripts",
        },
    ],
    run: table,
};

fn arguments(command: clap::Command) -> clap::Command {
    let names = TABLES.iter().map(|table| table.name);
    let command = time_arguments(command).arg(
        Arg::new("name")
            .value_name("NAME")
            .help("Which table")
            .requires("file")
            .value_parser(names.collect::<Vec<_>>()),
    );
    let lines = TABLES.iter().map(|table| {
        let TableDef {
            name, title, about, ..
        } = table;
        match table.is_of_trace() {
            true => format!("  {name:<18} {title}: {about}"),
            false => {
                let command = table.command().unwrap_or_default();
                format!("  {name:<18} {title}: {about} (threadline {command})")
            }
        }
    });
    let lines: Vec<String> = lines.collect();
    output_arguments(files_arguments(command))
        .mut_arg("file", |file| file.required(false))
        .mut_arg("output", |output| {
            let help = "Write into a file, as tsv, csv, json or parquet [default: by OUT's ending]";
            output.required(false).help(help)
        })
        .args(format_arguments())
        .mut_arg("format", |format| {
            format.value_parser(["table", "tsv", "csv", "json", PARQUET.name])
        })
        .after_help(format!(
            "Tables; a table with a command in brackets is printed by that command:\n{}",
            lines.join("\n")
        ))
}

fn table(matches: &ArgMatches) -> Result<(), CliError> {
    let Some(name) = matches.get_one::<String>("name") else {
        return list(matches);
    };
    let table =
        tables::find(name).ok_or_else(|| CliError::Usage(format!("there is no table '{name}'")))?;
    if !table.is_of_trace() {
        let command = table.command().unwrap_or_default();
        let words =
            format!("the table '{name}' is printed by another command: `threadline {command}`");
        return Err(CliError::Usage(words));
    }
    if let Some(exporter) = exporter_for(matches, table)? {
        return write_file(matches, &exporter);
    }
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

/// Returns the exporter for the file that the user asked for; `None` if the user asked for no file.
fn exporter_for(
    matches: &ArgMatches,
    table: &'static TableDef,
) -> Result<Option<Exporter>, CliError> {
    let format = matches.get_one::<String>("format").map(String::as_str);
    if !matches.contains_id("output") {
        return match format == Some(PARQUET.name) {
            true => Err(CliError::Usage(
                "parquet is written into a file: -o OUT".into(),
            )),
            false => Ok(None),
        };
    }
    let mut exporter = match format {
        Some("table") => {
            let words = "-o writes tsv, csv, json or parquet, not aligned columns";
            return Err(CliError::Usage(words.to_owned()));
        }
        Some("csv") => CSV,
        Some("json") => JSON,
        Some("tsv") => TSV,
        Some(_) => PARQUET,
        None => *export::for_table(path_of(matches)).unwrap_or(&TSV),
    };
    exporter.table = Some(table);
    if exporter.name == CSV.name && formulas(matches) == Formulas::Quoted {
        exporter.write = QUOTED_CSV;
    }
    Ok(Some(exporter))
}

fn write_file(matches: &ArgMatches, exporter: &Exporter) -> Result<(), CliError> {
    let (path, overwrite) = (path_of(matches), overwrite_of(matches));
    // Refuse an existing file before a long load.
    if overwrite == Overwrite::Refuse && !is_stdout(path) && path.is_file() {
        return Err(refusal(ExportError::Exists(path.to_path_buf())));
    }
    let loaded = load(matches)?;
    let selection = Selection::range(asked_span(matches, &loaded.trace));
    export_to(path, overwrite, exporter, &loaded, &selection)
}

/// Columns of the list of tables.
const LISTED: &[ColumnDef<'static>] = &[
    ColumnDef::text("name", "Name", "The table's name."),
    ColumnDef::text("title", "Title", "The table's heading."),
    ColumnDef::text("about", "Rows", "What its rows are."),
    ColumnDef::text("command", "Command", "The command that prints it.").kept(),
];

/// Prints the list of all tables, each with the command that prints it.
fn list(matches: &ArgMatches) -> Result<(), CliError> {
    let mut out = answer();
    let mut rows = RowWriter::new(&mut out, row_format(matches, &Trace::default()), LISTED)?;
    for table in TABLES {
        let command = table
            .command()
            .map(|command| format!("threadline {command}"));
        rows.row(&[
            table.name.into(),
            table.title.into(),
            table.about.into(),
            command.into(),
        ])?;
    }
    rows.finish()?;
    out.flush()?;
    Ok(())
}
