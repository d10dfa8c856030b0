//! The last event before a line: its time, CPU and thread are those of text without columns, and lines of its time are
//! placed after it.

use serde::{Deserialize, Serialize};

use crate::event::ThreadKey;
use crate::formats::ftrace_line::prefix::Prefix;

/// The last event before a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Last {
    /// Time of the line in ns, after spreading.
    pub time: i64,
    /// CPU of the line.
    pub cpu: u32,
    /// Thread of the line, if it is known.
    pub thread: Option<ThreadKey>,
    /// Time as printed in the line; `None` before the first event.
    pub written: Option<i64>,
    /// The number of consecutive lines before it with the same `written`.
    pub steps: i64,
}

/// Maximum distance between lines of one microsecond after spreading, in ns.
const MOST_STEPS: i64 = 999;

impl Last {
    /// Returns the time in the line in ns; before the first event, the time of that event.
    pub(crate) fn printed(&self) -> i64 {
        self.written.unwrap_or(self.time)
    }

    /// Returns the event of the next line with columns.
    pub(super) fn then(mut self, line: &Prefix<'_>) -> Last {
        let _ = self.spread(line);
        self.cpu = line.cpu;
        self.thread = Some(ThreadKey(line.pid));
        self
    }

    /// Returns whether further lines of the same time are not placed any later.
    pub(super) fn is_last_step(&self) -> bool {
        self.steps == MOST_STEPS
    }

    /// Returns the time of the next line.
    ///
    /// Lines are in the order of events on all CPUs. Lines with the same microsecond are placed 1 ns apart, so that no
    /// switch comes before the wakeup that caused it. [`TraceInfo::resolution_ns`](crate::event::TraceInfo) states the
    /// printed resolution.
    #[inline]
    pub(crate) fn spread(&mut self, line: &Prefix<'_>) -> i64 {
        let written = line.time;
        let is_coarse = line.precision.is_some_and(|digits| digits <= 6);
        if self.written == Some(written) && is_coarse {
            self.steps = (self.steps + 1).min(MOST_STEPS);
        } else {
            self.written = Some(written);
            self.steps = 0;
        }
        self.time = written.saturating_add(self.steps);
        self.time
    }
}
