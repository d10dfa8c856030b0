//! Commands for selecting, stepping between items, and searching.

use super::key_row::{CTRL, KeyRow, NONE, SHIFT, after, key, row};
use crate::view::{Action, Direction, Effect, FlowsShown, Level, PaneKind, Settings};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(
        &[key(NONE, Key::Slash), key(CTRL, Key::F)],
        "Search",
        |_| Some(Action::OpenSearch),
    ),
    row(
        &[key(NONE, Key::Enter), key(NONE, Key::F3)],
        "Next match",
        |s| {
            s.search
                .is_open
                .then_some(Action::Do(Effect::StepMatch(Direction::Next)))
        },
    ),
    row(
        &[key(SHIFT, Key::Enter), key(SHIFT, Key::F3)],
        "Previous match",
        |s| {
            s.search
                .is_open
                .then_some(Action::Do(Effect::StepMatch(Direction::Previous)))
        },
    ),
    row(&[key(NONE, Key::I)], "Dim all but the matches", |s| {
        s.search.is_open.then_some(Action::ToggleIsolation)
    }),
    row(
        &[key(NONE, Key::L)],
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
        &[key(NONE, Key::T)],
        "Pin a note of the item to the window",
        |_| Some(Action::PinPointed),
    ),
    row(
        &[key(NONE, Key::Comma)],
        "Previous item on the track",
        |_| Some(Action::Step(Direction::Previous)),
    ),
    row(&[key(NONE, Key::Period)], "Next item on the track", |_| {
        Some(Action::Step(Direction::Next))
    }),
    row(&[key(SHIFT, Key::N)], "Previous of the same name", |_| {
        Some(Action::StepSame(Direction::Previous))
    }),
    row(&[key(NONE, Key::N)], "Next of the same name", |_| {
        Some(Action::StepSame(Direction::Next))
    }),
    row(
        &[key(NONE, Key::X)],
        "Next place where events were lost",
        |_| Some(Action::StepGap(Direction::Next)),
    ),
    row(
        &[key(SHIFT, Key::X)],
        "Previous place where events were lost",
        |_| Some(Action::StepGap(Direction::Previous)),
    ),
    row(&[], "List where events were lost", |_| {
        Some(Action::OpenPane(PaneKind::Info))
    }),
    row(
        &[key(CTRL, Key::ArrowUp)],
        "Select what this slice lies in",
        |_| Some(Action::SelectAround(Level::Parent)),
    ),
    row(
        &[key(CTRL, Key::ArrowDown)],
        "Select the first slice inside",
        |_| Some(Action::SelectAround(Level::FirstChild)),
    ),
    row(
        &[key(NONE, Key::OpenBracket)],
        "Follow the flow back",
        |_| Some(Action::Follow(Direction::Previous)),
    ),
    row(
        &[key(NONE, Key::CloseBracket)],
        "Follow the flow on",
        |_| Some(Action::Follow(Direction::Next)),
    ),
    row(
        &[key(CTRL, Key::OpenBracket)],
        "Choose another flow to follow back",
        |_| Some(Action::ChooseFlow(Direction::Previous)),
    ),
    row(
        &[key(CTRL, Key::CloseBracket)],
        "Choose another flow to follow on",
        |_| Some(Action::ChooseFlow(Direction::Next)),
    ),
    row(
        &[key(NONE, Key::R)],
        "Select the selected item's time",
        |s| s.selected.map(|_| Action::RangeOfSelection),
    ),
    row(
        &[key(CTRL, Key::A)],
        "Select the whole track; again: all tracks",
        |_| Some(Action::SelectTrack),
    ),
    row(
        &[key(NONE, Key::C)],
        "Why it waited: the chain of wakeups",
        |_| Some(Action::OpenPane(PaneKind::WakeupChain)),
    ),
    row(
        &[key(NONE, Key::Escape)],
        "Close or stop what is open; select nothing",
        |_| Some(Action::Deselect),
    ),
    row(
        &[key(SHIFT, Key::Escape)],
        "Stop all that is worked out in the background",
        |_| Some(Action::Do(Effect::StopWork)),
    ),
];
