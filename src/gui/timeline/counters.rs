//! A counter's lane.

use crate::base::Timestamp;
use crate::gui::pane::Scene;
use crate::query::visible::CounterStep;
use crate::view::{Scale, ruler};
use egui::{Align2, FontId, Mesh, Rect, pos2};

pub(super) fn paint_counter(
    mesh: &mut Mesh,
    painter: &egui::Painter,
    area: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
    id: crate::trace::CounterTrackId,
    steps: &[CounterStep],
) {
    let Some(track) = scene.loaded.trace.counters.tracks.get(id.0 as usize) else {
        return;
    };
    let (low, high) = (track.range.0.min(0.0), track.range.1.max(0.0));
    let span = if high > low { high - low } else { 1.0 };
    let y =
        |value: f64| area.bottom() - 1.0 - ((value - low) / span) as f32 * (area.height() - 3.0);
    let (fill, line) = scene.palette.counter;
    for step in steps {
        let left = (area.left() + scale.x_from_time(Timestamp(step.start))).max(area.left());
        let right = (area.left() + scale.x_from_time(Timestamp(step.end))).min(area.right());
        if right <= left || !step.min.is_finite() || !step.max.is_finite() {
            continue;
        }
        let (top, base) = (y(step.max), y(0.0));
        mesh.add_colored_rect(
            Rect::from_min_max(pos2(left, top.min(base)), pos2(right, base.max(top))),
            fill,
        );
        let bottom = y(step.min).max(top + 1.0);
        mesh.add_colored_rect(
            Rect::from_min_max(pos2(left, top), pos2(right.max(left + 1.0), bottom)),
            line,
        );
    }
    let font = FontId::proportional(10.0);
    let range = format!(
        "{} … {}",
        number_text(track.range.0),
        number_text(track.range.1)
    );
    painter.text(
        pos2(area.left() + 4.0, area.top() + 5.0),
        Align2::LEFT_CENTER,
        range,
        font,
        scene.palette.weak,
    );
}

pub(super) fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        ruler::grouped(value as i64)
    } else {
        format!("{value:.3}")
    }
}
