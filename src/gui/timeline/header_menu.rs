//! What can be done to a track: the menu of its header.

use super::Timeline;
use super::headers::item_of_row;
use crate::view::rows::{Fold, Row};
use crate::view::{Action, Arrange, ViewState};

impl Timeline {
    pub(super) fn header_menu(
        &mut self,
        response: &egui::Response,
        row: &Row,
        state: &ViewState,
        actions: &mut Vec<Action>,
    ) {
        response.context_menu(|ui| {
            let key = row.key;
            let is_pinned = state.layout.pinned.contains(&key);
            let mut offer = |ui: &mut egui::Ui, text: &str, action: Action| {
                if ui.button(text).clicked() {
                    actions.push(action);
                }
            };
            let pin = if is_pinned { "Unpin" } else { "Pin to the top" };
            offer(ui, pin, Action::Arrange(Arrange::Pin(key)));
            offer(ui, "Hide", Action::Arrange(Arrange::Hide(key)));
            match row.fold {
                Fold::Open => offer(ui, "Fold", Action::Toggle(key)),
                Fold::Closed => offer(ui, "Unfold", Action::Toggle(key)),
                Fold::None => {}
            }
            offer(ui, "Select the whole track", Action::SelectRows(vec![key]));
            if let Some(item) = item_of_row(row) {
                offer(ui, "Show in Details", Action::Select(item));
            }
            ui.separator();
            ui.menu_button("Height", |ui| {
                let own = state.layout.heights.get(&key).copied().unwrap_or(100);
                for percent in [50, 75, 100, 150, 200, 400] {
                    if ui.radio(own == percent, format!("{percent} %")).clicked() {
                        actions.push(Action::Arrange(Arrange::Height(key, percent)));
                    }
                }
            });
            ui.menu_button("Rename", |ui| self.rename_ui(ui, row, state, actions));
            ui.separator();
            if ui.button("Copy name").clicked() {
                actions.push(Action::Copy(row.title.to_string()));
            }
            if state.rows.hidden_count() > 0 {
                let text = format!("Show {} hidden tracks", state.rows.hidden_count());
                if ui.button(text).clicked() {
                    actions.push(Action::Arrange(Arrange::UnhideAll));
                }
            }
        });
    }

    fn rename_ui(
        &mut self,
        ui: &mut egui::Ui,
        row: &Row,
        state: &ViewState,
        actions: &mut Vec<Action>,
    ) {
        let is_same = self
            .renaming
            .as_ref()
            .is_some_and(|(key, _)| *key == row.key);
        if !is_same {
            self.renaming = Some((row.key, row.title.to_string()));
        }
        let Some((key, text)) = &mut self.renaming else {
            return;
        };
        let edit = egui::TextEdit::singleline(text).desired_width(180.0);
        let response = ui.add(edit);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "New name of the track")
        });
        if !is_same {
            response.request_focus();
        }
        let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        if ui.button("Rename").clicked() || is_entered {
            actions.push(Action::Arrange(Arrange::Rename(*key, text.clone())));
            self.renaming = None;
            ui.close();
        }
        if state.layout.names.contains_key(&row.key) && ui.button("Its own name").clicked() {
            actions.push(Action::Arrange(Arrange::Rename(row.key, String::new())));
            self.renaming = None;
        }
    }
}
