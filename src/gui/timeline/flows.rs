//! Arrows: flows of the selection, under the pointer or all in view; and the wakeup that ends a wait.

use super::draw::Draw;
use super::text::{tag, tag_size};
use crate::base::Timestamp;
use crate::query::Item;
use crate::query::family::wait_before;
use crate::query::waker::{Waker, waker_of};
use crate::trace::flows::FlowPoint;
use crate::trace::{FlowId, ThreadId, ThreadState};
use crate::view::apply::place_of as place_of_direction;
use crate::view::rows::LaneKind;
use crate::view::{Direction, FlowsShown, locate, ruler};
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke, pos2, vec2};

/// Initial limit of drawn arrows, and the limit that the user can raise it to.
const FIRST_MOST: usize = 400;
const LAST_MOST: usize = 6_400;
/// Limit of arrows counted beyond those drawn.
const MOST_COUNTED: usize = 100_000;

/// The pointer is over an arrow at this distance or less, in points.
const NEAR_POINTS: f32 = 3.5;

/// Current limit of drawn arrows; the user can raise it.
pub(super) struct Most(usize);

impl Default for Most {
    fn default() -> Most {
        Most(FIRST_MOST)
    }
}

/// Finds the arrow nearest to the pointer, and holds the limit of drawn arrows.
struct Nearest {
    pointer: Option<Pos2>,
    found: Option<(f32, FlowId)>,
    most: usize,
}

/// Draws the arrows that the settings choose; returns the one under the pointer. If there are too many, shows how many
/// are left out, with a click to draw more.
pub(super) fn flows_ui(
    ui: &egui::Ui,
    painter: &egui::Painter,
    draw: &Draw<'_>,
    pointer: Option<Pos2>,
    most: &mut Most,
) -> Option<FlowId> {
    let state = draw.scene.state;
    let mut near = Nearest {
        pointer,
        found: None,
        most: most.0,
    };
    let mut left_out = 0;
    if state.settings.flows == FlowsShown::AllInView {
        left_out += paint_all(painter, draw, &mut near);
    }
    if state.settings.flows != FlowsShown::None
        && let Some(item) = state.selected
    {
        left_out += paint_of(painter, draw, item, 2.0, &mut near);
        paint_chosen(painter, draw, item);
        paint_wakeup(painter, draw, item);
    }
    if state.settings.flows == FlowsShown::OfPointer
        && let Some(item) = state.pointed.filter(|item| Some(*item) != state.selected)
    {
        left_out += paint_of(painter, draw, item, 1.2, &mut near);
    }
    if left_out > 0 {
        more_ui(ui, painter, draw, left_out, most);
    }
    near.found.map(|(_, id)| id)
}

/// Draws the number of arrows left out, with a click that raises the limit.
fn more_ui(
    ui: &egui::Ui,
    painter: &egui::Painter,
    draw: &Draw<'_>,
    left_out: usize,
    most: &mut Most,
) {
    let palette = draw.scene.palette;
    let more = ruler::grouped(left_out as i64);
    let sign = if left_out >= MOST_COUNTED { "+" } else { "" };
    let can_be_more = most.0 < LAST_MOST;
    let advice = if can_be_more {
        "click to draw more"
    } else {
        "zoom in, or press L for those of the selection"
    };
    let text = format!("{more}{sign} more arrows: {advice}");
    let galley = painter.layout_no_wrap(text.clone(), FontId::proportional(12.0), palette.text);
    let corner = draw.canvas.right_bottom() - vec2(10.0, 8.0);
    let place = Align2::RIGHT_BOTTOM.anchor_size(corner, galley.size() + vec2(12.0, 6.0));
    let sense = if can_be_more {
        Sense::click()
    } else {
        Sense::hover()
    };
    let response = ui.interact(place, ui.scope_id().with("more arrows"), sense);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, can_be_more, &text));
    painter.rect_filled(place, 3, palette.group);
    if response.hovered() && can_be_more {
        let edge = Stroke::new(1.0, palette.accent);
        painter.rect_stroke(place, 3, edge, egui::StrokeKind::Inside);
    }
    painter.galley(place.min + vec2(6.0, 3.0), galley, palette.text);
    if response.clicked() {
        most.0 = (most.0 * 4).min(LAST_MOST);
    }
}

/// Emphasises the followed arrow among several that leave or enter an item.
fn paint_chosen(painter: &egui::Painter, draw: &Draw<'_>, item: Item) {
    let (trace, state) = (&draw.scene.loaded.trace, draw.scene.state);
    for direction in [Direction::Previous, Direction::Next] {
        let flows = locate::flows_of(trace, item, direction);
        let choice = state.flow_choice[place_of_direction(direction)] as usize;
        if flows.len() > 1
            && let Some(id) = flows.get(choice % flows.len())
            && let Some((from, to)) = ends_of(draw, *id)
        {
            paint_arrow(painter, from, to, 3.5, draw.scene.palette.accent);
        }
    }
}

/// Draws all flows that cross the view; returns the number left out.
fn paint_all(painter: &egui::Painter, draw: &Draw<'_>, near: &mut Nearest) -> usize {
    let loaded = draw.scene.loaded;
    let span = draw.scale.span();
    let (mut drawn, mut left_out) = (0, 0);
    for number in loaded.index.flows.overlapping(span).take(MOST_COUNTED) {
        if drawn >= near.most {
            left_out += 1;
        } else if paint_flow(painter, draw, FlowId(number), 1.0, near) {
            drawn += 1;
        }
    }
    left_out
}

/// Draws the flows of an item; returns the number left out.
fn paint_of(
    painter: &egui::Painter,
    draw: &Draw<'_>,
    item: Item,
    width: f32,
    near: &mut Nearest,
) -> usize {
    let flows = &draw.scene.loaded.trace.flows;
    match item {
        Item::Flow(id) => {
            paint_flow(painter, draw, id, width, near);
            0
        }
        Item::Slice(slice) => {
            let mut left_out = 0;
            for (number, id) in flows.of_slice(slice).take(MOST_COUNTED).enumerate() {
                if number < near.most {
                    paint_flow(painter, draw, id, width, near);
                } else {
                    left_out += 1;
                }
            }
            left_out
        }
        _ => 0,
    }
}

/// Draws one arrow; returns whether any of it is visible.
fn paint_flow(
    painter: &egui::Painter,
    draw: &Draw<'_>,
    id: FlowId,
    width: f32,
    near: &mut Nearest,
) -> bool {
    let Some((from, to)) = ends_of(draw, id) else {
        return false;
    };
    if let Some(pointer) = near.pointer {
        let distance = distance_to(&bend_of(from, to), pointer);
        if distance <= NEAR_POINTS && near.found.is_none_or(|(best, _)| distance < best) {
            near.found = Some((distance, id));
        }
    }
    let is_at_hand = draw.scene.state.pointed == Some(Item::Flow(id));
    let width = if is_at_hand { width + 1.5 } else { width };
    paint_arrow(painter, from, to, width, draw.scene.palette.flow);
    true
}

/// Returns start and end of an arrow, if its bounding box meets the canvas.
fn ends_of(draw: &Draw<'_>, id: FlowId) -> Option<(Pos2, Pos2)> {
    let flow = draw.scene.loaded.trace.flows.rows.get(id.0 as usize)?;
    let (from, to) = (place_of(draw, &flow.from)?, place_of(draw, &flow.to)?);
    let canvas = draw.canvas;
    let is_beside = from.y.max(to.y) < canvas.top()
        || from.y.min(to.y) > canvas.bottom()
        || from.x.max(to.x) < canvas.left()
        || from.x.min(to.x) > canvas.right();
    (!is_beside).then_some((from, to))
}

/// Returns the distance of a point from an arrow, in points; infinity if it is not near.
fn distance_to(points: &[Pos2; 4], pointer: Pos2) -> f32 {
    const STEPS: usize = 24;
    let bounds = egui::Rect::from_points(points);
    if !bounds.expand(NEAR_POINTS).contains(pointer) {
        return f32::INFINITY;
    }
    let [a, b, c, d] = points.map(Pos2::to_vec2);
    let at = |step: usize| {
        let t = step as f32 / STEPS as f32;
        let u = 1.0 - t;
        a * (u * u * u) + b * (3.0 * u * u * t) + c * (3.0 * u * t * t) + d * (t * t * t)
    };
    let pointer = pointer.to_vec2();
    let to_piece = |step: usize| {
        let (from, to) = (at(step), at(step + 1));
        let piece = to - from;
        let along = (pointer - from).dot(piece) / piece.length_sq().max(f32::MIN_POSITIVE);
        (from + piece * along.clamp(0.0, 1.0) - pointer).length()
    };
    (0..STEPS).map(to_piece).fold(f32::INFINITY, f32::min)
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

/// Returns the curve of an arrow as Bézier points: it starts and ends horizontally.
fn bend_of(from: Pos2, to: Pos2) -> [Pos2; 4] {
    let reach = ((to.x - from.x).abs() * 0.4).clamp(24.0, 120.0);
    [from, from + vec2(reach, 0.0), to - vec2(reach, 0.0), to]
}

pub(super) fn paint_arrow(
    painter: &egui::Painter,
    from: Pos2,
    to: Pos2,
    width: f32,
    color: Color32,
) {
    painter.add(egui::epaint::CubicBezierShape::from_points_stroke(
        bend_of(from, to),
        false,
        Color32::TRANSPARENT,
        Stroke::new(width, color),
    ));
    let head = vec![to, to + vec2(-7.0, -4.0), to + vec2(-7.0, 4.0)];
    painter.add(Shape::convex_polygon(head, color, Stroke::NONE));
}

/// Draws a line from the waker to the selected run or wait, with the time from wakeup to run.
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
    let (Some(Waker::Thread(waker)), Some(end)) = (waker_of(trace, &wait), wait.end) else {
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
    // The text is beside the selected run; if that is not visible, beside the arrow's head.
    let run = locate::lane_of(trace, item)
        .filter(|lane| matches!(lane, LaneKind::Runs(_)))
        .and_then(|lane| draw.sections.anchor_of(state, lane))
        .map(|y| (pos2(draw.x(end), y), -HEAD_ROOM));
    let is_seen = |(at, _): &(Pos2, f32)| {
        draw.canvas.x_range().contains(at.x) && draw.canvas.y_range().contains(at.y)
    };
    let places = run.into_iter().chain([(to, down * HEAD_ROOM)]);
    if let Some((at, dy)) = places.into_iter().find(is_seen) {
        let text = format!("woken, ran {length} later");
        beside(painter, draw.canvas, at, dy, &text, color);
    }
}

/// Distance of an arrow's text from the middle of a track, in points.
const HEAD_ROOM: f32 = 18.0;

/// Draws text beside a point: right of it, or left of it where there is no space; `dy` points below.
fn beside(painter: &egui::Painter, within: Rect, at: Pos2, dy: f32, text: &str, color: Color32) {
    let size = tag_size(painter, text);
    let half = size / 2.0;
    let right = at.x + 6.0 + half.x;
    let left = at.x - 6.0 - half.x;
    let x = if right + half.x <= within.right() {
        right
    } else {
        left.max(within.left() + half.x)
    };
    let inner = within.shrink2(half.min(within.size() / 2.0));
    tag(painter, inner.clamp(pos2(x, at.y + dy)), text, color);
}
