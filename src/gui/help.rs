//! The list of keys and of mouse and touch gestures.

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
            .show(ui, |ui| side_body_ui(ui, side, window.x, palette));
        ui.add_space(4.0);
        if ui.button("Close").clicked() {
            ui.close();
        }
    });
    if modal.should_close() {
        actions.push(Action::ToggleHelp);
    }
}

fn side_body_ui(ui: &mut Ui, side: Side, width: f32, palette: &theme::Palette) {
    if side.groups.is_empty() {
        return gestures_ui(ui, if width < 1100.0 { 1 } else { 2 }, palette);
    }
    ui.horizontal_top(|ui| match side.gestures {
        Gestures::Elsewhere => keys_ui(ui, side.groups, columns_in(width), palette),
        Gestures::Beside => {
            keys_ui(ui, side.groups, columns_beside(width), palette);
            ui.vertical(|ui| {
                ui.label(RichText::new(GESTURES_TITLE).strong());
                gestures_ui(ui, 1, palette);
            });
        }
    });
}

/// Heading of the mouse and touch gestures.
const GESTURES_TITLE: &str = "Mouse and touch";

/// Whether the gestures are shown beside the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gestures {
    Beside,
    Elsewhere,
}

/// One page of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Side {
    /// Groups of keys on this page; empty: gestures only.
    groups: Range<usize>,
    gestures: Gestures,
}

impl Side {
    fn title(&self) -> String {
        let all = 0..GROUPS.len();
        let mut titles: Vec<&str> = match self.groups == all {
            true => vec!["Keys"],
            false => {
                let groups = GROUPS.get(self.groups.clone()).unwrap_or_default();
                groups.iter().map(|group| group.title).collect()
            }
        };
        if self.gestures == Gestures::Beside || titles.is_empty() {
            titles.push(GESTURES_TITLE);
        }
        titles.join(" · ")
    }
}

/// Returns the pages of the help, each fitting a window of `width` with `room` for lines, in points: as many groups of
/// keys as fit, and the gestures beside the last groups or on a page of their own.
fn sides(width: f32, room: f32) -> Vec<Side> {
    let lengths = lengths_of(0..GROUPS.len());
    let fits = |groups: Range<usize>, columns: usize| {
        let lengths = lengths.get(groups).unwrap_or_default();
        let columns = balanced(lengths, columns).into_iter();
        let lines = columns.map(|column| lengths.get(column).unwrap_or_default().iter().sum());
        columns_fit(lines.max().unwrap_or(0), room)
    };
    let mut sides: Vec<Side> = Vec::new();
    let mut from = 0;
    for until in 1..=GROUPS.len() {
        if until == GROUPS.len() || !fits(from..until + 1, columns_in(width)) {
            sides.push(Side {
                groups: from..until,
                gestures: Gestures::Elsewhere,
            });
            from = until;
        }
    }
    match sides.last_mut() {
        Some(last)
            if columns_beside(width) > 0 && fits(last.groups.clone(), columns_beside(width)) =>
        {
            last.gestures = Gestures::Beside;
        }
        _ => sides.push(Side {
            groups: GROUPS.len()..GROUPS.len(),
            gestures: Gestures::Elsewhere,
        }),
    }
    sides
}

fn columns_fit(lines: usize, room: f32) -> bool {
    lines as f32 * LINE <= room
}

/// Draws the heading, which is a choice of pages if there are several; returns the chosen page.
fn side_ui(ui: &mut Ui, mut sides: Vec<Side>) -> Side {
    let heading = |side: &Side| RichText::new(side.title()).size(17.0).strong();
    if let [only] = sides.as_slice() {
        ui.label(heading(only));
        return sides.swap_remove(0);
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
    sides.swap_remove(chosen)
}

/// Text size, in points.
const SIZE: f32 = 12.0;
/// Height of a line of keys, including the space between lines and groups, in points.
const LINE: f32 = 14.6;
/// Windows at least this wide, in points, have room for the gestures beside the keys.
const WIDE: f32 = 1700.0;

/// Returns the number of columns of keys that fit a window of this width.
fn columns_in(width: f32) -> usize {
    match width {
        ..860.0 => 1,
        ..1240.0 => 2,
        _ => 3,
    }
}

/// Returns the number of columns of keys that fit beside the gestures.
fn columns_beside(width: f32) -> usize {
    match width {
        ..1240.0 => 0,
        ..WIDE => 1,
        _ => 3,
    }
}

/// Returns the number of lines of each group, with its title and the space below.
fn lengths_of(groups: Range<usize>) -> Vec<usize> {
    let lines = |group| {
        let lines = key_rows(group).map(|(keys, _)| keys.lines().count());
        lines.sum::<usize>() + 2
    };
    let groups = GROUPS.get(groups).unwrap_or_default();
    groups.iter().map(lines).collect()
}

/// Draws the keys of some groups in columns of about equal length.
fn keys_ui(ui: &mut Ui, groups: Range<usize>, columns: usize, palette: &theme::Palette) {
    let lengths = lengths_of(groups.clone());
    let shown = GROUPS.get(groups).unwrap_or_default();
    ui.spacing_mut().interact_size.y = 0.0;
    ui.horizontal_top(|ui| {
        for groups in balanced(&lengths, columns) {
            ui.vertical(|ui| {
                for group in shown.get(groups).unwrap_or_default() {
                    ui.label(RichText::new(group.title).strong());
                    egui::Grid::new(("keys", group.title))
                        .num_columns(2)
                        .spacing([10.0, 0.5])
                        .show(ui, |ui| {
                            for (shown, about) in key_rows(group) {
                                pair_ui(ui, &shown, &about, palette);
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

/// Draws the gestures in `beside` columns.
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

/// Longer key texts are put on several lines, one per key.
const LONG_KEYS: usize = 16;

/// Returns keys and description of each row that has keys. Rows that differ only by a digit are merged.
fn key_rows(group: &'static Group) -> impl Iterator<Item = (String, String)> {
    let rows = group.rows.iter().filter(|row| !row.keys.is_empty());
    rows.filter_map(|row| {
        let text = row.key_text();
        match row.digit() {
            Some(1) => Some((format!("{text} … 9"), format!("{} … 9", row.about))),
            Some(_) => None,
            None if text.chars().count() > LONG_KEYS => {
                Some((text.replace("  ", "\n"), row.about.to_owned()))
            }
            None => Some((text, row.about.to_owned())),
        }
    })
}

/// Splits lists of these lengths, in order, into at most `columns` columns so that the longest is as short as possible.
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
        let side = |groups, gestures| Side { groups, gestures };
        let all = GROUPS.len();
        assert_eq!(sides(1920.0, 960.0), [side(0..all, Gestures::Beside)]);
        let half = [
            side(0..4, Gestures::Elsewhere),
            side(4..all, Gestures::Beside),
        ];
        assert_eq!(sides(1280.0, 604.0), half);
        for (width, room) in [(900.0, 444.0), (600.0, 300.0)] {
            let sides = sides(width, room);
            let shown: Vec<usize> = sides.iter().flat_map(|it| it.groups.clone()).collect();
            assert_eq!(shown, (0..all).collect::<Vec<_>>());
            assert!(sides.len() > 2 && sides.iter().any(|it| it.groups.is_empty()));
        }
        let fits = |side: &Side| {
            let lengths = lengths_of(side.groups.clone());
            lengths.iter().all(|lines| columns_fit(*lines, 444.0))
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
