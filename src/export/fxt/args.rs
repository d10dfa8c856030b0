//! Decoded fields to arguments that fit into an event record.
//!
//! An event record has at most 15 arguments. Where there are more fields, the first 14 keep their types, and the
//! 15th, a text called `more`, is a JSON object of all the others: readers show it where they show the rest. Texts
//! that do not fit into a record (32 KB) are cut there; the longest of them follows whole as the payload of a
//! large event record (see [`Fitted::overflow`]).

use std::borrow::Cow;
use std::fmt::Write as _;

use super::records::{Arg, ArgValue, MOST_ARGS, cut};
use crate::event::{Field, Value};

/// Words that the arguments of one record may take: the rest is for header, time, names and the last word.
const MOST_ARG_WORDS: usize = 2900;
/// Bytes longer than this are not spelled out in hex: they become a payload.
const MOST_HEX_BYTES: usize = 512;

/// Words of a record beside its arguments, which readers list among the fields.
const RECORD_WORDS: &[&str] = &[
    "instant scope",
    "counter id",
    "ticks",
    "async id",
    "flow id",
];

/// Whether a field is an argument, and not a word of the record that has a place of its own.
fn is_argument(field: &Field) -> bool {
    !RECORD_WORDS.contains(&field.type_name.as_str())
}

/// The value of the record word that the reader lists with this type name.
pub fn record_word(fields: &[Field], type_name: &str) -> Option<u64> {
    let field = fields.iter().find(|field| field.type_name == type_name)?;
    match field.value {
        Value::UInt(value) => Some(value),
        _ => None,
    }
}

/// Adds the arguments that `fields` are; none that is there already with the same value.
pub fn add_fields<'a>(args: &mut Vec<Arg<'a>>, fields: &'a [Field]) {
    for field in fields.iter().filter(|field| is_argument(field)) {
        let arg = Arg::new(field.name.as_str(), value_of(field));
        if !args.contains(&arg) {
            args.push(arg);
        }
    }
}

/// All of `fields` as they stand.
pub fn args_of(fields: &[Field]) -> Vec<Arg<'_>> {
    let fields = fields.iter().filter(|field| is_argument(field));
    fields
        .map(|field| Arg::new(field.name.as_str(), value_of(field)))
        .collect()
}

fn value_of(field: &Field) -> ArgValue<'_> {
    match &field.value {
        Value::Null => ArgValue::Null,
        Value::Bool(value) => ArgValue::Bool(*value),
        Value::Int(value) => match i32::try_from(*value) {
            Ok(small) if field.type_name == "int32" => ArgValue::Int32(small),
            _ => ArgValue::Int64(*value),
        },
        Value::UInt(value) => match u32::try_from(*value) {
            Ok(small) if field.type_name == "uint32" => ArgValue::UInt32(small),
            _ => ArgValue::UInt64(*value),
        },
        Value::Double(value) => ArgValue::Double(*value),
        Value::Text(text) => ArgValue::Text(Cow::Borrowed(text)),
        Value::Pointer(value) => ArgValue::Pointer(*value),
        Value::Koid(value) => ArgValue::Koid(*value),
        Value::Bytes(bytes) if bytes.len() > MOST_HEX_BYTES => {
            ArgValue::Text(format!("{} bytes", bytes.len()).into())
        }
        value @ (Value::Bytes(_) | Value::List(_)) => ArgValue::Text(value.to_string().into()),
    }
}

/// The longest byte string among the fields that is not spelled out.
pub fn payload_of(fields: &[Field]) -> Option<&[u8]> {
    fields
        .iter()
        .filter_map(|field| match &field.value {
            Value::Bytes(bytes) if bytes.len() > MOST_HEX_BYTES => Some(bytes.as_slice()),
            _ => None,
        })
        .max_by_key(|bytes| bytes.len())
}

/// The payload of a blob, and its type if it has one.
pub fn blob_of(fields: &[Field]) -> Option<(Option<u8>, &[u8])> {
    let payload = fields.iter().find(|field| field.name == "payload")?;
    let Value::Bytes(bytes) = &payload.value else {
        return None;
    };
    let blob_type = record_word(fields, "blob type").map(|number| number as u8);
    Some((blob_type, bytes))
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
