//! All commands by name: one table drives key handling, the palette, the list of keys (`?`) and the shortcuts in menus.
//! A new command is a row in the file of its group.

mod arranging;
mod key_row;
mod marking;
mod moving;
mod selecting;
mod typed_ahead;
mod window;

pub(crate) use key_row::KeyRow;
pub(crate) use typed_ahead::TypedAhead;

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::gui::export_panel;
use crate::view::{Action, Effect, ViewState};
use key_row::{CTRL, stroke_text};

/// What commands act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Timeline,
    /// The window, its files and its panes.
    Window,
}

/// Commands under one heading.
pub(crate) struct Group {
    /// The heading.
    pub title: &'static str,
    /// What the commands act on.
    pub(crate) target: Target,
    /// The rows.
    pub rows: &'static [KeyRow],
}

/// The whole table.
pub(crate) const GROUPS: &[Group] = &[
    Group {
        title: "Move",
        target: Target::Timeline,
        rows: moving::ROWS,
    },
    Group {
        title: "Select and find",
        target: Target::Timeline,
        rows: selecting::ROWS,
    },
    Group {
        title: "Mark",
        target: Target::Timeline,
        rows: marking::ROWS,
    },
    Group {
        title: "Tracks",
        target: Target::Timeline,
        rows: arranging::ROWS,
    },
    Group {
        title: "Window",
        target: Target::Window,
        rows: window::ROWS,
    },
];

/// Returns all rows.
pub(crate) fn rows() -> impl Iterator<Item = &'static KeyRow> {
    GROUPS.iter().flat_map(|group| group.rows)
}

/// Returns the keys of the command named `about`, as text; empty if it has none.
#[must_use]
pub(crate) fn shortcut(about: &str) -> String {
    row_of(about).map(KeyRow::key_text).unwrap_or_default()
}

/// Returns the row of the command named `about`.
fn row_of(about: &str) -> Option<&'static KeyRow> {
    rows().find(|row| row.about == about)
}

/// Returns the first key of the command named `about`, for sentences; empty if it has none.
#[must_use]
pub(crate) fn key_of(about: &str) -> String {
    let keys = row_of(about).and_then(|row| row.keys.first());
    keys.map_or_else(String::new, |keys| {
        stroke_text(keys.modifiers, keys.logical_key)
    })
}

/// Mouse and touch gestures, for the list of keys.
pub(crate) const GESTURES: &[(&str, &str)] = &[
    ("W A S D", "The keys at these places, on any keyboard"),
    ("Wheel", "Scroll the tracks"),
    ("Ctrl+wheel, pinch", "Zoom at the pointer"),
    ("Shift+wheel", "Pan"),
    ("Drag", "Select a range of time on these tracks"),
    ("Drag in the ruler", "Select a range on all tracks"),
    (
        "Drag a marker or a flag in the ruler",
        "Move it; it snaps to slices",
    ),
    ("Ctrl+drag", "Zoom to a range"),
    ("Shift+drag, middle drag, finger", "Pan"),
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
    (
        "Drag in the overview",
        "Move the visible span; while all is in view, show the range that you drag over",
    ),
    (
        "Drag the edge beside the headers",
        "Make the headers wider or narrower; a double click undoes that",
    ),
    (
        "Drag a pane's tab",
        "Move the pane to other tabs, or beside them",
    ),
];

/// Returns the actions of this frame's keys. If one of them opens a text field, what is typed after it is held in
/// `ahead` for that field.
pub(crate) fn pressed(
    ctx: &egui::Context,
    state: &ViewState,
    ahead: &mut TypedAhead,
) -> Vec<Action> {
    let focus = if ctx.text_edit_focused() {
        Focus::Typing
    } else if egui::Popup::is_any_open(ctx) {
        Focus::Menu
    } else if ctx.egui_wants_keyboard_input() {
        Focus::Widget
    } else {
        Focus::Nothing
    };
    let is_in_panel = state.is_export_open && is_in(ctx, export_panel::layer());
    let mut actions = Vec::new();
    let mut opened = None;
    ctx.input(|input| {
        for (at, event) in input.events.iter().enumerate() {
            let stroke = match event {
                egui::Event::Key {
                    key,
                    physical_key,
                    pressed: true,
                    modifiers,
                    ..
                } => Stroke::new(*key, *physical_key, *modifiers),
                // The desktop's own event for Ctrl+C.
                egui::Event::Copy => Stroke::new(Key::C, None, CTRL),
                _ => continue,
            };
            if focus.takes(stroke) {
                continue;
            }
            let found = GROUPS.iter().find_map(|group| {
                let fits = |row: &&KeyRow| row.keys.iter().any(|keys| stroke.fits(*keys));
                Some((group.target, group.rows.iter().find(fits)?))
            });
            let action = found.and_then(|(target, row)| {
                let action = (row.action)(state).filter(|action| reaches(state, action))?;
                let stays = target == Target::Window || action == Action::Deselect;
                (!is_in_panel || stays).then_some(action)
            });
            let Some(action) = action else { continue };
            let opens = opens_field(state, &action);
            actions.push(action);
            if opens {
                opened = Some(at);
                break;
            }
        }
    });
    if let Some(at) = opened {
        ahead.begin(ctx, at);
    }
    actions
}

/// Returns whether the pointer or the keyboard focus is in a panel that floats over the timeline. Keys for the timeline
/// would act on the timeline behind the panel.
fn is_in(ctx: &egui::Context, panel: egui::LayerId) -> bool {
    let pointed = ctx.pointer_hover_pos().and_then(|pos| ctx.layer_id_at(pos));
    let focused = ctx.memory(|memory| memory.focused());
    let focused = focused.and_then(|id| ctx.read_response(id));
    pointed == Some(panel) || focused.is_some_and(|response| response.layer_id == panel)
}

/// Returns whether an action is allowed while a dialog covers the window: what is under the dialog must not change.
fn reaches(state: &ViewState, action: &Action) -> bool {
    let quits = *action == Action::Do(Effect::Quit);
    if state.question.is_some() {
        return quits;
    }
    if state.is_settings_open {
        return quits || *action == Action::ToggleSettings;
    }
    if state.is_help_open {
        return quits || *action == Action::ToggleHelp;
    }
    if state.finder.is_some() {
        return quits || matches!(action, Action::Find(_) | Action::ToggleHelp);
    }
    true
}

/// Returns whether `action` opens a text field, for which the next typed keys are meant.
fn opens_field(state: &ViewState, action: &Action) -> bool {
    match action {
        Action::OpenSearch
        | Action::FocusFilter
        | Action::Find(_)
        | Action::AddFlag(_)
        | Action::NoteFlag(Some(_))
        | Action::StartRename(Some(_))
        | Action::DraftPlot(_)
        | Action::Ask(Some(_)) => true,
        Action::ToggleSettings => !state.is_settings_open,
        Action::ToggleHelp => !state.is_help_open,
        _ => false,
    }
}

/// The kind of widget that has keyboard focus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Focus {
    Nothing,
    /// A button or another widget, reached with Tab.
    Widget,
    /// An open menu, which covers a part of the window.
    Menu,
    /// A text field.
    Typing,
}

impl Focus {
    /// Returns whether a key is handled by the focused widget instead of by the window.
    fn takes(self, stroke: Stroke) -> bool {
        let Stroke { key, modifiers, .. } = stroke;
        let is_plain = !modifiers.command && !modifiers.ctrl && !modifiers.alt;
        match self {
            Focus::Nothing => false,
            // These keys press the widget, leave it, or move the focus to its neighbour.
            Focus::Widget => {
                is_plain
                    && matches!(
                        key,
                        Key::Enter
                            | Key::Space
                            | Key::Escape
                            | Key::Tab
                            | Key::ArrowLeft
                            | Key::ArrowRight
                            | Key::ArrowUp
                            | Key::ArrowDown
                    )
            }
            // The menu may cover what keys without modifiers would change.
            Focus::Menu => is_plain,
            Focus::Typing => {
                let is_function = (Key::F1..=Key::F12).contains(&key);
                // Text fields use these to move, delete, copy and undo.
                let edits = matches!(
                    key,
                    Key::A
                        | Key::B
                        | Key::C
                        | Key::D
                        | Key::H
                        | Key::K
                        | Key::U
                        | Key::V
                        | Key::W
                        | Key::X
                        | Key::Y
                        | Key::Z
                        | Key::ArrowLeft
                        | Key::ArrowRight
                        | Key::ArrowUp
                        | Key::ArrowDown
                        | Key::Backspace
                        | Key::Delete
                        | Key::Home
                        | Key::End
                );
                !is_function && (!modifiers.command || modifiers.alt || edits)
            }
        }
    }
}

/// A pressed key.
#[derive(Clone, Copy)]
struct Stroke {
    /// The key by the character that it makes.
    key: Key,
    /// The key at this position on a US keyboard.
    place: Option<Key>,
    /// Modifiers, without a Shift that only makes the character.
    modifiers: Modifiers,
    /// All modifiers that are held.
    held: Modifiers,
}

/// Keys that are matched by position: under the left hand on any keyboard.
const PLACES: [Key; 4] = [Key::W, Key::A, Key::S, Key::D];

impl Stroke {
    fn new(key: Key, place: Option<Key>, modifiers: Modifiers) -> Stroke {
        let is_by_place = place.is_some_and(|place| {
            // A letter displaced by one of these keys is matched by the position it was displaced from.
            modifiers.is_none() && (PLACES.contains(&place) || PLACES.contains(&key))
        });
        let key = if is_by_place {
            place.unwrap_or(key)
        } else {
            key
        };
        // A Shift that only makes the character ("/" on a German keyboard, "." on a French one) is not a modifier.
        let is_sign =
            !is_letter(key) && !is_digit(key) && key.symbol_or_name().chars().count() == 1;
        let makes_sign = is_sign && place.is_some_and(|place| place != key);
        Stroke {
            key,
            place,
            modifiers: Modifiers {
                shift: modifiers.shift && !makes_sign,
                ..modifiers
            },
            held: modifiers,
        }
    }

    fn fits(self, keys: KeyboardShortcut) -> bool {
        let (modifiers, key) = (keys.modifiers, keys.logical_key);
        // With Shift, a digit makes a character that depends on the keyboard: digits are also matched by position.
        let is_at_place = is_digit(key) && self.place == Some(key);
        (self.key == key && self.modifiers.matches_exact(modifiers))
            || (is_at_place && self.held.matches_exact(modifiers))
    }
}

fn is_letter(key: Key) -> bool {
    (Key::A..=Key::Z).contains(&key)
}

fn is_digit(key: Key) -> bool {
    (Key::Num0..=Key::Num9).contains(&key)
}

/// Returns the span between two times in any order, at least a nanosecond long.
#[must_use]
pub(crate) fn span_between(a: Timestamp, b: Timestamp) -> TimeSpan {
    TimeSpan::new(a.min(b), a.max(b).max(a.min(b) + Nanos(1)))
}

#[cfg(test)]
mod tests {
    use super::key_row::{ALT, CTRL_SHIFT, NONE, SHIFT};
    use super::*;

    /// Returns the command of a key that makes the character `key` and has the position of `place` on a US keyboard.
    fn about(modifiers: Modifiers, key: Key, place: Key) -> &'static str {
        let stroke = Stroke::new(key, Some(place), modifiers);
        let mut fitting = rows().filter(|row| row.keys.iter().any(|keys| stroke.fits(*keys)));
        fitting.next().map_or("", |row| row.about)
    }

    #[test]
    fn the_keys_of_the_left_hand_are_meant_by_their_place() {
        // AZERTY: Z and Q are where a US keyboard has W and A; their own commands move to W and A.
        assert_eq!(about(NONE, Key::Z, Key::W), "Zoom in at the pointer");
        assert_eq!(about(NONE, Key::Q, Key::A), "Pan left");
        assert_eq!(about(NONE, Key::S, Key::S), "Zoom out");
        assert_eq!(
            about(NONE, Key::W, Key::Z),
            "Zoom to the selection; again: the whole trace"
        );
        assert_eq!(about(NONE, Key::A, Key::Q), "Show or hide the panes");
        // Dvorak.
        assert_eq!(about(NONE, Key::Comma, Key::W), "Zoom in at the pointer");
        assert_eq!(about(NONE, Key::E, Key::D), "Pan right");
        assert_eq!(about(NONE, Key::O, Key::S), "Zoom out");
        assert_eq!(
            about(NONE, Key::W, Key::Comma),
            "Previous item on the track"
        );
        // Other letters, and letters with Ctrl or Shift, are matched as letters.
        assert_eq!(about(NONE, Key::F, Key::Y), about(NONE, Key::F, Key::F));
        assert_eq!(
            about(CTRL, Key::Z, Key::W),
            "Back to the place before, or undo a change"
        );
        assert_eq!(about(SHIFT, Key::A, Key::Q), "Put marker A at the pointer");
    }

    #[test]
    fn shift_that_makes_a_sign_is_part_of_it() {
        // A German keyboard has "/" on 7 and "?" on the key of the minus.
        assert_eq!(about(SHIFT, Key::Slash, Key::Num7), "Search");
        let help = "Keys and gestures";
        assert_eq!(about(SHIFT, Key::Questionmark, Key::Minus), help);
        assert_eq!(about(SHIFT, Key::Questionmark, Key::Slash), help);
        // A French keyboard has "." on the semicolon; a US keyboard "+" on "=".
        let next = "Next item on the track";
        assert_eq!(about(SHIFT, Key::Period, Key::Semicolon), next);
        assert_eq!(
            about(SHIFT, Key::Plus, Key::Equals),
            "Zoom in at the pointer"
        );
        assert_eq!(
            about(CTRL_SHIFT, Key::Plus, Key::Equals),
            "Make everything larger"
        );
        assert_eq!(
            about(CTRL_SHIFT, Key::Slash, Key::Num7),
            "Keep this as place 7"
        );
    }

    #[test]
    fn typing_keeps_the_keys_that_lines_use() {
        let takes = |focus: Focus, modifiers, key| focus.takes(Stroke::new(key, None, modifiers));
        assert!(takes(Focus::Typing, NONE, Key::W) && takes(Focus::Typing, CTRL, Key::A));
        assert!(takes(Focus::Typing, SHIFT, Key::Slash) && takes(Focus::Typing, ALT, Key::Period));
        assert!(!takes(Focus::Typing, CTRL, Key::P) && !takes(Focus::Typing, NONE, Key::F1));
        assert!(
            takes(Focus::Widget, NONE, Key::ArrowLeft) && takes(Focus::Widget, NONE, Key::Enter)
        );
        assert!(!takes(Focus::Widget, NONE, Key::W) && !takes(Focus::Widget, ALT, Key::ArrowLeft));
    }

    #[test]
    fn keys_are_written_as_people_write_them() {
        let written = |about: &str| shortcut(about);
        assert_eq!(written("Keys and gestures"), "?  F1");
        assert_eq!(written("Zoom in at the pointer"), "W  +");
        assert_eq!(written("Make everything larger"), "Ctrl++");
        assert_eq!(written("Make tracks lower"), "Ctrl+Alt+-");
        assert_eq!(written("Forward again"), "Alt+→  Ctrl+Y  Ctrl+Shift+Z");
        assert_eq!(written("Scroll a page up"), "Page Up");
        assert_eq!(
            written("Stop all that is worked out in the background"),
            "Shift+Esc"
        );
        assert_eq!(written("Choose another flow to follow back"), "Ctrl+[");
        assert_eq!(written("Search"), "/  Ctrl+F");
        assert_eq!(written("Quit"), "Ctrl+Q");
        assert_eq!(written("Fold all"), "");
    }

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
            seen.push(row.about);
        }
    }
}
