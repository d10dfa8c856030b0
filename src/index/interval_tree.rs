//! An interval tree without pointers, for intervals that may overlap: intervals sorted by start, and above them the
//! latest end of every group of 16, of 256, and so on.
//!
//! `overlapping` skips whole groups that end before the span, so it costs O(answers + log n).

use crate::base::TimeSpan;
use crate::base::column::Column;
use serde::{Deserialize, Serialize};
use std::ops::Range;

const GROUP: usize = 16;

/// Half-open intervals in nanoseconds, identified by number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct IntervalTree {
    starts: Column<i64>,
    ends: Column<i64>,
    numbers: Column<u32>,
    /// `latest[k][g]`: the latest end in group `g` of 16^(k+1) intervals.
    latest: Vec<Column<i64>>,
}

impl IntervalTree {
    /// Builds a tree; an interval's number is its index in the input.
    pub fn new(intervals: impl IntoIterator<Item = Range<i64>>) -> IntervalTree {
        let mut rows: Vec<(i64, i64, u32)> = intervals
            .into_iter()
            .enumerate()
            .map(|(number, range)| (range.start, range.end, number as u32))
            .collect();
        if !rows.is_sorted_by_key(|row| row.0) {
            rows.sort_by_key(|row| row.0);
        }
        let ends: Vec<i64> = rows.iter().map(|row| row.1).collect();
        let mut latest: Vec<Column<i64>> = Vec::new();
        let mut below: &[i64] = &ends;
        while below.len() > 1 {
            latest.push(
                below
                    .chunks(GROUP)
                    .map(|group| group.iter().copied().max().unwrap_or(i64::MIN))
                    .collect(),
            );
            below = latest.last().map_or(&[], |level| level);
        }
        IntervalTree {
            starts: rows.iter().map(|row| row.0).collect(),
            numbers: rows.iter().map(|row| row.2).collect(),
            ends: ends.into(),
            latest,
        }
    }

    /// Number of intervals.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there is no interval.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the numbers of the intervals that share a nanosecond with `span`, sorted by start. Empty intervals are
    /// never returned.
    pub(crate) fn overlapping(&self, span: TimeSpan) -> impl Iterator<Item = u32> {
        let until = self.starts.partition_point(|&start| start < span.end.0);
        let from = span.start.0;
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < until {
                // Skip the largest group that starts here and ends before the span.
                let mut step = GROUP;
                let mut skip = 0;
                for level in &self.latest {
                    if at % step != 0 || level.get(at / step).is_none_or(|&latest| latest > from) {
                        break;
                    }
                    skip = step;
                    step *= GROUP;
                }
                if skip > 0 {
                    at += skip;
                    continue;
                }
                let here = at;
                at += 1;
                if self.ends[here] > from && self.ends[here] > self.starts[here] {
                    return Some(self.numbers[here]);
                }
            }
            None
        })
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let latest = self.latest.iter().map(Column::memory_bytes);
        self.starts.memory_bytes()
            + self.ends.memory_bytes()
            + self.numbers.memory_bytes()
            + latest.sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_plain_scan(
            rows in prop::collection::vec((0_i64..500, 0_i64..80), 0..600),
            start in -10_i64..510,
            length in 1_i64..100,
        ) {
            let rows: Vec<(i64, i64)> = rows.into_iter().map(|(start, length)| (start, start + length)).collect();
            let span = TimeSpan::new(Timestamp(start), Timestamp(start + length));
            let tree = IntervalTree::new(rows.iter().map(|row| row.0..row.1));
            let mut found: Vec<u32> = tree.overlapping(span).collect();
            found.sort_unstable();
            let expected: Vec<u32> = (0..rows.len() as u32)
                .filter(|&i| {
                    let (from, until) = rows[i as usize];
                    until > from && from < start + length && until > start
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
