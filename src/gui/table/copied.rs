//! Rows as tab-separated text for the clipboard: times in ns of the trace's clock, everything else as files contain it.

use std::sync::Arc;

use super::data::{PaneColumn, TableData};
use crate::base::{Cancelled, Job, Task, TaskKey, Work};
use crate::export::rows::{RowFormat, RowWriter};
use crate::load::LoadedTrace;
use crate::tables::{Cell, ColumnDef, Unit};
use crate::view::{Action, Effect};

/// The most rows that are copied: longer tables are saved by a command (`threadline help`).
const MOST_COPIED: usize = 100_000;

/// The tooltip of a button that copies the rows of a table.
pub(crate) const COPIES_ROWS: &str =
    "Copy the rows as tab-separated text, at most 100 000 (Ctrl+C over the table)";

/// Draws a button that copies `row_count` rows; it is disabled if there are none.
pub(crate) fn copy_button(ui: &mut egui::Ui, row_count: usize, about: &str) -> egui::Response {
    ui.add_enabled(row_count > 0, egui::Button::new("Copy"))
        .on_hover_text(about)
}

/// Returns the rows of a table that are shown, as text with a heading of titles.
///
/// # Errors
/// Errors if the job is cancelled.
pub(super) fn text_of(
    data: &TableData,
    loaded: &LoadedTrace,
    order: Option<&[u32]>,
    job: &Job,
) -> Result<String, Cancelled> {
    let with_cells = || data.columns.iter().filter(|column| column.has_cells());
    let columns: Vec<ColumnDef<'_>> = with_cells().map(titled).collect();
    let mut text = Vec::new();
    let Ok(mut writer) = RowWriter::new(&mut text, RowFormat::Tsv, &columns) else {
        return Ok(String::new());
    };
    let count = order.map_or(data.rows.len(), <[u32]>::len).min(MOST_COPIED);
    let mut cells = Vec::new();
    for place in 0..count {
        job.check()?;
        let row = order.map_or(place, |order| order[place] as usize);
        cells.clear();
        data.rows.row(loaded, row, &mut cells);
        let mut shown: Vec<Cell> = with_cells().map(|column| copied(column, &cells)).collect();
        if let (depth @ 1.., Some(Cell::Text(name))) = (data.rows.depth(row), shown.first_mut()) {
            name.prepend(&"  ".repeat(depth.min(200) as usize));
        }
        // Writing to memory does not fail.
        let _never_fails = writer.row(&shown);
    }
    let _never_fails = writer.finish();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the cell of a row as it is copied.
fn copied<'a>(column: &PaneColumn, cells: &'a [Cell<'_>]) -> Cell<'a> {
    match column.cell(cells) {
        // A change from a value to zero is a change by -100 %.
        Cell::Float(f64::NEG_INFINITY) if column.def.unit == Unit::Change => Cell::Float(-1.0),
        cell => cell.borrowed(),
    }
}

/// Text for the clipboard that a task prepares.
#[derive(Default)]
pub(crate) struct Copying {
    text: Task<u64, String>,
    count: u64,
}

impl Copying {
    /// Starts a copy; cancels one that is running.
    pub(crate) fn start(
        &mut self,
        ctx: &egui::Context,
        work: impl FnOnce(&Work<String>) -> Result<String, Cancelled> + Send + 'static,
    ) {
        self.count += 1;
        let question = TaskKey::without_trace(self.count);
        self.text.ask(ctx, question, work);
    }

    /// Starts a copy of rows of a table in an order.
    pub(crate) fn start_table(
        &mut self,
        ctx: &egui::Context,
        loaded: &Arc<LoadedTrace>,
        data: &Arc<TableData>,
        order: Option<Arc<[u32]>>,
    ) {
        let (loaded, data) = (loaded.clone(), data.clone());
        self.start(ctx, move |job| {
            text_of(&data, &loaded, order.as_deref(), job)
        });
    }

    /// Puts text that is complete on the clipboard.
    pub(crate) fn poll(&mut self, actions: &mut Vec<Action>) {
        actions.extend(self.text.take().map(|it| Action::Do(Effect::Copy(it))));
    }

    /// Returns whether a copy is running.
    pub(crate) fn is_waiting(&self) -> bool {
        self.text.is_busy()
    }

    /// Cancels the copy.
    pub(crate) fn stop(&mut self) {
        self.text.stop();
    }
}

/// Returns the column with the name that people see, in place of the name for scripts.
fn titled(column: &PaneColumn) -> ColumnDef<'_> {
    ColumnDef {
        name: &column.title,
        ..column.def
    }
}
