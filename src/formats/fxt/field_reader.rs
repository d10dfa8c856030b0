//! Reads the arguments of many event records for exporters: keeps the provider and the texts of indices from one record
//! to the next.

use std::borrow::Cow;

use super::fields::{ReadValue, Spelled, Texts, value_in};
use super::scan::{Scan, string_bytes};
use super::sort::Sort;
use super::tables::{ProviderSlot, ValidAt};
use crate::base::ByteOrder;
use crate::event::{ExactTexts, FieldSink, FieldView};
use crate::formats::events::{DecodingReader, EventAt, FieldReader};
use crate::fxt::args::Args;
use crate::fxt::layout::{RECORD_TYPE, argument, event, record_type};
use crate::fxt::words::{TextRef, Words, read_text};

/// The texts of a provider's indices that were looked up and are UTF-8.
type KnownTexts<'f> = Vec<Option<ValidAt<&'f str>>>;

/// Reads the arguments of records that are near each other.
pub(super) struct RecordArguments<'f, O> {
    bytes: &'f [u8],
    scan: &'f Scan,
    provider: Option<ValidAt<ProviderSlot>>,
    /// The known texts, by provider.
    known: Vec<KnownTexts<'f>>,
    /// The reader for all other records.
    others: DecodingReader<'f>,
    order: std::marker::PhantomData<O>,
}

impl<'f, O: ByteOrder> RecordArguments<'f, O> {
    pub(super) fn new(bytes: &'f [u8], scan: &'f Scan, others: DecodingReader<'f>) -> Self {
        RecordArguments {
            bytes,
            scan,
            provider: None,
            known: Vec::new(),
            others,
            order: std::marker::PhantomData,
        }
    }

    fn provider_at(&mut self, place: u64) -> ProviderSlot {
        if !self.provider.is_some_and(|known| known.is_valid(place)) {
            self.provider = self.scan.tables.provider_valid_at(place);
        }
        self.provider.map_or(0, |known| known.value)
    }

    /// Passes the arguments of an event record to `sink`; `None` if the record has another type, or if its last
    /// argument contains further arguments.
    fn arguments(&mut self, place: u64, sink: &mut dyn FieldSink) -> Option<()> {
        let file = Words::<O>::new(self.bytes);
        let record = file.record_at(place)?;
        let header = record.get(0)?;
        if RECORD_TYPE.get(header) != record_type::EVENT {
            return None;
        }
        Sort::from_event_type(event::KIND.get(header))?;
        let count = event::ARGS.get(header);
        if count == argument::MOST as u64 {
            return None;
        }
        let mut next = if event::THREAD.get(header) == 0 { 4 } else { 2 };
        read_text(event::CATEGORY.get(header), record, &mut next)?;
        read_text(event::NAME.get(header), record, &mut next)?;
        if count == 0 {
            return Some(());
        }
        let slot = self.provider_at(place);
        let texts = Texts {
            file,
            scan: self.scan,
            slot,
            place,
        };
        if self.known.len() <= slot as usize {
            self.known.resize_with(slot as usize + 1, Vec::new);
        }
        let known = self.known.get_mut(slot as usize)?;
        for arg in Args::new(record, next, count) {
            let (name, name_bytes) = spelled(&texts, known, arg.name);
            let ReadValue {
                value,
                role,
                exact_text,
                ..
            } = value_in(arg.value, |text| spelled(&texts, known, text));
            if role.is_argument() {
                sink.field(FieldView {
                    name: &name,
                    value: &value,
                    role,
                    exact: ExactTexts {
                        name: name_bytes,
                        text: exact_text,
                    },
                });
            }
        }
        Some(())
    }
}

/// Returns a text like `texts`, but from `known` if it is there.
#[inline]
fn spelled<'f, O: ByteOrder>(
    texts: &Texts<'f, O>,
    known: &mut KnownTexts<'f>,
    text: TextRef<'f>,
) -> Spelled<'f> {
    let TextRef::Index(index @ 1..) = text else {
        return texts.spelled(text);
    };
    match known.get(usize::from(index)) {
        Some(Some(known)) if known.is_valid(texts.place) => (Cow::Borrowed(known.value), None),
        _ => looked_up(texts, known, index),
    }
}

#[cold]
fn looked_up<'f, O: ByteOrder>(
    texts: &Texts<'f, O>,
    known: &mut KnownTexts<'f>,
    index: u16,
) -> Spelled<'f> {
    let tables = &texts.scan.tables;
    let found = tables.own_string_at(texts.slot, index, texts.place);
    let bytes = found.and_then(|found| string_bytes(texts.file, found.value));
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    if let (Some(found), Some(text)) = (found, text) {
        let index = usize::from(index);
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        if let Some(slot) = known.get_mut(index) {
            *slot = Some(ValidAt {
                value: text,
                after: found.after,
                until: found.until,
            });
        }
    }
    texts.spelled(TextRef::Index(index))
}

impl<O: ByteOrder> FieldReader for RecordArguments<'_, O> {
    fn read(&mut self, event: EventAt<'_>, sink: &mut dyn FieldSink) {
        if self.arguments(event.place, sink).is_none() {
            self.others.read(event, sink);
        }
    }
}
