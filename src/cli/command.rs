//! What a command is, and what commands share: the file argument, times, loading with progress, exit codes.

use std::fmt;
use std::io::{BufWriter, StdoutLock, Write};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::progress::print_clear;
pub(crate) use super::progress::{while_printing, with_progress};
use super::terminal;
use crate::base::system::streams;
use crate::base::time::{TimeArg, parse_duration};
use crate::base::visible::{harmless, one_line};
use crate::base::{Job, Nanos, Problem, TimeSpan, budget};
use crate::export::aligned::Look;
use crate::export::rows::{Formulas, RowFormat};
use crate::load::model;
use crate::load::reading::{CompilerTraces, Reading, format_named, midnight_of};
use crate::load::together::open_as;
use crate::load::{LoadError, LoadedTrace, OpenedFile};
use crate::trace::Trace;

/// A row in `COMMANDS`.
#[derive(Clone, Copy)]
pub struct Command {
    /// The verb.
    pub name: &'static str,
    /// One line about the command, for the help.
    pub about: &'static str,
    /// Adds the command's arguments.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Lines that the help ends with.
    pub examples: &'static [Example],
    /// Runs the command.
    pub run: fn(&ArgMatches) -> Result<(), CliError>,
}

/// A command line that works as it is in the folder that contains `sample-traces`.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The line without the program's name, quoted as for a shell.
    pub line: &'static str,
    /// What the example does.
    pub about: &'static str,
}

impl Command {
    /// Returns the command for clap, with its examples at the end of the help.
    #[must_use]
    pub(crate) fn for_clap(&self) -> clap::Command {
        let command = (self.arguments)(clap::Command::new(self.name).about(self.about));
        let mut help = command
            .get_after_help()
            .map_or_else(String::new, |text| format!("{text}\n\n"));
        help.push_str("Examples:");
        for example in self.examples {
            let line = format!("threadline {} {}", self.name, example.line);
            help.push_str(&format!("\n  # {}\n  {}", example.about, line.trim_end()));
        }
        command.after_help(help)
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum CliError {
    /// The input could not be used: exit code 1.
    Input(String),
    /// The command line was wrong: exit code 2.
    Usage(String),
    /// The output could not be written; a closed pipe is not an error.
    Output(std::io::Error),
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> CliError {
        CliError::Output(error)
    }
}

/// The files from which this process reads its answer. Each process runs one verb only.
static READ_FROM: Mutex<Vec<Arc<OpenedFile>>> = Mutex::new(Vec::new());

/// Adds files whose changes [`finish`] reports.
pub(crate) fn watch<'a>(files: impl IntoIterator<Item = &'a Arc<OpenedFile>>) {
    let mut all = READ_FROM.lock().unwrap_or_else(PoisonError::into_inner);
    all.extend(files.into_iter().cloned());
}

/// Removes files whose answer is complete: they are closed when their trace is dropped.
pub(crate) fn unwatch<'a>(files: impl IntoIterator<Item = &'a Arc<OpenedFile>>) {
    let mut all = READ_FROM.lock().unwrap_or_else(PoisonError::into_inner);
    for file in files {
        all.retain(|it| !Arc::ptr_eq(it, file));
    }
}

/// Returns an error if a file was damaged after it was opened, because output written from it may be wrong.
fn damage() -> Option<CliError> {
    let files = READ_FROM.lock().unwrap_or_else(PoisonError::into_inner);
    files.iter().find_map(|file| {
        let change = file.damage()?;
        let path = file.path().display();
        let words = format!("{change}: the output may be wrong: {path}");
        Some(CliError::Input(words))
    })
}

/// Passes output on until an input file is damaged. A file that was cut short reads as zeros: a single output line
/// could become as long as the rest of the file.
pub(crate) struct Watched<W>(W);

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if damage().is_some() {
            // `finish` prints the message.
            return Err(std::io::Error::other("an input file was damaged"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Returns standard output for the answer of a command, which flushes it at its end.
pub(super) fn answer() -> BufWriter<Watched<Stdout>> {
    BufWriter::with_capacity(1 << 18, Watched(stdout()))
}

/// Standard output, locked. Writes are ignored if it was closed when the program started.
pub(crate) struct Stdout(StdoutLock<'static>);

/// Returns standard output; [`finish`] flushes it.
pub(crate) fn stdout() -> Stdout {
    Stdout(std::io::stdout().lock())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        streams::stdout_was_open()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Reports on stderr how the files that were read have changed. Errors if a file was cut short or overwritten: then the
/// output so far, which cannot be taken back, may be wrong.
fn look_at_files() -> Result<(), CliError> {
    if let Some(damage) = damage() {
        return Err(damage);
    }
    let files = READ_FROM.lock().unwrap_or_else(PoisonError::into_inner);
    for file in files.iter() {
        if let Some(growth) = file.change() {
            warn(&format!("{growth}: {}", file.path().display()));
        }
    }
    Ok(())
}

/// Returns the error for a file that could not be read, with a hint.
pub(crate) fn not_loaded(error: &LoadError) -> CliError {
    let hint = match error.error.problem {
        Problem::UnknownFormat { .. } => " (to read a text as one of these, use --read-as NAME)",
        Problem::NoMemory { .. } => " (--memory sets the limit)",
        _ => "",
    };
    CliError::Input(format!("{error}{hint}"))
}

/// Prints the error on stderr; returns the exit code.
pub(crate) fn finish(result: Result<(), CliError>) -> ExitCode {
    let result = result.and_then(|()| Ok(std::io::stdout().flush()?));
    // A damaged file makes every result doubtful: for example, a search may have found nothing for this reason.
    let result = look_at_files().and(result);
    let (code, words) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            return ExitCode::SUCCESS;
        }
        Err(CliError::Output(error)) => (1, format!("the output could not be written: {error}")),
        Err(CliError::Input(words)) => (1, words),
        Err(CliError::Usage(words)) => (2, words),
    };
    warn(&words);
    ExitCode::from(code)
}

/// Prints a line on stderr. Control characters are escaped: the line may contain text from a file, which must not act
/// on the terminal.
pub(crate) fn warn(words: &str) {
    print_clear(|stderr| writeln!(stderr, "threadline: {}", harmless(words)));
}

/// Returns the FILE argument.
pub(crate) fn file_argument() -> Arg {
    Arg::new("file")
        .value_name("FILE")
        .help("The trace; - for standard input")
        .required(true)
        .value_parser(value_parser!(PathBuf))
}

/// Adds the FILE arguments of commands that can put several traces on one axis, and `--offset`.
pub(crate) fn files_arguments(command: clap::Command) -> clap::Command {
    command
        .arg(
            file_argument()
                .help("The trace; - for standard input; several share one time axis")
                .num_args(1..),
        )
        .arg(offset_argument())
}

/// Returns the argument `--offset`.
pub(crate) fn offset_argument() -> Arg {
    Arg::new("offset")
        .long("offset")
        .value_name("N=T")
        .help("Add T to the times of the Nth file, e.g. 2=1.5ms, instead of the offsets from the files' clocks")
        .action(ArgAction::Append)
        .value_parser(parse_offset)
}

/// Adds `--date`, `--read-as`, `--compiler-traces`, `--memory` and `--no-cache`, for all commands that read files.
pub(crate) fn reading_arguments(command: clap::Command) -> clap::Command {
    command
        .arg(
            Arg::new("date")
                .long("date")
                .value_name("YYYY-MM-DD")
                .help("Date of the first day, for texts whose times have no date; followed by +02:00 if the times are not UTC")
                .global(true)
                .value_parser(|date: &str| {
                    midnight_of(date)
                        .ok_or_else(|| format!("'{date}': expected a date such as 2026-11-21"))
                }),
        )
        .arg(
            Arg::new("read-as")
                .long("read-as")
                .value_name("FORMAT")
                .help("Read the files as this format (see `threadline formats`), whatever they look like")
                .global(true)
                .value_parser(|word: &str| {
                    format_named(word).map(|format| format.name).ok_or_else(|| {
                        format!("'{word}': no format has this name, or several do; see `threadline formats`")
                    })
                }),
        )
        .arg(
            Arg::new("compiler-traces")
                .long("compiler-traces")
                .value_name("FOLDER")
                .help("Look in FOLDER for the traces (-ftime-trace) that compilers of a recorded build wrote; none: do not open them [default: at the paths in the recording, and beside it]")
                .global(true)
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("memory")
                .long("memory")
                .value_name("SIZE")
                .help("Use at most this much memory for the contents of a file, e.g. 2G [default: what the system leaves]")
                .global(true)
                .value_parser(budget::parse_size),
        )
        .arg(
            Arg::new("no-cache")
                .long("no-cache")
                .help("Neither use nor write model files, from which files open at once the next time (see `threadline cache`)")
                .global(true)
                .action(ArgAction::SetTrue),
        )
}

/// Leaves the options of [`reading_arguments`] out of the help of a command that reads no trace.
pub(crate) fn without_reading_arguments(command: clap::Command) -> clap::Command {
    let of_all = reading_arguments(clap::Command::new("all"));
    // An option of the command takes the place of the one that is valid everywhere.
    let hidden = of_all.get_arguments().cloned();
    command.args(hidden.map(|option| option.global(false).hide(true)))
}

/// Limits allocations to the value of `--memory`.
pub(crate) fn set_memory_limit(matches: &ArgMatches) {
    if let Some(&bytes) = matches.get_one::<u64>("memory") {
        budget::set_limit(bytes);
    }
}

/// Uses model files, unless `--no-cache` was given.
pub(crate) fn use_model_files(matches: &ArgMatches, writing: model::Writing) {
    if !matches.get_flag("no-cache")
        && let Some(folder) = model::default_folder()
    {
        model::enable(folder, writing);
    }
}

/// Returns the values of `--date`, `--read-as` and `--compiler-traces`.
pub(super) fn reading(matches: &ArgMatches) -> Reading {
    Reading {
        midnight_ns: matches.get_one::<i64>("date").copied(),
        format: matches.get_one::<&'static str>("read-as").copied(),
        compiler_traces: match matches.get_one::<PathBuf>("compiler-traces") {
            None => CompilerTraces::Beside,
            Some(word) if word.as_os_str() == "none" => CompilerTraces::LeftOut,
            Some(folder) => CompilerTraces::below(folder.clone()),
        },
        ..Reading::default()
    }
}

/// Parses `2=1.5ms`: index 1 (the second file) and 1.5 ms.
fn parse_offset(text: &str) -> Result<(usize, Nanos), String> {
    let expected = || format!("'{text}': expected the file's number and a time, such as 2=1.5ms");
    let (number, time) = text.split_once('=').ok_or_else(expected)?;
    let number: usize = number.trim().parse().map_err(|_| expected())?;
    let index = number.checked_sub(1).ok_or_else(expected)?;
    Ok((index, parse_duration(time.trim().trim_start_matches('+'))?))
}

/// Adds `--from` and `--until`.
pub(crate) fn time_arguments(command: clap::Command) -> clap::Command {
    let time = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("T")
            .help(help)
            .allow_hyphen_values(true)
            .action(ArgAction::Set)
            .value_parser(|text: &str| text.parse::<TimeArg>())
    };
    command
        .arg(time(
            "from",
            "Only what happens from T on (1.5s, 250ms, 12us, 7ns since the start, or @N ns)",
        ))
        .arg(time("until", "Only what happens before T"))
}

/// Returns `--format` and `--quote-formulas`, for commands that print a table.
pub(crate) fn format_arguments() -> [Arg; 2] {
    let format = Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .help("How to write it; table: aligned columns with units, cut to the width [default: table on a terminal, else tsv]")
        .value_parser(["table", "tsv", "csv", "json"]);
    [format, formulas_argument()]
}

/// Returns `--quote-formulas`, for everything that writes CSV.
pub(crate) fn formulas_argument() -> Arg {
    Arg::new("quote-formulas")
        .long("quote-formulas")
        .help("In CSV, put an apostrophe before texts that a spreadsheet would run (= + - @ at the start)")
        .action(ArgAction::SetTrue)
}

/// Returns the value of `--quote-formulas`.
pub(crate) fn formulas(matches: &ArgMatches) -> Formulas {
    match matches.get_flag("quote-formulas") {
        true => Formulas::Quoted,
        false => Formulas::Kept,
    }
}

/// Returns the value of `--format` for a table of `trace`.
pub(crate) fn row_format(matches: &ArgMatches, trace: &Trace) -> RowFormat {
    match matches.get_one::<String>("format").map(String::as_str) {
        Some("csv") => RowFormat::Csv(formulas(matches)),
        Some("json") => RowFormat::Json,
        Some("table") => RowFormat::Aligned(look(trace)),
        None if terminal::is_person() => RowFormat::Aligned(look(trace)),
        _ => RowFormat::Tsv,
    }
}

fn look(trace: &Trace) -> Look {
    Look {
        width: terminal::width(),
        colours: terminal::colours(),
        start: trace.span.start,
        clock: trace.info.clock_unit,
    }
}

/// Returns the span from `--from` to `--until`; without them, from the first time to the last.
pub(crate) fn asked_span(matches: &ArgMatches, trace: &Trace) -> TimeSpan {
    let time = |name: &str| {
        matches
            .get_one::<TimeArg>(name)
            .map(|time| time.resolve(trace.span.start))
    };
    TimeSpan::new(
        time("from").unwrap_or(TimeSpan::ALL.start),
        time("until").unwrap_or(TimeSpan::ALL.end),
    )
}

/// Loads the FILE arguments completely, with progress on a terminal, and prints diagnostics about missing data on
/// stderr. The memory is never freed: the process ends with the command.
pub(super) fn load(matches: &ArgMatches) -> Result<ManuallyDrop<LoadedTrace>, CliError> {
    let loaded = load_files(matches, &files(matches), Vec::new(), reading(matches))?;
    Ok(ManuallyDrop::new(loaded))
}

/// Returns the paths of the FILE arguments.
pub(super) fn files(matches: &ArgMatches) -> Vec<PathBuf> {
    let files = matches.get_many::<PathBuf>("file").unwrap_or_default();
    files.cloned().collect()
}

/// Starts the threads on which files are read.
///
/// # Errors
/// If the system has no room for them: rayon would panic at its first use.
fn start_threads() -> Result<(), CliError> {
    let started = rayon::ThreadPoolBuilder::new().build_global();
    let error = started.err();
    // Threads that were started before are no error: only those of the system have a source.
    match error.as_ref().and_then(std::error::Error::source) {
        Some(error) => Err(CliError::Input(format!(
            "the system has no room for threads: {error}"
        ))),
        None => Ok(()),
    }
}

/// Loads other files like [`load`]. An offset of the command line replaces the one in `fixed`.
pub(crate) fn load_files(
    matches: &ArgMatches,
    paths: &[PathBuf],
    mut fixed: Vec<Option<Nanos>>,
    reading: Reading,
) -> Result<LoadedTrace, CliError> {
    start_threads()?;
    fixed.resize(paths.len(), None);
    for &(index, offset) in matches
        .try_get_many::<(usize, Nanos)>("offset")
        .ok()
        .flatten()
        .unwrap_or_default()
    {
        let place = fixed.get_mut(index).ok_or_else(|| {
            let count = paths.len();
            let there = match count {
                1 => "there is 1 file".to_owned(),
                _ => format!("there are {count} files"),
            };
            CliError::Usage(format!("--offset {}: {there}", index + 1))
        })?;
        *place = Some(offset);
    }
    let job = Job::default();
    let loaded = with_progress("reading", &job, || {
        open_as(paths, reading, &[], &fixed, &job, None)
    })
    .map_err(|error| not_loaded(&error))?;
    watch(loaded.opened_files());
    if let Some(error) = loaded.left_out.first() {
        return Err(not_loaded(error));
    }
    warn_of_losses(&loaded);
    if matches.contains_id("date") && !loaded.has_given_day() {
        warn("--date changes nothing: no file here has times of day without a date");
    }
    Ok(loaded)
}

/// Prints each diagnostic about missing data in one line.
pub(crate) fn warn_of_losses(loaded: &LoadedTrace) {
    for row in loaded.trace.diagnostics.rows() {
        if row.severity == crate::base::Severity::Info {
            continue;
        }
        let place = row
            .places
            .first()
            .map(|place| format!(" at {place}"))
            .unwrap_or_default();
        let times = if row.count > 1 {
            format!(" ({} times)", row.count)
        } else {
            String::new()
        };
        warn(&format!("{}{place}{times}", one_line(&row.message)));
    }
}
