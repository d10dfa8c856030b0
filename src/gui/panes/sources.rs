//! The files on the axis, for the info pane: the offset of each, its reason, and controls to change it.

use egui::{RichText, TextEdit, Ui};

use crate::base::time::parse_duration;
use crate::gui::pane::Scene;
use crate::trace::sources::PlacedBy;
use crate::trace::{Source, SourceId};
use crate::view::{Action, Effect};

/// The offset that the user types.
#[derive(Debug, Default)]
pub(crate) struct SourcesTable {
    typed: Option<(SourceId, String)>,
    problem: Option<String>,
}

impl SourcesTable {
    /// Draws the table, if there are several files.
    pub fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
        let sources = &scene.loaded.trace.sources;
        if sources.is_empty() {
            return;
        }
        ui.label(RichText::new("Files on this axis").strong());
        egui::Grid::new("sources")
            .num_columns(5)
            .spacing([14.0, 4.0])
            .show(ui, |ui| {
                for title in ["file", "format", "offset", "", "why"] {
                    ui.label(RichText::new(title).color(scene.palette.weak));
                }
                ui.end_row();
                for (id, source) in (0..).map(SourceId).zip(sources) {
                    self.row_ui(ui, scene, id, source, actions);
                    ui.end_row();
                }
            });
        if let Some(problem) = &self.problem {
            ui.label(RichText::new(problem).color(scene.palette.error));
        }
        ui.add_space(8.0);
    }

    fn row_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        id: SourceId,
        source: &Source,
        actions: &mut Vec<Action>,
    ) {
        ui.label(&source.name);
        ui.label(&source.info.format);
        let mut text = match &self.typed {
            Some((typed, text)) if *typed == id => text.clone(),
            _ => source.offset_text(),
        };
        let edit = TextEdit::singleline(&mut text).font(egui::TextStyle::Monospace);
        let edit = ui.add_sized([190.0, 20.0], edit);
        edit.widget_info(|| {
            let label = format!("Offset of {}", source.name);
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, label)
        });
        if edit.changed() {
            self.typed = Some((id, text.clone()));
        }
        if edit.lost_focus() && self.typed.take().is_some() {
            match parse_duration(text.trim().trim_start_matches('+')) {
                Ok(offset) => {
                    self.problem = None;
                    actions.push(Action::Do(Effect::Place(id, Some(offset))));
                }
                Err(problem) => self.problem = Some(problem),
            }
        }
        ui.horizontal(|ui| {
            let by_user = source.placed_by == PlacedBy::User;
            if ui
                .add_enabled(by_user, egui::Button::new("Reset"))
                .on_hover_text("Put it where the files say")
                .clicked()
            {
                actions.push(Action::Do(Effect::Place(id, None)));
            }
            if ui
                .button("Remove")
                .on_hover_text("Take this file off the axis")
                .clicked()
            {
                actions.push(Action::Do(Effect::Remove(id)));
            }
        });
        ui.label(RichText::new(&source.evidence).color(scene.palette.weak));
    }
}
