//! The result of a parser that reads a value at the start of a text.

/// A value at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leading<T> {
    /// The value.
    pub value: T,
    /// Its length in the text, in bytes.
    pub length: usize,
}

/// Numbers of this many digits fit into 64 bits.
const MOST_SAFE_DIGITS: usize = 19;

/// Parses the whole number at the start of a text; `None` if there is none, or if it needs more than 64 bits. Each byte is
/// read once: a mapped file may change between two reads.
#[must_use]
#[inline]
pub(crate) fn digits(text: &[u8]) -> Option<Leading<u64>> {
    let (mut value, mut length) = (0_u64, 0);
    for byte in text {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            break;
        }
        value = match length < MOST_SAFE_DIGITS {
            true => value * 10 + digit,
            false => value.checked_mul(10)?.checked_add(digit)?,
        };
        length += 1;
    }
    (length > 0).then_some(Leading { value, length })
}

/// Returns the value of the decimal digit at index `at`, if there is one. The byte is read once: a mapped file may change
/// between two reads.
#[must_use]
#[inline]
pub(crate) fn digit_at(text: &[u8], at: usize) -> Option<u8> {
    let value = text.get(at)?.wrapping_sub(b'0');
    (value < 10).then_some(value)
}
