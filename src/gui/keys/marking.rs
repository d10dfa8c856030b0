//! Commands for markers and flags.

use super::key_row::{ALT, CTRL, KeyRow, NONE, SHIFT, center, key, row};
use crate::base::Timestamp;
use crate::view::{Action, Direction, Flagging, Marker, ViewState};
use egui::Key;

pub(super) const ROWS: &[KeyRow] = &[
    row(&[key(SHIFT, Key::M)], "Put a flag at the pointer", |s| {
        Some(Action::AddFlag(edge(s)))
    }),
    row(
        &[key(NONE, Key::Delete)],
        "Take the flag at the pointer away",
        |s| {
            // A flag farther away, or out of sight, was probably not meant.
            let (at, most) = (center(s), s.span.duration().0 / 20);
            let is_near = |time: Timestamp| {
                s.span.contains(time) && (time - at).0.unsigned_abs() <= most as u64
            };
            let mut flags = s.flags.iter();
            let is_any = flags.any(|flag| is_near(flag.time));
            is_any.then_some(Action::Flag(Flagging::RemoveNear(at)))
        },
    ),
    row(&[key(ALT, Key::Period)], "Next flag", |_| {
        Some(Action::StepFlag(Direction::Next))
    }),
    row(&[key(ALT, Key::Comma)], "Previous flag", |_| {
        Some(Action::StepFlag(Direction::Previous))
    }),
    row(&[key(SHIFT, Key::A)], "Put marker A at the pointer", |s| {
        Some(Action::Mark(Marker::A, edge(s)))
    }),
    row(&[key(SHIFT, Key::B)], "Put marker B at the pointer", |s| {
        Some(Action::Mark(Marker::B, edge(s)))
    }),
    row(
        &[key(NONE, Key::M)],
        "Put A and B around the selection, or A at the pointer",
        |s| {
            let both = s.selected_span().map(Action::MarkBoth);
            both.or_else(|| Some(Action::Mark(Marker::A, edge(s))))
        },
    ),
    row(&[key(CTRL, Key::D)], "Take both markers away", |_| {
        Some(Action::ClearMarks)
    }),
];

/// Returns where to put a marker: at the slice edge near the pointer if there is one, else at the pointer.
fn edge(state: &ViewState) -> Timestamp {
    state.edge.unwrap_or_else(|| center(state))
}
