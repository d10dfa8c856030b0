//! Where events were lost, as a list: in the Info pane, above what else was odd.

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::gui::pane::{Later, Scene, TraceKey};
use crate::gui::table::{Cell, DataTable, ROW_HEIGHT, TableColumn, TableData, TableRow, column};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::gaps::sum_words;
use crate::view::{Action, ruler};

/// How many gaps are listed; the others are counted.
const MOST: usize = 100_000;
/// How many rows are seen at once.
const SEEN: usize = 8;

const COLUMNS: [TableColumn; 5] = [
    column("From", 130.0, "The last time before the loss"),
    column("Duration", 100.0, "How long nothing was recorded"),
    column("Lost", 90.0, "How many events, where the file says so"),
    column("CPU", 60.0, "Whose events, where the file says so"),
    column("File", 160.0, "In which file"),
];

/// The list, with how it is sorted and filtered.
#[derive(Default)]
pub struct LostTable {
    rows: Later<TraceKey, Arc<TableData>>,
    table: DataTable,
}

impl LostTable {
    /// Draws the list if events were lost.
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
        let rows = self
            .rows
            .ask(ui.ctx(), TraceKey::of(scene.loaded), move || rows(&loaded));
        let Some(data) = rows.cloned() else {
            ui.spinner();
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
        // Room for the heading, and for a bar below where the columns are wider than the pane.
        let height = 44.0 + ROW_HEIGHT * count.min(SEEN) as f32;
        let size = egui::vec2(width, height);
        let answer = ui.allocate_ui(size, |ui| {
            ui.set_min_size(size);
            ui.set_max_size(size);
            self.table
                .ui(ui, scene, "lost events", &data, actions, |_, _, _| {})
        });
        let clicked = answer.inner.clicked.and_then(|row| data.rows.get(row));
        actions.extend(clicked.and_then(|row| row.item).map(Action::Reveal));
        ui.add_space(8.0);
    }

    /// Whether the list is being made.
    pub fn is_waiting(&self) -> bool {
        self.rows.is_waiting()
    }
}

fn rows(loaded: &LoadedTrace) -> Arc<TableData> {
    let trace = &loaded.trace;
    let has_files = !trace.sources.is_empty();
    let row = |id| {
        let (gap, span) = (trace.gap(id)?, trace.gap_span(id)?);
        let mut cells = vec![
            Cell::Time(span.start),
            Cell::Length(span.duration().0.into()),
            gap.lost
                .filter(|lost| *lost > 0)
                .map_or(Cell::None, Cell::Count),
            gap.cpu
                .map_or(Cell::None, |cpu| Cell::Text(format!("CPU {cpu}"))),
        ];
        if has_files {
            let source = trace.gap_source(id);
            let source = source.and_then(|id| trace.sources.get(id.0 as usize));
            cells.push(source.map_or(Cell::None, |source| Cell::Text(source.name.clone())));
        }
        Some(TableRow {
            cells,
            item: Some(Item::Gap(id)),
            tint: None,
        })
    };
    let ids = loaded.index.gaps.all().ids().take(MOST);
    let columns = if has_files {
        &COLUMNS[..]
    } else {
        &COLUMNS[..4]
    };
    Arc::new(TableData {
        columns: columns.to_vec(),
        rows: ids.filter_map(row).collect(),
    })
}
