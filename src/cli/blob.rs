//! `threadline blob`: saves binary data that a trace contains for other tools.

use std::io::Write;

use clap::{Arg, ArgMatches, value_parser};

use super::command::{CliError, Command, Example, files_arguments, load, stdout};
use super::output::{is_stdout, output_arguments, overwrite_of, path_of, refusal};
use super::terminal;
use crate::base::visible::Visible;
use crate::export::{ExportError, atomic_file, check_input};
use crate::query::blobs::{blobs, payload};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "blob",
    about: "Save an attachment of a trace (FXT blobs); `table blobs` lists them",
    arguments,
    examples: &[Example {
        line: "0 sample-traces/compress.fxt -o attachment.bin",
        about: "Save the first attachment",
    }],
    run,
};

fn arguments(command: clap::Command) -> clap::Command {
    let number = Arg::new("number")
        .value_name("NUMBER")
        .help("Which, as `table blobs` numbers them")
        .required(true)
        .value_parser(value_parser!(usize));
    files_arguments(output_arguments(command.arg(number)))
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
    let path = path_of(matches);
    if is_stdout(path) {
        let mut out = stdout();
        if terminal::is_person() {
            let mut visible = Visible::text(out);
            visible.write_all(&bytes)?;
            return Ok(visible.finish()?);
        }
        out.write_all(&bytes)?;
        return Ok(out.flush()?);
    }
    let written = atomic_file::write_whole(path, overwrite_of(matches), |out| {
        out.write_all(&bytes)?;
        check_input(&loaded)
    });
    written.map_err(|error| match error {
        ExportError::Exists(_) => refusal(ExportError::Exists(path.to_path_buf())),
        other => refusal(other),
    })
}
