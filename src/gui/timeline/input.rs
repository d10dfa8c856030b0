//! What the pointer and the wheel ask for on the canvas.

use super::{Drag, Hit, Timeline, Zooms};
use crate::gui::keys::span_between;
use crate::gui::pane::Scene;
use crate::view::{Action, Scale};
use egui::{CursorIcon, Pos2, Rect, Ui};

impl Timeline {
    pub(super) fn pointer_ui(
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

    pub(super) fn wheel_ui(
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
