//! The command line: everything that the window does with data, without a window.
//!
//! Parsing, help, completions and the manual page come from the table `COMMANDS`. A new command is one file and one row
//! of the table.

mod blob;
mod cache;
mod chain;
mod command;
mod compare;
mod dataset;
mod export;
mod file;
mod flame;
mod formats;
mod info;
mod install;
mod latency;
mod narrow;
mod output;
mod probes;
mod progress;
mod record;
#[cfg(feature = "gui")]
mod render;
mod report;
mod search;
mod sql;
#[cfg(feature = "gui")]
mod startup;
mod stats;
mod table;
mod terminal;
mod version;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use crate::base::system::streams;
use crate::base::visible::{harmless, is_active};
use crate::load::catch_bus_errors;
use crate::load::model::{Writing, write_pending};

pub(crate) use command::CliError;
pub use command::Command;

/// All commands, in the order of the help.
pub(crate) const COMMANDS: &[Command] = &[
    info::COMMAND,
    report::COMMAND,
    table::COMMAND,
    blob::COMMAND,
    search::COMMAND,
    stats::COMMAND,
    latency::COMMAND,
    chain::COMMAND,
    flame::COMMAND,
    compare::COMMAND,
    file::COMMAND,
    #[cfg(feature = "gui")]
    render::COMMAND,
    export::COMMAND,
    dataset::COMMAND,
    sql::COMMAND,
    record::COMMAND,
    probes::COMMAND,
    cache::COMMAND,
    formats::COMMAND,
    install::COMMAND,
];

/// Returns the whole command line for clap.
#[must_use]
pub(crate) fn command_line() -> clap::Command {
    let mut all = clap::Command::new("threadline")
        .version(env!("CARGO_PKG_VERSION"))
        .long_version(version::FULL.as_str())
        .about("Shows traces: trace.dat (trace-cmd), Fuchsia FXT, etrace, ftrace text, strace, MINIX trace")
        .long_about(
            "Shows traces. Without a command, opens a window; with one, works without a window.\n\n\
             Times (T) are since the trace's start with a unit (1.5s, 250ms, 12us, 7ns), or @N for N ns on the \
             trace's own clock. FILE may be - for standard input.",
        )
        .args_conflicts_with_subcommands(true)
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .help("Traces to open in a window; several share one time axis")
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf)),
        );
    #[cfg(feature = "gui")]
    {
        all = startup::arguments(all).arg(startup::follow_argument());
    }
    all = command::reading_arguments(all);
    for command in COMMANDS {
        all = all.subcommand(command.for_clap());
    }
    all
}

/// Runs the program with the process's arguments. Exit codes: 0 success, 1 unusable input, 2 wrong usage.
#[must_use]
pub fn run() -> ExitCode {
    catch_bus_errors();
    let matches = match command_line().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are answers, everything else is wrong usage; clap chooses the output stream.
            if error.use_stderr() {
                let _unwritable = match harmless_arguments() {
                    None => error.print(),
                    // The same mistake in arguments without control characters: clap would write these as they are.
                    Some(arguments) => match command_line().try_get_matches_from(arguments) {
                        Err(error) if error.use_stderr() => error.print(),
                        _ => write!(std::io::stderr(), "{}", harmless(&error.to_string())),
                    },
                };
                return ExitCode::from(2);
            }
            let printed = streams::stdout_was_open().and_then(|()| error.print());
            return command::finish(printed.map_err(CliError::from));
        }
    };
    command::set_memory_limit(
        matches
            .subcommand()
            .map_or(&matches, |(_, arguments)| arguments),
    );
    let result = match matches.subcommand() {
        Some((name, arguments)) => match COMMANDS.iter().find(|command| command.name == name) {
            Some(command) => {
                if command.name != dataset::COMMAND.name {
                    command::use_model_files(arguments, Writing::Later);
                }
                (command.run)(arguments)
            }
            None => Err(CliError::Usage(format!("there is no command '{name}'"))),
        },
        None => {
            command::use_model_files(&matches, Writing::InBackground);
            open_window(&matches)
        }
    };
    let code = command::finish(result);
    write_pending();
    code
}

/// Returns the process's arguments with control characters made visible; `None` if they have none.
fn harmless_arguments() -> Option<Vec<String>> {
    let arguments = std::env::args_os();
    let arguments = arguments.map(|it| it.to_string_lossy().into_owned());
    let arguments: Vec<String> = arguments.collect();
    let has_active = arguments.iter().any(|it| it.contains(is_active));
    let visible = |it: &String| harmless(it).into_owned();
    has_active.then(|| arguments.iter().map(visible).collect())
}

#[cfg(feature = "gui")]
fn open_window(matches: &ArgMatches) -> Result<(), CliError> {
    crate::gui::run(startup::start(matches)?).map_err(CliError::Input)
}

#[cfg(not(feature = "gui"))]
fn open_window(_matches: &ArgMatches) -> Result<(), CliError> {
    Err(CliError::Usage(
        "this build has no window (it was made without the feature 'gui'); see `threadline help`"
            .into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command_line().debug_assert();
    }
}
