//! The panes below the timeline, and the timeline itself.

use super::app::App;
use super::pane::Scene;
use super::panes::PANES;
use super::theme;
use super::timeline::HEAD_HEIGHT;
use crate::load::LoadedTrace;
use crate::view::Action;
use egui::{Panel, Ui};
use std::sync::Arc;

impl App {
    pub(super) fn trace_ui(
        &mut self,
        ui: &mut Ui,
        loaded: &Arc<LoadedTrace>,
        palette: &theme::Palette,
        actions: &mut Vec<Action>,
    ) {
        if !self.state.is_dock_hidden {
            let open = self.open_pane;
            let scene = Scene {
                loaded,
                state: &self.state,
                found: self.search.found(),
                palette,
            };
            let pane = &mut self.panes[open];
            let dock = Panel::bottom("dock")
                .resizable(true)
                .default_size(self.saved.dock_height.unwrap_or(230.0))
                .size_range(80.0..=900.0)
                .show(ui, |ui| {
                    // The panes' height is the user's to choose: what they show must not change it.
                    ui.set_min_height(ui.available_height());
                    ui.add_space(3.0);
                    ui.horizontal_wrapped(|ui| {
                        for (index, row) in PANES.iter().enumerate() {
                            let tab = egui::Button::selectable(index == open, row.name);
                            if ui.add(tab).on_hover_text(row.about).clicked() {
                                actions.push(Action::OpenPane(row.name));
                            }
                        }
                    });
                    ui.separator();
                    actions.extend(pane.ui(ui, &scene));
                });
            self.saved.dock_height = Some(dock.response.rect.height());
        }
        let frame = egui::Frame::new().fill(palette.panel);
        egui::CentralPanel::default().frame(frame).show(ui, |ui| {
            let room = ui.available_height() - HEAD_HEIGHT;
            self.state.page_height = (room - self.state.pinned_shown(room)).max(40.0);
            let scene = Scene {
                loaded,
                state: &self.state,
                found: self.search.found(),
                palette,
            };
            actions.extend(self.timeline.ui(ui, &scene));
        });
    }
}
