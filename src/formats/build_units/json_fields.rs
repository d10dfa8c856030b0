//! The members of a JSON object as fields of an event.

use serde_json::Value as Json;

use crate::event::{Field, FieldRole, Value};

/// Returns the members of `object` as fields, in its order. Lists of plain values are lists; inner objects are JSON
/// text.
pub(crate) fn json_fields(object: &Json) -> Vec<Field> {
    let members = object.as_object().into_iter().flatten();
    let field = |(name, value): (&String, &Json)| Field {
        name: name.clone(),
        type_name: String::new(),
        value: value_of(value),
        shown: String::new(),
        role: FieldRole::Argument,
    };
    members.map(field).collect()
}

fn value_of(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Value::UInt(number),
            (_, Some(number)) => Value::Int(number),
            _ => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(value_of).collect()),
        Json::Object(_) => Value::Text(value.to_string()),
    }
}
