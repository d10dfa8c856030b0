//! The colours of blocks.

use crate::gui::pane::Scene;
use crate::gui::theme::hash_name;
use crate::query::visible::Block;
use crate::trace::{ThreadId, ThreadState};
use crate::view::rows::LaneKind;
use egui::Color32;

/// The colour of a thread, the same in its rows and on every CPU.
pub fn thread_color(scene: &Scene<'_>, id: ThreadId) -> Color32 {
    let trace = &scene.loaded.trace;
    let thread = trace.thread(id);
    let name = trace.strings.bytes(thread.name);
    scene
        .palette
        .of_hash(hash_name(name) ^ thread.tid.wrapping_mul(0x51_7cc1_b727))
}

pub(super) fn block_color(scene: &Scene<'_>, kind: LaneKind, block: &Block) -> Color32 {
    let palette = scene.palette;
    let trace = &scene.loaded.trace;
    let full = match kind {
        LaneKind::Runs(_) => thread_color(scene, ThreadId(block.label)),
        LaneKind::States(_) => palette.of_state(
            ThreadState::ALL
                .get(block.label as usize)
                .copied()
                .unwrap_or_default(),
        ),
        LaneKind::Slices(_) => {
            let name = trace
                .slices
                .labels
                .get(block.label as usize)
                .map_or(&[][..], |l| trace.strings.bytes(l.name));
            palette.of_hash(hash_name(name))
        }
        LaneKind::Instants(_) | LaneKind::Counter(_) => palette.instant,
    };
    let is_instant = matches!(kind, LaneKind::Instants(_));
    if block.count == 1 || is_instant {
        return full;
    }
    // What is not covered shows the canvas: a block half empty is half as strong, but never gone.
    let share = block.busy.clamp(0.25, 1.0);
    let mix = |a: u8, b: u8| (f32::from(a) * share + f32::from(b) * (1.0 - share)).round() as u8;
    let behind = palette.canvas.to_array();
    let [r, g, b, _] = full.to_array();
    let mixed = [mix(r, behind[0]), mix(g, behind[1]), mix(b, behind[2])];
    Color32::from(egui::Rgba::from_srgba_unmultiplied(
        mixed[0], mixed[1], mixed[2], 255,
    ))
}
