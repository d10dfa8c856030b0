//! Decoded fields to arguments that fit into an event record.
//!
//! An event record has at most 15 arguments. Where there are more fields, the first 14 keep their types, and the
//! 15th, a text called `more`, is a JSON object of all the others (see `formats/fxt/packed`): readers show it where they
//! show the rest, and we read the arguments back. Texts
//! that do not fit into the record (32 KB) get string records of their own; one that does not fit into that either is
//! cut there, and follows whole as the payload of a large event record (see [`Fitted::cut`]). Bytes of FXT files are
//! blob arguments as they were; those of other files are spelled out in hex, which all readers show.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::records::{Arg, ArgValue, MOST_ARGS, MOST_STRING_BYTES, Records, TextRef, cut_bytes};
use super::values::bytes_of;
use crate::base::strings::exact_text;
use crate::event::{FieldRef, Value, ValueRef};
use crate::formats::fxt::{MORE, unpack_more};
use crate::formats::{EventRef, Reader};

/// Words that the arguments of a scheduling record, an object or a large event may take, whatever else they have.
pub const MOST_ARG_WORDS: usize = 3800;
/// The type of fields that are bytes in their file as well.
const BLOB: &str = "blob";
/// Texts longer than this are looked at twice.
const MOST_QUICK_BYTES: usize = 4096;
/// Names of fields that are remembered.
const KNOWN_NAMES: usize = 512;
/// Bytes longer than this are not spelled out in hex: they become a payload.
const MOST_HEX_BYTES: usize = 512;

/// Whether a field is an argument of a type that is known, and not a word of the record beside its arguments, which
/// readers list among the fields.
#[inline]
fn is_argument(type_name: &str) -> bool {
    !matches!(
        type_name,
        "instant scope" | "counter id" | "ticks" | "async id" | "flow id" | "unknown"
    )
}

/// The value of the record word that the reader lists with this type name.
pub fn record_word(fields: &[FieldRef<'_>], type_name: &str) -> Option<u64> {
    let field = fields.iter().find(|field| field.type_name == type_name)?;
    match field.value {
        ValueRef::UInt(value) => Some(value),
        _ => None,
    }
}

/// The id that an asynchronous event has in its file.
pub fn async_id(reader: &dyn Reader, event: EventRef) -> Option<u64> {
    let mut fields = Vec::new();
    reader.fields_into(event, &mut fields);
    record_word(&fields, "async id")
}

/// Whether a field is an argument that is bytes in its file as well.
fn is_blob(field: &FieldRef<'_>) -> bool {
    field.type_name == BLOB
}

/// The fields that are arguments, taken out.
pub fn arguments<'a>(fields: &mut Vec<FieldRef<'a>>) -> Vec<Arg<'a>> {
    let fields = fields.drain(..);
    let fields = fields.filter(|field| is_argument(&field.type_name));
    fields.map(argument).collect()
}

fn argument(field: FieldRef<'_>) -> Arg<'_> {
    let value = match field.value {
        ValueRef::Text(text) => ArgValue::Text(bytes_of(text)),
        ValueRef::Bytes(bytes) if field.type_name == BLOB => ArgValue::Blob(bytes),
        ref other => spelled(other, &field.type_name),
    };
    Arg {
        name: bytes_of(field.name),
        value,
    }
}

/// Moves `more` to `args`, but for those that are there already with the same value.
pub fn merge<'a>(args: &mut Vec<Arg<'a>>, more: Vec<Arg<'a>>) {
    let own_count = args.len();
    for arg in more {
        if !args.iter().take(own_count).any(|own| *own == arg) {
            args.push(arg);
        }
    }
}

fn value_of<'f>(field: &'f FieldRef<'_>) -> ArgValue<'f> {
    match &field.value {
        ValueRef::Text(text) => ArgValue::Text(Cow::Borrowed(text.as_bytes())),
        ValueRef::Bytes(bytes) if is_blob(field) => ArgValue::Blob(Cow::Borrowed(bytes)),
        other => spelled(other, &field.type_name),
    }
}

/// A value that nothing is lent for.
fn spelled(value: &ValueRef<'_>, type_name: &str) -> ArgValue<'static> {
    match value {
        ValueRef::Null => ArgValue::Null,
        ValueRef::Bool(value) => ArgValue::Bool(*value),
        ValueRef::Int(value) => match i32::try_from(*value) {
            Ok(small) if type_name == "int32" => ArgValue::Int32(small),
            _ => ArgValue::Int64(*value),
        },
        ValueRef::UInt(value) => match u32::try_from(*value) {
            Ok(small) if type_name == "uint32" => ArgValue::UInt32(small),
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

/// As [`Value`] prints a list.
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

/// Encodes the fields of events as arguments, and remembers which of their names the fixed table has.
#[derive(Debug)]
pub struct FieldNames<'a> {
    /// At the place that its address says: a name that is lent by the reader, and its reference.
    known: Vec<(&'a str, TextRef<'static>)>,
}

impl<'a> FieldNames<'a> {
    /// None are known yet.
    pub fn new() -> FieldNames<'a> {
        FieldNames {
            known: vec![("", TextRef::EMPTY); KNOWN_NAMES],
        }
    }

    /// Prepares `fields` and `more` as the arguments of the next record, which has room for `words` of them. `false` if
    /// they do not fit: see [`fit`].
    pub fn prepare(
        &mut self,
        fields: &[FieldRef<'a>],
        more: &[Arg<'_>],
        words: usize,
        records: &mut Records<'_>,
    ) -> bool {
        records.prepare(&[]);
        let mut count = more.len();
        for field in fields.iter().filter(|field| is_argument(&field.type_name)) {
            count += 1;
            // A long text may be longer than any record.
            let is_long =
                matches!(&field.value, ValueRef::Text(text) if text.len() > MOST_QUICK_BYTES);
            if count > MOST_ARGS || is_long || field.name.len() > MOST_QUICK_BYTES {
                return false;
            }
            let value = value_of(field);
            match &field.name {
                Cow::Borrowed(name) => {
                    let name = self.reference(name, records);
                    records.prepare_one(name, &value);
                }
                Cow::Owned(name) => {
                    let name = records.name(name);
                    records.prepare_one(name, &value);
                }
            }
        }
        for arg in more {
            let name = records.exact_name(&arg.name);
            records.prepare_one(name, &arg.value);
        }
        count <= MOST_ARGS && records.prepared_bytes() <= words * 8
    }

    /// The reference of a name, for the next record.
    #[inline]
    fn reference(&mut self, name: &'a str, records: &mut Records<'_>) -> TextRef<'a> {
        let address = name.as_ptr() as usize;
        let slot = (address ^ address >> 8) % KNOWN_NAMES;
        match self.known.get_mut(slot) {
            Some(entry) if std::ptr::eq(entry.0, name) && !name.is_empty() => entry.1,
            entry => {
                let reference = records.name(name);
                if let (Some(entry), Some(lasting)) = (entry, records.lasting(reference)) {
                    *entry = (name, lasting);
                }
                reference
            }
        }
    }
}

/// The longest byte string among the fields that is neither spelled out nor an argument.
pub fn payload_of<'a>(fields: &[FieldRef<'a>]) -> Option<Cow<'a, [u8]>> {
    fields
        .iter()
        .filter_map(|field| match &field.value {
            ValueRef::Bytes(bytes) if bytes.len() > MOST_HEX_BYTES && !is_blob(field) => {
                Some(bytes)
            }
            _ => None,
        })
        .max_by_key(|bytes| bytes.len())
        .cloned()
}

/// The payload of a blob, and its type if it has one.
pub fn blob_of<'a>(fields: &[FieldRef<'a>]) -> Option<(Option<u8>, Cow<'a, [u8]>)> {
    // The reader lists it last: arguments may be called so as well.
    let payload = fields.iter().rfind(|field| field.name == "payload")?;
    let ValueRef::Bytes(bytes) = &payload.value else {
        return None;
    };
    let blob_type = record_word(fields, "blob type").map(|number| number as u8);
    Some((blob_type, bytes.clone()))
}

/// What became of arguments.
#[derive(Debug, Default, PartialEq)]
pub struct Fitted {
    /// Whether some are in `more`.
    pub is_packed: bool,
    /// The texts and bytes that were cut: their arguments' names, and all of each.
    pub cut: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Makes `args` fit into one record that has room for `most_words` of them.
pub fn fit(args: &mut Vec<Arg<'_>>, most_words: usize) -> Fitted {
    fit_among(args, (MOST_ARGS, most_words))
}

/// The same where only `most_args` are theirs.
pub fn fit_among(args: &mut Vec<Arg<'_>>, (most_args, most_words): (usize, usize)) -> Fitted {
    let mut fitted = Fitted::default();
    if args.len() > most_args {
        let rest = args.split_off(most_args.saturating_sub(1));
        args.push(Arg::new(MORE, ArgValue::text(json_object(&rest))));
        fitted.is_packed = true;
    }
    let mut words: usize = args.iter().map(Arg::most_words).sum();
    // The longest texts go into string records of their own.
    while words > most_words {
        let longest = args
            .iter_mut()
            .filter(|arg| matches!(arg.value, ArgValue::Text(_) | ArgValue::Blob(_)))
            .max_by_key(|arg| arg.most_words());
        let Some(arg) = longest else {
            return fitted;
        };
        words -= arg.most_words();
        if let ArgValue::Blob(bytes) = &mut arg.value {
            let said = format!("{} bytes", bytes.len());
            let whole = std::mem::take(bytes).into_owned();
            fitted.cut.push((arg.name.to_vec(), whole));
            arg.value = ArgValue::text(said);
        } else if let ArgValue::Text(text) = &mut arg.value {
            let mut text = std::mem::take(text);
            if text.len() > MOST_STRING_BYTES {
                let start = [cut_bytes(&text, MOST_STRING_BYTES - 3), "…".as_bytes()].concat();
                let whole = std::mem::replace(&mut text, start.into());
                fitted.cut.push((arg.name.to_vec(), whole.into_owned()));
            }
            arg.value = ArgValue::LongText(text);
        }
        words += arg.most_words();
    }
    fitted
}

fn json_object(args: &[Arg<'_>]) -> String {
    let mut out = String::from("{");
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&json_text(&arg.name));
        out.push(':');
        let _infallible = match &arg.value {
            ArgValue::Null => write!(out, "null"),
            ArgValue::Int32(value) => write!(out, "{value}"),
            ArgValue::UInt32(value) => write!(out, "{value}"),
            ArgValue::Int64(value) => write!(out, "{value}"),
            ArgValue::UInt64(value) => write!(out, "{value}"),
            ArgValue::Koid(value) => write!(out, "{{\"koid\":{value}}}"),
            ArgValue::Double(value) => match is_read_back(*value) {
                true => write!(out, "{value:?}"),
                false => write!(out, "{{\"double\":\"{value}\"}}"),
            },
            ArgValue::Bool(value) => write!(out, "{value}"),
            ArgValue::Pointer(value) => write!(out, "{{\"pointer\":\"{value:#x}\"}}"),
            ArgValue::Text(text) | ArgValue::LongText(text) => {
                out.push_str(&json_text(text));
                Ok(())
            }
            ArgValue::Blob(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                write!(out, "{{\"blob\":\"{digits}\"}}")
            }
        };
    }
    out.push('}');
    out
}

/// Whether a JSON reader gets the same number from its digits.
fn is_read_back(value: f64) -> bool {
    value.is_finite()
        && serde_json::from_str::<f64>(&format!("{value:?}"))
            .is_ok_and(|read| read.to_bits() == value.to_bits())
}

/// Replaces an argument `more` of a full record, which this program wrote, by the arguments that it holds.
pub fn unpack(args: &mut Vec<Arg<'_>>) {
    let more = args.last().filter(|_| args.len() == MOST_ARGS);
    let more = more.filter(|arg| *arg.name == *MORE.as_bytes());
    let Some(ArgValue::Text(text)) = more.map(|arg| &arg.value) else {
        return;
    };
    let text = std::str::from_utf8(text).ok();
    if let Some(found) = text.and_then(unpack_more) {
        args.pop();
        args.extend(
            found
                .into_iter()
                .map(|field| argument(FieldRef::from(field))),
        );
    }
}

/// Bytes that are no UTF-8 are `\xNN` there.
fn json_text(text: &[u8]) -> String {
    serde_json::Value::from(exact_text(text)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_fifteen_go_on_in_json() {
        let mut args: Vec<Arg<'_>> = (0..20)
            .map(|i| Arg::new(format!("a{i}"), ArgValue::Int64(i)))
            .collect();
        args[17].value = ArgValue::text("say \"hi\"");
        let fitted = fit(&mut args, MOST_ARG_WORDS);
        assert!(fitted.is_packed && fitted.cut.is_empty());
        assert_eq!(args.len(), 15);
        let ArgValue::Text(more) = &args[14].value else {
            panic!("{:?}", args[14]);
        };
        let more: serde_json::Value = serde_json::from_slice(more).unwrap();
        assert_eq!(more["a14"], 14);
        assert_eq!(more["a17"], "say \"hi\"");
        assert_eq!(more["a19"], 19);
    }

    #[test]
    fn long_texts_leave_the_record_and_what_is_cut_is_told_whole() {
        let long = "ä".repeat(40_000);
        let middle = long.get(..20_000).unwrap();
        let mut args = vec![
            Arg::new("short", ArgValue::text("kept")),
            Arg::new("long", ArgValue::text(long.as_str())),
            Arg::new("middle", ArgValue::text(middle)),
            Arg::new("other", ArgValue::text(middle)),
            Arg::new("longer", ArgValue::text(format!("{long}!"))),
        ];
        let fitted = fit(&mut args, MOST_ARG_WORDS);
        let words: usize = args.iter().map(Arg::most_words).sum();
        assert!(words <= MOST_ARG_WORDS);
        assert_eq!(args[0].value, ArgValue::text("kept"));
        assert_eq!(args[2].value, ArgValue::text(middle));
        assert_eq!(args[3].value, ArgValue::LongText(middle.as_bytes().into()));
        for index in [1, 4] {
            let ArgValue::LongText(text) = &args[index].value else {
                panic!("{:?}", args[index]);
            };
            assert!(text.len() <= MOST_STRING_BYTES && text.len() > 32_000);
            assert!(text.ends_with("…".as_bytes()));
        }
        let expected = [("longer", format!("{long}!")), ("long", long)];
        assert_eq!(
            fitted.cut,
            expected.map(|(name, text)| (name.as_bytes().to_vec(), text.into_bytes()))
        );
    }
}
