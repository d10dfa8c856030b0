//! The canvas: every visible lane, its labels, and the overlays.

use std::sync::Arc;

use super::draw::{Draw, Hit};
use super::flows::flows_ui;
use super::gaps::{GapHit, Look, gap_text, paint_gaps, paint_loose};
use super::kept::ColoredBy;
use super::label::MAX_NODES;
use super::lanes::{columns, width_of};
use super::overlays::{paint_highlight, paint_selection};
use super::ruler::paint_grid;
use super::scratch::Timeline;
use super::sections::{Section, Stack};
use super::text::{Fitted, fitted_name};
use super::tooltip::hover_text;
use crate::base::Nanos;
use crate::event::part::ClockUnit;
use crate::gui::keys::key_of;
use crate::gui::shortened::shortened;
use crate::query::Item;
use crate::query::seen::Seen;
use crate::view::Action;
use crate::view::rows::RowKind;
use egui::{
    Align2, FontId, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, pos2, vec2,
};

/// The objects under the pointer.
struct Pointed {
    hit: Option<Hit>,
    gap: Option<GapHit>,
}

/// A rectangle to frame, and its tooltip.
struct FramedText {
    rect: Rect,
    text: String,
}

impl Timeline {
    pub(super) fn canvas_ui(&mut self, ui: &mut Ui, draw: &Draw<'_>, actions: &mut Vec<Action>) {
        let (palette, state, rect) = (draw.scene.palette, draw.scene.state, draw.canvas);
        let response = ui.interact(rect, ui.scope_id().with("canvas"), Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Timeline"));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            let (start, end) = (state.span.start.0, state.span.end.0);
            node.set_value(match state.origins.unit {
                ClockUnit::Nanoseconds => format!("{start} to {end} ns"),
                unit => format!("{start} to {}", unit.length_text(Nanos(end))),
            });
        });
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0, palette.canvas);
        let width = width_of(draw.scale.span(), columns(ui.ctx(), rect.width()));
        self.kept.begin(
            draw.scene.loaded.id,
            draw.scale.span(),
            width,
            ColoredBy::new(draw.scene),
        );
        self.strips.begin(ui.ctx(), rect);
        self.labels.clear();
        self.ranges.clear();
        self.gap_labels.clear();
        self.edge = None;
        self.has_nodes = ui
            .ctx()
            .accesskit_node_builder(response.id, |_| ())
            .is_some();
        let pointer = response.hover_pos().or(response.interact_pointer_pos());
        let (mut hit, mut gap) = (None, None);
        for (number, section) in draw.sections.iter().enumerate() {
            let found = self.section(ui, number, section, draw, pointer);
            hit = hit.or(found.hit);
            gap = gap.or(found.gap);
        }
        let loose = paint_loose(ui, draw, pointer, &mut self.gap_labels);
        if gap.is_some() {
            // A gap is drawn over everything else in its CPU's row.
            hit = None;
        } else if hit.is_none() {
            gap = loose;
        }
        self.strips.end();
        if self.kept.is_near() {
            ui.ctx().request_repaint();
        }
        if response.dragged() {
            (hit, gap) = (None, None);
        }
        self.sources_ui(ui, draw, actions);
        for range in &self.ranges {
            range.paint(&painter, palette);
        }
        let with_labels = self.labels_ui(ui, &painter, &response, draw, actions);
        emptiness_ui(ui, &painter, draw, actions);
        paint_highlight(&painter, draw);
        paint_selection(&painter, draw);
        super::path::paint_path(&painter, draw);
        super::migrations::paint_migrations(&painter, draw);
        let pointer = response.hover_pos();
        let arrow = flows_ui(ui, &painter, draw, pointer, &mut self.arrows);
        let arrow = arrow.filter(|_| !response.dragged());
        if let Some(split) = draw
            .sections
            .iter()
            .find(|section| section.stack == Stack::Pinned)
        {
            painter.hline(
                rect.x_range(),
                split.rect.bottom() - 1.0,
                Stroke::new(2.0, palette.accent.gamma_multiply(0.6)),
            );
        }
        if let Some(id) = arrow {
            let text = super::tooltip::flow_text(draw.scene, id);
            response.clone().on_hover_text_at_pointer(text);
        } else if let Some(framed) = self.pointed_text(draw, hit.as_ref(), gap.as_ref()) {
            let stroke = Stroke::new(1.0, palette.text);
            painter.rect_stroke(framed.rect.expand(1.0), 1, stroke, StrokeKind::Outside);
            response.clone().on_hover_text_at_pointer(framed.text);
        }
        let item = arrow.map(Item::Flow);
        let item = item.or(gap.map(|gap| gap.item()));
        let item = item.or(hit.map(|hit| hit.item));
        self.pointer_ui(ui, &response, draw, item, actions);
        self.menu_ui(&with_labels, draw, actions);
        self.wheel_ui(ui, rect, Some(draw), draw, actions);
    }

    /// Returns the rectangle to frame under the pointer, and its tooltip.
    fn pointed_text(
        &self,
        draw: &Draw<'_>,
        hit: Option<&Hit>,
        gap: Option<&GapHit>,
    ) -> Option<FramedText> {
        let of_gap = gap.map(|gap| FramedText {
            rect: gap.rect,
            text: gap_text(draw.scene, &gap.block),
        });
        let of_hit = |hit: &Hit| FramedText {
            rect: hit.rect,
            text: hover_text(draw.scene, hit, &self.kept.names(hit.lane)),
        };
        of_gap.or_else(|| hit.map(of_hit))
    }

    /// Draws the visible rows of a section; returns the item under the pointer, gaps separately.
    fn section(
        &mut self,
        ui: &Ui,
        number: usize,
        section: &Section<'_>,
        draw: &Draw<'_>,
        pointer: Option<Pos2>,
    ) -> Pointed {
        let palette = draw.scene.palette;
        let painter = ui.painter_at(section.rect);
        let pointer = pointer.filter(|pos| section.rect.contains(*pos));
        let seen = section.seen();
        for (index, row) in seen.clone().zip(&section.rows[seen.clone()]) {
            let area = section.row_rect(row);
            if matches!(row.kind, RowKind::Group | RowKind::Source(_)) || (row.lanes.is_empty()) {
                painter.rect_filled(area, 0, palette.group);
            } else if index % 2 == 1 {
                painter.rect_filled(area, 0, palette.canvas_alternate);
            }
        }
        paint_grid(&painter, section.rect, &draw.scale, draw.scene);
        let (mut hit, mut gap) = (None, None);
        if self.meshes.len() <= number {
            self.meshes.resize_with(number + 1, Arc::default);
        }
        let mut kept = std::mem::take(&mut self.meshes[number]);
        if Arc::get_mut(&mut kept).is_none() {
            // The last frame's mesh is still in use: this frame needs a new one.
            kept = Arc::default();
        }
        let mesh = Arc::make_mut(&mut kept);
        mesh.clear();
        self.strips.begin_section(&painter);
        for row in &section.rows[seen.clone()] {
            let row_top = section.row_rect(row).top();
            for lane in &row.lanes {
                let area = Rect::from_min_size(
                    pos2(section.rect.left(), row_top + lane.offset),
                    vec2(section.rect.width(), lane.height),
                );
                if area.bottom() < section.rect.top() || area.top() > section.rect.bottom() {
                    continue;
                }
                let found = self.lane(mesh, &painter, lane.kind, area, draw, pointer);
                hit = hit.or(found);
            }
        }
        painter.add(Shape::Mesh(kept.clone()));
        self.meshes[number] = kept;
        for row in &section.rows[seen] {
            let area = section.row_rect(row);
            painter.hline(
                area.x_range(),
                area.bottom() - 0.5,
                Stroke::new(1.0, palette.line),
            );
            if let RowKind::Cpu(cpu) = row.kind
                && let Some(list) = draw.scene.loaded.index.gaps.of_cpu(cpu)
            {
                let look = Look::Hatched;
                let found = paint_gaps(
                    &painter,
                    area,
                    draw,
                    list,
                    look,
                    pointer,
                    &mut self.gap_labels,
                );
                gap = gap.or(found);
            }
        }
        Pointed { hit, gap }
    }

    /// Draws labels and makes their accessibility nodes. Returns the canvas response merged with those of the nodes, so
    /// that a right click on a node counts as a right click on the canvas.
    fn labels_ui(
        &mut self,
        ui: &Ui,
        painter: &egui::Painter,
        canvas: &egui::Response,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) -> Response {
        let mut all = canvas.clone();
        let (state, trace) = (draw.scene.state, &draw.scene.loaded.trace);
        let seen = self.has_nodes.then(|| Seen::new(trace));
        for (number, label) in self.labels.iter().enumerate() {
            let font = FontId::proportional(label.size);
            let room = label.rect.width() - 8.0;
            let clip = label.rect.intersect(label.clip);
            let fitted = match label.is_drawn {
                true => fitted_name(painter, &label.text, &font, room),
                false => None,
            };
            if let Some(Fitted { galley, .. }) = fitted {
                let place = Align2::CENTER_CENTER.anchor_size(label.rect.center(), galley.size());
                // Names under the text of a gap would make it illegible.
                if !self.gap_labels.iter().any(|label| label.intersects(place)) {
                    let clipped = painter.with_clip_rect(clip);
                    clipped.galley(place.min, galley, label.color);
                }
            }
            if let Some(seen) = seen.as_ref().filter(|_| number < MAX_NODES) {
                let node = ui.interact(clip, canvas.id.with(("block", number)), Sense::click());
                node.widget_info(|| {
                    let name = label.spoken(state, trace, seen);
                    egui::WidgetInfo::labeled(egui::Role::Button, true, name)
                });
                let is_selected = state.selected == Some(label.item);
                ui.ctx()
                    .accesskit_node_builder(node.id, |node| node.set_selected(is_selected));
                if is_selected {
                    // With focus on the timeline, the selected block is the active one.
                    ui.ctx().accesskit_node_builder(canvas.id, |canvas| {
                        canvas.set_active_descendant(node.id.accesskit_id());
                    });
                }
                if node.clicked() || node.double_clicked() {
                    actions.push(Action::Select(label.item));
                }
                if node.double_clicked() {
                    actions.push(Action::Focus);
                }
                if node.secondary_clicked() {
                    all |= node;
                }
            }
        }
        all
    }
}

/// Draws the message why there are no tracks, if there are none; a filter can be cleared there.
fn emptiness_ui(ui: &mut Ui, painter: &egui::Painter, draw: &Draw<'_>, actions: &mut Vec<Action>) {
    let scene = draw.scene;
    let state = scene.state;
    let body = draw.sections.iter().find(|it| it.stack == Stack::Body);
    // Below the pinned tracks, which are not filtered.
    let rect = body.map_or(draw.canvas, |section| section.rect);
    if !state.rows.all().is_empty() {
        return;
    }
    let is_filtered = state.rows.filtered_count() > 0;
    let words = if is_filtered {
        format!(
            "The filter '{}' hides all tracks.",
            shortened(state.filter.trim())
        )
    } else if state.active.is_some() {
        "Nothing happens here. Move on, or show all tracks again (View > Only active tracks)."
            .to_owned()
    } else if state.rows.hidden_count() > 0 {
        "All tracks are hidden. View > Show hidden tracks brings them back.".to_owned()
    } else if scene.loaded.has_only_probes {
        format!(
            "Definitions of probes, and no trace: see the Probes pane. Open the trace that they made ({}).",
            key_of("Open a file")
        )
    } else if scene.loaded.is_complete && scene.loaded.trace.events.is_empty() {
        "This trace has no events: see the Info pane for what was read of it.".to_owned()
    } else if scene.loaded.is_complete {
        "This trace has events but no tracks: see the Events pane.".to_owned()
    } else {
        "Tracks appear once the file is read.".to_owned()
    };
    let font = FontId::proportional(14.0);
    let galley = painter.layout(words, font, scene.palette.weak, rect.width() - 40.0);
    let at = pos2(
        rect.center().x - galley.size().x / 2.0,
        rect.top() + 40.0_f32.min(rect.height() / 3.0),
    );
    let below = at.y + galley.size().y + 10.0;
    painter.galley(at, galley, scene.palette.weak);
    if is_filtered {
        let size = vec2(120.0, 24.0);
        let place = Rect::from_min_size(pos2(rect.center().x - size.x / 2.0, below), size);
        if ui
            .put(place, egui::Button::new("Clear the filter"))
            .clicked()
        {
            actions.push(Action::Filter(String::new()));
        }
    }
}
