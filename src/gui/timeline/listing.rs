//! The draw list of each kind of lane, and the rows of slices that can be read.

use super::sizes::LEGIBLE_FROM_POINTS;
use crate::base::TimeSpan;
use crate::gui::pane::Scene;
use crate::query::visible::{self, Block, ProfileNames};
use crate::trace::{CpuId, Trace, TrackKind};
use crate::view::heights::LegibleRows;
use crate::view::rows::{LaneKind, Summarised};

/// A summary adds up at most this many tracks: the busiest ones.
const MOST_SUMMARISED: usize = 200;

/// Returns whether a CPU's lane shows the threads that events name on it, because its runs were not recorded.
pub(super) fn shows_seen(trace: &Trace, cpu: CpuId) -> bool {
    trace.runs.on(cpu).is_empty()
}

/// Lists the blocks of a lane; returns the names of a profile's parts. `blocks` is emptied first.
pub(super) fn list(
    scene: &Scene<'_>,
    kind: LaneKind,
    span: TimeSpan,
    pixels: u32,
    blocks: &mut Vec<Block>,
) -> ProfileNames {
    let (trace, index) = (&scene.loaded.trace, &scene.loaded.index);
    match kind {
        LaneKind::Runs(cpu) if shows_seen(trace, cpu) => {
            visible::seen(index, cpu, span, pixels, blocks);
        }
        LaneKind::Runs(cpu) => visible::runs(trace, index, cpu, span, pixels, blocks),
        LaneKind::States(thread) => visible::states(trace, index, thread, span, pixels, blocks),
        LaneKind::Slices(row) => match trace.slices.rows.get(row as usize) {
            Some(row) => visible::slices(trace, index, row, span, pixels, blocks),
            None => blocks.clear(),
        },
        LaneKind::Instants(track) => visible::instants(trace, index, track, span, pixels, blocks),
        LaneKind::Counter(_) => blocks.clear(),
        LaneKind::Profile { first, count } => {
            let rows = first..first.saturating_add(count);
            return visible::profile(trace, index, rows, span, pixels, blocks);
        }
        LaneKind::Summary(key, of) => {
            let node = scene.state.outline.node(key);
            let lanes = node.map(|node| node.summarised(of)).unwrap_or_default();
            let lanes = lanes
                .get(..lanes.len().min(MOST_SUMMARISED))
                .unwrap_or_default();
            let of_one = |at: usize, blocks: &mut Vec<Block>| {
                if let Some(&lane) = lanes.get(at) {
                    list(scene, lane, span, pixels, blocks);
                    if of == Summarised::Fullness {
                        // The labels of runs and slices are of different tables.
                        name_all(lane, blocks);
                    }
                }
            };
            visible::summary(lanes.len(), span, pixels, of_one, blocks);
        }
        LaneKind::Jobs(lane) => match scene.state.outline.jobs.lanes.get(lane as usize) {
            Some(jobs) => visible::jobs(jobs, span, pixels, blocks),
            None => blocks.clear(),
        },
    }
    ProfileNames::default()
}

/// Makes the labels of runs distinct from the labels of slices: a label of a summary is a slice's label, or a thread
/// plus [`RUNS_FROM`].
fn name_all(lane: LaneKind, blocks: &mut [Block]) {
    if matches!(lane, LaneKind::Runs(_)) {
        for block in blocks {
            block.label = block.label.saturating_add(RUNS_FROM);
        }
    }
}

/// Labels of threads in a summary start here.
pub(super) const RUNS_FROM: u32 = 1 << 31;

/// Returns the rows of slices in which a slice in view is wide enough to be read. Overlapping slices are always drawn
/// one by one: they are not nested.
pub(super) fn legible_rows(scene: &Scene<'_>, span: TimeSpan, nanos_per_point: f64) -> LegibleRows {
    let (trace, index) = (&scene.loaded.trace, &scene.loaded.index);
    let least = (nanos_per_point * f64::from(LEGIBLE_FROM_POINTS)) as i64;
    LegibleRows::new((0..).zip(&trace.slices.rows).filter_map(|(number, row)| {
        let track = trace.tracks.get(row.track.0 as usize);
        let is_nested = matches!(
            track.map(|track| track.kind),
            Some(TrackKind::Thread(_) | TrackKind::Cpu(_))
        );
        let is_legible = !is_nested || visible::has_long_slice(trace, index, row, span, least);
        is_legible.then_some(number)
    }))
}
