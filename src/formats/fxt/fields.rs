//! The fields of a record for exporters: as `describe` lists them, borrowed from the file, and payloads whole.

use std::borrow::Cow;

use crate::base::strings::text_of;
use crate::event::{FieldRef, ValueRef};
use crate::formats::EventRef;

use super::args::{Arg, ArgValue, Args};
use super::describe::describe;
use super::emit::unresolved_text;
use super::header::{Order, TextRef, Words, bits, read_text, record_type};
use super::kinds::Sort;
use super::packed::{MORE, unpack_last};
use super::scan::{Scan, string_bytes};
use super::tables::ProviderSlot;

/// Where a text of a record is looked up.
#[derive(Clone, Copy)]
pub struct Texts<'f, O> {
    /// The file.
    pub file: Words<'f, O>,
    /// Its tables.
    pub scan: &'f Scan,
    /// The provider of the record.
    pub slot: ProviderSlot,
    /// The record.
    pub place: u64,
}

impl<'f, O: Order> Texts<'f, O> {
    /// The text; a number in words if its index was never registered.
    pub fn text(&self, text: TextRef<'f>) -> Cow<'f, str> {
        match text {
            TextRef::Inline(bytes) => text_of(bytes),
            TextRef::Index(0) => Cow::Borrowed(""),
            TextRef::Index(index) => {
                let place = self.scan.tables.string_at(self.slot, index, self.place);
                match place.and_then(|place| string_bytes(self.file, place)) {
                    Some(bytes) => text_of(bytes),
                    None => Cow::Owned(unresolved_text(index)),
                }
            }
        }
    }
}

/// Appends the fields of the record that `event` refers to.
pub fn fields_into<'f, O: Order>(
    bytes: &'f [u8],
    scan: &'f Scan,
    event: EventRef,
    fields: &mut Vec<FieldRef<'f>>,
) {
    if event_fields::<O>(bytes, scan, event.place, fields).is_some() {
        return;
    }
    let described = describe::<O>(bytes, scan, event).fields.into_iter();
    match payload_at(Words::<O>::new(bytes), event.place) {
        None => fields.extend(described.map(FieldRef::from)),
        Some(payload) => {
            // It is listed there only if it is small.
            let others =
                described.filter(|field| (&*field.name, &*field.type_name) != ("payload", "blob"));
            fields.extend(others.map(FieldRef::from));
            fields.push(FieldRef {
                name: Cow::Borrowed("payload"),
                type_name: Cow::Borrowed("blob"),
                value: ValueRef::Bytes(Cow::Borrowed(payload)),
            });
        }
    }
}

/// `None`: it is no event record, or cannot be read.
fn event_fields<'f, O: Order>(
    bytes: &'f [u8],
    scan: &'f Scan,
    place: u64,
    fields: &mut Vec<FieldRef<'f>>,
) -> Option<()> {
    let file = Words::<O>::new(bytes);
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    if bits(header, 0, 3) != record_type::EVENT {
        return None;
    }
    let sort = Sort::from_event_type(bits(header, 16, 19))?;
    let mut next = if bits(header, 24, 31) == 0 { 4 } else { 2 };
    read_text(header >> 32, record, &mut next)?;
    read_text(header >> 48, record, &mut next)?;
    let texts = Texts {
        file,
        scan,
        slot: scan.tables.provider_at(place),
        place,
    };
    let count = bits(header, 20, 23);
    let behind = Args::new(record, next, count).skip_all();
    if let Some(word) = behind.and_then(|behind| record.get(behind)) {
        fields.extend(record_word(sort, word));
    }
    let first = fields.len();
    fields.extend(Args::new(record, next, count).map(|arg| field_of(&texts, arg)));
    unpack_last(fields, first, |field| match &field.value {
        ValueRef::Text(text) if field.name == MORE => Some(text),
        _ => None,
    });
    Some(())
}

/// What the word behind the arguments says.
pub fn record_word(sort: Sort, word: u64) -> Option<FieldRef<'static>> {
    let (name, type_name, value) = match sort {
        Sort::Instant => {
            let scope = match word {
                1 => "process",
                2 => "global",
                _ => "thread",
            };
            (
                "scope",
                "instant scope",
                ValueRef::Text(Cow::Borrowed(scope)),
            )
        }
        Sort::Counter => ("id", "counter id", ValueRef::UInt(word)),
        Sort::Complete => ("end", "ticks", ValueRef::UInt(word)),
        Sort::AsyncBegin | Sort::AsyncInstant | Sort::AsyncEnd => {
            ("id", "async id", ValueRef::UInt(word))
        }
        Sort::FlowBegin | Sort::FlowStep | Sort::FlowEnd => ("id", "flow id", ValueRef::UInt(word)),
        _ => return None,
    };
    Some(FieldRef {
        name: Cow::Borrowed(name),
        type_name: Cow::Borrowed(type_name),
        value,
    })
}

/// An argument with its type.
pub fn field_of<'f, O: Order>(texts: &Texts<'f, O>, arg: Arg<'f>) -> FieldRef<'f> {
    let (type_name, value) = match arg.value {
        ArgValue::Null => ("null", ValueRef::Null),
        ArgValue::Int32(value) => ("int32", ValueRef::Int(i64::from(value))),
        ArgValue::UInt32(value) => ("uint32", ValueRef::UInt(u64::from(value))),
        ArgValue::Int64(value) => ("int64", ValueRef::Int(value)),
        ArgValue::UInt64(value) => ("uint64", ValueRef::UInt(value)),
        ArgValue::Double(value) => ("double", ValueRef::Double(value)),
        ArgValue::Text(text) => ("string", ValueRef::Text(texts.text(text))),
        ArgValue::Pointer(pointer) => ("pointer", ValueRef::Pointer(pointer)),
        ArgValue::Koid(koid) => ("koid", ValueRef::Koid(koid)),
        ArgValue::Bool(value) => ("bool", ValueRef::Bool(value)),
        ArgValue::Blob(bytes) => ("blob", ValueRef::Bytes(Cow::Borrowed(bytes))),
        ArgValue::Unknown(_) => ("unknown", ValueRef::Null),
    };
    FieldRef {
        name: texts.text(arg.name),
        type_name: Cow::Borrowed(type_name),
        value,
    }
}

/// The payload of the blob or large record at a place.
pub fn payload_at<O: Order>(file: Words<'_, O>, place: u64) -> Option<&[u8]> {
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    match bits(header, 0, 3) {
        record_type::BLOB => {
            let mut next = 1;
            read_text(bits(header, 16, 31), record, &mut next)?;
            // Some writers put the size elsewhere: what the record has is what there is.
            let left = record.count().saturating_sub(next) * 8;
            record.text(next, (bits(header, 32, 46) as usize).min(left))
        }
        record_type::LARGE => {
            let fields = record.get(1)?;
            let mut next = 2;
            read_text(bits(fields, 0, 15), record, &mut next)?;
            read_text(bits(fields, 16, 31), record, &mut next)?;
            if bits(header, 40, 43) == 0 {
                next += if bits(fields, 36, 43) == 0 { 3 } else { 1 };
                next = Args::new(record, next, bits(fields, 32, 35)).skip_all()?;
            }
            let left = record.count().saturating_sub(next + 1) * 8;
            let length = usize::try_from(record.get(next)?).unwrap_or(left).min(left);
            record.text(next + 1, length)
        }
        _ => None,
    }
}
