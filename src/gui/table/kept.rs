//! The cells of the rows that a table draws: made in the frame, or by a task if that may take longer than a frame.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::data::TableData;
use crate::base::{Task, TaskKey, TraceId, Work};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::tables::Cell;
use crate::view::anchor::{Anchor, anchor_of, find};

/// The most rows whose cells are kept from frame to frame.
const MOST_KEPT: usize = 1_000;
/// The distance in rows from the start of one page to the start of the next. A page has twice as many rows.
const PAGE: usize = 128;

/// Cells of the rows of one table that were drawn.
#[derive(Default)]
pub(super) struct KeptCells {
    of: Option<Arc<TableData>>,
    rows: FxHashMap<usize, KeptRow>,
    pages: Task<PageKey, Vec<Arc<[Cell<'static>]>>>,
}

/// A row that was drawn.
#[derive(Clone)]
struct KeptRow {
    cells: Arc<[Cell<'static>]>,
    /// Its item, for newer generations of the trace; only of tables whose rows contain ids.
    anchor: Option<Anchor>,
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
    pub(super) fn row(
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
        if data.is_stale(loaded.id) {
            // The ids in rows that were not drawn yet mean others now.
            return self.rows.get(&row).map(|kept| kept.cells.clone());
        }
        if self.rows.len() >= MOST_KEPT {
            self.rows.clear();
        }
        let kept = self.rows.entry(row).or_insert_with(|| KeptRow {
            cells: cells_of(loaded, data, row),
            anchor: (data.of)
                .and_then(|_| data.rows.item(loaded, row))
                .and_then(|item| anchor_of(&loaded.trace, item)),
        });
        Some(kept.cells.clone())
    }

    /// Returns the item of a row in the generation that is shown.
    pub(crate) fn item(
        &self,
        loaded: &LoadedTrace,
        data: &Arc<TableData>,
        row: usize,
    ) -> Option<Item> {
        if !data.is_stale(loaded.id) {
            return data.item(loaded, row);
        }
        let of = self.of.as_ref().filter(|of| Arc::ptr_eq(of, data));
        let anchor = of.and_then(|_| self.rows.get(&row)?.anchor.as_ref())?;
        find(&loaded.trace, anchor)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Job;
    use crate::gui::table::PaneColumn;
    use crate::load::Reading;
    use crate::query::item::title;
    use crate::tables::{ColumnDef, MadeRow};
    use crate::trace::SliceId;

    /// A trace with slices of these names, each at its own time.
    fn loaded(names: &[&str]) -> LoadedTrace {
        let slices = names.iter().map(|name| {
            let at = name.as_bytes()[0];
            format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":{at},"dur":1,"name":"{name}"}}"#)
        });
        let text = format!("[{}]", slices.collect::<Vec<_>>().join(","));
        let (bytes, reading) = (text.into_bytes(), Reading::default());
        crate::load::open_bytes("a.json", bytes, reading, &Job::default()).unwrap()
    }

    #[test]
    fn rows_of_an_older_generation_are_not_read_with_the_ids_of_a_newer_one() {
        let old = loaded(&["b", "c"]);
        // What was appended belongs before the rest: ids differ.
        let new = loaded(&["a", "b", "c"]);
        let column = PaneColumn::at(0, ColumnDef::text("name", "Name", ""), 0.0);
        let row = |id: u32| {
            let item = Item::Slice(SliceId(id));
            MadeRow::new([title(&old.trace, item).into()]).about(Some(item))
        };
        let data = TableData::new(vec![column], vec![row(0), row(1)]).about(old.id);
        let data = Arc::new(data);
        let mut kept = KeptCells::default();
        let cells = |kept: &mut KeptCells, loaded| match &kept.row(loaded, &data, 1).unwrap()[0] {
            Cell::Text(text) => text.clone().into_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(cells(&mut kept, &old), "c");
        assert_eq!(kept.item(&old, &data, 1), Some(Item::Slice(SliceId(1))));
        // What was drawn stays, and means the same slice; what was not drawn is not made.
        assert_eq!(cells(&mut kept, &new), "c");
        assert_eq!(kept.item(&new, &data, 1), Some(Item::Slice(SliceId(2))));
        assert!(kept.row(&new, &data, 0).is_none());
        assert_eq!(kept.item(&new, &data, 0), None);
    }
}
