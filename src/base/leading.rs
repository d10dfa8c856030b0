//! The result of a parser that reads a value at the start of a text.

/// A value at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leading<T> {
    /// The value.
    pub value: T,
    /// Its length in the text, in bytes.
    pub length: usize,
}
