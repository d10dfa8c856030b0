//! The ruler and the grid that it draws on the canvas.

use crate::base::{Nanos, Timestamp};
use crate::gui::pane::Scene;
use crate::view::{Scale, ruler};
use egui::{FontId, Rect, Stroke, Ui, pos2};

pub(super) fn ticks(rect: Rect, scale: &Scale, scene: &Scene<'_>) -> (Nanos, Vec<Timestamp>) {
    let step = ruler::step_for(scale.nanos_per_point() * 120.0);
    let zero = ruler::zero_of(scene.state.time_format, scene.state.origins);
    let _ = rect;
    (step, ruler::ticks(scale.span(), zero, step).collect())
}

pub(super) fn paint_ruler(ui: &Ui, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    let painter = ui.painter_at(rect);
    let palette = scene.palette;
    painter.rect_filled(rect, 0, palette.panel);
    let (step, ticks) = ticks(rect, scale, scene);
    let font = FontId::proportional(11.5);
    let minor = scale.nanos_per_point().recip() as f32 * step.0 as f32 / 10.0;
    let mut free_from = rect.left() + 2.0;
    let taken = taken_by_tags(&painter, rect, scale, scene);
    for tick in ticks {
        let x = rect.left() + scale.x_from_time(tick);
        painter.vline(
            x,
            (rect.bottom() - 8.0)..=rect.bottom(),
            Stroke::new(1.0, palette.weak),
        );
        for i in 1..10 {
            let height = if i == 5 { 5.0 } else { 3.0 };
            let at = x + minor * i as f32;
            painter.vline(
                at,
                (rect.bottom() - height)..=rect.bottom(),
                Stroke::new(1.0, palette.line),
            );
        }
        let text = ruler::tick_text(tick, step, scene.state.time_format, scene.state.origins);
        let galley = painter.layout_no_wrap(text, font.clone(), palette.weak);
        let left = x + 4.0;
        let right = left + galley.size().x;
        let is_covered = taken
            .iter()
            .any(|range| left < range.end && right > range.start);
        if left >= free_from && right <= rect.right() && !is_covered {
            free_from = left + galley.size().x + 8.0;
            painter.galley(pos2(left, rect.top() + 3.0), galley, palette.weak);
        }
    }
    painter.hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        Stroke::new(1.0, palette.line),
    );
}

/// Where the time under the pointer and the markers are written: the ticks there keep silent.
pub(super) fn taken_by_tags(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Vec<std::ops::Range<f32>> {
    let mut taken = Vec::new();
    for hover in [scene.state.hover, scene.state.aim].into_iter().flatten() {
        let text = ruler::full_text(hover, scene.state.time_format, scene.state.origins);
        let font = FontId::proportional(11.5);
        let galley = painter.layout_no_wrap(text, font, scene.palette.text);
        let half = galley.size().x / 2.0 + 9.0;
        let at = hover_tag_x(rect, scale, hover);
        taken.push(at - half..at + half);
    }
    for time in scene.state.marks.iter().flatten() {
        let at = rect.left() + scale.x_from_time(*time);
        taken.push(at - 13.0..at + 13.0);
    }
    taken.extend(delta_of_marks(painter, rect, scale, scene).map(|delta| delta.tag));
    taken
}

/// From marker A to marker B: how long it is, and where that is told in the ruler.
pub(super) struct Delta {
    pub(super) text: String,
    /// From left to right, as far as it is seen.
    pub(super) line: std::ops::Range<f32>,
    /// Where the words stand.
    pub(super) tag: std::ops::Range<f32>,
}

/// The delta of the markers, if both are set and some of what lies between them is seen.
pub(super) fn delta_of_marks(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Option<Delta> {
    let [Some(a), Some(b)] = scene.state.marks else {
        return None;
    };
    let x = |time: Timestamp| rect.left() + scale.x_from_time(time);
    let (from, until) = (x(a.min(b)), x(a.max(b)));
    let line = from.max(rect.left())..until.min(rect.right());
    if line.end < line.start {
        return None;
    }
    let length = ruler::length_text(b - a, scene.state.origins.unit);
    let text = format!("B − A {length}");
    let font = FontId::proportional(11.5);
    let galley = painter.layout_no_wrap(text.clone(), font, scene.palette.text);
    let width = galley.size().x + 10.0;
    // Between the markers' own tags, else at the right of them, else at the left.
    let between = (line.start + 11.0, line.end - 11.0);
    let left = if between.1 - between.0 >= width {
        (between.0 + between.1 - width) / 2.0
    } else if line.end + 11.0 + width <= rect.right() {
        line.end + 11.0
    } else {
        line.start - 11.0 - width
    };
    Some(Delta {
        text,
        line,
        tag: left..left + width,
    })
}

/// The middle of the tag that tells the time under the pointer; it stays inside.
pub(super) fn hover_tag_x(rect: Rect, scale: &Scale, time: Timestamp) -> f32 {
    let most = (rect.right() - 60.0).max(rect.left() + 60.0);
    (rect.left() + scale.x_from_time(time)).clamp(rect.left() + 60.0, most)
}

pub(super) fn paint_grid(painter: &egui::Painter, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    for tick in ticks(rect, scale, scene).1 {
        let x = (rect.left() + scale.x_from_time(tick)).round() + 0.5;
        painter.vline(x, rect.y_range(), Stroke::new(1.0, scene.palette.grid));
    }
}
