//! Errors of a filter.

/// An error in a filter, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// Byte offset of the error.
    pub at: usize,
    /// Length of the malformed text in bytes; 0 at the end of the filter.
    pub length: usize,
    /// A sentence for the user.
    pub message: String,
}

/// A field that the filter compares although none of the events that it names has such a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingField {
    /// Byte offset of the field's name.
    pub at: usize,
    /// The field's name.
    pub name: String,
}
