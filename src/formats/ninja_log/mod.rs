//! `.ninja_log`: the text in which ninja stores what it built, versions 5 to 7.
//!
//! ```text
//! # ninja log v5
//! <start> TAB <end> TAB <mtime> TAB <output> TAB <hash of the command>      ms since ninja started; ns since 1970
//! ```
//!
//! A line is written when its command ends, so within one run of ninja the end times do not decrease: a line with an
//! earlier end than the previous line starts another run. Runs are shown one after the other, because all times count
//! from the start of ninja. Lines of one run with equal times and hash are outputs of one command. The log contains
//! only commands that succeeded, without their words and inputs.
//!
//! Up to version 5, the modification time is that of the output; from version 6 on, it is the start of the command. It
//! shows when ninja started, within a few ms. ninja rewrites a log that has grown to three times the number of outputs;
//! its lines are then out of order, and are grouped into runs by the start of ninja. Outputs that a command left
//! unchanged (`restat`) have an earlier modification time, and may form a separate run then.

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

/// The start of the first line.
const MAGIC: &[u8] = b"# ninja log v";
/// Maximum number of bytes that are read for one command.
const MOST_BYTES: usize = 1 << 16;

fn sniff(head: &[u8]) -> Sniff {
    match head.starts_with(MAGIC) {
        true => Sniff::Yes,
        false => Sniff::No,
    }
}

/// Returns the columns of the line at `place`, with the outputs in the following lines of the same command.
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
