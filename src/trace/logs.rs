//! Log messages.

use super::entities::ThreadId;
use super::events::EventId;
use crate::base::{StringId, Timestamp};

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// When.
    pub time: Timestamp,
    /// Who.
    pub thread: ThreadId,
    /// Severity as the file names it; empty if it has none.
    pub severity: StringId,
    /// The text.
    pub message: StringId,
    /// The event.
    pub event: EventId,
}

/// All messages, sorted by time.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    /// The rows.
    pub rows: Vec<Log>,
}
