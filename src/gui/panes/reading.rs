//! How the file was read, for the info pane: its format, and the date of its times of day; the user can change both.

use egui::{ComboBox, RichText, TextEdit, Ui};

use crate::event::FirstDay;
use crate::formats::FORMATS;
use crate::gui::pane::Scene;
use crate::load::Reading;
use crate::load::reading::{CompilerTraces, first_day_text, midnight_of};
use crate::view::{Action, Effect};

/// The date that the user types.
#[derive(Debug, Default)]
pub(crate) struct ReadingRow {
    date: String,
    /// The first day that the box showed before the user typed.
    shown: Option<i64>,
    problem: bool,
}

impl ReadingRow {
    /// Draws the choices; a changed choice reads the file again.
    pub(super) fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
        let loaded = scene.loaded;
        if !loaded.is_complete || loaded.path.as_os_str() == "-" {
            return;
        }
        ui.horizontal(|ui| {
            ui.label(RichText::new("read as").color(scene.palette.weak));
            let shown = loaded.reading.format.unwrap_or("what it looks like");
            let mut wanted = loaded.reading.format;
            ComboBox::from_id_salt("read as")
                .selected_text(shown)
                .show_ui(ui, |ui| {
                    ui.selectable_value(&mut wanted, None, "what it looks like");
                    for format in FORMATS {
                        ui.selectable_value(&mut wanted, Some(format.name), format.name);
                    }
                })
                .response
                .widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Read the file as")
                });
            if wanted != loaded.reading.format {
                actions.push(Action::Do(Effect::ReadAgain(Reading {
                    format: wanted,
                    ..loaded.reading
                })));
            }
            compilers_ui(ui, scene, actions);
            if loaded.trace.info.first_day != FirstDay::OfFile {
                self.date_ui(ui, scene, actions);
            }
        });
    }

    fn date_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
        ui.label(RichText::new("first day").color(scene.palette.weak));
        let given = scene.loaded.reading.midnight_ns;
        if self.shown != given {
            self.shown = given;
            self.date = given.map(first_day_text).unwrap_or_default();
        }
        let edit = TextEdit::singleline(&mut self.date)
            .font(egui::TextStyle::Monospace)
            .hint_text("YYYY-MM-DD");
        let edit = ui.add_sized([100.0, 20.0], edit);
        edit.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Date of the first day")
        });
        let is_entered = edit.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let is_set = ui
            .button("Set")
            .on_hover_text(
                "The file has times of day without a date. Add +02:00 after the date if the times are not UTC",
            )
            .clicked();
        if is_entered || is_set {
            let midnight = midnight_of(&self.date);
            self.problem = midnight.is_none();
            if midnight.is_some() {
                actions.push(Action::Do(Effect::ReadAgain(Reading {
                    midnight_ns: midnight,
                    ..scene.loaded.reading
                })));
            }
        }
        if self.problem {
            let words =
                RichText::new("expected a date such as 2026-11-21").color(scene.palette.error);
            ui.label(words);
        } else if scene.loaded.reading.midnight_ns.is_some() {
            ui.label(RichText::new("set").color(scene.palette.weak));
        }
    }
}

/// Draws the choice whether traces that processes of the recording wrote are opened with it, if there are any.
fn compilers_ui(ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
    let reading = scene.loaded.reading;
    let has_some = scene.loaded.members.iter().any(|it| it.named.is_some());
    let mut is_wanted = reading.compiler_traces != CompilerTraces::LeftOut;
    if is_wanted && !has_some {
        return;
    }
    let choice = ui.checkbox(&mut is_wanted, "traces of compilers");
    let choice = choice.on_hover_text(
        "Open the traces (-ftime-trace) that processes of this recording wrote: at the paths in the recording, or beside it",
    );
    if choice.changed() {
        actions.push(Action::Do(Effect::ReadAgain(Reading {
            compiler_traces: match is_wanted {
                true => CompilerTraces::Beside,
                false => CompilerTraces::LeftOut,
            },
            ..reading
        })));
    }
}
