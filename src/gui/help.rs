//! The list of keys and gestures.

use super::keys::{GESTURES, KEYS};
use super::theme;
use crate::view::Action;
use egui::{RichText, Ui};

pub(super) fn help_ui(ctx: &egui::Context, palette: &theme::Palette, actions: &mut Vec<Action>) {
    let modal = egui::Modal::new(egui::Id::unique("help")).show(ctx, |ui| {
        ui.set_max_width(760.0);
        ui.label(RichText::new("Keys and mouse").size(17.0).strong());
        ui.separator();
        let room = (ui.ctx().content_rect().height() - 130.0).max(120.0);
        egui::ScrollArea::vertical()
            .max_height(room)
            .show(ui, |ui| key_lists_ui(ui, palette));
        ui.add_space(6.0);
        if ui.button("Close").clicked() {
            ui.close();
        }
    });
    if modal.should_close() {
        actions.push(Action::ToggleHelp);
    }
}

pub(super) fn key_lists_ui(ui: &mut Ui, palette: &theme::Palette) {
    ui.horizontal_top(|ui| {
        let mut groups: Vec<&str> = KEYS.iter().map(|row| row.group).collect();
        groups.dedup();
        for columns in [&groups[..1], &groups[1..]] {
            ui.vertical(|ui| {
                for group in columns {
                    ui.label(RichText::new(*group).strong());
                    egui::Grid::new(("keys", group))
                        .num_columns(2)
                        .spacing([16.0, 4.0])
                        .show(ui, |ui| {
                            for row in KEYS.iter().filter(|row| row.group == *group) {
                                ui.label(
                                    RichText::new(row.shown).monospace().color(palette.accent),
                                );
                                ui.label(row.about);
                                ui.end_row();
                            }
                        });
                    ui.add_space(8.0);
                }
            });
            ui.add_space(18.0);
        }
    });
    ui.label(RichText::new("Mouse").strong());
    egui::Grid::new("gestures")
        .num_columns(4)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for pair in GESTURES.chunks(2) {
                for (gesture, about) in pair {
                    ui.label(RichText::new(*gesture).monospace().color(palette.accent));
                    ui.label(*about);
                }
                ui.end_row();
            }
        });
}
