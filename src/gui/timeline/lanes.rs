//! One lane: its draw list as rectangles, and what of it lies under the pointer.

use super::bars::Bars;
use super::colors::LaneColors;
use super::counters::{counter_hit, paint_counter};
use super::{Draw, Hit, LABEL_FROM_POINTS, Label, MAX_NODES, NODE_FROM_POINTS, Timeline};
use crate::base::Timestamp;
use crate::event::KindId;
use crate::gui::table::number_text;
use crate::gui::theme::Palette;
use crate::load::LoadedTrace;
use crate::query::item::title;
use crate::query::visible::Block;
use crate::query::{Item, visible};
use crate::trace::{InstantId, RunId, SliceId, StateId, ThreadId, ThreadState};
use crate::view::Isolation;
use crate::view::rows::LaneKind;
use egui::{Color32, Mesh, Pos2, Rect, pos2};
use std::sync::Arc;

/// How near the pointer must be to an edge to be drawn to it.
const SNAP_POINTS: f32 = 10.0;

/// How many columns a lane of this width is gathered into. On a fine screen these are points: what is thinner than that
/// nobody can tell apart.
pub(super) fn columns(ctx: &egui::Context, width: f32) -> u32 {
    (width * ctx.pixels_per_point().min(1.0)).ceil() as u32
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
            paint_counter(mesh, painter, area, scale, scene, counter, steps);
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
        let blocks = self.kept.list(kind, span, pixels, list);
        let mut colors = LaneColors::new(scene, kind);
        let mut bars = Bars::new(mesh, area);
        let mut hit: Option<(f32, Hit)> = None;
        let in_lane = pointer.filter(|pos| pos.y >= area.top() && pos.y < area.bottom());
        let point = 1.0 / painter.ctx().pixels_per_point();
        // To whole pixels. (By way of integers: rounding floats is a call of its own.)
        let pixels_per_point = painter.ctx().pixels_per_point();
        let snap = |x: f32| {
            let pixel = (f64::from(x * pixels_per_point) + 4096.5) as i32 - 4096;
            pixel as f32 * point
        };
        for block in blocks {
            let left =
                (area.left() + scale.x_from_time(Timestamp(block.start))).max(area.left() - 1.0);
            let right =
                (area.left() + scale.x_from_time(Timestamp(block.end))).min(area.right() + 1.0);
            let (left, right) = match kind {
                LaneKind::Instants(_) => (snap(left), snap(left) + point.max(1.0)),
                _ => (snap(left), snap(right).max(snap(left) + point)),
            };
            if right < area.left() || left > area.right() {
                continue;
            }
            // A gap of a pixel between neighbours that are wide enough to lose one.
            let shown_right = if right - left > 3.0 {
                right - point
            } else {
                right
            };
            let rect = Rect::from_min_max(pos2(left, area.top()), pos2(shown_right, area.bottom()));
            let fill = isolated(draw, kind, block, colors.of(scene, block));
            bars.add(left, shown_right, fill);
            if let Some(pos) = self.ruler_pointer {
                // In the ruler all tracks count, with what is wide enough to be told from its neighbours.
                let is_meant = if pos.y < draw.canvas.top() {
                    right - left >= NODE_FROM_POINTS
                } else {
                    area.y_range().contains(pos.y)
                };
                if is_meant {
                    note_edges(&mut self.ruler_edge, pos.x, block, draw);
                }
            }
            if let Some(pos) = in_lane {
                note_edges(&mut self.edge, pos.x, block, draw);
                let distance = (left - pos.x).max(pos.x - right).max(0.0);
                if distance <= 3.0 && hit.as_ref().is_none_or(|(best, _)| distance < *best) {
                    hit = Some((
                        distance,
                        Hit {
                            item: item_of_block(kind, block),
                            lane: kind,
                            block: *block,
                            rect,
                        },
                    ));
                }
            }
            let is_labelled = rect.width() >= LABEL_FROM_POINTS && area.height() >= 12.0;
            // Readers of the screen find what is too small for a label as well.
            let is_told =
                self.has_nodes && rect.width() >= NODE_FROM_POINTS && self.labels.len() < MAX_NODES;
            if is_labelled || is_told {
                let visible = rect.intersect(area);
                if visible.width() >= LABEL_FROM_POINTS.min(rect.width()) {
                    let text = block_text(scene.loaded, kind, block);
                    let (color, item) = (Palette::text_on(fill), item_of_block(kind, block));
                    self.labels.push(Label {
                        is_drawn: is_labelled,
                        rect: visible,
                        clip: painter.clip_rect(),
                        text,
                        color,
                        item,
                    });
                }
            }
        }
        hit.map(|(_, hit)| hit)
    }
}

/// The colour of a block, or hardly any while matches are isolated and it is none.
fn isolated(draw: &Draw<'_>, kind: LaneKind, block: &Block, fill: Color32) -> Color32 {
    let scene = draw.scene;
    let Some(found) = scene.found else {
        return fill;
    };
    if scene.state.search.isolation == Isolation::Off {
        return fill;
    }
    let marks = match kind {
        LaneKind::Runs(_) => &found.marks.runs,
        LaneKind::States(_) => &found.marks.states,
        LaneKind::Slices(_) => &found.marks.slices,
        LaneKind::Instants(_) => &found.marks.instants,
        LaneKind::Counter(_) => return fill,
    };
    if marks.has_any(block.first, block.count) {
        fill
    } else {
        scene.palette.dimmed(fill)
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
