//! Draw lists of several rows as one: the times in each column of pixels are added up.

use super::block::Block;
use crate::base::TimeSpan;
use crate::index::lod::PARTS;
use std::ops::Range;

/// Columns of equal length in a span; they start at multiples of their width.
#[derive(Clone, Copy)]
pub(super) struct Buckets {
    width: i64,
    first: i64,
    pub(super) count: usize,
}

/// The part of a stretch of time that is in a column.
pub(super) struct Part {
    pub(super) column: usize,
    /// The part's share of the stretch, 0 to 1.
    pub(super) share: f32,
    /// The part's length in ns.
    pub(super) nanos: i64,
}

impl Buckets {
    /// Divides `span` into about `columns` columns.
    pub(super) fn new(span: TimeSpan, columns: u32) -> Buckets {
        let width = (span.duration().0 / i64::from(columns.max(1))).max(1);
        let first = span.start.0.div_euclid(width);
        let last = span
            .end
            .0
            .saturating_sub(1)
            .max(span.start.0)
            .div_euclid(width);
        Buckets {
            width,
            first,
            count: usize::try_from(last - first + 1).unwrap_or(0),
        }
    }

    /// Calls `each` with the parts of a stretch of time in ns, by column.
    pub(super) fn divide(&self, time: Range<i64>, mut each: impl FnMut(Part)) {
        let length = time.end.saturating_sub(time.start);
        let column_of = |time: i64| time.div_euclid(self.width) - self.first;
        let last = column_of(time.end.saturating_sub(1).max(time.start));
        let (low, high) = (
            column_of(time.start).max(0),
            last.min(self.count as i64 - 1),
        );
        for column in low..=high {
            let start = self.start_of(column as usize);
            let inside = time.end.min(start.saturating_add(self.width)) - time.start.max(start);
            let nanos = inside.max(0);
            let share = match length {
                0 => 1.0,
                _ => inside as f32 / length as f32,
            };
            let column = column as usize;
            each(Part {
                column,
                share,
                nanos,
            });
        }
    }

    /// Returns the length of a column in ns.
    pub(super) fn width(&self) -> i64 {
        self.width
    }

    /// Returns the start of a column in ns.
    fn start_of(&self, column: usize) -> i64 {
        self.first
            .saturating_add(column as i64)
            .saturating_mul(self.width)
    }

    /// Returns a block that represents a column. Its count is that of several items, so that it is never drawn as a
    /// bar.
    pub(super) fn block(
        &self,
        column: usize,
        label: u32,
        first: u32,
        times: [f32; PARTS],
    ) -> Block {
        let start = self.start_of(column);
        Block {
            start,
            end: start.saturating_add(self.width),
            label,
            first,
            count: 2,
            times,
        }
    }
}
