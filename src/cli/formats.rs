//! `threadline formats`: the formats that can be opened.

use std::io::Write;

use super::command::{CliError, Command, Example, stdout, without_reading_arguments};
use crate::formats::FORMATS;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "formats",
    about: "List the formats that can be opened",
    arguments: without_reading_arguments,
    examples: &[Example {
        line: "",
        about: "All formats",
    }],
    run: list,
};

fn list(_: &clap::ArgMatches) -> Result<(), CliError> {
    let mut out = stdout();
    for format in FORMATS {
        writeln!(out, "{:<28} {}", format.name, format.extensions.join(", "))?;
    }
    writeln!(out, "Any of them may be wrapped in gzip, zstd or lz4.")?;
    Ok(())
}
