//! Marks the search's matches on a lane, unless the rest is dimmed.

use super::across::Across;
use super::bars::Bars;
use super::draw::Draw;
use super::sizes::NODE_FROM_POINTS;
use crate::query::search::{BitSet, WholeMarks};
use crate::query::visible::{Block, joined};
use crate::view::Isolation;
use crate::view::rows::LaneKind;
use egui::{Color32, Mesh, Rect, pos2, vec2};

/// Height of the tick over a match, and of the line below that separates it from the block, in points.
const TICK: f32 = 3.0;
const LINE: f32 = 1.0;

/// Returns the matching rows of a lane, if there is a search.
pub(super) fn marks_of<'a>(draw: &Draw<'a>, kind: LaneKind) -> Option<&'a BitSet> {
    let marks = &draw.scene.found?.marks;
    match kind {
        LaneKind::Runs(_) => Some(&marks.runs),
        LaneKind::States(_) => Some(&marks.states),
        LaneKind::Slices(_) => Some(&marks.slices),
        LaneKind::Instants(_) => Some(&marks.instants),
        LaneKind::Counter(_)
        | LaneKind::Profile { .. }
        | LaneKind::Summary(..)
        | LaneKind::Jobs(_) => None,
    }
}

/// The part of a lane that stays bright while the rest is dimmed.
pub(super) enum Lit<'a> {
    /// The whole lane: nothing is dimmed, or the lane's thread or track matches.
    All,
    /// The matching rows; runs also if their thread matches.
    Rows(&'a BitSet, Option<&'a WholeMarks>),
}

impl Lit<'_> {
    /// Returns whether a block stays bright.
    pub(super) fn has(&self, block: &Block) -> bool {
        match self {
            Lit::All => true,
            Lit::Rows(marks, whole) => {
                marks.has_any(block.first, block.count)
                    || whole.is_some_and(|it| it.has_any_run(block.first, block.count))
            }
        }
    }
}

/// Returns which part of a lane is not dimmed.
pub(super) fn lit_of<'a>(draw: &Draw<'a>, kind: LaneKind) -> Lit<'a> {
    let is_isolating = draw.scene.state.search.isolation == Isolation::On;
    let (Some(found), Some(marks)) = (draw.scene.found, marks_of(draw, kind)) else {
        return Lit::All;
    };
    if !is_isolating {
        return Lit::All;
    }
    let whole = found.marks.whole.get();
    let trace = &draw.scene.loaded.trace;
    let is_whole = whole.is_some_and(|whole| match kind {
        LaneKind::States(thread) => whole.has_thread(thread),
        LaneKind::Instants(track) => whole.has_track(track),
        LaneKind::Slices(row) => {
            let row = trace.slices.rows.get(row as usize);
            row.is_some_and(|row| whole.has_track(row.track))
        }
        _ => false,
    });
    match is_whole {
        true => Lit::All,
        false => Lit::Rows(marks, whole.filter(|_| matches!(kind, LaneKind::Runs(_)))),
    }
}

/// Draws a tick over every block that contains a match, and a frame around the blocks wide enough for it. `width` is
/// the width of a column in ns.
pub(super) fn mark_matches(
    mesh: &mut Mesh,
    draw: &Draw<'_>,
    marks: &BitSet,
    blocks: &[Block],
    width: i64,
    across: &Across,
) {
    if draw.scene.state.search.isolation == Isolation::On {
        return;
    }
    let palette = draw.scene.palette;
    let area = across.area();
    let tick = TICK.min((area.height() / 3.0).round()).max(1.0);
    let found: Vec<(f32, f32)> = joined(blocks, width)
        .filter(|block| marks.has_any(block.first, block.count))
        .filter_map(|block| across.edges(&block))
        .map(|(left, right)| (left, across.shown(left, right)))
        .collect();
    let from_top = |top: f32, height: f32| {
        let at = pos2(area.left(), area.top() + top);
        Rect::from_min_size(at, vec2(area.width(), height))
    };
    // `Bars` takes the bars of one rectangle from left to right: one pass for the lines, one for the ticks.
    for (top, height, color) in [(tick, LINE, palette.canvas), (0.0, tick, palette.found)] {
        let mut bars = Bars::new(mesh, from_top(top, height));
        for &(left, right) in &found {
            bars.add(left, right, color);
        }
    }
    for &(left, right) in &found {
        if right - left >= 2.0 * NODE_FROM_POINTS {
            let rect = Rect::from_x_y_ranges(left..=right, area.y_range());
            frame(mesh, rect, palette.found);
        }
    }
}

/// Draws a frame without its upper side, where the tick is.
fn frame(mesh: &mut Mesh, rect: Rect, color: Color32) {
    let sides = [
        rect.with_max_x(rect.left() + LINE),
        rect.with_min_x(rect.right() - LINE),
        rect.with_min_y(rect.bottom() - LINE),
    ];
    for side in sides {
        mesh.add_colored_rect(side, color);
    }
}
