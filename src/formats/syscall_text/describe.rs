//! Decodes one event in full, from the line at its place and the other lines of the same call.

use super::dialect::Dialect;
use super::emit::{CALLS, FirstHalf, SIGNALS, Source, first_half};
use super::halves::Halves;
use super::head::Caller;
use super::line::{Body, classify, strip_open_end};
use super::prefix::split_prefix;
use super::values::{outcome, split_call, split_name};
use crate::base::lines::{lines, text_at};
use crate::event::{EventDetail, Field, FieldRole, Value};
use crate::formats::EventRef;
use crate::formats::kind_table::KindTexts;

/// Number of bytes after an event's line in which its stack is searched.
const LOOK_AHEAD: usize = 1 << 18;
/// Maximum number of stack frames that are shown.
const MOST_FRAMES: usize = 512;
/// Maximum length of an event's text with its stack, in bytes.
const MOST_TEXT: usize = 1 << 20;

/// Decodes the event; see the module's documentation.
#[must_use]
pub(super) fn describe(
    source: &Source<'_>,
    halves: Option<&Halves>,
    event: EventRef,
) -> EventDetail {
    let dialect = source.dialect;
    let KindTexts { category, name } = source.kinds.texts(event.kind);
    let mut detail = EventDetail {
        name,
        category,
        time: event.time,
        tid: (event.thread)
            .and_then(|thread| Caller::of_key(thread).pid())
            .map_or(0, u64::from),
        ..EventDetail::default()
    };
    let start = usize::try_from(event.place).unwrap_or(usize::MAX);
    let Some(rest) = text_at(source.text, event.place, MOST_TEXT) else {
        detail.text = "this line cannot be read any more".to_owned();
        return detail;
    };
    let Some(line) = lines(rest, 1, event.place).next() else {
        return detail;
    };
    let bytes = line.bytes;
    if source.head.table_at.is_some_and(|at| event.place >= at) {
        detail.text = String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned();
        return detail;
    }
    let prefix = split_prefix(&line, dialect);
    detail.text = String::from_utf8_lossy(prefix.body).into_owned();
    if detail.category == SIGNALS && dialect == Dialect::Strace {
        signal_fields(&mut detail, prefix.body);
    }
    if detail.category == CALLS {
        match classify(&prefix, dialect) {
            Body::Call {
                text,
                is_open: false,
                ..
            } => call_fields(&mut detail, text, dialect),
            Body::Call { text, .. } => {
                let text = strip_open_end(text, dialect);
                let first = FirstHalf {
                    text: match prefix.is_cut {
                        true => without_result(text),
                        false => text,
                    },
                };
                match rest_of(source, halves, event.place) {
                    Some(rest) => {
                        call_fields(&mut detail, &first.with_rest(rest, dialect), dialect);
                    }
                    None => call_fields(&mut detail, first.text, dialect),
                }
            }
            Body::Rest { text, is_open, .. } => {
                let text = match is_open && prefix.is_cut {
                    true => without_result(text),
                    false => strip_open_end(text, dialect),
                };
                match first_of(source, halves, event) {
                    Some(first) => {
                        call_fields(&mut detail, &first.with_rest(text, dialect), dialect);
                    }
                    None if !is_open || dialect == Dialect::Minix => {
                        call_fields(&mut detail, text, dialect);
                    }
                    None => {}
                }
            }
            // The line after a line that strace broke.
            _ => {
                if let Some(first) = first_of(source, halves, event) {
                    call_fields(&mut detail, &first.with_rest(prefix.body, dialect), dialect);
                }
            }
        }
    }
    detail.stack = match dialect {
        Dialect::Strace => stack_behind(rest),
        Dialect::Minix => stack_before(source.text.get(..start).unwrap_or(&[])),
    };
    detail
}

/// Returns the text of a call without its result, which may continue after the end of the text.
fn without_result(text: &[u8]) -> &[u8] {
    match memchr::memmem::rfind(text, b") = ").or_else(|| memchr::memmem::rfind(text, b")  ")) {
        Some(at) => text.get(..=at).unwrap_or(text),
        None => text,
    }
}

/// Returns the rest of the call whose first line is at `place`, from its last line.
fn rest_of<'a>(source: &Source<'a>, halves: Option<&Halves>, place: u64) -> Option<&'a [u8]> {
    let last = halves?.last_of(place)?;
    let text = text_at(source.text, last, MOST_TEXT)?;
    let prefix = split_prefix(&lines(text, 1, last).next()?, source.dialect);
    match classify(&prefix, source.dialect) {
        Body::Rest { is_open: true, .. } => None,
        Body::Rest { text, .. } => Some(text),
        // The line after a line that strace broke.
        _ => Some(prefix.body),
    }
}

/// Returns the first line of the call that the line of `event` continues.
fn first_of<'a>(
    source: &Source<'a>,
    halves: Option<&Halves>,
    event: EventRef,
) -> Option<FirstHalf<'a>> {
    let place = halves?.first_of(event.place)?;
    first_half(source.text, place, source.dialect)
}

fn field(name: &str, text: &[u8]) -> Field {
    Field {
        name: name.to_owned(),
        type_name: String::new(),
        value: Value::Text(String::from_utf8_lossy(text).into_owned()),
        shown: String::new(),
        role: FieldRole::Argument,
    }
}

/// Adds parameters, result, error, and the text after them as fields.
fn call_fields(detail: &mut EventDetail, text: &[u8], dialect: Dialect) {
    let call = split_call(text, dialect);
    for (index, param) in call.params.iter().enumerate() {
        let param = param.trim_ascii();
        match split_name(param) {
            (Some(name), value) => {
                let name = String::from_utf8_lossy(name).into_owned();
                detail.fields.push(field(&name, value));
            }
            (None, value) => {
                if !value.is_empty() {
                    detail.fields.push(field(&format!("arg{index}"), value));
                }
            }
        }
    }
    if let Some(result) = call.result {
        let parsed = outcome(result, dialect);
        let value = match parsed.value {
            Some(value) => Value::Int(value),
            None => Value::Text(String::from_utf8_lossy(result).into_owned()),
        };
        detail.fields.push(Field {
            name: "result".to_owned(),
            type_name: String::new(),
            value,
            shown: String::from_utf8_lossy(result).into_owned(),
            role: FieldRole::Argument,
        });
        if let Some(error) = parsed.error {
            detail.fields.push(field("error", error));
        }
        if !parsed.rest.is_empty() {
            detail.fields.push(field("note", parsed.rest));
        }
    }
    if let Some(ns) = call.duration_ns {
        detail.fields.push(Field {
            name: "duration".to_owned(),
            type_name: "ns".to_owned(),
            value: Value::Int(ns),
            shown: crate::base::Nanos(ns).to_string(),
            role: FieldRole::Argument,
        });
    }
}

/// Adds the fields of a signal: `--- SIGCHLD {si_signo=SIGCHLD, si_pid=7} ---`.
fn signal_fields(detail: &mut EventDetail, body: &[u8]) {
    let Some(open) = memchr::memchr(b'{', body) else {
        return;
    };
    let inner = body.get(open + 1..).unwrap_or(&[]);
    for param in split_call(inner, Dialect::Strace).params {
        if let (Some(name), value) = split_name(param) {
            let name = String::from_utf8_lossy(name).into_owned();
            detail.fields.push(field(&name, value));
        }
    }
}

/// Returns the addresses in the line before a MINIX call (`trace -s`); the last one may be `..`.
fn stack_before(text: &[u8]) -> Vec<String> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let start = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
    let Some(line) = lines(text.get(start..).unwrap_or(&[]), 1, start as u64).next() else {
        return Vec::new();
    };
    let prefix = split_prefix(&line, Dialect::Minix);
    if classify(&prefix, Dialect::Minix) != Body::Stack {
        return Vec::new();
    }
    let frames = prefix.body.split(u8::is_ascii_whitespace);
    let frames = frames.filter(|frame| !frame.is_empty()).take(MOST_FRAMES);
    frames
        .map(|frame| String::from_utf8_lossy(frame).into_owned())
        .collect()
}

/// Returns the stack lines after a call (strace -k).
fn stack_behind(rest: &[u8]) -> Vec<String> {
    let near = rest.get(..LOOK_AHEAD).unwrap_or(rest);
    lines(near, 1, 0)
        .skip(1)
        .map(|line| line.bytes)
        .take_while(|line| line.starts_with(b" ") && line.trim_ascii_start().starts_with(b"> "))
        .take(MOST_FRAMES)
        .map(|line| {
            let frame = line.trim_ascii();
            let frame = frame.strip_prefix(b"> ").unwrap_or(frame);
            String::from_utf8_lossy(frame).into_owned()
        })
        .collect()
}
