//! Decoded fields to arguments that fit into an event record.
//!
//! An event record has at most 15 arguments. Where there are more fields, the first 14 keep their types, and the
//! 15th, a text called `more`, is a JSON object of all the others: readers show it where they show the rest. Texts
//! that do not fit into a record (32 KB) are cut there; the longest of them follows whole as the payload of a
//! large event record (see [`Fitted::overflow`]).

use std::borrow::Cow;
use std::fmt::Write as _;

use super::records::{Arg, ArgValue, MOST_ARGS, cut};
use crate::event::{FieldRef, ValueRef};
use crate::formats::{EventRef, Reader};

/// Words that the arguments of one record may take: the rest is for header, time, names and the last word.
const MOST_ARG_WORDS: usize = 2900;
/// Bytes longer than this are not spelled out in hex: they become a payload.
const MOST_HEX_BYTES: usize = 512;

/// Whether a field is an argument, and not a word of the record beside its arguments, which readers list among the
/// fields.
#[inline]
fn is_argument(type_name: &str) -> bool {
    !matches!(
        type_name,
        "instant scope" | "counter id" | "ticks" | "async id" | "flow id"
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

/// Moves `fields` to `args`, all that are arguments.
pub fn add<'a>(args: &mut Vec<Arg<'a>>, fields: &mut Vec<FieldRef<'a>>) {
    args.extend(
        fields
            .drain(..)
            .filter(|field| is_argument(&field.type_name))
            .map(arg_of),
    );
}

/// Moves `fields` to `args`, but for those that are there already with the same value.
pub fn add_new<'a>(args: &mut Vec<Arg<'a>>, fields: &mut Vec<FieldRef<'a>>) {
    for field in fields.drain(..) {
        if is_argument(&field.type_name) {
            let arg = arg_of(field);
            if !args.contains(&arg) {
                args.push(arg);
            }
        }
    }
}

fn arg_of(field: FieldRef<'_>) -> Arg<'_> {
    let value = match field.value {
        ValueRef::Null => ArgValue::Null,
        ValueRef::Bool(value) => ArgValue::Bool(value),
        ValueRef::Int(value) => match i32::try_from(value) {
            Ok(small) if field.type_name == "int32" => ArgValue::Int32(small),
            _ => ArgValue::Int64(value),
        },
        ValueRef::UInt(value) => match u32::try_from(value) {
            Ok(small) if field.type_name == "uint32" => ArgValue::UInt32(small),
            _ => ArgValue::UInt64(value),
        },
        ValueRef::Double(value) => ArgValue::Double(value),
        ValueRef::Text(text) => ArgValue::Text(text),
        ValueRef::Pointer(value) => ArgValue::Pointer(value),
        ValueRef::Koid(value) => ArgValue::Koid(value),
        ValueRef::Bytes(bytes) if bytes.len() > MOST_HEX_BYTES => {
            ArgValue::Text(format!("{} bytes", bytes.len()).into())
        }
        value @ (ValueRef::Bytes(_) | ValueRef::List(_)) => {
            ArgValue::Text(value.into_value().to_string().into())
        }
    };
    Arg {
        name: field.name,
        value,
    }
}

/// The longest byte string among the fields that is not spelled out.
pub fn payload_of<'a>(fields: &[FieldRef<'a>]) -> Option<Cow<'a, [u8]>> {
    fields
        .iter()
        .filter_map(|field| match &field.value {
            ValueRef::Bytes(bytes) if bytes.len() > MOST_HEX_BYTES => Some(bytes),
            _ => None,
        })
        .max_by_key(|bytes| bytes.len())
        .cloned()
}

/// The payload of a blob, and its type if it has one.
pub fn blob_of<'a>(fields: &[FieldRef<'a>]) -> Option<(Option<u8>, Cow<'a, [u8]>)> {
    let payload = fields.iter().find(|field| field.name == "payload")?;
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
    /// The longest text that was cut: its argument's name, and all of it.
    pub overflow: Option<(String, String)>,
}

/// Makes `args` fit into one event record.
pub fn fit(args: &mut Vec<Arg<'_>>) -> Fitted {
    let mut fitted = Fitted::default();
    if args.len() > MOST_ARGS {
        let rest = args.split_off(MOST_ARGS - 1);
        args.push(Arg::new("more", ArgValue::Text(json_object(&rest).into())));
        fitted.is_packed = true;
    }
    let mut left = MOST_ARG_WORDS;
    let needed: usize = args.iter().map(Arg::most_words).sum();
    if needed <= left {
        return fitted;
    }
    // Every text may have its share; what short ones leave goes to the long ones.
    let mut open = args.len();
    let mut order: Vec<usize> = (0..args.len()).collect();
    order.sort_by_key(|&index| args[index].most_words());
    for index in order {
        let share = left / open.max(1);
        let arg = &mut args[index];
        if arg.most_words() > share {
            let long_name = cut(&arg.name, 256).to_owned();
            arg.name = long_name.into();
            if let ArgValue::Text(text) = &mut arg.value {
                let head_words = 2 + arg.name.len().div_ceil(8);
                let room = share.saturating_sub(head_words) * 8;
                if text.len() > room {
                    let whole = std::mem::take(text).into_owned();
                    *text = format!("{}…", cut(&whole, room.saturating_sub(3))).into();
                    let is_longest = fitted
                        .overflow
                        .as_ref()
                        .is_none_or(|(_, other)| other.len() < whole.len());
                    if is_longest {
                        fitted.overflow = Some((arg.name.clone().into_owned(), whole));
                    }
                }
            }
        }
        left = left.saturating_sub(args[index].most_words());
        open -= 1;
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
            ArgValue::UInt64(value) | ArgValue::Koid(value) => write!(out, "{value}"),
            ArgValue::Double(value) if value.is_finite() => write!(out, "{value}"),
            ArgValue::Double(value) => write!(out, "\"{value}\""),
            ArgValue::Bool(value) => write!(out, "{value}"),
            ArgValue::Pointer(value) => write!(out, "\"{value:#x}\""),
            ArgValue::Text(text) => {
                out.push_str(&json_text(text));
                Ok(())
            }
        };
    }
    out.push('}');
    out
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_fifteen_go_on_in_json() {
        let mut args: Vec<Arg<'_>> = (0..20)
            .map(|i| Arg::new(format!("a{i}"), ArgValue::Int64(i)))
            .collect();
        args[17].value = ArgValue::Text("say \"hi\"".into());
        let fitted = fit(&mut args);
        assert!(fitted.is_packed && fitted.overflow.is_none());
        assert_eq!(args.len(), 15);
        let ArgValue::Text(more) = &args[14].value else {
            panic!("{:?}", args[14]);
        };
        let more: serde_json::Value = serde_json::from_str(more).unwrap();
        assert_eq!(more["a14"], 14);
        assert_eq!(more["a17"], "say \"hi\"");
        assert_eq!(more["a19"], 19);
    }

    #[test]
    fn texts_share_a_record_and_the_longest_is_told_whole() {
        let long = "ä".repeat(40_000);
        let mut args = vec![
            Arg::new("short", ArgValue::Text("kept".into())),
            Arg::new("long", ArgValue::Text(long.as_str().into())),
            Arg::new("middle", ArgValue::Text(long.get(..10_000).unwrap().into())),
        ];
        let fitted = fit(&mut args);
        let words: usize = args.iter().map(Arg::most_words).sum();
        assert!(words <= MOST_ARG_WORDS);
        assert_eq!(args[0].value, ArgValue::Text("kept".into()));
        assert!(matches!(&args[2].value, ArgValue::Text(text) if text.len() == 10_000));
        assert!(matches!(&args[1].value, ArgValue::Text(text) if text.len() > 10_000));
        assert_eq!(fitted.overflow, Some(("long".to_owned(), long.clone())));
    }
}
