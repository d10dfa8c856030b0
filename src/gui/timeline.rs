//! The timeline: overview with brush, ruler, track headers and the canvas of lanes.
//!
//! Only rows that are seen are asked for. All blocks of a frame go into one mesh; labels are drawn after it.

use std::sync::Arc;

use egui::{
    Align2, Color32, CursorIcon, FontId, Mesh, Pos2, Rect, Sense, Shape, Stroke, StrokeKind, Ui,
    pos2, vec2,
};

use super::keys::span_between;
use super::pane::Scene;
use super::theme::{Palette, hash_name};
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::event::KindId;
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::visible::{self, Block, CounterStep};
use crate::trace::{InstantId, RunId, SliceId, StateId, ThreadId, ThreadState};
use crate::view::rows::{Fold, LaneKind, Row, RowKind};
use crate::view::{Action, Scale, ruler};

const OVERVIEW_HEIGHT: f32 = 46.0;
const RULER_HEIGHT: f32 = 24.0;
const HEADER_WIDTH: f32 = 230.0;
/// Labels are drawn on blocks at least this wide.
const LABEL_FROM_POINTS: f32 = 26.0;
/// How many labelled blocks get a node for screen readers and tests.
const MAX_NODES: usize = 400;

/// Scratch of the timeline.
#[derive(Default)]
pub struct Timeline {
    blocks: Vec<Block>,
    steps: Vec<CounterStep>,
    drag: Option<Drag>,
    /// Labels and nodes of the frame being drawn.
    labels: Vec<Label>,
}

#[derive(Clone, Copy)]
enum Drag {
    /// Selecting or zooming to a range from this time on.
    Range { from: Timestamp, zooms: Zooms },
    /// Moving the span.
    Pan,
    /// Moving the brush in the overview.
    Brush(BrushPart),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zooms {
    Yes,
    No,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BrushPart {
    Start,
    End,
    Whole,
}

struct Label {
    rect: Rect,
    text: String,
    color: Color32,
    item: Item,
}

/// What lies under the pointer.
struct Hit {
    item: Item,
    lane: LaneKind,
    block: Block,
    rect: Rect,
}

impl Timeline {
    /// Draws it all; what the user did comes back as actions.
    pub fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let area = ui.available_rect_before_wrap();
        let header = HEADER_WIDTH.min(area.width() * 0.35).floor();
        let split = area.left() + header;
        let overview = Rect::from_min_max(
            pos2(split, area.top()),
            pos2(area.right(), area.top() + OVERVIEW_HEIGHT),
        );
        let ruler_rect = Rect::from_min_max(
            pos2(split, overview.bottom()),
            pos2(area.right(), overview.bottom() + RULER_HEIGHT),
        );
        let canvas = Rect::from_min_max(pos2(split, ruler_rect.bottom()), area.right_bottom());
        let headers = Rect::from_min_max(
            pos2(area.left(), ruler_rect.bottom()),
            pos2(split, area.bottom()),
        );
        ui.painter().rect_filled(area, 0, scene.palette.panel);
        let corner = Rect::from_min_max(area.left_top(), pos2(split, ruler_rect.bottom()));
        paint_corner(ui, corner, scene);
        self.overview_ui(ui, overview, scene, &mut actions);
        let scale = Scale::new(scene.state.span, canvas.width());
        paint_ruler(ui, ruler_rect, &scale, scene);
        self.headers_ui(ui, headers, scene, &mut actions);
        self.canvas_ui(ui, canvas, &scale, scene, &mut actions);
        paint_marks(ui, ruler_rect.union(canvas), &scale, scene);
        ui.painter()
            .vline(split, area.y_range(), Stroke::new(1.0, scene.palette.line));
        actions
    }

    fn overview_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        let palette = scene.palette;
        let response = ui.interact(
            rect,
            ui.scope_id().with("overview"),
            Sense::click_and_drag(),
        );
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Overview"));
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0, palette.canvas);
        let bounds = scene.state.bounds();
        let scale = Scale::new(bounds, rect.width());
        let overview = &scene.loaded.index.overview;
        let span = scene.loaded.trace.span;
        let left = rect.left() + scale.x_from_time(span.start);
        let right = rect.left() + scale.x_from_time(span.end);
        paint_density(
            &painter,
            rect,
            left..right,
            &overview.events,
            palette.density,
        );
        paint_use(
            &painter,
            rect,
            left..right,
            &overview.cpu_use,
            palette.cpu_use,
        );
        // The brush: what is seen, with the rest shaded.
        let from = rect.left() + scale.x_from_time(scene.state.span.start);
        let until = (rect.left() + scale.x_from_time(scene.state.span.end)).max(from + 2.0);
        for (a, b) in [(rect.left(), from), (until, rect.right())] {
            if b > a {
                let shaded = Rect::from_min_max(pos2(a, rect.top()), pos2(b, rect.bottom()));
                painter.rect_filled(shaded, 0, palette.shade);
            }
        }
        let brush = Rect::from_min_max(pos2(from, rect.top()), pos2(until, rect.bottom()));
        painter.rect_stroke(
            brush.shrink(0.5),
            0,
            Stroke::new(1.0, palette.accent),
            StrokeKind::Inside,
        );
        for x in [from, until] {
            let grip = Rect::from_center_size(pos2(x, rect.center().y), vec2(5.0, 18.0));
            painter.rect_filled(grip, 2, palette.accent);
        }
        painter.hline(
            rect.x_range(),
            rect.bottom() - 0.5,
            Stroke::new(1.0, palette.line),
        );

        let Some(pointer) = response.interact_pointer_pos().or(response.hover_pos()) else {
            return;
        };
        let part = if (pointer.x - from).abs() <= 6.0 {
            BrushPart::Start
        } else if (pointer.x - until).abs() <= 6.0 {
            BrushPart::End
        } else {
            BrushPart::Whole
        };
        if response.hovered() || response.dragged() {
            let icon = if part == BrushPart::Whole {
                CursorIcon::Grab
            } else {
                CursorIcon::ResizeHorizontal
            };
            ui.ctx().set_cursor_icon(icon);
        }
        let time = scale.time_from_x(pointer.x - rect.left());
        let visible = scene.state.span;
        let centered = |time: Timestamp| {
            let half = Nanos(visible.duration().0 / 2);
            TimeSpan::new(time - half, time - half + visible.duration())
        };
        if response.drag_started() {
            self.drag = Some(Drag::Brush(part));
            if part == BrushPart::Whole && !visible.contains(time) {
                actions.push(Action::Show(centered(time)));
            }
        }
        if let (true, Some(Drag::Brush(part))) = (response.dragged(), self.drag) {
            let target = match part {
                BrushPart::Start => span_between(time.min(visible.end), visible.end),
                BrushPart::End => span_between(visible.start, time.max(visible.start)),
                BrushPart::Whole => {
                    visible.shifted(scale.nanos_from_points(response.drag_delta().x))
                }
            };
            actions.push(Action::Drag(target));
        }
        if response.drag_stopped() {
            self.drag = None;
        }
        if response.clicked() {
            actions.push(Action::Show(centered(time)));
        }
        if response.double_clicked() {
            actions.push(Action::Fit);
        }
    }

    fn headers_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        let palette = scene.palette;
        let state = scene.state;
        let painter = ui.painter_at(rect);
        let seen = state
            .rows
            .between(state.scroll, state.scroll + rect.height());
        for row in &state.rows.all()[seen] {
            let top = rect.top() + (row.top - state.scroll).round();
            let area = Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), row.height));
            let is_group = matches!(row.kind, RowKind::Group | RowKind::Process(_));
            painter.rect_filled(
                area,
                0,
                if is_group {
                    palette.group
                } else {
                    palette.panel
                },
            );
            painter.hline(
                area.x_range(),
                area.bottom() - 0.5,
                Stroke::new(1.0, palette.line),
            );
            let id = ui.scope_id().with(("header", row.key));
            let response = ui.interact(area.intersect(rect), id, Sense::click());
            response
                .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &row.title));
            let is_selected = item_of_row(row).is_some_and(|item| state.selected == Some(item));
            if response.hovered() || is_selected {
                let color = palette
                    .accent
                    .gamma_multiply(if is_selected { 0.30 } else { 0.12 });
                painter.rect_filled(area, 0, color);
            }
            paint_header(&painter, area, row, palette);
            let fold_end = area.left() + 20.0 + 12.0 * f32::from(row.depth);
            if response.clicked() {
                let on_fold = ui
                    .input(|i| i.pointer.interact_pos())
                    .is_some_and(|pos| pos.x < fold_end);
                match item_of_row(row) {
                    Some(item) if !on_fold => actions.push(Action::Select(item)),
                    _ => actions.push(Action::Toggle(row.key)),
                }
            }
            if response.double_clicked() {
                actions.push(Action::Toggle(row.key));
            }
            if response.hovered() {
                let text = if row.note.is_empty() {
                    row.title.clone()
                } else {
                    format!("{}  {}", row.title, row.note)
                };
                response.on_hover_text(text);
            }
        }
        self.wheel_ui(ui, rect, None, scene, actions);
    }

    fn canvas_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        scale: &Scale,
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        let palette = scene.palette;
        let state = scene.state;
        let response = ui.interact(rect, ui.scope_id().with("canvas"), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Timeline"));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_value(format!("{} to {} ns", state.span.start.0, state.span.end.0));
        });
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0, palette.canvas);
        let seen = state
            .rows
            .between(state.scroll, state.scroll + rect.height());
        for (index, row) in seen.clone().zip(&state.rows.all()[seen.clone()]) {
            let area = row_rect(rect, row, state.scroll);
            if matches!(row.kind, RowKind::Group) || (row.lanes.is_empty()) {
                painter.rect_filled(area, 0, palette.group);
            } else if index % 2 == 1 {
                painter.rect_filled(area, 0, palette.canvas_alternate);
            }
        }
        paint_grid(&painter, rect, scale, scene);
        let pointer = response.hover_pos().filter(|_| !response.dragged());
        let mut hit = None;
        let mut mesh = Mesh::default();
        self.labels.clear();
        for row in &state.rows.all()[seen.clone()] {
            for lane in &row.lanes {
                let top = row_rect(rect, row, state.scroll).top() + lane.offset;
                let area = Rect::from_min_size(
                    pos2(rect.left(), top),
                    vec2(rect.width(), lane.kind.height()),
                );
                if area.bottom() < rect.top() || area.top() > rect.bottom() {
                    continue;
                }
                let found = self.lane(&mut mesh, &painter, lane.kind, area, scale, scene, pointer);
                hit = hit.or(found);
            }
        }
        painter.add(Shape::mesh(mesh));
        for row in &state.rows.all()[seen] {
            let area = row_rect(rect, row, state.scroll);
            painter.hline(
                rect.x_range(),
                area.bottom() - 0.5,
                Stroke::new(1.0, palette.line),
            );
            if let RowKind::Cpu(cpu) = row.kind {
                paint_gaps(&painter, area, scale, scene, cpu);
            }
        }
        self.labels_ui(ui, &painter, &response, actions);
        paint_emptiness(&painter, rect, scene);
        self.paint_selection(&painter, rect, scale, scene);
        paint_flows(&painter, rect, scale, scene);
        if let Some(hit) = &hit {
            painter.rect_stroke(
                hit.rect.expand(1.0),
                1,
                Stroke::new(1.0, palette.text),
                StrokeKind::Outside,
            );
            let text = hover_text(scene, hit);
            response.clone().on_hover_text_at_pointer(text);
        }
        self.pointer_ui(ui, &response, rect, scale, hit, actions);
        self.wheel_ui(ui, rect, Some(scale), scene, actions);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "where to draw, what, and what is under the pointer"
    )]
    fn lane(
        &mut self,
        mesh: &mut Mesh,
        painter: &egui::Painter,
        kind: LaneKind,
        area: Rect,
        scale: &Scale,
        scene: &Scene<'_>,
        pointer: Option<Pos2>,
    ) -> Option<Hit> {
        let (trace, index) = (&scene.loaded.trace, &scene.loaded.index);
        let pixels = (area.width() * painter.ctx().pixels_per_point()).ceil() as u32;
        let span = scene.state.span;
        let blocks = &mut self.blocks;
        match kind {
            LaneKind::Runs(cpu) => visible::runs(trace, index, cpu, span, pixels, blocks),
            LaneKind::States(thread) => visible::states(trace, index, thread, span, pixels, blocks),
            LaneKind::Slices(row) => match trace.slices.rows.get(row as usize) {
                Some(row) => visible::slices(trace, index, row, span, pixels, blocks),
                None => blocks.clear(),
            },
            LaneKind::Instants(track) => {
                visible::instants(trace, index, track, span, pixels, blocks)
            }
            LaneKind::Counter(counter) => {
                visible::counter(trace, index, counter, span, pixels, &mut self.steps);
                paint_counter(mesh, painter, area, scale, scene, counter, &self.steps);
                return None;
            }
        }
        let mut hit: Option<(f32, Hit)> = None;
        let in_lane = pointer.filter(|pos| pos.y >= area.top() && pos.y < area.bottom());
        let point = 1.0 / painter.ctx().pixels_per_point();
        let snap = |x: f32| (x / point).round() * point;
        for block in &self.blocks {
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
            let fill = block_color(scene, kind, block);
            mesh.add_colored_rect(rect, fill);
            if let Some(pos) = in_lane {
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
            if rect.width() >= LABEL_FROM_POINTS && area.height() >= 12.0 {
                let visible = rect.intersect(area);
                if visible.width() >= LABEL_FROM_POINTS {
                    let text = block_text(scene.loaded, kind, block);
                    let (color, item) = (Palette::text_on(fill), item_of_block(kind, block));
                    self.labels.push(Label {
                        rect: visible,
                        text,
                        color,
                        item,
                    });
                }
            }
        }
        hit.map(|(_, hit)| hit)
    }

    fn labels_ui(
        &mut self,
        ui: &Ui,
        painter: &egui::Painter,
        canvas: &egui::Response,
        actions: &mut Vec<Action>,
    ) {
        let font = FontId::proportional(11.5);
        let has_nodes = ui.ctx().accesskit_node_builder(canvas.id, |_| ()).is_some();
        for (number, label) in self.labels.iter().enumerate() {
            let room = label.rect.width() - 8.0;
            let text = elided(painter, &label.text, &font, room);
            if !text.is_empty() {
                let clipped = painter.with_clip_rect(label.rect.intersect(painter.clip_rect()));
                clipped.text(
                    label.rect.center(),
                    Align2::CENTER_CENTER,
                    text,
                    font.clone(),
                    label.color,
                );
            }
            if has_nodes && number < MAX_NODES {
                let node = ui.interact(
                    label.rect,
                    canvas.id.with(("block", number)),
                    Sense::click(),
                );
                node.widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::Button, true, &label.text)
                });
                if node.clicked() {
                    actions.push(Action::Select(label.item));
                }
            }
        }
    }

    fn paint_selection(
        &self,
        painter: &egui::Painter,
        rect: Rect,
        scale: &Scale,
        scene: &Scene<'_>,
    ) {
        let palette = scene.palette;
        let x = |time: Timestamp| rect.left() + scale.x_from_time(time);
        if let Some(range) = scene.state.range {
            let (left, right) = (x(range.start), x(range.end));
            let area = Rect::from_min_max(
                pos2(left, rect.top()),
                pos2(right.max(left + 1.0), rect.bottom()),
            );
            painter.rect_filled(area, 0, palette.range);
            for edge in [left, right] {
                painter.vline(edge, rect.y_range(), Stroke::new(1.0, palette.accent));
            }
            let text = ruler::length_text(range.duration(), scene.state.origins.unit);
            let at = pos2(
                area.center()
                    .x
                    .clamp(rect.left() + 40.0, rect.right() - 40.0),
                rect.top() + 12.0,
            );
            tag(painter, at, &text, palette.accent);
        }
        let Some(item) = scene.state.selected else {
            return;
        };
        let trace = &scene.loaded.trace;
        let (Some(span), Some(lane)) = (
            crate::view::locate::span_of(trace, item),
            crate::view::locate::lane_of(trace, item),
        ) else {
            return;
        };
        if let Some((row, lane)) = scene.state.rows.of_lane(lane) {
            let top = row_rect(rect, row, scene.state.scroll).top() + lane.offset;
            let (left, right) = (x(span.start), x(span.end));
            let area = Rect::from_min_max(
                pos2(left, top),
                pos2(right.max(left + 2.0), top + lane.kind.height()),
            );
            if area.intersects(rect) {
                let shown = area.intersect(rect.expand(2.0)).expand(1.5);
                painter.rect_stroke(
                    shown,
                    2,
                    Stroke::new(2.0, palette.accent),
                    StrokeKind::Outside,
                );
            }
        }
    }

    fn pointer_ui(
        &mut self,
        ui: &Ui,
        response: &egui::Response,
        rect: Rect,
        scale: &Scale,
        hit: Option<Hit>,
        actions: &mut Vec<Action>,
    ) {
        let time_at = |pos: Pos2| scale.time_from_x(pos.x - rect.left());
        let hover = response.hover_pos().or(response.interact_pointer_pos());
        actions.push(Action::Hover(hover.map(time_at)));
        let (modifiers, is_middle) = ui.input(|i| (i.modifiers, i.pointer.middle_down()));
        if response.drag_started() {
            let from = ui
                .input(|i| i.pointer.press_origin())
                .map_or(scale.span().start, time_at);
            self.drag = Some(if is_middle || modifiers.shift {
                Drag::Pan
            } else {
                Drag::Range {
                    from,
                    zooms: if modifiers.command {
                        Zooms::Yes
                    } else {
                        Zooms::No
                    },
                }
            });
        }
        match (response.dragged(), self.drag, hover) {
            (true, Some(Drag::Pan), _) => {
                let delta = response.drag_delta();
                actions.push(Action::PanBy(scale.nanos_from_points(-delta.x)));
                actions.push(Action::ScrollBy(-delta.y));
                ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
            }
            (true, Some(Drag::Range { from, .. }), Some(pos)) => {
                actions.push(Action::SelectRange(span_between(from, time_at(pos))));
            }
            _ => {}
        }
        if response.drag_stopped() {
            if let (
                Some(Drag::Range {
                    from,
                    zooms: Zooms::Yes,
                }),
                Some(pos),
            ) = (self.drag, hover)
            {
                actions.push(Action::Deselect);
                actions.push(Action::Show(span_between(from, time_at(pos))));
            }
            self.drag = None;
        }
        if response.clicked() || response.double_clicked() {
            match hit {
                Some(hit) => actions.push(Action::Select(hit.item)),
                None => actions.push(Action::Deselect),
            }
        }
        if response.double_clicked() {
            actions.push(Action::Focus);
        }
    }

    fn wheel_ui(
        &mut self,
        ui: &Ui,
        rect: Rect,
        scale: Option<&Scale>,
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        let is_over = ui
            .input(|i| i.pointer.hover_pos())
            .is_some_and(|pos| rect.contains(pos));
        if !is_over || !ui.ui_contains_pointer() {
            return;
        }
        let (zoom, scroll) = ui.input(|i| (i.zoom_delta(), i.smooth_scroll_delta()));
        if let Some(scale) = scale {
            if zoom != 1.0
                && let Some(around) = scene.state.hover
            {
                actions.push(Action::ZoomBy {
                    factor: 1.0 / f64::from(zoom),
                    around,
                });
            }
            if scroll.x != 0.0 {
                actions.push(Action::PanBy(scale.nanos_from_points(-scroll.x)));
            }
        }
        if scroll.y != 0.0 {
            actions.push(Action::ScrollBy(-scroll.y));
        }
    }
}

fn row_rect(canvas: Rect, row: &Row, scroll: f32) -> Rect {
    let top = canvas.top() + (row.top - scroll).round();
    Rect::from_min_size(pos2(canvas.left(), top), vec2(canvas.width(), row.height))
}

fn item_of_row(row: &Row) -> Option<Item> {
    match row.kind {
        RowKind::Group => None,
        RowKind::Cpu(id) => Some(Item::Cpu(id)),
        RowKind::Process(id) => Some(Item::Process(id)),
        RowKind::Thread(id) => Some(Item::Thread(id)),
        RowKind::Track(id) => Some(Item::Track(id)),
        RowKind::Counter(_) => None,
    }
}

fn item_of_block(kind: LaneKind, block: &Block) -> Item {
    match kind {
        LaneKind::Runs(_) => Item::Run(RunId(block.first)),
        LaneKind::States(_) => Item::State(StateId(block.first)),
        LaneKind::Slices(_) => Item::Slice(SliceId(block.first)),
        LaneKind::Instants(_) | LaneKind::Counter(_) => Item::Instant(InstantId(block.first)),
    }
}

/// The colour of a thread, the same in its rows and on every CPU.
pub fn thread_color(scene: &Scene<'_>, id: ThreadId) -> Color32 {
    let trace = &scene.loaded.trace;
    let thread = trace.thread(id);
    let name = trace.strings.bytes(thread.name);
    scene
        .palette
        .of_hash(hash_name(name) ^ thread.tid.wrapping_mul(0x51_7cc1_b727))
}

fn block_color(scene: &Scene<'_>, kind: LaneKind, block: &Block) -> Color32 {
    let palette = scene.palette;
    let trace = &scene.loaded.trace;
    let full = match kind {
        LaneKind::Runs(_) => thread_color(scene, ThreadId(block.label)),
        LaneKind::States(_) => palette.of_state(
            ThreadState::ALL
                .get(block.label as usize)
                .copied()
                .unwrap_or_default(),
        ),
        LaneKind::Slices(_) => {
            let name = trace
                .slices
                .labels
                .get(block.label as usize)
                .map_or(&[][..], |l| trace.strings.bytes(l.name));
            palette.of_hash(hash_name(name))
        }
        LaneKind::Instants(_) | LaneKind::Counter(_) => palette.instant,
    };
    let is_instant = matches!(kind, LaneKind::Instants(_));
    if block.count == 1 || is_instant {
        return full;
    }
    // What is not covered shows the canvas: a block half empty is half as strong, but never gone.
    let share = block.busy.clamp(0.25, 1.0);
    let mix = |a: u8, b: u8| (f32::from(a) * share + f32::from(b) * (1.0 - share)).round() as u8;
    let behind = palette.canvas.to_array();
    let [r, g, b, _] = full.to_array();
    let mixed = [mix(r, behind[0]), mix(g, behind[1]), mix(b, behind[2])];
    Color32::from(egui::Rgba::from_srgba_unmultiplied(
        mixed[0], mixed[1], mixed[2], 255,
    ))
}

fn block_text(loaded: &Arc<LoadedTrace>, kind: LaneKind, block: &Block) -> String {
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
        LaneKind::Instants(_) | LaneKind::Counter(_) => {
            trace.kind_name(KindId(block.label as u16)).into_owned()
        }
    };
    if block.count > 1 {
        format!("{} × {name}", block.count)
    } else {
        name
    }
}

fn hover_text(scene: &Scene<'_>, hit: &Hit) -> String {
    let trace = &scene.loaded.trace;
    let unit = scene.state.origins.unit;
    let mut text = block_text(scene.loaded, hit.lane, &hit.block);
    let block = &hit.block;
    let length = ruler::length_text(Nanos(block.end - block.start), unit);
    if block.count > 1 {
        text = format!(
            "{} items in {length}, busy {:.0} %\nmostly {}",
            block.count,
            block.busy * 100.0,
            block_text(scene.loaded, hit.lane, &Block { count: 1, ..*block })
        );
    } else if !matches!(hit.lane, LaneKind::Instants(_)) {
        text.push_str(&format!("\n{length}"));
    }
    if let Some(thread) = hit.item.thread(trace)
        && thread != ThreadId::IDLE
        && !matches!(hit.lane, LaneKind::Runs(_))
    {
        text.push_str(&format!(
            "\n{} ({})",
            trace.thread_name(thread),
            trace.thread(thread).tid
        ));
    }
    let at = ruler::full_text(
        Timestamp(block.start),
        scene.state.time_format,
        scene.state.origins,
    );
    text.push_str(&format!("\nat {at}"));
    text
}

/// As much of `text` as fits, with an ellipsis where it was cut; nothing if not even three letters fit.
fn elided(painter: &egui::Painter, text: &str, font: &FontId, room: f32) -> String {
    let width = |text: &str| {
        painter
            .layout_no_wrap(text.to_owned(), font.clone(), Color32::WHITE)
            .size()
            .x
    };
    // Most texts are judged by their length alone.
    if text.len() as f32 * 9.0 <= room || width(text) <= room {
        return text.to_owned();
    }
    let mean = (width(text) / text.chars().count().max(1) as f32).max(1.0);
    let mut count = (room / mean).floor() as usize;
    while count >= 3 {
        let short: String = text.chars().take(count - 1).chain(['…']).collect();
        if width(&short) <= room {
            return short;
        }
        count -= 1;
    }
    String::new()
}

fn tag(painter: &egui::Painter, at: Pos2, text: &str, fill: Color32) {
    let font = FontId::proportional(11.5);
    let color = Palette::text_on(fill);
    let galley = painter.layout_no_wrap(text.to_owned(), font, color);
    let rect = Rect::from_center_size(at, galley.size() + vec2(10.0, 4.0));
    painter.rect_filled(rect, 3, fill);
    painter.galley(rect.min + vec2(5.0, 2.0), galley, color);
}

fn paint_corner(ui: &Ui, rect: Rect, scene: &Scene<'_>) {
    let painter = ui.painter_at(rect);
    let trace = &scene.loaded.trace;
    let font = FontId::proportional(11.5);
    let name = scene
        .loaded
        .path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let room = rect.width() - 20.0;
    let title = elided(&painter, &name, &FontId::proportional(13.0), room);
    let left = rect.left() + 10.0;
    painter.text(
        pos2(left, rect.top() + 12.0),
        Align2::LEFT_CENTER,
        title,
        FontId::proportional(13.0),
        scene.palette.text,
    );
    let length = ruler::length_text(trace.span.duration(), scene.state.origins.unit);
    let facts = format!("{} · {length}", trace.info.format);
    let facts = elided(&painter, &facts, &font, room);
    painter.text(
        pos2(left, rect.top() + 30.0),
        Align2::LEFT_CENTER,
        facts,
        font.clone(),
        scene.palette.weak,
    );
    let counts = format!(
        "{} events · {} tracks",
        ruler::grouped(trace.events.len() as i64),
        ruler::grouped(scene.state.outline.track_count as i64)
    );
    let counts = elided(&painter, &counts, &font, room);
    painter.text(
        pos2(left, rect.top() + 56.0),
        Align2::LEFT_CENTER,
        counts,
        font,
        scene.palette.weak,
    );
    painter.hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        Stroke::new(1.0, scene.palette.line),
    );
}

fn paint_header(painter: &egui::Painter, area: Rect, row: &Row, palette: &Palette) {
    let left = area.left() + 8.0 + 12.0 * f32::from(row.depth);
    let middle = area.top() + row.height.min(24.0) / 2.0;
    let arrow = match row.fold {
        Fold::Open => "⏷",
        Fold::Closed => "⏵",
        Fold::None => "",
    };
    let clip = painter.with_clip_rect(area.intersect(painter.clip_rect()));
    clip.text(
        pos2(left + 4.0, middle),
        Align2::CENTER_CENTER,
        arrow,
        FontId::proportional(11.0),
        palette.weak,
    );
    let is_group = matches!(row.kind, RowKind::Group);
    let font = FontId::proportional(if is_group { 13.0 } else { 12.5 });
    let note_font = FontId::proportional(11.0);
    let note_width = if row.note.is_empty() {
        0.0
    } else {
        clip.layout_no_wrap(row.note.clone(), note_font.clone(), palette.weak)
            .size()
            .x
            + 8.0
    };
    let room = area.right() - left - 14.0 - 8.0;
    let title_room = (room - note_width).max(room * 0.5);
    let title = elided(&clip, &row.title, &font, title_room);
    let drawn = clip.text(
        pos2(left + 14.0, middle),
        Align2::LEFT_CENTER,
        title,
        font,
        palette.text,
    );
    let note = elided(
        &clip,
        &row.note,
        &note_font,
        area.right() - 8.0 - drawn.right() - 8.0,
    );
    clip.text(
        pos2(drawn.right() + 8.0, middle + 0.5),
        Align2::LEFT_CENTER,
        note,
        note_font,
        palette.weak,
    );
}

fn paint_density(
    painter: &egui::Painter,
    rect: Rect,
    x: std::ops::Range<f32>,
    steps: &[u32],
    color: Color32,
) {
    let Some(&most) = steps.iter().max().filter(|&&most| most > 0) else {
        return;
    };
    let pixels = (x.end - x.start).max(1.0).ceil() as usize;
    let mut mesh = Mesh::default();
    for pixel in 0..pixels {
        let from = pixel * steps.len() / pixels;
        let until = ((pixel + 1) * steps.len() / pixels)
            .max(from + 1)
            .min(steps.len());
        let Some(&value) = steps.get(from..until).and_then(|some| some.iter().max()) else {
            continue;
        };
        if value == 0 {
            continue;
        }
        // The square root keeps quiet stretches visible beside bursts.
        let share = (value as f32 / most as f32).sqrt();
        let height = (share * (rect.height() - 4.0)).max(1.0);
        let left = x.start + pixel as f32;
        mesh.add_colored_rect(
            Rect::from_min_max(
                pos2(left, rect.bottom() - height),
                pos2(left + 1.0, rect.bottom()),
            ),
            color,
        );
    }
    painter.add(Shape::mesh(mesh));
}

fn paint_use(
    painter: &egui::Painter,
    rect: Rect,
    x: std::ops::Range<f32>,
    steps: &[f32],
    color: Color32,
) {
    if steps.is_empty() {
        return;
    }
    let pixels = (x.end - x.start).max(2.0).floor() as usize;
    let points: Vec<Pos2> = (0..pixels)
        .map(|pixel| {
            let from = pixel * steps.len() / pixels;
            let until = ((pixel + 1) * steps.len() / pixels)
                .max(from + 1)
                .min(steps.len());
            let part = &steps[from.min(steps.len() - 1)..until];
            let mean = part.iter().sum::<f32>() / part.len().max(1) as f32;
            pos2(
                x.start + pixel as f32,
                rect.bottom() - 2.0 - mean * (rect.height() - 6.0),
            )
        })
        .collect();
    painter.add(Shape::line(points, Stroke::new(1.0, color)));
}

fn ticks(rect: Rect, scale: &Scale, scene: &Scene<'_>) -> (Nanos, Vec<Timestamp>) {
    let step = ruler::step_for(scale.nanos_per_point() * 120.0);
    let zero = ruler::zero_of(scene.state.time_format, scene.state.origins);
    let _ = rect;
    (step, ruler::ticks(scale.span(), zero, step).collect())
}

fn paint_ruler(ui: &Ui, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
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

/// Says why there are no tracks, where there are none.
fn paint_emptiness(painter: &egui::Painter, rect: Rect, scene: &Scene<'_>) {
    if !scene.state.rows.all().is_empty() {
        return;
    }
    let words = if !scene.state.filter.trim().is_empty() {
        format!("No track is called '{}'.", scene.state.filter.trim())
    } else if scene.loaded.is_complete {
        "This trace has events but no tracks: see the Events pane.".to_owned()
    } else {
        "Tracks come when the file is read.".to_owned()
    };
    let font = FontId::proportional(14.0);
    let galley = painter.layout(words, font, scene.palette.weak, rect.width() - 40.0);
    let at = pos2(
        rect.center().x - galley.size().x / 2.0,
        rect.top() + 40.0_f32.min(rect.height() / 3.0),
    );
    painter.galley(at, galley, scene.palette.weak);
}

/// Where the time under the pointer and the markers are written: the ticks there keep silent.
fn taken_by_tags(
    painter: &egui::Painter,
    rect: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
) -> Vec<std::ops::Range<f32>> {
    let mut taken = Vec::new();
    if let Some(hover) = scene.state.hover {
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
    taken
}

/// The middle of the tag that tells the time under the pointer; it stays inside.
fn hover_tag_x(rect: Rect, scale: &Scale, time: Timestamp) -> f32 {
    let most = (rect.right() - 60.0).max(rect.left() + 60.0);
    (rect.left() + scale.x_from_time(time)).clamp(rect.left() + 60.0, most)
}

fn paint_grid(painter: &egui::Painter, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    for tick in ticks(rect, scale, scene).1 {
        let x = (rect.left() + scale.x_from_time(tick)).round() + 0.5;
        painter.vline(x, rect.y_range(), Stroke::new(1.0, scene.palette.grid));
    }
}

fn paint_counter(
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

fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        ruler::grouped(value as i64)
    } else {
        format!("{value:.3}")
    }
}

fn paint_gaps(
    painter: &egui::Painter,
    area: Rect,
    scale: &Scale,
    scene: &Scene<'_>,
    cpu: crate::trace::CpuId,
) {
    let trace = &scene.loaded.trace;
    let number = trace.cpus.get(cpu.0 as usize).map(|cpu| cpu.number);
    for gap in trace.gaps.iter().filter(|gap| gap.cpu == number) {
        let start = gap.start.max(trace.span.start);
        let end = gap.end.min(trace.span.end);
        let left = area.left() + scale.x_from_time(start);
        let right = (area.left() + scale.x_from_time(end)).max(left + 2.0);
        let rect =
            Rect::from_min_max(pos2(left, area.top()), pos2(right, area.bottom())).intersect(area);
        if rect.width() <= 0.0 {
            continue;
        }
        let color = scene.palette.gap;
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
        if rect.width() > 90.0 {
            let text = gap.lost.map_or("events lost".to_owned(), |lost| {
                format!("{} events lost", ruler::grouped(lost as i64))
            });
            tag(&clipped, rect.center(), &text, color);
        }
    }
}

fn paint_marks(ui: &Ui, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    let painter = ui.painter_at(rect);
    let palette = scene.palette;
    let x = |time: Timestamp| rect.left() + scale.x_from_time(time);
    if let Some(hover) = scene.state.hover {
        let at = x(hover);
        painter.vline(
            at,
            rect.y_range(),
            Stroke::new(1.0, palette.weak.gamma_multiply(0.6)),
        );
        let text = ruler::full_text(hover, scene.state.time_format, scene.state.origins);
        let place = pos2(hover_tag_x(rect, scale, hover), rect.top() + 10.0);
        tag(&painter, place, &text, palette.group);
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
}

/// Arrows of the flows that touch the selected slice.
fn paint_flows(painter: &egui::Painter, rect: Rect, scale: &Scale, scene: &Scene<'_>) {
    const MOST: usize = 64;
    let trace = &scene.loaded.trace;
    let Some(Item::Slice(slice)) = scene.state.selected else {
        return;
    };
    let place = |point: &crate::trace::flows::FlowPoint| {
        let lane = crate::view::locate::lane_of(trace, Item::Slice(point.slice?))?;
        let (row, lane) = scene.state.rows.of_lane(lane)?;
        let top = row_rect(rect, row, scene.state.scroll).top() + lane.offset;
        Some(pos2(
            rect.left() + scale.x_from_time(point.time),
            top + lane.kind.height() / 2.0,
        ))
    };
    for id in trace.flows.of_slice(slice).take(MOST) {
        let Some(flow) = trace.flows.rows.get(id.0 as usize) else {
            continue;
        };
        let (Some(from), Some(to)) = (place(&flow.from), place(&flow.to)) else {
            continue;
        };
        let reach = ((to.x - from.x).abs() * 0.4).clamp(24.0, 120.0);
        let stroke = Stroke::new(2.0, scene.palette.flow);
        let points = [from, from + vec2(reach, 0.0), to - vec2(reach, 0.0), to];
        painter.add(egui::epaint::CubicBezierShape::from_points_stroke(
            points,
            false,
            Color32::TRANSPARENT,
            stroke,
        ));
        let head = vec![to, to + vec2(-7.0, -4.0), to + vec2(-7.0, 4.0)];
        painter.add(Shape::convex_polygon(
            head,
            scene.palette.flow,
            Stroke::NONE,
        ));
    }
}
