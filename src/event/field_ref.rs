//! Fields as exporters read them: the same as [`Field`], borrowed from the file as far as it goes.

use std::borrow::Cow;

use super::detail::{Field, Value};

/// A field that owns nothing it need not.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldRef<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its declared type.
    pub type_name: Cow<'a, str>,
    /// Its value.
    pub value: ValueRef<'a>,
}

/// The value of a [`FieldRef`]: see [`Value`].
#[derive(Clone, Debug, PartialEq)]
pub enum ValueRef<'a> {
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
        }
    }
}

impl FieldRef<'_> {
    /// The same, as its own master.
    #[must_use]
    pub fn into_field(self) -> Field {
        Field {
            name: self.name.into_owned(),
            type_name: self.type_name.into_owned(),
            value: self.value.into_value(),
            shown: String::new(),
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
    /// The same, as its own master.
    #[must_use]
    pub fn into_value(self) -> Value {
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
