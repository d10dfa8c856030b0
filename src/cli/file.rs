//! `threadline file`: what was done to one file of a traced build, what went into it, what was made from it.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches};
use rustc_hash::FxHashMap;

use super::command::{
    CliError, Command, answer, files_arguments, format_arguments, load, row_format,
};
use crate::base::strings::{exact_bytes, text_of};
use crate::export::rows::{Cell, RowWriter};
use crate::query::files::{FileList, Kinship, More, Relative};
use crate::query::process_times::program_of;
use crate::trace::FileId;

/// This command's row.
pub const COMMAND: Command = Command {
    name: "file",
    about: "Print who used a file, what went into it, or what was made from it",
    arguments,
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
                .help("Its path, or the end of it if no other file ends so; as bytes, or as tables show it (\\xNN)")
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
    let format = row_format(matches);
    let loaded = load(matches)?;
    let trace = &loaded.trace;
    let list = FileList::new(trace);
    let as_shown = || list.find(trace, &exact_bytes(path.to_str()?));
    let file = list.find(trace, path.as_encoded_bytes());
    let file = file.or_else(as_shown).ok_or_else(|| {
        let path = text_of(path.as_encoded_bytes());
        CliError::Input(format!(
            "no file of that name, or several that end so, were used in this trace: {path}; \
             'threadline table file_list' lists them"
        ))
    })?;
    let kinship = if matches.get_flag("went-into") {
        Some(Kinship::WentInto)
    } else {
        matches.get_flag("made-from").then_some(Kinship::MadeFrom)
    };
    let mut out = answer();
    match kinship {
        None => {
            let columns = ["ts", "use", "pid", "process", "path", "other_path"];
            let mut rows = RowWriter::new(&mut out, format, &columns)?;
            let uses = 0..list.use_count(file);
            for it in uses.filter_map(|index| list.use_at(trace, file, index)) {
                let row = &trace.files.rows[it.row as usize];
                let process = it.process.and_then(|id| trace.processes.get(id.0 as usize));
                rows.row(&[
                    it.time.0.into(),
                    it.word.into(),
                    process.map(|it| it.pid).into(),
                    it.process.map(|id| program_of(trace, id)).into(),
                    Cell::of_string(trace, row.path),
                    Cell::of_string(trace, row.other_path),
                ])?;
            }
            rows.finish()?;
        }
        Some(kinship) => {
            let (relatives, more) = list.relatives(trace, file, kinship);
            let used: FxHashMap<FileId, &Relative> =
                relatives.iter().map(|it| (it.file, it)).collect();
            let columns = [
                "steps",
                "path",
                "through_pid",
                "through",
                "towards",
                "later_path",
            ];
            let mut rows = RowWriter::new(&mut out, format, &columns)?;
            for relative in &relatives {
                let pid = trace.processes.get(relative.through.0 as usize);
                rows.row(&[
                    relative.steps.into(),
                    Cell::of_string(trace, relative.name(trace)),
                    pid.map(|it| it.pid).into(),
                    program_of(trace, relative.through).into(),
                    match used.get(&relative.towards) {
                        Some(nearer) => Cell::of_string(trace, nearer.name(trace)),
                        None => Cell::of_string(trace, list.history.name(relative.towards)),
                    },
                    relative
                        .later_name(trace, &list)
                        .map_or(Cell::None, |it| Cell::of_string(trace, it)),
                ])?;
            }
            rows.finish()?;
            if more == More::ThereIs {
                let mut stderr = std::io::stderr().lock();
                let _unwritable = writeln!(stderr, "threadline: the list is cut: there are more");
            }
        }
    }
    out.flush()?;
    Ok(())
}
