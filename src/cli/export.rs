//! `threadline export`: writes a trace, or a range of it, as a file for other programs.

use std::io::Write;
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches};

use super::command::{
    CliError, Command, Example, answer, files_arguments, formulas, formulas_argument, load,
    time_arguments, warn, while_printing, with_progress,
};
use super::narrow::{narrowing_arguments, selection_of};
use super::output::{is_stdout, output_arguments, overwrite_of, path_of, refusal};
use crate::base::Job;
use crate::event::KindId;
use crate::export::rows::Formulas;
use crate::export::tables::{CSV, QUOTED_CSV};
use crate::export::{self, EXPORTERS, ExportError, Exporter, Overwrite, Selection, Summary};
use crate::load::LoadedTrace;
use crate::tables::{self, TABLES};
use crate::trace::Trace;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "export",
    about: "Write a trace, or a range of it, as FXT or another format",
    arguments,
    examples: &[
        Example {
            line: "sample-traces/sched-irq.ftrace -o part.fxt --until 5ms",
            about: "A range as FXT",
        },
        Example {
            line: "sample-traces/compress.fxt -o slices.csv --table slices",
            about: "A table for a spreadsheet",
        },
    ],
    run: run_export,
};

fn arguments(command: clap::Command) -> clap::Command {
    output_arguments(narrowing_arguments(files_arguments(time_arguments(
        command,
    ))))
    .arg(
        Arg::new("to")
            .long("to")
            .value_name("FORMAT")
            .help("What to write [default: by OUT's ending (.json: chrome-json), else fxt]")
            .value_parser(
                EXPORTERS
                    .iter()
                    .map(|exporter| exporter.name)
                    .collect::<Vec<_>>(),
            ),
    )
    .arg(
        Arg::new("table")
            .long("table")
            .value_name("NAME")
            .help("Which table csv, json and parquet write [default: slices]")
            .value_parser(
                TABLES
                    .iter()
                    .filter(|table| table.is_of_trace())
                    .map(|table| table.name)
                    .collect::<Vec<_>>(),
            ),
    )
    .arg(
        Arg::new("event")
            .long("event")
            .value_name("NAME")
            .help("Only events of this kind in a trace.dat, e.g. sched_switch or sched:sched_switch; may be repeated")
            .action(ArgAction::Append),
    )
    .arg(formulas_argument())
}

fn run_export(matches: &ArgMatches) -> Result<(), CliError> {
    let (path, overwrite) = (path_of(matches), overwrite_of(matches));
    // Refuse an existing file before a long load.
    if overwrite == Overwrite::Refuse && path.is_file() {
        return Err(refusal(ExportError::Exists(path.to_path_buf())));
    }
    let exporter = exporter_for(matches, path)?;
    let loaded = load(matches)?;
    let mut selection = selection_of(matches, &loaded.trace)?;
    selection.kinds = kinds_of(matches, &exporter, &loaded.trace)?;
    export_to(path, overwrite, &exporter, &loaded, &selection)
}

/// Exports to a file or to standard output, with progress, and reports what was written.
pub(crate) fn export_to(
    path: &Path,
    overwrite: Overwrite,
    exporter: &Exporter,
    loaded: &LoadedTrace,
    selection: &Selection,
) -> Result<(), CliError> {
    let job = Job::default();
    let export = || write(exporter, loaded, selection, path, overwrite, &job);
    let done = match is_stdout(path) {
        true => while_printing("writing", &job, export),
        false => with_progress("writing", &job, export),
    };
    let summary = done.map_err(|error| match error {
        ExportError::Io(error) if is_stdout(path) => CliError::Output(error),
        error => refusal(error),
    })?;
    warn(&format!("wrote {summary}"));
    if summary.counts.is_empty() {
        warn("nothing happened in this range");
    }
    for note in &summary.notes {
        warn(note);
    }
    Ok(())
}

/// Returns the kinds of events that `--event` names.
fn kinds_of(
    matches: &ArgMatches,
    exporter: &Exporter,
    trace: &Trace,
) -> Result<Vec<KindId>, CliError> {
    let mut found = Vec::new();
    for wanted in matches.get_many::<String>("event").unwrap_or_default() {
        if exporter.name != "trace-dat" {
            let words = format!("--event is for trace-dat, not for {}", exporter.name);
            return Err(CliError::Usage(words));
        }
        let before = found.len();
        for (index, kind) in (0..).zip(&trace.kinds) {
            let name = trace.text(kind.name);
            let full = format!("{}:{name}", trace.text(kind.category));
            if name == wanted.as_str() || full == *wanted {
                found.push(KindId(index));
            }
        }
        if found.len() == before {
            let words = format!("there is no event '{wanted}' in this trace");
            return Err(CliError::Usage(words));
        }
    }
    Ok(found)
}

fn exporter_for(matches: &ArgMatches, path: &Path) -> Result<Exporter, CliError> {
    let asked = matches
        .get_one::<String>("to")
        .and_then(|name| export::find(name));
    let table = matches.get_one::<String>("table");
    let mut exporter = *asked
        .or_else(|| table.and_then(|_| export::for_table(path)))
        .or_else(|| export::for_path(path))
        .unwrap_or(&EXPORTERS[0]);
    if let Some(name) = table {
        if exporter.table.is_none() {
            return Err(CliError::Usage(format!(
                "{} has no tables to choose from",
                exporter.name
            )));
        }
        exporter.table = tables::find(name);
    }
    if formulas(matches) == Formulas::Quoted {
        if exporter.name != CSV.name {
            let words = format!("--quote-formulas is for csv, not for {}", exporter.name);
            return Err(CliError::Usage(words));
        }
        exporter.write = QUOTED_CSV;
    }
    Ok(exporter)
}

fn write(
    exporter: &Exporter,
    loaded: &LoadedTrace,
    selection: &Selection,
    path: &Path,
    overwrite: Overwrite,
    job: &Job,
) -> Result<Summary, ExportError> {
    if is_stdout(path) {
        let mut out = answer();
        let summary = exporter.write_to(loaded, selection, &mut out, job)?;
        out.flush()?;
        return Ok(summary);
    }
    export::run(exporter, loaded, selection, path, overwrite, job)
}
