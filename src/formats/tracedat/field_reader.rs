//! Reads the fields of many events for exporters: keeps the page and the names of functions between events.

use super::buffers::CpuPages;
use super::decoder::{Decoder, Memory};
use super::describe::{number_in, push_more_text, value_in};
use super::file::{Page, TraceFile};
use super::kind::{Kind, More};
use crate::event::detail::TEXT;
use crate::event::{ExactTexts, FieldRole, FieldSink, FieldView, Value, ValueRef};
use crate::formats::events::EventAt;

/// The page of the last event.
struct OpenPage<'a> {
    part: u32,
    page: Page<'a>,
}

/// Reads the fields of events that are near each other in their part.
pub(super) struct RecordFields<'a> {
    file: &'a TraceFile,
    decoder: &'a Decoder,
    open: Option<OpenPage<'a>>,
    memory: Memory,
    text: Vec<u8>,
    /// Kept to reuse its memory.
    list: Vec<Value>,
}

impl<'a> RecordFields<'a> {
    pub(super) fn new(file: &'a TraceFile, decoder: &'a Decoder) -> RecordFields<'a> {
        RecordFields {
            file,
            decoder,
            open: None,
            memory: Memory::default(),
            text: Vec::new(),
            list: Vec::new(),
        }
    }

    /// Passes the fields of an event to `sink`. Returns `false` if the event has more than fields and a text, or cannot
    /// be read; then nothing was passed to `sink`.
    pub(super) fn read(
        &mut self,
        event: EventAt<'_>,
        source: impl FnOnce() -> Option<CpuPages<'a>>,
        sink: &mut dyn FieldSink,
    ) -> bool {
        let (part, place) = (event.part, event.place);
        let holds = |open: &OpenPage<'_>| {
            let inside = place.checked_sub(open.page.start);
            open.part == part && inside.is_some_and(|inside| inside < open.page.bytes.len() as u64)
        };
        if !self.open.as_ref().is_some_and(holds) {
            let page = source().and_then(|CpuPages { buffer, data }| {
                self.file.page_at(data, buffer.page_size, place).ok()
            });
            self.open = page.map(|page| OpenPage { part, page });
        }
        let Some(OpenPage { page, .. }) = &self.open else {
            return false;
        };
        let at = (place - page.start) as usize;
        let Some(record) = self.file.payload(&page.bytes, at) else {
            return false;
        };
        let decoder = self.decoder;
        let index = decoder.kind_of(record);
        let Some((index, kind)) = index.and_then(|it| Some((it, decoder.kinds().get(it)?))) else {
            return true;
        };
        if kind.more == More::Stack {
            return false;
        }
        pass_fields(decoder, kind, record, &mut self.list, sink);
        if kind.more == More::Text {
            self.text.clear();
            push_more_text(decoder, index, record, &mut self.memory, &mut self.text);
            if !self.text.is_empty() {
                let text = match std::str::from_utf8(&self.text) {
                    Ok(text) => text.into(),
                    Err(_) => String::from_utf8_lossy(&self.text),
                };
                sink.field(FieldView {
                    name: TEXT,
                    value: &ValueRef::Text(text),
                    role: FieldRole::Argument,
                    exact: ExactTexts::default(),
                });
            }
        }
        true
    }
}

fn pass_fields(
    decoder: &Decoder,
    kind: &Kind,
    record: &[u8],
    list: &mut Vec<Value>,
    sink: &mut dyn FieldSink,
) {
    let endian = decoder.endian();
    let place = |index: u16| {
        let index = usize::from(index);
        Some((kind.format.fields.get(index)?, *kind.sorts.get(index)?))
    };
    if let Some((field, sort)) = kind.flags_field.and_then(place) {
        sink.common_flags(&value_in(field, sort, record, endian, list));
    }
    for (field, sort) in kind.own_fields.iter().filter_map(|&index| place(index)) {
        if let Some(number) = number_in(field, sort, record, endian) {
            sink.number(&field.name, number);
            continue;
        }
        let value = value_in(field, sort, record, endian, list);
        sink.field(FieldView {
            name: &field.name,
            value: &value,
            role: FieldRole::Argument,
            exact: ExactTexts::default(),
        });
        if let ValueRef::List(items) = value {
            *list = items;
            list.clear();
        }
    }
}
