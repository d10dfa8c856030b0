//! Values of fields and arguments as the fields of messages.

use std::borrow::Cow;

use super::event_types::Kind;
use super::layout::annotation;
use super::plan::ValueKind;
use super::proto::{FieldNumber, Message};
use crate::base::strings::exact_text;
use crate::event::{FieldView, NumberValue, Value, ValueRef};
use crate::export::shared::arguments::{ArgValue, LongText};

/// Returns the text of a value; numbers are decimal.
pub(super) fn text_of<'f>(field: FieldView<'f>) -> Cow<'f, str> {
    match field.value {
        ValueRef::Null => Cow::Borrowed(""),
        ValueRef::Text(text) => match field.exact.text {
            Some(exact) => Cow::Owned(exact_text(exact).into_owned()),
            None => Cow::Borrowed(text),
        },
        other => Cow::Owned(other.clone().into_value().to_string()),
    }
}

/// Returns the number of a value: also of a text that is a number, in decimal or as `0x1f`, and of a device as
/// `major,minor`.
pub(super) fn number_of(value: &ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Bool(value) => Some(i64::from(*value)),
        ValueRef::Int(value) => Some(*value),
        ValueRef::UInt(value) | ValueRef::Pointer(value) | ValueRef::Koid(value) => {
            Some(value.cast_signed())
        }
        ValueRef::Text(text) => number_in(text.trim()),
        ValueRef::Null | ValueRef::Double(_) | ValueRef::Bytes(_) | ValueRef::List(_) => None,
    }
}

/// The number of bits of a device's minor number (include/linux/kdev_t.h).
const MINOR_BITS: u32 = 20;

fn number_in(text: &str) -> Option<i64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(u64::cast_signed);
    }
    if let Some((major, minor)) = text.split_once(',') {
        let (major, minor) = (major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?);
        return Some(i64::from(major) << MINOR_BITS | i64::from(minor));
    }
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => text.parse::<u64>().ok().map(u64::cast_signed),
    }
}

/// The bits of thread states before Linux 4.9, which trace_processor assumes for a file that does not state its kernel
/// version (`src/trace_processor/types/task_state.cc`), by letter; those of newer kernels differ from `P` on.
const OLD_STATES: [(char, i64); 13] = [
    ('R', 0),
    ('S', 1),
    ('D', 2),
    ('T', 4),
    ('t', 8),
    ('X', 16),
    ('Z', 32),
    ('x', 64),
    ('K', 128),
    ('W', 256),
    ('P', 512),
    ('I', 1026),
    ('+', 2048),
];
const NEW_STATES: [(char, i64); 9] = [
    ('R', 0),
    ('S', 1),
    ('D', 2),
    ('T', 4),
    ('t', 8),
    ('X', 16),
    ('Z', 32),
    ('P', 64),
    ('I', 128),
];
/// Since Linux 4.14, a thread that was pushed off its CPU has this bit.
const NEW_PREEMPTED: i64 = 256;

/// How a kernel numbers thread states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateBits {
    /// The kernel's version is not in the file: trace_processor assumes the numbers before Linux 4.9, whatever the numbers
    /// of the kernel are.
    Assumed,
    /// As before Linux 4.9.
    Old,
    /// As since Linux 4.14.
    New,
}

impl StateBits {
    /// Returns the bits for letters as the kernel prints them: `S`, `R+`, `D|K`.
    pub(crate) fn of_letters(self, letters: &str) -> Option<i64> {
        let table = match self {
            StateBits::Assumed | StateBits::Old => &OLD_STATES[..],
            StateBits::New => &NEW_STATES[..],
        };
        let bit = |letter: char| match (self, letter) {
            (_, '|') => Some(0),
            (StateBits::New, '+') => Some(NEW_PREEMPTED),
            _ => table.iter().find(|row| row.0 == letter).map(|row| row.1),
        };
        letters
            .chars()
            .try_fold(0, |bits, letter| Some(bits | bit(letter)?))
    }
}

/// Writes a field of a message of Perfetto's own; returns whether it has a value.
#[inline]
pub(super) fn write_typed(
    message: &mut Message,
    number: FieldNumber,
    kind: Kind,
    field: FieldView<'_>,
    states: StateBits,
) -> bool {
    match (kind, field.value) {
        (_, ValueRef::Null) => return false,
        (Kind::Text, ValueRef::Text(text)) if field.exact.text.is_none() => {
            message.text(number, text);
        }
        (Kind::Text, _) => message.text(number, &text_of(field)),
        (Kind::TaskState, ValueRef::Text(text)) if number_of(field.value).is_none() => {
            match states.of_letters(text) {
                Some(bits) => message.int(number, bits),
                None => return false,
            }
        }
        (Kind::UIntList, ValueRef::List(items)) => {
            for item in items {
                let value = match item {
                    Value::UInt(value) | Value::Pointer(value) => *value,
                    Value::Int(value) => value.cast_unsigned(),
                    _ => 0,
                };
                message.uint(number, value);
            }
        }
        (_, value) => match number_of(value) {
            Some(value) => write_number(message, number, kind, NumberValue::Int(value)),
            None => return false,
        },
    }
    true
}

/// Writes a number as a field of a message of Perfetto's own that is no text: as `write_typed` does.
#[inline]
pub(super) fn write_number(
    message: &mut Message,
    number: FieldNumber,
    kind: Kind,
    value: NumberValue,
) {
    let bits = match value {
        NumberValue::Int(value) => value.cast_unsigned(),
        NumberValue::UInt(value) | NumberValue::Pointer(value) => value,
    };
    match kind {
        Kind::UInt32 => message.uint(number, u64::from(bits as u32)),
        _ => message.uint(number, bits),
    }
}

/// Writes a list as a text, as [`Value`] prints it.
fn write_list(message: &mut Message, number: FieldNumber, items: &[Value]) {
    let open = message.open(number);
    message.append(b"{");
    let mut digits = itoa::Buffer::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            message.append(b", ");
        }
        match item {
            Value::UInt(value) => message.append(digits.format(*value).as_bytes()),
            Value::Int(value) => message.append(digits.format(*value).as_bytes()),
            other => message.append(other.to_string().as_bytes()),
        }
    }
    message.append(b"}");
    message.close(open);
}

/// Writes a field of a described message; returns whether its value has the described type, or is missing.
#[inline]
pub(super) fn write_described(
    message: &mut Message,
    number: FieldNumber,
    kind: ValueKind,
    field: FieldView<'_>,
) -> bool {
    match (kind, field.value) {
        (_, ValueRef::Null) => {}
        (ValueKind::Int, ValueRef::Int(value)) => message.int(number, *value),
        (
            ValueKind::UInt,
            ValueRef::UInt(value) | ValueRef::Pointer(value) | ValueRef::Koid(value),
        ) => message.uint(number, *value),
        (ValueKind::UInt, ValueRef::Bool(value)) => message.uint(number, u64::from(*value)),
        (ValueKind::Double, ValueRef::Double(value)) => message.double(number, *value),
        (ValueKind::Text, ValueRef::Text(text)) if field.exact.text.is_none() => {
            message.text(number, text);
        }
        (ValueKind::Text, ValueRef::List(items)) => write_list(message, number, items),
        (ValueKind::Text, ValueRef::Text(_) | ValueRef::Bytes(_)) => {
            message.text(number, &text_of(field));
        }
        _ => return false,
    }
    true
}

/// Writes the value of a debug annotation, except texts that have an id.
pub(super) fn write_annotation(message: &mut Message, value: &ArgValue<'_>) {
    match value {
        ArgValue::Null => message.text(annotation::TEXT, "null"),
        ArgValue::Bool(value) => message.uint(annotation::BOOL, u64::from(*value)),
        ArgValue::Int32(value) => message.int(annotation::INT, i64::from(*value)),
        ArgValue::Int64(value) => message.int(annotation::INT, *value),
        ArgValue::UInt32(value) => message.uint(annotation::UINT, u64::from(*value)),
        ArgValue::UInt64(value) | ArgValue::Koid(value) => message.uint(annotation::UINT, *value),
        ArgValue::Double(value) => message.double(annotation::DOUBLE, *value),
        ArgValue::Pointer(value) => message.uint(annotation::POINTER, *value),
        ArgValue::Blob(bytes) => {
            let text = Value::Bytes(bytes.to_vec()).to_string();
            message.text(annotation::TEXT, &text);
        }
        ArgValue::Text(text) | ArgValue::Other(LongText(text)) => {
            message.text(annotation::TEXT, &exact_text(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_texts() {
        let number = |text: &str| number_of(&ValueRef::Text(text.into()));
        assert_eq!(number("12"), Some(12));
        assert_eq!(number(" -3"), Some(-3));
        assert_eq!(number("001"), Some(1));
        assert_eq!(number("0xff"), Some(255));
        assert_eq!(number("8,1"), Some(8 << 20 | 1));
        assert_eq!(number("18446744073709551615"), Some(-1));
        assert_eq!(number("eth0"), None);
        assert_eq!(number(""), None);
    }

    #[test]
    fn lists_are_written_as_they_are_printed() {
        let items = vec![
            Value::UInt(u64::MAX),
            Value::Int(-3),
            Value::Pointer(16),
            Value::Text("a".into()),
        ];
        let mut message = Message::default();
        write_list(&mut message, 1, &items);
        let mut expected = Message::default();
        expected.text(1, &Value::List(items).to_string());
        assert_eq!(message.bytes(), expected.bytes());
    }

    #[test]
    fn letters_are_bits() {
        for states in [StateBits::Assumed, StateBits::Old, StateBits::New] {
            assert_eq!(states.of_letters("R"), Some(0));
            assert_eq!(states.of_letters("D"), Some(2));
            assert_eq!(states.of_letters("?"), None);
        }
        assert_eq!(StateBits::New.of_letters("R+"), Some(256));
        assert_eq!(StateBits::Old.of_letters("R+"), Some(2048));
        assert_eq!(StateBits::Old.of_letters("D|K"), Some(130));
    }
}
