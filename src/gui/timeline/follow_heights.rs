//! Requests row heights that fit the visible rows, once the view has not changed for a while.

use super::listing::legible_rows;
use super::scratch::{SeenAt, Timeline};
use crate::gui::pane::Scene;
use crate::view::{Action, Heights, Scale};
use egui::Ui;

/// Time in seconds without a change of the view after which heights are adapted.
const REST: f64 = 0.25;

impl Timeline {
    /// Requests other heights once the view rests: if heights changed during a gesture, its target would move.
    pub(super) fn follow_heights(
        &mut self,
        ui: &Ui,
        scene: &Scene<'_>,
        width: f32,
        actions: &mut Vec<Action>,
    ) {
        let now = ui.input(|input| input.time);
        let seen = SeenAt {
            trace: scene.loaded.id,
            span: scene.state.span,
            width,
        };
        // A view that starts over does not yet know which rows can be read.
        let is_known = scene.state.legible.is_some();
        let is_held = scene.state.settings.heights == Heights::Held;
        if is_held || (is_known && self.heights_for == Some(seen)) {
            return;
        }
        let is_new = !is_known || (self.heights_for).is_none_or(|it| it.trace != seen.trace);
        match self.resting {
            Some((resting, since)) if resting == seen => {
                let is_down = ui.input(|input| input.pointer.any_down());
                if !is_new && (now - since < REST || is_down) {
                    let wait = std::time::Duration::from_secs_f64(REST);
                    ui.ctx().request_repaint_after(wait);
                    return;
                }
            }
            _ if !is_new => {
                self.resting = Some((seen, now));
                let wait = std::time::Duration::from_secs_f64(REST);
                ui.ctx().request_repaint_after(wait);
                return;
            }
            _ => {}
        }
        self.heights_for = Some(seen);
        let scale = Scale::new(seen.span, width);
        let legible = legible_rows(scene, seen.span, scale.nanos_per_point());
        actions.push(Action::FollowHeights(legible));
        ui.ctx().request_repaint();
    }
}
