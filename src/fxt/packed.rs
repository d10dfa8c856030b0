//! The argument `more` of files of this program: a JSON object with the arguments that did not fit into a record.
//!
//! ```text
//! {"flags":5,"name":"x","ratio":0.5,"at":{"pointer":"0x10"},"of":{"koid":7},"raw":{"blob":"00ff"},"far":{"double":"inf"}}
//! ```
//!
//! Names may repeat, as the names of arguments may, and keep their order. Numbers, texts, booleans and null are JSON
//! values; a value of another type is an object whose only name is the type. A text in any other form was not written
//! by this program and remains a text.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;

use super::layout::argument;
use crate::event::{Field, FieldRole, Value};

/// The name of the argument that contains the others.
pub(crate) const MORE: &str = "more";
/// The number of arguments of a full record.
const FULL: usize = argument::MOST;

/// If the record is full and its last argument is called `more`, replaces this argument in `fields[first..]` by the
/// arguments that it contains. `F` is an owned or borrowed field.
pub(crate) fn unpack_last<F: From<Field>>(
    fields: &mut Vec<F>,
    first: usize,
    more_of: impl Fn(&F) -> Option<&str>,
) {
    let own = fields.get(first..).unwrap_or_default();
    if own.len() != FULL {
        return;
    }
    let found = own.last().and_then(more_of).and_then(unpack);
    if let Some(found) = found {
        fields.pop();
        fields.extend(found.into_iter().map(F::from));
    }
}

/// Returns the arguments in `text`, in order; `None` if this program did not write the text.
#[must_use]
pub(crate) fn unpack(text: &str) -> Option<Vec<Field>> {
    if !text.starts_with('{') {
        return None;
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let members = json.deserialize_map(Members).ok()?;
    json.end().ok()?;
    let fields = members.into_iter();
    fields.map(|(name, value)| field_of(name, value)).collect()
}

/// Parses a JSON object as a list, because names may repeat.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, Json)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

fn field_of(name: String, value: Json) -> Option<Field> {
    let (type_name, value) = match value {
        Json::Null => ("null", Value::Null),
        Json::Bool(value) => ("bool", Value::Bool(value)),
        Json::String(text) => ("string", Value::Text(text)),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => ("int64", Value::Int(value)),
            (None, Some(value)) => ("uint64", Value::UInt(value)),
            (None, None) => ("double", Value::Double(number.as_f64()?)),
        },
        Json::Object(typed) if typed.len() == 1 => typed
            .iter()
            .next()
            .and_then(|(type_name, value)| typed_value(type_name, value))?,
        Json::Object(_) | Json::Array(_) => return None,
    };
    Some(Field {
        name,
        type_name: type_name.to_owned(),
        role: match value {
            Value::Bytes(_) => FieldRole::BlobArgument,
            _ => FieldRole::Argument,
        },
        value,
        shown: String::new(),
    })
}

fn typed_value(type_name: &str, value: &Json) -> Option<(&'static str, Value)> {
    Some(match type_name {
        "pointer" => {
            let digits = value.as_str()?.strip_prefix("0x")?;
            let pointer = u64::from_str_radix(digits, 16).ok()?;
            ("pointer", Value::Pointer(pointer))
        }
        "koid" => ("koid", Value::Koid(value.as_u64()?)),
        "double" => ("double", Value::Double(value.as_str()?.parse().ok()?)),
        "blob" => ("blob", Value::Bytes(bytes_of_hex(value.as_str()?)?)),
        _ => return None,
    })
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16)
            .ok()
            .filter(|_| pair.len() == 2)
    };
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_this_program_writes_is_unpacked() {
        let text = r#"{"a":-1,"a":18446744073709551615,"p":{"pointer":"0x1f"},"b":{"blob":"00ff"},"d":{"double":"inf"}}"#;
        let found = unpack(text).unwrap();
        let values: Vec<_> = found
            .iter()
            .map(|field| (field.name.as_str(), field.value.clone()))
            .collect();
        assert_eq!(
            values,
            [
                ("a", Value::Int(-1)),
                ("a", Value::UInt(u64::MAX)),
                ("p", Value::Pointer(31)),
                ("b", Value::Bytes(vec![0, 255])),
                ("d", Value::Double(f64::INFINITY)),
            ]
        );
        for other in [
            "{",
            "{}x",
            "[1]",
            r#"{"a":[1]}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":{"blob":"0"}}"#,
        ] {
            assert!(unpack(other).is_none(), "{other}");
        }
    }
}
