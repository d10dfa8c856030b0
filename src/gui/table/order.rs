//! The order of a table's rows: the rows that match the filter, sorted by a column.
//!
//! Short tables are sorted within the frame, long ones by a task; until the task ends the rows keep their first order.

use std::sync::Arc;

use super::data::TableData;
use crate::base::{Cancelled, Job, Task, TaskKey, TraceId, Work};
use crate::load::LoadedTrace;
use crate::query::process_rows::Order;
use crate::tables::{Cell, ColumnKind};

/// Tables with more rows than this are sorted and filtered by a task.
const SHORT: usize = 20_000;
/// The number of rows between two checks for cancellation.
const STEP: usize = 1 << 12;

/// The column and direction by which rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    /// The index of the column in the pane.
    pub column: usize,
    pub order: Order,
}

impl Sort {
    /// Returns the sort after a click on the heading of a column. The first click sorts names from A and times from
    /// the earliest, but numbers from the largest; the second reverses that; the third removes the sort.
    pub fn next(sort: Option<Sort>, data: &TableData, column: usize) -> Option<Sort> {
        let kind = data.columns.get(column).map(|it| it.def.kind);
        let first = match kind {
            Some(ColumnKind::Text | ColumnKind::Path | ColumnKind::Key) => Order::Ascending,
            _ => Order::Descending,
        };
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
}

impl Wanted {
    /// Returns whether all rows are shown in their first order.
    fn is_nothing(&self) -> bool {
        self.sort.is_none() && self.filter.is_empty()
    }
}

/// The rows of a table that are shown, in their order.
#[derive(Default)]
pub(super) struct RowOrder {
    /// The table, filter and sort to which `rows` belongs.
    of: Option<(Arc<TableData>, Wanted)>,
    /// Row numbers; `None`: all rows in their first order.
    rows: Option<Arc<[u32]>>,
    /// The number of tables that were shown so far.
    table: u64,
    sorting: Task<(u64, Wanted), Arc<[u32]>>,
}

impl RowOrder {
    /// Updates the order of `data` for `wanted`.
    pub(crate) fn refresh(
        &mut self,
        ctx: &egui::Context,
        loaded: &Arc<LoadedTrace>,
        data: &Arc<TableData>,
        wanted: &Wanted,
    ) {
        let is_same_table = (self.of.as_ref()).is_some_and(|(of, _)| Arc::ptr_eq(of, data));
        if is_same_table && self.of.as_ref().is_some_and(|(_, of)| of == wanted) {
            return;
        }
        if !is_same_table {
            self.table += 1;
            // The order belongs to the rows of another table.
            self.rows = None;
            self.of = None;
        }
        if wanted.is_nothing() {
            self.sorting.cancel();
            self.rows = None;
            self.of = Some((data.clone(), wanted.clone()));
            return;
        }
        if data.rows.len() <= SHORT {
            self.sorting.cancel();
            let rows = ordered(data, loaded, wanted, &Job::default());
            self.rows = rows.ok().map(Arc::from);
            self.of = Some((data.clone(), wanted.clone()));
            return;
        }
        let id: TraceId = loaded.id;
        let key = (self.table, wanted.clone());
        let (loaded, of, asked) = (loaded.clone(), data.clone(), wanted.clone());
        let work =
            move |work: &Work<Arc<[u32]>>| ordered(&of, &loaded, &asked, work).map(Arc::from);
        self.sorting.ask(ctx, TaskKey::about(id, key.clone()), work);
        if self.sorting.is_of(id, &key) {
            self.rows = self.sorting.answer(id).cloned();
            self.of = Some((data.clone(), wanted.clone()));
        }
    }

    /// Returns the number of rows that are shown.
    pub fn len(&self, data: &TableData) -> usize {
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
    pub fn rows(&self) -> Option<Arc<[u32]>> {
        self.rows.clone()
    }

    /// Returns the task that sorts long tables.
    pub(crate) fn sorting(&mut self) -> &mut Task<(u64, Wanted), Arc<[u32]>> {
        &mut self.sorting
    }

    /// Returns whether a long table is being sorted.
    pub(crate) fn is_waiting(&self) -> bool {
        self.sorting.is_busy()
    }
}

/// Filters and sorts rows. The sort compares typed cells, and is stable.
fn ordered(
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
    let Some(column) = data.columns.get(sort.column) else {
        return Ok(rows);
    };
    let mut keyed: Vec<(Cell, u32)> = Vec::with_capacity(rows.len());
    for (at, &row) in rows.iter().enumerate() {
        if at.is_multiple_of(STEP) {
            job.check()?;
        }
        keyed.push((data.rows.cell(loaded, row as usize, column.at), row));
    }
    match sort.order {
        Order::Ascending => keyed.sort_by(|(a, _), (b, _)| a.order(b)),
        Order::Descending => keyed.sort_by(|(a, _), (b, _)| b.order(a)),
    }
    job.check()?;
    Ok(keyed.into_iter().map(|(_, row)| row).collect())
}

/// Returns whether a displayed text of a row contains `wanted`, which is in lower case.
fn has_text(data: &TableData, cells: &[Cell], wanted: &str) -> bool {
    data.columns
        .iter()
        .any(|column| match cells.get(column.at) {
            Some(Cell::Text(text)) => text.to_lowercase().contains(wanted),
            _ => false,
        })
}
