//! What of a lane was found by the search, marked on it while the rest is not dimmed.

use super::bars::Bars;
use super::lanes::Across;
use super::{Draw, NODE_FROM_POINTS};
use crate::query::search::BitSet;
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
