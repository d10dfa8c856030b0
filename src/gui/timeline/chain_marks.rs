//! Marks the jobs of a build's critical chain, which is computed on another thread.

use super::across::Across;
use super::draw::Draw;
use crate::assemble::file_history::FileHistory;
use crate::base::{Task, TaskKey, TimeSpan, Work};
use crate::gui::pane::Scene;
use crate::query::build_chain::critical_chain;
use crate::query::process_times::ProcessTimes;
use crate::query::visible::{Block, joined};
use crate::trace::ProcessId;
use egui::{Context, Mesh, Rect};
use rustc_hash::FxHashMap;

/// Height of a mark, in points.
const HEIGHT: f32 = 3.0;

/// The parts of jobs that are on the critical chain.
#[derive(Default)]
pub(super) struct ChainMarks {
    spans: Task<(), FxHashMap<ProcessId, Vec<TimeSpan>>>,
}

impl ChainMarks {
    /// Requests the chain of a build, once its trace is complete.
    pub(super) fn ask(&mut self, ctx: &Context, scene: &Scene<'_>) {
        if scene.state.outline.jobs.lanes.is_empty() || !scene.loaded.is_complete {
            return;
        }
        let loaded = scene.loaded.clone();
        let key = TaskKey::about(scene.loaded.id, ()).in_turn();
        self.spans.ask(ctx, key, move |work: &Work<_>| {
            let trace = loaded.trace.as_ref();
            let times = ProcessTimes::new(trace);
            work.check()?;
            let chain = critical_chain(trace, &times, &FileHistory::new(trace));
            let mut spans: FxHashMap<ProcessId, Vec<TimeSpan>> = FxHashMap::default();
            for step in &chain.steps {
                spans.entry(step.process).or_default().push(step.span);
            }
            Ok(spans)
        });
    }

    /// Returns whether the chain is being computed.
    pub(super) fn is_busy(&self) -> bool {
        self.spans.is_busy()
    }

    /// Draws a line below each job that is on the chain.
    pub(super) fn paint(
        &self,
        mesh: &mut Mesh,
        draw: &Draw<'_>,
        across: &Across,
        blocks: &[Block],
        width: i64,
    ) {
        let Some(spans) = self.spans.exact(draw.scene.loaded.id) else {
            return;
        };
        let area = across.area();
        let color = draw.scene.palette.chain;
        for block in joined(blocks, width).filter(|block| block.count == 1) {
            let steps = spans.get(&ProcessId(block.label));
            for span in steps.into_iter().flatten() {
                let seen = draw.x_range(*span);
                let (left, right) = (seen.min.max(area.left()), seen.max.min(area.right()));
                if right > left {
                    let bottom = area.bottom();
                    let rows = bottom - HEIGHT.min(area.height() / 2.0)..=bottom;
                    let right = right.max(left + 1.0);
                    mesh.add_colored_rect(Rect::from_x_y_ranges(left..=right, rows), color);
                }
            }
        }
    }
}
