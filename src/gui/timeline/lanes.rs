//! One lane: its draw list as rectangles, and what of it lies under the pointer.

use super::bars::Bars;
use super::colors::{LaneColors, is_doubtful};
use super::counters::{counter_hit, paint_counter};
use super::matches::{lit_of, mark_matches, marks_of};
use super::open_ends::Fading;
use super::strips::{Columns, FROM_BLOCKS, FROM_BLOCKS_MOVING};
use super::{Draw, Hit, LABEL_FROM_POINTS, Label, MAX_NODES, NODE_FROM_POINTS, Timeline};
use crate::base::{TimeSpan, Timestamp};
use crate::event::KindId;
use crate::gui::table::number_text;
use crate::gui::theme::Palette;
use crate::load::LoadedTrace;
use crate::query::item::title;
use crate::query::visible::{Block, joined};
use crate::query::{Item, visible};
use crate::trace::{InstantId, RunId, SliceId, StateId, ThreadId, ThreadState};
use crate::view::rows::LaneKind;
use crate::view::{Isolation, Scale};
use egui::{Color32, Mesh, Pos2, Rect, pos2};
use std::ops::Range;
use std::sync::Arc;

/// Lanes this high have room for words.
const LABEL_HEIGHT: f32 = 12.0;
/// Lower ones have smaller letters.
const FULL_LABEL_HEIGHT: f32 = 15.0;

/// How near the pointer must be to an edge to be drawn to it.
const SNAP_POINTS: f32 = 10.0;

/// How many columns a lane of this width is gathered into. On a fine screen these are points: what is thinner than that
/// nobody can tell apart.
pub(super) fn columns(ctx: &egui::Context, width: f32) -> u32 {
    (width * ctx.pixels_per_point().min(1.0)).ceil() as u32
}

/// Bars wider than this leave a pixel free before the next.
const GAP_FROM_POINTS: f32 = 3.0;

/// How many ns a column is, of so many over a span.
pub(super) fn width_of(span: TimeSpan, columns: u32) -> i64 {
    (span.duration().0 / i64::from(columns.max(1))).max(1)
}

impl Timeline {
    /// Draws a lane within `area`; `pointer` is where the pointer may hit something.
    pub(super) fn lane(
        &mut self,
        mesh: &mut Mesh,
        painter: &egui::Painter,
        lane: (LaneKind, Rect),
        draw: &Draw<'_>,
        pointer: Option<Pos2>,
    ) -> Option<Hit> {
        let (kind, area) = lane;
        let (scene, scale) = (draw.scene, &draw.scale);
        let (trace, index) = (&scene.loaded.trace, &scene.loaded.index);
        let pixels = columns(painter.ctx(), area.width());
        let span = scale.span();
        if let LaneKind::Counter(counter) = kind {
            visible::counter(trace, index, counter, span, pixels, &mut self.steps);
            let hit = counter_hit(draw, counter, area, pointer);
            let steps = &self.steps;
            let clip = painter.clip_rect();
            let label = paint_counter(mesh, clip, area, scale, scene, counter, steps);
            self.ranges.extend(label);
            return hit;
        }
        let list = |span, pixels, blocks: &mut Vec<Block>| match kind {
            LaneKind::Runs(cpu) => visible::runs(trace, index, cpu, span, pixels, blocks),
            LaneKind::States(thread) => visible::states(trace, index, thread, span, pixels, blocks),
            LaneKind::Slices(row) => match trace.slices.rows.get(row as usize) {
                Some(row) => visible::slices(trace, index, row, span, pixels, blocks),
                None => blocks.clear(),
            },
            LaneKind::Instants(track) => {
                visible::instants(trace, index, track, span, pixels, blocks)
            }
            LaneKind::Counter(_) => blocks.clear(),
        };
        let mut colors = LaneColors::new(scene, kind);
        let is_isolating = scene.state.search.isolation == Isolation::On;
        let marks = marks_of(draw, kind).filter(|_| !is_isolating);
        let lit = lit_of(draw, kind);
        let mut color = |block: &Block| {
            let full = colors.of(scene, block);
            match lit.has(block) {
                true => full,
                false => scene.palette.dimmed(full),
            }
        };
        let fading = Fading::new(scene, kind, painter.ctx().pixels_per_point());
        let across = Across::new(kind, area, draw, painter.ctx().pixels_per_point());
        let in_lane = pointer.filter(|pos| pos.y >= area.top() && pos.y < area.bottom());
        let in_ruler = self.ruler_pointer.filter(|pos| {
            // In the ruler all tracks count.
            pos.y < draw.canvas.top() || area.y_range().contains(pos.y)
        });
        self.wide.clear();
        let width = width_of(span, pixels);
        let columns = across.columns(match self.has_nodes {
            true => NODE_FROM_POINTS,
            // Stretched to twice that, it has room for a label.
            false => LABEL_FROM_POINTS / 2.0,
        });
        let room = self.strips.room();
        let needs_blocks = marks.is_some() || in_lane.is_some() || in_ruler.is_some();
        let room_kept = room.filter(|_| !needs_blocks);
        let seen = match room_kept.is_some_and(|room| self.kept.serves(kind, &columns, &room)) {
            true => None,
            false => Some(self.kept.list(kind, span, list)),
        };
        let full_from = match self.kept.is_moving() {
            true => FROM_BLOCKS_MOVING,
            false => FROM_BLOCKS,
        };
        let is_full = |seen: &Range<usize>| seen.len() >= full_from;
        let room = room.filter(|_| seen.as_ref().is_none_or(is_full));
        if let Some(room) = room {
            if seen.is_some() {
                self.kept.paint(kind, &columns, &room, &mut color, &fading);
            }
            let shown = self.kept.shown(kind, &columns, &room, &mut self.wide);
            if let Some(shown) = shown {
                self.strips.add(area, &shown);
            }
        }
        let blocks = self.kept.blocks(kind, seen.unwrap_or_default());
        if room.is_none() {
            let mut bars = Bars::new(mesh, area);
            for block in joined(blocks, width) {
                if let Some((left, right)) = across.edges(&block) {
                    let (shown, fill) = (across.shown(left, right), color(&block));
                    bars.add(left, shown, fill);
                    if fading.is_open(&block) {
                        across.fade(&mut bars, (left, shown), fill, &fading);
                    }
                    if right - left >= NODE_FROM_POINTS {
                        self.wide.push(block);
                    }
                }
            }
        }
        if let Some(marks) = marks {
            mark_matches(mesh, draw, marks, blocks, width, &across);
        }
        let mut hit: Option<(f32, Hit)> = None;
        if in_lane.is_some() || in_ruler.is_some() {
            for block in joined(blocks, width) {
                let Some((left, right)) = across.edges(&block) else {
                    continue;
                };
                if let Some(pos) = in_ruler
                    // Of other tracks, what is wide enough to be told from its neighbours.
                    && (pos.y >= draw.canvas.top() || right - left >= NODE_FROM_POINTS)
                {
                    note_edges(&mut self.ruler_edge, pos.x, &block, draw);
                }
                let Some(pos) = in_lane else { continue };
                note_edges(&mut self.edge, pos.x, &block, draw);
                let distance = (left - pos.x).max(pos.x - right).max(0.0);
                if distance <= 3.0 && hit.as_ref().is_none_or(|(best, _)| distance < *best) {
                    let item = item_of_block(kind, &block);
                    let rect = across.rect(left, right);
                    let found = Hit {
                        item,
                        lane: kind,
                        block,
                        rect,
                    };
                    hit = Some((distance, found));
                }
            }
        }
        // Most of what is wide enough for a strip has no words.
        let told_from = match (self.has_nodes, area.height() >= LABEL_HEIGHT) {
            (true, _) => NODE_FROM_POINTS,
            (false, true) => LABEL_FROM_POINTS,
            (false, false) => f32::INFINITY,
        };
        let told_from = (f64::from(told_from - 2.0) * scale.nanos_per_point()) as i64;
        for block in &self.wide {
            if block.end - block.start < told_from {
                continue;
            }
            let Some((left, right)) = across.edges(block) else {
                continue;
            };
            let rect = across.rect(left, right);
            let is_labelled = rect.width() >= LABEL_FROM_POINTS && area.height() >= LABEL_HEIGHT;
            // Readers of the screen find what is too small for a label as well.
            let is_told =
                self.has_nodes && rect.width() >= NODE_FROM_POINTS && self.labels.len() < MAX_NODES;
            let visible = rect.intersect(area);
            if (is_labelled || is_told) && visible.width() >= LABEL_FROM_POINTS.min(rect.width()) {
                let mut text = block_text(scene.loaded, kind, block);
                if is_doubtful(scene, kind, block) {
                    text.push_str(" ?");
                }
                let item = item_of_block(kind, block);
                let fill = color(block);
                let middle = scale.time_from_x(visible.center().x - area.left());
                // What is selected is tinted.
                let is_tinted = scene
                    .state
                    .range
                    .is_some_and(|range| range.contains(middle));
                let fill = match is_tinted {
                    true => fill.blend(scene.palette.range),
                    false => fill,
                };
                self.labels.push(Label {
                    is_drawn: is_labelled,
                    rect: visible,
                    clip: painter.clip_rect(),
                    text,
                    size: match area.height() < FULL_LABEL_HEIGHT {
                        true => 10.0,
                        false => 11.5,
                    },
                    color: match lit.has(block) {
                        true => Palette::text_on(fill),
                        false => scene.palette.dimmed_text(fill),
                    },
                    item,
                });
            }
        }
        hit.map(|(_, hit)| hit)
    }
}

/// How the blocks of a lane lie on its pixels.
pub(super) struct Across {
    area: Rect,
    scale: Scale,
    is_instants: bool,
    pixels_per_point: f32,
    /// A pixel in points.
    point: f32,
    /// What is shorter than a pixel is drawn as one.
    pixel_nanos: i64,
}

impl Across {
    fn new(kind: LaneKind, area: Rect, draw: &Draw<'_>, pixels_per_point: f32) -> Across {
        let pixel_nanos = draw.scale.nanos_per_point() / f64::from(pixels_per_point);
        Across {
            area,
            scale: draw.scale,
            is_instants: matches!(kind, LaneKind::Instants(_)),
            pixels_per_point,
            point: 1.0 / pixels_per_point,
            pixel_nanos: pixel_nanos as i64,
        }
    }

    /// The pixel's edge that is next to a place. (By way of integers: rounding floats is a call of its own.)
    fn snapped(&self, x: f32) -> f32 {
        let pixel = (f64::from(x * self.pixels_per_point) + 4096.5) as i32 - 4096;
        pixel as f32 * self.point
    }

    /// Where a block begins and ends, in points of the window, if it is seen.
    pub(super) fn edges(&self, block: &Block) -> Option<(f32, f32)> {
        let (area, point) = (self.area, self.point);
        let x = |time| area.left() + self.scale.x_from_time(Timestamp(time));
        let left = self.snapped(x(block.start).max(area.left() - 1.0));
        let right = if self.is_instants {
            left + point.max(1.0)
        } else if block.end - block.start < self.pixel_nanos {
            left + point
        } else {
            let to = x(block.end).min(area.right() + 1.0);
            self.snapped(to).max(left + point)
        };
        (right >= area.left() && left <= area.right()).then_some((left, right))
    }

    /// Where a bar is drawn to: a gap of a pixel between neighbours that are wide enough to lose one.
    pub(super) fn shown(&self, left: f32, right: f32) -> f32 {
        match right - left > GAP_FROM_POINTS {
            true => right - self.point,
            false => right,
        }
    }

    /// Lets a bar fade towards its end, if that is not past the lane's edge.
    fn fade(
        &self,
        bars: &mut Bars<'_>,
        (left, right): (f32, f32),
        fill: Color32,
        fading: &Fading<'_>,
    ) {
        if right > self.area.right() {
            return;
        }
        let pixels = ((right - left) / self.point).round().max(1.0) as usize;
        let steps = fading.steps(pixels, 1.0);
        let first = right - steps.len() as f32 * self.point;
        for (at, share) in steps.into_iter().enumerate() {
            let x = first + at as f32 * self.point;
            bars.add(x, x + self.point, fading.mixed(fill, share));
        }
    }

    /// The lane's place.
    pub(super) fn area(&self) -> Rect {
        self.area
    }

    fn rect(&self, left: f32, right: f32) -> Rect {
        let (top, bottom) = (self.area.top(), self.area.bottom());
        Rect::from_min_max(pos2(left, top), pos2(self.shown(left, right), bottom))
    }

    /// `wide_from`: how many points wide the bars are that are told of.
    fn columns(&self, wide_from: f32) -> Columns {
        let pixels = f64::from(self.pixels_per_point);
        Columns {
            start: self.scale.span().start.0,
            columns_per_nano: pixels / self.scale.nanos_per_point(),
            base: f64::from(self.area.left()) * pixels,
            gap_from: (GAP_FROM_POINTS * self.pixels_per_point) as usize,
            wide_from: (wide_from * self.pixels_per_point).ceil() as usize,
            point: (self.is_instants).then(|| self.pixels_per_point.round().max(1.0) as usize),
        }
    }
}

/// Keeps the edge of a block that is nearest to `x`, if it is near at all.
fn note_edges(edge: &mut Option<(f32, Timestamp)>, x: f32, block: &Block, draw: &Draw<'_>) {
    if block.count > 1 {
        return;
    }
    for time in [Timestamp(block.start), Timestamp(block.end)] {
        let distance = (draw.x(time) - x).abs();
        if distance <= SNAP_POINTS && edge.is_none_or(|(best, _)| distance < best) {
            *edge = Some((distance, time));
        }
    }
}

pub(super) fn item_of_block(kind: LaneKind, block: &Block) -> Item {
    match kind {
        LaneKind::Runs(_) => Item::Run(RunId(block.first)),
        LaneKind::States(_) => Item::State(StateId(block.first)),
        LaneKind::Slices(_) => Item::Slice(SliceId(block.first)),
        LaneKind::Instants(_) => Item::Instant(InstantId(block.first)),
        LaneKind::Counter(id) => Item::Sample(id, block.first),
    }
}

pub(super) fn block_text(loaded: &Arc<LoadedTrace>, kind: LaneKind, block: &Block) -> String {
    let trace = &loaded.trace;
    let name = match kind {
        LaneKind::Runs(_) => trace.thread_name(ThreadId(block.label)),
        LaneKind::States(_) => ThreadState::ALL
            .get(block.label as usize)
            .copied()
            .unwrap_or_default()
            .word()
            .to_owned(),
        LaneKind::Slices(_) => {
            let label = trace
                .slices
                .labels
                .get(block.label as usize)
                .copied()
                .unwrap_or_default();
            trace.text(label.name).into_owned()
        }
        LaneKind::Counter(id) => {
            let name = title(trace, Item::Sample(id, block.first));
            let value = trace.counters.values.get(block.first as usize);
            format!("{name} {}", number_text(value.copied().unwrap_or(0.0)))
        }
        LaneKind::Instants(_) => trace.kind_name(KindId(block.label as u16)).into_owned(),
    };
    if block.count > 1 {
        format!("{} × {name}", block.count)
    } else {
        name
    }
}
