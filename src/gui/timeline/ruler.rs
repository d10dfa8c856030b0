//! Draws the ruler, and its grid on the canvas.

use super::text::{fitted, line};
use crate::base::{Nanos, Timestamp};
use crate::gui::pane::Scene;
use crate::view::{Scale, ruler};
use egui::{FontId, Galley, Rect, Stroke, Ui, pos2};
use std::ops::Range;
use std::sync::Arc;

/// The times for which the ruler has text.
struct Ticks {
    /// The distance between two ticks.
    step: Nanos,
    times: Vec<Timestamp>,
}

fn ticks(scale: &Scale, scene: &Scene<'_>) -> Ticks {
    let step = ruler::step_for(scale.nanos_per_point() * 120.0);
    let zero = ruler::zero_of(scene.state.time_format, scene.state.origins);
    Ticks {
        step,
        times: ruler::ticks(scale.span(), zero, step).collect(),
    }
}

pub(super) fn paint_ruler(ui: &Ui, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    let painter = ui.painter_at(rect);
    let palette = scene.palette;
    painter.rect_filled(rect, 0, palette.panel);
    let Ticks { step, times: ticks } = ticks(scale, scene);
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
        let width = galley.size().x;
        let is_free = |left: &f32| {
            let right = left + width;
            let covers = |range: &Range<f32>| *left < range.end && right > range.start;
            *left >= free_from && right <= rect.right() && !taken.iter().any(covers)
        };
        // The text is right of its tick; left of it where a flag or marker takes the space.
        if let Some(left) = [x + 4.0, x - 4.0 - width].into_iter().find(is_free) {
            free_from = left + width + 8.0;
            painter.galley(pos2(left, rect.top() + 3.0), galley, palette.weak);
        }
    }
    painter.hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        Stroke::new(1.0, palette.line),
    );
}

/// Returns the x ranges of times and notes in the ruler: ticks there are drawn without text.
pub(super) fn taken_by_tags(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Vec<Range<f32>> {
    let mut taken = pointed_times(painter, rect, scale, scene);
    taken.extend(cloths(rect, scale, scene));
    for note in flag_notes(painter, rect, scale, scene) {
        taken.push(note.left - 2.0..note.left + note.galley.size().x + 4.0);
    }
    for time in scene.state.marks.iter().flatten() {
        let at = rect.left() + scale.x_from_time(*time);
        taken.push(at - 13.0..at + 13.0);
    }
    taken.extend(delta_of_marks(painter, rect, scale, scene).map(|delta| delta.tag));
    taken.extend(range_pill(painter, rect, scale, scene).map(|it| it.place));
    taken
}

/// The length of the selected range.
pub(super) struct RangePill {
    pub text: String,
    /// Its x range in the ruler.
    pub place: Range<f32>,
}

/// Returns the length of the selected range as text, and its x range in the ruler: the middle of the range's visible
/// part. On the tracks the text would cover what is drawn there.
pub(super) fn range_pill(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Option<RangePill> {
    let range = scene.state.range?;
    let x = |time: Timestamp| rect.left() + scale.x_from_time(time);
    let (from, until) = (x(range.start), x(range.end));
    if until < rect.left() || from > rect.right() {
        return None;
    }
    let text = ruler::length_text(range.duration(), scene.state.origins.unit);
    let half = super::text::tag_size(painter, &text).x / 2.0;
    let seen = f32::midpoint(from.max(rect.left()), until.min(rect.right()));
    let most = (rect.right() - half).max(rect.left() + half);
    let middle = seen.clamp(rect.left() + half, most);
    Some(RangePill {
        text,
        place: middle - half..middle + half,
    })
}

/// Returns the x ranges of the text for the time under the pointer and the time jumped to.
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

/// The distance from marker A to marker B, as drawn in the ruler.
pub(super) struct Delta {
    pub(super) text: String,
    /// Visible part of the line between the markers.
    pub(super) line: Range<f32>,
    /// X range of the text.
    pub(super) tag: Range<f32>,
}

/// Returns the delta of the markers, if both are set and a part of the line between them is visible.
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
    let mut taken = pointed_times(painter, rect, scale, scene);
    taken.extend(cloths(rect, scale, scene));
    taken.extend(range_pill(painter, rect, scale, scene).map(|it| it.place));
    let left = left_of_delta(&line, width, rect.left()..rect.right(), &taken);
    Some(Delta {
        text,
        line,
        tag: left..left + width,
    })
}

/// Returns the left edge of a delta's text: between the markers' tags, if there is space (in the middle, at an end, or
/// beside other tags); otherwise right of the markers, else left of them. Free positions are preferred.
fn left_of_delta(line: &Range<f32>, width: f32, ruler: Range<f32>, taken: &[Range<f32>]) -> f32 {
    let (from, until) = (line.start + 11.0, line.end - 11.0 - width);
    let (right, left) = (line.end + 11.0, line.start - 11.0 - width);
    let middle = f32::midpoint(from, until);
    let mut beside: Vec<f32> = taken
        .iter()
        .flat_map(|range| [range.end, range.start - width])
        .filter(|at| (from..=until).contains(at))
        .collect();
    beside.sort_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()));
    let between = [middle, from, until].into_iter().chain(beside);
    let between = between.filter(|_| from <= until);
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

/// Returns the middle of the tag for the time under the pointer, kept inside the ruler.
pub(super) fn hover_tag_x(rect: Rect, scale: &Scale, time: Timestamp) -> f32 {
    let most = (rect.right() - 60.0).max(rect.left() + 60.0);
    (rect.left() + scale.x_from_time(time)).clamp(rect.left() + 60.0, most)
}

/// Returns the x ranges of the visible flags' cloths.
fn cloths(rect: Rect, scale: &Scale, scene: &Scene<'_>) -> Vec<Range<f32>> {
    let flags = scene.state.flags.iter();
    let cloth = flags.map(|flag| {
        let at = rect.left() + scale.x_from_time(flag.time);
        at - 2.0..at + CLOTH
    });
    cloth
        .filter(|cloth| cloth.end > rect.left() && cloth.start < rect.right())
        .collect()
}

/// Width of a flag's cloth, distance from a flag's time to its note, and largest width of a note, in points. With less
/// space than `LEAST_NOTE` the note is left out: the flag's tooltip has it.
const CLOTH: f32 = 13.0;
const NOTE_LEFT: f32 = 13.0;
const NOTE_ROOM: f32 = 160.0;
const LEAST_NOTE: f32 = 14.0;

/// The note of a flag.
pub(super) struct FlagNote {
    /// Its left edge.
    pub left: f32,
    pub galley: Arc<Galley>,
}

/// Returns the notes of flags, each cut to the space before the next flag or tag.
pub(super) fn flag_notes(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Vec<FlagNote> {
    let x = |time: Timestamp| rect.left() + scale.x_from_time(time);
    let mut taken = cloths(rect, scale, scene);
    taken.extend(scene.state.marks.iter().flatten().map(|time| {
        let at = x(*time);
        at - 10.0..at + 10.0
    }));
    taken.extend(delta_of_marks(painter, rect, scale, scene).map(|delta| delta.tag));
    let font = FontId::proportional(11.5);
    let with_notes = scene
        .state
        .flags
        .iter()
        .filter(|flag| !flag.note.is_empty());
    with_notes
        .filter_map(|flag| {
            let at = x(flag.time);
            if at < rect.left() - NOTE_ROOM || at > rect.right() {
                return None;
            }
            let left = at + NOTE_LEFT;
            let room = room_for_note(left, rect.right(), &taken);
            let note = (room >= LEAST_NOTE).then(|| fitted(painter, &flag.note, &font, room));
            Some(FlagNote {
                left,
                galley: note.flatten()?.galley,
            })
        })
        .collect()
}

/// Returns the space from `left` to the next taken range, or to the end; negative under a taken range.
fn room_for_note(left: f32, end: f32, taken: &[Range<f32>]) -> f32 {
    let next = taken
        .iter()
        .filter(|range| range.end > left)
        .map(|range| range.start - 4.0)
        .fold(end - 2.0, f32::min);
    (next - left).min(NOTE_ROOM)
}

pub(super) fn paint_grid(painter: &egui::Painter, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    for tick in ticks(scale, scene).times {
        let x = (rect.left() + scale.x_from_time(tick)).round() + 0.5;
        painter.vline(x, rect.y_range(), Stroke::new(1.0, scene.palette.grid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_ends_where_the_next_thing_begins() {
        assert_eq!(room_for_note(100.0, 1000.0, &[]), NOTE_ROOM);
        assert_eq!(
            room_for_note(100.0, 1000.0, &[20.0..99.0, 150.0..160.0]),
            46.0
        );
        assert_eq!(room_for_note(980.0, 1000.0, &[]), 18.0);
        // There is no space for a note under another tag.
        assert!(room_for_note(100.0, 1000.0, &[90.0..140.0]) < 0.0);
    }

    #[test]
    fn the_delta_stands_where_the_time_under_the_pointer_does_not() {
        let left = |line: Range<f32>, taken: &[Range<f32>]| {
            left_of_delta(&line, 100.0, 0.0..1000.0, taken)
        };
        assert_eq!(left(200.0..600.0, &[]), 350.0);
        // The pointer is in the middle; then tags cover the middle and the start; then everything between the markers.
        assert_eq!(left(200.0..600.0, &[350.0..450.0]), 211.0);
        assert_eq!(left(200.0..600.0, &[250.0..450.0]), 489.0);
        assert_eq!(left(200.0..330.0, &[200.0..330.0]), 341.0);
        // With markers near each other, and at the edges of the ruler.
        assert_eq!(left(200.0..220.0, &[]), 231.0);
        assert_eq!(left(200.0..220.0, &[231.0..300.0]), 89.0);
        assert_eq!(left(950.0..970.0, &[]), 839.0);
        // Beside the tag that is between the markers, if there is space.
        assert_eq!(
            left(200.0..600.0, &[230.0..240.0, 400.0..410.0, 560.0..570.0]),
            300.0
        );
        // Without any free position, the text is in the middle.
        assert_eq!(left(200.0..600.0, &[0.0..1000.0]), 350.0);
    }
}
