//! One event in full, decoded on demand: for the details pane, visible list rows, search, report, export.

use crate::base::Timestamp;

/// Everything that one event says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventDetail {
    /// Name of its kind, e.g. `sched_switch`.
    pub name: String,
    /// System or category, e.g. `sched`.
    pub category: String,
    /// When.
    pub time: Timestamp,
    /// CPU, where known.
    pub cpu: Option<u32>,
    /// Number of the thread that people know (tid).
    pub tid: u64,
    /// The thread's name at that time, where known.
    pub thread_name: String,
    /// All fields in the file's order.
    pub fields: Vec<Field>,
    /// The text that a reference tool prints for it (trace.dat: the info column of `trace-cmd report`).
    pub text: String,
    /// Call stack, innermost first, where the event is or has one.
    pub stack: Vec<String>,
}

/// A named value of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name as the file (or the user who defined the probe) gave it.
    pub name: String,
    /// Declared type, e.g. `unsigned long`; empty where the format has none.
    pub type_name: String,
    /// The value.
    pub value: Value,
    /// The value as people read it: flags as words, addresses as symbols. Empty if [`Value`] prints as well.
    pub shown: String,
}

/// A field's value with its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// There is none.
    Null,
    /// Yes or no.
    Bool(bool),
    /// Signed.
    Int(i64),
    /// Unsigned.
    UInt(u64),
    /// Floating point.
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

impl EventDetail {
    /// All that it says in one line: its text, or its fields where it has none; then its stack.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = if self.text.is_empty() {
            let fields = self.fields.iter();
            let fields = fields.map(|field| format!("{}={}", field.name, field.text()));
            fields.collect::<Vec<_>>().join(" ")
        } else {
            self.text.replace('\n', " ")
        };
        for frame in &self.stack {
            line.push(' ');
            line.push_str(frame);
        }
        line
    }

    /// What an exporter writes of it: the fields; as `text` what it says where no field of its own does; as `stack` its
    /// frames, a line each, innermost first.
    #[must_use]
    pub fn into_told_fields(self) -> Vec<Field> {
        let mut fields = self.fields;
        let is_own = |field: &Field| !field.name.starts_with("common_") && field.name != "instance";
        let says_nothing = !fields.iter().any(is_own);
        if says_nothing && !self.text.is_empty() {
            fields.push(Field::told(TEXT, self.text));
        }
        if !self.stack.is_empty() && !fields.iter().any(|field| field.name == STACK) {
            fields.push(Field::told(STACK, self.stack.join("\n")));
        }
        fields
    }
}

/// The name under which exporters write an event's text.
pub const TEXT: &str = "text";
/// The name under which exporters write an event's call stack.
pub const STACK: &str = "stack";

impl Field {
    /// A text that an exporter writes beside an event's own fields.
    #[must_use]
    pub fn told(name: &str, text: String) -> Field {
        Field {
            name: name.to_owned(),
            type_name: "string".to_owned(),
            value: Value::Text(text),
            shown: String::new(),
        }
    }

    /// What to show for it.
    #[must_use]
    pub fn text(&self) -> String {
        if self.shown.is_empty() {
            self.value.to_string()
        } else {
            self.shown.clone()
        }
    }
}
