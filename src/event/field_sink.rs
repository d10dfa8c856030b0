//! Passes on the fields of an event one by one, without a list: for exporters, which read the fields of all events.

use super::field_ref::{ExactTexts, FieldRef, ValueRef};
use super::field_role::FieldRole;

/// A field of an event, valid during a call.
#[derive(Clone, Copy, Debug)]
pub struct FieldView<'f> {
    /// The field's name.
    pub name: &'f str,
    /// The field's value.
    pub value: &'f ValueRef<'f>,
    /// The role of the field for exporters.
    pub role: FieldRole,
    /// The exact bytes of the name and the text, if they are not UTF-8.
    pub exact: ExactTexts<'f>,
}

impl<'f> FieldView<'f> {
    /// Returns a view of a field.
    #[must_use]
    pub(crate) fn of(field: &'f FieldRef<'_>) -> FieldView<'f> {
        FieldView {
            name: &field.name,
            value: &field.value,
            role: field.role,
            exact: field.exact.as_deref().copied().unwrap_or_default(),
        }
    }

    /// Returns a view of an argument that is a number.
    #[must_use]
    pub(crate) fn of_number(name: &'f str, value: &'f ValueRef<'_>) -> FieldView<'f> {
        FieldView {
            name,
            value,
            role: FieldRole::Argument,
            exact: ExactTexts::default(),
        }
    }

    /// Returns the bytes of the name in the file.
    #[must_use]
    pub(crate) fn name_bytes(&self) -> &'f [u8] {
        self.exact.name.unwrap_or(self.name.as_bytes())
    }
}

/// A whole number as a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberValue {
    /// [`ValueRef::Int`].
    Int(i64),
    /// [`ValueRef::UInt`].
    UInt(u64),
    /// [`ValueRef::Pointer`].
    Pointer(u64),
}

impl From<NumberValue> for ValueRef<'static> {
    fn from(number: NumberValue) -> ValueRef<'static> {
        match number {
            NumberValue::Int(value) => ValueRef::Int(value),
            NumberValue::UInt(value) => ValueRef::UInt(value),
            NumberValue::Pointer(value) => ValueRef::Pointer(value),
        }
    }
}

/// Receives the fields of events.
pub trait FieldSink {
    /// Receives the value of `common_flags`, which the kernel adds to every event. Its other common fields are not
    /// passed on.
    fn common_flags(&mut self, flags: &ValueRef<'_>);

    /// Receives an argument: a field of the event itself. Arguments come in the file's order.
    fn field(&mut self, field: FieldView<'_>);

    /// Receives an argument that is a number, which most are.
    fn number(&mut self, name: &str, number: NumberValue) {
        self.field(FieldView::of_number(name, &number.into()));
    }
}
