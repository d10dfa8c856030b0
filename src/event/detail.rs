//! One event in full, decoded on demand: for the details pane, visible list rows, search, report, export.

use super::field_role::FieldRole;
use crate::base::Timestamp;
use serde::{Deserialize, Serialize};

/// All facts about one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventDetail {
    /// Name of its kind, e.g. `sched_switch`.
    pub name: String,
    /// System or category, e.g. `sched`.
    pub category: String,
    /// Time on the trace's clock.
    pub time: Timestamp,
    /// The CPU, if it is known.
    pub cpu: Option<u32>,
    /// The thread's number as people know it (tid).
    pub tid: u64,
    /// The thread's name at that time, if it is known.
    pub thread_name: String,
    /// All fields in the file's order.
    pub fields: Vec<Field>,
    /// The event as text, as a reference tool prints it (trace.dat: the info column of `trace-cmd report`).
    pub text: String,
    /// The call stack, innermost first, if the event has one.
    pub stack: Vec<String>,
}

/// A named value of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Name as the file (or the user who defined the probe) gave it.
    pub name: String,
    /// Declared type, e.g. `unsigned long`; empty if the format has none.
    pub type_name: String,
    /// The value.
    pub value: Value,
    /// The value as people read it: flags as words, addresses as symbols. Empty if the printed [`Value`] is as
    /// readable.
    pub shown: String,
    /// The role of the field for exporters.
    pub role: FieldRole,
}

/// A field's value with its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A floating-point number.
    Double(f64),
    /// Text; bad UTF-8 was replaced.
    Text(String),
    /// An address.
    Pointer(u64),
    /// A kernel object's number (FXT).
    Koid(u64),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// Elements of an array.
    List(Vec<Value>),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::UInt(value) | Value::Koid(value) => write!(f, "{value}"),
            Value::Double(value) => write!(f, "{value}"),
            Value::Text(text) => f.write_str(text),
            Value::Pointer(value) => write!(f, "{value:#x}"),
            Value::Bytes(bytes) => {
                for (i, byte) in bytes.iter().enumerate() {
                    write!(f, "{}{byte:02x}", if i == 0 { "" } else { " " })?;
                }
                Ok(())
            }
            Value::List(items) => {
                f.write_str("{")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The name under which exporters write an event's text.
pub(crate) const TEXT: &str = "text";
/// The name under which exporters write an event's call stack.
pub(crate) const STACK: &str = "stack";

impl Field {
    /// Returns a text field that an exporter adds to an event's own fields.
    #[must_use]
    pub(crate) fn added_text(name: &str, text: String) -> Field {
        Field {
            name: name.to_owned(),
            type_name: "string".to_owned(),
            value: Value::Text(text),
            shown: String::new(),
            role: FieldRole::Argument,
        }
    }

    /// Returns the value as text to show.
    #[must_use]
    pub fn text(&self) -> String {
        if self.shown.is_empty() {
            self.value.to_string()
        } else {
            self.shown.clone()
        }
    }
}
