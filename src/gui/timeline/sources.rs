//! The bar of each of several files on the axis: its duration, and its offset. Dragging a bar shifts the file against
//! the others; the files are joined again when the drag ends.

use super::drag::Moving;
use super::draw::Draw;
use super::scratch::Timeline;
use super::text::elided;
use crate::base::Nanos;
use crate::gui::script;
use crate::trace::SourceId;
use crate::trace::sources::signed;
use crate::view::rows::RowKind;
use crate::view::{Action, Effect};
use egui::{Align2, CursorIcon, FontId, Rect, Sense, Ui, pos2};

/// Height of the bar, in points.
const BAR: f32 = 14.0;

/// Where the bar of a file is drawn.
struct BarArea {
    /// The row's rectangle, which may be partly scrolled out.
    row: Rect,
    /// The visible part of the section.
    clip: Rect,
}

impl Timeline {
    /// Draws the bars of the visible files.
    pub(super) fn sources_ui(&mut self, ui: &Ui, draw: &Draw<'_>, actions: &mut Vec<Action>) {
        for section in draw.sections.iter() {
            for row in &section.rows[section.seen()] {
                if let RowKind::Source(id) = row.kind {
                    let area = section.row_rect(row);
                    let bar_area = BarArea {
                        row: area,
                        clip: section.rect,
                    };
                    self.source_ui(ui, bar_area, draw, id, actions);
                }
            }
        }
    }

    fn source_ui(
        &mut self,
        ui: &Ui,
        BarArea { row, clip }: BarArea,
        draw: &Draw<'_>,
        id: SourceId,
        actions: &mut Vec<Action>,
    ) {
        let (scale, scene) = (&draw.scale, draw.scene);
        let Some(source) = scene.loaded.trace.sources.get(id.0 as usize) else {
            return;
        };
        let moved = match self.moving {
            Some(moving) if moving.source == id => moving.points,
            _ => 0.0,
        };
        let x = |time: crate::base::Timestamp| {
            row.left() + scale.x_from_time(time.saturating_add(source.offset())) + moved
        };
        let (left, right) = (x(source.own_span.start), x(source.own_span.end));
        let whole = Rect::from_min_max(
            pos2(left, row.center().y - BAR / 2.0),
            pos2(right.max(left + 2.0), row.center().y + BAR / 2.0),
        );
        let bar = whole.intersect(row).intersect(clip);
        if bar.width() <= 0.0 {
            return;
        }
        let response = ui.interact(bar, ui.scope_id().with(("source", id.0)), Sense::drag());
        let offset = Nanos(
            source
                .offset()
                .0
                .saturating_add(scale.nanos_from_points(moved).0),
        );
        response.widget_info(|| {
            let text = format!("{}, moved by {offset}", source.name);
            egui::WidgetInfo::labeled(egui::Role::Slider, true, text)
        });
        let painter = ui.painter_at(row.intersect(clip));
        let palette = scene.palette;
        let is_held = response.hovered() || response.dragged();
        let fill = if is_held {
            palette.accent
        } else {
            palette.weak
        };
        painter.rect_filled(bar, 3, fill.gamma_multiply(0.35));
        let words = match offset {
            Nanos(0) => source.evidence.clone(),
            offset => format!("{}: {}", signed(offset), source.evidence),
        };
        // An offset that is being dragged does not come from the evidence.
        let words = if moved == 0.0 { words } else { signed(offset) };
        let font = FontId::proportional(11.0);
        let text = elided(&painter, &words, &font, bar.width() - 12.0);
        let center = bar.center();
        script::text(
            &painter,
            center,
            Align2::CENTER_CENTER,
            &text,
            &font,
            palette.text,
        );
        if response.hovered() {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        if response.dragged() {
            self.moving = Some(Moving {
                source: id,
                points: moved + response.drag_delta().x,
            });
        }
        if response.drag_stopped() {
            self.moving = None;
            if moved != 0.0 {
                actions.push(Action::Do(Effect::Place(id, Some(offset))));
            }
        }
        if !response.dragged() {
            response.on_hover_text(format!(
                "{}\nOffset {}: {}\nDrag to move this file against the others.",
                source.name,
                signed(offset),
                source.evidence
            ));
        }
    }
}
