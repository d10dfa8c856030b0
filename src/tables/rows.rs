//! The rows of a table, whose cells are made on demand.
//!
//! A source contains row numbers or the result of a query, but no reference to the trace: the trace is passed to each
//! call, so that a pane can keep a source from frame to frame and a task can sort it.

use std::ops::Range;

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

    /// Calls `each` with the cells of the rows in `range` in order, until it fails; returns its error.
    ///
    /// # Errors
    /// Errors of `each`.
    fn walk<'a>(
        &'a self,
        loaded: &'a LoadedTrace,
        range: Range<usize>,
        each: EachRow<'_, 'a>,
    ) -> std::io::Result<()> {
        let mut cells = Vec::new();
        for at in range {
            cells.clear();
            self.row(loaded, at, &mut cells);
            each(self.depth(at), &mut cells)?;
        }
        Ok(())
    }

    /// Returns the item of the trace to which row `at` belongs.
    fn item(&self, _loaded: &LoadedTrace, _at: usize) -> Option<Item> {
        None
    }

    /// Returns a number if making a row's cells may take longer than a frame, because events are decoded from compressed
    /// data: such cells are made by a task, and the rows are not sorted. Sources with the same number have the same rows
    /// as far as both have any.
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

/// The callback for each row: takes the row's depth and cells.
pub(crate) type EachRow<'e, 'a> = &'e mut dyn FnMut(u32, &mut Vec<Cell<'a>>) -> std::io::Result<()>;

/// Appends the cells of a row with id `I`; `K` is what its source knows.
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
    pub fn new(ids: Vec<I>, known: K, cells: CellsOf<I, K>) -> RowsOfIds<I, K> {
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

    /// Returns the rows as a tree; `key` returns the number by which a row is known ([`RowSource::key`]).
    pub fn nested(self, depth: fn(&I) -> u32, key: fn(&I) -> u32) -> RowsOfIds<I, K> {
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

/// A row whose cells are made already.
#[derive(Clone, Debug, Default)]
pub(crate) struct MadeRow {
    /// The cells, by column.
    pub cells: Vec<Cell<'static>>,
    /// The item to which the row belongs.
    pub item: Option<Item>,
}

impl MadeRow {
    /// Returns a row without an item.
    pub fn new<'a>(cells: impl IntoIterator<Item = Cell<'a>>) -> MadeRow {
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
