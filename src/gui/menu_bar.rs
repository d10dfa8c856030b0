//! The menu bar: menus, the track filter, and the progress of a load.

use super::app::App;
use super::keys::key_of;
use super::view_menu::{command, view_menu};
use crate::view::ruler;
use crate::view::{Action, Effect};
use egui::{RichText, Ui};

/// Approximate height of the highest menu, in points.
const HIGH_MENU: f32 = 664.0;

impl App {
    pub(super) fn menu_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        egui::MenuBar::new().ui(ui, |ui| {
            ui.menu_button("File", |ui| {
                let (state, has_trace) = (&self.state, self.loaded.is_some());
                command(ui, "Open a file", state, actions);
                ui.add_enabled_ui(has_trace, |ui| {
                    command(ui, "Add a trace to this axis", state, actions);
                });
                command(ui, "Open a file by its path", state, actions);
                command(ui, "Open the path on the clipboard", state, actions);
                let recent = &mut self.recent;
                ui.menu_button("Recent", |ui| {
                    let files = recent.rows(ui.ctx(), &self.saved.recent);
                    if files.is_empty() {
                        ui.label("None yet");
                    }
                    for file in files {
                        let more = [&file.folder, &file.size, &file.when].map(String::as_str);
                        let more: Vec<&str> =
                            more.into_iter().filter(|it| !it.is_empty()).collect();
                        let button = egui::Button::new(&file.name).shortcut_text(more.join(" · "));
                        let button = ui
                            .add(button)
                            .on_hover_text(file.path.display().to_string());
                        if button.clicked() {
                            actions.push(Action::Do(Effect::Open(vec![file.path])));
                        }
                    }
                });
                ui.add_enabled_ui(has_trace, |ui| {
                    for about in [
                        "Follow the file as it grows, or no longer",
                        "Export a range of the trace",
                        "Copy a link to this view",
                        "Save the session to a file",
                        "Save a picture of the window",
                        "Start over with this trace",
                        "Close the trace",
                    ] {
                        command(ui, about, state, actions);
                    }
                });
                ui.separator();
                command(ui, "Record this machine", state, actions);
                ui.separator();
                command(ui, "Quit", state, actions);
            });
            ui.menu_button("View", |ui| {
                within_window(ui, |ui| view_menu(ui, &self.state, actions));
            });
            ui.menu_button("Find", |ui| {
                let state = &self.state;
                ui.add_enabled_ui(self.loaded.is_some(), |ui| {
                    for about in [
                        "Search",
                        "Next match",
                        "Previous match",
                        "Dim all but the matches",
                    ] {
                        command(ui, about, state, actions);
                    }
                    ui.separator();
                    for about in [
                        "Next place where events were lost",
                        "Previous place where events were lost",
                        "List where events were lost",
                    ] {
                        command(ui, about, state, actions);
                    }
                    ui.separator();
                    for about in ["Find a track", "Go to a time"] {
                        command(ui, about, state, actions);
                    }
                });
                command(ui, "Find a command", state, actions);
            });
            ui.menu_button("Help", |ui| {
                for about in [
                    "Keys and gestures",
                    "Legend: what the colours mean",
                    "Find a command",
                ] {
                    command(ui, about, &self.state, actions);
                }
            });
            ui.separator();
            let mut filter = self.state.filter.clone();
            let edit = egui::TextEdit::singleline(&mut filter)
                .align(egui::Align2::LEFT_CENTER)
                .hint_text(format!(
                    "Filter tracks ({})",
                    key_of("Filter tracks by name")
                ))
                .desired_width(190.0);
            let is_open = self.loaded.is_some();
            let field = ui.scope(|ui| {
                if !is_open {
                    // A disabled field is faint enough: its hint must not be dimmed twice.
                    ui.visuals_mut().weak_text_color = Some(ui.visuals().text_color());
                }
                ui.add_enabled(is_open, edit)
            });
            let response = field.inner;
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter tracks")
            });
            if std::mem::take(&mut self.state.wants_filter_focus) {
                response.request_focus();
            }
            if response.changed() {
                actions.push(Action::Filter(filter));
            }
            if let Some(loading) = &self.loading {
                ui.separator();
                let progress = loading.progress();
                let name = loading.name();
                let text = match progress.total {
                    Some(total @ 1..) => {
                        let (done, total) =
                            (ruler::size_text(progress.done), ruler::size_text(total));
                        format!("{name}  {done} of {total}")
                    }
                    _ => name.to_owned(),
                };
                ui.add(
                    egui::ProgressBar::new(progress.share() as f32)
                        .desired_width(220.0)
                        .text(RichText::new(text).size(11.0)),
                );
                if ui.small_button("Cancel").clicked() {
                    actions.push(Action::Do(Effect::CancelLoad));
                }
            }
        });
    }
}

/// Draws a menu, scrolling if the window is too low for it.
fn within_window(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let room = ui.ctx().content_rect().height() - 60.0;
    if room >= HIGH_MENU {
        return add(ui);
    }
    egui::ScrollArea::vertical().max_height(room).show(ui, add);
}
