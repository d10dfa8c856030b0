//! What of a lane was found by the search, marked on it while the rest is not dimmed.

use super::bars::Bars;
use super::lanes::Across;
use super::{Draw, NODE_FROM_POINTS};
use crate::query::search::{BitSet, WholeMarks};
use crate::query::visible::{Block, joined};
use crate::view::Isolation;
use crate::view::rows::LaneKind;
use egui::{Color32, Mesh, Rect, pos2, vec2};

/// The tick over what was found, and the line below that sets it off from what it lies on, in points.
const TICK: f32 = 3.0;
const LINE: f32 = 1.0;

/// Which rows of a lane were found, while there is a search.
pub(super) fn marks_of<'a>(draw: &Draw<'a>, kind: LaneKind) -> Option<&'a BitSet> {
    let marks = &draw.scene.found?.marks;
    match kind {
        LaneKind::Runs(_) => Some(&marks.runs),
        LaneKind::States(_) => Some(&marks.states),
        LaneKind::Slices(_) => Some(&marks.slices),
        LaneKind::Instants(_) => Some(&marks.instants),
        LaneKind::Counter(_) => None,
    }
}

/// What of a lane stays as bright as it is while the rest is dimmed.
pub(super) enum Lit<'a> {
    /// All of it: nothing is dimmed, or its thread or track was found.
    All,
    /// Those rows that were found; runs also if their threads were.
    Rows(&'a BitSet, Option<&'a WholeMarks>),
}

impl Lit<'_> {
    /// Whether a block stays bright.
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

/// What of a lane is not dimmed.
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
        LaneKind::Runs(_) | LaneKind::Counter(_) => false,
    });
    match is_whole {
        true => Lit::All,
        false => Lit::Rows(marks, whole.filter(|_| matches!(kind, LaneKind::Runs(_)))),
    }
}

/// Puts a tick over every block with something in it that was found, and a frame around those that are wide enough.
/// `width` is how many ns a column is.
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

/// A line along the sides and the lower edge: the upper one has the tick.
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
