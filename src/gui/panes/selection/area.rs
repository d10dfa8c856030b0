//! The area on which panes work: the selected range and tracks, or else the visible span.

use egui::Ui;

use crate::base::{Nanos, TimeSpan};
use crate::event::SliceKind;
use crate::event::part::ClockUnit;
use crate::gui::boxes::check_box;
use crate::gui::pane::Scene;
use crate::query::area::{Area, Group, Hidden, Lane, Lanes};
use crate::trace::counters::CounterScope;
use crate::trace::{CpuId, Trace, TrackId, TrackKind};
use crate::view::rows::{LaneKind, RowKey};
use crate::view::{Action, HiddenTracks, Sums, ViewState, ruler};

/// The origin of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The user's selection.
    Selection,
    /// The span that the timeline shows, because nothing is selected.
    View,
}

/// The area that a pane shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownArea {
    /// The area.
    pub area: Area,
    /// Its origin.
    pub from: From,
}

/// Returns the selected area, or else the visible span of all tracks.
#[must_use]
pub(crate) fn area_of(state: &ViewState, trace: &Trace) -> ShownArea {
    let lanes = state.area_lanes().map(|kinds| lanes_of(&kinds, trace));
    let (span, from) = match (state.range, &lanes) {
        (Some(range), _) => (range, From::Selection),
        (None, Some(_)) => (state.trace_span, From::Selection),
        (None, None) => (state.span, From::View),
    };
    let area = area_with(lanes.map_or(Lanes::All, Lanes::Of), span);
    ShownArea { area, from }
}

fn area_with(lanes: Lanes, span: TimeSpan) -> Area {
    Area {
        lanes,
        ..Area::of(span)
    }
}

/// Returns the area for panes that add up slices: without hidden tracks, if the user excludes these.
#[must_use]
pub(crate) fn summed_area_of(state: &ViewState, trace: &Trace) -> ShownArea {
    let ShownArea { area, from } = area_of(state, trace);
    if state.sums.hidden == HiddenTracks::Counted {
        return ShownArea { area, from };
    }
    let Some(kinds) = state.summed_lanes() else {
        return ShownArea { area, from };
    };
    let hidden = hidden_of(state, trace);
    let mut lanes = lanes_of(&kinds, trace);
    if area.lanes == Lanes::All {
        // Slices of threads on CPUs are on tracks of their own, some of which are hidden.
        lanes.retain(|lane| !matches!(lane, Lane::OnCpu(_)));
    }
    let area = Area {
        hidden,
        ..area_with(Lanes::Of(lanes), area.span)
    };
    ShownArea { area, from }
}

/// Returns the area for raw events, which belong to a thread and to a CPU: without those of hidden threads and CPUs.
#[must_use]
pub(crate) fn event_area_of(state: &ViewState, trace: &Trace) -> Area {
    Area {
        hidden: hidden_of(state, trace),
        ..area_of(state, trace).area
    }
}

/// Returns the threads and CPUs all of whose tracks are hidden, if hidden tracks are excluded.
fn hidden_of(state: &ViewState, trace: &Trace) -> Hidden {
    let Some(parted) = state.parted_lanes() else {
        return Hidden::default();
    };
    let hidden: Vec<LaneKind> = parted.hidden.into_iter().collect();
    let (shown, mut hidden) = (owners_of(&parted.shown, trace), owners_of(&hidden, trace));
    hidden
        .threads
        .retain(|id| shown.threads.binary_search(id).is_err());
    hidden
        .cpus
        .retain(|id| shown.cpus.binary_search(id).is_err());
    hidden
}

/// Returns the threads and CPUs of lanes, sorted.
fn owners_of(kinds: &[LaneKind], trace: &Trace) -> Hidden {
    let mut owners = Hidden::default();
    for lane in lanes_of(kinds, trace) {
        let track = |id: TrackId| trace.tracks.get(id.0 as usize).map(|track| track.kind);
        match lane {
            Lane::States(thread) => owners.threads.push(thread),
            Lane::Runs(cpu) => owners.cpus.push(cpu),
            Lane::Track(id) => match track(id) {
                Some(TrackKind::Thread(thread)) => owners.threads.push(thread),
                Some(TrackKind::Cpu(cpu)) => owners.cpus.push(cpu),
                Some(TrackKind::Async(_) | TrackKind::Nobody) | None => {}
            },
            Lane::OnCpu(_) | Lane::Counter(_) | Lane::AsyncOf(_) => {}
        }
    }
    owners.threads.sort_unstable();
    owners.threads.dedup();
    owners.cpus.sort_unstable();
    owners.cpus.dedup();
    owners
}

/// The reference for shares: the time of slices in an area is shown as a share of this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    /// The length of the range.
    Range,
    /// The length of the range, times this number of CPUs.
    CpuTime(usize),
}

/// Returns the reference for shares in an area: the time of its CPUs if only CPUs are selected.
#[must_use]
pub(crate) fn whole_of(area: &Area, trace: &Trace) -> Whole {
    let Lanes::Of(lanes) = &area.lanes else {
        return Whole::Range;
    };
    let kind = |id: TrackId| trace.tracks.get(id.0 as usize).map(|track| track.kind);
    let is_of_cpu = |lane: &Lane| match *lane {
        Lane::Runs(_) | Lane::OnCpu(_) | Lane::Counter(_) => true,
        Lane::Track(id) => matches!(kind(id), Some(TrackKind::Cpu(_))),
        Lane::States(_) | Lane::AsyncOf(_) => false,
    };
    match cpus_of(area).len() {
        0 => Whole::Range,
        count if lanes.iter().all(is_of_cpu) => Whole::CpuTime(count),
        _ => Whole::Range,
    }
}

fn lanes_of(kinds: &[LaneKind], trace: &Trace) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::with_capacity(kinds.len());
    // As in exports and on the command line, a selection of CPUs alone means the slices of threads while they ran
    // there. With other tracks selected, a CPU means the contents of its track: otherwise one table would contain whole
    // calls of some threads and only parts of the calls of others.
    let are_cpus_alone = kinds.iter().all(|kind| is_of_cpu(kind, trace));
    for kind in kinds {
        match *kind {
            LaneKind::Runs(cpu) => {
                lanes.push(Lane::Runs(cpu));
                lanes.extend(are_cpus_alone.then_some(Lane::OnCpu(cpu)));
            }
            LaneKind::States(thread) => lanes.push(Lane::States(thread)),
            LaneKind::Slices(row) => {
                let row = trace.slices.rows.get(row as usize);
                lanes.extend(row.map(|row| Lane::Track(row.track)));
            }
            LaneKind::Instants(track) => lanes.push(Lane::Track(track)),
            LaneKind::Counter(id) => lanes.push(Lane::Counter(id)),
            LaneKind::Profile { .. } | LaneKind::Summary(..) | LaneKind::Jobs(_) => {}
        }
    }
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// Returns whether a lane shows the activity of a CPU itself, rather than of a thread or process.
fn is_of_cpu(kind: &LaneKind, trace: &Trace) -> bool {
    let is_cpus = |track: TrackId| {
        let track = trace.tracks.get(track.0 as usize);
        matches!(track.map(|it| it.kind), Some(TrackKind::Cpu(_)))
    };
    match *kind {
        LaneKind::Runs(_) => true,
        LaneKind::States(_)
        | LaneKind::Profile { .. }
        | LaneKind::Summary(..)
        | LaneKind::Jobs(_) => false,
        LaneKind::Slices(row) => {
            let row = trace.slices.rows.get(row as usize);
            row.is_some_and(|row| is_cpus(row.track))
        }
        LaneKind::Instants(track) => is_cpus(track),
        LaneKind::Counter(id) => {
            let counter = trace.counters.tracks.get(id.0 as usize);
            matches!(counter.map(|it| it.scope), Some(CounterScope::Cpu(_)))
        }
    }
}

/// Describes an area: `Selected: 12.3 ms, 3 tracks`, `Selected: 12.3 ms, CPU 3`.
#[must_use]
pub(crate) fn words(scene: &Scene<'_>, area: &Area, from: From) -> String {
    let length = ruler::length_text(area.span.duration(), scene.state.origins.unit);
    if from == From::View {
        return format!("Visible: {length}");
    }
    format!("Selected: {length}, {}", whose(scene, area))
}

/// Describes the area for panes that add up slices.
#[must_use]
pub(crate) fn summed_words(scene: &Scene<'_>, area: &Area, from: From) -> String {
    let words = words(scene, area, from);
    match leaves_out(scene) {
        true => format!("{words}, without hidden tracks"),
        false => words,
    }
}

fn leaves_out(scene: &Scene<'_>) -> bool {
    let state = scene.state;
    state.sums.hidden == HiddenTracks::LeftOut && !state.layout.hidden.is_empty()
}

/// Returns the kind of slices that is shown: the chosen one, or else the first that occurs.
#[must_use]
pub(crate) fn shown_kind(scene: &Scene<'_>, present: &[SliceKind]) -> Option<SliceKind> {
    scene.state.sums.kind.or(present.first().copied())
}

/// Returns the kinds of slices among these groups, in the order of menus.
#[must_use]
pub(crate) fn kinds_of(groups: &[Group]) -> Vec<SliceKind> {
    let is_there = |kind: &SliceKind| groups.iter().any(|group| group.key.kind == Some(*kind));
    SliceKind::ALL.into_iter().filter(is_there).collect()
}

/// Draws the choice of the kind of slices, if several occur, and of whether hidden tracks count, if some are hidden.
pub(crate) fn sums_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    present: &[SliceKind],
    shown: Option<SliceKind>,
    actions: &mut Vec<Action>,
) {
    let sums = scene.state.sums;
    let is_choice = present.len() > 1 || shown.is_some_and(|kind| !present.contains(&kind));
    if let Some(shown) = shown.filter(|_| is_choice) {
        let answer = egui::ComboBox::from_id_salt("kind of slices")
            .selected_text(shown.word())
            .width(110.0)
            .show_ui(ui, |ui| {
                for &kind in present {
                    let choice = ui.selectable_label(kind == shown, kind.word());
                    if choice.on_hover_text(kind.about()).clicked() {
                        let kind = Some(kind);
                        actions.push(Action::AddUp(Sums { kind, ..sums }));
                    }
                }
            });
        answer.response.widget_info(|| {
            let words = format!("Kind of slices: {}", shown.word());
            egui::WidgetInfo::labeled(egui::Role::ComboBox, true, words)
        });
        let about = "Only slices of one kind are added up: the time of a process contains that of its system calls, and \
                     so on";
        answer.response.on_hover_text(about);
    }
    if !scene.state.layout.hidden.is_empty() {
        let mut leaves_out = sums.hidden == HiddenTracks::LeftOut;
        let answer = check_box(ui, &mut leaves_out, "without hidden tracks");
        if answer
            .on_hover_text("Leave out what is on hidden tracks")
            .changed()
        {
            let hidden = match leaves_out {
                true => HiddenTracks::LeftOut,
                false => HiddenTracks::Counted,
            };
            actions.push(Action::AddUp(Sums { hidden, ..sums }));
        }
    }
}

/// Describes how many slices never ended: `2 unfinished, at least 5.3 s`.
#[must_use]
pub(crate) fn unfinished_words(unit: ClockUnit, count: u64, ns: i128) -> String {
    let count = ruler::grouped(i64::try_from(count).unwrap_or(i64::MAX));
    let ns = i64::try_from(ns).unwrap_or(i64::MAX);
    let length = ruler::length_text(Nanos(ns), unit);
    format!("{count} unfinished, at least {length}")
}

/// Describes the tracks of an area: `all tracks`, `3 tracks`, `CPUs 0, 3`.
#[must_use]
pub(crate) fn whose(scene: &Scene<'_>, area: &Area) -> String {
    /// More CPUs than this are counted instead of listed.
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
        [cpu] => scene.loaded.trace.cpu_title(*cpu),
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

/// Returns the CPUs whose threads an area counts.
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

/// Returns a note on how slices of an area are counted; empty unless it has CPUs.
#[must_use]
pub(crate) fn counted(area: &Area) -> Option<&'static str> {
    (!cpus_of(area).is_empty()).then_some(
        "On a CPU a thread's slice counts once, with the time that the thread ran there in the range. \
         Slices of the CPU itself (interrupts) count whole.",
    )
}
