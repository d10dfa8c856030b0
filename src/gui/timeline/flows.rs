//! Arrows: flows of the selection, under the pointer or all in view, and the wakeup before a wait ends.

use super::Draw;
use super::text::tag;
use crate::base::Timestamp;
use crate::query::Item;
use crate::query::family::wait_before;
use crate::trace::flows::FlowPoint;
use crate::trace::{FlowId, ThreadId, ThreadState};
use crate::view::rows::LaneKind;
use crate::view::{FlowsShown, locate, ruler};
use egui::{Align2, Color32, FontId, Pos2, Shape, Stroke, pos2, vec2};

/// How many arrows of one item are drawn.
const MOST_OF_ONE: usize = 200;
/// How many arrows are drawn when all in view are.
const MOST_IN_VIEW: usize = 400;
/// How many are counted beyond those.
const MOST_COUNTED: usize = 100_000;

/// Draws the arrows that the settings ask for.
pub(super) fn paint_flows(painter: &egui::Painter, draw: &Draw<'_>) {
    let (scene, state) = (draw.scene, draw.scene.state);
    let mut left_out = 0;
    if state.settings.flows == FlowsShown::AllInView {
        left_out += paint_all(painter, draw);
    }
    if state.settings.flows != FlowsShown::None
        && let Some(item) = state.selected
    {
        left_out += paint_of(painter, draw, item, 2.0);
        paint_wakeup(painter, draw, item);
    }
    if state.settings.flows == FlowsShown::OfPointer
        && let Some(item) = state.pointed.filter(|item| Some(*item) != state.selected)
    {
        left_out += paint_of(painter, draw, item, 1.2);
    }
    if left_out > 0 {
        let more = ruler::grouped(left_out as i64);
        let sign = if left_out >= MOST_COUNTED { "+" } else { "" };
        painter.text(
            draw.canvas.right_bottom() - vec2(10.0, 8.0),
            Align2::RIGHT_BOTTOM,
            format!("{more}{sign} more arrows"),
            FontId::proportional(12.0),
            scene.palette.weak,
        );
    }
}

/// All flows that are under way in view; the number of those that were left out comes back.
fn paint_all(painter: &egui::Painter, draw: &Draw<'_>) -> usize {
    let loaded = draw.scene.loaded;
    let span = draw.scale.span();
    let (mut drawn, mut left_out) = (0, 0);
    for number in loaded.index.flows.overlapping(span).take(MOST_COUNTED) {
        if drawn >= MOST_IN_VIEW {
            left_out += 1;
        } else if paint_flow(painter, draw, FlowId(number), 1.0) {
            drawn += 1;
        }
    }
    left_out
}

/// The flows that an item has part in; the number of those that were left out comes back.
fn paint_of(painter: &egui::Painter, draw: &Draw<'_>, item: Item, width: f32) -> usize {
    let flows = &draw.scene.loaded.trace.flows;
    match item {
        Item::Flow(id) => {
            paint_flow(painter, draw, id, width);
            0
        }
        Item::Slice(slice) => {
            let mut left_out = 0;
            for (number, id) in flows.of_slice(slice).take(MOST_COUNTED).enumerate() {
                if number < MOST_OF_ONE {
                    paint_flow(painter, draw, id, width);
                } else {
                    left_out += 1;
                }
            }
            left_out
        }
        _ => 0,
    }
}

/// One arrow; whether any of it is in sight.
fn paint_flow(painter: &egui::Painter, draw: &Draw<'_>, id: FlowId, width: f32) -> bool {
    let Some(flow) = draw.scene.loaded.trace.flows.rows.get(id.0 as usize) else {
        return false;
    };
    let (Some(from), Some(to)) = (place_of(draw, &flow.from), place_of(draw, &flow.to)) else {
        return false;
    };
    let canvas = draw.canvas;
    let is_beside = from.y.max(to.y) < canvas.top()
        || from.y.min(to.y) > canvas.bottom()
        || from.x.max(to.x) < canvas.left()
        || from.x.min(to.x) > canvas.right();
    if is_beside {
        return false;
    }
    paint_arrow(painter, from, to, width, draw.scene.palette.flow);
    true
}

fn place_of(draw: &Draw<'_>, point: &FlowPoint) -> Option<Pos2> {
    let trace = &draw.scene.loaded.trace;
    let lane = match point.slice {
        Some(slice) => locate::lane_of(trace, Item::Slice(slice))?,
        None => locate::lane_of(trace, Item::Event(point.event))?,
    };
    let y = draw.sections.anchor_of(draw.scene.state, lane)?;
    Some(pos2(draw.x(point.time), y))
}

fn paint_arrow(painter: &egui::Painter, from: Pos2, to: Pos2, width: f32, color: Color32) {
    let reach = ((to.x - from.x).abs() * 0.4).clamp(24.0, 120.0);
    let points = [from, from + vec2(reach, 0.0), to - vec2(reach, 0.0), to];
    painter.add(egui::epaint::CubicBezierShape::from_points_stroke(
        points,
        false,
        Color32::TRANSPARENT,
        Stroke::new(width, color),
    ));
    let head = vec![to, to + vec2(-7.0, -4.0), to + vec2(-7.0, 4.0)];
    painter.add(Shape::convex_polygon(head, color, Stroke::NONE));
}

/// Who woke the thread of a selected run or wait: a line from the waker, and how long it took to run.
fn paint_wakeup(painter: &egui::Painter, draw: &Draw<'_>, item: Item) {
    let trace = &draw.scene.loaded.trace;
    let wait = match item {
        Item::State(id) if (id.0 as usize) < trace.states.len() => Some(trace.states.get(id)),
        Item::Run(id) if (id.0 as usize) < trace.runs.len() => wait_before(trace, id),
        _ => None,
    };
    let Some(wait) = wait.filter(|state| state.state == ThreadState::Runnable) else {
        return;
    };
    let (Some(waker), Some(end)) = (wait.waker, wait.end) else {
        return;
    };
    let state = draw.scene.state;
    let at = |thread: ThreadId, time: Timestamp| {
        let y = draw.sections.anchor_of(state, LaneKind::States(thread))?;
        Some(pos2(draw.x(time), y))
    };
    let (Some(from), Some(to)) = (at(waker, wait.start), at(wait.thread, wait.start)) else {
        return;
    };
    let color = draw.scene.palette.flow;
    painter.line_segment([from, to], Stroke::new(1.5, color));
    let down = if to.y > from.y { -1.0 } else { 1.0 };
    let head = vec![to, to + vec2(-4.0, 7.0 * down), to + vec2(4.0, 7.0 * down)];
    painter.add(Shape::convex_polygon(head, color, Stroke::NONE));
    painter.circle_filled(from, 3.0, color);
    let length = ruler::length_text(end - wait.start, state.origins.unit);
    let canvas = draw.canvas.shrink2(vec2(80.0, 10.0));
    if from.x < draw.canvas.left() || from.x > draw.canvas.right() || canvas.is_negative() {
        return;
    }
    let middle = canvas.clamp(pos2(from.x, (from.y + to.y) / 2.0));
    tag(
        painter,
        middle,
        &format!("woken, ran {length} later"),
        color,
    );
}
