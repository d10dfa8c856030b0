//! Fields and names as JSON values.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};

use crate::base::StringId;
use crate::base::strings::text_of;
use crate::event::{FieldRef, InstantScope, Value};
use crate::export::shared::arguments::{Arg, ArgValue, LongText, arguments, instant_scope};
use crate::trace::Trace;

/// Returns the category, or `other` if it is empty: the format requires a category.
pub(super) fn or<'a>(category: Cow<'a, str>, other: &'static str) -> Cow<'a, str> {
    match category.is_empty() {
        true => other.into(),
        false => category,
    }
}

/// Returns the letter of an instant's scope: its thread, its process or all.
pub(super) fn scope_letter(fields: &[FieldRef<'_>]) -> char {
    match instant_scope(fields) {
        Some(InstantScope::Process) => 'p',
        Some(InstantScope::Global) => 'g',
        Some(InstantScope::Thread) | None => 't',
    }
}

/// Returns the fields of an event as a JSON object.
pub(super) fn json_args(mut fields: Vec<FieldRef<'_>>) -> Map<String, Json> {
    json_object(arguments(&mut fields))
}

/// Returns arguments as a JSON object; the values of arguments with the same name become a list.
pub(super) fn json_object(list: Vec<Arg<'_>>) -> Map<String, Json> {
    let mut object = Map::new();
    let mut lists: FxHashMap<String, Vec<Json>> = FxHashMap::default();
    for arg in list {
        let value = match arg.value {
            ArgValue::Null => Json::Null,
            ArgValue::Int32(value) => json!(value),
            ArgValue::UInt32(value) => json!(value),
            ArgValue::Int64(value) if value.unsigned_abs() <= 1 << 53 => json!(value),
            ArgValue::Int64(value) => json!(value.to_string()),
            ArgValue::UInt64(value) | ArgValue::Koid(value) if value <= 1 << 53 => json!(value),
            ArgValue::UInt64(value) | ArgValue::Koid(value) => json!(value.to_string()),
            ArgValue::Double(value) if value.is_finite() => json!(value),
            ArgValue::Double(value) => json!(value.to_string()),
            ArgValue::Text(text) | ArgValue::Other(LongText(text)) => json!(text_of(&text)),
            ArgValue::Pointer(value) => json!(format!("{value:#x}")),
            ArgValue::Blob(bytes) => json!(Value::Bytes(bytes.into_owned()).to_string()),
            ArgValue::Bool(value) => json!(value),
        };
        let name = text_of(&arg.name).into_owned();
        if let Some(first) = object.get(&name) {
            let list = lists.entry(name).or_insert_with(|| vec![first.clone()]);
            list.push(value);
        } else {
            object.insert(name, value);
        }
    }
    object.extend(
        lists
            .into_iter()
            .map(|(name, list)| (name, Json::Array(list))),
    );
    object
}

/// Returns a name in a form from which its exact bytes can be restored.
pub(super) fn exact(trace: &Trace, id: StringId) -> Cow<'_, str> {
    crate::base::strings::exact_text(trace.strings.bytes(id))
}
