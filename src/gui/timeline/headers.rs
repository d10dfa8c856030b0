//! The track headers at the left: names, notes, folding; and the corner above them, which names the trace.

use super::sections::{Section, Stack};
use super::text::elided;
use super::{Drag, Draw, Timeline};
use crate::gui::pane::Scene;
use crate::gui::theme::Palette;
use crate::query::Item;
use crate::view::rows::{Fold, Row, RowKind};
use crate::view::{Action, ruler};
use egui::{Align2, FontId, Rect, Sense, Stroke, Ui, pos2};

impl Timeline {
    pub(super) fn headers_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        for section in draw.sections.iter() {
            let place = Rect::from_min_max(
                pos2(rect.left(), section.rect.top()),
                pos2(rect.right(), section.rect.bottom()),
            );
            for row in &section.rows[section.seen()] {
                let lane = section.row_rect(row);
                let area = Rect::from_min_max(
                    pos2(rect.left(), lane.top()),
                    pos2(rect.right(), lane.bottom()),
                );
                self.header_ui(ui, row, (area, place), (section, draw), actions);
            }
            if section.stack == Stack::Pinned {
                ui.painter().hline(
                    place.x_range(),
                    place.bottom() - 1.0,
                    Stroke::new(2.0, draw.scene.palette.accent.gamma_multiply(0.6)),
                );
            }
        }
        self.header_drag_ui(ui, rect, draw, actions);
        self.wheel_ui(ui, rect, None, draw, actions);
    }

    fn header_ui(
        &mut self,
        ui: &mut Ui,
        row: &Row,
        (area, clip): (Rect, Rect),
        (section, draw): (&Section<'_>, &Draw<'_>),
        actions: &mut Vec<Action>,
    ) {
        let (palette, state) = (draw.scene.palette, draw.scene.state);
        let painter = ui.painter_at(clip);
        let is_group = matches!(row.kind, RowKind::Group | RowKind::Process(_));
        let fill = if is_group {
            palette.group
        } else {
            palette.panel
        };
        painter.rect_filled(area, 0, fill);
        painter.hline(
            area.x_range(),
            area.bottom() - 0.5,
            Stroke::new(1.0, palette.line),
        );
        let id = ui.scope_id().with(("header", section.stack, row.key));
        let response = ui.interact(area.intersect(clip), id, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &*row.title));
        let is_selected = item_of_row(row).is_some_and(|item| state.selected == Some(item))
            || state
                .area_rows
                .as_ref()
                .is_some_and(|rows| rows.contains(&row.key));
        if response.hovered() || is_selected {
            let strength = if is_selected { 0.30 } else { 0.12 };
            painter.rect_filled(area, 0, palette.accent.gamma_multiply(strength));
        }
        paint_header(&painter, area, row, palette);
        let fold_end = area.left() + 20.0 + 12.0 * f32::from(row.depth);
        let modifiers = ui.input(|input| input.modifiers);
        if response.clicked() && (modifiers.command || modifiers.shift) {
            actions.push(self.choose(row, section.rows, modifiers, draw));
        } else if response.clicked() {
            self.chosen_from = Some(row.key);
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
        if response.drag_started() && section.stack == Stack::Body {
            self.drag = Some(Drag::Row(row.key));
        }
        self.header_menu(&response, row, state, actions);
        if section.stack == Stack::Body {
            self.height_ui(ui, row, area.intersect(clip), draw, actions);
        }
        if state.renaming == Some(row.key) && section.stack == Stack::Body {
            self.rename_ui(ui, row, area.intersect(clip), actions);
        }
        if response.hovered() {
            let text = if row.note.is_empty() {
                row.title.to_string()
            } else {
                format!("{}  {}", row.title, row.note)
            };
            response.on_hover_text(text);
        }
    }
}

pub(super) fn item_of_row(row: &Row) -> Option<Item> {
    match row.kind {
        RowKind::Group | RowKind::Source(_) => None,
        RowKind::Cpu(id) => Some(Item::Cpu(id)),
        RowKind::Process(id) => Some(Item::Process(id)),
        RowKind::Thread(id) => Some(Item::Thread(id)),
        RowKind::Track(id) => Some(Item::Track(id)),
        RowKind::Counter(_) => None,
    }
}

pub(super) fn paint_corner(ui: &Ui, rect: Rect, scene: &Scene<'_>) {
    let painter = ui.painter_at(rect);
    let trace = &scene.loaded.trace;
    let font = FontId::proportional(11.5);
    let name = match scene.loaded.members.len() {
        0 => scene.loaded.file_name(),
        count => format!("{} and {} more", scene.loaded.file_name(), count - 1),
    };
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
        "{} · {}",
        ruler::counted(trace.events.len(), "event", "events"),
        ruler::counted(scene.state.outline.track_count, "track", "tracks")
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

pub(super) fn paint_header(painter: &egui::Painter, area: Rect, row: &Row, palette: &Palette) {
    let left = area.left() + 8.0 + 12.0 * f32::from(row.depth);
    // The name of a track that is scrolled half out stays in sight.
    let height = row.height.min(24.0);
    let top = area
        .top()
        .max(painter.clip_rect().top())
        .min(area.bottom() - height);
    let middle = top + height / 2.0;
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
        clip.layout_no_wrap(row.note.to_string(), note_font.clone(), palette.weak)
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
