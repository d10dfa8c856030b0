//! Carries out changes to the arrangement of tracks, and brings rows into view.

use super::active::active_rows;
use super::kept_places::KeptPlaces;
use super::layout::{Arrange, HEIGHTS, Layout};
use super::outline::{Node, Outline};
use super::plots::key_of_plot;
use super::rows::{Fold, LaneKind, RowKey, RowLane};
use super::saved_layout::FoundBy;
use super::state::ViewState;
use crate::trace::Trace;

/// Carries out `what`.
pub(super) fn arrange(state: &mut ViewState, what: Arrange, trace: Option<&Trace>) {
    let (layout, kept) = (&mut state.layout, &mut state.kept_places);
    let mut is_regathered = false;
    let mut shown = None;
    match what {
        Arrange::Pin(key) => match layout.pinned.iter().position(|other| *other == key) {
            Some(at) => drop(layout.pinned.remove(at)),
            None => layout.pinned.push(key),
        },
        Arrange::Hide(key) => {
            layout.hidden.insert(key);
            layout.pinned.retain(|other| *other != key);
        }
        Arrange::UnhideAll => layout.hidden.clear(),
        Arrange::ToggleAll(name) => {
            let mut keys = Vec::new();
            find_named(&state.outline.nodes, name, &mut keys);
            if keys.iter().all(|key| layout.hidden.contains(key)) {
                layout.hidden.retain(|key| !keys.contains(key));
            } else {
                layout.hidden.extend(keys);
            }
        }
        // In a group that the user made, tracks are in the order of its members.
        Arrange::Move { key, before } => match (layout.group_of(key).map(|it| it.id), trace) {
            (Some(group), Some(trace)) => {
                let natural = Outline::natural(trace, layout, kept.as_ref());
                layout.join(&natural, key, RowKey::Made(group), before);
                is_regathered = true;
            }
            _ => layout.move_row(&state.outline, key, before),
        },
        Arrange::Rename(key, name) if layout.group(key).is_some() => {
            let group = layout
                .groups
                .iter_mut()
                .find(|group| RowKey::Made(group.id) == key);
            if let (Some(group), false) = (group, name.trim().is_empty()) {
                group.name = name.trim().to_owned();
                is_regathered = true;
            }
        }
        Arrange::Rename(key, name) if name.trim().is_empty() => drop(layout.names.remove(&key)),
        Arrange::Rename(key, name) => drop(layout.names.insert(key, name.trim().to_owned())),
        Arrange::Height(key, 100) => drop(layout.heights.remove(&key)),
        Arrange::Height(key, percent) => {
            let percent = percent.clamp(*HEIGHTS.start(), *HEIGHTS.end());
            layout.heights.insert(key, percent);
        }
        Arrange::Group(keys) => {
            if let Some(trace) = trace {
                let natural = Outline::natural(trace, layout, kept.as_ref());
                let made = layout.make_group(&state.outline, &natural, &keys);
                shown = made;
                state.renaming = made;
                state.area_rows = made.map(|key| vec![key]);
                is_regathered = true;
            }
        }
        Arrange::Join { key, into, before } => {
            if let Some(trace) = trace {
                let natural = Outline::natural(trace, layout, kept.as_ref());
                layout.join(&natural, key, into, before);
                is_regathered = true;
            }
        }
        Arrange::TakeOut(key) => {
            layout.take_out(key);
            is_regathered = true;
        }
        Arrange::Ungroup(key) => {
            layout.ungroup(key);
            is_regathered = true;
        }
        Arrange::GroupBy(group_by) => {
            is_regathered = layout.group_by != group_by;
            *kept = None;
            layout.group_by = group_by;
        }
        // A new sorting replaces kept places and the user's own order.
        Arrange::SortBy(sort_by) => {
            is_regathered = layout.sort_by != sort_by;
            layout.sort_by = sort_by;
            *kept = None;
            layout.order.clear();
        }
        Arrange::ToggleOnlyActive => {
            state.active = match (&state.active, trace) {
                (None, Some(trace)) => {
                    Some((state.span, active_rows(&state.outline, trace, state.span)))
                }
                _ => None,
            };
        }
        Arrange::Plot(plot, instead_of) => {
            let key = key_of_plot(&plot);
            layout.plots.retain(|other| *other != plot);
            let at = instead_of.and_then(|old| layout.plots.iter().position(|it| *it == old));
            match at {
                Some(at) => layout.plots[at] = plot,
                None => layout.plots.push(plot),
            }
            is_regathered = true;
            shown = Some(key);
        }
        Arrange::Unplot(plot) => {
            layout.plots.retain(|other| *other != plot);
            layout.names.remove(&key_of_plot(&plot));
            is_regathered = true;
        }
        Arrange::Reset => {
            is_regathered = true;
            *layout = Layout::default();
            *kept = None;
            state.active = None;
        }
        Arrange::Save(name) => {
            let mut saved = layout.saved(&state.outline, &name);
            saved.dock = Some(state.dock.clone());
            state.layouts.retain(|other| other.name != name);
            state.layouts.push(saved);
        }
        Arrange::Use(name) => {
            let Some(at) = state.layouts.iter().position(|it| it.name == name) else {
                return;
            };
            let saved = &state.layouts[at];
            if let Some(trace) = trace {
                state.kept_places = None;
                let taken_up = Layout::taken_up(saved, trace, FoundBy::Name);
                (state.layout, state.outline) = (taken_up.layout, taken_up.outline);
            }
            if let Some(dock) = &saved.dock {
                state.dock = dock.clone().held();
            }
        }
        Arrange::Forget(name) => state.layouts.retain(|other| other.name != name),
    }
    if let (true, Some(trace)) = (is_regathered, trace) {
        state.lay_out(trace);
        state.active = None;
    }
    state.rebuild_rows();
    if let Some(key) = shown {
        reveal_row(state, key);
    }
}

/// Collects the keys of all tracks named `name`.
fn find_named(nodes: &[Node], name: &str, keys: &mut Vec<RowKey>) {
    for node in nodes {
        if *node.title == *name {
            keys.push(node.key);
        }
        find_named(&node.children, name, keys);
    }
}

impl ViewState {
    /// Builds the tree of rows that the layout describes; rows of a trace that grew keep their places.
    pub(super) fn lay_out(&mut self, trace: &Trace) {
        let natural = Outline::natural(trace, &self.layout, self.kept_places.as_ref());
        if let Some(kept) = &mut self.kept_places {
            *kept = KeptPlaces::of(&natural);
        }
        self.outline = natural.grouped(&self.layout.groups);
    }

    /// Recomputes the active tracks, if only these are shown and the visible span has changed.
    pub(crate) fn refresh_active(&mut self, trace: &Trace) {
        if let Some((span, _)) = &self.active
            && *span != self.span
        {
            let rows = active_rows(&self.outline, trace, self.span);
            let is_other = self.active.as_ref().is_some_and(|(_, old)| *old != rows);
            self.active = Some((self.span, rows));
            if is_other {
                self.rebuild_rows();
            }
        }
    }
}

/// Opens and unhides the groups around a row and the row itself, and scrolls to it.
pub(super) fn reveal_row(state: &mut ViewState, key: RowKey) {
    let mut path = Vec::new();
    state.outline.visit(&mut |above, node| {
        if node.key == key {
            path = above.iter().map(|node| node.key).collect();
        }
    });
    if !path.is_empty() {
        open_path(state, &path, |state| state.rows.of_key(key).is_some());
    }
    if let Some(row) = state.rows.of_key(key) {
        let (top, bottom) = (row.top, row.bottom());
        scroll_to(state, top, bottom);
    }
}

/// Opens and unhides the groups around the row that draws `lane`, and the row itself.
pub(super) fn show_lane(state: &mut ViewState, lane: LaneKind) {
    if state.rows.of_lane(lane).is_none() {
        let mut path = Vec::new();
        state.outline.visit(&mut |above, node| {
            if path.is_empty() && node.lanes.iter().any(|it| it.kind == lane) {
                path = above.iter().map(|node| node.key).collect();
            }
        });
        if !path.is_empty() {
            open_path(state, &path, |state| state.rows.of_lane(lane).is_some());
        }
    }
    if let Some(RowLane { row, lane }) = state.rows.of_lane(lane) {
        let top = row.top + lane.offset;
        let bottom = top + lane.height;
        scroll_to(state, top, bottom);
    }
}

/// Opens the rows of `path`; if the target is still not shown, unhides them and clears the filters.
fn open_path(state: &mut ViewState, path: &[RowKey], is_shown: impl Fn(&ViewState) -> bool) {
    if is_shown(state) {
        return;
    }
    for key in path {
        state.layout.folds.insert(*key, Fold::Open);
        state.layout.hidden.remove(key);
    }
    state.rebuild_rows();
    if !is_shown(state) {
        state.filter.clear();
        state.active = None;
        state.rebuild_rows();
    }
}

fn scroll_to(state: &mut ViewState, top: f32, bottom: f32) {
    if top < state.scroll || bottom > state.scroll + state.page_height {
        let middle = (top + bottom - state.page_height) / 2.0;
        state.scroll = middle.clamp(0.0, state.max_scroll());
    }
}
