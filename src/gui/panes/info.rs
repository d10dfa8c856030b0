//! A pane about the file: its metadata, its diagnostics, and its memory use.

use std::sync::Arc;

use egui::{RichText, ScrollArea, Ui};

use super::lost::LostTable;
use super::reading::ReadingRow;
use super::sources::SourcesTable;
use crate::event::Fact;
use crate::gui::pane::{Pane, Scene};
use crate::gui::table::{DataTable, PaneColumn, TableData};
use crate::load::TraceId;
use crate::tables::recorded::{DIAGNOSTICS, diagnostic_rows};
use crate::tables::sources::{FACTS, fact_rows};
use crate::tables::{Cell, ColumnDef, TableDef};
use crate::view::Action;
use crate::view::contents::{ContentValue, contents};

/// The greatest height of a list, in points: a longer one is scrolled by itself.
const MOST_HEIGHT: f32 = 1200.0;

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<InfoPane>::default()
}

#[derive(Default)]
struct InfoPane {
    sources: SourcesTable,
    reading: ReadingRow,
    lost: LostTable,
    diagnostics: DataTable,
    facts: DataTable,
    /// The rows of both, and the trace to which they belong.
    listed: Option<(TraceId, Listed)>,
}

/// The rows of the pane's lists.
#[derive(Clone)]
struct Listed {
    diagnostics: Arc<TableData>,
    facts: Arc<TableData>,
}

impl Pane for InfoPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let loaded = scene.loaded;
        let weak = scene.palette.weak;
        let mut actions = Vec::new();
        let width = ui.available_width();
        let Listed { diagnostics, facts } = self.listed(scene);
        ScrollArea::vertical()
            .auto_shrink([false, false])
            .show(ui, |ui| {
                self.sources.ui(ui, scene, width, &mut actions);
                self.lost.ui(ui, scene, width, &mut actions);
                let list = List {
                    def: &DIAGNOSTICS,
                    data: &diagnostics,
                    what: "the diagnostics",
                };
                list.ui(ui, scene, &mut self.diagnostics, &mut actions, |_, _| {});
                if diagnostics.rows.is_empty() {
                    let words = match loaded.is_complete {
                        true => "Nothing was odd in this file.",
                        false => "The file is still being read.",
                    };
                    ui.label(RichText::new(words).color(weak));
                }
                ui.add_space(8.0);
                let list = List {
                    def: &FACTS,
                    data: &facts,
                    what: "the facts",
                };
                let reading = &mut self.reading;
                list.ui(ui, scene, &mut self.facts, &mut actions, |ui, actions| {
                    reading.ui(ui, scene, actions);
                });
            });
        actions
    }

    fn is_waiting(&self) -> bool {
        let tables = [&self.diagnostics, &self.facts];
        let is_any = tables.into_iter().any(DataTable::is_waiting);
        is_any || self.lost.is_waiting() || self.sources.is_waiting()
    }

    fn stop(&mut self) {
        self.diagnostics.stop();
        self.facts.stop();
        self.lost.stop();
        self.sources.stop();
    }
}

impl InfoPane {
    fn listed(&mut self, scene: &Scene<'_>) -> Listed {
        let id = scene.loaded.id;
        match &self.listed {
            Some((of, listed)) if *of == id => listed.clone(),
            _ => {
                let listed = Listed {
                    diagnostics: Arc::new(diagnostics_of(scene)),
                    facts: Arc::new(facts_of(scene)),
                };
                self.listed = Some((id, listed.clone()));
                listed
            }
        }
    }
}

/// A list of the pane.
struct List<'a> {
    def: &'static TableDef,
    data: &'a Arc<TableData>,
    /// What screen readers call the rows.
    what: &'static str,
}

impl List<'_> {
    /// Draws the title with its tools, what `between` draws, and the rows.
    fn ui(
        &self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        table: &mut DataTable,
        actions: &mut Vec<Action>,
        between: impl FnOnce(&mut Ui, &mut Vec<Action>),
    ) {
        let data = self.data;
        ui.horizontal(|ui| {
            ui.label(RichText::new(self.def.title).strong());
            if !data.rows.is_empty() {
                table.named_tools_ui(ui, scene, data, self.what, actions);
            }
        });
        between(ui, actions);
        if data.rows.is_empty() {
            return;
        }
        let width = ui.available_width();
        let size = egui::vec2(width, table.height(ui, scene, data, width, MOST_HEIGHT));
        ui.allocate_ui(size, |ui| {
            ui.set_min_size(size);
            ui.set_max_size(size);
            table.ui(ui, scene, self.def.name, data, actions, |_, _, _| {});
        });
    }
}

fn diagnostics_of(scene: &Scene<'_>) -> TableData {
    let rows = diagnostic_rows(scene.loaded.trace.diagnostics.rows().len());
    let of = |name: &str, width: f32| PaneColumn::of(&DIAGNOSTICS, name, width);
    let message = ColumnDef::text("message", "Message", "What is wrong or missing, and where.");
    let columns = vec![
        of("severity", 76.0).in_trouble_if(|cell| *cell != Cell::from("info")),
        of("count", 70.0),
        of("code", 170.0).mono(),
        PaneColumn::after(&DIAGNOSTICS, 0, message, 240.0).wrapping(),
    ];
    TableData::new(columns, rows)
}

/// Returns what the trace contains, and the facts that the file states about itself.
fn facts_of(scene: &Scene<'_>) -> TableData {
    let of = |name: &str, width: f32| PaneColumn::of(&FACTS, name, width);
    let columns = vec![of("fact", 150.0), of("value", 240.0).mono().wrapping()];
    TableData::new(columns, fact_rows(facts(scene)))
}

fn facts(scene: &Scene<'_>) -> Vec<Fact> {
    let contents = contents(scene.loaded).into_iter();
    let is_shown = |value: &ContentValue| !value.is_absent() && !value.is_zero();
    let contents = contents.filter(|content| is_shown(&content.value));
    let own = scene.loaded.trace.info.facts.iter();
    let stated = own.filter(|fact| !fact.value.is_empty());
    // As everywhere in the window, the file is named without its folder.
    let words = |value: ContentValue| match value {
        ContentValue::Files(_, bytes) => {
            let name = scene.loaded.file_name();
            ContentValue::Files(scene.loaded.with_others(name), bytes).words()
        }
        value => value.words(),
    };
    contents
        .map(|content| Fact::new(content.label, words(content.value)))
        .chain(stated.map(|fact| Fact::new(fact.name.clone(), fact.value.trim_end())))
        .collect()
}
