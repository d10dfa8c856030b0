//! `threadline file`: how one file of a traced build was used, which files it was made from, and which were made from
//! it.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};

use super::command::{
    CliError, Command, Example, answer, files_arguments, format_arguments, load, row_format, warn,
};
use crate::base::Job;
use crate::base::strings::{exact_bytes, text_of};
use crate::export::tables::write_rows;
use crate::query::file_relatives::Relatives;
use crate::query::files::{FileList, Kinship, More};
use crate::tables::files::{RELATIVES, USES_OF_FILE, UsesOfFile, relative_rows};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "file",
    about: "Print who used a file, what went into it, or what was made from it",
    arguments,
    examples: &[
        Example {
            line: "lua.o sample-traces/lua-make-j2.etrace.zst",
            about: "Who used a file",
        },
        Example {
            line: "lua.o sample-traces/lua-make-j2.etrace.zst --went-into",
            about: "What a file was made from",
        },
    ],
    run,
};

fn arguments(command: clap::Command) -> clap::Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .help(help)
            .action(ArgAction::SetTrue)
    };
    let command = command
        .arg(
            Arg::new("path")
                .value_name("PATH")
                .help("Path of the file, or the end of its path if no other path ends so; as bytes, or as tables show it (\\xNN)")
                .value_parser(clap::value_parser!(OsString))
                .required(true),
        )
        .arg(flag("went-into", "List what went into it, step by step"))
        .arg(
            flag("made-from", "List what was made from it, step by step")
                .conflicts_with("went-into"),
        );
    files_arguments(command).args(format_arguments())
}

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let path = matches.get_one::<OsString>("path");
    let path = path.map_or(OsStr::new(""), OsString::as_os_str);
    let loaded = load(matches)?;
    let trace = &loaded.trace;
    let format = row_format(matches, trace);
    // The command line cannot cancel the job.
    let job = Job::default();
    let list = FileList::new(trace, &job).unwrap_or_default();
    let as_shown = || list.find(trace, &exact_bytes(path.to_str()?));
    let file = list.find(trace, path.as_encoded_bytes());
    let file = file.or_else(as_shown).ok_or_else(|| {
        let path = text_of(path.as_encoded_bytes());
        CliError::Input(format!(
            "no file with this path was used in this trace, or several paths end so: {path}; `threadline \
             table file_list` lists all files"
        ))
    })?;
    let kinship = if matches.get_flag("went-into") {
        Some(Kinship::WentInto)
    } else {
        matches.get_flag("made-from").then_some(Kinship::MadeFrom)
    };
    let mut out = answer();
    let list = Arc::new(list);
    match kinship {
        None => {
            let uses = UsesOfFile { list, file };
            write_rows(USES_OF_FILE.columns, &uses, &loaded, format, &mut out)?;
        }
        Some(kinship) => {
            let Relatives { files, more } = list
                .relatives(trace, file, kinship, &job)
                .unwrap_or_default();
            let rows = relative_rows(files, list);
            write_rows(RELATIVES.columns, &rows, &loaded, format, &mut out)?;
            if more == More::ThereIs {
                warn("the list is cut: there are more files than it can contain");
            }
        }
    }
    out.flush()?;
    Ok(())
}
