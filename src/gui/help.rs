//! The list of keys and gestures.

use super::keys::{GESTURES, GROUPS};
use super::theme;
use crate::view::Action;
use egui::{RichText, Ui};

pub(super) fn help_ui(ctx: &egui::Context, palette: &theme::Palette, actions: &mut Vec<Action>) {
    let modal = egui::Modal::new(egui::Id::unique("help")).show(ctx, |ui| {
        let window = ui.ctx().content_rect().size();
        ui.set_max_width((window.x - 60.0).max(200.0));
        ui.label(RichText::new("Keys and mouse").size(17.0).strong());
        ui.separator();
        let room = (window.y - 130.0).max(120.0);
        egui::ScrollArea::both()
            .auto_shrink([false, true])
            .max_height(room)
            .min_scrolled_height(room)
            .show(ui, |ui| key_lists_ui(ui, window.x, palette));
        ui.add_space(6.0);
        if ui.button("Close").clicked() {
            ui.close();
        }
    });
    if modal.should_close() {
        actions.push(Action::ToggleHelp);
    }
}

/// The lists, in as many columns as a window of this width has room for.
pub(super) fn key_lists_ui(ui: &mut Ui, width: f32, palette: &theme::Palette) {
    let columns: &[&[usize]] = match width {
        ..920.0 => &[&[0, 1, 2, 3, 4]],
        ..1320.0 => &[&[0, 1, 2], &[3, 4]],
        _ => &[&[0], &[1, 2], &[3, 4]],
    };
    ui.horizontal_top(|ui| {
        for groups in columns {
            ui.vertical(|ui| {
                for group in groups.iter().filter_map(|at| GROUPS.get(*at)) {
                    ui.label(RichText::new(group.title).strong());
                    egui::Grid::new(("keys", group.title))
                        .num_columns(2)
                        .spacing([16.0, 4.0])
                        .show(ui, |ui| {
                            for row in group.rows.iter().filter(|row| !row.shown.is_empty()) {
                                key_ui(ui, row.shown, row.about, palette);
                            }
                        });
                    ui.add_space(8.0);
                }
            });
            ui.add_space(18.0);
        }
    });
    ui.label(RichText::new("Mouse").strong());
    let beside = columns.len().min(2);
    egui::Grid::new("gestures")
        .num_columns(2 * beside)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for pair in GESTURES.chunks(beside) {
                for (gesture, about) in pair {
                    ui.label(RichText::new(*gesture).monospace().color(palette.accent));
                    ui.label(*about);
                }
                ui.end_row();
            }
        });
}

/// One row; the nine places are told in one.
fn key_ui(ui: &mut Ui, shown: &str, about: &str, palette: &theme::Palette) {
    let (shown, about) = match shown {
        "Ctrl+1" => ("Ctrl+1 … 9", "Go to place 1 … 9"),
        "Ctrl+Shift+1" => ("Ctrl+Shift+1 … 9", "Keep this as place 1 … 9"),
        _ if about.contains(" place ") && about.ends_with(|c: char| c.is_ascii_digit()) => return,
        _ => (shown, about),
    };
    ui.label(RichText::new(shown).monospace().color(palette.accent));
    ui.label(about);
    ui.end_row();
}
