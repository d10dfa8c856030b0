//! The list of gaps, in which events were lost: in the Info pane, above other diagnostics.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::{Task, TaskKey};
use crate::gui::pane::Scene;
use crate::gui::table::{DataTable, ROW_HEIGHT, TableData};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::gaps::sum_words;
use crate::tables::{Cell, ColumnDef, MadeRow};
use crate::view::{Action, ruler};

/// The most gaps that are listed; the others are only counted.
const MOST: usize = 100_000;
/// The number of rows that are visible at once.
const SEEN: usize = 8;

const COLUMNS: [(ColumnDef<'static>, f32); 5] = [
    (
        ColumnDef::time("ts", "From", "The last time before the loss"),
        130.0,
    ),
    (
        ColumnDef::duration("dur", "Duration", "How long nothing was recorded"),
        100.0,
    ),
    (
        ColumnDef::count("lost", "Lost", "How many events, where the file says so"),
        90.0,
    ),
    (
        ColumnDef::text("cpu", "CPU", "Whose events, where the file says so"),
        60.0,
    ),
    (ColumnDef::text("file", "File", "In which file"), 160.0),
];

/// The state of the list: its sorting and its filter.
#[derive(Default)]
pub(crate) struct LostTable {
    rows: Task<(), Arc<TableData>>,
    table: DataTable,
}

impl LostTable {
    /// Draws the list; does nothing if no events were lost.
    pub fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, width: f32, actions: &mut Vec<Action>) {
        let count = scene.loaded.trace.gaps.len();
        let words = sum_words(&scene.loaded.trace);
        if count == 0 {
            if !words.is_empty() {
                ui.label(RichText::new("Lost events").strong());
                ui.label(RichText::new(words).color(scene.palette.weak));
                ui.add_space(8.0);
            }
            return;
        }
        let loaded = scene.loaded.clone();
        let question = TaskKey::about(loaded.id, ()).in_turn();
        let rows = self
            .rows
            .ask(ui.ctx(), question, move |_| Ok(rows(&loaded)));
        let Some(data) = rows.cloned() else {
            self.rows.ui(ui, scene.palette);
            return;
        };
        ui.horizontal(|ui| {
            ui.label(RichText::new("Lost events").strong());
            let mut words = words;
            if count > MOST {
                let listed = ruler::grouped(MOST as i64);
                words.push_str(&format!("; the first {listed} are listed"));
            }
            ui.label(RichText::new(words).color(scene.palette.weak));
            self.table.tools_ui(ui, scene, &data, actions);
        });
        // Includes the heading, and a scroll bar if the columns are wider than the pane.
        let height = 44.0 + ROW_HEIGHT * count.min(SEEN) as f32;
        let size = egui::vec2(width, height);
        let answer = ui.allocate_ui(size, |ui| {
            ui.set_min_size(size);
            ui.set_max_size(size);
            self.table
                .ui(ui, scene, "lost events", &data, actions, |_, _, _| {})
        });
        let clicked = answer.inner.clicked;
        let item = clicked.and_then(|row| data.rows.item(scene.loaded, row));
        actions.extend(item.map(Action::Reveal));
        ui.add_space(8.0);
    }

    /// Returns whether the list is being computed.
    pub(crate) fn is_waiting(&self) -> bool {
        self.rows.is_busy()
    }
}

fn rows(loaded: &LoadedTrace) -> Arc<TableData> {
    let trace = &loaded.trace;
    let has_files = !trace.sources.is_empty();
    let row = |id| {
        let (gap, span) = (trace.gap(id)?, trace.gap_span(id)?);
        let mut cells = vec![
            Cell::from(span.start),
            span.duration().0.into(),
            gap.lost.filter(|lost| *lost > 0).into(),
            gap.cpu.map(|cpu| format!("CPU {cpu}")).into(),
        ];
        if has_files {
            let source = trace.gap_source(id);
            let source = source.and_then(|id| trace.sources.get(id.0 as usize));
            cells.push(source.map(|source| source.name.clone()).into());
        }
        Some(MadeRow {
            cells,
            item: Some(Item::Gap(id)),
        })
    };
    let ids = loaded.index.gaps.all().ids().take(MOST);
    let columns = if has_files {
        &COLUMNS[..]
    } else {
        &COLUMNS[..4]
    };
    Arc::new(TableData::made(
        columns.to_vec(),
        ids.filter_map(row).collect(),
    ))
}
