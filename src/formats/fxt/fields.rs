//! The fields of a record for exporters: like those of `describe`, but borrowed from the file and with complete
//! payloads.

use std::borrow::Cow;

use crate::base::strings::text_of;
use crate::event::kernel::is_probe_field;
use crate::event::{ExactTexts, FieldRef, FieldRole, InstantScope, ValueRef};
use crate::formats::EventRef;

use super::describe::describe;
use super::scan::{Scan, string_bytes};
use super::sort::Sort;
use super::tables::ProviderSlot;
use crate::base::ByteOrder;
use crate::fxt::args::{Arg, ArgValue, Args};
use crate::fxt::layout::{RECORD_TYPE, blob, event, large, record_type};
use crate::fxt::packed::{MORE, unpack_last};
use crate::fxt::words::{TextRef, Words, read_text, unresolved_text};

/// Context in which the texts of a record are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'f, O> {
    /// The bytes of the file.
    pub file: Words<'f, O>,
    /// The tables of the file.
    pub scan: &'f Scan,
    /// Slot of the record's provider.
    pub slot: ProviderSlot,
    /// Place of the record.
    pub place: u64,
}

impl<'f, O: ByteOrder> Texts<'f, O> {
    /// Returns the text; a placeholder with the index if the index was never registered.
    pub(super) fn text(&self, text: TextRef<'f>) -> Cow<'f, str> {
        self.spelled(text).0
    }

    /// Returns whether this program's exporter wrote the record.
    fn is_ours(&self) -> bool {
        let providers = self.scan.tables.providers();
        let provider = providers.get(self.slot as usize);
        provider.is_some_and(|provider| provider.is_ours())
    }

    /// Returns the text, and its bytes if they are not UTF-8.
    pub(super) fn spelled(&self, text: TextRef<'f>) -> Spelled<'f> {
        let bytes = match text {
            TextRef::Inline(bytes) => bytes,
            TextRef::Index(0) => &[],
            TextRef::Index(index) => {
                let place = self.scan.tables.string_at(self.slot, index, self.place);
                match place.and_then(|place| string_bytes(self.file, place)) {
                    Some(bytes) => bytes,
                    None => return (Cow::Owned(unresolved_text(index)), None),
                }
            }
        };
        match text_of(bytes) {
            Cow::Borrowed(text) => (Cow::Borrowed(text), None),
            spelled => (spelled, Some(bytes)),
        }
    }
}

/// Appends the fields of the record that `event` refers to.
pub(super) fn fields_into<'f, O: ByteOrder>(
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
            // The described fields contain the payload only if it is small.
            let others = described.filter(|field| field.role != FieldRole::Payload);
            fields.extend(others.map(FieldRef::from));
            fields.push(FieldRef {
                name: Cow::Borrowed("payload"),
                type_name: Cow::Borrowed("blob"),
                value: ValueRef::Bytes(Cow::Borrowed(payload)),
                shown: String::new(),
                role: FieldRole::Payload,
                exact: None,
            });
        }
    }
}

/// Appends the fields of an event record; `None` if the record is of another type or unreadable.
fn event_fields<'f, O: ByteOrder>(
    bytes: &'f [u8],
    scan: &'f Scan,
    place: u64,
    fields: &mut Vec<FieldRef<'f>>,
) -> Option<()> {
    let file = Words::<O>::new(bytes);
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    if RECORD_TYPE.get(header) != record_type::EVENT {
        return None;
    }
    let sort = Sort::from_event_type(event::KIND.get(header))?;
    let mut next = if event::THREAD.get(header) == 0 { 4 } else { 2 };
    read_text(event::CATEGORY.get(header), record, &mut next)?;
    read_text(event::NAME.get(header), record, &mut next)?;
    let texts = Texts {
        file,
        scan,
        slot: scan.tables.provider_at(place),
        place,
    };
    let count = event::ARGS.get(header);
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

/// Returns the field for the word after the arguments.
pub(crate) fn record_word(sort: Sort, word: u64) -> Option<FieldRef<'static>> {
    let (name, type_name, role) = match sort {
        Sort::Instant => {
            let scope = match word {
                1 => InstantScope::Process,
                2 => InstantScope::Global,
                _ => InstantScope::Thread,
            };
            ("scope", "instant scope", FieldRole::InstantScope(scope))
        }
        Sort::Counter => ("id", "counter id", FieldRole::CounterIdOfAll),
        Sort::Complete => ("end", "ticks", FieldRole::EndTicks),
        Sort::AsyncBegin | Sort::AsyncInstant | Sort::AsyncEnd => {
            ("id", "async id", FieldRole::AsyncId(word))
        }
        Sort::FlowBegin | Sort::FlowStep | Sort::FlowEnd => {
            ("id", "flow id", FieldRole::FlowId(word))
        }
        _ => return None,
    };
    let value = match role {
        FieldRole::InstantScope(scope) => ValueRef::Text(Cow::Borrowed(scope.word())),
        _ => ValueRef::UInt(word),
    };
    Some(FieldRef {
        name: Cow::Borrowed(name),
        type_name: Cow::Borrowed(type_name),
        value,
        shown: String::new(),
        role,
        exact: None,
    })
}

/// A text, and its bytes if they are not UTF-8.
pub(super) type Spelled<'f> = (Cow<'f, str>, Option<&'f [u8]>);

/// The value of an argument as a field contains it.
pub(super) struct ReadValue<'f> {
    pub type_name: &'static str,
    pub value: ValueRef<'f>,
    pub role: FieldRole,
    /// The bytes of its text, if they are not UTF-8.
    pub exact_text: Option<&'f [u8]>,
}

/// Returns the value of an argument; `spelled` looks up its text.
#[inline]
pub(super) fn value_in<'f>(
    value: ArgValue<'f>,
    spelled: impl FnOnce(TextRef<'f>) -> Spelled<'f>,
) -> ReadValue<'f> {
    let role = match value {
        ArgValue::Int32(_) | ArgValue::UInt32(_) => FieldRole::Argument32,
        ArgValue::Blob(_) => FieldRole::BlobArgument,
        ArgValue::Other(_) => FieldRole::UnknownArgument,
        _ => FieldRole::Argument,
    };
    let mut exact_text = None;
    let (type_name, value) = match value {
        ArgValue::Null => ("null", ValueRef::Null),
        ArgValue::Int32(value) => ("int32", ValueRef::Int(i64::from(value))),
        ArgValue::UInt32(value) => ("uint32", ValueRef::UInt(u64::from(value))),
        ArgValue::Int64(value) => ("int64", ValueRef::Int(value)),
        ArgValue::UInt64(value) => ("uint64", ValueRef::UInt(value)),
        ArgValue::Double(value) => ("double", ValueRef::Double(value)),
        ArgValue::Text(text) => {
            let (text, bytes) = spelled(text);
            exact_text = bytes;
            ("string", ValueRef::Text(text))
        }
        ArgValue::Pointer(pointer) => ("pointer", ValueRef::Pointer(pointer)),
        ArgValue::Koid(koid) => ("koid", ValueRef::Koid(koid)),
        ArgValue::Bool(value) => ("bool", ValueRef::Bool(value)),
        ArgValue::Blob(bytes) => ("blob", ValueRef::Bytes(Cow::Borrowed(bytes))),
        ArgValue::Other(_) => ("unknown", ValueRef::Null),
    };
    ReadValue {
        type_name,
        value,
        role,
        exact_text,
    }
}

/// Returns the role of an argument that this program's exporter wrote for a field of a kernel's event.
fn own_role(name: &str) -> Option<FieldRole> {
    match name {
        name if name.starts_with("common_") => Some(FieldRole::Common),
        name if is_probe_field(name.as_bytes()) => Some(FieldRole::Probe),
        _ => None,
    }
}

/// Returns the field for an argument, with its type.
pub(crate) fn field_of<'f, O: ByteOrder>(texts: &Texts<'f, O>, arg: Arg<'f>) -> FieldRef<'f> {
    let (name, name_bytes) = texts.spelled(arg.name);
    let ReadValue {
        type_name,
        value,
        role,
        exact_text,
    } = value_in(arg.value, |text| texts.spelled(text));
    let exact = ExactTexts {
        name: name_bytes,
        text: exact_text,
    };
    let role = match own_role(&name).filter(|_| texts.is_ours()) {
        Some(own) if role.is_argument() => own,
        _ => role,
    };
    FieldRef {
        name,
        type_name: Cow::Borrowed(type_name),
        value,
        shown: String::new(),
        role,
        exact: (exact != ExactTexts::default()).then(|| Box::new(exact)),
    }
}

/// Returns the payload of the blob or large record at `place`.
pub(super) fn payload_at<O: ByteOrder>(file: Words<'_, O>, place: u64) -> Option<&[u8]> {
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    match RECORD_TYPE.get(header) {
        record_type::BLOB => {
            let mut next = 1;
            read_text(blob::NAME.get(header), record, &mut next)?;
            // Some writers store the size in another place: use at most the bytes in the record.
            let left = record.count().saturating_sub(next) * 8;
            record.text(next, (blob::BYTES.get(header) as usize).min(left))
        }
        record_type::LARGE => {
            let fields = record.get(1)?;
            let mut next = 2;
            read_text(large::CATEGORY.get(fields), record, &mut next)?;
            read_text(large::NAME.get(fields), record, &mut next)?;
            if large::FORMAT.get(header) == large::EVENT {
                next += if large::THREAD.get(fields) == 0 { 3 } else { 1 };
                next = Args::new(record, next, large::ARGS.get(fields)).skip_all()?;
            }
            let left = record.count().saturating_sub(next + 1) * 8;
            let length = usize::try_from(record.get(next)?).unwrap_or(left).min(left);
            record.text(next + 1, length)
        }
        _ => None,
    }
}
