//! Questions before an action: whether to start over, and the path of a file where the desktop has no file dialog or
//! the user prefers to type.

use std::path::{Path, PathBuf};

use egui::{Key, RichText, Ui};

use super::pane::Scene;
use super::plot_question::PlotQuestion;
use super::theme::Palette;
use crate::view::Purpose;
use crate::view::session::ENDING;
use crate::view::{Action, Arrange, Effect, Question, RecordCommand, ViewState};

/// Width of the path field, in points.
const WIDTH: f32 = 460.0;

/// State of the open question.
#[derive(Default)]
pub(super) struct Questions {
    of: Option<Question>,
    /// The typed path or name.
    path: String,
    /// Whether the field is to be focused.
    wants_focus: bool,
    /// The reason why the path is not accepted.
    error: Option<String>,
    /// The path, if it exists already.
    is_there: Option<PathBuf>,
    plot: PlotQuestion,
}

impl Questions {
    /// Returns whether a part of the question is still being computed.
    pub(super) fn is_waiting(&self) -> bool {
        self.plot.is_waiting()
    }

    /// Draws the open question, if there is one. `scene` is the visible trace and view.
    pub(super) fn ui(
        &mut self,
        ctx: &egui::Context,
        state: &ViewState,
        scene: Option<&Scene<'_>>,
        palette: &Palette,
        actions: &mut Vec<Action>,
    ) {
        if self.of != state.question {
            let trace = scene.map(|scene| scene.loaded.path.as_path());
            *self = Questions {
                of: state.question.clone(),
                path: proposed(state.question.as_ref(), trace),
                wants_focus: true,
                plot: match &state.question {
                    Some(Question::Plot { draft, instead_of }) => {
                        PlotQuestion::new(draft, instead_of.as_ref())
                    }
                    _ => PlotQuestion::default(),
                },
                ..Questions::default()
            };
        }
        let Some(question) = &state.question else {
            return;
        };
        let modal = egui::Modal::new(egui::Id::unique("question")).show(ctx, |ui| {
            ui.set_max_width((ctx.content_rect().width() - 60.0).max(160.0));
            match question {
                Question::StartOver => start_over_ui(ui, actions),
                Question::Path(purpose) => self.path_ui(ui, *purpose, palette, actions),
                Question::KeepLayout => self.layout_ui(ui, state, actions),
                Question::Plot { .. } => match scene {
                    Some(scene) => self.plot.ui(ui, scene, actions),
                    None => actions.push(Action::Ask(None)),
                },
            }
        });
        if modal.should_close() {
            actions.push(Action::Ask(None));
        }
    }

    fn path_ui(
        &mut self,
        ui: &mut Ui,
        purpose: Purpose,
        palette: &Palette,
        actions: &mut Vec<Action>,
    ) {
        let does = match purpose {
            Purpose::Open => "Open",
            Purpose::Add => "Add",
            Purpose::SaveSession | Purpose::SavePicture | Purpose::SaveRecording => "Save",
        };
        ui.heading(purpose.title());
        ui.add_space(4.0);
        let width = WIDTH.min(ui.available_width());
        let edit = egui::TextEdit::singleline(&mut self.path)
            .hint_text("Path of the file")
            .desired_width(width);
        let response = ui.add(edit);
        let label = || egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Path of the file");
        response.widget_info(label);
        if std::mem::take(&mut self.wants_focus) {
            response.request_focus();
        }
        if response.changed() {
            (self.error, self.is_there) = (None, None);
        }
        if let Some(error) = &self.error {
            ui.label(RichText::new(error).color(palette.error));
        }
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if let Some(path) = &self.is_there
                && ui.button("Replace it").clicked()
            {
                actions.push(Action::Do(saved_to(purpose, path.clone())));
                actions.push(Action::Ask(None));
            }
            let can_be = !self.path.trim().is_empty() && self.is_there.is_none();
            let button = ui.add_enabled(can_be, egui::Button::new(does));
            if button.clicked() || (is_entered && can_be) {
                self.answer(purpose, actions);
            }
            if ui.button("Cancel").clicked() {
                ui.close();
            }
        });
        if is_entered && self.error.is_some() {
            response.request_focus();
        }
    }

    fn layout_ui(&mut self, ui: &mut Ui, state: &ViewState, actions: &mut Vec<Action>) {
        ui.heading("Keep the layout");
        ui.label(
            "Keeps the arrangement of the tracks for this and other traces: View > Layouts applies it again.",
        );
        ui.add_space(4.0);
        let edit = egui::TextEdit::singleline(&mut self.path)
            .hint_text("Name of this layout")
            .desired_width(WIDTH.min(ui.available_width()));
        let response = ui.add(edit);
        let label = || egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Name of the layout");
        response.widget_info(label);
        if std::mem::take(&mut self.wants_focus) {
            response.request_focus();
        }
        let name = self.path.trim();
        let is_kept = state.layouts.iter().any(|layout| layout.name == name);
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let does = if is_kept { "Replace" } else { "Keep" };
            let button = ui.add_enabled(!name.is_empty(), egui::Button::new(does));
            if button.clicked() || (is_entered && !name.is_empty()) {
                actions.push(Action::Arrange(Arrange::Save(name.to_owned())));
                actions.push(Action::Ask(None));
            }
            if ui.button("Cancel").clicked() {
                ui.close();
            }
        });
    }

    fn answer(&mut self, purpose: Purpose, actions: &mut Vec<Action>) {
        let mut path = typed(&self.path);
        let action = match purpose {
            Purpose::SaveSession | Purpose::SavePicture | Purpose::SaveRecording => {
                if path.extension().is_none() {
                    path.set_extension(match purpose {
                        Purpose::SavePicture => "png",
                        Purpose::SaveRecording => "dat",
                        _ => ENDING,
                    });
                }
                if path.exists() {
                    self.error = Some(format!("{} exists already", path.display()));
                    self.is_there = Some(path);
                    return;
                }
                Action::Do(saved_to(purpose, path))
            }
            Purpose::Open | Purpose::Add if !path.exists() => {
                self.error = Some(format!("There is no such file: {}", path.display()));
                return;
            }
            Purpose::Open => Action::Do(Effect::Open(vec![path])),
            Purpose::Add => Action::Do(Effect::Add(vec![path])),
        };
        actions.push(action);
        actions.push(Action::Ask(None));
    }
}

/// Returns what writes a file for this purpose.
fn saved_to(purpose: Purpose, path: PathBuf) -> Effect {
    match purpose {
        Purpose::SavePicture => Effect::SavePicture(path),
        Purpose::SaveRecording => Effect::Record(RecordCommand::Save(path)),
        _ => Effect::SaveSession(path),
    }
}

fn start_over_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    ui.heading("Start over?");
    ui.label(
        "Marks, flags, places, filters, plots and the arrangement of the tracks of this trace are forgotten.",
    );
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        if ui.button("Start over").clicked() {
            actions.push(Action::StartOver);
            actions.push(Action::Ask(None));
        }
        if ui.button("Cancel").clicked() {
            ui.close();
        }
    });
}

/// Returns the initial text of the path field.
fn proposed(question: Option<&Question>, trace: Option<&Path>) -> String {
    let folder = trace.and_then(Path::parent).unwrap_or(Path::new(""));
    let stem = trace.and_then(Path::file_stem);
    let stem = stem.unwrap_or("session".as_ref());
    let path = match question {
        Some(Question::Path(Purpose::SaveSession)) => folder.join(stem).with_extension(ENDING),
        Some(Question::Path(Purpose::SavePicture)) => folder.join(stem).with_extension("png"),
        Some(Question::Path(Purpose::SaveRecording)) => {
            let home = std::env::var_os("HOME").map(PathBuf::from);
            home.unwrap_or_default().join("trace.dat")
        }
        Some(Question::Path(_)) => folder.join(""),
        _ => PathBuf::new(),
    };
    path.display().to_string()
}

/// Returns a typed path; `~/` is the home folder.
fn typed(text: &str) -> PathBuf {
    let text = text.trim();
    match (text.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(text),
    }
}
