//! The overview: event density and CPU use of the whole trace; the brush is the visible span.

use super::drag::{BrushPart, Drag};
use super::scratch::Timeline;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::gui::keys::span_between;
use crate::gui::pane::Scene;
use crate::view::{Action, Scale};
use egui::{
    Color32, CursorIcon, Mesh, Pos2, Rect, Sense, Shape, Stroke, StrokeKind, Ui, pos2, vec2,
};

impl Timeline {
    pub(super) fn overview_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        shown: TimeSpan,
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
        if let Some(found) = scene.found {
            self.matches
                .paint(&painter, rect, bounds, found, palette.found);
        }
        // The brush: the part outside the visible span is shaded.
        let from = rect.left() + scale.x_from_time(shown.start);
        let until = (rect.left() + scale.x_from_time(shown.end)).max(from + 2.0);
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
        // Painted over the shade, because users search for gaps outside the view here.
        let gap_pointer = response.hover_pos().filter(|_| !response.dragged());
        let gap = super::gaps::paint_overview(&painter, rect, &scale, scene, gap_pointer);

        if let Some(block) = gap {
            let text = super::gaps::gap_text(scene, &block);
            response.clone().on_hover_text_at_pointer(text);
        }
        let Some(pointer) = response.interact_pointer_pos().or(response.hover_pos()) else {
            return;
        };
        let visible = scene.state.span;
        let part_at = |x: f32| {
            if visible == bounds {
                BrushPart::New(scale.time_from_x(x - rect.left()))
            } else if (x - from).abs() <= 6.0 {
                BrushPart::Start
            } else if (x - until).abs() <= 6.0 {
                BrushPart::End
            } else {
                BrushPart::Whole
            }
        };
        let part = match self.drag {
            Some(Drag::Brush(part)) => part,
            _ => part_at(pointer.x),
        };
        if response.hovered() || response.dragged() {
            let icon = match part {
                BrushPart::Whole => CursorIcon::Grab,
                BrushPart::New(_) => CursorIcon::Crosshair,
                BrushPart::Start | BrushPart::End => CursorIcon::ResizeHorizontal,
            };
            ui.ctx().set_cursor_icon(icon);
        }
        let time = scale.time_from_x(pointer.x - rect.left());
        let centered = |time: Timestamp| {
            let half = Nanos(visible.duration().0 / 2);
            TimeSpan::new(time - half, time - half + visible.duration())
        };
        if response.drag_started() {
            // The pointer has moved since: the position of the press decides what is dragged.
            let origin = ui.input(|i| i.pointer.press_origin());
            let part = origin.map_or(part, |origin| part_at(origin.x));
            self.drag = Some(Drag::Brush(part));
            if part == BrushPart::Whole && !visible.contains(time) {
                actions.push(Action::Show(centered(time)));
            }
        }
        if let (true, Some(Drag::Brush(part))) = (response.dragged(), self.drag) {
            let target = match part {
                BrushPart::Start => span_between(time.min(visible.end), visible.end),
                BrushPart::End => span_between(visible.start, time.max(visible.start)),
                BrushPart::New(from) => span_between(from, time),
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
}

pub(super) fn paint_density(
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
        // The square root keeps quiet times visible beside bursts.
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

pub(super) fn paint_use(
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
