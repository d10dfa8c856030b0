//! The order of a table's rows: the rows that match the filter, sorted by a column.
//!
//! Short tables are sorted within the frame, long ones by a task; until the task ends the rows keep their first order.
//!
//! While a file is followed, a pane makes its table again and again. As long as the pointer is over a short table, its rows
//! keep their places, so that a click meets the row that it was aimed at; new rows come last.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use super::data::TableData;
use super::tree::{Opened, TreeMark, TreeOrder};
use crate::base::{Cancelled, Job, Task, TaskKey, TraceId, Work};
use crate::load::LoadedTrace;
use crate::tables::{Cell, ColumnKind};

/// Tables with more rows than this are sorted and filtered by a task.
const SHORT: usize = 20_000;
/// The number of rows between two checks for cancellation.
const STEP: usize = 1 << 12;

/// The direction of a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The smallest comes first.
    #[default]
    Ascending,
    /// The largest comes first.
    Descending,
}

/// The column and direction by which rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    /// The index of the column in the pane.
    pub column: usize,
    pub order: Order,
}

impl Sort {
    /// Returns the sort after a click on the heading of a column. The first click sorts names from A, and numbers and
    /// times from the largest, unless the column's definition differs; the second click reverses that; the third removes
    /// the sort.
    pub(super) fn next(sort: Option<Sort>, data: &TableData, column: usize) -> Option<Sort> {
        let of = data.columns.get(column);
        let first = match of.map(|it| it.def.kind) {
            Some(
                ColumnKind::Text
                | ColumnKind::Path
                | ColumnKind::Key
                | ColumnKind::Row
                | ColumnKind::Code,
            ) => Order::Ascending,
            _ => Order::Descending,
        };
        let first = of.and_then(|it| it.first_order).unwrap_or(first);
        match sort {
            Some(sort) if sort.column != column => Some(Sort {
                column,
                order: first,
            }),
            None => Some(Sort {
                column,
                order: first,
            }),
            Some(sort) if sort.order == first => {
                let order = match first {
                    Order::Ascending => Order::Descending,
                    Order::Descending => Order::Ascending,
                };
                Some(Sort { column, order })
            }
            Some(_) => None,
        }
    }
}

/// The filter and the sort of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    pub sort: Option<Sort>,
    /// In lower case; a row matches if one of its texts contains it.
    pub filter: String,
    /// In a tree: the rows whose children are shown.
    pub opened: Opened,
}

impl Wanted {
    /// Returns whether all rows are shown in their first order.
    fn is_nothing(&self) -> bool {
        self.sort.is_none() && self.filter.is_empty()
    }
}

/// Whether rows may change their places when their table is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// The rows are in the order that is wanted.
    Free,
    /// The pointer is over the table: its rows keep their places.
    Held,
}

/// The rows under the pointer.
#[derive(Clone, Debug)]
struct HeldRows {
    /// What identifies each row, in the order that is shown.
    rows: Vec<u64>,
    wanted: Wanted,
    trace: TraceId,
    /// The number of the table.
    table: u64,
    /// Whether this differs from the order that is wanted.
    is_other: bool,
}

/// The rows of a table that are shown, in their order.
#[derive(Default)]
pub(super) struct RowOrder {
    /// The table.
    of: Option<Arc<TableData>>,
    /// The filter and sort to which `rows` belongs; `None` until the rows of the table are in order.
    done: Option<Wanted>,
    /// Row numbers; `None`: all rows in their first order.
    rows: Option<Arc<[u32]>>,
    /// In a tree: how each of `rows` is shown.
    marks: Arc<[TreeMark]>,
    /// The number of tables that were shown so far.
    table: u64,
    sorting: Task<(u64, Wanted), Ordered>,
    /// The rows under the pointer; `None` while it is elsewhere.
    held: Option<HeldRows>,
}

/// Rows in order; in a tree, how each is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordered {
    rows: Arc<[u32]>,
    marks: Arc<[TreeMark]>,
}

impl From<TreeOrder> for Ordered {
    fn from(order: TreeOrder) -> Ordered {
        Ordered {
            rows: order.rows.into(),
            marks: order.marks.into(),
        }
    }
}

impl RowOrder {
    /// Updates the order of `data` for `wanted`.
    pub(super) fn refresh(
        &mut self,
        ctx: &egui::Context,
        loaded: &Arc<LoadedTrace>,
        data: &Arc<TableData>,
        wanted: &Wanted,
        places: Places,
    ) {
        if places == Places::Free && self.held.take().is_some_and(|held| held.is_other) {
            self.done = None;
        }
        self.put_in_order(ctx, loaded, data, wanted);
        if places == Places::Held && data.tree.is_none() && data.rows.len() <= SHORT {
            self.hold(loaded, data, wanted);
        }
    }

    /// Keeps the rows where they were in the table that was shown before, if there was one.
    fn hold(&mut self, loaded: &LoadedTrace, data: &Arc<TableData>, wanted: &Wanted) {
        let is_held = |held: &HeldRows| held.wanted == *wanted && held.table == self.table;
        if self.held.as_ref().is_some_and(is_held) || self.done.as_ref() != Some(wanted) {
            return;
        }
        let all: Arc<[u32]> = match &self.rows {
            Some(rows) => rows.clone(),
            None => (0..data.rows.len() as u32).collect(),
        };
        let known = all.iter().map(|&row| (identity(data, loaded, row), row));
        let mut rows: Vec<(u64, u32)> = known.collect();
        let before = self.held.take();
        // Another table about the same trace answers another question.
        let before = before.filter(|it| {
            it.wanted == *wanted && it.trace != loaded.id && it.trace.shares_lineage(loaded.id)
        });
        let is_other = before.is_some();
        if let Some(before) = before {
            let places = before.rows.into_iter().zip(0_usize..);
            let places: FxHashMap<u64, usize> = places.collect();
            rows.sort_by_key(|(of, _)| places.get(of).copied().unwrap_or(usize::MAX));
            self.set(Some(Ordered {
                rows: rows.iter().map(|(_, row)| *row).collect(),
                ..Ordered::default()
            }));
        }
        self.held = Some(HeldRows {
            rows: rows.into_iter().map(|(of, _)| of).collect(),
            wanted: wanted.clone(),
            trace: loaded.id,
            table: self.table,
            is_other,
        });
    }

    fn put_in_order(
        &mut self,
        ctx: &egui::Context,
        loaded: &Arc<LoadedTrace>,
        data: &Arc<TableData>,
        wanted: &Wanted,
    ) {
        let is_same_table = (self.of.as_ref()).is_some_and(|of| Arc::ptr_eq(of, data));
        if is_same_table && self.done.as_ref() == Some(wanted) {
            return;
        }
        if !is_same_table {
            // The number changes once for each table, because the task below is requested again in each frame until it
            // ends.
            self.table += 1;
            self.of = Some(data.clone());
            // The order belongs to the rows of another table. Which rows of a tree are shown is not known yet.
            self.set(data.tree.as_ref().map(|_| Ordered::default()));
            self.done = None;
        }
        if data.tree.is_none() && wanted.is_nothing() {
            self.sorting.cancel();
            self.set(None);
            self.done = Some(wanted.clone());
            return;
        }
        if let Ok(Some(ordered)) = ordered(data, loaded, wanted, SHORT, &Job::default()) {
            self.sorting.cancel();
            self.set(Some(ordered));
            self.done = Some(wanted.clone());
            return;
        }
        let id: TraceId = loaded.id;
        let key = (self.table, wanted.clone());
        let (loaded, of, asked) = (loaded.clone(), data.clone(), wanted.clone());
        let work = move |work: &Work<Ordered>| {
            let rows = ordered(&of, &loaded, &asked, usize::MAX, work)?;
            Ok(rows.unwrap_or_default())
        };
        self.sorting.ask(ctx, TaskKey::about(id, key.clone()), work);
        if self.sorting.is_of(id, &key) {
            self.set(self.sorting.answer(id).cloned());
            self.done = Some(wanted.clone());
        }
    }

    fn set(&mut self, ordered: Option<Ordered>) {
        let (rows, marks) = ordered.map_or_else(Default::default, |it| (Some(it.rows), it.marks));
        (self.rows, self.marks) = (rows, marks);
    }

    /// Returns how the row at a position of the shown order of a tree is shown.
    pub(super) fn mark_at(&self, place: usize) -> Option<TreeMark> {
        self.marks.get(place).copied()
    }

    /// Returns the number of shown rows of a tree that match the filter themselves.
    pub(super) fn match_count(&self) -> usize {
        self.marks.iter().filter(|mark| mark.is_match).count()
    }

    /// Returns the number of rows that are shown.
    pub(super) fn len(&self, data: &TableData) -> usize {
        match &self.rows {
            Some(rows) => rows.len(),
            None => data.rows.len(),
        }
    }

    /// Returns the row at a position of the shown order.
    pub(crate) fn row_at(&self, data: &TableData, place: usize) -> Option<usize> {
        match &self.rows {
            Some(rows) => rows.get(place).map(|&row| row as usize),
            None => Some(place).filter(|row| *row < data.rows.len()),
        }
    }

    /// Returns the position at which a row is shown.
    pub(crate) fn place_of(&self, row: usize) -> Option<usize> {
        match &self.rows {
            Some(rows) => rows.iter().position(|&it| it as usize == row),
            None => Some(row),
        }
    }

    /// Returns the rows that are shown, in order; `None`: all in their first order.
    pub(super) fn rows(&self) -> Option<Arc<[u32]>> {
        self.rows.clone()
    }

    /// Returns the task that sorts long tables.
    pub(super) fn sorting(&mut self) -> &mut Task<(u64, Wanted), Ordered> {
        &mut self.sorting
    }

    /// Returns whether a long table is being sorted.
    pub(crate) fn is_waiting(&self) -> bool {
        self.sorting.is_busy()
    }
}

/// Returns a number that identifies a row of tables with the same columns: of its names and numbers that are names.
fn identity(data: &TableData, loaded: &LoadedTrace, row: u32) -> u64 {
    let mut cells = Vec::new();
    data.rows.row(loaded, row as usize, &mut cells);
    let mut hasher = FxHasher::default();
    for column in &data.columns {
        if matches!(
            column.def.kind,
            ColumnKind::Text | ColumnKind::Path | ColumnKind::Key | ColumnKind::Code
        ) {
            format!("{:?}", column.cell(&cells)).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Filters and sorts rows; `None` if that would take more than about `most` steps.
fn ordered(
    data: &TableData,
    loaded: &LoadedTrace,
    wanted: &Wanted,
    most: usize,
    job: &Job,
) -> Result<Option<Ordered>, Cancelled> {
    let is_long = data.rows.len() > most;
    if let Some(tree) = &data.tree {
        // A filter examines all rows, not only those that are shown.
        if is_long && !wanted.filter.is_empty() {
            return Ok(None);
        }
        let order = tree.order(data, loaded, wanted, most, job)?;
        return Ok(order.map(Ordered::from));
    }
    if is_long {
        return Ok(None);
    }
    let rows = in_order(data, loaded, wanted, job)?.into();
    Ok(Some(Ordered {
        rows,
        ..Ordered::default()
    }))
}

/// Filters and sorts the rows of a table that is not a tree. The sort compares typed cells, and is stable.
fn in_order(
    data: &TableData,
    loaded: &LoadedTrace,
    wanted: &Wanted,
    job: &Job,
) -> Result<Vec<u32>, Cancelled> {
    let count = u32::try_from(data.rows.len()).unwrap_or(u32::MAX);
    let mut rows: Vec<u32> = Vec::with_capacity(count as usize);
    let mut cells = Vec::new();
    for row in 0..count {
        if (row as usize).is_multiple_of(STEP) {
            job.check()?;
        }
        if !wanted.filter.is_empty() {
            cells.clear();
            data.rows.row(loaded, row as usize, &mut cells);
            if !has_text(data, &cells, &wanted.filter) {
                continue;
            }
        }
        rows.push(row);
    }
    let Some(sort) = wanted.sort else {
        return Ok(rows);
    };
    let column = data.columns.get(sort.column);
    let Some(cell) = column.and_then(|column| column.at) else {
        return Ok(rows);
    };
    let mut keyed: Vec<(Cell, u32)> = Vec::with_capacity(rows.len());
    for (at, &row) in rows.iter().enumerate() {
        if at.is_multiple_of(STEP) {
            job.check()?;
        }
        keyed.push((data.rows.cell(loaded, row as usize, cell), row));
    }
    match sort.order {
        Order::Ascending => keyed.sort_by(|(a, _), (b, _)| a.order(b)),
        Order::Descending => keyed.sort_by(|(a, _), (b, _)| b.order(a)),
    }
    job.check()?;
    Ok(keyed.into_iter().map(|(_, row)| row).collect())
}

/// Returns whether a displayed text of a row contains `wanted`, which is in lower case.
pub(super) fn has_text(data: &TableData, cells: &[Cell], wanted: &str) -> bool {
    data.columns.iter().any(|column| match column.cell(cells) {
        Cell::Text(text) => text.to_lowercase().contains(wanted),
        _ => false,
    })
}
