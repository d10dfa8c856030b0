//! The rows of a table, whose cells are made on demand.
//!
//! A source contains row numbers or the result of a query, but no reference to the trace: the trace is passed to each
//! call, so that a pane can keep a source from frame to frame and a task can sort it.

use std::ops::Range;

use super::batch::{BATCH_ROWS, Batch, Fill, Rows};
use super::cell::Cell;
use crate::load::LoadedTrace;
use crate::query::Item;

/// The rows of a table.
pub trait RowSource: Send + Sync {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Returns whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the cells of row `at`: one for each column of the table, followed by cells for panes only. `loaded` is
    /// the trace for which the source was made.
    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>);

    /// Returns the cell of row `at` in the column with index `column`.
    fn cell<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, column: usize) -> Cell<'a> {
        let mut cells = Vec::new();
        self.row(loaded, at, &mut cells);
        cells.into_iter().nth(column).unwrap_or(Cell::None)
    }

    /// Replaces the rows of `batch` by those in `range`, which are rows of the source.
    fn batch<'a>(&'a self, loaded: &'a LoadedTrace, range: Range<usize>, batch: &mut Batch<'a>) {
        let mut cells = Vec::new();
        batch.start_cells();
        for at in range {
            cells.clear();
            self.row(loaded, at, &mut cells);
            batch.push_cells(&mut cells);
        }
    }

    /// Returns the item of the trace to which row `at` belongs.
    fn item(&self, _loaded: &LoadedTrace, _at: usize) -> Option<Item> {
        None
    }

    /// Returns a number if making a row's cells may take longer than a frame, because events are decoded from
    /// compressed data: such cells are made by a task, and the rows are not sorted. Two sources with the same number
    /// have the same rows, but one may have more rows at its end.
    fn slow_key(&self) -> Option<u64> {
        None
    }

    /// Returns the depth of row `at` in a tree, in which each row is followed by its children; 0 in other tables.
    fn depth(&self, _at: usize) -> u32 {
        0
    }

    /// Returns a number that row `at` of a tree keeps if the table is made again: rows that were open stay open.
    fn key(&self, at: usize) -> u32 {
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

/// Calls `each` with the index and the cells of each row in `range`, in order, until it fails; returns its error. The
/// cells are those of the first `columns` columns.
///
/// # Errors
/// Errors of `each`.
pub(crate) fn each_row(
    source: &dyn RowSource,
    loaded: &LoadedTrace,
    columns: usize,
    range: Range<usize>,
    mut each: impl FnMut(usize, &mut [Cell<'_>]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let (mut batch, mut cells) = (Batch::new(0..columns), Vec::new());
    for first in range.clone().step_by(BATCH_ROWS) {
        let rows = first..range.end.min(first + BATCH_ROWS);
        source.batch(loaded, rows.clone(), &mut batch);
        for at in rows {
            cells.clear();
            batch.row(at - first, &mut cells);
            each(at, &mut cells)?;
        }
    }
    Ok(())
}

/// Appends the cells of a row with id `I`; `K` is the data of its source.
pub(crate) type CellsOf<I, K> = for<'a> fn(&'a LoadedTrace, &'a K, &'a I, &mut Vec<Cell<'a>>);

/// Rows that are numbered by ids of the trace or of `known`.
pub(crate) struct RowsOfIds<I, K> {
    /// The rows in their order.
    pub ids: Vec<I>,
    /// Data that was computed once for all rows.
    pub known: K,
    /// Appends the cells of a row.
    pub cells: CellsOf<I, K>,
    /// Returns the item to which a row belongs.
    pub item: fn(&K, &I) -> Option<Item>,
    /// Returns the depth of a row in a tree.
    pub depth: fn(&I) -> u32,
    /// Returns the key of a row in a tree; `None`: its index.
    pub key: Option<fn(&I) -> u32>,
}

impl<I, K> RowsOfIds<I, K> {
    /// Returns rows without items and without depth.
    pub(crate) fn new(ids: Vec<I>, known: K, cells: CellsOf<I, K>) -> RowsOfIds<I, K> {
        RowsOfIds {
            ids,
            known,
            cells,
            item: |_, _| None,
            depth: |_| 0,
            key: None,
        }
    }

    /// Returns the rows with the items that `item` returns.
    pub(crate) fn about(self, item: fn(&K, &I) -> Option<Item>) -> RowsOfIds<I, K> {
        RowsOfIds { item, ..self }
    }

    /// Returns the rows as a tree; `key` returns the key of a row ([`RowSource::key`]).
    pub(crate) fn nested(self, depth: fn(&I) -> u32, key: fn(&I) -> u32) -> RowsOfIds<I, K> {
        RowsOfIds {
            depth,
            key: Some(key),
            ..self
        }
    }
}

impl<I: Send + Sync, K: Send + Sync> RowSource for RowsOfIds<I, K> {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        if let Some(id) = self.ids.get(at) {
            (self.cells)(loaded, &self.known, id, cells);
        }
    }

    fn item(&self, _: &LoadedTrace, at: usize) -> Option<Item> {
        (self.item)(&self.known, self.ids.get(at)?)
    }

    fn depth(&self, at: usize) -> u32 {
        self.ids.get(at).map_or(0, self.depth)
    }

    fn key(&self, at: usize) -> u32 {
        let own = self.key.zip(self.ids.get(at));
        own.map_or(u32::try_from(at).unwrap_or(u32::MAX), |(key, id)| key(id))
    }
}

/// Rows that are numbered by ids, in their order.
pub(crate) trait Ids<I>: Send + Sync {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Calls `each` with the ids of the rows in `range`, in order.
    fn each(&self, loaded: &LoadedTrace, range: Range<usize>, each: &mut dyn FnMut(&I));
}

impl<I: Send + Sync> Ids<I> for Vec<I> {
    fn len(&self) -> usize {
        self.len()
    }

    fn each(&self, _: &LoadedTrace, range: Range<usize>, each: &mut dyn FnMut(&I)) {
        self.get(range).unwrap_or_default().iter().for_each(each);
    }
}

/// Rows of a long table: the columns are described one by one, and filled for many rows at a time (see
/// [`super::batch`]). `I` is the id of a row, `R` is a row as it was read from the trace, `K` is the data of the
/// source.
pub(crate) struct ColumnsOfIds<L, I, R: 'static, K: 'static> {
    /// The rows in their order.
    pub ids: L,
    /// Data that was computed once for all rows.
    pub known: K,
    /// Reads a row, for all columns.
    pub read: fn(&LoadedTrace, &K, &I) -> R,
    /// The columns, in the order of the table.
    pub columns: &'static [Fill<R, K>],
}

impl<L: Ids<I>, I: Send + Sync, R: 'static, K: Send + Sync + 'static> RowSource
    for ColumnsOfIds<L, I, R, K>
{
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        if at < self.len() {
            let mut batch = Batch::new(0..self.columns.len());
            self.batch(loaded, at..at + 1, &mut batch);
            batch.row(0, cells);
        }
    }

    fn cell<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, column: usize) -> Cell<'a> {
        if at >= self.len() {
            return Cell::None;
        }
        let mut batch = Batch::new([column]);
        self.batch(loaded, at..at + 1, &mut batch);
        batch.columns().first().map_or(Cell::None, |it| it.cell(0))
    }

    fn batch<'a>(&'a self, loaded: &'a LoadedTrace, range: Range<usize>, batch: &mut Batch<'a>) {
        let mut rows = Vec::with_capacity(range.len());
        self.ids.each(loaded, range, &mut |id| {
            rows.push((self.read)(loaded, &self.known, id));
        });
        for (index, values) in batch.places() {
            let rows = Rows {
                loaded,
                known: &self.known,
                rows: &rows,
            };
            match self.columns.get(index) {
                Some(fill) => fill(rows, values),
                None => values.cells(rows.iter().map(|_| Cell::None)),
            }
        }
    }
}

/// A row whose cells were made in advance.
#[derive(Clone, Debug, Default)]
pub(crate) struct MadeRow {
    /// The cells, by column.
    pub cells: Vec<Cell<'static>>,
    /// The item to which the row belongs.
    pub item: Option<Item>,
}

impl MadeRow {
    /// Returns a row without an item.
    pub(crate) fn new<'a>(cells: impl IntoIterator<Item = Cell<'a>>) -> MadeRow {
        MadeRow {
            cells: cells.into_iter().map(Cell::into_owned).collect(),
            item: None,
        }
    }

    /// Returns the row with an item to which it belongs.
    pub(crate) fn about(self, item: Option<Item>) -> MadeRow {
        MadeRow { item, ..self }
    }
}

/// Rows of a short table (a few screens): all cells are made at once.
impl RowSource for Vec<MadeRow> {
    fn len(&self) -> usize {
        self.len()
    }

    fn row<'a>(&'a self, _: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        if let Some(row) = self.get(at) {
            cells.extend(row.cells.iter().map(Cell::borrowed));
        }
    }

    fn cell<'a>(&'a self, _: &'a LoadedTrace, at: usize, column: usize) -> Cell<'a> {
        let row = self.get(at);
        let cell = row.and_then(|row| row.cells.get(column));
        cell.map_or(Cell::None, Cell::borrowed)
    }

    fn item(&self, _: &LoadedTrace, at: usize) -> Option<Item> {
        self.get(at)?.item
    }
}
