//! A slice before its track is put into rows.

use crate::base::Maybe;

/// A slice before it has a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    /// Start, ns on the trace's clock.
    pub start: i64,
    /// First nanosecond after the slice; none if it was still open at the trace's end.
    pub end: Maybe<i64>,
    /// Whether the end was not recorded; `end` is then only where the drawn slice ends.
    pub is_unended: bool,
    /// Index of its label in the trace's labels.
    pub label: u32,
    /// Id of the event that began it.
    pub begin: u32,
    /// Id of the event that ended it.
    pub finish: Maybe<u32>,
}
