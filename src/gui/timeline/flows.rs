//! Arrows of flows.

use super::Draw;
use crate::query::Item;
use crate::trace::flows::FlowPoint;
use egui::{Color32, Shape, Stroke, pos2, vec2};

/// Arrows of the flows that touch the selected slice.
pub(super) fn paint_flows(painter: &egui::Painter, draw: &Draw<'_>) {
    const MOST: usize = 64;
    let scene = draw.scene;
    let trace = &scene.loaded.trace;
    let Some(Item::Slice(slice)) = scene.state.selected else {
        return;
    };
    let place = |point: &FlowPoint| {
        let lane = crate::view::locate::lane_of(trace, Item::Slice(point.slice?))?;
        let y = draw.sections.anchor_of(scene.state, lane)?;
        Some(pos2(draw.x(point.time), y))
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
