//! Pointer and wheel input on the canvas and the ruler.

use super::drag::{Drag, RowInStack, Zooms};
use super::draw::Draw;
use super::scratch::{Spot, Timeline};
use super::sections::{Section, Stack};
use crate::base::{TimeSpan, Timestamp};
use crate::gui::keys::span_between;
use crate::query::Item;
use crate::view::rows::RowKey;
use crate::view::scale::zoomed;
use crate::view::{Action, Flag, Flagging, Marker, PaneKind, Pointed, Snapping, Wheel};
use egui::{CursorIcon, Modifiers, Pos2, Rangef, Rect, Ui};

/// The pointer grabs an edge of the range at this distance or less, in points.
const GRIP_POINTS: f32 = 4.0;
/// In the ruler, the pointer snaps to an edge at this distance or less, in points.
const SNAP_POINTS: f32 = 6.0;

impl Timeline {
    pub(super) fn pointer_ui(
        &mut self,
        ui: &Ui,
        response: &egui::Response,
        draw: &Draw<'_>,
        item: Option<Item>,
        actions: &mut Vec<Action>,
    ) {
        let state = draw.scene.state;
        let hover = response.hover_pos().or(response.interact_pointer_pos());
        let (modifiers, is_middle) = ui.input(|i| (i.modifiers, i.pointer.middle_down()));
        let snaps = (state.settings.snapping == Snapping::On) != modifiers.alt;
        let edge = self.edge.filter(|_| snaps).map(|edge| edge.time);
        if hover.is_some() && ui.input(|i| i.pointer.any_pressed()) {
            self.pressed_edge = edge;
        }
        let at = hover.and_then(|pos| {
            let section = draw.sections.at(pos)?;
            Some((section.stack, section.row_under(pos.y)?))
        });
        let key = at.and_then(|(stack, row)| self.key_of(draw, stack, row));
        actions.push(Action::Point(Pointed {
            time: hover.or(self.ruler_pointer).map(|pos| draw.time_at(pos.x)),
            edge: edge.or(self.ruler_edge.filter(|_| snaps).map(|edge| edge.time)),
            item,
            row: key.or(self.pointed_header.take()),
        }));
        let time = hover.map(|pos| {
            let mark = || near_edge(draw, pos.x, Moved::End).filter(|_| snaps);
            edge.or_else(mark).unwrap_or_else(|| draw.time_at(pos.x))
        });
        let grip = hover.and_then(|pos| range_grip(draw, pos.x));
        if grip.is_some() && self.drag.is_none() {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        let (has_finger, has_fingers) = ui.input(|i| (i.any_touches(), i.multi_touch().is_some()));
        if has_fingers {
            // One finger pans; input of two fingers is handled like the wheel.
            self.drag = None;
        } else if response.drag_started() {
            let origin = ui.input(|i| i.pointer.press_origin());
            let origin_x = origin.map_or(draw.canvas.left(), |pos| pos.x);
            let near = self.pressed_edge.filter(|_| snaps);
            let from = near.unwrap_or_else(|| draw.time_at(origin_x));
            let row = origin.and_then(|pos| {
                let section = draw.sections.at(pos)?;
                Some(RowInStack {
                    stack: section.stack,
                    index: section.row_at(pos.y)?,
                })
            });
            self.drag = Some(match range_grip(draw, origin_x) {
                _ if is_middle || modifiers.shift || has_finger => Drag::Pan,
                Some(from) if !modifiers.command => Drag::Edge { from },
                _ => Drag::Range {
                    from,
                    row,
                    zooms: zooms(modifiers),
                },
            });
        }
        if let (true, Some(drag), Some(time)) = (response.dragged(), self.drag, time) {
            match drag {
                Drag::Pan => {
                    let delta = response.drag_delta();
                    let by = draw.scale.nanos_from_points(-delta.x);
                    actions.push(Action::Drag(state.span.shifted(by)));
                    actions.push(Action::ScrollBy(-delta.y));
                    ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
                }
                Drag::Range { from, row, .. } => {
                    let span = span_between(from, time);
                    if let (Some(RowInStack { stack, .. }), Some(pos)) = (row, hover) {
                        scroll_past_edge(ui, draw, stack, pos.y, actions);
                    }
                    actions.push(match rows_between(draw, row, hover) {
                        Some(rows) => Action::SelectArea(span, rows),
                        None => Action::SelectRange(span),
                    });
                }
                Drag::Edge { from } => {
                    actions.push(move_edge(state.area_rows.clone(), span_between(from, time)));
                }
                _ => {}
            }
        }
        if response.drag_stopped() {
            self.end_drag(time, actions);
        }
        if response.clicked() || response.double_clicked() {
            match item {
                Some(item) => actions.push(Action::Select(item)),
                None => actions.push(Action::DeselectItems),
            }
        }
        if response.double_clicked() {
            actions.push(Action::Focus);
        }
        // While a label's accessibility node is pressed, the canvas is not hovered: the last value stays.
        if let Some(time) = time {
            self.under_pointer = Some(Spot { item, time });
        }
    }

    /// Handles the ruler: a drag selects on all tracks, markers and flags can be moved, a double click shows the whole
    /// trace.
    pub(super) fn ruler_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        let id = ui.scope_id().with("ruler");
        let response = ui.interact(rect, id, egui::Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Ruler"));
        super::ruler::paint_ruler(ui, rect, &draw.scale, draw.scene);
        let modifiers = ui.input(|i| i.modifiers);
        let snaps = (draw.scene.state.settings.snapping == Snapping::On) != modifiers.alt;
        let moved = match self.drag {
            Some(Drag::Mark(marker)) => Moved::Marker(marker),
            Some(Drag::Flag(time)) => Moved::Flag(time),
            _ => Moved::End,
        };
        let pointer = response.interact_pointer_pos().or(response.hover_pos());
        let slice_edge = self.ruler_edge.take().map(|edge| edge.time);
        let snapped = |x: f32, slice_edge: Option<Timestamp>| {
            let is_near = |time: &Timestamp| (draw.x(*time) - x).abs() <= SNAP_POINTS;
            let edge = near_edge(draw, x, moved).or(slice_edge.filter(is_near));
            edge.filter(|_| snaps).unwrap_or_else(|| draw.time_at(x))
        };
        let time = pointer.map(|pos| snapped(pos.x, slice_edge));
        if pointer.is_some() && ui.input(|i| i.pointer.any_pressed()) {
            self.pressed_edge = slice_edge;
        }
        // The lanes, drawn next, set the edge near this position.
        self.ruler_pointer = pointer;
        if response.drag_started() {
            let origin = ui.input(|i| i.pointer.press_origin());
            let x = origin.map_or(rect.left(), |pos| pos.x);
            let flag = flag_at(draw, x);
            self.drag = Some(match (mark_at(draw, x), flag, range_grip(draw, x)) {
                (Some(marker), _, _) => Drag::Mark(marker),
                (None, Some(time), _) => Drag::Flag(time),
                (None, None, Some(from)) => Drag::Edge { from },
                _ if modifiers.shift => Drag::Pan,
                _ => Drag::Range {
                    from: snapped(x, self.pressed_edge),
                    row: None,
                    zooms: zooms(modifiers),
                },
            });
        }
        if let (true, Some(drag), Some(time)) = (response.dragged(), self.drag, time) {
            match drag {
                Drag::Mark(marker) => actions.push(Action::Mark(marker, time)),
                Drag::Flag(from) => {
                    let is_free = draw.scene.state.flags.iter().all(|it| it.time != time);
                    if is_free {
                        actions.push(Action::Flag(Flagging::Move(from, time)));
                        self.drag = Some(Drag::Flag(time));
                    }
                }
                Drag::Range { from, .. } => {
                    actions.push(Action::SelectRange(span_between(from, time)));
                }
                Drag::Edge { from } => {
                    let rows = draw.scene.state.area_rows.clone();
                    actions.push(move_edge(rows, span_between(from, time)));
                }
                Drag::Pan => {
                    let by = draw.scale.nanos_from_points(-response.drag_delta().x);
                    actions.push(Action::Drag(draw.scene.state.span.shifted(by)));
                }
                _ => {}
            }
        }
        if response.drag_stopped() {
            self.end_drag(time, actions);
        }
        if let (true, Some(pos)) = (response.clicked(), response.interact_pointer_pos())
            && flag_at(draw, pos.x).is_some()
        {
            actions.push(Action::OpenPane(PaneKind::Marks));
        }
        if response.double_clicked() {
            actions.push(Action::Fit);
        }
        self.wheel_ui(ui, rect, Some(draw), draw, actions);
    }

    fn end_drag(&mut self, time: Option<Timestamp>, actions: &mut Vec<Action>) {
        if let Some(Drag::Range {
            from,
            zooms: Zooms::Yes,
            ..
        }) = self.drag
            && let Some(time) = time
        {
            actions.push(Action::DeselectItems);
            actions.push(Action::Show(span_between(from, time)));
        }
        self.drag = None;
    }

    fn key_of(&self, draw: &Draw<'_>, stack: Stack, row: usize) -> Option<RowKey> {
        let section = section_of(draw, stack)?;
        section.rows.get(row).map(|row| row.key)
    }

    /// Handles the wheel over `rect`: it scrolls, pans and zooms on the canvas, but only scrolls beside it.
    pub(super) fn wheel_ui(
        &mut self,
        ui: &Ui,
        rect: Rect,
        canvas: Option<&Draw<'_>>,
        draw: &Draw<'_>,
        actions: &mut Vec<Action>,
    ) {
        let touch = ui.input(|i| i.multi_touch());
        let fingers = touch.map(|touch| touch.center_pos);
        let Some(pos) = fingers
            .or_else(|| ui.input(|i| i.pointer.hover_pos()))
            .filter(|pos| rect.contains(*pos) && ui.ui_contains_pointer())
        else {
            return;
        };
        let state = draw.scene.state;
        let (mut zoom, mut scroll) = ui.input(|i| (i.zoom_delta(), i.smooth_scroll_delta()));
        if let Some(touch) = touch {
            // The content follows the two fingers.
            (zoom, scroll) = (touch.zoom_delta, touch.translation_delta);
        } else if canvas.is_some() && state.settings.wheel == Wheel::Zooms {
            // Wheel and Ctrl+wheel swap their meaning; a pinch still zooms.
            (zoom, scroll.y) = if scroll.y != 0.0 {
                ((scroll.y / 200.0).exp(), 0.0)
            } else if ui.input(|i| i.modifiers.command) {
                (1.0, zoom.ln() * 200.0)
            } else {
                (zoom, 0.0)
            };
        }
        if let Some(draw) = canvas {
            let mut span = draw.scale.span();
            if zoom != 1.0 {
                let around = draw.time_at(pos.x);
                span = zoomed(span, 1.0 / f64::from(zoom), around);
            }
            if scroll.x != 0.0 {
                span = span.shifted(draw.scale.nanos_from_points(-scroll.x));
            }
            if span != draw.scale.span() {
                actions.push(Action::Drag(span));
            }
        }
        if scroll.y != 0.0 {
            let is_pinned = draw
                .sections
                .at(pos)
                .is_some_and(|section| section.stack == Stack::Pinned);
            actions.push(if is_pinned {
                Action::ScrollPinned(-scroll.y)
            } else {
                Action::ScrollBy(-scroll.y)
            });
        }
    }
}

fn zooms(modifiers: Modifiers) -> Zooms {
    if modifiers.command {
        Zooms::Yes
    } else {
        Zooms::No
    }
}

fn move_edge(rows: Option<Vec<RowKey>>, span: TimeSpan) -> Action {
    match rows {
        Some(rows) => Action::SelectArea(span, rows),
        None => Action::SelectRange(span),
    }
}

fn section_of<'a>(draw: &'a Draw<'_>, stack: Stack) -> Option<&'a Section<'a>> {
    draw.sections.iter().find(|section| section.stack == stack)
}

/// Returns the rows from the start of a drag, if it began on a row, to the pointer; beyond the edge of the stack, to
/// the last visible row on that side.
fn rows_between(
    draw: &Draw<'_>,
    from: Option<RowInStack>,
    pos: Option<Pos2>,
) -> Option<Vec<RowKey>> {
    let RowInStack { stack, index: from } = from?;
    let section = section_of(draw, stack)?;
    let last = section.rows.len().checked_sub(1)?;
    let (top, bottom) = (section.rect.top(), section.rect.bottom() - 1.0);
    let until = section.row_at(pos?.y.clamp(top, bottom.max(top)))?;
    let (first, last) = (from.min(until), from.max(until).min(last));
    Some(
        section
            .rows
            .get(first..=last)?
            .iter()
            .map(|row| row.key)
            .collect(),
    )
}

/// Scroll speed for a drag beyond the edge: points per second, for each point beyond.
const SCROLL_RATE: f32 = 12.0;
/// Bounds of that speed, in points per second.
const SCROLL_SPEED: std::ops::RangeInclusive<f32> = 60.0..=1_500.0;

/// Scrolls the stack in which a drag began, while the pointer is beyond its upper or lower edge.
fn scroll_past_edge(ui: &Ui, draw: &Draw<'_>, stack: Stack, y: f32, actions: &mut Vec<Action>) {
    let Some(section) = section_of(draw, stack) else {
        return;
    };
    let beyond = (y - section.rect.top()).min(0.0) + (y - section.rect.bottom()).max(0.0);
    if beyond == 0.0 {
        return;
    }
    let speed = (beyond.abs() * SCROLL_RATE).clamp(*SCROLL_SPEED.start(), *SCROLL_SPEED.end());
    let time = ui.input(|input| input.stable_dt).min(0.1);
    let by = speed * time * beyond.signum();
    actions.push(match stack {
        Stack::Pinned => Action::ScrollPinned(by),
        Stack::Body => Action::ScrollBy(by),
    });
    ui.ctx().request_repaint();
}

/// Returns the far edge of the selected range, if the near one is at `x`.
fn range_grip(draw: &Draw<'_>, x: f32) -> Option<Timestamp> {
    let range = draw.scene.state.range?;
    let Rangef {
        min: left,
        max: right,
    } = draw.x_range(range);
    if (right - x).abs() <= GRIP_POINTS {
        Some(range.start)
    } else if (left - x).abs() <= GRIP_POINTS {
        Some(range.end)
    } else {
        None
    }
}

/// The object that a drag moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// An end of a range.
    End,
    Marker(Marker),
    /// The flag at this time is moved.
    Flag(Timestamp),
}

/// Returns the time that a drag snaps to, besides slice edges: ends of the selection, the other marker, flags, and the
/// ends of the trace.
fn near_edge(draw: &Draw<'_>, x: f32, moved: Moved) -> Option<Timestamp> {
    let state = draw.scene.state;
    let ends = |span: TimeSpan| [span.start, span.end];
    let marks = [(Marker::A, 0), (Marker::B, 1)]
        .into_iter()
        .filter(|(marker, _)| moved != Moved::Marker(*marker))
        .filter_map(|(_, index)| state.marks[index]);
    let selected = state.selected_time.map(ends).into_iter().flatten();
    // A drag in the ruler changes the range itself, so it cannot snap to it.
    let range = state.range.filter(|_| moved != Moved::End).map(ends);
    let flags = state.flags.iter().map(|flag| flag.time);
    let flags = flags.filter(|time| moved != Moved::Flag(*time));
    marks
        .chain(selected)
        .chain(range.into_iter().flatten())
        .chain(flags)
        .chain(ends(state.trace_span))
        .map(|time| ((draw.x(time) - x).abs(), time))
        .filter(|(distance, _)| *distance <= SNAP_POINTS)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, time)| time)
}

/// Returns the time of the flag whose cloth is at `x` in the ruler.
fn flag_at(draw: &Draw<'_>, x: f32) -> Option<Timestamp> {
    let is_at = |flag: &&Flag| (-2.0..=12.0).contains(&(x - draw.x(flag.time)));
    draw.scene.state.flags.iter().rfind(is_at).map(|it| it.time)
}

/// Returns the marker whose tag is at `x` in the ruler.
fn mark_at(draw: &Draw<'_>, x: f32) -> Option<Marker> {
    let at = |index: usize| {
        draw.scene.state.marks[index].is_some_and(|time| (draw.x(time) - x).abs() <= 9.0)
    };
    [(Marker::B, 1), (Marker::A, 0)]
        .into_iter()
        .find(|(_, index)| at(*index))
        .map(|(marker, _)| marker)
}
