//! Draws one lane: its draw list as rectangles or a strip; and finds the block under the pointer.

use super::across::Across;
use super::bars::Bars;
use super::colors::{LaneColors, is_doubtful};
use super::counters::{counter_hit, paint_counter};
use super::draw::{Draw, Hit};
use super::label::{Label, MAX_NODES};
use super::listing::{list, shows_seen};
use super::matches::{lit_of, mark_matches, marks_of};
use super::open_ends::Fading;
use super::scratch::{NearEdge, Timeline};
use super::sizes::{LABEL_FROM_POINTS, NODE_FROM_POINTS};
use super::strips::{FROM_BLOCKS, FROM_BLOCKS_MOVING};
use crate::base::{TimeSpan, Timestamp};
use crate::event::KindId;
use crate::gui::pane::Scene;
use crate::gui::table::number_text;
use crate::gui::theme::Palette;
use crate::query::item::title;
use crate::query::jobs::job_name;
use crate::query::visible::{Block, ProfileNames, joined};
use crate::query::{Item, visible};
use crate::trace::{InstantId, ProcessId, RunId, SliceId, StateId, ThreadId, ThreadState};
use crate::view::Isolation;
use crate::view::rows::{LaneKind, RowKey, Summarised};
use egui::{Mesh, Pos2, Rect};
use std::ops::Range;

/// Lanes at least this high, in points, can have labels.
const LABEL_HEIGHT: f32 = 12.0;
/// Lanes lower than this, in points, have smaller letters.
const FULL_LABEL_HEIGHT: f32 = 15.0;

/// The pointer snaps to an edge at this distance or less, in points.
const SNAP_POINTS: f32 = 10.0;

/// Returns the number of columns that a lane of this width is aggregated into: pixels, but on a high-density screen
/// points, since thinner bars cannot be distinguished.
pub(super) fn columns(ctx: &egui::Context, width: f32) -> u32 {
    (width * ctx.pixels_per_point().min(1.0)).ceil() as u32
}

/// Returns the width of one column in ns when `span` is divided into `columns`.
pub(super) fn width_of(span: TimeSpan, columns: u32) -> i64 {
    (span.duration().0 / i64::from(columns.max(1))).max(1)
}

impl Timeline {
    /// Draws a lane within `area`; `pointer` is the pointer's position, if it can hit the lane.
    pub(super) fn lane(
        &mut self,
        mesh: &mut Mesh,
        painter: &egui::Painter,
        kind: LaneKind,
        area: Rect,
        draw: &Draw<'_>,
        pointer: Option<Pos2>,
    ) -> Option<Hit> {
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
        let list = |span, pixels, blocks: &mut Vec<Block>| list(scene, kind, span, pixels, blocks);
        let is_isolating = scene.state.search.isolation == Isolation::On;
        let marks = marks_of(draw, kind).filter(|_| !is_isolating);
        let fading = Fading::new(scene, kind, painter.ctx().pixels_per_point());
        let across = Across::new(kind, area, draw, painter.ctx().pixels_per_point());
        let in_lane = pointer.filter(|pos| pos.y >= area.top() && pos.y < area.bottom());
        let in_ruler = self.ruler_pointer.filter(|pos| {
            // In the ruler, the edges of all tracks count.
            pos.y < draw.canvas.top() || area.y_range().contains(pos.y)
        });
        self.wide.clear();
        let width = width_of(span, pixels);
        let wide_from = match self.has_nodes {
            true => NODE_FROM_POINTS,
            // A strip may be shown stretched to twice its width: then such a block has space for a label.
            false => LABEL_FROM_POINTS / 2.0,
        };
        let columns = across.columns(wide_from, self.strips.rows_of(area.height()));
        let room = self.strips.room();
        let needs_blocks = marks.is_some()
            || matches!(kind, LaneKind::Jobs(_))
            || in_lane.is_some()
            || in_ruler.is_some();
        let room_kept = room.filter(|_| !needs_blocks);
        let seen = match room_kept.is_some_and(|room| self.kept.serves(kind, &columns, &room)) {
            true => None,
            false => Some(self.kept.list(kind, span, list)),
        };
        let lit = lit_of(draw, kind);
        let mut colors = LaneColors::new(scene, kind, self.kept.names(kind));
        let mut color = |block: &Block| {
            let full = colors.of(scene, block);
            match lit.has(block) {
                true => full,
                false => scene.palette.dimmed(full),
            }
        };
        let full_from = match self.kept.is_moving() {
            true => FROM_BLOCKS_MOVING,
            false => FROM_BLOCKS,
        };
        let kept = &self.kept;
        let is_full = |seen: &Range<usize>| {
            let blocks = kept.blocks(kind, seen.clone());
            blocks.len() >= full_from || !blocks.iter().all(|block| columns.is_bar(block))
        };
        let room = room.filter(|_| seen.as_ref().is_none_or(is_full));
        if let Some(room) = room {
            if seen.is_some() {
                self.kept.paint(kind, &columns, &room, &mut color, &fading);
            }
            let ctx = painter.ctx();
            let shown = self.kept.shown(ctx, kind, &columns, &room, &mut self.wide);
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
                    // An end past the edge is not in view.
                    if fading.is_open(&block) && block.end <= span.end.0 {
                        across.fade(&mut bars, left..=shown, fill, &fading);
                    }
                    if right - left >= NODE_FROM_POINTS {
                        self.wide.push(block);
                    }
                }
            }
        }
        if matches!(kind, LaneKind::Jobs(_)) {
            self.chain_marks.paint(mesh, draw, &across, blocks, width);
        }
        if let Some(marks) = marks {
            mark_matches(mesh, draw, marks, blocks, width, &across);
        }
        let mut hit: Option<(f32, Block, Rect)> = None;
        if in_lane.is_some() || in_ruler.is_some() {
            for block in joined(blocks, width) {
                let Some((left, right)) = across.edges(&block) else {
                    continue;
                };
                if let Some(pos) = in_ruler
                    // On other tracks, only blocks wide enough to be distinguished from their neighbours.
                    && (pos.y >= draw.canvas.top() || right - left >= NODE_FROM_POINTS)
                {
                    note_edges(&mut self.ruler_edge, pos.x, &block, draw);
                }
                let Some(pos) = in_lane else { continue };
                note_edges(&mut self.edge, pos.x, &block, draw);
                let distance = (left - pos.x).max(pos.x - right).max(0.0);
                if distance <= 3.0 && hit.is_none_or(|(best, ..)| distance < best) {
                    hit = Some((distance, block, across.rect(left, right)));
                }
            }
        }
        // Most blocks that a strip reports as wide have no label.
        let least_width = match (self.has_nodes, area.height() >= LABEL_HEIGHT) {
            (true, _) => NODE_FROM_POINTS,
            (false, true) => LABEL_FROM_POINTS,
            (false, false) => f32::INFINITY,
        };
        let least_width = (f64::from(least_width - 2.0) * scale.nanos_per_point()) as i64;
        for block in &self.wide {
            if block.end - block.start < least_width {
                continue;
            }
            let Some((left, right)) = across.edges(block) else {
                continue;
            };
            let rect = across.rect(left, right);
            let is_labelled = rect.width() >= LABEL_FROM_POINTS && area.height() >= LABEL_HEIGHT;
            // Screen readers also find blocks too small for a label.
            let has_node =
                self.has_nodes && rect.width() >= NODE_FROM_POINTS && self.labels.len() < MAX_NODES;
            let visible = rect.intersect(area);
            if (is_labelled || has_node) && visible.width() >= LABEL_FROM_POINTS.min(rect.width()) {
                let mut text = block_text(scene, kind, block);
                if is_doubtful(scene, kind, block) {
                    text.push_str(" ?");
                }
                let item = item_of_block(scene, kind, block);
                let fill = color(block);
                let middle = scale.time_from_x(visible.center().x - area.left());
                // Blocks in the selected range are tinted.
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
                    span: TimeSpan::new(Timestamp(block.start), Timestamp(block.end)),
                    count: block.count,
                });
            }
        }
        hit.map(|(_, block, rect)| Hit {
            item: pointed_item(scene, kind, &block, &self.kept.names(kind)),
            lane: kind,
            block,
            rect,
        })
    }
}

/// Updates `edge` with the edge of a block nearest to `x`, within the snapping distance.
fn note_edges(edge: &mut Option<NearEdge>, x: f32, block: &Block, draw: &Draw<'_>) {
    if block.count > 1 {
        return;
    }
    for time in [Timestamp(block.start), Timestamp(block.end)] {
        let distance = (draw.x(time) - x).abs();
        if distance <= SNAP_POINTS && edge.is_none_or(|best| distance < best.distance) {
            *edge = Some(NearEdge { distance, time });
        }
    }
}

/// Returns the item that a block under the pointer stands for: of several, the longest of those that its label names.
fn pointed_item(scene: &Scene<'_>, kind: LaneKind, block: &Block, names: &ProfileNames) -> Item {
    let trace = &scene.loaded.trace;
    let span = TimeSpan::new(Timestamp(block.start), Timestamp(block.end));
    let longest = match kind {
        _ if block.count <= 1 => None,
        LaneKind::Slices(row) => {
            visible::longest_slice(trace, row..row + 1, block.label, span).map(Item::Slice)
        }
        LaneKind::Profile { first, count } => {
            let name = names.get(block.label as usize).copied().flatten();
            let rows = first..first.saturating_add(count);
            let slice = name.and_then(|label| visible::longest_slice(trace, rows, label, span));
            slice.map(Item::Slice)
        }
        LaneKind::Runs(cpu) if !shows_seen(trace, cpu) => {
            visible::longest_run(trace, cpu, ThreadId(block.label), span).map(Item::Run)
        }
        LaneKind::States(thread) => {
            visible::longest_state(trace, thread, block.label, span).map(Item::State)
        }
        _ => None,
    };
    longest.unwrap_or_else(|| item_of_block(scene, kind, block))
}

pub(super) fn item_of_block(scene: &Scene<'_>, kind: LaneKind, block: &Block) -> Item {
    let trace = &scene.loaded.trace;
    match kind {
        LaneKind::Runs(cpu) if shows_seen(trace, cpu) => Item::Thread(ThreadId(block.label)),
        LaneKind::Runs(_) => Item::Run(RunId(block.first)),
        LaneKind::States(_) => Item::State(StateId(block.first)),
        LaneKind::Slices(_) | LaneKind::Profile { .. } => Item::Slice(SliceId(block.first)),
        LaneKind::Instants(_) => Item::Instant(InstantId(block.first)),
        LaneKind::Counter(id) => Item::Sample(id, block.first),
        LaneKind::Jobs(_) => Item::Process(ProcessId(block.label)),
        LaneKind::Summary(key, of) => {
            let row = scene.state.rows.of_key(key);
            let own = row.and_then(crate::view::rows::Row::item);
            own.unwrap_or_else(|| first_inside(scene, key, of))
        }
    }
}

/// Returns the first thread, CPU or track in a group, which is no item itself.
fn first_inside(scene: &Scene<'_>, group: RowKey, of: Summarised) -> Item {
    let trace = &scene.loaded.trace;
    let node = scene.state.outline.node(group);
    let lanes = node.map(|node| node.summarised(of)).unwrap_or_default();
    match lanes.first() {
        Some(LaneKind::States(thread)) => Item::Thread(*thread),
        Some(LaneKind::Runs(cpu)) => Item::Cpu(*cpu),
        Some(LaneKind::Slices(row)) => {
            let row = trace.slices.rows.get(*row as usize);
            row.map_or(Item::Thread(ThreadId::IDLE), |row| Item::Track(row.track))
        }
        _ => Item::Thread(ThreadId::IDLE),
    }
}

pub(super) fn block_text(scene: &Scene<'_>, kind: LaneKind, block: &Block) -> String {
    let trace = &scene.loaded.trace;
    let name = match kind {
        LaneKind::Runs(_) => trace.thread_name(ThreadId(block.label)).into_owned(),
        LaneKind::Jobs(_) => job_name(trace, ProcessId(block.label)),
        LaneKind::Profile { .. } | LaneKind::Summary(_, Summarised::Fullness) => {
            return String::new();
        }
        LaneKind::States(_) | LaneKind::Summary(_, Summarised::States) => ThreadState::ALL
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
                .unwrap_or_default();
            trace.text(label.name).into_owned()
        }
        LaneKind::Counter(id) => {
            let name = title(trace, Item::Sample(id, block.first));
            let value = trace.counters.values.get(block.first as usize);
            format!("{name} {}", number_text(value.copied().unwrap_or(0.0)))
        }
        LaneKind::Instants(_) => trace.kind_name(KindId(block.label)).into_owned(),
    };
    if block.count > 1 {
        format!("{} × {name}", block.count)
    } else {
        name
    }
}
