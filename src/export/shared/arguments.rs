//! The arguments of an event for exporters: its fields, without the words that a record has besides its arguments.
//! Bytes of FXT files stay blobs; those of other files become hex text, which all readers show.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::event::{ExactTexts, FieldRef, FieldRole, FieldView, InstantScope, Value, ValueRef};
use crate::formats::{EventRef, Events};
use crate::fxt::TypedValue;

/// The longest byte string that becomes hex text, in bytes; a longer one becomes a payload.
const MOST_HEX_BYTES: usize = 512;

/// The value of an argument to write; texts are the bytes of their file.
pub(crate) type ArgValue<'a> = TypedValue<Cow<'a, [u8]>, Cow<'a, [u8]>, LongText<'a>>;

/// Text that is too long for the event's record and has a string record; cut to the size of that record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LongText<'a>(pub Cow<'a, [u8]>);

impl<'a> ArgValue<'a> {
    /// Returns a text value.
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> ArgValue<'a> {
        ArgValue::Text(bytes_of(text.into()))
    }
}

/// Returns the bytes of a text.
pub(crate) fn bytes_of(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arg<'a> {
    /// Its name.
    pub name: Cow<'a, [u8]>,
    /// Its value.
    pub value: ArgValue<'a>,
}

impl<'a> Arg<'a> {
    /// Returns an argument.
    pub(crate) fn new(name: impl Into<Cow<'a, str>>, value: ArgValue<'a>) -> Arg<'a> {
        Arg {
            name: bytes_of(name.into()),
            value,
        }
    }
}

/// Returns the value of the field with this role. Readers list words of a record that are not arguments as fields with
/// a role.
pub(crate) fn record_word(fields: &[FieldRef<'_>], role: FieldRole) -> Option<u64> {
    let field = fields.iter().find(|field| field.role == role)?;
    match field.value {
        ValueRef::UInt(value) => Some(value),
        _ => None,
    }
}

/// Returns the id that an asynchronous event has in its file.
pub(crate) fn async_id(reader: &dyn Events, event: EventRef) -> Option<u64> {
    let mut fields = Vec::new();
    reader.fields_into(event, &mut fields);
    async_id_in(&fields)
}

/// Returns the number of the asynchronous id among fields, if there is one.
pub(crate) fn async_id_in(fields: &[FieldRef<'_>]) -> Option<u64> {
    fields.iter().find_map(|field| match field.role {
        FieldRole::AsyncId(number) => Some(number),
        _ => None,
    })
}

/// Returns the number of the flow's id among fields, if there is one.
pub(crate) fn flow_id_in(fields: &[FieldRef<'_>]) -> Option<u64> {
    fields.iter().find_map(|field| match field.role {
        FieldRole::FlowId(number) => Some(number),
        _ => None,
    })
}

/// Returns the scope of an instant; `None` if its file contains none.
pub(crate) fn instant_scope(fields: &[FieldRef<'_>]) -> Option<InstantScope> {
    fields.iter().find_map(|field| match field.role {
        FieldRole::InstantScope(scope) => Some(scope),
        _ => None,
    })
}

/// Takes the fields that are arguments out of `fields`, and returns them.
pub(crate) fn arguments<'a>(fields: &mut Vec<FieldRef<'a>>) -> Vec<Arg<'a>> {
    let fields = fields.drain(..);
    let fields = fields.filter(|field| field.role.is_argument());
    fields.map(argument).collect()
}

pub(crate) fn argument(field: FieldRef<'_>) -> Arg<'_> {
    let exact = field.exact.map_or(ExactTexts::default(), |exact| *exact);
    let value = match (field.value, exact.text) {
        (_, Some(text)) => ArgValue::Text(text.into()),
        (ValueRef::Text(text), None) => ArgValue::Text(bytes_of(text)),
        (ValueRef::Bytes(bytes), None) if field.role.is_blob() => ArgValue::Blob(bytes),
        (other, None) => spelled(&other, field.role),
    };
    Arg {
        name: match exact.name {
            Some(name) => name.into(),
            None => bytes_of(field.name),
        },
        value,
    }
}

/// Moves `more` to `args`, except arguments that `args` already has with the same value.
pub(crate) fn merge<'a>(args: &mut Vec<Arg<'a>>, more: Vec<Arg<'a>>) {
    let own_count = args.len();
    for arg in more {
        if !args.iter().take(own_count).any(|own| *own == arg) {
            args.push(arg);
        }
    }
}

pub(crate) fn value_of<'f>(field: FieldView<'f>) -> ArgValue<'f> {
    match field.value {
        ValueRef::Text(text) => {
            let text = field.exact.text.unwrap_or(text.as_bytes());
            ArgValue::Text(Cow::Borrowed(text))
        }
        ValueRef::Bytes(bytes) if field.role.is_blob() => ArgValue::Blob(Cow::Borrowed(bytes)),
        other => spelled(other, field.role),
    }
}

/// Returns a value that borrows nothing: bytes and lists become text.
fn spelled(value: &ValueRef<'_>, role: FieldRole) -> ArgValue<'static> {
    match value {
        ValueRef::Null => ArgValue::Null,
        ValueRef::Bool(value) => ArgValue::Bool(*value),
        ValueRef::Int(value) => match i32::try_from(*value) {
            Ok(small) if role == FieldRole::Argument32 => ArgValue::Int32(small),
            _ => ArgValue::Int64(*value),
        },
        ValueRef::UInt(value) => match u32::try_from(*value) {
            Ok(small) if role == FieldRole::Argument32 => ArgValue::UInt32(small),
            _ => ArgValue::UInt64(*value),
        },
        ValueRef::Double(value) => ArgValue::Double(*value),
        ValueRef::Text(text) => ArgValue::text(text.clone().into_owned()),
        ValueRef::Pointer(value) => ArgValue::Pointer(*value),
        ValueRef::Koid(value) => ArgValue::Koid(*value),
        ValueRef::Bytes(bytes) if bytes.len() > MOST_HEX_BYTES => {
            ArgValue::text(format!("{} bytes", bytes.len()))
        }
        ValueRef::Bytes(bytes) => ArgValue::text(Value::Bytes(bytes.to_vec()).to_string()),
        ValueRef::List(items) => ArgValue::text(list_text(items)),
    }
}

/// Returns a list as [`Value`] prints it.
fn list_text(items: &[Value]) -> String {
    let mut out = String::with_capacity(16 * items.len() + 2);
    out.push('{');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        let _infallible = write!(out, "{item}");
    }
    out.push('}');
    out
}

/// Returns the longest byte string among the fields that is neither written as hex nor an argument.
pub(crate) fn payload_of<'a>(fields: &[FieldRef<'a>]) -> Option<Cow<'a, [u8]>> {
    fields
        .iter()
        .filter_map(|field| match &field.value {
            ValueRef::Bytes(bytes) if bytes.len() > MOST_HEX_BYTES && !field.role.is_blob() => {
                Some(bytes)
            }
            _ => None,
        })
        .max_by_key(|bytes| bytes.len())
        .cloned()
}

/// A blob.
pub(crate) struct Blob<'a> {
    /// The format's number of its type; `None` if it has none.
    pub blob_type: Option<u8>,
    pub payload: Cow<'a, [u8]>,
}

/// Returns the blob of an event with these fields, if it has one.
pub(crate) fn blob_of<'a>(fields: &[FieldRef<'a>]) -> Option<Blob<'a>> {
    let payload = (fields.iter()).find(|field| field.role == FieldRole::Payload)?;
    let ValueRef::Bytes(bytes) = &payload.value else {
        return None;
    };
    let blob_type = record_word(fields, FieldRole::BlobType).map(|number| number as u8);
    Some(Blob {
        blob_type,
        payload: bytes.clone(),
    })
}
