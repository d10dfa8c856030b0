//! The track headers at the left: titles, notes, folding; and the corner above them, with the trace's name.

use super::drag::Drag;
use super::draw::Draw;
use super::scratch::Timeline;
use super::sections::{Section, Stack};
use super::text::{elided, fitted, line};
use crate::gui::pane::Scene;
use crate::gui::script;
use crate::gui::theme::{Palette, SELECTED_HEADER};
use crate::view::rows::{Fold, Row, RowKind};
use crate::view::{Action, Arrange, ruler};
use egui::accesskit::{Node, Role};
use egui::{Align2, Color32, FontId, Galley, Pos2, Rect, Sense, Stroke, Ui, UiBuilder, pos2};
use std::sync::Arc;

/// The header of a row.
struct Header<'a> {
    section: &'a Section<'a>,
    /// The row's index in the section.
    index: usize,
    row: &'a Row,
    area: Rect,
    /// The visible part of the section's headers.
    clip: Rect,
}

/// The colours of a header.
#[derive(Clone, Copy)]
struct HeaderColors<'a> {
    palette: &'a Palette,
    /// The colour of the note.
    weak: Color32,
}

impl Timeline {
    pub(super) fn headers_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        // A tree of its own: a screen reader counts "3 of 12" within it.
        let tree = UiBuilder::new()
            .scope_id(ui.scope_id().with("headers"))
            .max_rect(rect)
            .accessibility_role(Role::Tree)
            .accessibility_label("Tracks");
        let ui = &mut ui.new_child(tree);
        ui.ctx().accesskit_node_builder(ui.unique_id(), |node| {
            node.set_size_of_set(draw.scene.state.rows.all().len());
        });
        for section in draw.sections.iter() {
            let place = Rect::from_min_max(
                pos2(rect.left(), section.rect.top()),
                pos2(rect.right(), section.rect.bottom()),
            );
            let seen = section.seen();
            for (at, row) in seen.clone().zip(&section.rows[seen]) {
                let lane = section.row_rect(row);
                let area = Rect::from_min_max(
                    pos2(rect.left(), lane.top()),
                    pos2(rect.right(), lane.bottom()),
                );
                let header = Header {
                    section,
                    index: at,
                    row,
                    area,
                    clip: place,
                };
                self.header_ui(ui, &header, draw, actions);
            }
            if section.stack == Stack::Pinned {
                ui.painter().hline(
                    place.x_range(),
                    place.bottom() - 1.0,
                    Stroke::new(2.0, draw.scene.palette.accent.gamma_multiply(0.6)),
                );
            }
        }
        if ui.input(|input| input.key_pressed(egui::Key::Escape)) {
            self.chosen_from = None;
        }
        self.header_drag_ui(ui, rect, draw, actions);
        self.wheel_ui(ui, rect, None, draw, actions);
    }

    fn header_ui(
        &mut self,
        ui: &mut Ui,
        header: &Header<'_>,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        let &Header {
            section,
            row,
            area,
            clip,
            ..
        } = header;
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
        let is_selected = row.item().is_some_and(|item| state.selected == Some(item))
            || state
                .area_rows
                .as_ref()
                .is_some_and(|rows| rows.contains(&row.key));
        response.widget_info(|| egui::WidgetInfo::labeled(Role::TreeItem, true, &*row.title));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            describe_header(node, header);
            node.set_selected(is_selected);
        });
        if response.contains_pointer() {
            self.pointed_header = Some(row.key);
        }
        if response.hovered() || is_selected {
            let strength = if is_selected { SELECTED_HEADER } else { 0.12 };
            painter.rect_filled(area, 0, palette.accent.gamma_multiply(strength));
        }
        let weak = if is_selected {
            palette.text
        } else {
            palette.weak
        };
        paint_header(&painter, area, row, HeaderColors { palette, weak });
        // A click left of this, on the arrow, folds; right of it, it selects.
        let fold_end = area.left() + 20.0 + 12.0 * f32::from(row.depth);
        let modifiers = ui.input(|input| input.modifiers);
        if response.clicked() && (modifiers.command || modifiers.shift) {
            actions.push(self.choose(row, section.rows, modifiers, draw));
        } else if response.clicked() {
            self.chosen_from = Some(row.key);
            let on_fold = ui
                .input(|i| i.pointer.interact_pos())
                .is_some_and(|pos| pos.x < fold_end);
            match row.item() {
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

/// Sets a header's accessibility properties besides its title.
fn describe_header(node: &mut Node, header: &Header<'_>) {
    let row = header.row;
    if !row.note.is_empty() {
        node.set_description(&*row.note);
    }
    match row.fold {
        Fold::Open => node.set_expanded(true),
        Fold::Closed => node.set_expanded(false),
        Fold::None => {}
    }
    node.set_level(usize::from(row.depth) + 1);
    node.set_position_in_set(header.index);
    node.set_size_of_set(header.section.rows.len());
}

/// Draws the corner above the headers: the trace's name, and the number of visible tracks. Counts of hidden tracks are
/// links that show them.
pub(super) fn corner_ui(ui: &mut Ui, rect: Rect, scene: &Scene<'_>, actions: &mut Vec<Action>) {
    let painter = ui.painter_at(rect);
    let (trace, state, palette) = (&scene.loaded.trace, scene.state, scene.palette);
    let font = FontId::proportional(11.5);
    let name = match scene.loaded.members.len() {
        0 => scene.loaded.file_name(),
        count => format!("{} and {} more", scene.loaded.file_name(), count - 1),
    };
    let room = rect.width() - 20.0;
    let left = rect.left() + 10.0;
    let line = |y: f32, text: &str, font: FontId, color: Color32| {
        let text = elided(&painter, text, &font, room);
        let at = pos2(left, rect.top() + y);
        script::text(&painter, at, Align2::LEFT_CENTER, &text, &font, color)
    };
    line(12.0, &name, FontId::proportional(13.0), palette.text);
    let length = ruler::length_text(trace.span.duration(), state.origins.unit);
    let facts = format!("{} · {length}", trace.info.format);
    line(30.0, &facts, font.clone(), palette.weak);
    let events = ruler::counted(trace.events.len(), "event", "events");
    let tracks = ruler::counted(state.outline.track_count, "track", "tracks");
    let (hidden, inactive) = (state.rows.hidden_count(), state.rows.inactive_count());
    let mut links = Vec::new();
    if hidden > 0 {
        let what = Action::Arrange(Arrange::UnhideAll);
        links.push((format!("{hidden} hidden"), "Show hidden tracks", what));
    }
    if inactive > 0 {
        let what = Action::Arrange(Arrange::ToggleOnlyActive);
        let about = "Show also tracks that are not active in view";
        links.push((format!("{inactive} not active"), about, what));
    }
    let filtered = state.rows.filtered_count();
    if filtered > 0 {
        let what = Action::Filter(String::new());
        let about = "Clear the filter and show all tracks";
        links.push((format!("{filtered} filtered out"), about, what));
    }
    let counts = if links.is_empty() {
        format!("{events} · {tracks}")
    } else {
        let shown = state
            .outline
            .track_count
            .saturating_sub(hidden + inactive + filtered);
        format!("{shown} of {tracks}")
    };
    let mut end = line(56.0, &counts, font.clone(), palette.weak).right();
    for (words, about, what) in links {
        let galley = painter.layout_no_wrap(words.clone(), font.clone(), palette.accent);
        let size = galley.size();
        let at = pos2(end + 10.0, rect.top() + 56.0 - size.y / 2.0);
        let area = Rect::from_min_size(at, size);
        let response = ui.interact(area.expand(3.0), ui.scope_id().with(about), Sense::click());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, &words));
        painter.galley(at, galley, palette.accent);
        let under = if response.hovered() { 1.5 } else { 0.5 };
        painter.hline(
            area.x_range(),
            area.bottom() - 1.0,
            Stroke::new(under, palette.accent),
        );
        if response.on_hover_text(about).clicked() {
            actions.push(what);
        }
        end = area.right();
    }
    painter.hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        Stroke::new(1.0, palette.line),
    );
}

/// Paints title and note of a row.
fn paint_header(
    painter: &egui::Painter,
    area: Rect,
    row: &Row,
    HeaderColors { palette, weak }: HeaderColors<'_>,
) {
    let left = area.left() + 8.0 + 12.0 * f32::from(row.depth);
    // The title of a partly scrolled-out track stays visible.
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
    // In dense rows, letters are smaller.
    let size: f32 = if is_group { 13.0 } else { 12.5 };
    let font = FontId::proportional(size.min(row.height * 0.78));
    let note_font = FontId::proportional(11.0_f32.min(row.height * 0.7));
    let note_width = if row.note.is_empty() {
        0.0
    } else {
        line(&clip, &row.note, &note_font).size().x + 8.0
    };
    let room = area.right() - left - 14.0 - 8.0;
    let title_room = (room - note_width).max(room * 0.5);
    let put = |galley: Arc<Galley>, at: Pos2, color: Color32| {
        let place = Align2::LEFT_CENTER.anchor_size(at, galley.size());
        clip.galley(place.min, galley, color);
        place.right()
    };
    let at = pos2(left + 14.0, middle);
    let title = fitted(&clip, &row.title, &font, title_room);
    let end = title.map_or(at.x, |title| put(title.galley, at, palette.text));
    if !row.note.is_empty() {
        let room = area.right() - 8.0 - end - 8.0;
        if let Some(note) = fitted(&clip, &row.note, &note_font, room) {
            put(note.galley, pos2(end + 8.0, middle + 0.5), weak);
        }
    }
}
