//! Commands for navigation in time and over the tracks.

use super::key_row::{ALT, CTRL, CTRL_SHIFT, KeyRow, NONE, center, key, row};
use crate::base::Nanos;
use crate::view::{Action, Finder, ViewState};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(
        &[
            key(NONE, Key::W),
            key(NONE, Key::Plus),
            key(NONE, Key::Equals),
        ],
        "Zoom in at the pointer",
        |s| zoom(s, 0.7),
    ),
    row(
        &[key(NONE, Key::S), key(NONE, Key::Minus)],
        "Zoom out",
        |s| zoom(s, 1.0 / 0.7),
    ),
    row(
        &[key(NONE, Key::A), key(NONE, Key::ArrowLeft)],
        "Pan left",
        |s| pan(s, -15),
    ),
    row(
        &[key(NONE, Key::D), key(NONE, Key::ArrowRight)],
        "Pan right",
        |s| pan(s, 15),
    ),
    row(&[key(NONE, Key::ArrowUp)], "Scroll up", |_| {
        Some(Action::ScrollBy(-60.0))
    }),
    row(&[key(NONE, Key::ArrowDown)], "Scroll down", |_| {
        Some(Action::ScrollBy(60.0))
    }),
    row(&[key(NONE, Key::PageUp)], "Scroll a page up", |s| {
        Some(Action::ScrollBy(-s.page_height))
    }),
    row(&[key(NONE, Key::PageDown)], "Scroll a page down", |s| {
        Some(Action::ScrollBy(s.page_height))
    }),
    row(
        &[key(NONE, Key::Num0), key(NONE, Key::Home)],
        "Show the whole trace",
        |_| Some(Action::Fit),
    ),
    row(
        &[key(NONE, Key::F), key(NONE, Key::Z)],
        "Zoom to the selection; again: the whole trace",
        |_| Some(Action::Focus),
    ),
    row(&[key(CTRL, Key::G)], "Go to a time", |_| {
        Some(Action::Find(Finder::Time))
    }),
    row(
        &[key(ALT, Key::ArrowLeft), key(CTRL, Key::Z)],
        "Back to the place before, or undo a change",
        |_| Some(Action::Back),
    ),
    row(
        &[
            key(ALT, Key::ArrowRight),
            key(CTRL, Key::Y),
            key(CTRL_SHIFT, Key::Z),
        ],
        "Forward again",
        |_| Some(Action::Forward),
    ),
    row(&[key(CTRL, Key::Num1)], "Go to place 1", |_| {
        Some(Action::RecallPlace(1))
    }),
    row(&[key(CTRL, Key::Num2)], "Go to place 2", |_| {
        Some(Action::RecallPlace(2))
    }),
    row(&[key(CTRL, Key::Num3)], "Go to place 3", |_| {
        Some(Action::RecallPlace(3))
    }),
    row(&[key(CTRL, Key::Num4)], "Go to place 4", |_| {
        Some(Action::RecallPlace(4))
    }),
    row(&[key(CTRL, Key::Num5)], "Go to place 5", |_| {
        Some(Action::RecallPlace(5))
    }),
    row(&[key(CTRL, Key::Num6)], "Go to place 6", |_| {
        Some(Action::RecallPlace(6))
    }),
    row(&[key(CTRL, Key::Num7)], "Go to place 7", |_| {
        Some(Action::RecallPlace(7))
    }),
    row(&[key(CTRL, Key::Num8)], "Go to place 8", |_| {
        Some(Action::RecallPlace(8))
    }),
    row(&[key(CTRL, Key::Num9)], "Go to place 9", |_| {
        Some(Action::RecallPlace(9))
    }),
    row(
        &[key(CTRL_SHIFT, Key::Num1)],
        "Keep this as place 1",
        |_| Some(Action::SavePlace(1)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num2)],
        "Keep this as place 2",
        |_| Some(Action::SavePlace(2)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num3)],
        "Keep this as place 3",
        |_| Some(Action::SavePlace(3)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num4)],
        "Keep this as place 4",
        |_| Some(Action::SavePlace(4)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num5)],
        "Keep this as place 5",
        |_| Some(Action::SavePlace(5)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num6)],
        "Keep this as place 6",
        |_| Some(Action::SavePlace(6)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num7)],
        "Keep this as place 7",
        |_| Some(Action::SavePlace(7)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num8)],
        "Keep this as place 8",
        |_| Some(Action::SavePlace(8)),
    ),
    row(
        &[key(CTRL_SHIFT, Key::Num9)],
        "Keep this as place 9",
        |_| Some(Action::SavePlace(9)),
    ),
];

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
