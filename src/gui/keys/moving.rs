//! Commands for navigation in time and over the tracks.

use super::key_row::{ALT, CTRL, CTRL_SHIFT, KeyRow, NONE, center, row};
use crate::base::Nanos;
use crate::view::{Action, Finder, ViewState};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(
        &[(NONE, Key::W), (NONE, Key::Plus), (NONE, Key::Equals)],
        "Zoom in at the pointer",
        |s| zoom(s, 0.7),
    ),
    row(&[(NONE, Key::S), (NONE, Key::Minus)], "Zoom out", |s| {
        zoom(s, 1.0 / 0.7)
    }),
    row(&[(NONE, Key::A), (NONE, Key::ArrowLeft)], "Pan left", |s| {
        pan(s, -15)
    }),
    row(
        &[(NONE, Key::D), (NONE, Key::ArrowRight)],
        "Pan right",
        |s| pan(s, 15),
    ),
    row(&[(NONE, Key::ArrowUp)], "Scroll up", |_| {
        Some(Action::ScrollBy(-60.0))
    }),
    row(&[(NONE, Key::ArrowDown)], "Scroll down", |_| {
        Some(Action::ScrollBy(60.0))
    }),
    row(&[(NONE, Key::PageUp)], "Scroll a page up", |s| {
        Some(Action::ScrollBy(-s.page_height))
    }),
    row(&[(NONE, Key::PageDown)], "Scroll a page down", |s| {
        Some(Action::ScrollBy(s.page_height))
    }),
    row(
        &[(NONE, Key::Num0), (NONE, Key::Home)],
        "Show the whole trace",
        |_| Some(Action::Fit),
    ),
    row(
        &[(NONE, Key::F), (NONE, Key::Z)],
        "Zoom to the selection; again: the whole trace",
        |_| Some(Action::Focus),
    ),
    row(&[(CTRL, Key::G)], "Go to a time", |_| {
        Some(Action::Find(Finder::Time))
    }),
    row(
        &[(ALT, Key::ArrowLeft), (CTRL, Key::Z)],
        "Back to the place before, or undo a change",
        |_| Some(Action::Back),
    ),
    row(
        &[(ALT, Key::ArrowRight), (CTRL, Key::Y), (CTRL_SHIFT, Key::Z)],
        "Forward again",
        |_| Some(Action::Forward),
    ),
    row(&[(CTRL, Key::Num1)], "Go to place 1", |_| {
        Some(Action::RecallPlace(1))
    }),
    row(&[(CTRL, Key::Num2)], "Go to place 2", |_| {
        Some(Action::RecallPlace(2))
    }),
    row(&[(CTRL, Key::Num3)], "Go to place 3", |_| {
        Some(Action::RecallPlace(3))
    }),
    row(&[(CTRL, Key::Num4)], "Go to place 4", |_| {
        Some(Action::RecallPlace(4))
    }),
    row(&[(CTRL, Key::Num5)], "Go to place 5", |_| {
        Some(Action::RecallPlace(5))
    }),
    row(&[(CTRL, Key::Num6)], "Go to place 6", |_| {
        Some(Action::RecallPlace(6))
    }),
    row(&[(CTRL, Key::Num7)], "Go to place 7", |_| {
        Some(Action::RecallPlace(7))
    }),
    row(&[(CTRL, Key::Num8)], "Go to place 8", |_| {
        Some(Action::RecallPlace(8))
    }),
    row(&[(CTRL, Key::Num9)], "Go to place 9", |_| {
        Some(Action::RecallPlace(9))
    }),
    row(&[(CTRL_SHIFT, Key::Num1)], "Keep this as place 1", |_| {
        Some(Action::SavePlace(1))
    }),
    row(&[(CTRL_SHIFT, Key::Num2)], "Keep this as place 2", |_| {
        Some(Action::SavePlace(2))
    }),
    row(&[(CTRL_SHIFT, Key::Num3)], "Keep this as place 3", |_| {
        Some(Action::SavePlace(3))
    }),
    row(&[(CTRL_SHIFT, Key::Num4)], "Keep this as place 4", |_| {
        Some(Action::SavePlace(4))
    }),
    row(&[(CTRL_SHIFT, Key::Num5)], "Keep this as place 5", |_| {
        Some(Action::SavePlace(5))
    }),
    row(&[(CTRL_SHIFT, Key::Num6)], "Keep this as place 6", |_| {
        Some(Action::SavePlace(6))
    }),
    row(&[(CTRL_SHIFT, Key::Num7)], "Keep this as place 7", |_| {
        Some(Action::SavePlace(7))
    }),
    row(&[(CTRL_SHIFT, Key::Num8)], "Keep this as place 8", |_| {
        Some(Action::SavePlace(8))
    }),
    row(&[(CTRL_SHIFT, Key::Num9)], "Keep this as place 9", |_| {
        Some(Action::SavePlace(9))
    }),
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
