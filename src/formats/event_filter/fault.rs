//! What can be wrong with a filter.

/// What is wrong with a filter, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// Byte at which the trouble begins.
    pub at: usize,
    /// Length of the malformed text in bytes; 0 at the end.
    pub length: usize,
    /// A sentence for the user.
    pub message: String,
}

/// A field that the filter compares and that none of the events it names has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingField {
    /// Byte at which the field's name begins.
    pub at: usize,
    /// The field's name.
    pub name: String,
}
