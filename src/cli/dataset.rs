//! `threadline dataset`: the tables of many traces as Parquet files.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, format_arguments, load_files, reading, row_format, unwatch,
    warn, with_progress, without_reading_arguments,
};
use crate::base::Job;
use crate::export::dataset::add::{AddOptions, Added, Adder, unknown_tables};
use crate::export::dataset::event_table::WantedEvents;
use crate::export::dataset::manifest::{MOST_BUCKETS, Manifest};
use crate::export::dataset::stored::{stored_type, tables};
use crate::export::dataset::views::Dialect;
use crate::export::dataset::{DataSet, SetError};
use crate::export::rows::RowWriter;
use crate::tables::{Cell, ColumnDef, Unit};
use crate::trace::Trace;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "dataset",
    about: "Keep the tables of many traces as Parquet files, for SQL engines",
    arguments,
    examples: &[
        Example {
            line: "add fleet sample-traces/compress.fxt --label host=a",
            about: "Adds a trace to the data set in the folder fleet",
        },
        Example {
            line: "views fleet --for duckdb",
            about: "What makes its tables known to DuckDB",
        },
    ],
    run: dataset,
};

fn arguments(command: clap::Command) -> clap::Command {
    let list = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        arg.action(ArgAction::Append)
    };
    let folder = || {
        let arg = Arg::new("folder").value_name("DIR").required(true);
        arg.help("The folder of the data set")
            .value_parser(value_parser!(PathBuf))
    };
    let add = clap::Command::new("add")
        .about("Add traces; one with the same contents is replaced")
        .arg(folder())
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .help("The traces")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            list(
                "tables",
                "NAME,...",
                "Only these tables [default: all but ftrace_event and args]",
            )
            .value_delimiter(','),
        )
        .arg(
            list(
                "events",
                "NAME,...",
                "Also a table for each of these kinds of events",
            )
            .value_delimiter(','),
        )
        .arg(
            list(
                "label",
                "KEY=VALUE",
                "A label of these traces, in the table trace_label; may be repeated",
            )
            .value_parser(parse_label),
        )
        .arg(
            Arg::new("jobs")
                .long("jobs")
                .value_name("N")
                .help("How many traces are converted at once [default: 1]")
                .value_parser(value_parser!(u16).range(1..=256)),
        )
        .arg(
            Arg::new("buckets")
                .long("buckets")
                .value_name("N")
                .help("How many buckets a new data set has [default: 16]")
                .value_parser(value_parser!(u32).range(1..=i64::from(MOST_BUCKETS))),
        );
    let views = clap::Command::new("views")
        .about("Print what makes the tables known to an engine")
        .arg(folder())
        .arg(
            Arg::new("for")
                .long("for")
                .value_name("ENGINE")
                .help("The engine")
                .required(true)
                .value_parser(Dialect::NAMES.to_vec()),
        );
    command
        .subcommand_required(true)
        .subcommand(add)
        .subcommand(
            clap::Command::new("compact")
                .about("Join the parts of each table, date and bucket")
                .arg(folder()),
        )
        .subcommand(without_reading_arguments(
            clap::Command::new("list")
                .about("Print the traces of a data set")
                .arg(folder())
                .args(format_arguments()),
        ))
        .subcommand(without_reading_arguments(views))
        .subcommand(without_reading_arguments(
            clap::Command::new("tables")
                .about("Print the tables and columns that data sets have")
                .args(format_arguments()),
        ))
}

fn parse_label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("'{text}': expected KEY=VALUE")),
    }
}

fn dataset(matches: &ArgMatches) -> Result<(), CliError> {
    match matches.subcommand() {
        Some(("add", matches)) => add(matches),
        Some(("compact", matches)) => compact(matches),
        Some(("list", matches)) => list(matches),
        Some(("views", matches)) => views(matches),
        Some(("tables", matches)) => print_tables(matches),
        _ => Err(CliError::Usage(
            "add, compact, list, views or tables?".to_owned(),
        )),
    }
}

fn of_set(error: SetError) -> CliError {
    CliError::Input(error.to_string())
}

fn folder(matches: &ArgMatches) -> &Path {
    let folder = matches.get_one::<PathBuf>("folder");
    folder.map_or(Path::new("."), PathBuf::as_path)
}

fn words(matches: &ArgMatches, name: &str) -> Vec<String> {
    let words = matches.get_many::<String>(name).unwrap_or_default();
    words.filter(|word| !word.is_empty()).cloned().collect()
}

const ADDED: &[ColumnDef<'static>] = &[
    ColumnDef::text("trace_id", "Trace", "The trace's id."),
    ColumnDef::path("path", "Path", "The path of its file.").kept(),
    ColumnDef::count("rows", "Rows", "The rows of all its tables."),
    ColumnDef::number("bytes", "Size", Unit::Bytes, "The size of its parts."),
];

fn add(matches: &ArgMatches) -> Result<(), CliError> {
    let labels = matches
        .get_many::<(String, String)>("label")
        .unwrap_or_default();
    let options = AddOptions {
        tables: words(matches, "tables"),
        events: words(matches, "events")
            .into_iter()
            .map(WantedEvents::Named)
            .collect(),
        labels: labels.cloned().collect::<BTreeMap<String, String>>(),
    };
    if let Some(name) = unknown_tables(&options.tables).first() {
        let words = format!("there is no table '{name}'; see `threadline dataset tables`");
        return Err(CliError::Usage(words));
    }
    let files = super::command::files(matches);
    let buckets = matches.get_one::<u32>("buckets").copied();
    let set = DataSet::open_or_make(folder(matches), buckets).map_err(of_set)?;
    let jobs = matches
        .get_one::<u16>("jobs")
        .map_or(1, |&jobs| usize::from(jobs));
    let work = Work {
        matches,
        files: &files,
        next: AtomicUsize::new(0),
        said: Mutex::new(Said::default()),
    };
    let adder = |_| -> Result<(), CliError> {
        let mut adder = Adder::new(&set, &options).map_err(of_set)?;
        let worked = work.convert(&mut adder);
        // Converted files are kept even if others failed.
        let waiting = adder.waiting();
        let kept = adder.commit(&Job::default()).map_err(|error| {
            let words = format!("{waiting} converted traces were not added: {error}");
            CliError::Input(words)
        });
        match (worked, kept) {
            (Err(error), Err(CliError::Input(words))) => {
                warn(&words);
                Err(error)
            }
            (worked, kept) => worked.and(kept),
        }
    };
    let results: Vec<Result<(), CliError>> = match jobs {
        1 => vec![adder(0)],
        _ => std::thread::scope(|scope| {
            let adder = &adder;
            let builder = |number: usize| {
                let named = std::thread::Builder::new().name(format!("add {number}"));
                named.spawn_scoped(scope, move || adder(number))
            };
            let threads: Vec<_> = (0..jobs.min(files.len())).map(builder).collect();
            let joined = threads.into_iter().map(|thread| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| {
                    Err(CliError::Input(
                        "converting stopped by a fault in the program".into(),
                    ))
                }),
                Err(error) => Err(CliError::Input(error.to_string())),
            });
            joined.collect()
        }),
    };
    let said = work
        .said
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    results.into_iter().collect::<Result<(), CliError>>()?;
    match said.skipped {
        0 => Ok(()),
        1 => Err(CliError::Input("1 file was left out".to_owned())),
        count => Err(CliError::Input(format!("{count} files were left out"))),
    }
}

/// The files that several threads convert.
struct Work<'a> {
    matches: &'a ArgMatches,
    files: &'a [PathBuf],
    next: AtomicUsize,
    said: Mutex<Said>,
}

/// The messages about the files so far.
#[derive(Default)]
struct Said {
    has_heading: bool,
    skipped: usize,
}

impl Work<'_> {
    /// Converts files until none is left; files that cannot be read are skipped. Errors if the data set cannot be
    /// written.
    fn convert(&self, adder: &mut Adder<'_>) -> Result<(), CliError> {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(index) else {
                return Ok(());
            };
            let loaded = match self.load(file) {
                Ok(loaded) => loaded,
                Err(words) => {
                    warn(&words);
                    self.said().skipped += 1;
                    continue;
                }
            };
            let job = Job::default();
            let added = with_progress("converting", &job, || adder.add(file, &loaded, &job));
            // All later output is about other files, and there may be more of them than a process may keep open.
            unwatch(loaded.opened_files());
            // A file that changed while it was converted is left out; other errors are the data set's.
            if let (Err(error), Some(_)) = (&added, loaded.damage()) {
                warn(&error.to_string());
                self.said().skipped += 1;
                continue;
            }
            self.say(file, &added.map_err(of_set)?)?;
        }
    }

    fn load(&self, file: &Path) -> Result<crate::load::LoadedTrace, String> {
        // Standard input cannot be used: its fingerprint would need a second read.
        if !file.is_file() {
            return Err(format!("there is no such file: {}", file.display()));
        }
        let paths = [file.to_path_buf()];
        let loaded = load_files(self.matches, &paths, Vec::new(), reading(self.matches));
        loaded.map_err(|error| match error {
            CliError::Input(words) | CliError::Usage(words) => words,
            CliError::Output(error) => error.to_string(),
        })
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, file: &Path, added: &Added) -> Result<(), CliError> {
        for note in &added.notes {
            warn(&format!("{note}: {}", file.display()));
        }
        let mut said = self.said();
        let mut out = answer();
        if !std::mem::replace(&mut said.has_heading, true) {
            let names: Vec<&str> = ADDED.iter().map(|column| column.name).collect();
            writeln!(out, "{}", names.join("\t"))?;
        }
        let path = crate::base::strings::exact_text(file.as_os_str().as_encoded_bytes());
        let cells = [
            Cell::from(added.id.as_str()),
            path.into(),
            added.rows.into(),
            added.bytes.into(),
        ];
        write!(out, "{}", crate::export::escaped::tsv_line(&cells))?;
        Ok(out.flush()?)
    }
}

fn compact(matches: &ArgMatches) -> Result<(), CliError> {
    let set = DataSet::open(folder(matches)).map_err(of_set)?;
    let job = Job::default();
    let done = with_progress("compacting", &job, || set.compact(&job)).map_err(of_set)?;
    warn(&format!("{} parts became {}", done.before, done.after));
    Ok(())
}

const LISTED: &[ColumnDef<'static>] = &[
    ColumnDef::text("trace_id", "Trace", "The trace's id."),
    ColumnDef::path("path", "Path", "The path from which it was read.").kept(),
    ColumnDef::text("format", "Format", "Its format."),
    ColumnDef::text(
        "date",
        "Date",
        "The day on which it was recorded (UTC), or unknown.",
    ),
    ColumnDef::number("size", "Size", Unit::Bytes, "The size of its file."),
    ColumnDef::count("rows", "Rows", "The rows of all its tables."),
    ColumnDef::text("labels", "Labels", "The labels that it was given."),
];

fn list(matches: &ArgMatches) -> Result<(), CliError> {
    let set = DataSet::open(folder(matches)).map_err(of_set)?;
    let Manifest { traces, parts, .. } = set.manifest().map_err(of_set)?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for rows in parts.iter().flat_map(|part| &part.rows) {
        *counts.entry(&rows.trace).or_default() += rows.count;
    }
    let mut out = answer();
    let mut rows = RowWriter::new(&mut out, row_format(matches, &Trace::default()), LISTED)?;
    for (id, trace) in &traces {
        let labels = trace
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"));
        let labels: Vec<String> = labels.collect();
        rows.row(&[
            id.as_str().into(),
            trace.path.as_str().into(),
            trace.format.as_str().into(),
            trace.date.as_str().into(),
            trace.size_bytes.into(),
            counts.get(id.as_str()).copied().unwrap_or(0).into(),
            labels.join(", ").into(),
        ])?;
    }
    rows.finish()?;
    Ok(out.flush()?)
}

fn views(matches: &ArgMatches) -> Result<(), CliError> {
    let set = DataSet::open(folder(matches)).map_err(of_set)?;
    let name = matches.get_one::<String>("for").map_or("", String::as_str);
    let dialect = Dialect::named(name)
        .ok_or_else(|| CliError::Usage(format!("there is no engine '{name}'")))?;
    let mut out = answer();
    out.write_all(set.views(dialect).map_err(of_set)?.as_bytes())?;
    Ok(out.flush()?)
}

const TABLE_LIST: &[ColumnDef<'static>] = &[
    ColumnDef::text("table", "Table", "The table's name."),
    ColumnDef::text("column", "Column", "The column's name.").kept(),
    ColumnDef::text("type", "Type", "BIGINT, DOUBLE, BOOLEAN or VARCHAR."),
    ColumnDef::text("unit", "Unit", "The unit of its numbers."),
    ColumnDef::text("about", "Meaning", "What its values are."),
    ColumnDef::text(
        "source",
        "Source",
        "The table and column of `threadline table`.",
    )
    .minor(),
];

/// Prints all tables of data sets with their columns.
fn print_tables(matches: &ArgMatches) -> Result<(), CliError> {
    let mut out = answer();
    let mut rows = RowWriter::new(&mut out, row_format(matches, &Trace::default()), TABLE_LIST)?;
    for table in tables() {
        let sources = table.def.stored.map_or(&[][..], |stored| stored.columns);
        let sources = sources
            .iter()
            .map(|column| format!("{}.{}", table.def.name, column.of));
        let sources = [None].into_iter().chain(sources.map(Some));
        for (column, source) in table.columns().iter().zip(sources) {
            let unit = match column.unit {
                Unit::Nanoseconds => Some("ns"),
                Unit::Bytes => Some("bytes"),
                Unit::Percent => Some("percent"),
                Unit::None | Unit::PerSecond | Unit::Change => None,
            };
            rows.row(&[
                table.name.into(),
                column.name.into(),
                stored_type(column).into(),
                unit.into(),
                column.about.into(),
                source.into(),
            ])?;
        }
    }
    rows.finish()?;
    Ok(out.flush()?)
}
