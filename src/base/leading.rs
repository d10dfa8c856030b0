//! The result of a parser that reads a value at the start of a text.

/// A value at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leading<T> {
    /// The value.
    pub value: T,
    /// Its length in the text, in bytes.
    pub length: usize,
}

/// Returns the value of the decimal digit at index `at`, if there is one. The byte is read once: a mapped file may change
/// between two reads.
#[must_use]
#[inline]
pub(crate) fn digit_at(text: &[u8], at: usize) -> Option<u8> {
    let value = text.get(at)?.wrapping_sub(b'0');
    (value < 10).then_some(value)
}
