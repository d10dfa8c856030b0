//! Moves the view and the selection: to a span, to the selection, to the next item, to a track.

use super::arrange::show_lane;
use super::direction::Direction;
use super::history::Step;
use super::locate;
use super::scale::{MIN_SPAN, held_within, with_margin};
use super::settings::Motion;
use super::state::{SelectedLast, ViewState};
use crate::base::{Nanos, TimeSpan};
use crate::query::Item;
use crate::trace::Trace;
use std::time::Duration;

/// Shows the part of a span within the bounds; the previous span becomes a history step.
pub(super) fn go(state: &mut ViewState, span: TimeSpan, step: Step, now: Duration) {
    let lacking = (MIN_SPAN.0 - span.duration().0).max(0);
    let span = TimeSpan::new(
        span.start - Nanos(lacking / 2),
        span.end + Nanos(lacking - lacking / 2),
    );
    let span = held_within(span, state.bounds());
    if span != state.span {
        state.history.leave(state.place(), step, now);
        state.span = span;
        state.motion = Motion::Glide;
    }
}

/// Shows the selection with a margin; a second time, or without a selection, the whole trace.
pub(super) fn focus(state: &mut ViewState, trace: Option<&Trace>, now: Duration) {
    let of_item = trace.and_then(|trace| locate::span_of(trace, state.selected?));
    let selected = match state.selected_last {
        SelectedLast::Item => of_item.or(state.range),
        SelectedLast::Range => state.range.or(of_item),
    };
    let target = match selected {
        // A point is centred at the current zoom.
        Some(span) if span.duration() <= Nanos(1) => {
            let half = Nanos(state.span.duration().0 / 2);
            let start = span.start - half;
            let around = TimeSpan::new(start, start + state.span.duration());
            held_within(around, state.bounds())
        }
        Some(span) => held_within(with_margin(span, 10), state.bounds()),
        None => state.bounds(),
    };
    let target = if target == state.span {
        state.bounds()
    } else {
        target
    };
    go(state, target, Step::Jump, now);
}

/// Selects the item that `next` returns for the selected item, and brings it into view.
pub(super) fn step(
    state: &mut ViewState,
    trace: Option<&Trace>,
    now: Duration,
    next: impl Fn(&Trace, Item) -> Option<Item>,
) {
    if let (Some(trace), Some(item)) = (trace, state.selected)
        && let Some(next) = next(trace, item)
    {
        state.selected = Some(next);
        reveal(state, next, Some(trace), now);
    }
}

/// Selects the next or previous gap where events were lost, over all tracks, and brings it into view.
pub(super) fn step_gap(
    state: &mut ViewState,
    direction: Direction,
    trace: Option<&Trace>,
    now: Duration,
) {
    let Some(trace) = trace else { return };
    // Without a selection, the search starts at the edge of the visible span.
    let seen = match direction {
        Direction::Next => state.span.start - Nanos(1),
        Direction::Previous => state.span.end,
    };
    let from = state.selected_time.map_or(seen, |span| span.start);
    if let Some(item) = locate::gap_beside(trace, state.selected, from, direction) {
        state.selected = Some(item);
        reveal(state, item, Some(trace), now);
    }
}

/// Selects the row of the selected or pointed-at item over the whole trace; if that is done already, selects all rows.
pub(super) fn select_track(state: &mut ViewState, trace: Option<&Trace>) {
    if state.range.is_none() && state.area_rows.is_some() {
        state.area_rows = None;
        state.range = Some(state.trace_span);
        return;
    }
    let of_selected = trace.and_then(|trace| {
        let found = state
            .rows
            .of_lane(locate::lane_of(trace, state.selected?)?)?;
        Some(found.row.key)
    });
    if let Some(key) = of_selected.or(state.pointed_row) {
        state.range = None;
        state.area_rows = Some(vec![key]);
    }
}

/// Brings an item into view: opens the rows that hide it, scrolls to it, and moves the span if the item is outside.
pub(super) fn reveal(state: &mut ViewState, item: Item, trace: Option<&Trace>, now: Duration) {
    let Some(trace) = trace else { return };
    if let Some(span) = locate::span_of(trace, item)
        && (!state.span.overlaps(span) || span.duration().0 > state.span.duration().0)
    {
        let target = if span.duration().0 > state.span.duration().0 / 2 {
            with_margin(span, 25)
        } else {
            let middle = span.start + Nanos(span.duration().0 / 2);
            let half = Nanos(state.span.duration().0 / 2);
            TimeSpan::new(middle - half, middle + half)
        };
        go(state, target, Step::Jump, now);
    }
    let Some(lane) = locate::lane_of(trace, item) else {
        return;
    };
    show_lane(state, lane);
}
