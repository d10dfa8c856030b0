//! The canvas: every lane that is seen, its labels, and what lies over them.

use super::flows::paint_flows;
use super::overlays::paint_gaps;
use super::ruler::paint_grid;
use super::text::elided;
use super::tooltip::hover_text;
use super::{MAX_NODES, Timeline, row_rect};
use crate::gui::pane::Scene;
use crate::view::rows::RowKind;
use crate::view::{Action, Scale};
use egui::{Align2, FontId, Mesh, Rect, Sense, Shape, Stroke, StrokeKind, Ui, pos2, vec2};

impl Timeline {
    pub(super) fn canvas_ui(
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

    pub(super) fn labels_ui(
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
}

/// Says why there are no tracks, where there are none.
pub(super) fn paint_emptiness(painter: &egui::Painter, rect: Rect, scene: &Scene<'_>) {
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
