//! The list of gaps, in which events were lost: in the Info pane, above other diagnostics.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::{Task, TaskKey};
use crate::gui::pane::Scene;
use crate::gui::table::{DataTable, PaneColumn, TableData};
use crate::load::LoadedTrace;
use crate::query::gaps::sum_words;
use crate::tables::gaps::{GAPS, gap_rows, gaps_and_more};
use crate::view::{Action, ruler};

/// The most gaps that are listed; the others are only counted.
const MOST: usize = 100_000;
/// The number of rows that are visible at once.
const SEEN: usize = 8;

/// The state of the list: its sorting and its filter.
#[derive(Default)]
pub(crate) struct LostTable {
    rows: Task<(), Arc<TableData>>,
    table: DataTable,
}

impl LostTable {
    /// Draws the list; does nothing if no events were lost.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        width: f32,
        actions: &mut Vec<Action>,
    ) {
        let words = sum_words(&scene.loaded.trace);
        if words.is_empty() {
            return;
        }
        let count = scene.loaded.trace.gaps.len();
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
            ui.label(RichText::new(GAPS.title).strong());
            let mut words = words;
            if count > MOST {
                let listed = ruler::grouped(MOST as i64);
                words.push_str(&format!("; the first {listed} are listed"));
            }
            ui.label(RichText::new(words).color(scene.palette.weak));
            self.table.tools_ui(ui, scene, &data, actions);
        });
        let size = egui::vec2(width, data.height(ui, SEEN));
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

    pub(crate) fn stop(&mut self) {
        self.rows.stop();
        self.table.stop();
    }
}

fn rows(loaded: &LoadedTrace) -> Arc<TableData> {
    let of = |name: &str, width: f32| PaneColumn::of(&GAPS, name, width);
    let mut columns = vec![
        of("ts", 130.0),
        of("end", 130.0),
        of("dur", 100.0),
        of("lost", 90.0),
        of("cpu", 60.0),
    ];
    if !loaded.trace.sources.is_empty() {
        columns.push(of("file", 160.0));
    }
    let rows = gaps_and_more(loaded, MOST);
    Arc::new(TableData::new(columns, gap_rows(rows)))
}
