//! Undoes changes to the tracks, the flags and the markers; navigation is undone by the history of places.
//!
//! The state before a change goes into the history of places; going back restores it.

use super::action::Action;
use super::flags::Flagging;
use super::history::Past;
use super::layout::{Arrange, Layout};
use super::scale::held_within;
use super::settings::Motion;
use super::state::ViewState;
use crate::trace::Trace;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// Records the state before an action, if the action changed it.
pub(super) fn note(state: &mut ViewState, before: Option<Before>, now: Duration) {
    if let Some(Before { past, drag }) = before
        && present(state, &past) != past
    {
        state.history.change(past, drag, now);
    }
}

/// The state before an action that may change it.
pub(super) struct Before {
    past: Past,
    /// A key of the drag that the action is part of.
    drag: Option<u64>,
}

/// Returns the state that an action would change.
pub(super) fn before(state: &ViewState, action: &Action) -> Option<Before> {
    let layout = || Past::Layout(Box::new(state.layout.clone()));
    let tracks = || Past::Tracks(Box::new(state.layout.clone()));
    let flags = || Past::Flags(state.flags.clone());
    let (past, drag) = match action {
        // Saved layouts are not part of the tracks' state.
        Action::Arrange(Arrange::Save(_) | Arrange::Forget(_) | Arrange::ToggleOnlyActive) => {
            return None;
        }
        Action::Arrange(Arrange::Height(key, _)) => (tracks(), Some(hash_of(key))),
        Action::Arrange(Arrange::Reset | Arrange::Use(_))
        | Action::Toggle(_)
        | Action::FoldAll
        | Action::UnfoldAll => (layout(), None),
        Action::Arrange(_) => (tracks(), None),
        // A note is typed letter by letter, and its text field has an undo of its own.
        Action::Flag(Flagging::Note(..)) => return None,
        Action::Flag(Flagging::Move(..)) => (flags(), Some(0)),
        Action::Flag(_) | Action::AddFlag(_) => (flags(), None),
        Action::ClearMarks => (Past::Marks(state.marks), None),
        _ => return None,
    };
    Some(Before { past, drag })
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the current state of the kind of `past`.
pub(super) fn present(state: &ViewState, past: &Past) -> Past {
    match past {
        Past::Place(_) => Past::Place(state.place()),
        Past::Tracks(_) => Past::Tracks(Box::new(state.layout.clone())),
        Past::Layout(_) => Past::Layout(Box::new(state.layout.clone())),
        Past::Flags(_) => Past::Flags(state.flags.clone()),
        Past::Marks(_) => Past::Marks(state.marks),
    }
}

/// Restores a past state.
pub(super) fn take_up(state: &mut ViewState, past: Past, trace: Option<&Trace>) {
    match past {
        Past::Place(place) => {
            state.span = held_within(place.span, state.bounds());
            state.motion = Motion::Glide;
            state.scroll = place.scroll.clamp(0.0, state.max_scroll());
        }
        Past::Tracks(mut layout) => {
            layout.folds = std::mem::take(&mut state.layout.folds);
            lay_out(state, *layout, trace);
        }
        Past::Layout(layout) => lay_out(state, *layout, trace),
        Past::Flags(mut flags) => {
            // Notes typed since then are kept.
            for flag in &mut flags {
                if let Some(now) = state.flags.iter().find(|now| now.time == flag.time) {
                    flag.note.clone_from(&now.note);
                }
            }
            state.flags = flags;
        }
        Past::Marks(marks) => state.marks = marks,
    }
}

fn lay_out(state: &mut ViewState, layout: Layout, trace: Option<&Trace>) {
    let order = |layout: &Layout| (layout.group_by, layout.sort_by);
    if order(&layout) != order(&state.layout) {
        state.kept_places = None;
    }
    state.layout = layout;
    if let Some(trace) = trace {
        state.lay_out(trace);
        state.active = None;
    }
    state.renaming = None;
    state.rebuild_rows();
}
