//! `threadline cache`: the model files, from which traces open at once.

use std::io::Write;
use std::time::SystemTime;

use clap::ArgMatches;

use super::command::{CliError, Command, Example, stdout, without_reading_arguments};
use crate::load::model::{Folder, ModelFile, default_folder};
use crate::view::ruler::size_text;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "cache",
    about: "List or remove the files from which traces open at once",
    arguments: |command| {
        without_reading_arguments(command)
            .subcommand_required(true)
            .subcommand(
                clap::Command::new("list").about("List the model files: size, days since the last use, path"),
            )
            .subcommand(clap::Command::new("clear").about("Remove all model files"))
            .after_help(
                "A load of more than a second is kept in a model file, so that the same file opens at once the next time. \
                 Model files are in $XDG_CACHE_HOME/threadline/models, else in ~/.cache/threadline/models. Together they \
                 take at most 20 GB, and at most a tenth of the disk; those that were not used for longest are removed \
                 first. Every command and the window have the option --no-cache.",
            )
    },
    examples: &[
        Example {
            line: "list",
            about: "The model files and their sizes",
        },
        Example {
            line: "clear",
            about: "Remove all of them",
        },
    ],
    run: cache,
};

fn cache(matches: &ArgMatches) -> Result<(), CliError> {
    let Some(folder) = default_folder() else {
        let words = "neither XDG_CACHE_HOME nor HOME is set: there are no model files";
        return Err(CliError::Input(words.to_owned()));
    };
    match matches.subcommand_name() {
        Some("clear") => clear(&folder),
        _ => list(&folder),
    }
}

fn unreadable(folder: &Folder, error: &std::io::Error) -> CliError {
    CliError::Input(format!("{}: {error}", folder.path().display()))
}

fn list(folder: &Folder) -> Result<(), CliError> {
    let files = folder.list();
    let mut files = files.map_err(|error| unreadable(folder, &error))?;
    files.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
    print(&files)
}

fn print(files: &[ModelFile]) -> Result<(), CliError> {
    let mut out = stdout();
    let now = SystemTime::now();
    writeln!(out, "      size last use   path")?;
    for file in files {
        let days = now.duration_since(file.used).unwrap_or_default().as_secs() / 86_400;
        let path = file.path.display();
        writeln!(out, "{:>10} {days:>4} days  {path}", size_text(file.bytes))?;
    }
    writeln!(out, "{}", summary(files))?;
    Ok(())
}

fn clear(folder: &Folder) -> Result<(), CliError> {
    let removed = folder.clear();
    let removed = removed.map_err(|error| unreadable(folder, &error))?;
    writeln!(stdout(), "removed:")?;
    print(&removed)
}

fn summary(files: &[ModelFile]) -> String {
    let sum = files.iter().map(|file| file.bytes).sum();
    match files.len() {
        1 => format!("1 file, {}", size_text(sum)),
        count => format!("{count} files, {}", size_text(sum)),
    }
}
