//! What the window, or a picture of it, begins with: files or a link to a view, and commands of the palette.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches};

use super::command::{CliError, reading};
use crate::gui::Start;
use crate::gui::startup::{Command, Todo};
use crate::load::Growth;
use crate::view::link::Link;

/// `--do`.
pub fn arguments(command: clap::Command) -> clap::Command {
    command.arg(
        Arg::new("do")
            .long("do")
            .value_name("COMMAND")
            .help("Do this once the trace is there: a command by its name in the palette, e.g. \"Fold all\" or \"Search: dur > 1ms\"; may be repeated")
            .action(ArgAction::Append),
    )
}

/// `--follow`.
pub(crate) fn follow_argument() -> Arg {
    Arg::new("follow")
        .long("follow")
        .help("Read the files again as they grow")
        .action(ArgAction::SetTrue)
}

/// What is named: files, and what is to be done to show a link or to carry out commands.
pub(crate) fn named(
    matches: &ArgMatches,
    files: Vec<PathBuf>,
) -> Result<(Vec<PathBuf>, Vec<Todo>), CliError> {
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
    Ok((files, todo))
}

/// What the window begins with.
pub(crate) fn start(matches: &ArgMatches) -> Result<Start, CliError> {
    let files = matches.get_many::<PathBuf>("files").unwrap_or_default();
    let (files, todo) = named(matches, files.cloned().collect())?;
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
