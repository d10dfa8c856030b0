//! Arrows of flows.

use super::row_rect;
use crate::gui::pane::Scene;
use crate::query::Item;
use crate::view::Scale;
use egui::{Color32, Rect, Shape, Stroke, pos2, vec2};

/// Arrows of the flows that touch the selected slice.
pub(super) fn paint_flows(painter: &egui::Painter, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    const MOST: usize = 64;
    let trace = &scene.loaded.trace;
    let Some(Item::Slice(slice)) = scene.state.selected else {
        return;
    };
    let place = |point: &crate::trace::flows::FlowPoint| {
        let lane = crate::view::locate::lane_of(trace, Item::Slice(point.slice?))?;
        let (row, lane) = scene.state.rows.of_lane(lane)?;
        let top = row_rect(rect, row, scene.state.scroll).top() + lane.offset;
        Some(pos2(
            rect.left() + scale.x_from_time(point.time),
            top + lane.kind.height() / 2.0,
        ))
    };
    for id in trace.flows.of_slice(slice).take(MOST) {
        let Some(flow) = trace.flows.rows.get(id.0 as usize) else {
            continue;
        };
        let (Some(from), Some(to)) = (place(&flow.from), place(&flow.to)) else {
            continue;
        };
        let reach = ((to.x - from.x).abs() * 0.4).clamp(24.0, 120.0);
        let stroke = Stroke::new(2.0, scene.palette.flow);
        let points = [from, from + vec2(reach, 0.0), to - vec2(reach, 0.0), to];
        painter.add(egui::epaint::CubicBezierShape::from_points_stroke(
            points,
            false,
            Color32::TRANSPARENT,
            stroke,
        ));
        let head = vec![to, to + vec2(-7.0, -4.0), to + vec2(-7.0, 4.0)];
        painter.add(Shape::convex_polygon(
            head,
            scene.palette.flow,
            Stroke::NONE,
        ));
    }
}
