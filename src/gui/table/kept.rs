//! The cells of the rows that a table draws: made in the frame, or by a task if that may take longer than a frame.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::data::TableData;
use crate::base::{Task, TaskKey, TraceId, Work};
use crate::load::LoadedTrace;
use crate::tables::Cell;

/// The most rows whose cells are kept from frame to frame.
const MOST_KEPT: usize = 1_000;
/// The distance in rows from the start of one page to the start of the next. A page has twice as many rows.
const PAGE: usize = 128;

/// Cells of the rows of one table that were drawn.
#[derive(Default)]
pub(super) struct KeptCells {
    of: Option<Arc<TableData>>,
    rows: FxHashMap<usize, Arc<[Cell<'static>]>>,
    pages: Task<PageKey, Vec<Arc<[Cell<'static>]>>>,
}

/// The rows of a page of a slow table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PageKey {
    /// The number of the source.
    source: u64,
    first: usize,
    /// The number of rows; smaller at the end of the table.
    count: usize,
}

impl KeptCells {
    /// Prepares the cells of the rows from `top` on, of a table whose cells are made by a task.
    pub(crate) fn prepare(
        &mut self,
        ctx: &egui::Context,
        loaded: &Arc<LoadedTrace>,
        data: &Arc<TableData>,
        top: usize,
    ) {
        let Some(source) = data.rows.slow_key() else {
            return;
        };
        let first = top / PAGE * PAGE;
        let count = data.rows.len().saturating_sub(first).min(2 * PAGE);
        let key = PageKey {
            source,
            first,
            count,
        };
        let (id, loaded, data) = (loaded.id, loaded.clone(), data.clone());
        let work = move |_: &Work<Vec<Arc<[Cell<'static>]>>>| {
            let rows = first..first + count;
            Ok(rows.map(|row| cells_of(&loaded, &data, row)).collect())
        };
        self.pages.ask(ctx, TaskKey::about(id, key).in_turn(), work);
    }

    /// Returns the cells of a row; `None` if a task makes them and has not ended.
    pub fn row(
        &mut self,
        loaded: &LoadedTrace,
        data: &Arc<TableData>,
        row: usize,
    ) -> Option<Arc<[Cell<'static>]>> {
        if let Some(source) = data.rows.slow_key() {
            return self.in_page(loaded.id, source, row);
        }
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, data)) {
            self.of = Some(data.clone());
            self.rows.clear();
        }
        if self.rows.len() >= MOST_KEPT {
            self.rows.clear();
        }
        let cells = self.rows.entry(row);
        Some(cells.or_insert_with(|| cells_of(loaded, data, row)).clone())
    }

    /// Returns the cells of a row from the page that is ready. Until another page is ready, the last one of the same
    /// source is used.
    fn in_page(&self, trace: TraceId, source: u64, row: usize) -> Option<Arc<[Cell<'static>]>> {
        let key = self.pages.answered(trace)?;
        // An older generation of the trace numbers its rows differently.
        let rows = self.pages.exact(trace)?;
        let at = row.checked_sub(key.first)?;
        rows.get(at).filter(|_| key.source == source).cloned()
    }

    /// Returns whether a task makes cells.
    #[must_use]
    pub(crate) fn is_waiting(&self) -> bool {
        self.pages.is_busy()
    }
}

fn cells_of(loaded: &LoadedTrace, data: &TableData, row: usize) -> Arc<[Cell<'static>]> {
    let mut cells = Vec::new();
    data.rows.row(loaded, row, &mut cells);
    cells.into_iter().map(Cell::into_owned).collect()
}
