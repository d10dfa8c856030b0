//! `threadline probes`: checks definitions of kprobes and uprobes, and prints them with the kernel's counts and their
//! events in the trace, or as a script that records them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, format_arguments, load, row_format, stdout,
};
use crate::base::Job;
use crate::base::visible::harmless;
use crate::export::atomic_file::{FileError, Overwrite, write_whole};
use crate::export::rows::RowWriter;
use crate::load::definitions::{Separated, attach, has_form, read_text, take_out};
use crate::probes::{self, DefinitionFile, Definitions, ProbeSet, script};
use crate::query::probes::{ProbeRow, ProbeTable, table};
use crate::tables::probes::{PROBES, probe_cells};
use crate::trace::Trace;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "probes",
    about: "List kprobes and uprobes: definitions and their errors, hits, misses, durations; write a capture script",
    arguments: |command| {
        let file = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(help)
                .value_parser(value_parser!(PathBuf))
        };
        command
            .arg(
                Arg::new("file")
                    .value_name("FILE")
                    .help("The trace, with definitions and profiles beside it; none: only what --definitions has")
                    .num_args(0..)
                    .value_parser(value_parser!(PathBuf)),
            )
            .arg(
                file(
                    "definitions",
                    "FILE",
                    "kprobe_events, uprobe_events or dynamic_events, or a kernel command line",
                )
                .action(ArgAction::Append),
            )
            .arg(
                file("profile", "FILE", "kprobe_profile or uprobe_profile")
                    .action(ArgAction::Append),
            )
            .arg(file(
                "script",
                "OUT",
                "Write a script that records these probes with trace-cmd; - for standard output",
            ))
            .arg(
                Arg::new("event")
                    .long("event")
                    .value_name("NAME")
                    .help("Only this probe (EVENT or GROUP/EVENT)")
                    .action(ArgAction::Append),
            )
            .arg(
                Arg::new("force")
                    .long("force")
                    .help("Replace OUT if it exists")
                    .action(ArgAction::SetTrue),
            )
            .args(format_arguments())
    },
    examples: &[Example {
        line: "--definitions sample-traces/kprobe-pair.kprobe_events",
        about: "Definitions, checked as the kernel checks them",
    }],
    run: probes,
};

fn probes(matches: &ArgMatches) -> Result<(), CliError> {
    let paths = |name: &str| -> Vec<PathBuf> {
        let paths = matches.get_many::<PathBuf>(name).unwrap_or_default();
        paths.cloned().collect()
    };
    let (mut files, mut definitions) = (paths("file"), paths("definitions"));
    let is_nothing_else = definitions.is_empty() && take_out(&files).probes.is_none();
    if is_nothing_else && matches!(files.as_slice(), [only] if has_form(only)) {
        // No line is valid: the output lists the errors.
        definitions = std::mem::take(&mut files);
    }
    let mut given = read_set(&definitions, &paths("profile"))?;
    let loaded = match take_out(&files) {
        // Definitions and profiles can be printed without a trace.
        Separated {
            traces,
            probes: Some(set),
        } if traces.is_empty() && given.definitions.lines.is_empty() => {
            given = ProbeSet {
                profile: match given.profile.is_empty() {
                    true => set.profile.clone(),
                    false => given.profile,
                },
                ..set
            };
            None
        }
        _ if files.is_empty() => None,
        _ => Some(load(matches)?),
    };
    let set = match &loaded {
        Some(loaded) if given.definitions.lines.is_empty() && given.profile.is_empty() => loaded
            .probes
            .as_ref()
            .map_or_else(|| Arc::new(ProbeSet::default()), |it| Arc::clone(&it.set)),
        Some(loaded) => attach(loaded, &Arc::new(given))
            .probes
            .map_or_else(Default::default, |it| it.set),
        None if given.definitions.lines.is_empty() => {
            let words = "name a trace, or definitions with --definitions FILE";
            return Err(CliError::Usage(words.to_owned()));
        }
        None => Arc::new(given),
    };
    let nothing = Trace::default();
    let trace = loaded.as_ref().map_or(&nothing, |loaded| &loaded.trace);
    let reader = loaded.as_ref().map(|loaded| loaded.reader.as_ref());
    // The command line cannot cancel the job.
    let mut all = table(trace, reader, Some(&set), &Job::default()).unwrap_or_default();
    let wanted: Vec<&String> = matches.get_many("event").unwrap_or_default().collect();
    all.rows.retain(|row| is_wanted(row, &wanted));
    match matches.get_one::<PathBuf>("script") {
        Some(out) => {
            let overwrite = match matches.get_flag("force") {
                true => Overwrite::Replace,
                false => Overwrite::Refuse,
            };
            write_script(&all, out, overwrite)?;
        }
        None => write_rows(&all, matches, trace)?,
    }
    let refused = print_errors(&set);
    match refused {
        0 => Ok(()),
        1 => Err(CliError::Input("the kernel would refuse a line".to_owned())),
        count => Err(CliError::Input(format!(
            "the kernel would refuse {count} lines"
        ))),
    }
}

fn is_wanted(row: &ProbeRow, wanted: &[&String]) -> bool {
    wanted.is_empty()
        || wanted
            .iter()
            .any(|name| **name == row.event || **name == format!("{}/{}", row.group, row.event))
}

fn read_set(definitions: &[PathBuf], profiles: &[PathBuf]) -> Result<ProbeSet, CliError> {
    let read = |path: &Path| {
        read_text(path).map_err(|error| CliError::Input(format!("{}: {error}", path.display())))
    };
    let mut files = Vec::new();
    for path in definitions {
        files.push(DefinitionFile {
            name: path.display().to_string(),
            text: read(path)?,
        });
    }
    let mut set = ProbeSet::from_files(&files);
    let mut rows = Vec::new();
    for path in profiles {
        rows.extend(probes::parse_profile(&read(path)?));
    }
    set.profile = Arc::new(rows);
    Ok(set)
}

fn write_rows(all: &ProbeTable, matches: &ArgMatches, trace: &Trace) -> Result<(), CliError> {
    let mut out = answer();
    let mut rows = RowWriter::new(&mut out, row_format(matches, trace), PROBES.columns)?;
    let mut cells = Vec::new();
    for at in 0..all.rows.len() {
        cells.clear();
        probe_cells(all, at, &mut cells);
        cells.truncate(PROBES.columns.len());
        rows.row(&cells)?;
    }
    rows.finish()?;
    out.flush()?;
    Ok(())
}

fn write_script(all: &ProbeTable, out: &Path, overwrite: Overwrite) -> Result<(), CliError> {
    let chosen: Vec<_> = all.rows.iter().flat_map(|row| &row.definitions).collect();
    if chosen.is_empty() {
        let words = "a script needs definitions: name them with --definitions FILE";
        return Err(CliError::Usage(words.to_owned()));
    }
    let text = script::capture_script(&chosen, "probes.dat");
    if out.as_os_str() == "-" {
        stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    write_whole(out, overwrite, |file| {
        file.write_all(text.as_bytes()).map_err(FileError::from)
    })
    .map_err(|error| match error {
        FileError::Exists => CliError::Input(format!(
            "{} exists already; use --force to replace it",
            out.display()
        )),
        FileError::Io(error) => CliError::Output(error),
    })
}

/// Prints each error on stderr, with its line and a mark under its column; returns the number of errors.
fn print_errors(set: &ProbeSet) -> usize {
    let mut stderr = std::io::stderr().lock();
    let definitions: &Definitions = &set.definitions;
    for line in &definitions.lines {
        let Err(error) = &line.command else { continue };
        let source = line.file_words();
        let _unwritable = writeln!(
            stderr,
            "{}{}\n    {}\n    {}^",
            harmless(&source),
            harmless(&error.to_string()),
            harmless(&line.text),
            " ".repeat(error.column.saturating_sub(1) as usize)
        );
    }
    for words in definitions.unchecked() {
        let _unwritable = writeln!(stderr, "{}", harmless(&words));
    }
    definitions.errors().count()
}
