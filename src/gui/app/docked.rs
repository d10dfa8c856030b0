//! The positions of the timeline and of the panes beside it.

use super::App;
use crate::gui::pane::Scene;
use crate::gui::theme;
use crate::gui::timeline::HEAD_HEIGHT;
use crate::load::LoadedTrace;
use crate::view::PaneFocus;
use crate::view::dock::{DockSide, Docking, SHARES};
use crate::view::{Action, Dock};
use egui::{CursorIcon, Rect, Sense, Stroke, Ui, UiBuilder, pos2};
use std::sync::Arc;

/// Width of the grab area at each side of the line between timeline and panes, in points.
const GRIP_POINTS: f32 = 3.0;
/// Least size of the timeline, and of the panes, in points.
const LEAST_POINTS: f32 = 110.0;

impl App {
    /// Moves the keyboard focus to the pane that the last frame's keys chose.
    pub(super) fn focus_pane(&mut self, ctx: &egui::Context) {
        let focused = ctx.memory(|memory| memory.focused());
        let goes = match std::mem::take(&mut self.state.pane_focus) {
            PaneFocus::Stays => false,
            PaneFocus::Follows => focused.is_some() && !ctx.text_edit_focused(),
            PaneFocus::Goes => true,
        };
        if !goes {
            return;
        }
        self.tiles.focused = self.state.pane_at_hand;
        if let (None, Some(id)) = (&self.tiles.focused, focused) {
            ctx.memory_mut(|memory| memory.surrender_focus(id));
        }
    }

    pub(super) fn trace_ui(
        &mut self,
        ui: &mut Ui,
        loaded: &Arc<LoadedTrace>,
        palette: &theme::Palette,
        actions: &mut Vec<Action>,
    ) {
        let area = ui.available_rect_before_wrap();
        let Shares { timeline, dock } = shared_out(area, &self.state.dock);
        let room = timeline.height() - HEAD_HEIGHT;
        self.state.page_height = (room - self.state.pinned_shown(room)).max(40.0);
        self.state.scroll = self.state.scroll.clamp(0.0, self.state.max_scroll());
        let scene = Scene {
            loaded,
            state: &self.state,
            found: self.search.found(),
            palette,
        };
        ui.scope_builder(UiBuilder::new().max_rect(timeline), |ui| {
            ui.set_clip_rect(timeline.intersect(ui.clip_rect()));
            // egui must count this space as used, since it tests whether the pointer is over it.
            ui.expand_to_include_rect(timeline);
            actions.extend(self.timeline.ui(ui, &scene));
        });
        match dock {
            Some(dock) => {
                ui.painter().rect_filled(dock, 0, palette.panel);
                ui.scope_builder(UiBuilder::new().max_rect(dock), |ui| {
                    ui.set_clip_rect(dock.intersect(ui.clip_rect()));
                    self.tiles.ui(ui, &mut self.panes, &scene, actions);
                });
                grip_ui(ui, area, dock, &scene, actions);
            }
            None => self.tiles.shown.clear(),
        }
        ui.advance_cursor_after_rect(area);
    }
}

/// The rectangles of the timeline and, if shown, of the panes.
struct Shares {
    timeline: Rect,
    dock: Option<Rect>,
}

/// Returns the rectangles of the timeline and, if shown, of the panes.
fn shared_out(area: Rect, dock: &Dock) -> Shares {
    if dock.is_hidden || dock.tiles.is_none() {
        return Shares {
            timeline: area,
            dock: None,
        };
    }
    let size = |whole: f32| {
        let most = (whole - LEAST_POINTS).max(whole / 2.0);
        (whole * dock.share())
            .round()
            .clamp(LEAST_POINTS.min(most), most)
    };
    match dock.side {
        DockSide::Bottom => {
            let y = area.bottom() - size(area.height());
            let (above, below) = area.split_top_bottom_at_y(y);
            Shares {
                timeline: above,
                dock: Some(below),
            }
        }
        DockSide::Right => {
            let x = area.right() - size(area.width());
            let (left, right) = area.split_left_right_at_x(x);
            Shares {
                timeline: left,
                dock: Some(right),
            }
        }
    }
}

/// The divider between timeline and panes: a drag moves it, a double click resets it.
fn grip_ui(ui: &Ui, area: Rect, dock: Rect, scene: &Scene<'_>, actions: &mut Vec<Action>) {
    let side = scene.state.dock.side;
    let place = match side {
        DockSide::Bottom => Rect::from_min_max(dock.left_top(), dock.right_top()),
        DockSide::Right => Rect::from_min_max(dock.left_top(), dock.left_bottom()),
    };
    let id = ui.scope_id().with("dock size");
    let grip = ui.interact(place.expand(GRIP_POINTS), id, Sense::click_and_drag());
    grip.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, "Size of the panes"));
    let is_at_hand = grip.hovered() || grip.dragged();
    let stroke = if is_at_hand {
        Stroke::new(2.0, scene.palette.accent)
    } else {
        Stroke::new(1.0, scene.palette.line)
    };
    ui.painter().line_segment([place.min, place.max], stroke);
    if is_at_hand {
        ui.ctx().set_cursor_icon(match side {
            DockSide::Bottom => CursorIcon::ResizeVertical,
            DockSide::Right => CursorIcon::ResizeHorizontal,
        });
    }
    if let (true, Some(at)) = (grip.dragged(), grip.interact_pointer_pos()) {
        let from_end = area.max - pos2(at.x, at.y);
        let share = match side {
            DockSide::Bottom => from_end.y / area.height(),
            DockSide::Right => from_end.x / area.width(),
        };
        let share = share.clamp(*SHARES.start(), *SHARES.end());
        actions.push(Action::Dock(Docking::Share(share)));
    }
    if grip.double_clicked() {
        let first = Dock {
            side,
            ..Dock::default()
        };
        actions.push(Action::Dock(Docking::Share(first.share())));
    }
}
