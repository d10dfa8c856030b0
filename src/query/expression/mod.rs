//! The search language: parses a text into a test of events, slices and threads.
//!
//! ```text
//! plain text                                  anywhere in names and texts, whatever the case
//! /regex/   /regex/i                          the same with a regular expression
//! name ~ "sched.*" && dur > 1ms               comparisons: == != < <= > >= ~ !~ & joined by && || ! ( )
//! sched_switch: next_prio < 100               only this event (or these: a,b:), whose own fields come first
//! sched: prev_state == 0                      the events of a system; sched/sched_.*: is one with a regular expression
//! comm ~ "*sh*"                               a star and no other sign of a regular expression: any text, as a whole
//! ```
//!
//! A text is an expression if it has an operator outside of quotes; `"a < b"` in quotes is plain text again. Fields:
//! `name category slice_kind cpu tid pid thread process track ts dur depth state text`, and the arguments of events by
//! name (`arg.NAME` where a field of ours has the same name). A comparison with a field that an item does not have is false,
//! also `!=`. Of an unfinished slice, run or state only the least duration is known ("at least T"): `dur > X`, `dur >=
//! X` and `dur != X` match it where T proves them, `<`, `<=` and `==` never. Parsing needs no trace; [`Matcher`] binds
//! an expression to a trace.

mod comparison;
mod compiled;
mod matcher;
mod parse;
mod pattern;

#[cfg(test)]
mod tests;
mod token;
mod unknown;

use std::fmt;

use crate::event::KindId;
use crate::formats::Events;
use crate::trace::Trace;

pub(crate) use compiled::Verdict;
pub use matcher::Matcher;
pub use parse::{Expression, Node};
pub(crate) use parse::{FIELDS, Field};
pub(crate) use unknown::nearest;
pub(crate) use unknown::unknown_event;
pub use unknown::unknown_field;

/// An error in an expression, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Offset of the first wrong byte.
    pub at: usize,
    /// Number of wrong bytes; 0 at the end of the text.
    pub length: usize,
    /// A sentence for the user.
    pub message: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (column {})", self.message, self.at + 1)
    }
}

impl std::error::Error for ExpressionError {}

impl ExpressionError {
    fn new(at: usize, length: usize, message: impl Into<String>) -> ExpressionError {
        ExpressionError {
            at,
            length,
            message: message.into(),
        }
    }

    /// Returns the text, and below it a line of carets under the wrong bytes, for a terminal.
    #[must_use]
    pub(crate) fn pointed(&self, text: &str) -> String {
        let before = text.get(..self.at).unwrap_or(text).chars().count();
        let until = self.at.saturating_add(self.length);
        let under = text.get(self.at..until).unwrap_or("").chars().count();
        let carets = "^".repeat(under.max(1));
        format!("{text}\n{}{carets} {}", " ".repeat(before), self.message)
    }
}

/// Returns the expression that is true where `field` is exactly `text`.
///
/// Between quotes a backslash stands for itself unless a quote follows it. A text with one there, or at its end, is
/// written as a regular expression, in which backslashes come in pairs.
#[must_use]
pub(crate) fn equals(field: &str, text: &str) -> String {
    let trailing = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
    let is_plain = trailing.is_multiple_of(2) && !text.contains("\\\"");
    let quoted = |text: &str| text.replace('"', "\\\"");
    match is_plain {
        true => format!("{field} == \"{}\"", quoted(text)),
        false => format!("{field} ~ \"^{}$\"", quoted(&regex::escape(text))),
    }
}

/// Returns the names of the arguments that events of a trace can have, sorted, for completion. Empty if the format does
/// not list the arguments of its events.
#[must_use]
pub fn argument_names(trace: &Trace, reader: &dyn Events) -> Vec<String> {
    let kinds = 0..trace.kinds.len() as u32;
    let names = kinds.filter_map(|kind| reader.field_names(KindId(kind)));
    let mut names: Vec<String> = names.flatten().map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}
