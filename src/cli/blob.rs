//! `threadline blob`: saves what a trace carries for other tools.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{CliError, Command, files_arguments, load};
use crate::export::{ExportError, Overwrite, atomic_file};
use crate::query::blobs::{blobs, payload};

/// This command's row.
pub const COMMAND: Command = Command {
    name: "blob",
    about: "Save an attachment of a trace (FXT blobs); `table blobs` lists them",
    arguments,
    run,
};

fn arguments(command: clap::Command) -> clap::Command {
    let command = command
        .arg(
            Arg::new("number")
                .value_name("NUMBER")
                .help("Which, as `table blobs` numbers them")
                .required(true)
                .value_parser(value_parser!(usize)),
        )
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
                .help("Replace OUT if it is there")
                .action(ArgAction::SetTrue),
        );
    files_arguments(command)
}

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let number = matches.get_one::<usize>("number").copied().unwrap_or(0);
    let loaded = load(matches)?;
    let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
    let all = blobs(trace, reader);
    let bytes = all
        .get(number)
        .and_then(|blob| payload(trace, reader, blob.event));
    let bytes = bytes.ok_or_else(|| {
        CliError::Usage(format!(
            "there is no blob {number}: this trace has {} (see `table blobs`)",
            all.len()
        ))
    })?;
    let path = matches.get_one::<PathBuf>("output");
    let path = path.map_or(Path::new("-"), PathBuf::as_path);
    if path.as_os_str() == "-" {
        std::io::stdout().lock().write_all(&bytes)?;
        return Ok(());
    }
    let overwrite = match matches.get_flag("force") {
        true => Overwrite::Replace,
        false => Overwrite::Refuse,
    };
    let written = atomic_file::write_whole(path, overwrite, |out| {
        out.write_all(&bytes).map_err(ExportError::from)
    });
    written.map_err(|error| match error {
        ExportError::Exists(_) => CliError::Input(format!(
            "{}; --force replaces it",
            ExportError::Exists(path.to_path_buf())
        )),
        other => CliError::Input(other.to_string()),
    })
}
