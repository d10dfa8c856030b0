//! Cargo's records of a build: the page of `cargo build --timings`, and the log of cargo's build analysis.
//!
//! ```text
//! <html> ... <td>Build start:</td><td>2026-11-24T04:07:44.458156176Z</td> ...
//! const UNIT_DATA = [ { "i", "name", "version", "target", "start", "duration", "unblocked_units", "sections" } ... ];
//! const CONCURRENCY_DATA = [ { "t", "active", "waiting", "inactive" } ... ];  const CPU_USAGE = [ [t, percent] ... ];
//!
//! {"run_id":...,"timestamp":...,"reason":"unit-started","index":5,"elapsed":0.095466376}       one object per line
//! ```
//!
//! The page (`page`) contains times in hundredths of a second; the log (`journal`), which cargo writes below its home
//! directory with `-Zbuild-analysis`, contains ns. A target is one of cargo's units: a crate compiled in one way, or
//! the run of a build script. Times are relative to the time at which cargo started to build.

mod journal;
mod page;
mod seconds;

use serde_json::Value as Json;

use crate::base::Leading;
use crate::event::Field;
use crate::formats::build_units::{LogFormat, json_fields, open};
use crate::formats::{Format, Sniff};

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "cargo build timings",
    extensions: &["html", "jsonl"],
    sniff,
    read_head: |input, _job| {
        let format = match form(input.bytes()) {
            Some(Form::Journal) => JOURNAL,
            _ => PAGE,
        };
        Ok(open(input, format))
    },
    together: None,
    wrapped: None,
    may_be_self_trace: false,
};

const PAGE: LogFormat = LogFormat {
    name: |_| "cargo build --timings".to_owned(),
    lane: "units",
    read: page::read,
    fields,
};

const JOURNAL: LogFormat = LogFormat {
    name: |_| "cargo build analysis".to_owned(),
    lane: "log",
    read: journal::read,
    fields,
};

/// The two forms of the file.
enum Form {
    Page,
    Journal,
}

/// Number of bytes at the start in which the form is detected.
const HEAD_BYTES: usize = 1 << 12;

fn form(head: &[u8]) -> Option<Form> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start();
    let head = head.get(..HEAD_BYTES).unwrap_or(head);
    let contains = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    match head.first() {
        Some(b'<') if contains(b"<title>Cargo Build Timings") => Some(Form::Page),
        Some(b'{') if head.starts_with(b"{\"run_id\":\"") && contains(b",\"reason\":\"") => {
            Some(Form::Journal)
        }
        _ => None,
    }
}

fn sniff(head: &[u8]) -> Sniff {
    match form(head) {
        Some(_) => Sniff::Yes,
        None => Sniff::No,
    }
}

/// Returns the members of the object at `place` as fields.
fn fields(text: &[u8], place: u64) -> Vec<Field> {
    let rest = usize::try_from(place).ok().and_then(|at| text.get(at..));
    match next_value(rest.unwrap_or_default()) {
        Some(Leading {
            value: object @ Json::Object(_),
            ..
        }) => json_fields(&object),
        _ => Vec::new(),
    }
}

/// Returns the JSON value at the start of `text`, and its length in bytes; `None` if there is none.
fn next_value(text: &[u8]) -> Option<Leading<Json>> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Json>();
    let value = values.next()?.ok()?;
    Some(Leading {
        value,
        length: values.byte_offset(),
    })
}

/// Returns a member that is a text; empty if there is none.
fn text<'a>(object: &'a Json, name: &str) -> &'a str {
    object.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Returns the numbers in a list of indices.
fn indices<'a>(object: &'a Json, name: &str) -> impl Iterator<Item = u64> + 'a {
    let list = object.get(name).and_then(Json::as_array);
    list.into_iter().flatten().filter_map(Json::as_u64)
}

#[cfg(test)]
mod tests;
