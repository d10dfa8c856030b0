//! Colours of blocks, as the settings choose.

use super::listing::{RUNS_FROM, shows_seen};
use crate::gui::pane::Scene;
use crate::gui::tint::Tint;
use crate::query::process_times::program_bytes;
use crate::query::visible::{Block, ProfileNames};
use crate::trace::{CpuId, ProcessId, ThreadId, ThreadState, TrackKind};
use crate::view::ColorBy;
use crate::view::rows::{LaneKind, Summarised};
use egui::Color32;

/// Cached colours of a lane's labels: a frame has up to 100,000 blocks, but few labels.
pub(super) struct LaneColors {
    kind: LaneKind,
    names: ProfileNames,
    /// Label and its colour, indexed by the label's low bits.
    known: [Option<(u32, Color32)>; 64],
    /// Whether all blocks of a label have one colour.
    is_by_label: bool,
}

impl LaneColors {
    pub(super) fn new(scene: &Scene<'_>, kind: LaneKind, names: ProfileNames) -> LaneColors {
        let by_cpu = scene.state.settings.color_by == ColorBy::Cpu;
        LaneColors {
            kind,
            names,
            known: [None; 64],
            // Slices of one name may have run on different CPUs.
            is_by_label: !(by_cpu && matches!(kind, LaneKind::Slices(_))),
        }
    }

    /// Returns the colour of a block.
    pub(super) fn of(&mut self, scene: &Scene<'_>, block: &Block) -> Color32 {
        let Some(known) = self.known.get_mut(block.label as usize % 64) else {
            return full_color(scene, self.kind, &self.names, block);
        };
        let full = match *known {
            Some((label, color)) if label == block.label && self.is_by_label => color,
            _ => full_color(scene, self.kind, &self.names, block),
        };
        *known = Some((block.label, full));
        match is_doubtful(scene, self.kind, block) {
            true => scene.palette.doubtful(full),
            false if matches!(self.kind, LaneKind::Instants(_)) && block.count > 1 => {
                scene.palette.density
            }
            false => full,
        }
    }
}

/// Returns whether a block is a single state during which events were lost.
pub(super) fn is_doubtful(scene: &Scene<'_>, kind: LaneKind, block: &Block) -> bool {
    matches!(kind, LaneKind::States(_))
        && block.count == 1
        && (scene.loaded.trace.states.notes.get(block.first as usize))
            .is_some_and(|notes| notes.spans_loss())
}

fn full_color(scene: &Scene<'_>, kind: LaneKind, names: &ProfileNames, block: &Block) -> Color32 {
    let palette = scene.palette;
    match kind {
        LaneKind::Runs(cpu) => {
            let color = run_color(scene, cpu, ThreadId(block.label));
            match shows_seen(&scene.loaded.trace, cpu) {
                true => palette.seen(color),
                false => color,
            }
        }
        LaneKind::Summary(_, Summarised::Fullness) if block.label >= RUNS_FROM => {
            let thread = ThreadId(block.label - RUNS_FROM);
            Tint::of_thread(&scene.loaded.trace, thread).plain(palette)
        }
        LaneKind::Summary(_, Summarised::Fullness) => named(scene, block.label),
        LaneKind::Profile { .. } => match names.get(block.label as usize) {
            Some(Some(label)) => named(scene, *label),
            _ => palette.density,
        },
        LaneKind::Jobs(_) => {
            let program = program_bytes(&scene.loaded.trace, ProcessId(block.label));
            Tint::of_name(program).plain(palette)
        }
        LaneKind::States(_) | LaneKind::Summary(_, Summarised::States) => palette.of_state(
            ThreadState::ALL
                .get(block.label as usize)
                .copied()
                .unwrap_or_default(),
        ),
        LaneKind::Slices(row) => slice_color(scene, row, block),
        LaneKind::Instants(_) | LaneKind::Counter(_) => palette.instant,
    }
}

fn run_color(scene: &Scene<'_>, cpu: CpuId, thread: ThreadId) -> Color32 {
    let (palette, color_by) = (scene.palette, scene.state.settings.color_by);
    let tint = match color_by {
        ColorBy::Cpu => Tint::of_cpu(cpu),
        _ => Tint::of_thread(&scene.loaded.trace, thread),
    };
    let color = tint.on_timeline(palette, color_by);
    color.unwrap_or_else(|| tint.plain(palette))
}

fn slice_color(scene: &Scene<'_>, row: u32, block: &Block) -> Color32 {
    let trace = &scene.loaded.trace;
    let (palette, color_by) = (scene.palette, scene.state.settings.color_by);
    let track = (trace.slices.rows.get(row as usize))
        .and_then(|row| trace.tracks.get(row.track.0 as usize));
    let owner = match (track.map(|track| track.kind), color_by) {
        (_, ColorBy::Kind | ColorBy::Name) => None,
        (Some(TrackKind::Thread(thread)), ColorBy::Thread | ColorBy::Process) => {
            Some(Tint::of_thread(trace, thread))
        }
        (Some(TrackKind::Thread(thread)), ColorBy::Cpu) => {
            cpu_at(scene, thread, block.start).map(Tint::of_cpu)
        }
        (Some(TrackKind::Cpu(cpu)), ColorBy::Cpu) => Some(Tint::of_cpu(cpu)),
        (Some(TrackKind::Async(Some(process))), ColorBy::Process) => {
            Tint::of_process(trace, process)
        }
        _ => None,
    };
    let of_owner = owner.and_then(|tint| tint.on_timeline(palette, color_by));
    of_owner.unwrap_or_else(|| named(scene, block.label))
}

/// Returns the colour of a slice's name.
fn named(scene: &Scene<'_>, label: u32) -> Color32 {
    let trace = &scene.loaded.trace;
    let label = trace.slices.labels.get(label as usize);
    let name = label.map_or(&[][..], |label| trace.strings.bytes(label.name));
    Tint::of_name(name).plain(scene.palette)
}

/// Returns the CPU on which a thread ran at a time.
fn cpu_at(scene: &Scene<'_>, thread: ThreadId, time: i64) -> Option<CpuId> {
    let runs = &scene.loaded.trace.runs;
    let of_thread = runs.of(thread);
    let after = of_thread.partition_point(|&run| runs.starts[run as usize] <= time);
    let run = *of_thread.get(after.checked_sub(1)?)?;
    Some(runs.get(crate::trace::RunId(run)).cpu)
}
