//! Draws a path over the tracks, from row to row in time, such as a chain of wakeups.

use egui::{Pos2, Shape, Stroke, pos2, vec2};

use super::draw::Draw;
use crate::view::locate;

/// Draws the view's path: thick lines along rows, thin arrows from row to row.
pub(super) fn paint_path(painter: &egui::Painter, draw: &Draw<'_>) {
    let state = draw.scene.state;
    let trace = &draw.scene.loaded.trace;
    let color = draw.scene.palette.flow;
    let mut last: Option<(Pos2, crate::query::Item)> = None;
    for (item, time) in &state.path {
        let place = locate::lane_of(trace, *item)
            .and_then(|lane| draw.sections.anchor_of(state, lane))
            .map(|y| pos2(draw.x(*time), y));
        let Some(at) = place else {
            // A hidden row: the path continues at its next visible row.
            continue;
        };
        if let Some((from, before)) = last {
            if before == *item {
                painter.line_segment([from, at], Stroke::new(3.0, color));
            } else {
                painter.line_segment([from, at], Stroke::new(1.5, color));
                let down = if at.y >= from.y { 1.0 } else { -1.0 };
                if (at.y - from.y).abs() > 8.0 {
                    let head = vec![
                        at,
                        at + vec2(-3.5, -6.0 * down),
                        at + vec2(3.5, -6.0 * down),
                    ];
                    painter.add(Shape::convex_polygon(head, color, Stroke::NONE));
                }
            }
        }
        last = Some((at, *item));
    }
}
