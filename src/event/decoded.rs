//! One event as a reader decoded it: only what was requested, in buffers that are reused.
//!
//! Details, the value of one field, a line of text and an exporter's arguments are requests ([`Need`]) to the same
//! method of the reader, which decodes only what was requested.

use super::detail::{EventDetail, Field, STACK, TEXT, Value};
use super::field_ref::FieldRef;
use super::field_role::FieldRole;

/// What to decode of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need<'q> {
    /// Everything, with values as people read them (`shown`).
    Detail,
    /// What an exporter writes: fields by their values (`shown` may be empty); the text if the event has no field of
    /// its own, or if its fields do not express its meaning; the stack.
    Export,
    /// Only the fields, by their values.
    Fields,
    /// Only the field of this name, by its value.
    Field(&'q str),
    /// Any field, if an exporter would write one: only its presence counts. Must be fast; adding a field although there
    /// is none is allowed ([`DecodedEvent::perhaps`]).
    AnyField,
    /// The text, or all fields as people read them if there is no text; then the stack, unless the text contains it.
    Line,
}

/// The decoded parts of one event.
#[derive(Debug, Default)]
pub struct DecodedEvent<'a> {
    /// The fields, in the file's order.
    pub fields: Vec<FieldRef<'a>>,
    /// The text, as bytes; usually UTF-8.
    pub text: Vec<u8>,
    /// The frames of the call stack, innermost first.
    pub stack: Vec<String>,
    /// The other facts, for [`Need::Detail`] only. Its fields, text and stack are empty.
    pub head: EventDetail,
}

impl<'a> DecodedEvent<'a> {
    /// Moves the requested parts of `detail` into this event.
    pub fn take(&mut self, mut detail: EventDetail, need: Need<'_>) {
        let is_textless = detail.text.is_empty();
        let fields = std::mem::take(&mut detail.fields).into_iter();
        match need {
            Need::Detail | Need::Export | Need::Fields => {
                self.fields.extend(fields.map(FieldRef::from))
            }
            Need::Field(name) => {
                let found = fields.into_iter().find(|field| field.name == name);
                self.fields.extend(found.map(FieldRef::from));
            }
            Need::AnyField => self.perhaps(),
            Need::Line if is_textless => self.fields.extend(fields.map(FieldRef::from)),
            Need::Line => {}
        }
        if matches!(need, Need::Fields | Need::Field(_) | Need::AnyField) {
            return;
        }
        if need != Need::Export || !self.has_own_field() {
            self.text.extend_from_slice(detail.text.as_bytes());
        }
        self.stack.append(&mut detail.stack);
        if need == Need::Detail {
            detail.text.clear();
            self.head = detail;
        }
    }

    /// For [`Need::AnyField`]: adds a field without a name, for readers whose check for a field would cost as much as
    /// decoding it.
    pub(crate) fn perhaps(&mut self) {
        self.fields.push(FieldRef::of_value("", Value::Null));
    }

    /// Returns whether a field describes the event itself, not only the circumstances of its recording.
    #[must_use]
    pub(crate) fn has_own_field(&self) -> bool {
        let is_own = |role| !matches!(role, FieldRole::Common | FieldRole::Recorder);
        self.fields.iter().any(|field| is_own(field.role))
    }

    /// Returns the event in full, for [`Need::Detail`].
    #[must_use]
    pub(crate) fn into_detail(self) -> EventDetail {
        let text = String::from_utf8(self.text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        EventDetail {
            fields: self.fields.into_iter().map(FieldRef::into_field).collect(),
            text,
            stack: self.stack,
            ..self.head
        }
    }

    /// For [`Need::Export`]: moves text and stack to the fields, as `text` and `stack`.
    pub fn text_and_stack_as_fields(&mut self) {
        if !self.text.is_empty() {
            let text = String::from_utf8_lossy(&self.text).into_owned();
            self.fields.push(Field::added_text(TEXT, text).into());
            self.text.clear();
        }
        let has_stack = || self.fields.iter().any(|field| field.name == STACK);
        if !self.stack.is_empty() && !has_stack() {
            let stack = self.stack.join("\n");
            self.fields.push(Field::added_text(STACK, stack).into());
        }
        self.stack.clear();
    }

    /// For [`Need::Line`]: joins the text after its first `from` bytes (or the fields if there is no such text) and the
    /// stack to one line in `text`.
    pub(crate) fn join_line(&mut self, from: usize) {
        if self.text.len() > from {
            for byte in self
                .text
                .iter_mut()
                .skip(from)
                .filter(|byte| **byte == b'\n')
            {
                *byte = b' ';
            }
        } else {
            for (at, field) in self.fields.drain(..).enumerate() {
                if at > 0 {
                    self.text.push(b' ');
                }
                let field = field.into_field();
                self.text.extend_from_slice(field.name.as_bytes());
                self.text.push(b'=');
                self.text.extend_from_slice(field.text().as_bytes());
            }
        }
        self.fields.clear();
        for frame in self.stack.drain(..) {
            self.text.push(b' ');
            self.text.extend_from_slice(frame.as_bytes());
        }
    }
}

impl EventDetail {
    /// Returns the event as one line: its text, or its fields if it has no text; then its stack.
    #[must_use]
    pub fn line(&self) -> String {
        let mut decoded = DecodedEvent::default();
        decoded.take(self.clone(), Need::Line);
        decoded.join_line(0);
        String::from_utf8_lossy(&decoded.text).into_owned()
    }
}
