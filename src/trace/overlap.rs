//! Searches for the rows that overlap a span, among rows that each have a start and an end and do not overlap each
//! other; and for a row in a list of rows.

use crate::base::{Maybe, TimeSpan};
use std::ops::Range;

/// Returns the rows within `range` that overlap `span`. The rows of `range` are sorted, and each starts at or after the
/// end of the row before it.
pub(super) fn overlapping(
    starts: &[i64],
    ends: &[Maybe<i64>],
    range: Range<u32>,
    span: TimeSpan,
) -> Range<u32> {
    let (from, until) = (range.start as usize, range.end as usize);
    let starts = &starts[from..until];
    let first = ends[from..until].partition_point(|&end| end <= span.start.0);
    // A row of length 0 at the start of the span overlaps it.
    let first = from + first.min(starts.partition_point(|&start| start < span.start.0));
    let last = from + starts.partition_point(|&start| start < span.end.0);
    first as u32..last.max(first) as u32
}

/// Returns whether an ascending list of rows contains `row`.
#[inline]
pub(super) fn contains(rows: &[u32], row: usize) -> bool {
    !rows.is_empty() && rows.binary_search(&(row as u32)).is_ok()
}
