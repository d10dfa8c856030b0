//! The area that panes work on: the selected range and tracks, else what is visible.

use crate::gui::pane::Scene;
use crate::query::area::{Area, Lane, Lanes};
use crate::trace::{CpuId, Trace};
use crate::view::rows::{LaneKind, RowKey};
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
    let mut lanes: Vec<Lane> = Vec::with_capacity(kinds.len());
    for kind in kinds {
        match *kind {
            // What is meant by a CPU is who ran there, and what they did there.
            LaneKind::Runs(cpu) => lanes.extend([Lane::Runs(cpu), Lane::OnCpu(cpu)]),
            LaneKind::States(thread) => lanes.push(Lane::States(thread)),
            LaneKind::Slices(row) => {
                let row = trace.slices.rows.get(row as usize);
                lanes.extend(row.map(|row| Lane::Track(row.track)));
            }
            LaneKind::Instants(track) => lanes.push(Lane::Track(track)),
            LaneKind::Counter(id) => lanes.push(Lane::Counter(id)),
        }
    }
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// Says in words what an area is: `Selected: 12.3 ms, 3 tracks`, `Selected: 12.3 ms, CPU 3`.
#[must_use]
pub fn words(scene: &Scene<'_>, area: &Area, from: From) -> String {
    let length = ruler::length_text(area.span.duration(), scene.state.origins.unit);
    if from == From::View {
        return format!("Visible: {length}");
    }
    format!("Selected: {length}, {}", whose(scene, area))
}

/// Says in words which tracks an area has: `all tracks`, `3 tracks`, `CPUs 0, 3`.
#[must_use]
pub fn whose(scene: &Scene<'_>, area: &Area) -> String {
    /// More are only counted.
    const MOST_NAMED: usize = 4;
    let Some(rows) = &scene.state.area_rows else {
        return "all tracks".to_owned();
    };
    let cpus = cpus_of(area);
    let is_all_cpus = rows
        .iter()
        .all(|key| matches!(key, RowKey::Cpu(_) | RowKey::Cpus));
    let tracks = ruler::counted(rows.len(), "track", "tracks");
    match cpus.as_slice() {
        [] => tracks,
        _ if !is_all_cpus => tracks,
        [cpu] => format!("CPU {}", number_of(scene, *cpu)),
        some if some.len() <= MOST_NAMED => {
            let numbers = some.iter().map(|cpu| number_of(scene, *cpu).to_string());
            format!("CPUs {}", numbers.collect::<Vec<_>>().join(", "))
        }
        many => format!("{} CPUs", many.len()),
    }
}

fn number_of(scene: &Scene<'_>, cpu: CpuId) -> u32 {
    let cpus = &scene.loaded.trace.cpus;
    cpus.get(cpu.0 as usize).map_or(cpu.0, |cpu| cpu.number)
}

/// The CPUs whose threads an area counts.
fn cpus_of(area: &Area) -> Vec<CpuId> {
    let lanes = match &area.lanes {
        Lanes::All | Lanes::Both { .. } => &[][..],
        Lanes::Of(lanes) => lanes,
    };
    let cpus = lanes.iter().filter_map(|lane| match lane {
        Lane::OnCpu(cpu) => Some(*cpu),
        _ => None,
    });
    cpus.collect()
}

/// What is to be known of how slices of an area count: nothing but where it has CPUs.
#[must_use]
pub fn counted(area: &Area) -> Option<&'static str> {
    (!cpus_of(area).is_empty()).then_some(
        "On a CPU a thread's slice counts once, with the time that the thread ran there in the range. \
         Slices of the CPU itself (interrupts) count whole.",
    )
}
