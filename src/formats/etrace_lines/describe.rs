//! Decodes one call in full: reads its lines again, from the first one.

use std::borrow::Cow;

use crate::base::lines::text_at;
use crate::base::signals::exit_text;
use crate::base::strings::{exact_text, text_of};
use crate::event::{DecodedEvent, EventDetail, Field, FieldRef, FieldRole, Need, Value, ValueRef};
use crate::formats::EventRef;

use super::calls::{Call, Fit, remove_at};
use super::file::File;
use super::line::{Payload, Word, parse_line};
use super::lines::{LineAt, line_at};
use super::reordered::lines_behind;
use super::sorts::{Slot, Sort};
use super::upids::Upids;
use super::values::{Key, pairs};
use super::words;

/// How far the lines of a call are searched, in bytes.
pub(super) const MOST_AHEAD_BYTES: usize = 8 << 20;
/// Maximum number of a call's numbers that are shown.
const MOST_NUMBERS: usize = 32;

/// A text of a call, from all its lines.
struct CallText {
    slot: Slot,
    bytes: Vec<u8>,
}

/// Decodes the event whose first line is at `event.place`.
#[must_use]
pub(crate) fn describe(file: &File, event: EventRef) -> EventDetail {
    let mut texts: Vec<CallText> = Vec::new();
    let mut keep = |slot, bytes: &[u8]| {
        let bytes = bytes.to_vec();
        texts.push(CallText { slot, bytes });
    };
    match read(file, event, &mut keep) {
        Some((line, call)) => {
            let lost = among_all(&texts, call.lost_arguments());
            remove_at(&mut texts, &lost);
            detail(&line, &call, &texts, &file.upids)
        }
        None => EventDetail {
            time: event.time,
            text: "this line cannot be read any more".to_owned(),
            ..EventDetail::default()
        },
    }
}

/// Appends the parts of the event that `need` requests.
pub(crate) fn decode<'a>(
    file: &'a File,
    event: EventRef,
    need: Need<'_>,
    decoded: &mut DecodedEvent<'a>,
) {
    if matches!(need, Need::Export | Need::Fields) {
        let first = decoded.fields.len();
        fields_into(file, event, &mut decoded.fields);
        if decoded.fields.len() > first {
            return;
        }
    }
    if need == Need::AnyField {
        // Every event has a field: the number of its task.
        return decoded.perhaps();
    }
    decoded.take(describe(file, event), need);
}

/// Appends the fields of [`describe`] without explaining words; none if the line can no longer be read. Texts are
/// encoded so that their bytes can be restored ([`exact_text`]).
fn fields_into<'a>(file: &'a File, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
    let first = fields.len();
    let mut arguments: Vec<Value> = Vec::new();
    let mut keep = |slot: Slot, bytes: &[u8]| {
        let text = exact_text(bytes).into_owned();
        match slot {
            Slot::Argument => arguments.push(Value::Text(text)),
            slot => {
                let text = ValueRef::Text(Cow::Owned(text));
                fields.push(field_ref(slot.word(), "text", text));
            }
        }
    };
    let Some((line, call)) = read(file, event, &mut keep) else {
        return;
    };
    remove_at(&mut arguments, call.lost_arguments());
    fields.insert(first, field_ref("upid", "upid", ValueRef::Int(line.upid)));
    if !arguments.is_empty() {
        fields.push(field_ref("arguments", "text", ValueRef::List(arguments)));
    }
    for (key, value) in numbers(&line, &call) {
        fields.push(FieldRef {
            name: text_of(key),
            type_name: Cow::Borrowed(type_of(key)),
            value: ValueRef::Int(value),
            shown: String::new(),
            role: FieldRole::Argument,
            exact: None,
        });
    }
    if call.sort == Sort::Upid {
        let id = ValueRef::Text(exact_text(line.text));
        fields.push(field_ref("id", "upid", id));
    }
}

/// Converts indices among a call's arguments into indices among its texts.
fn among_all(texts: &[CallText], places: &[u32]) -> Vec<u32> {
    if places.is_empty() {
        return Vec::new();
    }
    let all = (0_u32..).zip(texts);
    let arguments: Vec<u32> = (all.filter(|(_, text)| text.slot == Slot::Argument))
        .map(|(at, _)| at)
        .collect();
    let at = places.iter().filter_map(|&at| arguments.get(at as usize));
    at.copied().collect()
}

fn field_ref<'a>(name: &'static str, type_name: &'static str, value: ValueRef<'a>) -> FieldRef<'a> {
    FieldRef {
        name: Cow::Borrowed(name),
        type_name: Cow::Borrowed(type_name),
        value,
        shown: String::new(),
        role: FieldRole::Argument,
        exact: None,
    }
}

/// Reads a call: returns its first line and the call, and passes its texts to `keep`.
fn read<'a>(
    file: &'a File,
    event: EventRef,
    keep: &mut impl FnMut(Slot, &[u8]),
) -> Option<(Payload<'a>, Call<'a>)> {
    let place = usize::try_from(event.place).unwrap_or(usize::MAX);
    let near = text_at(file.text(), event.place, MOST_AHEAD_BYTES)?;
    let LineAt { line, next } = line_at(near, 0)?;
    let next = place + next;
    let line = parse_line(line)?;
    let mut call = Call::none();
    match line.word {
        Word::Call(sort) => call.start(sort, &line, event.place),
        Word::Text(slot) => call.start_lone(slot, &line, event.place),
        _ => call.start(Sort::Unknown, &line, event.place),
    }
    if call.may_go_on() {
        let moment = (event.time.0, event.place);
        for behind in lines_behind(file, line.upid, moment, next, MOST_AHEAD_BYTES) {
            if behind.follows_loss {
                call.meet_hole();
            }
            let more = behind.line;
            let goes_on = match more.word {
                Word::Call(_) | Word::Unknown => more.number.is_some_and(|number| number > 0),
                _ => true,
            };
            if !goes_on || call.read(&more, keep) != Fit::Belongs || call.is_settled() {
                break;
            }
        }
    }
    call.finish_text(keep);
    Some((line, call))
}

/// Iterates over the numbers after a call's tag.
fn numbers<'a>(line: &Payload<'a>, call: &Call<'_>) -> impl Iterator<Item = (&'a [u8], i64)> {
    let text: &'a [u8] = match call.sort.has_values() {
        true => line.text,
        false => &[],
    };
    pairs(text).take(MOST_NUMBERS)
}

/// Returns whether a call's number is the length of one of its texts, in bytes.
fn is_length(key: &[u8]) -> bool {
    key.ends_with(b"size")
}

fn type_of(key: &[u8]) -> &'static str {
    match is_length(key) {
        true => "bytes",
        false => "int",
    }
}

fn detail(line: &Payload<'_>, call: &Call<'_>, texts: &[CallText], upids: &Upids) -> EventDetail {
    let name = match call.sort {
        Sort::Lone | Sort::Unknown => words::text(line.tag),
        sort => sort.name().to_owned(),
    };
    let mut detail = EventDetail {
        name,
        category: call.sort.category().to_owned(),
        time: crate::base::Timestamp(line.time),
        cpu: Some(u32::from(line.cpu)),
        tid: upids.pid(line.upid),
        ..EventDetail::default()
    };
    detail
        .fields
        .push(field("upid", "upid", Value::Int(line.upid), ""));
    let mut shown = Vec::new();
    for CallText { slot, bytes } in texts.iter().filter(|it| it.slot != Slot::Argument) {
        let text = words::text(bytes);
        shown.push(match slot {
            Slot::Variable | Slot::Other => text.clone(),
            slot => format!("{}={}", slot.word(), quoted(bytes)),
        });
        detail
            .fields
            .push(field(slot.word(), "text", Value::Text(text), ""));
    }
    let arguments: Vec<&[u8]> = texts
        .iter()
        .filter(|text| text.slot == Slot::Argument)
        .map(|text| text.bytes.as_slice())
        .collect();
    if !arguments.is_empty() {
        let line: Vec<String> = arguments.iter().map(|bytes| quoted(bytes)).collect();
        shown.push(format!("arguments={}", line.join(" ")));
        let list = arguments
            .iter()
            .map(|bytes| Value::Text(words::text(bytes)));
        let list = list.collect();
        detail
            .fields
            .push(field("arguments", "text", Value::List(list), ""));
    }
    for (key, value) in numbers(line, call) {
        let (type_name, is_length) = (type_of(key), is_length(key));
        let key = words::text(key);
        let word = word_of(call.sort, &key, value, call);
        if !is_length {
            let value = if word.is_empty() {
                value.to_string()
            } else {
                word.clone()
            };
            shown.push(format!("{key}={value}"));
        }
        detail
            .fields
            .push(field(&key, type_name, Value::Int(value), &word));
    }
    if call.sort == Sort::Upid {
        shown.push(words::text(line.text));
        detail
            .fields
            .push(field("id", "upid", Value::Text(words::text(line.text)), ""));
    }
    detail.text = shown.join(" ");
    detail
}

fn field(name: &str, type_name: &str, value: Value, shown: &str) -> Field {
    Field {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        value,
        shown: shown.to_owned(),
        role: FieldRole::Argument,
    }
}

/// Returns a call's number in words; empty if the plain number is clear.
fn word_of(sort: Sort, key: &str, value: i64, call: &Call<'_>) -> String {
    match (sort, key) {
        (Sort::Open, "flags") => words::open_flags(value),
        (Sort::Open, "mode") => {
            let flags = call.values.get(Key::Flags).unwrap_or(0) as u32;
            if words::has_mode(flags) {
                format!("{value:#o}")
            } else {
                "not used".to_owned()
            }
        }
        (Sort::Dup | Sort::Pipe, "flags") => words::descriptor_flags(value),
        (Sort::SysClone, "flags") => words::clone_flags(value),
        (Sort::Rename2From, "flags") => words::rename_flags(value),
        (Sort::LinkatFrom, "flags") => words::link_flags(value),
        (Sort::Mount, "flags") => words::mount_flags(value),
        (Sort::Umount, "flags") => words::umount_flags(value),
        (Sort::Exit, "status") => exit_text(i32::try_from(value).ok(), None),
        _ => String::new(),
    }
}

/// Quotes a text as a shell needs it, on one line and with every byte preserved; plain texts are not quoted.
fn quoted(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+=:,./@%^".contains(byte);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && bytes.iter().all(is_plain) => text.to_owned(),
        Ok(text) if !text.chars().any(char::is_control) => {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
        _ => format!("$'{}'", words::escaped(bytes, "\\'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_so_that_a_shell_gets_the_same_bytes() {
        for (bytes, expected) in [
            (&b"/usr/bin/cc"[..], "/usr/bin/cc"),
            (b"", "''"),
            (b"two words", "'two words'"),
            (b"it's", "'it'\\''s'"),
            (b"a\\b", "'a\\b'"),
            ("caf\u{e9}".as_bytes(), "'caf\u{e9}'"),
            (b"a\nb\tc'\\", "$'a\\nb\\tc\\'\\\\'"),
            (b"x\xff\x1b", "$'x\\xff\\x1b'"),
        ] {
            assert_eq!(quoted(bytes), expected);
        }
    }
}
