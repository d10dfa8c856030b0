//! Gaps where events were lost: hatched on the row of the CPU; a band over all rows of the file if it does not name a
//! CPU; and a mark in the overview.

use super::draw::Draw;
use super::sections::Stack;
use super::text::tag;
use crate::base::{Nanos, Timestamp};
use crate::gui::pane::Scene;
use crate::gui::theme::Palette;
use crate::index::gaps::{GapBlock, GapList};
use crate::query::Item;
use crate::query::gaps::{count_words, whose};
use crate::trace::{GapId, SourceId};
use crate::view::rows::{Row, RowKind};
use crate::view::{Scale, ruler};
use egui::{Mesh, Pos2, Rangef, Rect, Shape, Stroke, Ui, pos2, vec2};

/// Least width of a gap, in points.
const LEAST_WIDTH: f32 = 2.0;
/// Size of a mark in the overview, in points.
const MARK_WIDTH: f32 = 3.0;
const MARK_HEIGHT: f32 = 8.0;
/// Gaps at least this wide, in points, show the number of lost events as text.
const WORDS_FROM: f32 = 90.0;
/// Least width of a gap for the pointer, in points.
const LEAST_GRIP: f32 = 6.0;

/// The gap under the pointer.
pub(super) struct GapHit {
    pub(super) block: GapBlock,
    pub(super) rect: Rect,
}

impl GapHit {
    pub(super) fn item(&self) -> Item {
        Item::Gap(self.block.first)
    }
}

/// Pattern of a gap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Hatched: nothing was recorded here.
    Hatched,
    /// A faint band: something may be missing here.
    Band,
}

/// Paints the visible gaps into `area`; returns the one under the pointer. The rectangles of texts with the number of
/// lost events are added to `gap_labels`.
pub(super) fn paint_gaps(
    painter: &egui::Painter,
    area: Rect,
    draw: &Draw<'_>,
    list: &GapList,
    look: Look,
    pointer: Option<Pos2>,
    gap_labels: &mut Vec<Rect>,
) -> Option<GapHit> {
    let pointer = pointer.filter(|pos| area.contains(*pos));
    let mut hit = None;
    for block in list.blocks(draw.scale.span(), points_ns(&draw.scale, LEAST_WIDTH)) {
        if let Some(rect) = rect_of(draw, area, &block) {
            paint_gap(painter, draw.scene.palette, rect, look);
            let grip = rect.expand2(vec2((LEAST_GRIP - rect.width()).max(0.0) / 2.0, 0.0));
            if pointer.is_some_and(|pos| grip.contains(pos)) {
                hit = Some(GapHit { block, rect });
            }
            if look == Look::Hatched && rect.width() > WORDS_FROM {
                let clipped = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
                let text = block_words(draw.scene, &block);
                gap_labels.push(tag(&clipped, rect.center(), &text, draw.scene.palette.gap));
            }
        }
    }
    hit
}

fn points_ns(scale: &Scale, points: f32) -> i64 {
    scale.nanos_from_points(points).0.max(1)
}

/// Returns the rectangle of a gap in `area`, if any of it is visible.
fn rect_of(draw: &Draw<'_>, area: Rect, block: &GapBlock) -> Option<Rect> {
    let (left, right) = (draw.x(Timestamp(block.start)), draw.x(Timestamp(block.end)));
    let right = right.max(left + LEAST_WIDTH);
    let rect = Rect::from_min_max(pos2(left, area.top()), pos2(right, area.bottom()));
    let rect = rect.intersect(area);
    (rect.width() > 0.0).then_some(rect)
}

pub(super) fn paint_gap(painter: &egui::Painter, palette: &Palette, rect: Rect, look: Look) {
    let color = palette.gap;
    if look == Look::Band {
        painter.rect_filled(rect, 0, color.gamma_multiply(0.16));
        return;
    }
    painter.rect_filled(rect, 0, color.gamma_multiply(0.25));
    let clipped = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let mut x = rect.left() - rect.height();
    while x < rect.right() && rect.width() > 4.0 {
        clipped.line_segment(
            [pos2(x, rect.bottom()), pos2(x + rect.height(), rect.top())],
            Stroke::new(1.0, color.gamma_multiply(0.7)),
        );
        x += 6.0;
    }
}

fn block_words(scene: &Scene<'_>, block: &GapBlock) -> String {
    match scene.loaded.trace.gap(block.first) {
        Some(gap) if block.count == 1 => count_words(gap),
        _ => ruler::counted(block.count as usize, "gap", "gaps"),
    }
}

/// Returns the tooltip of a gap.
pub(super) fn gap_text(scene: &Scene<'_>, block: &GapBlock) -> String {
    let (trace, state) = (&scene.loaded.trace, scene.state);
    let time = |time| ruler::full_text(time, state.time_format, state.origins);
    let length = Nanos(block.end.saturating_sub(block.start));
    let length = ruler::length_text(length, state.origins.unit);
    // Several gaps may be of several CPUs.
    let whose = match whose(trace, block.first).as_str() {
        whose if whose.is_empty() || block.count > 1 => String::new(),
        whose => format!("\n{whose}"),
    };
    let at = time(Timestamp(block.start));
    if block.count > 1 {
        let words = block_words(scene, block);
        return format!("{words}: events were lost{whose}\n{length} from {at}");
    }
    let words = block_words(scene, block);
    let gap = trace.gap(block.first);
    let unseen = match gap.is_some_and(|gap| gap.duration().is_some()) {
        true => format!("{length}\nat {at}\nNothing is known of what happened in between"),
        false => "No event comes before or after it: its length is not known".to_owned(),
    };
    format!("{words}{whose}\n{unseen}")
}

/// Paints the gaps without a CPU row over all rows of their file; returns the one under the pointer.
pub(super) fn paint_loose(
    ui: &Ui,
    draw: &Draw<'_>,
    pointer: Option<Pos2>,
    gap_labels: &mut Vec<Rect>,
) -> Option<GapHit> {
    let list = draw.scene.loaded.index.gaps.loose();
    if list.is_empty() {
        return None;
    }
    let trace = &draw.scene.loaded.trace;
    let mut hit = None;
    for section in draw.sections.iter() {
        let painter = ui.painter_at(section.rect);
        let pointer = pointer.filter(|pos| section.rect.contains(*pos));
        // With one file, one band covers all rows; with several, only the rows of the gap's file.
        if trace.sources.is_empty() {
            let found = paint_gaps(
                &painter,
                section.rect,
                draw,
                list,
                Look::Band,
                pointer,
                gap_labels,
            );
            hit = hit.or(found);
            continue;
        }
        let rows = section.rows.get(section.seen()).unwrap_or(&[]);
        let merge = points_ns(&draw.scale, 1.0);
        for block in list.blocks(draw.scale.span(), merge) {
            let source = trace.gap_source(block.first);
            for row in rows.iter().filter(|row| source_of(draw, row) == source) {
                let Some(rect) = rect_of(draw, section.row_rect(row), &block) else {
                    continue;
                };
                paint_gap(&painter, draw.scene.palette, rect, Look::Band);
                if pointer.is_some_and(|pos| rect.contains(pos)) {
                    hit = hit.or(Some(GapHit { block, rect }));
                }
            }
        }
    }
    hit
}

/// Returns the file of a row, if there are several.
fn source_of(draw: &Draw<'_>, row: &Row) -> Option<SourceId> {
    let trace = &draw.scene.loaded.trace;
    match row.kind {
        RowKind::Source(id) => Some(id),
        RowKind::Cpu(id) => trace.source_of(id.0, |source| &source.cpus),
        RowKind::Process(id) => trace.source_of(id.0, |source| &source.processes),
        RowKind::Thread(id) => trace.source_of(id.0, |source| &source.threads),
        RowKind::Counter(id) => trace.source_of(id.0, |source| &source.counters),
        RowKind::Track(_) | RowKind::Group | RowKind::Plot | RowKind::Jobs => None,
    }
}

/// Draws marks of gaps along the lower edge of the overview and shades their time; returns the gap under the pointer.
pub(super) fn paint_overview(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
    pointer: Option<Pos2>,
) -> Option<GapBlock> {
    let list = scene.loaded.index.gaps.all();
    let color = scene.palette.gap;
    let mut mesh = Mesh::default();
    let mut hit = None;
    for block in list.blocks(scale.span(), points_ns(scale, MARK_WIDTH)) {
        let left = rect.left() + scale.x_from_time(Timestamp(block.start));
        let right = rect.left() + scale.x_from_time(Timestamp(block.end));
        let right = right.max(left + MARK_WIDTH);
        let x = left..=right;
        let shade = Rect::from_x_y_ranges(x.clone(), rect.y_range());
        mesh.add_colored_rect(shade.intersect(rect), color.gamma_multiply(0.22));
        let mark = Rect::from_x_y_ranges(x, (rect.bottom() - MARK_HEIGHT)..=rect.bottom());
        mesh.add_colored_rect(mark.intersect(rect), color);
        let is_near = |pos: &Pos2| pos.x >= left - 2.0 && pos.x <= right + 2.0;
        if hit.is_none() && pointer.as_ref().is_some_and(is_near) {
            hit = Some(block);
        }
    }
    painter.add(Shape::mesh(mesh));
    hit
}

/// Returns the frame around a selected gap that has no CPU row.
pub(super) fn frame_of_loose(draw: &Draw<'_>, id: GapId) -> Option<Rect> {
    let trace = &draw.scene.loaded.trace;
    if trace.gap_cpu(id).is_some() {
        return None;
    }
    let Rangef {
        min: left,
        max: right,
    } = draw.x_range(trace.gap_span(id)?);
    let x = left..=right.max(left + LEAST_WIDTH);
    let body = draw.sections.iter().find(|it| it.stack == Stack::Body)?;
    Some(Rect::from_x_y_ranges(x, body.rect.y_range()))
}
