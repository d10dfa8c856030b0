//! Draws a pane and its tab, and their menus.

use super::pane::{Pane, Scene};
use super::panes::{PANES, row_of};
use super::view_menu::command;
use crate::view::PaneFocus;
use crate::view::dock::{Beside, Docking};
use crate::view::{Action, Dock, PaneKind};
use egui::style::ScrollAnimation;
use egui::{Align2, CursorIcon, Frame, Id, Margin, Response, RichText, Sense, Stroke, Ui};
use egui::{UiBuilder, Visuals, WidgetInfo, WidgetText, vec2};
use egui_tiles::{SimplificationOptions, TabState, TileId, Tiles, UiResponse};

/// Height of a row of tabs, in points.
const TAB_HEIGHT: f32 = 27.0;
/// Space at each side of a tab's title, in points.
const TAB_MARGIN: f32 = 9.0;
/// Size of the cross that closes the front tab, in points.
const CROSS: f32 = 16.0;

/// The panes, for drawing one frame.
pub(super) struct Panes<'a, 's> {
    pub(super) panes: &'a mut [Box<dyn Pane>],
    pub(super) scene: &'a Scene<'s>,
    pub(super) actions: &'a mut Vec<Action>,
    pub(super) shown: &'a mut Vec<PaneKind>,
    /// Whether to scroll to the front tabs.
    pub(super) brings_front: bool,
    /// The pane whose tab gets the focus.
    pub(super) focused: Option<PaneKind>,
}

/// Returns the width in points below which a pane scrolls sideways.
fn least_width(pane: PaneKind, room: egui::Vec2) -> f32 {
    match pane {
        // These panes stack their parts if they are high enough.
        PaneKind::Durations | PaneKind::Latency | PaneKind::Compare if room.y > 320.0 => 320.0,
        PaneKind::Details | PaneKind::Matches | PaneKind::Info => 170.0,
        PaneKind::Events | PaneKind::Marks | PaneKind::Counters | PaneKind::Build => 300.0,
        _ => 480.0,
    }
}

impl Panes<'_, '_> {
    fn close(&mut self, pane: PaneKind) {
        self.actions.push(Action::Dock(Docking::Close(pane)));
    }

    fn tab_menu(&mut self, response: &Response, pane: PaneKind) {
        response.context_menu(|ui| {
            let choices = [
                ("Close", Docking::Close(pane)),
                ("Close the others", Docking::CloseOthers(pane)),
                (
                    "Put at the right of the others",
                    Docking::Split(pane, Beside::Right),
                ),
                ("Put below the others", Docking::Split(pane, Beside::Below)),
            ];
            for (text, what) in choices {
                if ui.button(text).clicked() {
                    self.actions.push(Action::Dock(what));
                }
            }
            ui.separator();
            let state = self.scene.state;
            for about in PANE_COMMANDS {
                command(ui, about, state, self.actions);
            }
        });
    }

    fn cross_ui(&mut self, ui: &Ui, tab: &Response, pane: PaneKind) {
        let place = Align2::RIGHT_CENTER
            .align_size_within_rect(vec2(CROSS, CROSS), tab.rect.shrink2(vec2(4.0, 0.0)));
        let cross = ui
            .interact(place, tab.id.with("close"), Sense::click())
            .on_hover_text(format!("Close {}", pane.title()));
        cross.widget_info(|| {
            WidgetInfo::labeled(egui::Role::Button, true, format!("Close {}", pane.title()))
        });
        let palette = self.scene.palette;
        if cross.hovered() {
            ui.painter().rect_filled(place, 3, palette.line);
        }
        let inner = place.shrink(5.0);
        let color = if cross.hovered() {
            palette.text
        } else {
            palette.weak
        };
        let stroke = Stroke::new(1.2, color);
        let painter = ui.painter();
        painter.line_segment([inner.left_top(), inner.right_bottom()], stroke);
        painter.line_segment([inner.right_top(), inner.left_bottom()], stroke);
        if cross.clicked() || tab.clicked_by(egui::PointerButton::Middle) {
            self.close(pane);
        }
    }
}

/// Returns whether the pointer is pressed in this pane rather than in a window above it.
fn is_pressed(ui: &Ui) -> bool {
    let at = ui.input(|input| {
        let pressed = input.pointer.any_pressed();
        pressed.then(|| input.pointer.interact_pos()).flatten()
    });
    at.is_some_and(|at| {
        ui.max_rect().contains(at) && ui.ctx().layer_id_at(at) == Some(ui.layer_id())
    })
}

/// Commands for all panes together, by their titles in menus.
pub(super) const PANE_COMMANDS: [&str; 4] = [
    "Panes at the bottom",
    "Panes at the right",
    "Arrange the panes as at first",
    "Show or hide the panes",
];

/// A menu of all panes: an open pane comes to the front, a closed one opens in the tabs of `among`.
pub(super) fn pane_menu(ui: &mut Ui, dock: &Dock, among: &[PaneKind], actions: &mut Vec<Action>) {
    let open = dock.panes();
    for row in PANES {
        let is_open = open.contains(&row.kind);
        let button = egui::Button::selectable(is_open, row.kind.title());
        if ui.add(button).on_hover_text(row.about).clicked() {
            let what = Docking::OpenAmong(row.kind, among.to_vec());
            actions.push(Action::Dock(what));
            ui.close();
        }
    }
}

impl egui_tiles::Behavior<PaneKind> for Panes<'_, '_> {
    fn pane_ui(&mut self, ui: &mut Ui, _id: TileId, pane: &mut PaneKind) -> UiResponse {
        let kind = *pane;
        let Some(pane) = self.panes.get_mut(kind as usize) else {
            return UiResponse::None;
        };
        self.shown.push(kind);
        let palette = self.scene.palette;
        if is_pressed(ui) {
            self.actions
                .push(Action::AtPane(Some(kind), PaneFocus::Stays));
        }
        ui.painter().rect_filled(ui.max_rect(), 0, palette.panel);
        Frame::new()
            .inner_margin(Margin::symmetric(8, 5))
            .show(ui, |ui| {
                // An id independent of the pane's position keeps column widths and typed text when the pane moves.
                let inner = UiBuilder::new()
                    .scope_id(Id::unique(("pane", kind.title())))
                    .accessibility_role(egui::accesskit::Role::TabPanel)
                    .accessibility_label(kind.title());
                ui.scope_builder(inner, |ui| {
                    ui.set_min_size(ui.available_size());
                    let least = least_width(kind, ui.available_size());
                    if ui.available_width() >= least {
                        self.actions.extend(pane.ui(ui, self.scene));
                        return;
                    }
                    egui::ScrollArea::horizontal()
                        .id_salt("narrow")
                        .auto_shrink([false, false])
                        .show(ui, |ui| {
                            ui.set_min_width(least);
                            ui.set_max_width(least);
                            self.actions.extend(pane.ui(ui, self.scene));
                        });
                });
            });
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &PaneKind) -> WidgetText {
        pane.title().into()
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<PaneKind>,
        ui: &mut Ui,
        id: Id,
        tile_id: TileId,
        state: &TabState,
    ) -> Response {
        let pane = match tiles.get(tile_id) {
            Some(egui_tiles::Tile::Pane(pane)) => Some(*pane),
            _ => None,
        };
        let palette = self.scene.palette;
        let color = if state.active {
            palette.text
        } else {
            palette.weak
        };
        let text = self.tab_title_for_tile(tiles, tile_id);
        let text = RichText::new(text.text()).size(13.0).color(color);
        let galley = WidgetText::from(text).into_galley(
            ui,
            Some(egui::TextWrapMode::Extend),
            f32::INFINITY,
            egui::TextStyle::Button,
        );
        let cross = if state.active { CROSS - 2.0 } else { 0.0 };
        let size = vec2(galley.size().x + 2.0 * TAB_MARGIN + cross, TAB_HEIGHT);
        let (_, rect) = ui.allocate_space(size);
        let response = ui
            .interact(rect, id, Sense::click_and_drag())
            .on_hover_cursor(CursorIcon::Default);
        response.widget_info(|| {
            WidgetInfo::selected(egui::Role::Button, true, state.active, galley.text())
        });
        if state.active && self.brings_front {
            response.scroll_to_me_animation(None, ScrollAnimation::none());
        }
        if state.active && pane.is_some() && self.focused == pane {
            self.focused = None;
            response.request_focus();
            response.scroll_to_me_animation(None, ScrollAnimation::none());
        }
        if ui.is_rect_visible(rect) && !state.is_being_dragged {
            let painter = ui.painter();
            if state.active {
                painter.rect_filled(rect, 0, palette.panel);
                let line = rect.with_max_y(rect.top() + 2.0);
                painter.rect_filled(line, 0, palette.accent);
            } else if response.hovered() {
                painter.rect_filled(rect, 0, palette.line);
            }
            painter.vline(
                rect.right() - 0.5,
                rect.shrink2(vec2(0.0, 6.0)).y_range(),
                Stroke::new(1.0, palette.line),
            );
            let at = Align2::LEFT_CENTER
                .align_size_within_rect(galley.size(), rect.shrink2(vec2(TAB_MARGIN, 0.0)));
            painter.galley(at.min, galley, color);
            if response.has_focus() {
                let edge = Stroke::new(1.5, palette.accent);
                painter.rect_stroke(rect.shrink(1.0), 2, edge, egui::StrokeKind::Inside);
            }
        }
        let Some(pane) = pane else {
            return response;
        };
        if response.clicked() {
            self.actions
                .push(Action::AtPane(Some(pane), PaneFocus::Stays));
        }
        if state.active {
            self.cross_ui(ui, &response, pane);
        } else if response.clicked_by(egui::PointerButton::Middle) {
            self.close(pane);
        }
        self.tab_menu(&response, pane);
        response.on_hover_text(row_of(pane).about)
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<PaneKind>,
        ui: &mut Ui,
        _tile_id: TileId,
        tabs: &egui_tiles::Tabs,
        _scroll_offset: &mut f32,
    ) {
        let children = tabs.children.iter();
        let among: Vec<PaneKind> = children
            .filter_map(|id| tiles.get_pane(id))
            .copied()
            .collect();
        ui.add_space(4.0);
        let button = egui::Button::new(RichText::new("+").size(16.0)).frame_when_inactive(false);
        let (response, _) = egui::containers::menu::MenuButton::from_button(button).ui(ui, |ui| {
            pane_menu(ui, &self.scene.state.dock, &among, self.actions)
        });
        let titles: Vec<_> = among.iter().map(|pane| pane.title()).collect();
        let names = titles.join(", ");
        response.widget_info(|| {
            WidgetInfo::labeled(
                egui::Role::Button,
                true,
                format!("Open a pane beside {names}"),
            )
        });
        response.on_hover_text("Open a pane here");
    }

    fn tab_bar_height(&self, _style: &egui::Style) -> f32 {
        TAB_HEIGHT
    }

    fn tab_bar_color(&self, _visuals: &Visuals) -> egui::Color32 {
        self.scene.palette.group
    }

    fn tab_bar_hline_stroke(&self, _visuals: &Visuals) -> Stroke {
        Stroke::new(1.0, self.scene.palette.line)
    }

    fn resize_stroke(&self, _style: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        match state {
            egui_tiles::ResizeState::Idle => Stroke::new(1.0, self.scene.palette.line),
            _ => Stroke::new(2.0, self.scene.palette.accent),
        }
    }

    fn min_size(&self) -> f32 {
        90.0
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: true,
            ..SimplificationOptions::default()
        }
    }
}
