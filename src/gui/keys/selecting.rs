//! Selecting, stepping from one item to the next, searching.

use super::arranging::after;
use super::{CTRL, KeyRow, NONE, SHIFT, row};
use crate::view::{Action, Direction, FlowsShown, Level, Settings};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(
        &[(NONE, Key::Slash), (CTRL, Key::F)],
        "/  Ctrl+F",
        "Search",
        |_| Some(Action::OpenSearch),
    ),
    row(
        &[(NONE, Key::F3), (NONE, Key::Enter)],
        "Enter  F3",
        "Next match",
        |s| {
            s.search
                .is_open
                .then_some(Action::StepMatch(Direction::Next))
        },
    ),
    row(
        &[(SHIFT, Key::F3), (SHIFT, Key::Enter)],
        "Shift+Enter  Shift+F3",
        "Previous match",
        |s| {
            s.search
                .is_open
                .then_some(Action::StepMatch(Direction::Previous))
        },
    ),
    row(&[(NONE, Key::I)], "I", "Dim all but the matches", |s| {
        s.search.is_open.then_some(Action::ToggleIsolation)
    }),
    row(
        &[(NONE, Key::L)],
        "L",
        "Draw the next arrows: of the selection, the pointer, all",
        |s| {
            let flows = after(&FlowsShown::ALL, s.settings.flows);
            Some(Action::Configure(Settings {
                flows,
                ..s.settings
            }))
        },
    ),
    row(
        &[(NONE, Key::T)],
        "T",
        "Pin a note of the item to the window",
        |_| Some(Action::PinPointed),
    ),
    row(
        &[(NONE, Key::Comma)],
        ",",
        "Previous item on the track",
        |_| Some(Action::Step(Direction::Previous)),
    ),
    row(
        &[(NONE, Key::Period)],
        ".",
        "Next item on the track",
        |_| Some(Action::Step(Direction::Next)),
    ),
    row(
        &[(SHIFT, Key::N)],
        "Shift+N",
        "Previous of the same name",
        |_| Some(Action::StepSame(Direction::Previous)),
    ),
    row(&[(NONE, Key::N)], "N", "Next of the same name", |_| {
        Some(Action::StepSame(Direction::Next))
    }),
    row(
        &[(NONE, Key::X)],
        "X",
        "Next place where events were lost",
        |_| Some(Action::StepGap(Direction::Next)),
    ),
    row(
        &[(SHIFT, Key::X)],
        "Shift+X",
        "Previous place where events were lost",
        |_| Some(Action::StepGap(Direction::Previous)),
    ),
    row(&[], "", "List where events were lost", |_| {
        Some(Action::OpenPane("Info"))
    }),
    row(
        &[(CTRL, Key::ArrowUp)],
        "Ctrl+↑",
        "Select what this slice lies in",
        |_| Some(Action::SelectAround(Level::Parent)),
    ),
    row(
        &[(CTRL, Key::ArrowDown)],
        "Ctrl+↓",
        "Select the first slice inside",
        |_| Some(Action::SelectAround(Level::FirstChild)),
    ),
    row(
        &[(NONE, Key::OpenBracket)],
        "[",
        "Follow the flow back",
        |_| Some(Action::Follow(Direction::Previous)),
    ),
    row(
        &[(NONE, Key::CloseBracket)],
        "]",
        "Follow the flow on",
        |_| Some(Action::Follow(Direction::Next)),
    ),
    row(
        &[(CTRL, Key::OpenBracket)],
        "Ctrl+[",
        "Choose another flow to follow back",
        |_| Some(Action::ChooseFlow(Direction::Previous)),
    ),
    row(
        &[(CTRL, Key::CloseBracket)],
        "Ctrl+]",
        "Choose another flow to follow on",
        |_| Some(Action::ChooseFlow(Direction::Next)),
    ),
    row(
        &[(NONE, Key::R)],
        "R",
        "Select the selected item's time",
        |s| s.selected.map(|_| Action::RangeOfSelection),
    ),
    row(
        &[(CTRL, Key::A)],
        "Ctrl+A",
        "Select the whole track; again: all tracks",
        |_| Some(Action::SelectTrack),
    ),
    row(
        &[(NONE, Key::C)],
        "C",
        "Why it waited: the chain of wakeups",
        |_| Some(Action::OpenPane("Wakeup chain")),
    ),
    row(
        &[(NONE, Key::Escape)],
        "Esc",
        "Close or stop what is open; select nothing",
        |_| Some(Action::Deselect),
    ),
    row(
        &[(SHIFT, Key::Escape)],
        "Shift+Esc",
        "Stop all that is worked out in the background",
        |_| Some(Action::StopWork),
    ),
];
