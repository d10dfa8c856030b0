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
        let room = (window.y - 116.0).max(120.0);
        let side = side_ui(ui, sides(window.x, room));
        ui.separator();
        egui::ScrollArea::both()
            .auto_shrink([false, true])
            .max_height(room)
            .min_scrolled_height(room)
            .show(ui, |ui| match side {
                Side::Both => {
                    ui.horizontal_top(|ui| {
                        keys_ui(ui, 0..GROUPS.len(), window.x, palette);
                        ui.vertical(|ui| {
                            ui.label(RichText::new("Mouse and touch").strong());
                            gestures_ui(ui, 1, palette);
                        });
                    });
                }
                Side::Keys(groups) => keys_ui(ui, groups, window.x, palette),
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

/// What is shown at once.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Side {
    Both,
    /// The keys of these groups.
    Keys(Range<usize>),
    Gestures,
}

impl Side {
    fn title(&self) -> String {
        match self {
            Side::Both => "Keys, mouse and touch".to_owned(),
            Side::Keys(groups) if *groups == (0..GROUPS.len()) => "Keys".to_owned(),
            Side::Keys(groups) => {
                let groups = GROUPS.get(groups.clone()).unwrap_or_default();
                let titles: Vec<&str> = groups.iter().map(|group| group.title).collect();
                titles.join(" · ")
            }
            Side::Gestures => "Mouse and touch".to_owned(),
        }
    }
}

/// What there is to choose from, so that each fits a window of this width with this room for lines, in points: all at
/// once, or all keys, or the keys of as many groups as stand beside each other.
fn sides(width: f32, room: f32) -> Vec<Side> {
    let columns = columns_in(width);
    let lengths = lengths_of(0..GROUPS.len());
    let longest = balanced(&lengths, columns)
        .into_iter()
        .map(|groups| lengths.get(groups).unwrap_or_default().iter().sum())
        .max();
    let fits = longest.unwrap_or(0_usize) as f32 * LINE <= room;
    match (width >= WIDE, fits) {
        (true, true) => vec![Side::Both],
        (_, true) => vec![Side::Keys(0..GROUPS.len()), Side::Gestures],
        (_, false) => {
            let firsts = (0..GROUPS.len()).step_by(columns);
            let keys = firsts.map(|at| Side::Keys(at..(at + columns).min(GROUPS.len())));
            keys.chain([Side::Gestures]).collect()
        }
    }
}

/// The heading, which is a choice where there is one.
fn side_ui(ui: &mut Ui, sides: Vec<Side>) -> Side {
    let heading = |side: &Side| RichText::new(side.title()).size(17.0).strong();
    if let [only] = sides.as_slice() {
        ui.label(heading(only));
        return only.clone();
    }
    let id = ui.scope_id().with("side of the help");
    let chosen: usize = ui.data(|data| data.get_temp(id).unwrap_or(0));
    let mut chosen = chosen.min(sides.len().saturating_sub(1));
    ui.horizontal_wrapped(|ui| {
        for (at, side) in sides.iter().enumerate() {
            ui.selectable_value(&mut chosen, at, heading(side));
        }
    });
    ui.data_mut(|data| data.insert_temp(id, chosen));
    sides.get(chosen).cloned().unwrap_or(Side::Gestures)
}

/// The size of its letters.
const SIZE: f32 = 12.0;
/// The height of a line of keys, with what is between lines and groups.
const LINE: f32 = 14.6;
/// Windows from this width on have room for the mouse beside the keys.
const WIDE: f32 = 1700.0;

/// How many columns of keys a window of this width has room for.
fn columns_in(width: f32) -> usize {
    match width {
        ..860.0 => 1,
        ..1240.0 => 2,
        _ => 3,
    }
}

/// How many lines each group takes, with its title and the space below.
fn lengths_of(groups: Range<usize>) -> Vec<usize> {
    let lines = |group| {
        let lines = told(group).map(|(shown, _)| shown.lines().count());
        lines.sum::<usize>() + 2
    };
    let groups = GROUPS.get(groups).unwrap_or_default();
    groups.iter().map(lines).collect()
}

/// The keys of some groups, in columns which are about equally long.
fn keys_ui(ui: &mut Ui, groups: Range<usize>, width: f32, palette: &theme::Palette) {
    let lengths = lengths_of(groups.clone());
    let shown = GROUPS.get(groups).unwrap_or_default();
    ui.spacing_mut().interact_size.y = 0.0;
    ui.horizontal_top(|ui| {
        for groups in balanced(&lengths, columns_in(width)) {
            ui.vertical(|ui| {
                for group in shown.get(groups).unwrap_or_default() {
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
    fn what_does_not_fit_at_once_is_to_be_chosen() {
        assert_eq!(sides(1920.0, 960.0), [Side::Both]);
        let all = Side::Keys(0..GROUPS.len());
        assert_eq!(sides(1280.0, 604.0), [all, Side::Gestures]);
        for (width, room) in [(900.0, 444.0), (600.0, 300.0)] {
            let sides = sides(width, room);
            let shown: Vec<usize> = sides
                .iter()
                .flat_map(|side| match side {
                    Side::Keys(groups) => groups.clone().collect(),
                    _ => Vec::new(),
                })
                .collect();
            assert_eq!(shown, (0..GROUPS.len()).collect::<Vec<_>>());
            assert!(sides.len() > 2 && sides.last() == Some(&Side::Gestures));
        }
        let fits = |side: &Side| match side {
            Side::Keys(groups) => lengths_of(groups.clone())
                .iter()
                .all(|lines| *lines as f32 * LINE <= 444.0),
            _ => true,
        };
        assert!(sides(900.0, 444.0).iter().all(fits));
    }

    #[test]
    fn columns_are_about_equally_long() {
        assert_eq!(balanced(&[15, 20, 10, 18, 22], 1).len(), 1);
        assert_eq!(balanced(&[15, 20, 10, 18, 22], 2), [0..3, 3..5]);
        assert_eq!(balanced(&[15, 20, 10, 18, 22], 3), [0..2, 2..4, 4..5]);
        assert_eq!(balanced(&[5, 5], 3), [0..1, 1..2]);
        assert_eq!(balanced(&[], 3).len(), 1);
    }
}
