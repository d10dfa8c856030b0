//! Tests of single values.

use std::cmp::Ordering;

use super::parse::{Literal, Number, Op};
use super::pattern::Pattern;
use crate::base::Comparison;
use crate::event::Value;

/// A comparison with a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberTest {
    pub op: Op,
    pub number: Number,
}

impl NumberTest {
    pub(super) fn of(op: Op, value: &Literal) -> Option<NumberTest> {
        Some(NumberTest {
            op,
            number: value.number?,
        })
    }

    pub(crate) fn holds(self, value: i128) -> bool {
        match self.number {
            Number::Int(wanted) if self.op == Op::Bits => value & wanted != 0,
            Number::Int(wanted) => is_so(self.op, value.cmp(&wanted)),
            Number::Float(wanted) => (value as f64)
                .partial_cmp(&wanted)
                .is_some_and(|order| is_so(self.op, order)),
        }
    }

    /// Returns whether the comparison holds for every value that is at least `least`.
    pub(crate) fn holds_from(self, least: i128) -> bool {
        match self.op {
            Op::Values(Comparison::More | Comparison::MoreOrEqual) => self.holds(least),
            Op::Values(Comparison::Differs) => NumberTest {
                op: Op::Values(Comparison::More),
                ..self
            }
            .holds(least),
            _ => false,
        }
    }

    fn holds_float(self, value: f64) -> bool {
        let wanted = match self.number {
            Number::Int(wanted) => wanted as f64,
            Number::Float(wanted) => wanted,
        };
        value
            .partial_cmp(&wanted)
            .is_some_and(|order| is_so(self.op, order))
    }
}

fn is_so(op: Op, order: Ordering) -> bool {
    matches!(op, Op::Values(comparison) if comparison.holds(order))
}

/// A comparison with a text.
#[derive(Clone, Debug)]
pub(super) enum TextTest {
    Is(String),
    IsNot(String),
    Has(Pattern),
    HasNot(Pattern),
}

impl TextTest {
    /// Returns the test; `None` if texts cannot be compared in this way.
    pub(super) fn of(op: Op, value: &Literal) -> Option<TextTest> {
        match op {
            Op::Values(Comparison::Equal) => Some(TextTest::Is(value.text.clone())),
            Op::Values(Comparison::Differs) => Some(TextTest::IsNot(value.text.clone())),
            Op::Like => value.pattern.clone().map(TextTest::Has),
            Op::Unlike => value.pattern.clone().map(TextTest::HasNot),
            _ => None,
        }
    }

    pub(crate) fn holds(&self, bytes: &[u8]) -> bool {
        match self {
            TextTest::Is(text) => bytes == text.as_bytes(),
            TextTest::IsNot(text) => bytes != text.as_bytes(),
            TextTest::Has(pattern) => pattern.is_in(bytes),
            TextTest::HasNot(pattern) => !pattern.is_in(bytes),
        }
    }
}

/// A comparison with an argument of any type.
#[derive(Clone, Debug)]
pub(super) struct ValueTest {
    number: Option<NumberTest>,
    text: Option<TextTest>,
}

impl ValueTest {
    pub(super) fn of(op: Op, value: &Literal) -> ValueTest {
        ValueTest {
            number: NumberTest::of(op, value).filter(|_| !matches!(op, Op::Like | Op::Unlike)),
            text: TextTest::of(op, value),
        }
    }

    /// Returns whether the comparison holds; `None` if that depends on how the value is shown: see
    /// [`ValueTest::holds_shown`].
    pub(crate) fn holds(&self, value: &Value) -> Option<bool> {
        let number = match value {
            Value::Null => return Some(false),
            Value::Bool(value) => Some(i128::from(*value)),
            Value::Int(value) => Some(i128::from(*value)),
            Value::UInt(value) | Value::Pointer(value) | Value::Koid(value) => {
                Some(i128::from(*value))
            }
            Value::Double(value) => {
                if let Some(test) = self.number {
                    return Some(test.holds_float(*value));
                }
                None
            }
            Value::Text(text) => {
                return Some(match (&self.text, self.number) {
                    (Some(test), _) => test.holds(text.as_bytes()),
                    (None, Some(test)) => text.trim().parse().is_ok_and(|value| test.holds(value)),
                    (None, None) => false,
                });
            }
            Value::Bytes(_) | Value::List(_) => None,
        };
        match (number, self.number, &self.text) {
            (Some(value), Some(test), _) => Some(test.holds(value)),
            (_, _, None) => Some(false),
            (_, _, Some(TextTest::Is(_) | TextTest::Has(_)))
                if self.holds_shown(&value.to_string()) =>
            {
                Some(true)
            }
            _ => None,
        }
    }

    /// Returns whether the comparison holds for the value as people read it.
    pub(crate) fn holds_shown(&self, shown: &str) -> bool {
        self.text
            .as_ref()
            .is_some_and(|test| test.holds(shown.as_bytes()))
    }
}
