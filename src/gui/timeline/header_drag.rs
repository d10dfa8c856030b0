//! Drags on track headers: move a track, put it into a group or take it out, move its lower edge; and selection of
//! several headers.

use super::drag::{Drag, Edge};
use super::draw::Draw;
use super::scratch::Timeline;
use super::sections::{Section, Stack};
use super::text::tag;
use crate::view::layout::HEIGHTS;
use crate::view::rows::{Row, RowKey};
use crate::view::{Action, Arrange, Outline};
use egui::{CursorIcon, Modifiers, Rect, Sense, Stroke, Ui, pos2, vec2};

/// The pointer grabs a header's lower edge at this distance or less, in points.
const GRIP_POINTS: f32 = 3.0;

/// Target of a dragged track.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Goal {
    /// Before a track of the same group, or after all of them.
    Before(Option<RowKey>),
    /// Into a group that the user made, before one of its members or last.
    Into(RowKey, Option<RowKey>),
    /// Out of its group.
    Out,
}

impl Timeline {
    /// Returns the action that updates the selected tracks after a click on this header.
    pub(super) fn choose(
        &mut self,
        row: &Row,
        rows: &[Row],
        modifiers: Modifiers,
        draw: &Draw<'_>,
    ) -> Action {
        let mut chosen = draw.scene.state.area_rows.clone().unwrap_or_default();
        let place = |key: RowKey| rows.iter().position(|row| row.key == key);
        let range = self.chosen_from.and_then(place).zip(place(row.key));
        match range.filter(|_| modifiers.shift) {
            Some((from, until)) => {
                let range = from.min(until)..=from.max(until);
                chosen.extend(rows.get(range).unwrap_or_default().iter().map(|it| it.key));
                let mut seen = Vec::new();
                chosen.retain(|key| {
                    let is_new = !seen.contains(key);
                    seen.push(*key);
                    is_new
                });
            }
            None => {
                // The header clicked before also belongs to the selection.
                let first = self.chosen_from.filter(|_| chosen.is_empty());
                chosen.extend(first.filter(|first| *first != row.key));
                match chosen.iter().position(|key| *key == row.key) {
                    Some(at) => drop(chosen.remove(at)),
                    None => chosen.push(row.key),
                }
                self.chosen_from = Some(row.key);
            }
        }
        Action::SelectRows(chosen)
    }

    /// The lower edge of a header: a drag changes the track's height, a double click resets it.
    pub(super) fn height_ui(
        &mut self,
        ui: &Ui,
        row: &Row,
        area: Rect,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        let is_mine = matches!(self.drag, Some(Drag::Height(edge)) if edge.key == row.key);
        if row.lanes.is_empty() || (area.height() < 12.0 && !is_mine) {
            return;
        }
        let grip = Rect::from_min_max(
            pos2(area.left(), area.bottom() - GRIP_POINTS),
            pos2(area.right(), area.bottom()),
        );
        let id = ui.scope_id().with(("height", row.key));
        let response = ui.interact(grip, id, Sense::click_and_drag());
        response.widget_info(|| {
            let name = format!("Height of {}", row.title);
            egui::WidgetInfo::labeled(egui::Role::Splitter, true, name)
        });
        if response.hovered() || is_mine {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeVertical);
            ui.painter_at(area).hline(
                area.x_range(),
                area.bottom() - 1.0,
                Stroke::new(2.0, draw.scene.palette.accent),
            );
        }
        if response.drag_started() {
            // The percentage of a track is multiplied with that of all tracks.
            let global = f32::from(draw.scene.state.settings.row_percent) / 100.0;
            self.drag = Some(Drag::Height(Edge {
                key: row.key,
                top: area.bottom() - row.height,
                rest: row.height_around_lanes(),
                lanes: row.natural_lanes_height() * global,
            }));
        }
        if response.double_clicked() {
            actions.push(Action::Arrange(Arrange::Height(row.key, 100)));
        }
    }

    /// Continues the current drag, and ends it when the button is released.
    pub(super) fn header_drag_ui(
        &mut self,
        ui: &Ui,
        rect: Rect,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        let (pointer, is_down) = ui.input(|i| (i.pointer.interact_pos(), i.pointer.primary_down()));
        match self.drag {
            Some(Drag::Height(edge)) => {
                if let Some(pos) = pointer {
                    let share = (pos.y - edge.top - edge.rest) / edge.lanes.max(1.0);
                    let held = f32::from(*HEIGHTS.start())..=f32::from(*HEIGHTS.end());
                    let percent = (share * 100.0).clamp(*held.start(), *held.end());
                    let what = Arrange::Height(edge.key, percent.round() as u16);
                    actions.push(Action::Arrange(what));
                }
                if !is_down {
                    self.drag = None;
                }
            }
            Some(Drag::Row(key)) => {
                let body = draw.sections.iter().find(|it| it.stack == Stack::Body);
                let goal = body
                    .zip(pointer)
                    .and_then(|(body, pos)| goal_of(body, draw, key, pos.y));
                if is_down {
                    if let (Some(section), Some(goal)) = (body, goal) {
                        paint_goal(ui, rect, draw, section, key, goal, pointer);
                        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
                    }
                    return;
                }
                self.drag = None;
                actions.extend(goal.map(|goal| {
                    Action::Arrange(match goal {
                        Goal::Before(before) => Arrange::Move { key, before },
                        Goal::Into(into, before) => Arrange::Join { key, into, before },
                        Goal::Out => Arrange::TakeOut(key),
                    })
                }));
            }
            _ => {}
        }
    }
}

/// Returns the keys from the root to a row, itself included.
fn path_to(outline: &Outline, key: RowKey) -> Vec<RowKey> {
    let mut found = Vec::new();
    outline.visit(&mut |path, node| {
        if node.key == key {
            found = path.iter().map(|node| node.key).collect();
        }
    });
    found
}

fn goal_of(section: &Section<'_>, draw: &Draw<'_>, key: RowKey, y: f32) -> Option<Goal> {
    let state = draw.scene.state;
    let row = section.rows.get(section.row_at(y)?)?;
    let path = path_to(&state.outline, row.key);
    let home = state.layout.group_of(key).map(|it| RowKey::Made(it.id));
    if !path.contains(&key) {
        // The innermost user-made group around the row under the pointer.
        let around = path
            .iter()
            .rposition(|key| state.layout.group(*key).is_some());
        if let Some(at) = around {
            let into = path[at];
            let below = path.get(at + 1).copied();
            let is_upper = y < section.row_rect(row).center().y;
            // The upper half of a group's own header means: before the group.
            if below.is_some() || !is_upper {
                let before = match below {
                    Some(member) if is_upper => Some(member),
                    Some(member) => next_of(state.layout.group(into), member),
                    None => None,
                };
                return Some(if Some(into) == home {
                    Goal::Before(before)
                } else {
                    Goal::Into(into, before)
                });
            }
        }
        if home.is_some_and(|home| !path.contains(&home)) {
            return Some(Goal::Out);
        }
    }
    let family = state.outline.family(key)?.nodes;
    let family: Vec<RowKey> = family.iter().map(|node| node.key).collect();
    // An open row with rows below it ends at the end of its last row.
    let target = section
        .rows
        .iter()
        .filter(|row| family.contains(&row.key))
        .find(|row| section.row_rect(row).center().y > y);
    Some(Goal::Before(target.map(|row| row.key)))
}

fn next_of(group: Option<&crate::view::groups::TrackGroup>, member: RowKey) -> Option<RowKey> {
    let members = &group?.members;
    let at = members.iter().position(|it| it.key == Some(member))?;
    members.get(at + 1)?.key
}

/// Draws a line, or a frame with text, at the target of the dragged track.
fn paint_goal(
    ui: &Ui,
    rect: Rect,
    draw: &Draw<'_>,
    section: &Section<'_>,
    key: RowKey,
    goal: Goal,
    pointer: Option<egui::Pos2>,
) {
    let (state, palette) = (draw.scene.state, draw.scene.palette);
    let painter = ui.painter_at(rect);
    let stroke = Stroke::new(2.0, palette.accent);
    let place = |key: RowKey| section.rows.iter().find(|row| row.key == key);
    let at = pointer.unwrap_or(rect.center()) + vec2(12.0, 14.0);
    let say = |words: String| {
        let painter = ui.ctx().layer_painter(egui::LayerId::new(
            egui::Order::Tooltip,
            egui::Id::unique("where the track goes"),
        ));
        tag(&painter, at + vec2(60.0, 0.0), &words, palette.accent);
    };
    match goal {
        Goal::Before(before) => {
            let family = state.outline.family(key).map(|family| family.nodes);
            let keys: Vec<RowKey> = family
                .unwrap_or_default()
                .iter()
                .map(|node| node.key)
                .collect();
            let last = section.rows.iter().rfind(|row| keys.contains(&row.key));
            let y = match before.and_then(place) {
                Some(row) => section.row_rect(row).top(),
                None => last.map_or(rect.bottom(), |row| section.row_rect(row).bottom()),
            };
            let y = y.clamp(section.rect.top() + 1.0, section.rect.bottom() - 1.0);
            painter.hline(rect.x_range(), y, stroke);
        }
        Goal::Into(into, before) => {
            if let Some(row) = place(into) {
                let area = section.row_rect(row);
                let frame = Rect::from_x_y_ranges(rect.x_range(), area.y_range()).shrink(1.0);
                painter.rect_stroke(frame, 2, stroke, egui::StrokeKind::Inside);
            }
            let last = || {
                let last = state.outline.node(into)?.children.last()?.key;
                Some(section.row_rect(place(last)?).bottom())
            };
            let top = before
                .and_then(place)
                .map(|row| section.row_rect(row).top());
            if let Some(y) = top.or_else(last) {
                painter.hline(rect.x_range(), y - 1.0, stroke);
            }
            let name = state.layout.group(into).map_or("", |it| it.name.as_str());
            say(format!("Into '{name}'"));
        }
        Goal::Out => {
            let name = state.layout.group_of(key).map_or("", |it| it.name.as_str());
            say(format!("Out of '{name}'"));
        }
    }
}
