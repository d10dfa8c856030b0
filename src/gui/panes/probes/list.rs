//! The table of probes: a click chooses one, a checkbox adds it to the capture script.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::Ui;

use crate::gui::pane::Scene;
use crate::gui::table::{DataTable, PaneColumn, Parts, TableData};
use crate::query::probes::{ProbeKey, ProbeTable};
use crate::tables::probes::{EVENT_IN_FULL, PROBES, probe_rows};
use crate::view::Action;

/// The width of the checkboxes, in points.
const TICK_WIDTH: f32 = 24.0;

/// The state of the table on the screen.
#[derive(Default)]
pub(super) struct ProbeList {
    table: DataTable,
    /// The rows, and the probes to which they belong.
    listed: Option<(Arc<ProbeTable>, Arc<TableData>)>,
}

impl ProbeList {
    /// Returns the rows of these probes.
    pub(super) fn data(&mut self, all: &Arc<ProbeTable>) -> Arc<TableData> {
        match &self.listed {
            Some((of, data)) if Arc::ptr_eq(of, all) => data.clone(),
            _ => {
                let data = Arc::new(TableData::new(columns(), probe_rows(all.clone())));
                self.listed = Some((all.clone(), data.clone()));
                data
            }
        }
    }

    /// Draws a filter, and a button that copies the rows.
    pub(crate) fn tools_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        all: &Arc<ProbeTable>,
        actions: &mut Vec<Action>,
    ) {
        let data = self.data(all);
        self.table.tools_ui(ui, scene, &data, actions);
    }

    /// Returns whether rows are being sorted or copied.
    pub(crate) fn is_waiting(&self) -> bool {
        self.table.is_waiting()
    }

    pub(crate) fn stop(&mut self) {
        self.table.stop();
    }

    /// Returns the width of the columns that fit whole into `most`, in points.
    pub(crate) fn width_within(&mut self, ui: &Ui, all: &Arc<ProbeTable>, most: f32) -> f32 {
        self.data(all).width_within(ui, most)
    }

    /// Draws the rows; a click chooses a row, a checkbox adds its probe to the script.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        all: &Arc<ProbeTable>,
        chosen: &mut Option<ProbeKey>,
        left_out: &mut BTreeSet<ProbeKey>,
        actions: &mut Vec<Action>,
    ) {
        let data = self.data(all);
        let is_chosen = |chosen: &ProbeKey| all.rows.iter().position(|row| row.has_key(chosen));
        self.table.detail(chosen.as_ref().and_then(is_chosen));
        let mut draw = |ui: &mut Ui, row: usize, _: &PaneColumn| tick_ui(ui, all, row, left_out);
        let parts = Parts {
            draw: &mut draw,
            menu: |_: &mut Ui, _: usize, _: &mut Vec<Action>| {},
        };
        let answer = (self.table).ui_with_cells(ui, scene, "probes", &data, actions, parts);
        if let Some(row) = answer.clicked.and_then(|row| all.rows.get(row)) {
            *chosen = Some(row.key());
        }
    }
}

fn columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&PROBES, name, width);
    vec![
        PaneColumn::of_controls("Whether it is in the capture script", TICK_WIDTH),
        PaneColumn::after(&PROBES, 0, EVENT_IN_FULL, 120.0),
        of("sort", 48.0).titled("When"),
        of("place", 130.0),
        of("hits", 46.0),
        of("misses", 52.0).counting_trouble(),
        of("events", 52.0),
        of("calls", 46.0),
        of("p50", 76.0),
        of("max", 76.0),
        of("arguments", 260.0),
    ]
}

fn tick_ui(ui: &mut Ui, all: &ProbeTable, row: usize, left_out: &mut BTreeSet<ProbeKey>) {
    let Some(row) = all.rows.get(row) else {
        return;
    };
    let name = row.key();
    let is_defined = !row.definitions.is_empty();
    let mut is_in = is_defined && !left_out.contains(&name);
    let tick = egui::Checkbox::without_text(&mut is_in);
    let response = ui.add_enabled(is_defined, tick);
    response.widget_info(|| {
        let label = format!("{} in the capture script", row.event);
        egui::WidgetInfo::selected(egui::Role::CheckBox, is_defined, is_in, label)
    });
    let response = response.on_hover_text("Add it to the capture script");
    if response.clicked() {
        match is_in {
            true => left_out.remove(&name),
            false => left_out.insert(name),
        };
    }
}
