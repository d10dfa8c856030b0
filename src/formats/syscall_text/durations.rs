//! Durations that are printed in lines of calls: `<0.000012>`.

use super::prefix::TextLine;
use super::times::split_duration;

/// Returns the duration in ns of a call on a single line, during which no other line was printed.
#[must_use]
pub(crate) fn took_alone(line: &TextLine<'_>) -> Option<i64> {
    match line.body.first() {
        Some(b'<') => None,
        _ => split_duration(line.body).1,
    }
}

/// Returns the end time of a call in ns, from its begin and its `<seconds>`.
#[must_use]
pub(crate) fn end_of(begin: i64, text: &[u8]) -> Option<i64> {
    begin.checked_add(split_duration(text).1?)
}
