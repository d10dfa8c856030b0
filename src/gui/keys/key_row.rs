//! A row of the table of keys, and what all groups share: modifiers, the time that keys act on, the next choice.

use crate::base::{Nanos, Timestamp};
use crate::view::{Action, ViewState};
use egui::{Key, KeyboardShortcut, Modifiers};

/// A command with its keys.
pub(crate) struct KeyRow {
    /// Alternative keys; empty: the command is only in the palette.
    pub keys: &'static [KeyboardShortcut],
    /// Name of the command.
    pub about: &'static str,
    /// Returns the action in the current view; `None` if the command is not available.
    pub action: fn(&ViewState) -> Option<Action>,
}

impl KeyRow {
    /// Returns the keys as text, alternatives separated by two blanks ("Alt+←  Ctrl+Z"); empty if there are none.
    #[must_use]
    pub(crate) fn key_text(&self) -> String {
        let mut texts: Vec<String> = Vec::new();
        for keys in self.keys {
            let text = stroke_text(keys.modifiers, keys.logical_key);
            // "=" is "+" without Shift, and "?" may or may not need Shift: to the user each is one key.
            let with_plus = key(keys.modifiers, Key::Plus);
            let is_unshifted_plus =
                keys.logical_key == Key::Equals && self.keys.contains(&with_plus);
            if !is_unshifted_plus && !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.join("  ")
    }

    /// Returns the digit, if the row has one key and that is a digit from 1 to 9.
    #[must_use]
    pub(crate) fn digit(&self) -> Option<u32> {
        let [keys] = self.keys else { return None };
        keys.logical_key
            .symbol_or_name()
            .parse()
            .ok()
            .filter(|digit| *digit > 0)
    }
}

/// Returns one key with its modifiers as text.
pub(super) fn stroke_text(modifiers: Modifiers, key: Key) -> String {
    let (has_shift, name) = match key {
        Key::Slash | Key::Questionmark if modifiers.shift => (false, "?"),
        Key::ArrowLeft => (modifiers.shift, "←"),
        Key::ArrowRight => (modifiers.shift, "→"),
        Key::ArrowUp => (modifiers.shift, "↑"),
        Key::ArrowDown => (modifiers.shift, "↓"),
        Key::PageUp => (modifiers.shift, "Page Up"),
        Key::PageDown => (modifiers.shift, "Page Down"),
        Key::Escape => (modifiers.shift, "Esc"),
        Key::Minus => (modifiers.shift, "-"),
        _ => (modifiers.shift, key.symbol_or_name()),
    };
    let held = [
        (modifiers.command, "Ctrl+"),
        (modifiers.alt, "Alt+"),
        (has_shift, "Shift+"),
    ];
    let mut text: String = held
        .iter()
        .filter(|held| held.0)
        .map(|held| held.1)
        .collect();
    text.push_str(name);
    text
}

pub(super) const NONE: Modifiers = Modifiers::NONE;
pub(super) const CTRL: Modifiers = Modifiers::COMMAND;
pub(super) const SHIFT: Modifiers = Modifiers::SHIFT;
pub(super) const ALT: Modifiers = Modifiers::ALT;
pub(super) const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
pub(super) const CTRL_ALT: Modifiers = Modifiers::COMMAND.plus(Modifiers::ALT);

/// Returns a key with its modifiers; keeps the tables readable.
pub(super) const fn key(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(modifiers, key)
}

/// Returns a row; keeps the tables readable.
pub(super) const fn row(
    keys: &'static [KeyboardShortcut],
    about: &'static str,
    action: fn(&ViewState) -> Option<Action>,
) -> KeyRow {
    KeyRow {
        keys,
        about,
        action,
    }
}

/// Returns the time that keys act on: under the pointer, else the one jumped to, else the middle of the visible span.
pub(super) fn center(state: &ViewState) -> Timestamp {
    state
        .hover
        .or(state.aim)
        .unwrap_or(state.span.start + Nanos(state.span.duration().0 / 2))
}

/// Returns the value after `present` in `all`, cyclically.
pub(super) fn after<T: Copy + PartialEq>(all: &[T], present: T) -> T {
    let at = all.iter().position(|it| *it == present).unwrap_or(0);
    all.get((at + 1) % all.len()).copied().unwrap_or(present)
}
