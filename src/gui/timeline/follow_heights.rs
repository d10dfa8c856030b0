//! Notices when the view rests, and asks for the heights that fit what is visible then.

use super::listing::legible_rows;
use super::scratch::{SeenAt, Timeline};
use crate::gui::pane::Scene;
use crate::view::{Action, Heights, Scale};
use egui::Ui;

/// Heights follow what is visible once the view has rested for this long, in seconds.
const REST: f64 = 0.25;

impl Timeline {
    /// Asks for other heights once the view rests: heights that change during a gesture would move what it is about.
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
        // A view that starts over knows nothing of what can be read.
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
