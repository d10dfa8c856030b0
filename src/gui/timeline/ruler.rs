//! The ruler and the grid that it draws on the canvas.

use super::text::{fitted, line};
use crate::base::{Nanos, Timestamp};
use crate::gui::pane::Scene;
use crate::view::{Flag, Scale, ruler};
use egui::{FontId, Galley, Rect, Stroke, Ui, pos2};
use std::ops::Range;
use std::sync::Arc;

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

/// Where the time under the pointer, the markers and the flags are written: the ticks there keep silent.
pub(super) fn taken_by_tags(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Vec<Range<f32>> {
    let mut taken = pointed_times(painter, rect, scale, scene);
    for flag in &scene.state.flags {
        let at = rect.left() + scale.x_from_time(flag.time);
        if let Some(end) = flag_end(painter, rect, at, flag) {
            taken.push(at - 2.0..end + 2.0);
        }
    }
    for time in scene.state.marks.iter().flatten() {
        let at = rect.left() + scale.x_from_time(*time);
        taken.push(at - 13.0..at + 13.0);
    }
    taken.extend(delta_of_marks(painter, rect, scale, scene).map(|delta| delta.tag));
    taken
}

/// Where the times under the pointer are written.
fn pointed_times(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Vec<Range<f32>> {
    let times = [scene.state.hover, scene.state.aim].into_iter().flatten();
    let place = |time| {
        let text = ruler::full_text(time, scene.state.time_format, scene.state.origins);
        let galley = line(painter, &text, &FontId::proportional(11.5));
        let half = galley.size().x / 2.0 + 9.0;
        let at = hover_tag_x(rect, scale, time);
        at - half..at + half
    };
    times.map(place).collect()
}

/// From marker A to marker B: how long it is, and where that is told in the ruler.
pub(super) struct Delta {
    pub(super) text: String,
    /// From left to right, as far as it is seen.
    pub(super) line: Range<f32>,
    /// Where the words stand.
    pub(super) tag: Range<f32>,
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
    let width = self::line(painter, &text, &font).size().x + 10.0;
    let taken = pointed_times(painter, rect, scale, scene);
    let left = left_of_delta(&line, width, rect.left()..rect.right(), &taken);
    Some(Delta {
        text,
        line,
        tag: left..left + width,
    })
}

/// Where the words of a delta begin: between the markers' own tags, else at the right of them, else at the left; and
/// where nothing else stands, if there is such a place.
fn left_of_delta(line: &Range<f32>, width: f32, ruler: Range<f32>, taken: &[Range<f32>]) -> f32 {
    let (from, until) = (line.start + 11.0, line.end - 11.0 - width);
    let (right, left) = (line.end + 11.0, line.start - 11.0 - width);
    let between = [f32::midpoint(from, until), from, until];
    let between = between.into_iter().filter(|_| from <= until);
    let around = [right, left].into_iter();
    let around = around.filter(|&at| at >= ruler.start && at + width <= ruler.end);
    let mut places = between.chain(around);
    let first = places.clone().next().unwrap_or(left);
    let is_free = |at: &f32| {
        let covers = |range: &Range<f32>| *at < range.end && at + width > range.start;
        !taken.iter().any(covers)
    };
    places.find(is_free).unwrap_or(first)
}

/// The middle of the tag that tells the time under the pointer; it stays inside.
pub(super) fn hover_tag_x(rect: Rect, scale: &Scale, time: Timestamp) -> f32 {
    let most = (rect.right() - 60.0).max(rect.left() + 60.0);
    (rect.left() + scale.x_from_time(time)).clamp(rect.left() + 60.0, most)
}

/// Where a flag ends in the ruler, with its note, if it is seen.
pub(super) fn flag_end(painter: &egui::Painter, rect: Rect, at: f32, flag: &Flag) -> Option<f32> {
    if at < rect.left() - 200.0 || at > rect.right() + 10.0 {
        return None;
    }
    let note = flag_note(painter, flag).map(|note| NOTE_LEFT + note.size().x + 2.0);
    Some(at + note.unwrap_or(11.0))
}

/// How far right of a flag's time its note begins, and how wide it may be.
pub(super) const NOTE_LEFT: f32 = 13.0;
const NOTE_ROOM: f32 = 160.0;

/// The note of a flag as the ruler has it, if it has one.
pub(super) fn flag_note(painter: &egui::Painter, flag: &Flag) -> Option<Arc<Galley>> {
    let note = Some(&flag.note).filter(|note| !note.is_empty())?;
    fitted(painter, note, &FontId::proportional(11.5), NOTE_ROOM)
}

pub(super) fn paint_grid(painter: &egui::Painter, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    for tick in ticks(rect, scale, scene).1 {
        let x = (rect.left() + scale.x_from_time(tick)).round() + 0.5;
        painter.vline(x, rect.y_range(), Stroke::new(1.0, scene.palette.grid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delta_stands_where_the_time_under_the_pointer_does_not() {
        let left = |line: Range<f32>, taken: &[Range<f32>]| {
            left_of_delta(&line, 100.0, 0.0..1000.0, taken)
        };
        assert_eq!(left(200.0..600.0, &[]), 350.0);
        // The pointer is in the middle, then everywhere between the markers.
        assert_eq!(left(200.0..600.0, &[350.0..450.0]), 211.0);
        assert_eq!(left(200.0..600.0, &[250.0..450.0]), 489.0);
        assert_eq!(left(200.0..330.0, &[200.0..330.0]), 341.0);
        // Where the markers are near each other, and at the edges.
        assert_eq!(left(200.0..220.0, &[]), 231.0);
        assert_eq!(left(200.0..220.0, &[231.0..300.0]), 89.0);
        assert_eq!(left(950.0..970.0, &[]), 839.0);
        // Where there is no place, it stands where it always does.
        assert_eq!(left(200.0..600.0, &[0.0..1000.0]), 350.0);
    }
}
