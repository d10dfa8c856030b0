//! The list of keys and gestures.

use super::keys::{GESTURES, GROUPS, Group};
use super::theme;
use crate::view::Action;
use egui::{RichText, Ui};
use std::ops::Range;

pub(super) fn help_ui(ctx: &egui::Context, palette: &theme::Palette, actions: &mut Vec<Action>) {
    let modal = egui::Modal::new(egui::Id::unique("help")).show(ctx, |ui| {
        let window = ui.ctx().content_rect().size();
        ui.set_max_width((window.x - 60.0).max(200.0));
        let side = side_ui(ui, window.x);
        ui.separator();
        let room = (window.y - 116.0).max(120.0);
        egui::ScrollArea::both()
            .auto_shrink([false, true])
            .max_height(room)
            .min_scrolled_height(room)
            .show(ui, |ui| match side {
                Side::Both => {
                    ui.horizontal_top(|ui| {
                        keys_ui(ui, window.x, palette);
                        ui.vertical(|ui| {
                            ui.label(RichText::new("Mouse and touch").strong());
                            gestures_ui(ui, 1, palette);
                        });
                    });
                }
                Side::Keys => keys_ui(ui, window.x, palette),
                Side::Gestures => gestures_ui(ui, if window.x < 1100.0 { 1 } else { 2 }, palette),
            });
        ui.add_space(4.0);
        if ui.button("Close").clicked() {
            ui.close();
        }
    });
    if modal.should_close() {
        actions.push(Action::ToggleHelp);
    }
}

/// What is shown: where there is no room for both, one or the other.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Side {
    Both,
    #[default]
    Keys,
    Gestures,
}

/// The heading, and the choice between keys and gestures where there is no room for both.
fn side_ui(ui: &mut Ui, width: f32) -> Side {
    let heading = |words| RichText::new(words).size(17.0).strong();
    if width >= WIDE {
        ui.label(heading("Keys, mouse and touch"));
        return Side::Both;
    }
    let id = ui.scope_id().with("side of the help");
    let mut side = ui.data(|data| data.get_temp(id).unwrap_or(Side::Keys));
    ui.horizontal(|ui| {
        ui.selectable_value(&mut side, Side::Keys, heading("Keys"));
        let words = heading("Mouse and touch");
        ui.selectable_value(&mut side, Side::Gestures, words);
    });
    ui.data_mut(|data| data.insert_temp(id, side));
    side
}

/// The size of its letters.
const SIZE: f32 = 12.0;
/// Windows from this width on have room for the mouse beside the keys.
const WIDE: f32 = 1700.0;

/// The keys, in as many columns as a window of this width has room for, which are about equally long.
fn keys_ui(ui: &mut Ui, width: f32, palette: &theme::Palette) {
    let columns = match width {
        ..860.0 => 1,
        ..1240.0 => 2,
        _ => 3,
    };
    let lengths: Vec<usize> = GROUPS.iter().map(|group| told(group).count() + 2).collect();
    ui.spacing_mut().interact_size.y = 0.0;
    ui.horizontal_top(|ui| {
        for groups in balanced(&lengths, columns) {
            ui.vertical(|ui| {
                for group in GROUPS.get(groups).unwrap_or_default() {
                    ui.label(RichText::new(group.title).strong());
                    egui::Grid::new(("keys", group.title))
                        .num_columns(2)
                        .spacing([10.0, 0.5])
                        .show(ui, |ui| {
                            for (shown, about) in told(group) {
                                pair_ui(ui, &shown, about, palette);
                                ui.end_row();
                            }
                        });
                    ui.add_space(8.0);
                }
            });
            ui.add_space(12.0);
        }
    });
}

/// What is done with the mouse or with fingers, so many beside each other.
fn gestures_ui(ui: &mut Ui, beside: usize, palette: &theme::Palette) {
    egui::Grid::new("gestures")
        .num_columns(2 * beside)
        .spacing([12.0, 3.0])
        .show(ui, |ui| {
            for pair in GESTURES.chunks(beside) {
                for (gesture, about) in pair {
                    pair_ui(ui, gesture, about, palette);
                }
                ui.end_row();
            }
        });
}

fn pair_ui(ui: &mut Ui, shown: &str, about: &str, palette: &theme::Palette) {
    let keys = RichText::new(shown).monospace().size(SIZE);
    ui.label(keys.color(palette.accent));
    ui.label(RichText::new(about).size(SIZE));
}

/// Keys longer than this stand below each other, if there are several.
const LONG_KEYS: usize = 16;

/// The rows of a group that have keys, as they are told; the nine places are told in one.
fn told(group: &'static Group) -> impl Iterator<Item = (String, &'static str)> {
    let rows = group.rows.iter().filter(|row| !row.shown.is_empty());
    rows.filter_map(|row| match (row.shown, row.about) {
        ("Ctrl+1", _) => Some(("Ctrl+1 … 9".to_owned(), "Go to place 1 … 9")),
        ("Ctrl+Shift+1", _) => Some(("Ctrl+Shift+1 … 9".to_owned(), "Keep this as place 1 … 9")),
        (_, about)
            if about.contains(" place ") && about.ends_with(|c: char| c.is_ascii_digit()) =>
        {
            None
        }
        (shown, about) if shown.chars().count() > LONG_KEYS => {
            Some((shown.replace("  ", "\n"), about))
        }
        (shown, about) => Some((shown.to_owned(), about)),
    })
}

/// Lists of these lengths put into at most so many columns, in their order: the longest column is as short as can be.
fn balanced(lengths: &[usize], columns: usize) -> Vec<Range<usize>> {
    let fill = |most: usize| {
        let mut filled = Vec::new();
        let (mut from, mut sum) = (0, 0);
        for (at, &length) in lengths.iter().enumerate() {
            if sum + length > most && at > from {
                filled.push(from..at);
                (from, sum) = (at, 0);
            }
            sum += length;
        }
        filled.push(from..lengths.len());
        filled
    };
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let all = lengths.iter().sum::<usize>().max(longest);
    let fits = |most: &usize| fill(*most).len() <= columns.max(1);
    fill((longest..=all).find(fits).unwrap_or(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_about_equally_long() {
        assert_eq!(balanced(&[15, 20, 10, 18, 22], 1).len(), 1);
        assert_eq!(balanced(&[15, 20, 10, 18, 22], 2), [0..3, 3..5]);
        assert_eq!(balanced(&[15, 20, 10, 18, 22], 3), [0..2, 2..4, 4..5]);
        assert_eq!(balanced(&[5, 5], 3), [0..1, 1..2]);
        assert_eq!(balanced(&[], 3).len(), 1);
    }
}
