//! One value in a table. A cell contains a value without its format: the column's kind and unit decide that where a
//! table is shown (`gui/table`, `export/aligned`) or written (`export/rows`).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Deref;

use compact_str::CompactString;

use crate::base::strings::exact_text;
use crate::base::{StringId, Timestamp};
use crate::query::seen::Length;
use crate::trace::Trace;

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value, or an unknown one.
    None,
    /// A whole number: a count, a key, bytes, or nanoseconds.
    Int(i128),
    /// The least duration in ns of an item that never ended; exports contain no value for it.
    AtLeast(i128),
    /// A floating point number.
    Float(f64),
    /// Text.
    Text(CellText<'a>),
}

/// The text of a cell: a text of the trace or of the rows' source, or a text that was made for the cell.
#[derive(Clone, Debug)]
pub enum CellText<'a> {
    /// A text that outlives the cell.
    Of(&'a str),
    /// A text that was made for the cell; a short text is stored in the cell itself.
    Made(CompactString),
}

impl Deref for CellText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            CellText::Of(text) => text,
            CellText::Made(text) => text,
        }
    }
}

impl PartialEq for CellText<'_> {
    fn eq(&self, other: &CellText<'_>) -> bool {
        **self == **other
    }
}

impl CellText<'_> {
    /// Puts a text before this one.
    pub(crate) fn prepend(&mut self, text: &str) {
        let mut made = CompactString::from(text);
        made.push_str(self);
        *self = CellText::Made(made);
    }

    /// Returns the text.
    pub(crate) fn into_string(self) -> String {
        match self {
            CellText::Of(text) => text.to_owned(),
            CellText::Made(text) => text.into_string(),
        }
    }
}

impl<'a> Cell<'a> {
    /// Returns a part of a whole (from 0 to 1) in percent, to two decimals.
    #[must_use]
    pub(crate) fn percent(share: f64) -> Cell<'a> {
        Cell::Float((share * 10_000.0).round() / 100.0)
    }

    /// Returns a name or text of a trace; bytes that are not UTF-8 become `\xNN`, so that no byte is lost.
    #[must_use]
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Cell<'a> {
        exact_text(bytes).into()
    }

    /// Returns a string of a trace.
    #[must_use]
    pub fn of_string(trace: &'a Trace, id: StringId) -> Cell<'a> {
        Cell::of_bytes(trace.strings.bytes(id))
    }

    /// Returns a string of a trace; `None` for the empty string.
    pub(crate) fn of_text_or_none(trace: &'a Trace, id: StringId) -> Cell<'a> {
        if id == StringId::EMPTY {
            Cell::None
        } else {
            Cell::of_string(trace, id)
        }
    }

    /// Returns the same value with its own text.
    #[must_use]
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Cell::None => Cell::None,
            Cell::Int(value) => Cell::Int(value),
            Cell::AtLeast(value) => Cell::AtLeast(value),
            Cell::Float(value) => Cell::Float(value),
            Cell::Text(CellText::Of(text)) => Cell::Text(CellText::Made(text.into())),
            Cell::Text(CellText::Made(text)) => Cell::Text(CellText::Made(text)),
        }
    }

    /// Returns the same value, which borrows this cell's text.
    pub(crate) fn borrowed(&self) -> Cell<'_> {
        match self {
            Cell::Text(text) => Cell::Text(CellText::Of(text)),
            Cell::None => Cell::None,
            Cell::Int(value) => Cell::Int(*value),
            Cell::AtLeast(value) => Cell::AtLeast(*value),
            Cell::Float(value) => Cell::Float(*value),
        }
    }

    /// Compares two cells of a column: `None` comes first; an unfinished duration is compared by its certain length,
    /// and is longer than a known duration of the same length; numbers in texts compare by value (`CPU 2` before `CPU
    /// 10`).
    pub(crate) fn order(&self, other: &Cell<'_>) -> Ordering {
        match (self, other) {
            (Cell::None, Cell::None) => Ordering::Equal,
            (Cell::None, _) => Ordering::Less,
            (_, Cell::None) => Ordering::Greater,
            (Cell::Text(a), Cell::Text(b)) => natural_order(a, b),
            (Cell::Text(_), _) => Ordering::Greater,
            (_, Cell::Text(_)) => Ordering::Less,
            (Cell::AtLeast(a), Cell::AtLeast(b)) | (Cell::Int(a), Cell::Int(b)) => a.cmp(b),
            (Cell::AtLeast(a), Cell::Int(b)) => a.cmp(b).then(Ordering::Greater),
            (Cell::Int(a), Cell::AtLeast(b)) => a.cmp(b).then(Ordering::Less),
            (a, b) => a.as_float().total_cmp(&b.as_float()),
        }
    }

    fn as_float(&self) -> f64 {
        match self {
            Cell::Int(value) | Cell::AtLeast(value) => *value as f64,
            Cell::Float(value) => *value,
            Cell::None | Cell::Text(_) => 0.0,
        }
    }
}

/// Compares texts without regard to the case of ASCII letters; digits compare as numbers.
fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (in_a, in_b) = (digits(a), digits(b));
        if in_a > 0 && in_b > 0 {
            let (number_a, rest_a) = a.split_at(in_a);
            let (number_b, rest_b) = b.split_at(in_b);
            let (number_a, number_b) = (without_zeros(number_a), without_zeros(number_b));
            let order = (number_a.len(), number_a).cmp(&(number_b.len(), number_b));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (rest_a, rest_b);
            continue;
        }
        let (Some(first), Some(second)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len());
        };
        let order = first.to_ascii_lowercase().cmp(&second.to_ascii_lowercase());
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[1..], &b[1..]);
    }
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    &digits[zeros..]
}

impl From<i128> for Cell<'_> {
    fn from(value: i128) -> Self {
        Cell::Int(value)
    }
}

impl From<i64> for Cell<'_> {
    fn from(value: i64) -> Self {
        Cell::Int(i128::from(value))
    }
}

impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        Cell::Int(i128::from(value))
    }
}

impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Cell::Int(i128::from(value))
    }
}

impl From<i32> for Cell<'_> {
    fn from(value: i32) -> Self {
        Cell::Int(i128::from(value))
    }
}

impl From<f64> for Cell<'_> {
    fn from(value: f64) -> Self {
        Cell::Float(value)
    }
}

impl From<Timestamp> for Cell<'_> {
    fn from(time: Timestamp) -> Self {
        time.0.into()
    }
}

impl From<Length> for Cell<'_> {
    fn from(length: Length) -> Self {
        match length {
            Length::Known(ns) => ns.into(),
            Length::AtLeast(ns) => Cell::AtLeast(ns.into()),
        }
    }
}

impl From<CompactString> for Cell<'_> {
    fn from(text: CompactString) -> Self {
        Cell::Text(CellText::Made(text))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Cell::Text(CellText::Made(text.into()))
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Cell<'a> {
        Cell::Text(CellText::Of(text))
    }
}

impl<'a> From<Cow<'a, str>> for Cell<'a> {
    fn from(text: Cow<'a, str>) -> Cell<'a> {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Cell<'a> {
        value.map_or(Cell::None, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["CPU 10", "cpu 2", "CPU 010", "Cpu", "b", "CPU 2x"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["b", "Cpu", "cpu 2", "CPU 2x", "CPU 10", "CPU 010"]);
    }

    #[test]
    fn what_never_ended_counts_as_what_is_certain_of_it() {
        let mut cells = [
            Cell::AtLeast(3),
            Cell::Int(9),
            Cell::None,
            Cell::AtLeast(1),
            Cell::Int(3),
            Cell::AtLeast(10),
        ];
        cells.sort_by(Cell::order);
        let sorted = [
            Cell::None,
            Cell::AtLeast(1),
            Cell::Int(3),
            Cell::AtLeast(3),
            Cell::Int(9),
            Cell::AtLeast(10),
        ];
        assert_eq!(cells, sorted);
    }
}
