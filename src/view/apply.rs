//! Carries out actions: takes an action, changes the `ViewState`, returns the effects that the program around it must
//! carry out.

use super::action::{Action, Marker};
use super::anchor::anchor_of;
use super::arrange::{arrange, reveal_row};
use super::direction::Direction;
use super::dock::Docking;
use super::dock::PaneFocus;
use super::effect::Effect;
use super::flags::{self, Flagging};
use super::history::{Past, Step};
use super::locate;
use super::looking::{focus, go, reveal, select_track, step, step_gap};
use super::pane_kind::PaneKind;
use super::question::Question;
use super::rows::{Fold, Row, RowKey};
use super::scale::zoomed;
use super::settings::Motion;
use super::state::{Isolation, Search, SelectedLast, ViewState};
use super::undo;
use crate::base::{Nanos, TimeSpan};
use crate::query::Item;
use crate::trace::Trace;
use std::time::Duration;

/// Carries out `action`. `now` is the time since the program's start; only history steps use it.
pub(crate) fn apply(
    state: &mut ViewState,
    action: Action,
    trace: Option<&Trace>,
    now: Duration,
) -> Option<Effect> {
    let selected = state.selected;
    let last = selects(&action);
    let goes_to_row = matches!(action, Action::GoToRow(_));
    if last.is_some() || looks_elsewhere(&action) {
        state.aim = None;
    }
    let before = undo::before(state, &action);
    let effect = carry_out(state, action, trace, now);
    undo::note(state, before, now);
    if state.selected != selected {
        state.flow_choice = [0, 0];
        state.selected_anchor = trace.and_then(|trace| anchor_of(trace, state.selected?));
        state.selected_time = trace.and_then(|trace| locate::span_of(trace, state.selected?));
    }
    if last.is_some() && !goes_to_row {
        state.found_row = None;
    }
    let has_item = last == Some(SelectedLast::Item) && state.selected.is_some();
    if has_item || last == Some(SelectedLast::Range) {
        state.dock.selected();
    }
    state.selected_last = last.unwrap_or(state.selected_last);
    effect
}

/// Returns whether an action selects an item or a range, `None` if neither.
fn selects(action: &Action) -> Option<SelectedLast> {
    match action {
        Action::Select(_)
        | Action::GoToRow(_)
        | Action::Reveal(_)
        | Action::Step(_)
        | Action::StepSame(_)
        | Action::StepGap(_)
        | Action::Do(Effect::StepMatch(_))
        | Action::SelectAround(_)
        | Action::Follow(_)
        // This range is derived from the item: the item stays the selection that counts.
        | Action::RangeOfSelection => Some(SelectedLast::Item),
        Action::SelectRange(_)
        | Action::SelectArea(..)
        | Action::SelectRows(_)
        | Action::SelectTrack => Some(SelectedLast::Range),
        _ => None,
    }
}

/// Returns whether an action shows that the user has left the time they jumped to.
fn looks_elsewhere(action: &Action) -> bool {
    matches!(
        action,
        Action::Deselect
            | Action::DeselectItems
            | Action::Show(_)
            | Action::Fit
            | Action::Focus
            | Action::Back
            | Action::Forward
            | Action::RecallPlace(_)
    )
}

#[expect(
    clippy::too_many_lines,
    reason = "one line an action, and nothing else"
)]
fn carry_out(
    state: &mut ViewState,
    action: Action,
    trace: Option<&Trace>,
    now: Duration,
) -> Option<Effect> {
    match action {
        Action::Show(span) => go(state, span, Step::Jump, now),
        // A dragged view follows the pointer at once, without a glide.
        Action::Drag(span) => {
            go(state, span, Step::Drift, now);
            state.motion = Motion::Jump;
        }
        Action::ZoomBy { factor, around } => {
            let span = zoomed(state.span, factor, around);
            go(state, span, Step::Drift, now);
        }
        Action::PanBy(delta) => go(state, state.span.shifted(delta), Step::Drift, now),
        Action::Fit => go(state, state.bounds(), Step::Jump, now),
        Action::Focus => focus(state, trace, now),
        Action::Select(item) => state.selected = Some(item),
        Action::Reveal(item) => {
            state.selected = Some(item);
            reveal(state, item, trace, now);
        }
        Action::Center(time) | Action::GoToTime(time) => {
            let half = Nanos(state.span.duration().0 / 2);
            let span = TimeSpan::new(time - half, time - half + state.span.duration());
            go(state, span, Step::Jump, now);
            state.aim = matches!(action, Action::GoToTime(_)).then_some(time);
        }
        Action::SelectRange(span) => {
            state.range = Some(span.intersection(state.bounds()));
            state.area_rows = None;
        }
        Action::SelectArea(span, rows) => {
            state.range = Some(span.intersection(state.bounds()));
            state.area_rows = Some(rows);
        }
        Action::SelectRows(rows) => {
            state.range = None;
            state.area_rows = Some(rows);
        }
        Action::SelectTrack => select_track(state, trace),
        Action::RangeOfSelection => {
            if let Some((trace, item)) = trace.zip(state.selected)
                && let Some(span) = locate::span_of(trace, item)
            {
                state.range = Some(span.intersection(state.bounds()));
                let row = locate::lane_of(trace, item).and_then(|lane| state.rows.of_lane(lane));
                state.area_rows = row.map(|found| vec![found.row.key]);
            }
        }
        // Each press closes one thing.
        Action::Deselect => {
            if state.is_help_open {
                state.is_help_open = false;
            } else if state.is_export_open {
                state.is_export_open = false;
            } else if state.search.is_open && !has_selection(state) {
                state.search = Search::default();
            } else if state.is_legend_open && !has_selection(state) {
                state.is_legend_open = false;
            } else {
                deselect(state);
            }
        }
        Action::DeselectItems => deselect(state),
        Action::Step(direction) => step(state, trace, now, |trace, item| {
            locate::neighbour(trace, item, direction)
        }),
        Action::StepSame(direction) => step(state, trace, now, |trace, item| {
            locate::same_name(trace, item, direction)
        }),
        Action::StepGap(direction) => step_gap(state, direction, trace, now),
        Action::SelectAround(level) => step(state, trace, now, |trace, item| {
            locate::around(trace, item, level)
        }),
        Action::Follow(direction) => {
            let choice = state.flow_choice[place_of(direction)];
            step(state, trace, now, |trace, item| {
                locate::followed(trace, item, direction, choice)
            });
        }
        Action::ChooseFlow(direction) => {
            let count = trace.zip(state.selected).map_or(0, |(trace, item)| {
                locate::flows_of(trace, item, direction).len()
            });
            let choice = &mut state.flow_choice[place_of(direction)];
            *choice = (*choice + 1) % (count as u32).max(1);
        }
        Action::Mark(marker, time) => state.marks[index_of(marker)] = Some(time),
        Action::MarkBoth(span) => state.marks = [Some(span.start), Some(span.end)],
        Action::Flag(what) => flags::change(&mut state.flags, what),
        Action::AddFlag(time) => {
            flags::change(&mut state.flags, Flagging::Add(time));
            state.noting = Some(time);
        }
        Action::NoteFlag(time) => state.noting = time,
        Action::StepFlag(direction) => {
            if let Some(time) = flags::beside(&state.flags, state.middle(), direction) {
                let half = Nanos(state.span.duration().0 / 2);
                let span = TimeSpan::new(time - half, time - half + state.span.duration());
                go(state, span, Step::Jump, now);
            }
        }
        Action::ClearMarks => state.marks = [None, None],
        Action::Toggle(key) => toggle(state, key),
        Action::FoldAll => fold_all(state, Fold::Closed),
        Action::UnfoldAll => fold_all(state, Fold::Open),
        Action::Filter(text) => {
            state.filter = text;
            state.rebuild_rows();
        }
        Action::ScrollBy(points) => {
            state.scroll = (state.scroll + points).clamp(0.0, state.max_scroll());
        }
        Action::Arrange(what) => arrange(state, what, trace),
        Action::StartRename(key) => state.renaming = key,
        Action::RevealRow(key) => reveal_row(state, key),
        Action::GoToRow(key) => {
            reveal_row(state, key);
            state.found_row = Some(key);
            match state.rows.of_key(key).and_then(Row::item) {
                Some(item) => state.selected = Some(item),
                None => (state.range, state.area_rows) = (None, Some(vec![key])),
            }
        }
        Action::Ask(question) => state.question = question,
        Action::DraftPlot(item) => {
            let draft = trace.zip(item.or(state.selected));
            let draft = draft.map(|(trace, item)| super::plots::draft_of(trace, item));
            state.question = trace.map(|_| Question::Plot {
                draft: draft.unwrap_or_default(),
                instead_of: None,
            });
        }
        Action::SavePlace(number) => {
            let place = state.place();
            if let Some(kept) = state.places.get_mut(usize::from(number).wrapping_sub(1)) {
                *kept = Some(place);
            }
        }
        Action::RecallPlace(number) => {
            let kept = state.places.get(usize::from(number).wrapping_sub(1));
            if let Some(place) = kept.copied().flatten() {
                go(state, place.span, Step::Jump, now);
                state.scroll = place.scroll.clamp(0.0, state.max_scroll());
            }
        }
        Action::ScrollPinned(points) => {
            let most = state.rows.pinned_height();
            state.pinned_scroll = (state.pinned_scroll + points).clamp(0.0, most);
        }
        Action::Point(at) => {
            (state.hover, state.edge) = (at.time, at.edge);
            if at.row != state.pointed_row {
                state.found_row = None;
            }
            (state.pointed, state.pointed_row) = (at.item, at.row);
        }
        Action::Hover(time) => state.hover = time,
        Action::SetTimeFormat(format) => state.time_format = format,
        Action::SetTheme(theme) => state.theme = theme,
        Action::Configure(settings) => {
            let percent = state.settings.row_percent;
            state.settings = settings.held();
            if state.settings.row_percent != percent {
                state.rebuild_rows();
            }
        }
        Action::AddUp(sums) => state.sums = sums,
        Action::OpenSearch => {
            state.search.is_open = true;
            state.search.wants_focus = true;
        }
        Action::Search(text) => {
            state.search.is_open = true;
            state.search.text = text;
        }
        Action::ToggleIsolation => {
            state.search.isolation = match state.search.isolation {
                Isolation::On => Isolation::Off,
                Isolation::Off => Isolation::On,
            };
        }
        Action::CloseSearch => state.search = Search::default(),
        Action::PinTip(item) => pin_tip(state, Some(item)),
        Action::PinPointed => pin_tip(state, state.item_at_hand()),
        Action::UnpinTip(item) => state.tips.retain(|other| *other != item),
        Action::ToggleSettings => state.is_settings_open = !state.is_settings_open,
        Action::Find(finder) => state.finder = Some(finder),
        Action::CloseFinder => state.finder = None,
        Action::Highlight(what) => state.highlight = what,
        Action::ShowPath(path) => state.path = path,
        Action::OpenPane(pane) => change_dock(state, Docking::Open(pane)),
        Action::ToggleDock => state.dock.change(Docking::Toggle),
        Action::Dock(what) => change_dock(state, what),
        Action::AtPane(pane, focus) => (state.pane_at_hand, state.pane_focus) = (pane, focus),
        Action::Back | Action::Forward => {
            let mut history = std::mem::take(&mut state.history);
            let present = |past: &Past| undo::present(state, past);
            let past = match action {
                Action::Back => history.back(present),
                _ => history.forward(present),
            };
            state.history = history;
            if let Some(past) = past {
                undo::take_up(state, past, trace);
            }
        }
        Action::ToggleHelp => state.is_help_open = !state.is_help_open,
        Action::ToggleLegend => state.is_legend_open = !state.is_legend_open,
        Action::HaveRoom(points) => state.have_room(points),
        Action::FollowHeights(legible) => state.follow_heights(legible),
        Action::FocusFilter => state.wants_filter_focus = true,
        Action::StartOver => {
            if let Some(trace) = trace {
                state.show_new(trace);
            }
        }
        Action::Do(effect) => return Some(effect),
        Action::ToggleExport => state.is_export_open = !state.is_export_open && trace.is_some(),
    }
    None
}

/// The index of a direction in `ViewState::flow_choice`.
#[must_use]
pub(crate) fn place_of(direction: Direction) -> usize {
    match direction {
        Direction::Previous => 0,
        Direction::Next => 1,
    }
}

/// The index of a marker in `ViewState::marks`.
#[must_use]
pub(crate) fn index_of(marker: Marker) -> usize {
    match marker {
        Marker::A => 0,
        Marker::B => 1,
    }
}

fn pin_tip(state: &mut ViewState, item: Option<Item>) {
    if let Some(item) = item
        && !state.tips.contains(&item)
    {
        state.tips.push(item);
    }
}

fn has_selection(state: &ViewState) -> bool {
    state.selected.is_some() || state.range.is_some() || state.area_rows.is_some()
}

fn deselect(state: &mut ViewState) {
    state.selected = None;
    state.range = None;
    state.area_rows = None;
    state.path.clear();
}

/// Changes the panes and keeps the current tabs current, or switches to the tabs of a pane that is opened.
fn change_dock(state: &mut ViewState, what: Docking) {
    let opened = match &what {
        Docking::Open(pane)
        | Docking::OpenAmong(pane, _)
        | Docking::Split(pane, _)
        | Docking::Shift(pane, _) => Some(*pane),
        Docking::Turn(..) => {
            state.pane_focus = PaneFocus::Follows;
            None
        }
        _ => None,
    };
    // After a pane is closed, another pane of its tabs identifies them.
    let fellows = state.dock.fellows(state.pane_at_hand);
    state.dock.change(what);
    let is_open = |pane: &PaneKind| state.dock.panes().contains(pane);
    let at_hand = opened.or_else(|| fellows.into_iter().find(is_open));
    state.pane_at_hand = at_hand.and_then(|pane| state.dock.front_at(Some(pane)));
}

fn toggle(state: &mut ViewState, key: RowKey) {
    let fold = match state.rows.of_key(key).map(|row| row.fold) {
        Some(Fold::Open) => Fold::Closed,
        Some(Fold::Closed) => Fold::Open,
        Some(Fold::None) | None => return,
    };
    state.layout.folds.insert(key, fold);
    state.rebuild_rows();
}

fn fold_all(state: &mut ViewState, fold: Fold) {
    let folds = &mut state.layout.folds;
    state.outline.visit(&mut |_, node| {
        if node.can_close() {
            folds.insert(node.key, fold);
        }
    });
    state.rebuild_rows();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;

    fn span(start: i64, end: i64) -> TimeSpan {
        TimeSpan::new(Timestamp(start), Timestamp(end))
    }

    fn state() -> ViewState {
        let mut state = ViewState {
            trace_span: span(0, 100_000),
            ..ViewState::default()
        };
        state.span = state.bounds();
        state
    }

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn back_undoes_a_jump_and_forward_redoes_it() {
        let mut state = state();
        let whole = state.span;
        apply(&mut state, Action::Show(span(10, 500)), None, at(0));
        apply(&mut state, Action::Show(span(20, 90)), None, at(10));
        apply(&mut state, Action::Back, None, at(20));
        assert_eq!(state.span, span(10, 500));
        apply(&mut state, Action::Back, None, at(30));
        assert_eq!(state.span, whole);
        apply(&mut state, Action::Forward, None, at(40));
        apply(&mut state, Action::Forward, None, at(50));
        assert_eq!(state.span, span(20, 90));
    }

    #[test]
    fn pans_in_a_row_are_one_step() {
        let mut state = state();
        apply(&mut state, Action::Show(span(1_000, 2_000)), None, at(0));
        for i in 0..5 {
            apply(
                &mut state,
                Action::PanBy(Nanos(100)),
                None,
                at(1_000 + i * 100),
            );
        }
        apply(&mut state, Action::PanBy(Nanos(100)), None, at(5_000));
        apply(&mut state, Action::Back, None, at(6_000));
        assert_eq!(state.span, span(1_500, 2_500));
        apply(&mut state, Action::Back, None, at(6_000));
        assert_eq!(state.span, span(1_000, 2_000));
    }

    #[test]
    fn focus_shows_the_range_and_then_the_whole() {
        let mut state = state();
        apply(
            &mut state,
            Action::SelectRange(span(5_000, 6_000)),
            None,
            at(0),
        );
        apply(&mut state, Action::Focus, None, at(1));
        assert_eq!(state.span, span(4_900, 6_100));
        apply(&mut state, Action::Focus, None, at(2));
        assert_eq!(state.span, state.bounds());
    }

    #[test]
    fn the_view_never_leaves_its_bounds() {
        let mut state = state();
        let around = Timestamp(50_000);
        for _ in 0..100 {
            apply(
                &mut state,
                Action::ZoomBy {
                    factor: 0.5,
                    around,
                },
                None,
                at(0),
            );
        }
        assert!(
            state.span.contains(around) && state.span.duration() == crate::view::scale::MIN_SPAN
        );
        apply(&mut state, Action::PanBy(Nanos(i64::MAX)), None, at(0));
        assert_eq!(state.span.end, state.bounds().end);
        apply(
            &mut state,
            Action::ZoomBy {
                factor: 1e18,
                around,
            },
            None,
            at(0),
        );
        assert_eq!(state.span, state.bounds());
    }

    #[test]
    fn what_is_not_the_views_to_do_goes_out() {
        let mut state = state();
        let effect = apply(
            &mut state,
            Action::Do(Effect::Open(vec!["a.dat".into()])),
            None,
            at(0),
        );
        assert_eq!(effect, Some(Effect::Open(vec!["a.dat".into()])));
    }
}
