//! Everything a user can do by name: one table from which keys are handled, the palette is filled, `?` is
//! printed and menus take their shortcuts. A new command is a row in the file of its group.

mod arranging;
mod marking;
mod moving;
mod selecting;
mod window;

use egui::{Key, Modifiers};

use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::view::{Action, ViewState};

/// A row of the table.
pub struct KeyRow {
    /// The keys, any of which does it; none: it is in the palette only.
    pub keys: &'static [(Modifiers, Key)],
    /// How people write them.
    pub shown: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The action, given the view.
    pub action: fn(&ViewState) -> Option<Action>,
}

/// Rows under one heading.
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// The rows.
    pub rows: &'static [KeyRow],
}

/// The whole table.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Move",
        rows: moving::ROWS,
    },
    Group {
        title: "Select and find",
        rows: selecting::ROWS,
    },
    Group {
        title: "Mark",
        rows: marking::ROWS,
    },
    Group {
        title: "Tracks",
        rows: arranging::ROWS,
    },
    Group {
        title: "Window",
        rows: window::ROWS,
    },
];

const NONE: Modifiers = Modifiers::NONE;
const CTRL: Modifiers = Modifiers::COMMAND;
const SHIFT: Modifiers = Modifiers::SHIFT;
const ALT: Modifiers = Modifiers::ALT;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
const CTRL_ALT: Modifiers = Modifiers::COMMAND.plus(Modifiers::ALT);

/// A row; keeps the tables readable.
const fn row(
    keys: &'static [(Modifiers, Key)],
    shown: &'static str,
    about: &'static str,
    action: fn(&ViewState) -> Option<Action>,
) -> KeyRow {
    KeyRow {
        keys,
        shown,
        about,
        action,
    }
}

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static KeyRow> {
    GROUPS.iter().flat_map(|group| group.rows)
}

/// The keys of the row that does `about`, as people write them; empty if there are none.
#[must_use]
pub fn shortcut(about: &str) -> &'static str {
    rows()
        .find(|row| row.about == about)
        .map_or("", |row| row.shown)
}

/// The time that keys work around: under the pointer, else the middle.
fn center(state: &ViewState) -> Timestamp {
    state
        .hover
        .unwrap_or(state.span.start + Nanos(state.span.duration().0 / 2))
}

/// What to do with the mouse, for the same list.
pub const GESTURES: &[(&str, &str)] = &[
    ("Wheel", "Scroll the tracks"),
    ("Ctrl+wheel, pinch", "Zoom at the pointer"),
    ("Shift+wheel", "Pan"),
    ("Drag", "Select a range of time on these tracks"),
    ("Drag in the ruler", "Select a range on all tracks"),
    ("Ctrl+drag", "Zoom to a range"),
    ("Shift+drag, middle drag", "Pan"),
    ("Click", "Select"),
    ("Double click", "Select and zoom to it"),
    ("Right click", "What can be done there"),
    ("Alt while dragging", "Do not snap to edges"),
    ("Drag a header", "Move the track, into a group or out of it"),
    (
        "Drag a header's lower edge",
        "Make the track higher or lower",
    ),
    ("Ctrl+click, Shift+click a header", "Select several tracks"),
    ("Drag in the overview", "Move the visible span"),
    (
        "Drag a pane's tab",
        "Put it elsewhere, or beside the others",
    ),
    ("Ctrl+Tab over panes", "The next tab"),
];

/// The actions that this frame's keys ask for.
pub fn pressed(ui: &egui::Ui, state: &ViewState) -> Vec<Action> {
    if ui.ctx().egui_wants_keyboard_input() {
        return Vec::new();
    }
    let mut actions = Vec::new();
    ui.input(|input| {
        for event in &input.raw.events {
            let (key, physical, modifiers) = match event {
                egui::Event::Key {
                    key,
                    physical_key,
                    pressed: true,
                    modifiers,
                    ..
                } => (*key, *physical_key, *modifiers),
                // The desktop's own way to say Ctrl+C.
                egui::Event::Copy => (Key::C, None, CTRL),
                _ => continue,
            };
            if let Some(action) = rows()
                .find(|row| fits(row, key, physical, modifiers))
                .and_then(|row| (row.action)(state))
            {
                actions.push(action);
            }
        }
    });
    actions
}

fn fits(row: &KeyRow, key: Key, physical: Option<Key>, modifiers: Modifiers) -> bool {
    row.keys.iter().any(|&(wanted, wanted_key)| {
        // With Shift a digit is another sign, and which one depends on the keyboard.
        let is_digit = (Key::Num0..=Key::Num9).contains(&wanted_key);
        (key == wanted_key || (is_digit && physical == Some(wanted_key)))
            && modifiers.matches_exact(wanted)
    })
}

/// A span of at least a nanosecond between two times, whichever comes first.
#[must_use]
pub fn span_between(a: Timestamp, b: Timestamp) -> TimeSpan {
    TimeSpan::new(a.min(b), a.max(b).max(a.min(b) + Nanos(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        let mut seen = Vec::new();
        for key in rows().flat_map(|row| row.keys) {
            assert!(!seen.contains(&key), "{key:?} twice");
            seen.push(key);
        }
    }

    #[test]
    fn every_command_says_what_it_does_once() {
        let mut seen = Vec::new();
        for row in rows() {
            assert!(
                !row.about.is_empty() && !seen.contains(&row.about),
                "{}",
                row.about
            );
            assert_eq!(row.keys.is_empty(), row.shown.is_empty(), "{}", row.about);
            seen.push(row.about);
        }
    }
}
