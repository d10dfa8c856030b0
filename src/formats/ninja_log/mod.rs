//! `.ninja_log`: the text in which ninja keeps what it built, versions 5 to 7.
//!
//! ```text
//! # ninja log v5
//! <start> TAB <end> TAB <mtime> TAB <output> TAB <hash of the command>      ms since ninja started; ns since 1970
//! ```
//!
//! A line is written when its command has ended, so within one run of ninja the ends do not decrease: a line that ended
//! before the line above it starts another run. Runs are shown one after the other, as their times all count from the
//! start of ninja. Lines of one run with equal times and hash are outputs of one command. Only commands that succeeded
//! are in the log, and neither their words nor their inputs.
//!
//! The modification time is that of the output up to version 5, and the start of the command from version 6 on: it
//! shows when ninja started, to a few ms. ninja rewrites a log that has grown to three times the number of outputs; its
//! lines have then lost their order, and are grouped into runs by the start of ninja. Outputs that a command left as
//! they were (`restat`) have an earlier modification time, and can form a run of their own there.

mod runs;

use crate::base::lines::text_at;
use crate::event::{Field, FieldRole, Value};
use crate::formats::build_units::{LogFormat, open};
use crate::formats::{Format, Sniff};
use runs::Line;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "ninja log",
    extensions: &["ninja_log"],
    sniff,
    read_head: |input, _job| {
        runs::version(input.bytes())?;
        Ok(open(input, LOG))
    },
    together: None,
    wrapped: None,
    may_be_self_trace: false,
};

const LOG: LogFormat = LogFormat {
    name: |text| match runs::version(text) {
        Ok(version) => format!("ninja log v{version}"),
        Err(_) => "ninja log".to_owned(),
    },
    lane: "ninja log",
    read: runs::read,
    fields,
};

/// How the first line begins.
const MAGIC: &[u8] = b"# ninja log v";
/// At most this much is read for one command.
const MOST_BYTES: usize = 1 << 16;

fn sniff(head: &[u8]) -> Sniff {
    match head.starts_with(MAGIC) {
        true => Sniff::Yes,
        false => Sniff::No,
    }
}

/// Returns the columns of the line at `place`, with the outputs in the lines after it that are of the same command.
fn fields(text: &[u8], place: u64) -> Vec<Field> {
    let near = text_at(text, place, MOST_BYTES).unwrap_or_default();
    let mut lines = near.split(|byte| *byte == b'\n').map_while(Line::parse);
    let Some(line) = lines.next() else {
        return Vec::new();
    };
    let others = lines.take_while(|other| other.is_of_command(&line));
    let field = |name: &str, value| Field {
        name: name.to_owned(),
        type_name: String::new(),
        value,
        shown: String::new(),
        role: FieldRole::Argument,
    };
    let text = |bytes: &[u8]| Value::Text(String::from_utf8_lossy(bytes).into_owned());
    let outputs = std::iter::once(line).chain(others);
    let outputs = outputs.map(|line| text(line.output)).collect();
    vec![
        field("outputs", Value::List(outputs)),
        field("start_ms", Value::Int(line.start_ms)),
        field("end_ms", Value::Int(line.end_ms)),
        field("mtime", Value::Int(line.mtime)),
        field("command_hash", text(line.hash)),
    ]
}

#[cfg(test)]
mod tests;
