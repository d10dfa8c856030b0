//! Attachments of a trace: bytes that it carries for other tools (FXT's blobs and large records).

use std::borrow::Cow;

use crate::base::Timestamp;
use crate::event::FieldRole;
use crate::formats::{EventRef, Events};
use crate::trace::{EventId, Trace};

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    /// The event that carries it.
    pub event: EventId,
    /// The time of its event.
    pub time: Timestamp,
    /// The attachment's name.
    pub name: String,
    /// The attachment's category.
    pub category: String,
    /// The type of the attachment's content, if the file names it: `Perfetto trace`.
    pub sort: String,
    /// The size in bytes.
    pub size_bytes: u64,
}

/// The bytes that an event carries, if it is an attachment.
#[must_use]
pub(crate) fn payload<'r>(
    trace: &Trace,
    reader: &'r dyn Events,
    id: EventId,
) -> Option<Cow<'r, [u8]>> {
    reader.payload(trace.events.get(id).into())
}

/// Returns all attachments, in the file's order.
#[must_use]
pub(crate) fn blobs(trace: &Trace, reader: &dyn Events) -> Vec<Blob> {
    let mut found = Vec::new();
    let events = trace.events.cursor();
    for index in 0..trace.events.len() as u32 {
        let id = EventId(index);
        let event = EventRef::from(events.get(id));
        let Some(payload) = reader.payload(event) else {
            continue;
        };
        let size_bytes = payload.len() as u64;
        let detail = reader.describe(event);
        let sort = (detail.fields.iter()).find(|field| field.role == FieldRole::BlobType);
        found.push(Blob {
            event: id,
            time: event.time,
            sort: sort.map_or_else(|| "large".to_owned(), |field| field.text()),
            name: detail.name,
            category: detail.category,
            size_bytes,
        });
    }
    found
}
