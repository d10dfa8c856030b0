//! The edge between headers and lanes: a drag changes the width of the headers.

use super::drag::Drag;
use super::scratch::Timeline;
use super::sizes::HEAD_HEIGHT;
use crate::gui::pane::Scene;
use crate::view::settings::HEADER_POINTS;
use crate::view::{Action, Settings, ViewState};
use egui::{CursorIcon, Rect, Sense, Stroke, Ui};

/// The pointer grabs the edge at this distance or less, in points: first on the side of the headers, then on the side
/// of the lanes, where the smallest blocks must stay clickable.
const GRIP_POINTS: [f32; 2] = [5.0, 1.0];
/// Largest share of the window's width for the headers: `MOST_AT_FIRST` for the default width, `MOST_CHOSEN` for a
/// width that the user chose.
const MOST_AT_FIRST: f32 = 0.35;
const MOST_CHOSEN: f32 = 0.7;
/// Least width while dragging, in points.
const LEAST: f32 = 90.0;

impl Timeline {
    /// Returns the width of the headers in a timeline `width` points wide.
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

    /// Handles the edge at x `split` in the timeline's `area`: drag and double click.
    pub(super) fn width_ui(
        &mut self,
        ui: &Ui,
        area: Rect,
        split: f32,
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
            // Stored only on release: settings are written to a file.
            choose(self.header_width(scene.state, area.width()) as u16);
            self.drag = None;
        }
        if response.double_clicked() {
            choose(HEADER_POINTS);
        }
    }
}
