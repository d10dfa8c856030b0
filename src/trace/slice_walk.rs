//! Neighbouring slices in the order of their rows: to read all columns in order costs a fraction of looking up each value
//! by its row.

use std::ops::Range;

use super::slices::Slices;
use crate::base::Maybe;

/// A slice of a walk, as its columns have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkedSlice {
    /// Row number of the slice.
    pub row: u32,
    /// First nanosecond.
    pub start: i64,
    /// Where the drawn slice ends; see [`Slices::end`].
    pub end: Maybe<i64>,
    /// Whether its end was not seen although there is an `end`; see [`Slices::is_unended`].
    pub is_unended: bool,
    /// See [`Slices::measured`].
    pub measured: Option<i64>,
    /// Row number of the slice that it is nested in.
    pub parent: Maybe<u32>,
    /// Index of its label.
    pub label: u32,
}

impl WalkedSlice {
    /// Returns whether the slice's end was not seen.
    #[inline]
    #[must_use]
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_unended || self.end.is_none()
    }
}

impl Slices {
    /// Returns the slices of `rows`, in order. Panics if there are no such rows.
    pub(crate) fn walk(&self, rows: Range<u32>) -> impl Iterator<Item = WalkedSlice> + '_ {
        let all = rows.start as usize..rows.end as usize;
        let first = self.unended.partition_point(|&row| row < rows.start);
        let mut unended = self.unended[first..].iter().peekable();
        let mut measured = self.measured.from(rows.start).peekable();
        let mut end_of = self.ends.in_order(rows.start);
        let starts = self.starts.range(all.clone());
        let labels = self.label_ids.range(all.clone());
        let parents = self.parents.range(all);
        let columns = starts.zip(labels).zip(parents);
        rows.zip(columns)
            .map(move |(row, ((start, label), parent))| WalkedSlice {
                row,
                start,
                end: end_of(row, start),
                is_unended: unended.next_if_eq(&&row).is_some(),
                measured: measured.next_if(|&(it, _)| it == row).map(|(_, ns)| ns),
                parent,
                label,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::packed::Packed;
    use crate::trace::slice_ends::EndRow;

    #[test]
    fn a_walk_from_any_row_reads_what_the_columns_contain() {
        let mut slices = Slices::default();
        let count = 300_u32;
        let rows = (0..count).map(|row| {
            let start = i64::from(row) * 1_000;
            let end = match row % 7 {
                3 => Maybe::NONE,
                _ => Maybe::new(start + i64::from(row)),
            };
            EndRow {
                start,
                end,
                begin: row,
                finish: Maybe::NONE,
            }
        });
        slices.set_times(&rows.collect::<Vec<EndRow>>());
        slices.label_ids = Packed::new(&(0..count).map(|row| row % 11).collect::<Vec<u32>>());
        let parent = |row: u32| Maybe::from(row.checked_sub(1));
        slices.parents = Packed::new(&(0..count).map(parent).collect::<Vec<Maybe<u32>>>());
        slices.unended = (0..count).filter(|row| row % 5 == 1).collect();
        slices.measured = (0..count).step_by(6).map(|row| (row, -1)).collect();
        for rows in [0..count, 1..count, 127..131, 299..300, 5..5] {
            let mut expected = rows.clone();
            for slice in slices.walk(rows) {
                let row = slice.row as usize;
                assert_eq!(Some(slice.row), expected.next());
                assert_eq!(slice.start, slices.starts.at(row));
                assert_eq!(slice.end, slices.end(row));
                assert_eq!(slice.is_unended, slices.is_unended(row));
                assert_eq!(slice.is_unfinished(), slices.is_unfinished(row));
                assert_eq!(slice.measured, slices.measured(row));
                assert_eq!(slice.parent, slices.parents.at(row));
                assert_eq!(slice.label, slices.label_ids.at(row));
            }
            assert_eq!(expected.next(), None);
        }
    }
}
