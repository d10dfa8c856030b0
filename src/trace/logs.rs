//! Log messages.

use super::entities::ThreadId;
use super::segments::EventId;
use crate::base::{StringId, Timestamp};

/// One log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// Time on the trace's clock.
    pub time: Timestamp,
    /// The thread that wrote it, if it is known.
    pub thread: Option<ThreadId>,
    /// Severity as the file names it; empty if it has none.
    pub severity: StringId,
    /// The text.
    pub message: StringId,
    /// The event.
    pub event: EventId,
}

/// All log messages, sorted by time.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    /// The messages.
    pub rows: Vec<Log>,
}
