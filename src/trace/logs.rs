//! Log messages.

use super::entities::ThreadId;
use super::segments::EventId;
use crate::base::{StringId, Timestamp};
use serde::{Deserialize, Serialize};

/// One log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Logs {
    /// The messages.
    pub rows: Vec<Log>,
}
