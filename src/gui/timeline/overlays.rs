//! Overlays on the lanes: selection, highlight, markers, flags.

use super::draw::Draw;
use super::ruler::{RangePill, delta_of_marks, flag_notes, hover_tag_x, range_pill};
use super::sections::ClippedRect;
use super::sizes::RULER_HEIGHT;
use super::text::tag;
use crate::base::{TimeSpan, Timestamp};
use crate::gui::pane::Scene;
use crate::gui::theme::Palette;
use crate::query::Item;
use crate::trace::{Trace, TrackKind};
use crate::view::Flag;
use crate::view::highlight::{Highlight, LifeSpan};
use crate::view::locate::lane_of;
use crate::view::rows::{Lane, LaneKind, Row, RowKind};
use crate::view::{Scale, ruler};
use egui::{Rangef, Rect, Stroke, StrokeKind, Ui, pos2};

/// Paints the selected range on its tracks, and a frame around the selected item.
pub(super) fn paint_selection(painter: &egui::Painter, draw: &Draw<'_>) {
    let (scene, rect) = (draw.scene, draw.canvas);
    let (palette, state) = (scene.palette, scene.state);
    let span = state
        .range
        .or_else(|| state.area_rows.as_ref().map(|_| state.trace_span));
    if let Some(span) = span {
        let Rangef {
            min: left,
            max: right,
        } = draw.x_range(span);
        let right = right.max(left + 1.0);
        for section in draw.sections.iter() {
            let clipped = painter.with_clip_rect(section.rect.intersect(painter.clip_rect()));
            for row in &section.rows[section.seen()] {
                let area = section.row_rect(row);
                let is_in = match &state.area_rows {
                    Some(rows) => rows.contains(&row.key),
                    None => true,
                };
                if is_in {
                    let part =
                        Rect::from_min_max(pos2(left, area.top()), pos2(right, area.bottom()));
                    clipped.rect_filled(part, 0, palette.range);
                }
            }
        }
    }
    if let Some(range) = state.range {
        let Rangef {
            min: left,
            max: right,
        } = draw.x_range(range);
        for edge in [left, right] {
            painter.vline(edge, rect.y_range(), Stroke::new(1.0, palette.accent));
        }
    }
    let Some(item) = state.selected else {
        return;
    };
    let trace = &scene.loaded.trace;
    if let (Item::Instant(_) | Item::Event(_), Some(span)) =
        (item, crate::view::locate::span_of(trace, item))
    {
        // A point is hard to find among others: a line through all tracks marks its time.
        let x = draw.x(span.start);
        let stroke = Stroke::new(1.0, palette.accent.gamma_multiply(0.6));
        painter.vline(x, rect.y_range(), stroke);
    }
    if let Item::Gap(id) = item
        && let Some(frame) = super::gaps::frame_of_loose(draw, id)
    {
        let shown = frame.intersect(rect).expand(1.0);
        let stroke = Stroke::new(2.0, palette.accent);
        painter.rect_stroke(shown, 2, stroke, StrokeKind::Outside);
        return;
    }
    let (Some(span), Some(lane)) = (
        crate::view::locate::span_of(trace, item),
        crate::view::locate::lane_of(trace, item),
    ) else {
        return;
    };
    for ClippedRect { rect: place, clip } in draw.sections.places_of(state, lane) {
        let Rangef {
            min: left,
            max: right,
        } = draw.x_range(span);
        let area = Rect::from_min_max(
            pos2(left, place.top()),
            pos2(right.max(left + 2.0), place.bottom()),
        );
        if area.intersects(clip) {
            let shown = area.intersect(clip.expand(2.0)).expand(1.5);
            painter.rect_stroke(
                shown,
                2,
                Stroke::new(2.0, palette.accent),
                StrokeKind::Outside,
            );
        }
    }
}

/// A highlighted span of a lane.
struct LaneSpan {
    lane: LaneKind,
    span: TimeSpan,
}

/// Returns the highlighted spans of processes without a row of their own, each with the lane that shows the process.
fn highlighted_elsewhere(trace: &Trace, highlight: &Highlight) -> Vec<LaneSpan> {
    let lane = |life: &LifeSpan| {
        let main = trace.processes.get(life.process.0 as usize)?.main_thread?;
        let slice = match trace.track_of(TrackKind::Thread(main)) {
            Some(_) => return None,
            None => trace.life_slice_of(main)?,
        };
        Some(LaneSpan {
            lane: lane_of(trace, Item::Slice(slice))?,
            span: life.span,
        })
    };
    highlight.spans().iter().filter_map(lane).collect()
}

/// Paints a frame around each highlighted span, in the first row of slices of its process.
pub(super) fn paint_highlight(painter: &egui::Painter, draw: &Draw<'_>) {
    let state = draw.scene.state;
    let Some(highlight) = &state.highlight else {
        return;
    };
    let trace = &draw.scene.loaded.trace;
    let elsewhere = highlighted_elsewhere(trace, highlight);
    for section in draw.sections.iter() {
        let clip = section.rect.intersect(painter.clip_rect());
        let painter = painter.with_clip_rect(clip);
        let paint = |row: &Row, lane: &Lane, span: TimeSpan| {
            let top = section.row_rect(row).top() + lane.offset;
            let Rangef {
                min: left,
                max: right,
            } = draw.x_range(span);
            let area = Rect::from_min_max(
                pos2(left, top),
                pos2(right.max(left + 2.0), top + lane.height),
            );
            if area.intersects(clip) {
                let shown = area.intersect(clip.expand(2.0)).expand(1.0);
                let stroke = Stroke::new(2.0, draw.scene.palette.flow);
                painter.rect_stroke(shown, 2, stroke, StrokeKind::Inside);
            }
        };
        for row in &section.rows[section.seen()] {
            // A process is highlighted on its own row and on that of its main thread.
            let process = match row.kind {
                RowKind::Process(id) => Some(id),
                RowKind::Thread(thread) => trace.thread(thread).process.filter(|id| {
                    let process = trace.processes.get(id.0 as usize);
                    process.is_some_and(|process| process.main_thread == Some(thread))
                }),
                _ => None,
            };
            let lane = row
                .lanes
                .iter()
                .find(|lane| matches!(lane.kind, LaneKind::Slices(_)))
                .or(row.lanes.first());
            if let (Some(process), Some(lane)) = (process, lane) {
                for life in highlight.of(process) {
                    paint(row, lane, life.span);
                }
            }
            for found in &elsewhere {
                if let Some(lane) = row.lanes.iter().find(|lane| lane.kind == found.lane) {
                    paint(row, lane, found.span);
                }
            }
        }
    }
}

/// Paints a flag: its cloth in the ruler, and a line down through the tracks.
fn paint_flag(painter: &egui::Painter, rect: Rect, at: f32, flag: &Flag, palette: &Palette) {
    if at < rect.left() - 200.0 || at > rect.right() + 10.0 {
        return;
    }
    let color = palette.flag(flag.color);
    painter.vline(
        at,
        rect.y_range(),
        Stroke::new(1.0, color.gamma_multiply(0.8)),
    );
    let top = rect.top() + 2.0;
    let cloth = vec![
        pos2(at, top),
        pos2(at + 11.0, top + 4.5),
        pos2(at, top + 9.0),
    ];
    painter.add(egui::Shape::convex_polygon(cloth, color, Stroke::NONE));
}

pub(super) fn paint_marks(ui: &Ui, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    let painter = ui.painter_at(rect);
    let palette = scene.palette;
    let x = |time: Timestamp| rect.left() + scale.x_from_time(time);
    if let Some(edge) = scene.state.edge {
        // The edge that a marker or the end of a range would snap to.
        let points = [pos2(x(edge), rect.top()), pos2(x(edge), rect.bottom())];
        painter.extend(egui::Shape::dashed_line(
            &points,
            Stroke::new(1.0, palette.accent),
            4.0,
            4.0,
        ));
    }
    if let Some(aim) = scene.state.aim {
        let at = x(aim);
        painter.vline(at, rect.y_range(), Stroke::new(1.5, palette.accent));
    }
    if let Some(hover) = scene.state.hover {
        let at = x(hover);
        painter.vline(
            at,
            rect.y_range(),
            Stroke::new(1.0, palette.weak.gamma_multiply(0.6)),
        );
    }
    for flag in &scene.state.flags {
        paint_flag(&painter, rect, x(flag.time), flag, palette);
    }
    let ruler = rect.with_max_y(rect.top() + RULER_HEIGHT);
    for note in flag_notes(&painter, ruler, scale, scene) {
        let place = pos2(note.left, rect.top());
        let behind = Rect::from_min_size(place, note.galley.size()).expand2(egui::vec2(2.0, 0.0));
        painter.rect_filled(behind, 2, palette.panel);
        painter.galley(place, note.galley, palette.text);
    }
    if let Some(RangePill { text, place }) = range_pill(&painter, ruler, scale, scene) {
        let at = pos2(f32::midpoint(place.start, place.end), rect.top() + 10.0);
        tag(&painter, at, &text, palette.accent);
    }
    for (index, mark) in scene.state.marks.iter().enumerate() {
        if let Some(time) = mark {
            let at = x(*time);
            let color = palette.marks[index];
            painter.vline(at, rect.y_range(), Stroke::new(1.5, color));
            tag(
                &painter,
                pos2(at, rect.top() + 10.0),
                ["A", "B"][index],
                color,
            );
        }
    }
    if let Some(delta) = delta_of_marks(&painter, ruler, scale, scene) {
        let y = ruler.bottom() - 4.0;
        let stroke = Stroke::new(1.0, palette.text);
        let (left, right) = (delta.line.start, delta.line.end);
        painter.hline(left..=right, y, stroke);
        for end in [left, right] {
            painter.vline(end, y - 3.0..=y + 3.0, stroke);
        }
        let middle = (delta.tag.start + delta.tag.end) / 2.0;
        let place = pos2(middle, rect.top() + 10.0);
        tag(&painter, place, &delta.text, palette.group);
    }
    if let Some(aim) = scene.state.aim {
        let text = ruler::full_text(aim, scene.state.time_format, scene.state.origins);
        let place = pos2(hover_tag_x(rect, scale, aim), rect.top() + 10.0);
        tag(&painter, place, &text, palette.accent);
    }
    // On top of everything: the user looks at the time under the pointer.
    if let Some(hover) = scene.state.hover {
        let text = ruler::full_text(hover, scene.state.time_format, scene.state.origins);
        let place = pos2(hover_tag_x(rect, scale, hover), rect.top() + 10.0);
        tag(&painter, place, &text, palette.group);
    }
}
