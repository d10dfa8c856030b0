//! The panes beside the timeline: tabs that can be dragged, split, closed and reopened.
//!
//! The arrangement belongs to the view ([`Dock`](crate::view::Dock)); this module draws it and returns the pointer's changes as actions.

use super::dock_tabs::Panes;
use super::pane::{Pane, Scene};
use crate::view::dock::{Docking, Tile};
use crate::view::{Action, PaneKind};
use egui::Ui;
use egui_tiles::{Container, Linear, LinearDir, TileId, Tiles, Tree};

/// Ids of rows, columns and tabs start here; smaller ids are those of panes.
const CONTAINERS: u64 = 1 << 32;

/// The panes as they are drawn.
pub(super) struct DockTiles {
    tree: Tree<PaneKind>,
    /// The arrangement that the tree was built from.
    made_of: Option<Tile>,
    /// Panes that the last frame drew.
    pub(super) shown: Vec<PaneKind>,
    /// The pane whose tab gets the focus in this frame.
    pub(super) focused: Option<PaneKind>,
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
    /// Returns whether a visible pane waits for a result.
    pub(super) fn is_waiting(&self, panes: &[Box<dyn Pane>]) -> bool {
        let mut shown = self
            .shown
            .iter()
            .filter_map(|pane| panes.get(*pane as usize));
        shown.any(|pane| pane.is_waiting())
    }

    /// Draws the panes; appends the user's actions.
    pub(super) fn ui(
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
        // A dragged divider moves at once; the new arrangement is reported when it is released.
        if now != self.made_of && !is_held {
            actions.push(Action::Dock(Docking::Tiles(now.clone())));
            self.made_of = now;
        }
    }
}

/// Builds the tree of tiles from an arrangement.
fn built(tile: Option<&Tile>) -> Tree<PaneKind> {
    fn add(tile: &Tile, tiles: &mut Tiles<PaneKind>, next: &mut u64) -> Option<TileId> {
        let id = TileId::from_u64(*next);
        *next += 1;
        let container: Container = match tile {
            Tile::Tabs { panes, front } => {
                let mut active = None;
                let mut children = Vec::new();
                for (at, pane) in panes.iter().enumerate() {
                    let id = TileId::from_u64(*pane as u64 + 1);
                    if tiles.get(id).is_some() {
                        continue;
                    }
                    tiles.insert(id, egui_tiles::Tile::Pane(*pane));
                    children.push(id);
                    if at == *front {
                        active = Some(id);
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
                // A tile dropped among these gets share 1, which is an even share only if the shares average 1.
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

/// Returns the current arrangement of the tree of tiles.
fn read(tree: &Tree<PaneKind>) -> Option<Tile> {
    fn panes_in(tiles: &Tiles<PaneKind>, id: TileId, found: &mut Vec<PaneKind>) {
        match tiles.get(id) {
            Some(egui_tiles::Tile::Pane(pane)) => found.push(*pane),
            Some(egui_tiles::Tile::Container(container)) => {
                for child in container.children() {
                    panes_in(tiles, *child, found);
                }
            }
            None => {}
        }
    }
    fn of(tiles: &Tiles<PaneKind>, id: TileId) -> Option<Tile> {
        let container = match tiles.get(id)? {
            egui_tiles::Tile::Pane(pane) => return Some(Tile::tab(*pane)),
            egui_tiles::Tile::Container(container) => container,
        };
        let all = |children: &[TileId], share: &dyn Fn(TileId) -> f32| -> Vec<(f32, Tile)> {
            let part = |id: &TileId| Some((share(*id), of(tiles, *id)?));
            children.iter().filter_map(part).collect()
        };
        Some(match container {
            Container::Tabs(tabs) => {
                // A row inside tabs is flattened: tabs contain panes only.
                let (mut panes, mut front) = (Vec::new(), 0);
                for child in &tabs.children {
                    if tabs.active == Some(*child) {
                        front = panes.len();
                    }
                    panes_in(tiles, *child, &mut panes);
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
