//! Fields as exporters read them: [`Field`], but borrowed from the file where possible.

use std::borrow::Cow;

use super::detail::{Field, Value};
use super::field_role::FieldRole;

/// A field whose name, type and value are borrowed where possible.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldRef<'a> {
    /// The field's name.
    pub name: Cow<'a, str>,
    /// The field's declared type; empty where the format has none.
    pub type_name: Cow<'a, str>,
    /// The field's value.
    pub value: ValueRef<'a>,
    /// The value as people read it, as in [`Field`]; also empty if only values were requested.
    pub shown: String,
    /// The role of the field for exporters.
    pub role: FieldRole,
    /// The exact bytes of texts that are not UTF-8, for exporters that can write them; `None` for nearly all fields.
    pub exact: Option<Box<ExactTexts<'a>>>,
}

/// The exact bytes of a field's name and text, if the field contains a replacement because they are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactTexts<'a> {
    /// The bytes of the field's name.
    pub name: Option<&'a [u8]>,
    /// The bytes of the field's text.
    pub text: Option<&'a [u8]>,
}

/// The value of a [`FieldRef`]; the variants of [`Value`].
#[derive(Clone, Debug, PartialEq)]
pub enum ValueRef<'a> {
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
    Text(Cow<'a, str>),
    /// An address.
    Pointer(u64),
    /// A kernel object's number.
    Koid(u64),
    /// Raw bytes.
    Bytes(Cow<'a, [u8]>),
    /// Elements of an array.
    List(Vec<Value>),
}

impl From<Field> for FieldRef<'_> {
    fn from(field: Field) -> Self {
        FieldRef {
            name: Cow::Owned(field.name),
            type_name: Cow::Owned(field.type_name),
            value: field.value.into(),
            shown: field.shown,
            role: field.role,
            exact: None,
        }
    }
}

impl FieldRef<'_> {
    /// Returns the bytes of the name in the file.
    #[must_use]
    pub(crate) fn name_bytes(&self) -> &[u8] {
        let exact = self.exact.as_ref().and_then(|exact| exact.name);
        exact.unwrap_or(self.name.as_bytes())
    }
}

impl FieldRef<'_> {
    /// Returns a field without a declared type.
    #[must_use]
    pub(crate) fn of_value(name: &str, value: Value) -> Self {
        FieldRef {
            name: Cow::Owned(name.to_owned()),
            type_name: Cow::Borrowed(""),
            value: value.into(),
            shown: String::new(),
            role: FieldRole::Argument,
            exact: None,
        }
    }

    /// Converts to an owned value.
    #[must_use]
    pub(crate) fn into_field(self) -> Field {
        Field {
            name: self.name.into_owned(),
            type_name: self.type_name.into_owned(),
            value: self.value.into_value(),
            shown: self.shown,
            role: self.role,
        }
    }
}

impl From<Value> for ValueRef<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => ValueRef::Null,
            Value::Bool(value) => ValueRef::Bool(value),
            Value::Int(value) => ValueRef::Int(value),
            Value::UInt(value) => ValueRef::UInt(value),
            Value::Double(value) => ValueRef::Double(value),
            Value::Text(text) => ValueRef::Text(Cow::Owned(text)),
            Value::Pointer(value) => ValueRef::Pointer(value),
            Value::Koid(value) => ValueRef::Koid(value),
            Value::Bytes(bytes) => ValueRef::Bytes(Cow::Owned(bytes)),
            Value::List(items) => ValueRef::List(items),
        }
    }
}

impl ValueRef<'_> {
    /// Converts to an owned value.
    #[must_use]
    pub(crate) fn into_value(self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Bool(value) => Value::Bool(value),
            ValueRef::Int(value) => Value::Int(value),
            ValueRef::UInt(value) => Value::UInt(value),
            ValueRef::Double(value) => Value::Double(value),
            ValueRef::Text(text) => Value::Text(text.into_owned()),
            ValueRef::Pointer(value) => Value::Pointer(value),
            ValueRef::Koid(value) => Value::Koid(value),
            ValueRef::Bytes(bytes) => Value::Bytes(bytes.into_owned()),
            ValueRef::List(items) => Value::List(items),
        }
    }
}
