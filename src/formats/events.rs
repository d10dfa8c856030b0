//! The interface for decoding single events on demand.

use std::any::Any;
use std::borrow::Cow;

use crate::base::Timestamp;
use crate::event::columns::EventRow;
use crate::event::{
    DecodedEvent, EventDetail, Field, FieldRef, FieldRole, FieldSink, FieldView, KindId, Need,
    ThreadKey, Value,
};
use crate::trace::segments::Event;

/// The name of the kernel's field with flags of an event's circumstances.
pub(crate) const COMMON_FLAGS: &str = "common_flags";

/// Identifies one event to the reader of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventRef {
    /// Number of the part that contains the event.
    pub part: u32,
    /// The event's place in its part, from [`EventColumns`](crate::event::EventColumns).
    pub place: u64,
    /// Time of the event.
    pub time: Timestamp,
    /// Kind of the event.
    pub kind: KindId,
    /// Thread of the event, if it is known.
    pub thread: Option<ThreadKey>,
}

impl EventRef {
    /// Returns a reference to the event in `row` of the columns of part `part`.
    #[must_use]
    pub fn new(part: u32, row: EventRow) -> EventRef {
        EventRef {
            part,
            place: row.place,
            time: row.time,
            kind: row.kind,
            thread: row.thread,
        }
    }
}

impl From<Event> for EventRef {
    fn from(event: Event) -> EventRef {
        EventRef::new(event.part, event.row)
    }
}

/// Decodes single events of an opened file.
pub trait Events: Send + Sync {
    /// Appends the parts of the event that `need` requests. If the event can no longer be decoded, its text contains
    /// the reason.
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>);

    /// Returns the bytes that an event contains for other tools, if it is an attachment (FXT's blobs and large
    /// records).
    fn payload(&self, _event: EventRef) -> Option<Cow<'_, [u8]>> {
        None
    }

    /// Returns the field names of a kind's events; `None` if the names can differ between events.
    fn field_names(&self, _kind: KindId) -> Option<Vec<&str>> {
        None
    }

    /// Returns the opened file as the type of its format, for an exporter of the same format, which copies records:
    /// then the place of each event is the offset of its record. `None` if the events come from several files, or the
    /// format has no such exporter.
    fn record_file(&self) -> Option<&dyn Any> {
        None
    }

    /// Returns a reader of the fields of many events that is faster than [`Events::decode`]; `None` if the format has
    /// none. Callers should use `field_reader` of `dyn Events`.
    fn own_field_reader(&self) -> Option<Box<dyn FieldReader + '_>> {
        None
    }

    /// Returns the heap memory that decoding uses, in bytes.
    fn memory_bytes(&self) -> u64 {
        0
    }
}

/// The position of an event; the other parts of its [`EventRef`] are looked up only if needed.
#[derive(Clone, Copy)]
pub struct EventAt<'e> {
    /// Number of the part that contains the event.
    pub part: u32,
    /// The event's place in its part.
    pub place: u64,
    /// Looks up the event.
    pub whole: &'e dyn Fn() -> EventRef,
}

/// Reads the arguments of events that are near each other; reuses data that neighbouring events share.
pub trait FieldReader {
    /// Passes the arguments that an exporter writes for the event to `sink`.
    fn read(&mut self, event: EventAt<'_>, sink: &mut dyn FieldSink);
}

/// A [`FieldReader`] for all formats.
pub(crate) struct DecodingReader<'a> {
    events: &'a dyn Events,
    /// Kept to reuse its memory.
    fields: Vec<FieldRef<'a>>,
}

impl FieldReader for DecodingReader<'_> {
    fn read(&mut self, event: EventAt<'_>, sink: &mut dyn FieldSink) {
        self.fields.clear();
        self.events.fields_into((event.whole)(), &mut self.fields);
        for field in &self.fields {
            match field.role {
                FieldRole::Common if field.name == COMMON_FLAGS => sink.common_flags(&field.value),
                FieldRole::Common => {}
                role if role.is_argument() => sink.field(FieldView::of(field)),
                _ => {}
            }
        }
    }
}

impl dyn Events + '_ {
    /// Returns a reader of the fields of many events.
    pub(crate) fn field_reader(&self) -> Box<dyn FieldReader + '_> {
        self.own_field_reader()
            .unwrap_or_else(|| Box::new(self.decoding_reader()))
    }

    pub(crate) fn decoding_reader(&self) -> DecodingReader<'_> {
        DecodingReader {
            events: self,
            fields: Vec::new(),
        }
    }

    /// Decodes one event in full.
    #[must_use]
    pub fn describe(&self, event: EventRef) -> EventDetail {
        let mut decoded = DecodedEvent::default();
        self.decode(event, Need::Detail, &mut decoded);
        decoded.into_detail()
    }

    /// Appends to `fields` the fields that an exporter writes for the event. Borrows from the file where possible.
    pub fn fields_into<'a>(&'a self, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
        let mut before = std::mem::take(fields);
        let mut decoded = DecodedEvent::default();
        if before.is_empty() {
            // Reuse the allocation of `fields`.
            std::mem::swap(&mut decoded.fields, &mut before);
        }
        self.decode(event, Need::Export, &mut decoded);
        decoded.text_and_stack_as_fields();
        *fields = match before.is_empty() {
            true => decoded.fields,
            false => {
                before.append(&mut decoded.fields);
                before
            }
        };
    }

    /// Returns the fields of an event with owned values.
    #[must_use]
    pub fn fields(&self, event: EventRef) -> Vec<Field> {
        let mut decoded = DecodedEvent::default();
        self.decode(event, Need::Fields, &mut decoded);
        decoded
            .fields
            .into_iter()
            .map(FieldRef::into_field)
            .collect()
    }

    /// Returns the value of the field `name`; `None` if the event has no such field.
    #[must_use]
    pub fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        let mut decoded = DecodedEvent::default();
        self.decode(event, Need::Field(name), &mut decoded);
        let found = decoded
            .fields
            .into_iter()
            .find(|field| field.name == name)?;
        Some(found.value.into_value())
    }

    /// Returns whether the event may have at least one field.
    #[must_use]
    pub(crate) fn has_fields(&self, event: EventRef) -> bool {
        let mut decoded = DecodedEvent::default();
        self.decode(event, Need::AnyField, &mut decoded);
        !decoded.fields.is_empty()
    }

    /// Appends the event as one line: its text, or its fields if it has no text; then its stack.
    pub fn push_line(&self, event: EventRef, out: &mut Vec<u8>) {
        let from = out.len();
        let mut decoded = DecodedEvent {
            text: std::mem::take(out),
            ..DecodedEvent::default()
        };
        self.decode(event, Need::Line, &mut decoded);
        decoded.join_line(from);
        *out = decoded.text;
    }
}

/// An `Events` without events.
#[derive(Debug)]
pub(crate) struct NoEvents;

impl Events for NoEvents {
    fn decode<'a>(&'a self, _event: EventRef, _need: Need<'_>, _decoded: &mut DecodedEvent<'a>) {}
}
