//! Log messages.

use crate::base::StringId;

/// A log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// The event.
    pub event: u32,
    /// Its severity as the file names it; empty if it has none.
    pub severity: StringId,
    /// The text.
    pub message: StringId,
}
