//! Announcements for screen readers: takes the view before and after a change, returns a sentence per difference.
//!
//! Compares states, not actions: a change is announced in the same words whether a key, a menu or the palette made it.

mod arranged;
mod change;
mod heard;
mod items;
mod opened;

pub(crate) use change::{Change, Pace};
pub(crate) use heard::Heard;
pub(crate) use items::{item_words, length_words};

use super::flags::Flag;
use super::ruler;
use super::state::Isolation;
use super::{Action, Direction, ViewState};
use crate::trace::Trace;
use crate::view::effect::Effect;
use change::{at_once, at_rest};
use items::{row_words, span_words, time_words};

/// Returns the words for everything that changed since `before`, most important first.
#[must_use]
pub(crate) fn changes(before: &Heard, state: &ViewState, trace: Option<&Trace>) -> Vec<Change> {
    let now = Heard::of(state);
    let mut changes = opened::changes(before, &now);
    selection(&mut changes, before, state, trace);
    changes.extend(arranged::changes(before, &now, state));
    marks(&mut changes, before, state, trace);
    choices(&mut changes, before, &now);
    let is_elsewhere = before.selected != now.selected || before.found_row != now.found_row;
    if !is_elsewhere || now.selected.is_none() && now.found_row.is_none() {
        place(&mut changes, before, state);
    }
    changes
}

fn selection(changes: &mut Vec<Change>, before: &Heard, state: &ViewState, trace: Option<&Trace>) {
    let found = state
        .found_row
        .filter(|_| before.found_row != state.found_row);
    if let Some(key) = found {
        changes.push(at_once(format!("Selected: {}", row_words(state, key))));
    } else if before.selected != state.selected {
        match state.selected.zip(trace) {
            Some((item, trace)) => {
                let words = item_words(state, trace, item);
                changes.push(at_once(format!("Selected: {words}")));
            }
            None => changes.push(at_once("No item is selected")),
        }
    } else if before.flow_choice != state.flow_choice {
        let [back, on] = state.flow_choice;
        let words = format!("Flow back: number {}, flow on: number {}", back + 1, on + 1);
        changes.push(at_once(words));
    }
    let is_same = before.range == state.range && before.area_rows == state.area_rows;
    if is_same || found.is_some() {
        return;
    }
    let tracks = match &state.area_rows {
        None => "all tracks".to_owned(),
        Some(rows) => match rows.as_slice() {
            [row] => row_words(state, *row),
            rows => ruler::counted(rows.len(), "track", "tracks"),
        },
    };
    changes.push(match (state.range, &state.area_rows) {
        (Some(range), _) => {
            let span = span_words(state, range);
            at_rest(format!("Selected range: {span}, on {tracks}"))
        }
        (None, Some(_)) => at_once(format!("Selected for all time: {tracks}")),
        (None, None) => at_once("No range is selected"),
    });
}

fn marks(changes: &mut Vec<Change>, before: &Heard, state: &ViewState, trace: Option<&Trace>) {
    for (name, (old, new)) in ["A", "B"].iter().zip(before.marks.iter().zip(state.marks)) {
        match new {
            Some(time) if *old != Some(time) => {
                changes.push(at_once(format!(
                    "Marker {name} at {}",
                    time_words(state, time)
                )));
            }
            None if old.is_some() => changes.push(at_once(format!("Marker {name} removed"))),
            _ => {}
        }
    }
    if let ([Some(a), Some(b)], true) = (state.marks, before.marks != state.marks) {
        let length = ruler::length_text(b - a, state.origins.unit);
        changes.push(at_once(format!("From A to B {length}")));
    }
    let is_in = |flags: &[Flag], time| flags.iter().any(|flag| flag.time == time);
    for flag in &state.flags {
        let old = before.flags.iter().find(|old| old.time == flag.time);
        let at = time_words(state, flag.time);
        match old {
            None => changes.push(at_once(format!("Flag added at {at}"))),
            Some(old) if old.note != flag.note => {
                changes.push(at_rest(format!("Flag at {at}: {}", flag.note)));
            }
            Some(old) if old.color != flag.color => {
                let words = format!("Flag at {at}: colour {}", flag.color + 1);
                changes.push(at_once(words));
            }
            Some(_) => {}
        }
    }
    for flag in &before.flags {
        if !is_in(&state.flags, flag.time) {
            let at = time_words(state, flag.time);
            changes.push(at_once(format!("Flag removed at {at}")));
        }
    }
    let Some(trace) = trace else { return };
    for tip in state.tips.iter().filter(|tip| !before.tips.contains(tip)) {
        let words = item_words(state, trace, *tip);
        changes.push(at_once(format!("Kept in view: {words}")));
    }
    if before.tips.iter().any(|tip| !state.tips.contains(tip)) {
        changes.push(at_once("A note about an item was closed"));
    }
}

fn choices(changes: &mut Vec<Change>, before: &Heard, now: &Heard) {
    if before.isolation != now.isolation {
        changes.push(at_once(match now.isolation {
            Isolation::On => "What does not match is dimmed",
            Isolation::Off => "Nothing is dimmed",
        }));
    }
    if before.time_format != now.time_format {
        changes.push(at_once(format!("Times: {}", now.time_format.word())));
    }
    if before.theme != now.theme {
        changes.push(at_once(format!("Theme: {}", now.theme.word())));
    }
    let (old, new) = (before.settings, now.settings);
    if old.flows != new.flows {
        changes.push(at_once(format!("Arrows of flows: {}", new.flows.word())));
    }
    if old.color_by != new.color_by {
        changes.push(at_once(format!("Colours by: {}", new.color_by.word())));
    }
    if old.ui_percent != new.ui_percent {
        changes.push(at_rest(format!("Size of everything {} %", new.ui_percent)));
    }
    if old.row_percent != new.row_percent {
        changes.push(at_rest(format!("Height of tracks {} %", new.row_percent)));
    }
    for (number, (old, new)) in before.places.iter().zip(now.places).enumerate() {
        if new.is_some() && *old != new {
            changes.push(at_once(format!("Kept as place {}", number + 1)));
        }
    }
}

/// Announces the place of the view, once it rests: held keys move it.
fn place(changes: &mut Vec<Change>, before: &Heard, state: &ViewState) {
    if before.span != state.span {
        let words = span_words(state, state.span);
        changes.push(at_rest(match state.span == state.bounds() {
            true => format!("The whole trace is visible: {words}"),
            false => format!("Visible: {words}"),
        }));
    }
    let rows = state.rows.all();
    let seen = state
        .rows
        .between(state.scroll, state.scroll + state.page_height);
    if before.scroll != state.scroll
        && let Some(first) = rows.get(seen.start)
    {
        changes.push(at_rest(format!(
            "Tracks {} to {} of {}, first {}",
            seen.start + 1,
            seen.end.min(rows.len()),
            rows.len(),
            first.title
        )));
    }
}

/// Returns the words for an action that changed nothing, so that no key press is silent.
#[must_use]
pub(crate) fn unchanged_words(action: &Action, state: &ViewState) -> Option<&'static str> {
    let has_selection = state.selected.is_some() || state.range.is_some();
    let is_from_selection = matches!(
        action,
        Action::Step(_) | Action::StepSame(_) | Action::SelectAround(_) | Action::Follow(_)
    );
    if is_from_selection && state.selected.is_none() {
        return Some("No item is selected");
    }
    Some(match action {
        Action::Step(Direction::Next) => "No further item on this track",
        Action::Step(Direction::Previous) => "No earlier item on this track",
        Action::StepSame(_) => "No other item of this name on this track",
        Action::SelectAround(_) => "No slice in that direction",
        Action::Follow(_) => "No flow in that direction",
        Action::Do(Effect::StepMatch(_)) => "No match to go to",
        Action::StepFlag(_) => "No flag in that direction",
        Action::StepGap(_) => "No lost events in that direction",
        Action::Back => "Nothing to go back to",
        Action::Forward => "Nothing to go forward to",
        Action::Focus | Action::Fit => "This is visible already",
        Action::ZoomBy { .. } | Action::PanBy(_) => "No further zoom or pan in that direction",
        Action::ScrollBy(_) => "No further tracks in that direction",
        Action::Do(Effect::Copy(_)) => "Copied",
        Action::Do(Effect::CopySelection) if has_selection => "Copied",
        Action::Do(Effect::CopySelection) => "Nothing is selected, nothing was copied",
        Action::Deselect => "Nothing is selected",
        _ => return None,
    })
}

/// Returns the words that are spoken before those for the changes of an action.
#[must_use]
pub(crate) fn leading_words(action: &Action) -> Option<&'static str> {
    Some(match action {
        Action::Back => "Back",
        Action::Forward => "Forward",
        _ => return None,
    })
}
