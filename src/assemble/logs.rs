//! The table of log messages.

use super::recorded::Recorded;
use super::rows::PerPart;
use crate::event::LogRow;
use crate::trace::{Log, Logs};

/// Returns the log messages of all parts, sorted by time.
pub(super) fn logs(of_parts: &PerPart<LogRow>, recorded: &Recorded) -> Logs {
    let mut rows = Vec::new();
    for (part, own) in recorded.parts.iter().zip(of_parts) {
        for row in own {
            rows.push(Log {
                time: recorded.time(part, row.event),
                thread: recorded.thread(part, row.event),
                severity: part.string(row.severity),
                message: part.string(row.message),
                event: part.event(row.event),
            });
        }
    }
    rows.sort_by_key(|row| row.time);
    Logs { rows }
}
