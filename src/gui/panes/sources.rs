//! The files on the axis, for the info pane: the offset of each, its reason, and controls to change it.

use std::sync::Arc;

use egui::{RichText, TextEdit, Ui};

use crate::base::time::parse_duration;
use crate::gui::pane::Scene;
use crate::gui::table::{DataTable, PaneColumn, Parts, TableData};
use crate::load::TraceId;
use crate::tables::sources::{SOURCES, source_rows};
use crate::trace::sources::PlacedBy;
use crate::trace::{Source, SourceId};
use crate::view::{Action, Effect};

/// The most files that are seen at once.
const SEEN: usize = 8;

/// The state of the table on the screen, and the offset that the user types.
#[derive(Default)]
pub(crate) struct SourcesTable {
    table: DataTable,
    /// The rows, and the trace to which they belong.
    listed: Option<(TraceId, Arc<TableData>)>,
    typed: Typed,
}

#[derive(Default)]
struct Typed {
    offset: Option<(SourceId, String)>,
    problem: Option<String>,
}

impl SourcesTable {
    /// Draws the table, if there are several files.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        width: f32,
        actions: &mut Vec<Action>,
    ) {
        let sources = &scene.loaded.trace.sources;
        if sources.is_empty() {
            return;
        }
        let id = scene.loaded.id;
        let data = match &self.listed {
            Some((of, data)) if *of == id => data.clone(),
            _ => {
                let rows = source_rows(sources.len());
                Arc::new(TableData::new(columns(), rows).with_fields())
            }
        };
        self.listed = Some((id, data.clone()));
        ui.horizontal(|ui| {
            ui.label(RichText::new(SOURCES.title).strong());
            let what = "the files on this axis";
            self.table.named_tools_ui(ui, scene, &data, what, actions);
        });
        let size = egui::vec2(width, data.height(ui, SEEN));
        let mut changes = Vec::new();
        let (table, typed) = (&mut self.table, &mut self.typed);
        let mut draw = |ui: &mut Ui, row: usize, column: &PaneColumn| {
            let id = SourceId(row as u32);
            let Some(source) = sources.get(row) else {
                return;
            };
            match column.def.name {
                "offset" => typed.offset_ui(ui, id, source, &mut changes),
                _ => controls_ui(ui, id, source, &mut changes),
            }
        };
        ui.allocate_ui(size, |ui| {
            ui.set_min_size(size);
            ui.set_max_size(size);
            let parts = Parts {
                draw: &mut draw,
                menu: |_: &mut Ui, _: usize, _: &mut Vec<Action>| {},
            };
            table.ui_with_cells(ui, scene, "sources", &data, actions, parts)
        });
        actions.append(&mut changes);
        if let Some(problem) = &self.typed.problem {
            ui.label(RichText::new(problem).color(scene.palette.error));
        }
        ui.add_space(8.0);
    }

    /// Returns whether rows are being copied.
    pub(crate) fn is_waiting(&self) -> bool {
        self.table.is_waiting()
    }

    pub(crate) fn stop(&mut self) {
        self.table.stop();
    }
}

fn columns() -> Vec<PaneColumn> {
    let of = |name: &str, width: f32| PaneColumn::of(&SOURCES, name, width);
    vec![
        of("file", 180.0),
        of("format", 90.0),
        of("offset", 190.0).drawn(),
        PaneColumn::of_controls("Puts the file back, or takes it off the axis", 120.0),
        of("why", 300.0).growing(),
    ]
}

impl Typed {
    /// Draws the field with the offset of a file.
    fn offset_ui(&mut self, ui: &mut Ui, id: SourceId, source: &Source, actions: &mut Vec<Action>) {
        let mut text = match &self.offset {
            Some((typed, text)) if *typed == id => text.clone(),
            _ => source.offset_text(),
        };
        let edit = TextEdit::singleline(&mut text)
            .id(egui::Id::unique(("offset of file", id.0)))
            .font(egui::TextStyle::Monospace);
        let edit = ui.add_sized([ui.available_width(), 20.0], edit);
        edit.widget_info(|| {
            let label = format!("Offset of {}", source.name);
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, label)
        });
        if edit.changed() {
            self.offset = Some((id, text.clone()));
        }
        if edit.lost_focus() && self.offset.take().is_some() {
            match parse_duration(text.trim().trim_start_matches('+')) {
                Ok(offset) => {
                    self.problem = None;
                    actions.push(Action::Do(Effect::Place(id, Some(offset))));
                }
                Err(problem) => self.problem = Some(problem),
            }
        }
    }
}

fn controls_ui(ui: &mut Ui, id: SourceId, source: &Source, actions: &mut Vec<Action>) {
    let by_user = source.placed_by == PlacedBy::User;
    let reset = ui.add_enabled(by_user, egui::Button::new("Reset").small());
    let reset = reset.on_hover_text("Put it where the clocks of the files place it");
    if reset.clicked() {
        actions.push(Action::Do(Effect::Place(id, None)));
    }
    let remove = ui.small_button("Remove");
    if remove
        .on_hover_text("Take this file off the axis")
        .clicked()
    {
        actions.push(Action::Do(Effect::Remove(id)));
    }
}
