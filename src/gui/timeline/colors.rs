//! The colours of blocks: by what the settings say.

use crate::gui::pane::Scene;
use crate::gui::table::Tint;
use crate::gui::theme::hash_name;
use crate::query::visible::Block;
use crate::trace::{CpuId, ProcessId, ThreadId, ThreadState, TrackKind};
use crate::view::ColorBy;
use crate::view::rows::LaneKind;
use egui::Color32;

/// The colour of a thread, the same in its rows and on every CPU.
pub fn thread_color(scene: &Scene<'_>, id: ThreadId) -> Color32 {
    Tint::of_thread(&scene.loaded.trace, id).color(scene.palette)
}

fn process_color(scene: &Scene<'_>, thread: ThreadId) -> Color32 {
    match scene.loaded.trace.thread(thread).process {
        Some(process) => color_of_process(scene, process),
        None => thread_color(scene, thread),
    }
}

fn color_of_process(scene: &Scene<'_>, id: ProcessId) -> Color32 {
    let trace = &scene.loaded.trace;
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return scene.palette.instant;
    };
    let name = trace.strings.bytes(process.name);
    scene
        .palette
        .of_hash(hash_name(name) ^ process.pid.wrapping_mul(0x2545_f491_4f6c_dd1d))
}

fn cpu_color(scene: &Scene<'_>, cpu: CpuId) -> Color32 {
    scene
        .palette
        .of_hash(u64::from(cpu.0).wrapping_mul(0x9e37) ^ 0x5bd1)
}

/// The colours of a lane's labels, as they were last worked out: a frame has 100,000 blocks, of few labels.
pub(super) struct LaneColors {
    kind: LaneKind,
    /// By the low bits of a label: the label and its colour.
    known: [Option<(u32, Color32)>; 64],
    /// Whether a label has one colour.
    is_by_label: bool,
}

impl LaneColors {
    pub(super) fn new(scene: &Scene<'_>, kind: LaneKind) -> LaneColors {
        let by_cpu = scene.state.settings.color_by == ColorBy::Cpu;
        LaneColors {
            kind,
            known: [None; 64],
            // Slices of one name may have run on several CPUs.
            is_by_label: !(by_cpu && matches!(kind, LaneKind::Slices(_))),
        }
    }

    /// The colour of a block.
    pub(super) fn of(&mut self, scene: &Scene<'_>, block: &Block) -> Color32 {
        let Some(known) = self.known.get_mut(block.label as usize % 64) else {
            return full_color(scene, self.kind, block);
        };
        let full = match *known {
            Some((label, color)) if label == block.label && self.is_by_label => color,
            _ => full_color(scene, self.kind, block),
        };
        *known = Some((block.label, full));
        let full = match is_doubtful(scene, self.kind, block) {
            // Between its own colour and that of lost events.
            true => full.lerp_to_gamma(scene.palette.gap, 0.5),
            false => full,
        };
        weakened(scene, self.kind, block, full)
    }
}

/// Whether a block is a state during which events were lost.
fn is_doubtful(scene: &Scene<'_>, kind: LaneKind, block: &Block) -> bool {
    matches!(kind, LaneKind::States(_))
        && block.count == 1
        && (scene.loaded.trace.states.notes.get(block.first as usize))
            .is_some_and(|notes| notes.spans_loss())
}

fn full_color(scene: &Scene<'_>, kind: LaneKind, block: &Block) -> Color32 {
    let palette = scene.palette;
    match kind {
        LaneKind::Runs(cpu) => run_color(scene, cpu, ThreadId(block.label)),
        LaneKind::States(_) => palette.of_state(
            ThreadState::ALL
                .get(block.label as usize)
                .copied()
                .unwrap_or_default(),
        ),
        LaneKind::Slices(row) => slice_color(scene, row, block),
        LaneKind::Instants(_) | LaneKind::Counter(_) => palette.instant,
    }
}

/// What is not covered shows the canvas: a block half empty is half as strong, but never gone.
fn weakened(scene: &Scene<'_>, kind: LaneKind, block: &Block, full: Color32) -> Color32 {
    let palette = scene.palette;
    let is_instant = matches!(kind, LaneKind::Instants(_));
    if block.count == 1 || is_instant {
        return full;
    }
    // In 256ths: rounding floats is a call of its own.
    let share = (block.busy.clamp(0.25, 1.0) * 256.0) as u32;
    let mix =
        |a: u8, b: u8| ((u32::from(a) * share + u32::from(b) * (256 - share) + 128) >> 8) as u8;
    let behind = palette.canvas.to_array();
    let [r, g, b, _] = full.to_array();
    Color32::from_rgb(mix(r, behind[0]), mix(g, behind[1]), mix(b, behind[2]))
}

fn run_color(scene: &Scene<'_>, cpu: CpuId, thread: ThreadId) -> Color32 {
    let trace = &scene.loaded.trace;
    match scene.state.settings.color_by {
        ColorBy::Kind | ColorBy::Thread => thread_color(scene, thread),
        ColorBy::Process => process_color(scene, thread),
        ColorBy::Cpu => cpu_color(scene, cpu),
        ColorBy::Name => {
            let name = trace.strings.bytes(trace.thread(thread).name);
            scene.palette.of_hash(hash_name(name))
        }
    }
}

fn slice_color(scene: &Scene<'_>, row: u32, block: &Block) -> Color32 {
    let trace = &scene.loaded.trace;
    let by_name = || {
        let label = trace.slices.labels.get(block.label as usize);
        let name = label.map_or(&[][..], |label| trace.strings.bytes(label.name));
        scene.palette.of_hash(hash_name(name))
    };
    let color_by = scene.state.settings.color_by;
    if matches!(color_by, ColorBy::Kind | ColorBy::Name) {
        return by_name();
    }
    let track = trace
        .slices
        .rows
        .get(row as usize)
        .and_then(|row| trace.tracks.get(row.track.0 as usize));
    match (track.map(|track| track.kind), color_by) {
        (Some(TrackKind::Thread(thread)), ColorBy::Thread) => thread_color(scene, thread),
        (Some(TrackKind::Thread(thread)), ColorBy::Process) => process_color(scene, thread),
        (Some(TrackKind::Thread(thread)), ColorBy::Cpu) => {
            cpu_at(scene, thread, block.start).map_or_else(by_name, |cpu| cpu_color(scene, cpu))
        }
        (Some(TrackKind::Cpu(cpu)), ColorBy::Cpu) => cpu_color(scene, cpu),
        (Some(TrackKind::Async(Some(process))), ColorBy::Process) => {
            color_of_process(scene, process)
        }
        _ => by_name(),
    }
}

/// The CPU on which a thread ran at a time.
fn cpu_at(scene: &Scene<'_>, thread: ThreadId, time: i64) -> Option<CpuId> {
    let runs = &scene.loaded.trace.runs;
    let of_thread = runs.of(thread);
    let after = of_thread.partition_point(|&run| runs.starts[run as usize] <= time);
    let run = *of_thread.get(after.checked_sub(1)?)?;
    Some(runs.get(crate::trace::RunId(run)).cpu)
}
