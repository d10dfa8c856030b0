//! Values that only some rows of a table have.

use bytemuck::Pod;
use serde::{Deserialize, Serialize};

use super::column::Column;

/// The values of some rows of a table, sorted by row. Like columns, they can be in a mapped model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct RowValues<T: Pod> {
    rows: Column<u32>,
    values: Column<T>,
}

impl<T: Pod> Default for RowValues<T> {
    fn default() -> RowValues<T> {
        RowValues {
            rows: Column::default(),
            values: Column::default(),
        }
    }
}

impl<T: Pod> FromIterator<(u32, T)> for RowValues<T> {
    /// Collects entries that are sorted by row.
    fn from_iter<I: IntoIterator<Item = (u32, T)>>(entries: I) -> RowValues<T> {
        let (rows, values): (Vec<u32>, Vec<T>) = entries.into_iter().unzip();
        dev_assert!(rows.is_sorted(), "rows out of order");
        let mut made = RowValues {
            rows: rows.into(),
            values: values.into(),
        };
        made.rows.shrink_to_fit();
        made.values.shrink_to_fit();
        made
    }
}

impl<T: Pod> RowValues<T> {
    /// Number of rows that have a value.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether no row has a value.
    #[inline]
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the value of a row, if it has one.
    #[inline]
    #[must_use]
    pub(crate) fn get(&self, row: usize) -> Option<T> {
        match self.is_empty() {
            true => None,
            false => self.find(row),
        }
    }

    fn find(&self, row: usize) -> Option<T> {
        let at = self.rows.binary_search(&u32::try_from(row).ok()?).ok()?;
        self.values.get(at).copied()
    }

    /// Returns the rows from `first` on that have a value, with their values.
    pub(crate) fn from(&self, first: u32) -> impl Iterator<Item = (u32, T)> + '_ {
        let before = self.rows.partition_point(|&row| row < first);
        let rows = self.rows.iter().skip(before);
        let values = self.values.iter().skip(before);
        rows.copied().zip(values.copied())
    }

    /// Appends the value of a row after all rows so far.
    pub(crate) fn push(&mut self, row: u32, value: T) {
        dev_assert!(self.rows.last().is_none_or(|&last| last < row));
        self.rows.push(row);
        self.values.push(value);
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.rows.memory_bytes() + self.values.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_rows_have_a_value() {
        let mut some: RowValues<i64> = [(2, 20), (5, 50)].into_iter().collect();
        some.push(9, 90);
        assert_eq!((some.len(), some.is_empty()), (3, false));
        let found: Vec<Option<i64>> = (0..11).map(|row| some.get(row)).collect();
        let value = |row: usize| [2, 5, 9].contains(&row).then_some(row as i64 * 10);
        assert_eq!(found, (0..11).map(value).collect::<Vec<_>>());
        assert_eq!(some.from(3).collect::<Vec<_>>(), [(5, 50), (9, 90)]);
        assert_eq!(some.from(10).next(), None);
        assert_eq!(RowValues::<u32>::default().get(0), None);
    }
}
