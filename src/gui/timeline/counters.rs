//! Draws a counter's lane.

use super::draw::{Draw, Hit};
use crate::base::Timestamp;
use crate::gui::pane::Scene;
use crate::gui::table::number_text;
use crate::gui::theme::Palette;
use crate::index::lod::PARTS;
use crate::query::Item;
use crate::query::visible::{Block, CounterStep};
use crate::trace::CounterTrackId;
use crate::view::Scale;
use crate::view::rows::LaneKind;
use egui::{Align2, FontId, Mesh, Pos2, Rangef, Rect, pos2, vec2};

/// The range of a counter's values, written over its lane.
pub(super) struct RangeLabel {
    at: Pos2,
    clip: Rect,
    text: String,
}

impl RangeLabel {
    /// Writes the text on a half-transparent background.
    pub(super) fn paint(&self, painter: &egui::Painter, palette: &Palette) {
        let font = FontId::proportional(10.0);
        let galley = painter.layout_no_wrap(self.text.clone(), font, palette.weak);
        let place = Align2::LEFT_CENTER.anchor_size(self.at, galley.size());
        let painter = painter.with_clip_rect(self.clip);
        let behind = place.expand2(vec2(2.0, 0.0));
        painter.rect_filled(behind, 2, palette.canvas.gamma_multiply(0.8));
        painter.galley(place.min, galley, palette.weak);
    }
}

/// Draws a counter; returns its range label, which is painted later on top.
pub(super) fn paint_counter(
    mesh: &mut Mesh,
    clip: Rect,
    area: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
    id: CounterTrackId,
    steps: &[CounterStep],
) -> Option<RangeLabel> {
    let track = scene.loaded.trace.counters.tracks.get(id.0 as usize)?;
    let (low, high) = (track.range.0.min(0.0), track.range.1.max(0.0));
    let span = if high > low { high - low } else { 1.0 };
    let y =
        |value: f64| area.bottom() - 1.0 - ((value - low) / span) as f32 * (area.height() - 3.0);
    let (fill, line) = scene.palette.counter;
    for step in steps {
        let x = |time: i64| area.left() + scale.x_from_time(Timestamp(time));
        let left = x(step.start).max(area.left());
        let right = x(step.end).min(area.right());
        if right <= left || !step.min.is_finite() || !step.max.is_finite() {
            continue;
        }
        // Samples closer than a pixel become a bar from the smallest to the largest; after it the last value continues.
        let settled = match step.count {
            1 => left,
            _ => x(step.settled).max(left + 1.0).min(right),
        };
        for (from, to, low, high) in [
            (left, settled, step.min, step.max),
            (settled, right, step.last, step.last),
        ] {
            if to <= from || !low.is_finite() || !high.is_finite() {
                continue;
            }
            let (top, base) = (y(high), y(0.0));
            mesh.add_colored_rect(
                Rect::from_min_max(pos2(from, top.min(base)), pos2(to, base.max(top))),
                fill,
            );
            let bottom = y(low).max(top + 1.0);
            mesh.add_colored_rect(
                Rect::from_min_max(pos2(from, top), pos2(to.max(from + 1.0), bottom)),
                line,
            );
        }
    }
    let text = format!(
        "{} … {}",
        number_text(track.range.0),
        number_text(track.range.1)
    );
    Some(RangeLabel {
        at: pos2(area.left() + 4.0, area.top() + 5.0),
        clip,
        text,
    })
}

/// Returns the sample that is in force at the pointer's time.
pub(super) fn counter_hit(
    draw: &Draw<'_>,
    id: CounterTrackId,
    area: Rect,
    pointer: Option<Pos2>,
) -> Option<Hit> {
    let pos = pointer.filter(|pos| pos.y >= area.top() && pos.y < area.bottom())?;
    let trace = &draw.scene.loaded.trace;
    let track = trace.counters.tracks.get(id.0 as usize)?;
    let row = trace.counters.sample_at(track, draw.time_at(pos.x))?;
    let item = Item::Sample(id, row);
    let span = item.span(trace)?;
    let Rangef {
        min: left,
        max: right,
    } = draw.x_range(span);
    let shown = Rect::from_x_y_ranges(left..=right.max(left + 1.0), area.y_range());
    Some(Hit {
        item,
        lane: LaneKind::Counter(id),
        block: Block {
            start: span.start.0,
            end: span.end.0,
            label: 0,
            first: row,
            count: 1,
            times: [0.0; PARTS],
        },
        rect: shown.intersect(area),
    })
}
