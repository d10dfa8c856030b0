//! The look of slices, runs and states that never ended: they fade into the background towards their end.

use crate::gui::pane::Scene;
use crate::query::visible::Block;
use crate::trace::{Runs, Slices, States, Trace};
use crate::view::rows::LaneKind;
use egui::Color32;

/// Largest width of the fading, in points.
const FADE_POINTS: f32 = 18.0;
/// Share of the colour that is left at the end of the fading.
const LEFT: f32 = 0.12;

/// The rows that a lane draws.
enum Drawn<'a> {
    Slices(&'a Slices),
    Runs(&'a Runs),
    States(&'a States),
    /// Processes, each labelled with its number.
    Jobs(&'a Trace),
    /// Nothing that can be unfinished.
    Others,
}

/// Which blocks of a lane fade, and into which colour.
pub(super) struct Fading<'a> {
    drawn: Drawn<'a>,
    canvas: Color32,
    pixels_per_point: f32,
}

impl<'a> Fading<'a> {
    /// Returns the fading for a lane.
    pub(super) fn new(scene: &Scene<'a>, kind: LaneKind, pixels_per_point: f32) -> Fading<'a> {
        let trace: &'a Trace = &scene.loaded.trace;
        Fading {
            drawn: match kind {
                LaneKind::Slices(_) => Drawn::Slices(&trace.slices),
                LaneKind::Runs(_) => Drawn::Runs(&trace.runs),
                LaneKind::States(_) => Drawn::States(&trace.states),
                LaneKind::Jobs(_) => Drawn::Jobs(trace),
                _ => Drawn::Others,
            },
            canvas: scene.palette.canvas,
            pixels_per_point,
        }
    }

    /// Returns a fading into `canvas` that belongs to no lane, for pixels of one point.
    pub(super) fn onto(canvas: Color32) -> Fading<'static> {
        Fading {
            drawn: Drawn::Others,
            canvas,
            pixels_per_point: 1.0,
        }
    }

    /// Returns whether a block is a single slice, run or state whose end is not known.
    #[inline]
    pub(super) fn is_open(&self, block: &Block) -> bool {
        let at = block.first as usize;
        block.count == 1
            && match self.drawn {
                Drawn::Slices(slices) => at < slices.len() && slices.is_unfinished(at),
                Drawn::Runs(runs) => runs.is_open(at),
                // It is not known how long a thread that has ended was kept.
                Drawn::States(states) => {
                    states.is_open(at) || states.ends.get(at).is_some_and(|end| end.is_none())
                }
                Drawn::Jobs(trace) => {
                    let process = trace.processes.get(block.label as usize);
                    process.is_some_and(|process| process.end.is_none())
                }
                Drawn::Others => false,
            }
    }

    /// Returns the colour share of each of the last pixels of a bar of `width` pixels, in steps of `pixel` pixels.
    pub(super) fn steps(&self, width: usize, pixel: f32) -> Vec<f32> {
        let most = (FADE_POINTS * self.pixels_per_point / pixel.max(0.1)) as usize;
        let count = width.min(most.max(1));
        let share = |at: usize| 1.0 - (1.0 - LEFT) * (at as f32 + 0.5) / count as f32;
        (0..count).map(share).collect()
    }

    /// Returns `share` of a colour mixed with the canvas.
    pub(super) fn mixed(&self, color: Color32, share: f32) -> Color32 {
        let mix = |a: u8, b: u8| (f32::from(a) * share + f32::from(b) * (1.0 - share)) as u8;
        let (a, b) = (color.to_array(), self.canvas.to_array());
        Color32::from_rgb(mix(a[0], b[0]), mix(a[1], b[1]), mix(a[2], b[2]))
    }
}
