//! The arrangement of the panes: in tabs, side by side or stacked; below or right of the timeline. Plain values, saved
//! with sessions, layouts and settings.
//!
//! Files store pane titles; titles of panes that no longer exist are skipped on reading.

use super::direction::Direction;
use super::pane_kind::PaneKind;
use serde::{Deserialize, Serialize};

/// Side of the timeline at which the panes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DockSide {
    /// Below the timeline.
    #[default]
    Bottom,
    /// Right of the timeline.
    Right,
}

/// A set of tabs, or a row or column of tiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "KeptTile")]
pub enum Tile {
    /// Tabs with one visible pane.
    Tabs {
        /// Panes in tab order.
        panes: Vec<PaneKind>,
        /// Index of the visible pane.
        front: usize,
    },
    /// Tiles from left to right, each with its share of the width.
    Row(Vec<(f32, Tile)>),
    /// Tiles from top to bottom, each with its share of the height.
    Column(Vec<(f32, Tile)>),
}

/// A tile as a file stores it: with pane titles, some of which this version may not have.
#[derive(Deserialize)]
enum KeptTile {
    Tabs { panes: Vec<String>, front: usize },
    Row(Vec<(f32, Tile)>),
    Column(Vec<(f32, Tile)>),
}

impl From<KeptTile> for Tile {
    fn from(kept: KeptTile) -> Tile {
        match kept {
            KeptTile::Tabs { panes, front } => {
                let known = |title: &String| PaneKind::of_title(title);
                let before = panes.iter().take(front).filter_map(known).count();
                Tile::Tabs {
                    panes: panes.iter().filter_map(known).collect(),
                    front: before,
                }
            }
            KeptTile::Row(parts) => Tile::Row(parts),
            KeptTile::Column(parts) => Tile::Column(parts),
        }
    }
}

/// The side of its tabs at which a pane is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beside {
    /// Right of the tabs.
    Right,
    /// Below the tabs.
    Below,
}

/// Whether the keyboard focus moves to a pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaneFocus {
    /// The focus stays where it is.
    #[default]
    Stays,
    /// The focus moves to the pane's tab if a button has it now.
    Follows,
    /// The focus moves to the pane's tab.
    Goes,
}

/// A change to the panes.
#[derive(Clone, Debug, PartialEq)]
pub enum Docking {
    /// Bring a pane to the front, opening it if it is closed.
    Open(PaneKind),
    /// Open a pane in the tabs that contain most of these panes.
    OpenAmong(PaneKind, Vec<PaneKind>),
    /// Close a pane.
    Close(PaneKind),
    /// Close all panes but this one.
    CloseOthers(PaneKind),
    /// Put a pane beside the tabs that contain it.
    Split(PaneKind, Beside),
    /// Bring the tab after or before this pane's tab to the front.
    Turn(PaneKind, Direction),
    /// Move a pane's tab by one place; past the first or last place, into the neighbouring tabs.
    Shift(PaneKind, Direction),
    /// Show these panes side by side, and no others.
    ShowOnly(Vec<PaneKind>),
    /// Replace the arrangement of the panes; `None`: close all.
    Tiles(Option<Tile>),
    /// Put all panes at this side of the timeline.
    Side(DockSide),
    /// Give the panes this share of the window's height (at the bottom) or width (at the right).
    Share(f32),
    /// Show or hide all panes.
    Toggle,
    /// Restore the initial arrangement.
    Reset,
}

/// The arrangement of the panes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dock {
    /// Side of the timeline at which the panes are.
    pub side: DockSide,
    /// Whether the panes are hidden for now.
    pub is_hidden: bool,
    /// Whether they are hidden only until something is selected.
    pub is_waiting: bool,
    /// Share of the window's height when at the bottom.
    pub height_share: f32,
    /// Share of the window's width when at the right.
    pub width_share: f32,
    /// The open panes; `None`: all are closed.
    pub tiles: Option<Tile>,
}

/// Legal range of the panes' share of the window.
pub(crate) const SHARES: std::ops::RangeInclusive<f32> = 0.08..=0.92;

/// The panes that are open initially, besides Details.
const FIRST: [PaneKind; 8] = [
    PaneKind::Events,
    PaneKind::Selection,
    PaneKind::Durations,
    PaneKind::Latency,
    PaneKind::FlameGraph,
    PaneKind::Counters,
    PaneKind::ProcessTree,
    PaneKind::Info,
];

impl Default for Dock {
    fn default() -> Dock {
        Dock {
            side: DockSide::default(),
            is_hidden: false,
            is_waiting: false,
            height_share: 0.36,
            width_share: 0.36,
            tiles: Some(Tile::Row(vec![
                (0.3, Tile::tab(PaneKind::Details)),
                (
                    0.7,
                    Tile::Tabs {
                        panes: FIRST.to_vec(),
                        front: 0,
                    },
                ),
            ])),
        }
    }
}

/// A set of tabs: several panes, one of which is visible.
struct Tabs<'a> {
    panes: &'a [PaneKind],
    /// The index of the visible one.
    front: usize,
}

impl Tabs<'_> {
    fn front(&self) -> Option<PaneKind> {
        self.panes.get(self.front).copied()
    }
}

/// A set of tabs that can be changed.
struct TabsMut<'a> {
    panes: &'a mut Vec<PaneKind>,
    front: &'a mut usize,
}

impl Tile {
    /// A tile with this one pane.
    #[must_use]
    pub fn tab(pane: PaneKind) -> Tile {
        Tile::Tabs {
            panes: vec![pane],
            front: 0,
        }
    }

    /// Collects the tab sets inside the tile, from left to right and from top to bottom.
    fn all_tabs<'a>(&'a mut self, found: &mut Vec<TabsMut<'a>>) {
        match self {
            Tile::Tabs { panes, front } => found.push(TabsMut { panes, front }),
            Tile::Row(parts) | Tile::Column(parts) => {
                for (_, part) in parts {
                    part.all_tabs(found);
                }
            }
        }
    }

    /// Collects the panes inside the tile.
    fn panes(&self, found: &mut Vec<PaneKind>) {
        match self {
            Tile::Tabs { panes, .. } => found.extend(panes),
            Tile::Row(parts) | Tile::Column(parts) => {
                for (_, part) in parts {
                    part.panes(found);
                }
            }
        }
    }

    /// Returns the tile without empty tiles; a row or column with one part becomes that part.
    #[must_use]
    pub(crate) fn simplified(self) -> Option<Tile> {
        let held = |parts: Vec<(f32, Tile)>| -> Vec<(f32, Tile)> {
            parts
                .into_iter()
                .filter_map(|(share, part)| {
                    let share = if share.is_finite() && share > 0.0 {
                        share
                    } else {
                        1.0
                    };
                    Some((share, part.simplified()?))
                })
                .collect()
        };
        let of = |mut parts: Vec<(f32, Tile)>, make: fn(Vec<(f32, Tile)>) -> Tile| match parts.len()
        {
            0 => None,
            1 => parts.pop().map(|(_, part)| part),
            _ => Some(make(parts)),
        };
        match self {
            Tile::Tabs { panes, .. } if panes.is_empty() => None,
            Tile::Tabs { panes, front } => {
                let front = front.min(panes.len() - 1);
                Some(Tile::Tabs { panes, front })
            }
            Tile::Row(parts) => of(held(parts), Tile::Row),
            Tile::Column(parts) => of(held(parts), Tile::Column),
        }
    }

    /// Moves `pane` out of its tabs to a tile beside them.
    fn split(&mut self, pane: PaneKind, beside: Beside) {
        match self {
            Tile::Tabs { panes, front } => {
                if panes.len() > 1
                    && let Some(at) = panes.iter().position(|it| *it == pane)
                {
                    panes.remove(at);
                    // The front pane stays in front; if that was `pane` itself, the pane before it comes to the front.
                    if *front >= at {
                        *front = front.saturating_sub(1);
                    }
                    let old = std::mem::replace(self, Tile::tab(pane));
                    let parts = vec![(1.0, old), (1.0, Tile::tab(pane))];
                    *self = match beside {
                        Beside::Right => Tile::Row(parts),
                        Beside::Below => Tile::Column(parts),
                    };
                }
            }
            Tile::Row(parts) | Tile::Column(parts) => {
                for (_, part) in parts {
                    part.split(pane, beside);
                }
            }
        }
    }
}

impl Dock {
    /// Returns the open panes.
    #[must_use]
    pub fn panes(&self) -> Vec<PaneKind> {
        let mut found = Vec::new();
        if let Some(tiles) = &self.tiles {
            tiles.panes(&mut found);
        }
        found
    }

    /// Returns the share of the window that the panes have, clamped to `SHARES`.
    #[must_use]
    pub(crate) fn share(&self) -> f32 {
        let share = match self.side {
            DockSide::Bottom => self.height_share,
            DockSide::Right => self.width_share,
        };
        if share.is_finite() {
            share.clamp(*SHARES.start(), *SHARES.end())
        } else {
            0.36
        }
    }

    /// Returns the dock as read from a file, with its tiles simplified and every share valid.
    #[must_use]
    pub(crate) fn held(mut self) -> Dock {
        self.tiles = self.tiles.and_then(Tile::simplified);
        self
    }

    /// Returns the dock of a user's first trace, which shows nothing but the trace until something is selected.
    #[must_use]
    pub(crate) fn at_first() -> Dock {
        Dock {
            is_hidden: true,
            is_waiting: true,
            ..Dock::default()
        }
    }

    /// Shows the panes if they waited for a selection.
    pub(super) fn selected(&mut self) {
        if std::mem::take(&mut self.is_waiting) {
            self.is_hidden = self.tiles.is_none();
        }
    }

    /// Carries out `what`.
    pub(super) fn change(&mut self, what: Docking) {
        self.is_waiting &= matches!(what, Docking::Share(_));
        match what {
            Docking::Open(pane) => self.open(pane, &[]),
            Docking::OpenAmong(pane, among) => self.open(pane, &among),
            Docking::Close(pane) => {
                self.retain(|it| it != pane);
                self.is_hidden |= self.tiles.is_none();
            }
            Docking::CloseOthers(pane) => self.retain(|it| it == pane),
            Docking::Split(pane, beside) => {
                if let Some(tiles) = &mut self.tiles {
                    tiles.split(pane, beside);
                }
            }
            Docking::Turn(pane, direction) => self.turn(pane, direction),
            Docking::Shift(pane, direction) => self.shift(pane, direction),
            Docking::ShowOnly(panes) => {
                let parts = panes.into_iter().map(|pane| (1.0, Tile::tab(pane)));
                self.tiles = Tile::Row(parts.collect()).simplified();
                self.is_hidden = self.tiles.is_none();
            }
            Docking::Tiles(tiles) => {
                self.tiles = tiles.and_then(Tile::simplified);
                self.is_hidden |= self.tiles.is_none();
            }
            Docking::Side(side) => {
                if side != self.side {
                    // Tiles side by side at the bottom become stacked at the right, and the other way round.
                    self.tiles = self.tiles.take().map(|tiles| match tiles {
                        Tile::Row(parts) => Tile::Column(parts),
                        Tile::Column(parts) => Tile::Row(parts),
                        tabs @ Tile::Tabs { .. } => tabs,
                    });
                }
                self.side = side;
                self.is_hidden = false;
            }
            Docking::Share(share) => {
                let held = share.clamp(*SHARES.start(), *SHARES.end());
                match self.side {
                    _ if !share.is_finite() => {}
                    DockSide::Bottom => self.height_share = held,
                    DockSide::Right => self.width_share = held,
                }
            }
            Docking::Toggle => {
                self.is_hidden = !self.is_hidden;
                if self.tiles.is_none() {
                    self.tiles = Dock::default().tiles;
                }
            }
            Docking::Reset => *self = Dock::default(),
        }
    }

    /// Brings a pane to the front. A closed pane is opened in the tabs that contain most of `among`, else in the tabs
    /// with the most panes.
    fn open(&mut self, pane: PaneKind, among: &[PaneKind]) {
        self.is_hidden = false;
        let tiles = self.tiles.get_or_insert_with(|| Tile::tab(pane));
        let mut tabs = Vec::new();
        tiles.all_tabs(&mut tabs);
        for TabsMut { panes, front } in &mut tabs {
            if let Some(at) = panes.iter().position(|it| *it == pane) {
                **front = at;
                return;
            }
        }
        let fits = |panes: &[PaneKind]| panes.iter().filter(|it| among.contains(it)).count();
        let fullest = tabs
            .into_iter()
            .rev()
            .max_by_key(|tabs| (fits(tabs.panes), tabs.panes.len()));
        if let Some(TabsMut { panes, front }) = fullest {
            panes.push(pane);
            *front = panes.len() - 1;
        }
    }

    fn turn(&mut self, pane: PaneKind, direction: Direction) {
        self.is_hidden = false;
        let mut tabs = Vec::new();
        if let Some(tiles) = &mut self.tiles {
            tiles.all_tabs(&mut tabs);
        }
        for TabsMut { panes, front } in tabs {
            if panes.contains(&pane) {
                *front = match direction {
                    Direction::Next => (*front + 1) % panes.len(),
                    Direction::Previous => front.checked_sub(1).unwrap_or(panes.len() - 1),
                };
            }
        }
    }

    fn shift(&mut self, pane: PaneKind, direction: Direction) {
        let Some(tiles) = &mut self.tiles else { return };
        let mut tabs = Vec::new();
        tiles.all_tabs(&mut tabs);
        let place = tabs
            .iter()
            .enumerate()
            .find_map(|(group, tabs)| Some((group, tabs.panes.iter().position(|it| *it == pane)?)));
        let Some((group, at)) = place else { return };
        let step = |at: usize, count: usize| match direction {
            Direction::Next => Some(at + 1).filter(|at| *at < count),
            Direction::Previous => at.checked_sub(1),
        };
        // Past the first or last place the tab moves into the neighbouring tabs, if there are any.
        let other = step(group, tabs.len());
        let Some(TabsMut { panes, front }) = tabs.get_mut(group) else {
            return;
        };
        if let Some(to) = step(at, panes.len()) {
            panes.swap(at, to);
            **front = to;
        } else if let Some(other) = other {
            let pane = panes.remove(at);
            **front = at.min(panes.len().saturating_sub(1));
            if let Some(TabsMut { panes, front }) = tabs.get_mut(other) {
                let to = match direction {
                    Direction::Next => 0,
                    Direction::Previous => panes.len(),
                };
                panes.insert(to, pane);
                **front = to;
            }
        }
        self.tiles = self.tiles.take().and_then(Tile::simplified);
    }

    /// Returns the visible panes, from left to right and from top to bottom.
    #[must_use]
    pub fn fronts(&self) -> Vec<PaneKind> {
        self.tabs().iter().filter_map(Tabs::front).collect()
    }

    /// Returns the visible pane of the tabs that contain `pane`; if `pane` is closed or `None`, of the tabs with the
    /// most panes.
    #[must_use]
    pub(crate) fn front_at(&self, pane: Option<PaneKind>) -> Option<PaneKind> {
        let tabs = self.tabs();
        let holds = |panes: &[PaneKind]| pane.is_some_and(|pane| panes.contains(&pane));
        let fullest = tabs
            .iter()
            .rev()
            .max_by_key(|tabs| (holds(tabs.panes), tabs.panes.len()))?;
        fullest.front()
    }

    /// Returns the panes that share their tabs with `pane`, including itself.
    pub(super) fn fellows(&self, pane: Option<PaneKind>) -> Vec<PaneKind> {
        let holds = |panes: &[PaneKind]| pane.is_some_and(|pane| panes.contains(&pane));
        let tabs = self.tabs().into_iter().find(|tabs| holds(tabs.panes));
        tabs.map_or_else(Vec::new, |tabs| tabs.panes.to_vec())
    }

    fn tabs(&self) -> Vec<Tabs<'_>> {
        fn of<'a>(tile: &'a Tile, found: &mut Vec<Tabs<'a>>) {
            match tile {
                &Tile::Tabs { ref panes, front } => found.push(Tabs { panes, front }),
                Tile::Row(parts) | Tile::Column(parts) => {
                    parts.iter().for_each(|(_, part)| of(part, found));
                }
            }
        }
        let mut found = Vec::new();
        if let Some(tiles) = &self.tiles {
            of(tiles, &mut found);
        }
        found
    }

    fn retain(&mut self, keep: impl Fn(PaneKind) -> bool) {
        let Some(mut tiles) = self.tiles.take() else {
            return;
        };
        let mut tabs = Vec::new();
        tiles.all_tabs(&mut tabs);
        for TabsMut { panes, front } in tabs {
            let seen = panes.get(*front).copied();
            let before = *front;
            panes.retain(|pane| keep(*pane));
            let again = seen.and_then(|seen| panes.iter().position(|pane| *pane == seen));
            // If the front pane was closed, its neighbour comes to the front.
            *front = again.unwrap_or(before.min(panes.len().saturating_sub(1)));
        }
        self.tiles = tiles.simplified();
    }
}

#[cfg(test)]
mod tests;
