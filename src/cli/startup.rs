//! The arguments for the start of the window, or of a picture of it: files or a link to a view, and commands of the
//! palette.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches};

use super::command::{CliError, reading};
use crate::gui::Start;
use crate::gui::startup::{Command, Todo};
use crate::load::Growth;
use crate::view::link::Link;

/// Adds the argument `--do`.
pub(super) fn arguments(command: clap::Command) -> clap::Command {
    command.arg(
        Arg::new("do")
            .long("do")
            .value_name("COMMAND")
            .help("Run this command when the trace is loaded: its name in the palette, e.g. \"Fold all\" or \"Search: dur > 1ms\"; may be repeated")
            .action(ArgAction::Append),
    )
}

/// Returns the argument `--follow`.
pub(crate) fn follow_argument() -> Arg {
    Arg::new("follow")
        .long("follow")
        .help("Read the files again as they grow")
        .action(ArgAction::SetTrue)
}

/// The files that the command line names.
pub(super) struct Named {
    pub files: Vec<PathBuf>,
    /// What is done after they are opened.
    pub todo: Vec<Todo>,
}

/// Returns the files of the command line, and the actions that show a link or run commands.
pub(super) fn named(matches: &ArgMatches, files: Vec<PathBuf>) -> Result<Named, CliError> {
    let link = match files.as_slice() {
        [only] => only.to_str().filter(|text| Link::is_one(text)),
        _ => None,
    };
    let link = link.map(Link::parse).transpose().map_err(CliError::Usage)?;
    let (files, mut todo) = match link {
        Some(link) => (link.files.clone(), vec![Todo::Show(Box::new(link))]),
        None => (files, Vec::new()),
    };
    for text in matches.get_many::<String>("do").unwrap_or_default() {
        let command = Command::parse(text).map_err(CliError::Usage)?;
        todo.push(Todo::Do(command));
    }
    Ok(Named { files, todo })
}

/// Returns the files and actions with which the window starts.
pub(super) fn start(matches: &ArgMatches) -> Result<Start, CliError> {
    let files = matches.get_many::<PathBuf>("files").unwrap_or_default();
    let Named { files, todo } = named(matches, files.cloned().collect())?;
    let follows = matches.get_flag("follow");
    if follows && files.is_empty() {
        let words = "--follow needs a file".to_owned();
        return Err(CliError::Usage(words));
    }
    Ok(Start {
        files,
        reading: reading(matches),
        growth: match follows {
            true => Growth::Expected,
            false => Growth::Unexpected,
        },
        todo,
    })
}
