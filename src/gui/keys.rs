//! The keys: one table from which they are handled, listed by `?`, and shown in menus.

use egui::{Key, Modifiers};

use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::view::action::Purpose;
use crate::view::{Action, Direction, Marker, ViewState};

/// A row of the table.
pub struct KeyRow {
    /// The keys, any of which does it.
    pub keys: &'static [(Modifiers, Key)],
    /// How people write them.
    pub shown: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The heading it is listed under.
    pub group: &'static str,
    /// The action, given the view.
    pub action: fn(&ViewState) -> Option<Action>,
}

const NONE: Modifiers = Modifiers::NONE;
const CTRL: Modifiers = Modifiers::COMMAND;
const SHIFT: Modifiers = Modifiers::SHIFT;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
const ALT: Modifiers = Modifiers::ALT;

/// The time that keys work around: under the pointer, else the middle.
fn center(state: &ViewState) -> Timestamp {
    state
        .hover
        .unwrap_or(state.span.start + Nanos(state.span.duration().0 / 2))
}

fn zoom(state: &ViewState, factor: f64) -> Option<Action> {
    Some(Action::ZoomBy {
        factor,
        around: center(state),
    })
}

fn pan(state: &ViewState, percent: i64) -> Option<Action> {
    let step = (i128::from(state.span.duration().0) * i128::from(percent) / 100) as i64;
    Some(Action::PanBy(Nanos(if step == 0 {
        percent.signum()
    } else {
        step
    })))
}

/// All keys.
pub const KEYS: &[KeyRow] = &[
    KeyRow {
        keys: &[(NONE, Key::W), (NONE, Key::Plus), (NONE, Key::Equals)],
        shown: "W  +",
        about: "Zoom in at the pointer",
        group: "Move",
        action: |s| zoom(s, 0.7),
    },
    KeyRow {
        keys: &[(NONE, Key::S), (NONE, Key::Minus)],
        shown: "S  -",
        about: "Zoom out",
        group: "Move",
        action: |s| zoom(s, 1.0 / 0.7),
    },
    KeyRow {
        keys: &[(NONE, Key::A), (NONE, Key::ArrowLeft)],
        shown: "A  ←",
        about: "Pan left",
        group: "Move",
        action: |s| pan(s, -15),
    },
    KeyRow {
        keys: &[(NONE, Key::D), (NONE, Key::ArrowRight)],
        shown: "D  →",
        about: "Pan right",
        group: "Move",
        action: |s| pan(s, 15),
    },
    KeyRow {
        keys: &[(NONE, Key::ArrowUp)],
        shown: "↑",
        about: "Scroll up",
        group: "Move",
        action: |_| Some(Action::ScrollBy(-60.0)),
    },
    KeyRow {
        keys: &[(NONE, Key::ArrowDown)],
        shown: "↓",
        about: "Scroll down",
        group: "Move",
        action: |_| Some(Action::ScrollBy(60.0)),
    },
    KeyRow {
        keys: &[(NONE, Key::PageUp)],
        shown: "Page Up",
        about: "Scroll a page up",
        group: "Move",
        action: |s| Some(Action::ScrollBy(-s.page_height)),
    },
    KeyRow {
        keys: &[(NONE, Key::PageDown)],
        shown: "Page Down",
        about: "Scroll a page down",
        group: "Move",
        action: |s| Some(Action::ScrollBy(s.page_height)),
    },
    KeyRow {
        keys: &[(NONE, Key::Num0), (NONE, Key::Home)],
        shown: "0  Home",
        about: "Show the whole trace",
        group: "Move",
        action: |_| Some(Action::Fit),
    },
    KeyRow {
        keys: &[(NONE, Key::F), (NONE, Key::Z)],
        shown: "F  Z",
        about: "Zoom to the selection; again: the whole trace",
        group: "Move",
        action: |_| Some(Action::Focus),
    },
    KeyRow {
        keys: &[(ALT, Key::ArrowLeft), (CTRL, Key::Z)],
        shown: "Alt+←  Ctrl+Z",
        about: "Back to the place before",
        group: "Move",
        action: |_| Some(Action::Back),
    },
    KeyRow {
        keys: &[(ALT, Key::ArrowRight), (CTRL, Key::Y)],
        shown: "Alt+→  Ctrl+Y",
        about: "Forward again",
        group: "Move",
        action: |_| Some(Action::Forward),
    },
    KeyRow {
        keys: &[(NONE, Key::Comma)],
        shown: ",",
        about: "Previous item on the track",
        group: "Select",
        action: |_| Some(Action::Step(Direction::Previous)),
    },
    KeyRow {
        keys: &[(NONE, Key::Period)],
        shown: ".",
        about: "Next item on the track",
        group: "Select",
        action: |_| Some(Action::Step(Direction::Next)),
    },
    KeyRow {
        keys: &[(NONE, Key::OpenBracket)],
        shown: "[",
        about: "Follow the flow back",
        group: "Select",
        action: |_| Some(Action::Follow(Direction::Previous)),
    },
    KeyRow {
        keys: &[(NONE, Key::CloseBracket)],
        shown: "]",
        about: "Follow the flow on",
        group: "Select",
        action: |_| Some(Action::Follow(Direction::Next)),
    },
    KeyRow {
        keys: &[(NONE, Key::R)],
        shown: "R",
        about: "Select the selected item's time",
        group: "Select",
        action: |s| s.selected.map(|_| Action::RangeOfSelection),
    },
    KeyRow {
        keys: &[(NONE, Key::Escape)],
        shown: "Esc",
        about: "Select nothing",
        group: "Select",
        action: |_| Some(Action::Deselect),
    },
    KeyRow {
        keys: &[(SHIFT, Key::A), (NONE, Key::M)],
        shown: "Shift+A  M",
        about: "Put marker A at the pointer",
        group: "Mark",
        action: |s| Some(Action::Mark(Marker::A, center(s))),
    },
    KeyRow {
        keys: &[(SHIFT, Key::B)],
        shown: "Shift+B",
        about: "Put marker B at the pointer",
        group: "Mark",
        action: |s| Some(Action::Mark(Marker::B, center(s))),
    },
    KeyRow {
        keys: &[(CTRL, Key::D)],
        shown: "Ctrl+D",
        about: "Take both markers away",
        group: "Mark",
        action: |_| Some(Action::ClearMarks),
    },
    KeyRow {
        keys: &[(CTRL_SHIFT, Key::O)],
        shown: "Ctrl+Shift+O",
        about: "Add a trace to this axis",
        group: "Window",
        action: |_| Some(Action::AskForFile(Purpose::Add)),
    },
    KeyRow {
        keys: &[(CTRL, Key::O)],
        shown: "Ctrl+O",
        about: "Open a file",
        group: "Window",
        action: |_| Some(Action::AskForFile(Purpose::Open)),
    },
    KeyRow {
        keys: &[(CTRL, Key::E)],
        shown: "Ctrl+E",
        about: "Export a range of the trace",
        group: "Window",
        action: |_| Some(Action::ToggleExport),
    },
    KeyRow {
        keys: &[(CTRL, Key::P)],
        shown: "Ctrl+P",
        about: "Find tracks",
        group: "Window",
        action: |_| Some(Action::FocusFilter),
    },
    KeyRow {
        keys: &[(NONE, Key::Q)],
        shown: "Q",
        about: "Show or hide the panes",
        group: "Window",
        action: |_| Some(Action::ToggleDock),
    },
    KeyRow {
        keys: &[
            (SHIFT, Key::Slash),
            (NONE, Key::Questionmark),
            (SHIFT, Key::Questionmark),
        ],
        shown: "?",
        about: "Show or hide this list",
        group: "Window",
        action: |_| Some(Action::ToggleHelp),
    },
];

/// What to do with the mouse, for the same list.
pub const GESTURES: &[(&str, &str)] = &[
    ("Wheel", "Scroll the tracks"),
    ("Ctrl+wheel, pinch", "Zoom at the pointer"),
    ("Shift+wheel", "Pan"),
    ("Drag", "Select a range of time"),
    ("Ctrl+drag", "Zoom to a range"),
    ("Shift+drag, middle drag", "Pan"),
    ("Click", "Select"),
    ("Double click", "Select and zoom to it"),
    ("Drag in the overview", "Move the visible span"),
];

/// The actions that this frame's keys ask for.
pub fn pressed(ui: &egui::Ui, state: &ViewState) -> Vec<Action> {
    if ui.ctx().egui_wants_keyboard_input() {
        return Vec::new();
    }
    let mut actions = Vec::new();
    ui.input(|input| {
        for event in &input.raw.events {
            let egui::Event::Key {
                key,
                pressed: true,
                modifiers,
                ..
            } = event
            else {
                continue;
            };
            let fits = |row: &&KeyRow| {
                row.keys.iter().any(|(wanted, wanted_key)| {
                    key == wanted_key && modifiers.matches_exact(*wanted)
                })
            };
            if let Some(action) = KEYS.iter().find(fits).and_then(|row| (row.action)(state)) {
                actions.push(action);
            }
        }
    });
    actions
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
        let mut all: Vec<(Modifiers, Key)> = KEYS
            .iter()
            .flat_map(|row| row.keys.iter().copied())
            .collect();
        let count = all.len();
        all.dedup();
        let mut seen = Vec::new();
        for key in all {
            assert!(!seen.contains(&key), "{key:?} twice");
            seen.push(key);
        }
        assert_eq!(seen.len(), count);
    }
}
