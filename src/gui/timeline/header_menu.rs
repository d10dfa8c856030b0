//! The context menu of a track's header.

use super::scratch::Timeline;
use crate::gui::boxes::radio;
use crate::trace::PlotSource;
use crate::view::plots::key_of_plot;
use crate::view::rows::{Fold, Row, RowKey};
use crate::view::{Action, Arrange, Effect, Question, ViewState};

impl Timeline {
    pub(super) fn header_menu(
        &self,
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
            if let Some(item) = row.item() {
                offer(ui, "Show in Details", Action::Select(item));
            }
            let plots = &state.layout.plots;
            if let Some(plot) = plots.iter().find(|plot| key_of_plot(plot) == key) {
                if plot.source == PlotSource::Events {
                    let change = Question::Plot {
                        draft: plot.clone(),
                        instead_of: Some(plot.clone()),
                    };
                    offer(ui, "Change the plot…", Action::Ask(Some(change)));
                }
                let remove = Arrange::Unplot(plot.clone());
                offer(ui, "Remove the plot", Action::Arrange(remove));
            }
            ui.separator();
            ui.menu_button("Height", |ui| {
                let own = state.layout.heights.get(&key).copied().unwrap_or(100);
                for percent in [50, 75, 100, 150, 200, 400] {
                    if radio(ui, &own, &percent, format!("{percent} %")).clicked() {
                        actions.push(Action::Arrange(Arrange::Height(key, percent)));
                    }
                }
            });
            let mut offer = |ui: &mut egui::Ui, text: &str, action: Action| {
                if ui.button(text).clicked() {
                    actions.push(action);
                }
            };
            offer(ui, "Rename…", Action::StartRename(Some(key)));
            if state.layout.names.contains_key(&key) {
                let own = Arrange::Rename(key, String::new());
                offer(ui, "Its own name again", Action::Arrange(own));
            }
            let chosen = state.area_rows.as_deref().unwrap_or_default();
            if chosen.len() > 1 && chosen.contains(&key) {
                let text = format!("Group these {} tracks", chosen.len());
                offer(ui, &text, Action::Arrange(Arrange::Group(chosen.to_vec())));
            } else {
                offer(ui, "Group", Action::Arrange(Arrange::Group(vec![key])));
            }
            if state.layout.group(key).is_some() {
                offer(ui, "Ungroup", Action::Arrange(Arrange::Ungroup(key)));
            }
            if let Some(group) = state.layout.group_of(key) {
                let text = format!("Take out of '{}'", group.name);
                offer(ui, &text, Action::Arrange(Arrange::TakeOut(key)));
            }
            let others = || state.layout.groups.iter().map(|it| RowKey::Made(it.id));
            if others().any(|other| other != key) {
                ui.menu_button("Put into group", |ui| {
                    for group in &state.layout.groups {
                        let into = RowKey::Made(group.id);
                        if into != key && ui.button(&group.name).clicked() {
                            let before = None;
                            actions.push(Action::Arrange(Arrange::Join { key, into, before }));
                        }
                    }
                });
            }
            ui.separator();
            if ui.button("Copy name").clicked() {
                actions.push(Action::Do(Effect::Copy(row.title.to_string())));
            }
            if state.rows.hidden_count() > 0 {
                let text = format!("Show {} hidden tracks", state.rows.hidden_count());
                if ui.button(text).clicked() {
                    actions.push(Action::Arrange(Arrange::UnhideAll));
                }
            }
        });
    }
}
