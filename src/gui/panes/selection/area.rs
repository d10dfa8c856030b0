//! The area that panes work on: the selected range and tracks, else what is visible.

use crate::gui::pane::Scene;
use crate::query::area::{Area, Lane, Lanes};
use crate::trace::Trace;
use crate::view::rows::LaneKind;
use crate::view::{ViewState, ruler};

/// Where an area comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The user selected it.
    Selection,
    /// Nothing is selected: it is what the timeline shows.
    View,
}

/// The selected area, else the visible span of all tracks.
#[must_use]
pub fn area_of(state: &ViewState, trace: &Trace) -> (Area, From) {
    let lanes = state.area_lanes().map(|kinds| lanes_of(&kinds, trace));
    let (span, from) = match (state.range, &lanes) {
        (Some(range), _) => (range, From::Selection),
        (None, Some(_)) => (state.trace_span, From::Selection),
        (None, None) => (state.span, From::View),
    };
    let lanes = lanes.map_or(Lanes::All, Lanes::Of);
    (Area { lanes, span }, from)
}

fn lanes_of(kinds: &[LaneKind], trace: &Trace) -> Vec<Lane> {
    let lane = |kind: &LaneKind| match *kind {
        LaneKind::Runs(cpu) => Some(Lane::Runs(cpu)),
        LaneKind::States(thread) => Some(Lane::States(thread)),
        LaneKind::Slices(row) => {
            let row = trace.slices.rows.get(row as usize)?;
            Some(Lane::Track(row.track))
        }
        LaneKind::Counter(id) => Some(Lane::Counter(id)),
        LaneKind::Instants(_) => None,
    };
    let mut lanes: Vec<Lane> = kinds.iter().filter_map(lane).collect();
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// Says in words what an area is: `12.3 ms selected on 3 tracks`.
#[must_use]
pub fn words(scene: &Scene<'_>, area: &Area, from: From) -> String {
    let length = ruler::length_text(area.span.duration(), scene.state.origins.unit);
    match (from, scene.state.area_rows.as_ref().map(Vec::len)) {
        (From::View, _) => format!("Visible: {length}"),
        (From::Selection, None) => format!("Selected: {length}, all tracks"),
        (From::Selection, Some(1)) => format!("Selected: {length}, 1 track"),
        (From::Selection, Some(count)) => format!("Selected: {length}, {count} tracks"),
    }
}
