//! The panes beside the timeline: in tabs that are dragged, split, closed and opened again.
//!
//! The arrangement is the view's ([`Dock`]); here it is drawn, and what the pointer changes goes back as an action.

use super::app::App;
use super::dock_tabs::Panes;
use super::pane::{Pane, Scene};
use super::panes::PANES;
use super::theme;
use super::timeline::HEAD_HEIGHT;
use crate::load::LoadedTrace;
use crate::view::action::PaneFocus;
use crate::view::dock::{DockSide, Docking, SHARES, Tile};
use crate::view::{Action, Dock};
use egui::{CursorIcon, Rect, Sense, Stroke, Ui, UiBuilder, pos2};
use egui_tiles::{Container, Linear, LinearDir, TileId, Tiles, Tree};
use std::sync::Arc;

/// How near the pointer must be to the line between timeline and panes.
const GRIP_POINTS: f32 = 3.0;
/// What the timeline keeps for itself, and the panes.
const LEAST_POINTS: f32 = 110.0;
/// The ids of rows, columns and tabs begin here; below are those of the panes.
const CONTAINERS: u64 = 1 << 32;

/// The panes as they are drawn: numbers of rows in `PANES`.
pub(super) struct DockTiles {
    tree: Tree<usize>,
    /// What they were made of.
    made_of: Option<Tile>,
    /// The panes that the last frame showed.
    pub(super) shown: Vec<usize>,
    /// The pane whose tab gets the keyboard in this frame.
    focused: Option<String>,
}

impl Default for DockTiles {
    fn default() -> DockTiles {
        DockTiles {
            tree: Tree::empty(egui::Id::unique("dock")),
            made_of: None,
            shown: Vec::new(),
            focused: None,
        }
    }
}

impl DockTiles {
    /// Whether a pane that is seen waits for its answer.
    pub(super) fn is_waiting(&self, panes: &[Box<dyn Pane>]) -> bool {
        let mut shown = self.shown.iter().filter_map(|at| panes.get(*at));
        shown.any(|pane| pane.is_waiting())
    }

    /// Draws the panes; what the user did comes back as actions.
    fn ui(
        &mut self,
        ui: &mut Ui,
        panes: &mut [Box<dyn Pane>],
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        let wanted = &scene.state.dock.tiles;
        let is_new = self.made_of != *wanted;
        if is_new {
            self.tree = built(wanted.as_ref());
            self.made_of.clone_from(wanted);
        }
        self.shown.clear();
        let mut behavior = Panes {
            panes,
            scene,
            actions,
            shown: &mut self.shown,
            brings_front: is_new,
            focused: self.focused.take(),
        };
        self.tree.ui(&mut behavior, ui);
        let is_held = ui.input(|input| input.pointer.any_down());
        let now = read(&self.tree);
        // A line that is dragged moves at once; what it ends at is told when it is let go.
        if now != self.made_of && !is_held {
            actions.push(Action::Dock(Docking::Tiles(now.clone())));
            self.made_of = now;
        }
    }
}

/// The tree of tiles that `tile` says.
fn built(tile: Option<&Tile>) -> Tree<usize> {
    fn add(tile: &Tile, tiles: &mut Tiles<usize>, next: &mut u64) -> Option<TileId> {
        let id = TileId::from_u64(*next);
        *next += 1;
        let container: Container = match tile {
            Tile::Tabs { panes, front } => {
                let mut active = None;
                let mut children = Vec::new();
                for (at, name) in panes.iter().enumerate() {
                    let Some(index) = PANES.iter().position(|row| row.name == name) else {
                        continue;
                    };
                    let pane = TileId::from_u64(index as u64 + 1);
                    if tiles.get(pane).is_some() {
                        continue;
                    }
                    tiles.insert(pane, egui_tiles::Tile::Pane(index));
                    children.push(pane);
                    if at == *front {
                        active = Some(pane);
                    }
                }
                if children.is_empty() {
                    return None;
                }
                let mut tabs = egui_tiles::Tabs::new(children);
                tabs.active = active.or(tabs.active);
                tabs.into()
            }
            Tile::Row(parts) | Tile::Column(parts) => {
                let dir = match tile {
                    Tile::Column(_) => LinearDir::Vertical,
                    _ => LinearDir::Horizontal,
                };
                let made: Vec<(f32, TileId)> = parts
                    .iter()
                    .filter_map(|(share, part)| Some((*share, add(part, tiles, next)?)))
                    .collect();
                if made.is_empty() {
                    return None;
                }
                let mut linear = Linear::new(dir, made.iter().map(|(_, id)| *id).collect());
                // A tile that is dropped among them gets a share of 1: that is to be an even one.
                let sum: f32 = made.iter().map(|(share, _)| share).sum();
                for (share, id) in &made {
                    let even = share * made.len() as f32 / sum.max(f32::MIN_POSITIVE);
                    linear.shares.set_share(*id, even);
                }
                linear.into()
            }
        };
        tiles.insert(id, egui_tiles::Tile::Container(container));
        Some(id)
    }
    let mut tiles = Tiles::default();
    let mut next = CONTAINERS;
    let id = egui::Id::unique("dock");
    match tile.and_then(|tile| add(tile, &mut tiles, &mut next)) {
        Some(root) => Tree::new(id, root, tiles),
        None => Tree::empty(id),
    }
}

/// The arrangement that the tree of tiles has by now.
fn read(tree: &Tree<usize>) -> Option<Tile> {
    fn names(tiles: &Tiles<usize>, id: TileId, found: &mut Vec<String>) {
        match tiles.get(id) {
            Some(egui_tiles::Tile::Pane(index)) => {
                found.extend(PANES.get(*index).map(|row| row.name.to_owned()));
            }
            Some(egui_tiles::Tile::Container(container)) => {
                for child in container.children() {
                    names(tiles, *child, found);
                }
            }
            None => {}
        }
    }
    fn of(tiles: &Tiles<usize>, id: TileId) -> Option<Tile> {
        let container = match tiles.get(id)? {
            egui_tiles::Tile::Pane(index) => return Some(Tile::tab(PANES.get(*index)?.name)),
            egui_tiles::Tile::Container(container) => container,
        };
        let all = |children: &[TileId], share: &dyn Fn(TileId) -> f32| -> Vec<(f32, Tile)> {
            let part = |id: &TileId| Some((share(*id), of(tiles, *id)?));
            children.iter().filter_map(part).collect()
        };
        Some(match container {
            Container::Tabs(tabs) => {
                // Rows among tabs become tabs: one kind of thing lies in a row of tabs.
                let (mut panes, mut front) = (Vec::new(), 0);
                for child in &tabs.children {
                    if tabs.active == Some(*child) {
                        front = panes.len();
                    }
                    names(tiles, *child, &mut panes);
                }
                Tile::Tabs { panes, front }
            }
            Container::Linear(linear) => {
                let parts = all(&linear.children, &|id| linear.shares[id]);
                match linear.dir {
                    LinearDir::Horizontal => Tile::Row(parts),
                    LinearDir::Vertical => Tile::Column(parts),
                }
            }
            Container::Grid(grid) => {
                let children: Vec<TileId> = grid.children().copied().collect();
                Tile::Row(all(&children, &|_| 1.0))
            }
        })
    }
    of(&tree.tiles, tree.root()?)?.simplified()
}

impl App {
    /// Moves the keyboard to the pane that the last frame's keys went to.
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
        self.tiles.focused.clone_from(&self.state.pane_at_hand);
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
        let (timeline, dock) = shared_out(area, &self.state.dock);
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
            // What is asked whether the pointer is over it must take its room.
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

/// The place of the timeline and that of the panes, if these are shown.
fn shared_out(area: Rect, dock: &Dock) -> (Rect, Option<Rect>) {
    if dock.is_hidden || dock.tiles.is_none() {
        return (area, None);
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
            (above, Some(below))
        }
        DockSide::Right => {
            let x = area.right() - size(area.width());
            let (left, right) = area.split_left_right_at_x(x);
            (left, Some(right))
        }
    }
}

/// The line between timeline and panes: it is dragged, and a double click puts it where it was at first.
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
