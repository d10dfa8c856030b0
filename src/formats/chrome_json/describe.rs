//! One event in full: its members as fields, arguments flattened by their paths (`a.b[0].c`).
//!
//! The order of the fields is: parts of the record besides arguments (an instant's scope, an id), arguments, then
//! members that the bulk pass does not use (`tts`, `cname` and others). An array of numbers and texts becomes one field
//! for each element, all with the array's name.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::emit::NAMELESS_END;
use super::event::RawEvent;
use super::ids::{Identity, async_number, id_number};
use super::numbers::{float, whole};
use super::scan::{Elements, Members, Quoted, Raw, Scan};
use super::text::{plain, shown};
use crate::event::{EventDetail, FieldRef, FieldRole, InstantScope, SUM_FIELDS, ValueRef};

/// Maximum nesting of values with fields of their own; a value that is nested deeper is a text.
const MOST_DEPTH: u32 = 120;
/// Maximum number of fields of an event; of the remaining values, only the number is shown.
const MOST_FIELDS: usize = 2048;
/// Maximum number of frames of a stack.
const MOST_FRAMES: usize = 512;

/// Finds the object of a stack frame by its id.
pub(super) trait FrameObjects {
    /// Returns the frame's object.
    fn object(&self, id: &[u8]) -> Option<&[u8]>;
}

/// Returns the object at a place of the file; empty if there is none.
pub(super) fn object_at(bytes: &[u8], place: u64) -> &[u8] {
    let at = usize::try_from(place).unwrap_or(usize::MAX);
    let mut scan = Scan::new(bytes, at);
    scan.value().unwrap_or_default().nested()
}

/// Appends the fields of an event.
pub(super) fn fields_into<'a>(object: &'a [u8], fields: &mut Vec<FieldRef<'a>>) {
    let Some(event) = RawEvent::read(&mut Scan::new(object, 0)) else {
        return;
    };
    record_words(&event, fields);
    let mut walk = Flattened::new(fields);
    if event.is_sum() {
        walk.add(Cow::Borrowed(SUM_FIELDS[0]), event.duration);
    }
    let mut members = Members::of(event.args.nested());
    for (key, value) in members.by_ref() {
        walk.add(shown(key), value);
    }
    if !members.rest().is_empty() {
        let rest = text_field(Cow::Borrowed("(not JSON)"), members.rest());
        walk.fields.push(rest);
    }
    if !matches!(event.args, Raw::None | Raw::Nested([b'{', ..])) {
        walk.add(Cow::Borrowed("args"), event.args);
    }
    for (key, value) in Members::of(object) {
        if !is_shown_elsewhere(&plain(key)) {
            walk.add(shown(key), value);
        }
    }
    let left_out = walk.left_out;
    if left_out > 0 {
        fields.push(note_field("(left out)", format!("{left_out} more values")));
    }
}

/// Returns whether an event has fields.
pub(super) fn has_fields(object: &[u8]) -> bool {
    let mut fields = Vec::new();
    fields_into(object, &mut fields);
    !fields.is_empty()
}

/// Returns whether a member is not a field of its own: it is a column, part of the record, or the arguments.
fn is_shown_elsewhere(key: &[u8]) -> bool {
    matches!(
        key,
        b"ph"
            | b"name"
            | b"cat"
            | b"ts"
            | b"dur"
            | b"pid"
            | b"tid"
            | b"args"
            | b"id"
            | b"id2"
            | b"s"
            | b"sf"
            | b"stack"
    )
}

/// Adds the parts of the record besides arguments, with the roles that exporters use.
fn record_words<'a>(event: &RawEvent<'a>, fields: &mut Vec<FieldRef<'a>>) {
    if matches!(event.phase, b'i' | b'I' | b'R') {
        let scope = match event.more.instant_scope.bytes() {
            b"p" => InstantScope::Process,
            b"g" => InstantScope::Global,
            _ => InstantScope::Thread,
        };
        return fields.push(FieldRef {
            name: Cow::Borrowed("scope"),
            type_name: Cow::Borrowed("instant scope"),
            value: ValueRef::Text(Cow::Borrowed(scope.word())),
            shown: String::new(),
            role: FieldRole::InstantScope(scope),
            exact: None,
        });
    }
    let of_id2 = Members::of(event.more.id2.nested()).next();
    let (name, id) = match of_id2 {
        Some((key, value)) => (shown(key), value),
        None => (Cow::Borrowed("id"), event.more.id),
    };
    if id == Raw::None {
        return;
    }
    let own = id_number(id);
    let number = whole(id.bytes());
    let (role, type_name) = match event.phase {
        b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' | b'N' | b'O' | b'D' => {
            let matched = async_number(event, own, Identity::of(event).reach);
            (FieldRole::AsyncId(matched), "async id")
        }
        b's' | b't' | b'f' => (FieldRole::FlowId(own), "flow id"),
        b'C' if number.is_some() => (FieldRole::CounterId, "counter id"),
        _ => return Flattened::new(fields).add(name, id),
    };
    let text = match id {
        Raw::Text(text) => shown(text),
        other => String::from_utf8_lossy(other.bytes()),
    };
    fields.push(FieldRef {
        name: name.clone(),
        type_name: Cow::Borrowed(type_name),
        shown: match (id, number) {
            (Raw::Text(_), Some(_)) => text.clone().into_owned(),
            _ => String::new(),
        },
        value: number.map_or(ValueRef::Text(text), ValueRef::UInt),
        role,
        exact: None,
    });
}

/// Appends values with their paths as names.
struct Flattened<'v, 'a> {
    fields: &'v mut Vec<FieldRef<'a>>,
    /// The number of values around the next one.
    depth: u32,
    /// The number of values that were left out.
    left_out: u64,
}

impl<'v, 'a> Flattened<'v, 'a> {
    fn new(fields: &'v mut Vec<FieldRef<'a>>) -> Flattened<'v, 'a> {
        Flattened {
            fields,
            depth: 0,
            left_out: 0,
        }
    }

    /// Adds a value, or all values inside it.
    fn add(&mut self, name: Cow<'a, str>, value: Raw<'a>) {
        if self.fields.len() >= MOST_FIELDS {
            self.left_out += 1;
            return;
        }
        let Raw::Nested(bytes) = value else {
            return self.fields.push(scalar(name, value));
        };
        if self.fields.len() + 1 == MOST_FIELDS || self.depth == MOST_DEPTH {
            return self.fields.push(text_field(name, bytes));
        }
        self.depth += 1;
        let before = self.fields.len();
        let is_plain = |element: Raw<'_>| !matches!(element, Raw::Nested(_));
        if bytes.first() == Some(&b'{') {
            for (key, value) in Members::of(bytes) {
                self.add(Cow::Owned(format!("{name}.{}", shown(key))), value);
            }
        } else if Elements::of(bytes).all(is_plain) {
            for element in Elements::of(bytes) {
                self.add(name.clone(), element);
            }
        } else {
            for (element, index) in Elements::of(bytes).zip(0_u32..) {
                self.add(Cow::Owned(format!("{name}[{index}]")), element);
            }
        }
        if self.fields.len() == before {
            self.fields.push(text_field(name, bytes));
        }
        self.depth -= 1;
    }
}

fn text_field<'a>(name: Cow<'a, str>, bytes: &'a [u8]) -> FieldRef<'a> {
    let bytes = Quoted {
        bytes,
        has_escape: false,
    };
    FieldRef {
        name,
        type_name: Cow::Borrowed("json"),
        value: ValueRef::Text(shown(bytes)),
        shown: String::new(),
        role: FieldRole::Argument,
        exact: None,
    }
}

fn note_field<'a>(name: &'a str, text: String) -> FieldRef<'a> {
    FieldRef {
        name: Cow::Borrowed(name),
        type_name: Cow::Borrowed("note"),
        value: ValueRef::Text(Cow::Owned(text)),
        shown: String::new(),
        role: FieldRole::Argument,
        exact: None,
    }
}

/// Returns a field for a value that is neither object nor array. A number that no integer type can store is a float,
/// and the text in the file is shown for it.
fn scalar<'a>(name: Cow<'a, str>, value: Raw<'a>) -> FieldRef<'a> {
    let mut shown_as = String::new();
    let (type_name, value) = match value {
        Raw::None | Raw::Nested(_) => ("null", ValueRef::Null),
        Raw::Text(text) => ("string", ValueRef::Text(shown(text))),
        Raw::Word(b"true") => ("boolean", ValueRef::Bool(true)),
        Raw::Word(b"false") => ("boolean", ValueRef::Bool(false)),
        Raw::Word(word) => {
            let text = std::str::from_utf8(word).unwrap_or_default();
            let value = match (text.parse(), text.parse(), float(word)) {
                (Ok(number), _, _) => ValueRef::Int(number),
                (_, Ok(number), _) => ValueRef::UInt(number),
                (_, _, Some(number)) => {
                    shown_as = text.to_owned();
                    ValueRef::Double(number)
                }
                _ => ValueRef::Text(Cow::Borrowed(text)),
            };
            ("number", value)
        }
    };
    FieldRef {
        name,
        type_name: Cow::Borrowed(type_name),
        value,
        shown: shown_as,
        role: FieldRole::Argument,
        exact: None,
    }
}

/// Returns an event's stack, innermost first: the frames that `sf` refers to, or the texts in `stack`.
pub(super) fn stack_of(object: &[u8], frames: &dyn FrameObjects) -> Vec<String> {
    let mut stack = Vec::new();
    for (key, value) in Members::of(object) {
        match key.bytes {
            b"sf" => push_frames(value, frames, &mut stack),
            b"stack" => {
                let texts = Elements::of(value.nested()).take(MOST_FRAMES);
                stack.extend(texts.map(text_of_raw));
            }
            _ => {}
        }
    }
    stack
}

fn push_frames(leaf: Raw<'_>, frames: &dyn FrameObjects, stack: &mut Vec<String>) {
    let mut next = leaf.plain().into_owned();
    let mut met = FxHashSet::default();
    while met.len() < MOST_FRAMES {
        let Some(object) = frames.object(&next) else {
            return;
        };
        if !met.insert(std::mem::take(&mut next)) {
            return stack.push("(the frames lead back to one of these)".to_owned());
        }
        for (key, value) in Members::of(object) {
            match key.bytes {
                b"name" => stack.push(text_of_raw(value)),
                b"parent" => next = value.plain().into_owned(),
                _ => {}
            }
        }
        if next.is_empty() {
            return;
        }
    }
}

/// Returns a value as text for display.
pub(super) fn text_of_raw(raw: Raw<'_>) -> String {
    match raw {
        Raw::Text(text) => shown(text).into_owned(),
        Raw::Word(bytes) | Raw::Nested(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Raw::None => String::new(),
    }
}

/// Returns the facts of an event besides fields and stack.
pub(super) fn head_of(object: &[u8]) -> EventDetail {
    let event = RawEvent::read(&mut Scan::new(object, 0)).unwrap_or_default();
    let name = match (event.phase, text_of_raw(event.name)) {
        (b'E', name) if name.is_empty() => NAMELESS_END.to_owned(),
        (_, name) => name,
    };
    EventDetail {
        name,
        category: text_of_raw(event.category),
        ..EventDetail::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_flattened_by_their_paths() {
        let object = br#"{"ph":"X","name":"a","ts":1,"tts":2.5,"args":{"a":{"b":[{"c":"x\ny"},2]},"l":[1,2],"e":{},"n":null,"big":18446744073709551615,"t":true}}"#;
        let mut fields = Vec::new();
        fields_into(object, &mut fields);
        let texts: Vec<String> = fields
            .into_iter()
            .map(|field| field.into_field())
            .map(|field| format!("{}={}", field.name, field.text()))
            .collect();
        assert_eq!(
            texts,
            [
                "a.b[0].c=x\ny",
                "a.b[1]=2",
                "l=1",
                "l=2",
                "e={}",
                "n=null",
                "big=18446744073709551615",
                "t=true",
                "tts=2.5"
            ]
        );
    }

    #[test]
    fn frames_that_call_themselves_end() {
        struct One;
        impl FrameObjects for One {
            fn object(&self, id: &[u8]) -> Option<&[u8]> {
                match id {
                    b"7" => Some(br#"{"name":"f","parent":7}"#),
                    b"8" => Some(br#"{"parent":8}"#),
                    _ => None,
                }
            }
        }
        let round = "(the frames lead back to one of these)";
        assert_eq!(stack_of(br#"{"sf":7}"#, &One), ["f", round]);
        assert_eq!(stack_of(br#"{"sf":8}"#, &One), [round]);
        assert_eq!(stack_of(br#"{"stack":["f","0x2"]}"#, &One), ["f", "0x2"]);
    }
}
