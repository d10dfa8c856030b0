//! Many rows of a table at once, as typed columns: the input of the TSV, CSV, JSON and Parquet writers.
//!
//! ```text
//! columns of the trace -> Fill (one for each column of the table) -> Values of 1,024 rows -> lines, or pages of Parquet
//!                                                                \-> one value          -> Cell -> a pane
//! ```
//!
//! A long table describes each of its columns once, as a [`Fill`]. An example: the table `slices` lists its rows as
//! numbers of slices in order of time. A writer asks for a [`Batch`] of 1,024 rows. Each slice is read from its packed
//! blocks once; then the fill of `ts` puts the starts into [`Values::Ints`], and the fill of `name` puts the numbers of
//! the names into [`Values::Names`], without reading any text. The TSV writer turns the starts into digits and copies
//! names that it escaped once. The Parquet writer passes the starts to an encoder as they are, and each name is in its
//! dictionary once. A pane that shows the slice asks for its cells: the same fills in a batch of one row.
//!
//! A short table makes its rows as cells ([`super::rows::RowsOfIds`]): a batch of it consists of [`Values::Cells`].

use std::borrow::Cow;

use super::cell::Cell;
use crate::base::StringId;
use crate::base::strings::{Strings, exact_text};
use crate::load::LoadedTrace;

/// The number of rows of a batch: its columns stay in a core's cache while they are filled and written.
pub(crate) const BATCH_ROWS: usize = 1 << 10;

/// Rows of a table, column by column.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The indices of the wanted columns.
    wanted: Vec<usize>,
    /// The values of each wanted column.
    columns: Vec<Values<'a>>,
}

/// The values of a column in some rows.
#[derive(Debug)]
pub(crate) enum Values<'a> {
    /// Whole numbers of 64 bits.
    Ints(Vec<Option<i64>>),
    /// Numbers of texts, and the texts that they mean.
    Names(Names<'a>, Vec<Option<u32>>),
    /// Values of any kind.
    Cells(Vec<Cell<'a>>),
}

/// Texts that are referred to by numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names<'a> {
    /// Strings of the trace, by [`StringId`].
    Strings(&'a Strings),
    /// Texts of the source of the rows.
    Texts(&'a [String]),
}

impl<'a> Names<'a> {
    /// Returns the text with this number.
    pub(crate) fn text(self, number: u32) -> Cow<'a, str> {
        match self {
            Names::Strings(strings) => exact_text(strings.bytes(StringId(number))),
            Names::Texts(texts) => {
                let text = texts.get(number as usize);
                Cow::Borrowed(text.map_or("", String::as_str))
            }
        }
    }
}

impl<'a> Values<'a> {
    /// Replaces the values by whole numbers.
    pub(crate) fn ints(&mut self, values: impl Iterator<Item = Option<i64>>) {
        match self {
            Values::Ints(column) => {
                column.clear();
                column.extend(values);
            }
            _ => *self = Values::Ints(values.collect()),
        }
    }

    /// Replaces the values by numbers, some of which may need more than 63 bits.
    pub(crate) fn keys(&mut self, values: impl Iterator<Item = Option<u64>> + Clone) {
        let narrow = |value: Option<u64>| value.map(|value| i64::try_from(value).ok());
        match values.clone().all(|value| narrow(value) != Some(None)) {
            true => self.ints(values.map(|value| narrow(value).flatten())),
            false => self.cells(values.map(Cell::from)),
        }
    }

    /// Replaces the values by texts of `names`.
    pub(crate) fn names(&mut self, names: Names<'a>, values: impl Iterator<Item = Option<u32>>) {
        match self {
            Values::Names(of, column) => {
                *of = names;
                column.clear();
                column.extend(values);
            }
            _ => *self = Values::Names(names, values.collect()),
        }
    }

    /// Replaces the values by cells.
    pub(crate) fn cells(&mut self, values: impl Iterator<Item = Cell<'a>>) {
        let column = self.as_cells();
        column.clear();
        column.extend(values);
    }

    /// Returns the cells; they are empty if the values were of another kind.
    fn as_cells(&mut self) -> &mut Vec<Cell<'a>> {
        if !matches!(self, Values::Cells(_)) {
            *self = Values::Cells(Vec::new());
        }
        match self {
            Values::Cells(cells) => cells,
            // Not reached: the lines above replaced the values by cells.
            _ => unreachable!("values that were replaced by cells are cells"),
        }
    }

    /// Returns a value as a cell; [`Cell::None`] if there is no such row.
    pub(crate) fn cell(&self, row: usize) -> Cell<'a> {
        match self {
            Values::Ints(column) => column.get(row).copied().flatten().into(),
            Values::Names(names, column) => {
                let number = column.get(row).copied().flatten();
                number.map(|number| names.text(number)).into()
            }
            Values::Cells(cells) => cells.get(row).cloned().unwrap_or(Cell::None),
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Values::Ints(column) => column.len(),
            Values::Names(_, column) => column.len(),
            Values::Cells(cells) => cells.len(),
        }
    }
}

impl<'a> Batch<'a> {
    /// Returns an empty batch for the columns with these indices.
    pub(crate) fn new(wanted: impl IntoIterator<Item = usize>) -> Batch<'a> {
        let wanted: Vec<usize> = wanted.into_iter().collect();
        let empty = || Values::Cells(Vec::new());
        let columns = wanted.iter().map(|_| empty()).collect();
        Batch { wanted, columns }
    }

    /// Returns the values of the wanted columns, in the order in which they are wanted.
    pub(crate) fn columns(&self) -> &[Values<'a>] {
        &self.columns
    }

    /// Returns the values of the wanted columns, in the order in which they are wanted.
    pub(crate) fn into_columns(self) -> Vec<Values<'a>> {
        self.columns
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.columns.first().map_or(0, Values::len)
    }

    /// Returns the indices of the wanted columns, each with the place for its values.
    pub(crate) fn places(&mut self) -> impl Iterator<Item = (usize, &mut Values<'a>)> {
        self.wanted.iter().copied().zip(&mut self.columns)
    }

    /// Removes all rows, and expects rows of cells.
    pub(crate) fn start_cells(&mut self) {
        for column in &mut self.columns {
            column.as_cells().clear();
        }
    }

    /// Appends a row, after [`Batch::start_cells`]; takes the cells of the wanted columns out of `cells`.
    pub(crate) fn push_cells(&mut self, cells: &mut [Cell<'a>]) {
        for (index, column) in self.wanted.iter().zip(&mut self.columns) {
            let cell = cells.get_mut(*index);
            let cell = cell.map_or(Cell::None, |cell| std::mem::replace(cell, Cell::None));
            column.as_cells().push(cell);
        }
    }

    /// Appends the cells of a row to `cells`.
    pub(crate) fn row(&self, row: usize, cells: &mut Vec<Cell<'a>>) {
        cells.extend(self.columns.iter().map(|column| column.cell(row)));
    }
}

/// The rows from which a [`Fill`] makes the values of one column.
pub(crate) struct Rows<'a, 'r, R, K> {
    /// The trace.
    pub loaded: &'a LoadedTrace,
    /// The data of the source of the rows.
    pub known: &'a K,
    /// The rows, as they were read for all columns.
    pub rows: &'r [R],
}

impl<'r, R, K> Rows<'_, 'r, R, K> {
    /// Returns the rows in order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'r, R> {
        self.rows.iter()
    }
}

/// Puts the values of a column into a batch; there is one for each column of a table.
pub(crate) type Fill<R, K> = for<'a, 'r> fn(Rows<'a, 'r, R, K>, &mut Values<'a>);
