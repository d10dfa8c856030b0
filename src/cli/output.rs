//! `-o OUT` and `--force`: where a command writes, and whether it replaces an existing file.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::CliError;
use crate::export::{ExportError, Overwrite};

/// Adds the arguments.
pub(crate) fn output_arguments(command: clap::Command) -> clap::Command {
    command
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("OUT")
                .help("Where to write; - for standard output")
                .required(true)
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("force")
                .short('f')
                .long("force")
                .help("Replace OUT if it exists")
                .action(ArgAction::SetTrue),
        )
}

/// Returns the output path.
pub(super) fn path_of(matches: &ArgMatches) -> &Path {
    let path = matches.get_one::<PathBuf>("output");
    path.map_or(Path::new("-"), PathBuf::as_path)
}

/// Returns whether the path means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns what to do with an existing file.
pub(crate) fn overwrite_of(matches: &ArgMatches) -> Overwrite {
    match matches.get_flag("force") {
        true => Overwrite::Replace,
        false => Overwrite::Refuse,
    }
}

/// Returns the error message: why nothing was written, and what to do.
pub(crate) fn refusal(error: ExportError) -> CliError {
    match error {
        ExportError::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            CliError::Output(error)
        }
        ExportError::Exists(path) if !path.is_dir() => CliError::Input(format!(
            "{}; use --force to replace it",
            ExportError::Exists(path)
        )),
        other => CliError::Input(other.to_string()),
    }
}
