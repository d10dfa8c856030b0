//! Draws how the selected item's thread migrates between CPUs: a line from the end of each run to the next run, if that
//! is on another CPU.

use super::draw::Draw;
use crate::base::Timestamp;
use crate::query::Item;
use crate::trace::RunId;
use crate::view::FlowsShown;
use crate::view::rows::LaneKind;
use egui::{Stroke, pos2};

/// Limit of a thread's runs in view: more lines would hide everything.
const MOST_RUNS: usize = 1_000;

pub(super) fn paint_migrations(painter: &egui::Painter, draw: &Draw<'_>) {
    let (state, trace) = (draw.scene.state, &draw.scene.loaded.trace);
    let is_wanted = matches!(
        state.selected,
        Some(Item::Run(_) | Item::State(_) | Item::Thread(_))
    );
    if !is_wanted || state.settings.flows == FlowsShown::None {
        return;
    }
    let Some(thread) = state.selected.and_then(|item| item.thread(trace)) else {
        return;
    };
    let runs = trace.runs.of(thread);
    let span = draw.scale.span();
    let from = runs.partition_point(|&run| trace.runs.starts[run as usize] < span.start.0);
    let until = runs.partition_point(|&run| trace.runs.starts[run as usize] < span.end.0);
    // Includes the run before the visible span and the one after it.
    let seen = from.saturating_sub(1)..(until + 1).min(runs.len());
    if thread.0 == 0 || seen.len() > MOST_RUNS {
        return;
    }
    let color = draw.scene.palette.flow.gamma_multiply(0.7);
    for pair in runs.get(seen).unwrap_or(&[]).windows(2) {
        let [before, after] = pair else { continue };
        let (before, after) = (
            trace.runs.get(RunId(*before)),
            trace.runs.get(RunId(*after)),
        );
        let Some(end) = before.end.filter(|_| before.cpu != after.cpu) else {
            continue;
        };
        let at = |cpu, time: Timestamp| {
            let y = draw.sections.anchor_of(state, LaneKind::Runs(cpu))?;
            Some(pos2(draw.x(time), y))
        };
        if let (Some(from), Some(to)) = (at(before.cpu, end), at(after.cpu, after.start)) {
            painter.line_segment([from, to], Stroke::new(1.0, color));
            painter.circle_filled(to, 2.0, color);
        }
    }
}
