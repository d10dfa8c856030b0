//! The edge between the names of tracks and the lanes: dragged, it makes the names wider or narrower.

use super::{Drag, HEAD_HEIGHT, Timeline};
use crate::gui::pane::Scene;
use crate::view::settings::HEADER_POINTS;
use crate::view::{Action, Settings, ViewState};
use egui::{CursorIcon, Rect, Sense, Stroke, Ui};

/// How near the pointer must be to the edge to take hold of it: over the names, and over the lanes, where the least
/// thing can be clicked.
const GRIP_POINTS: [f32; 2] = [5.0, 1.0];
/// How much of the window the names may take: what nobody chose stands back in a narrow one.
const MOST_AT_FIRST: f32 = 0.35;
const MOST_CHOSEN: f32 = 0.7;
/// What is left of them at least.
const LEAST: f32 = 90.0;

impl Timeline {
    /// How wide the names are in a timeline that is `width` wide.
    pub(super) fn header_width(&self, state: &ViewState, width: f32) -> f32 {
        let chosen = state.settings.header_points;
        let most = match chosen {
            HEADER_POINTS => MOST_AT_FIRST,
            _ => MOST_CHOSEN,
        };
        match self.drag {
            Some(Drag::Width(now)) => now.clamp(LEAST, (width * MOST_CHOSEN).max(LEAST)),
            _ => f32::from(chosen).min(width * most),
        }
        .floor()
    }

    /// Takes hold of the edge at `split`, and lets it go.
    pub(super) fn width_ui(
        &mut self,
        ui: &Ui,
        (area, split): (Rect, f32),
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        let grip = Rect::from_x_y_ranges(
            split - GRIP_POINTS[0]..=split + GRIP_POINTS[1],
            area.top() + HEAD_HEIGHT..=area.bottom(),
        );
        let id = ui.scope_id().with("header width");
        let response = ui.interact(grip, id, Sense::click_and_drag());
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::Splitter, true, "Width of the names of tracks")
        });
        let is_mine = matches!(self.drag, Some(Drag::Width(_)));
        if response.hovered() || is_mine {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
            let stroke = Stroke::new(2.0, scene.palette.accent);
            ui.painter().vline(split, grip.y_range(), stroke);
        }
        let settings = scene.state.settings;
        let mut choose = |header_points: u16| {
            actions.push(Action::Configure(Settings {
                header_points,
                ..settings
            }));
        };
        if response.dragged()
            && let Some(pos) = response.interact_pointer_pos()
        {
            self.drag = Some(Drag::Width(pos.x - area.left()));
        }
        if response.drag_stopped() && is_mine {
            // Chosen once it is let go: choices are written to a file.
            choose(self.header_width(scene.state, area.width()) as u16);
            self.drag = None;
        }
        if response.double_clicked() {
            choose(HEADER_POINTS);
        }
    }
}
