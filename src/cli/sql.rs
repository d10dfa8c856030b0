//! `threadline sql`: runs SQL over traces or a data set in the user's own DuckDB.

use std::io::Write;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, format_arguments, load_files, reading, row_format,
    while_printing, with_progress,
};
use super::output::{is_stdout, output_arguments, overwrite_of, path_of, refusal};
use crate::base::Job;
use crate::export::atomic_file::write_whole;
use crate::export::dataset::add::{AddOptions, Adder};
use crate::export::dataset::query::{
    Answer, Found, Making, PREPARED, QueryError, Question, cached, files_of,
};
use crate::export::dataset::{DataSet, SetError};
use crate::export::parquet::PARQUET;
use crate::export::rows::RowFormat;
use crate::export::{ExportError, Overwrite};
use crate::load::names_traces;
use crate::trace::Trace;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "sql",
    about: "Ask about traces or a data set in SQL, with DuckDB",
    arguments,
    examples: &[
        Example {
            line: "'SELECT count(*) FROM slice' sample-traces/compress.fxt",
            about: "How many slices a trace has",
        },
        Example {
            line: "longest-slices sample-traces/compress.fxt",
            about: "A question that comes with the program",
        },
    ],
    run: sql,
};

fn arguments(command: clap::Command) -> clap::Command {
    let prepared = PREPARED.iter();
    let prepared = prepared.map(|it| format!("  {:<16} {}", it.name, it.about));
    let prepared: Vec<String> = prepared.collect();
    let command = command
        .arg(
            Arg::new("query")
                .value_name("QUERY")
                .help("A SELECT statement, or the name of one of the questions below")
                .required(true),
        )
        .arg(
            Arg::new("file")
                .value_name("FILE|DIR")
                .help("The traces, or the folder of a data set")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf)),
        );
    output_arguments(command)
        .mut_arg("output", |output| {
            let help = "Write into a file [default: standard output]";
            output.required(false).help(help)
        })
        .args(format_arguments())
        .mut_arg("format", |format| {
            format.value_parser(["table", "tsv", "csv", "json", PARQUET.name])
        })
        .after_help(format!(
            "docs/tables.md describes the tables. Traces are converted once; the result stays in the cache \
             (~/.cache/threadline).\nQuestions that come with the program (docs/queries.md):\n{}",
            prepared.join("\n")
        ))
}

fn sql(matches: &ArgMatches) -> Result<(), CliError> {
    let query = matches
        .get_one::<String>("query")
        .map_or("", String::as_str);
    let prepared = PREPARED.iter().find(|it| it.name == query);
    let query = prepared.map_or(query, |it| it.sql);
    let out = matches.contains_id("output").then(|| path_of(matches));
    let is_parquet = matches
        .get_one::<String>("format")
        .is_some_and(|it| it == PARQUET.name);
    if is_parquet && out.is_none() {
        return Err(CliError::Usage(
            "parquet is written into a file: -o OUT".to_owned(),
        ));
    }
    if let Some(path) = out.filter(|path| !is_stdout(path) && path.is_file())
        && overwrite_of(matches) == Overwrite::Refuse
    {
        return Err(refusal(ExportError::Exists(path.to_path_buf())));
    }
    let set = data_set(matches, query)?;
    let job = Job::default();
    let found = with_progress("asking", &job, || match is_parquet {
        true => set.ask_for_parquet(Question::new(query)?, &job),
        false => set.ask(Question::new(query)?, &job),
    });
    let found = found.map_err(of_query)?;
    let form = |format| match is_parquet {
        true => AnswerForm::Parquet,
        false => AnswerForm::Rows(format),
    };
    let format = row_format(matches, &Trace::default());
    match out.filter(|path| !is_stdout(path)) {
        None => {
            let mut out = answer();
            let write = || write_answer(&found, form(format), &mut out);
            while_printing("writing", &job, write)?;
            Ok(out.flush()?)
        }
        Some(path) => {
            let format = match format {
                RowFormat::Aligned(_) => RowFormat::Tsv,
                other => other,
            };
            let written: Result<(), ExportError> =
                write_whole(path, overwrite_of(matches), |out| {
                    Ok(write_answer(&found, form(format), out)?)
                });
            written.map_err(refusal)
        }
    }
}

/// The form in which the answer is written.
#[derive(Clone, Copy)]
enum AnswerForm {
    /// The file that DuckDB wrote.
    Parquet,
    Rows(RowFormat),
}

fn write_answer(found: &Answer, form: AnswerForm, out: &mut dyn Write) -> std::io::Result<()> {
    match form {
        AnswerForm::Parquet => found.copy_parquet(out),
        AnswerForm::Rows(format) => found.write_rows(format, out),
    }
}

fn of_query(error: QueryError) -> CliError {
    CliError::Input(error.to_string())
}

/// Why a data set could not be created.
enum Unmade {
    Set(SetError),
    Cli(CliError),
}

impl From<SetError> for Unmade {
    fn from(error: SetError) -> Unmade {
        Unmade::Set(error)
    }
}

/// Returns the data set that the user named, or one made from the traces.
fn data_set(matches: &ArgMatches, query: &str) -> Result<DataSet, CliError> {
    let files: Vec<PathBuf> = super::command::files(matches);
    if let [folder] = files.as_slice()
        && folder.is_dir()
    {
        return DataSet::open(folder).map_err(|error| CliError::Input(error.to_string()));
    }
    if let Some(path) = files.iter().find(|path| !path.is_file()) {
        let words = format!("there is no such file: {}", path.display());
        return Err(CliError::Input(words));
    }
    let options = AddOptions::for_question(query);
    let what = format!(
        "{:?} {:?} {:?}",
        options.tables,
        options.events,
        reading(matches)
    );
    let load = |file: &PathBuf| {
        let paths = std::slice::from_ref(file);
        let loaded = load_files(matches, paths, Vec::new(), reading(matches));
        loaded.map_err(Unmade::Cli)
    };
    let making = Making {
        fill: |set: &DataSet| {
            let mut adder = Adder::new(set, &options)?;
            let mut names_any = false;
            let mut found = Vec::new();
            for file in &files {
                let loaded = load(file)?;
                let job = Job::default();
                with_progress("converting", &job, || adder.add(file, &loaded, &job))?;
                names_any |= names_traces(&loaded);
                found.extend(files_of(&loaded));
            }
            adder.commit(&Job::default())?;
            Ok(match names_any {
                true => Found::Files(found),
                false => Found::Nothing,
            })
        },
        look: || {
            let mut found = Vec::new();
            for file in &files {
                found.extend(files_of(&load(file)?));
            }
            Ok(found)
        },
    };
    let set = cached(&files, &what, making);
    set.map_err(|error| match error {
        Unmade::Cli(error) => error,
        Unmade::Set(error) => CliError::Input(error.to_string()),
    })
}
