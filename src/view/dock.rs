//! How the panes are arranged: in tabs, side by side, one above the other; at the bottom or at the right of the
//! timeline. Plain values, so that they are kept with a session, a layout and the settings.
//!
//! Panes are named by their titles; a name that no pane has any longer is passed over where they are drawn.

use super::action::Direction;
use serde::{Deserialize, Serialize};

/// Where the panes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DockSide {
    /// Below the timeline.
    #[default]
    Bottom,
    /// Beside it.
    Right,
}

/// Panes, or what holds panes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tile {
    /// One of these is seen.
    Tabs {
        /// Their names, in the order of the tabs.
        panes: Vec<String>,
        /// The one that is seen.
        front: usize,
    },
    /// All are seen, from left to right, each with its share of the width.
    Row(Vec<(f32, Tile)>),
    /// All are seen, from top to bottom, each with its share of the height.
    Column(Vec<(f32, Tile)>),
}

/// On which side of its tabs a pane is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beside {
    /// At the right of them.
    Right,
    /// Below them.
    Below,
}

/// Something done to the panes.
#[derive(Clone, Debug, PartialEq)]
pub enum Docking {
    /// Bring a pane to the front, opening it if it is closed.
    Open(&'static str),
    /// Open a pane among these panes.
    OpenAmong(&'static str, Vec<String>),
    /// Close a pane.
    Close(String),
    /// Close all panes but this one.
    CloseOthers(String),
    /// Put a pane beside the tabs that it lies in.
    Split(String, Beside),
    /// Bring the tab after or before this pane's to the front.
    Turn(String, Direction),
    /// Move a pane's tab by one place; past the last or first into the next tabs.
    Shift(String, Direction),
    /// Show these panes side by side, and no others.
    ShowOnly(Vec<&'static str>),
    /// Arrange the panes so.
    Tiles(Option<Tile>),
    /// Put all panes at this side.
    Side(DockSide),
    /// Give them this share of the height (at the bottom) or of the width (at the right).
    Share(f32),
    /// Show or hide them all.
    Toggle,
    /// Arrange them as at first.
    Reset,
}

/// The arrangement of the panes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dock {
    /// Where they are.
    pub side: DockSide,
    /// Whether they are hidden for now.
    pub is_hidden: bool,
    /// Their share of the height when they are at the bottom.
    pub height_share: f32,
    /// Their share of the width when they are at the right.
    pub width_share: f32,
    /// The panes; `None`: all are closed.
    pub tiles: Option<Tile>,
}

/// What the panes can take of the window.
pub const SHARES: std::ops::RangeInclusive<f32> = 0.08..=0.92;

/// The panes that are open at first, beside Details.
const FIRST: [&str; 8] = [
    "Events",
    "Selection",
    "Durations",
    "Latency",
    "Flame graph",
    "Counters",
    "Process tree",
    "Info",
];

impl Default for Dock {
    fn default() -> Dock {
        Dock {
            side: DockSide::default(),
            is_hidden: false,
            height_share: 0.36,
            width_share: 0.36,
            tiles: Some(Tile::Row(vec![
                (0.3, Tile::tab("Details")),
                (
                    0.7,
                    Tile::Tabs {
                        panes: FIRST.map(str::to_owned).into(),
                        front: 0,
                    },
                ),
            ])),
        }
    }
}

impl Tile {
    /// A pane by itself.
    #[must_use]
    pub fn tab(name: &str) -> Tile {
        Tile::Tabs {
            panes: vec![name.to_owned()],
            front: 0,
        }
    }

    /// The tabs in it, from left to right and from top to bottom.
    fn all_tabs<'a>(&'a mut self, found: &mut Vec<(&'a mut Vec<String>, &'a mut usize)>) {
        match self {
            Tile::Tabs { panes, front } => found.push((panes, front)),
            Tile::Row(parts) | Tile::Column(parts) => {
                for (_, part) in parts {
                    part.all_tabs(found);
                }
            }
        }
    }

    /// The names of the panes in it.
    fn names<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Tile::Tabs { panes, .. } => found.extend(panes.iter().map(String::as_str)),
            Tile::Row(parts) | Tile::Column(parts) => {
                for (_, part) in parts {
                    part.names(found);
                }
            }
        }
    }

    /// The same without what is empty; a row of one is that one.
    #[must_use]
    pub fn simplified(self) -> Option<Tile> {
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

    /// Puts a pane of its own beside the tabs that hold `name`.
    fn split(&mut self, name: &str, beside: Beside) {
        match self {
            Tile::Tabs { panes, front } => {
                if panes.len() > 1
                    && let Some(at) = panes.iter().position(|pane| pane == name)
                {
                    panes.remove(at);
                    // The pane in front stays there; behind one that was in front itself, the one before it.
                    if *front >= at {
                        *front = front.saturating_sub(1);
                    }
                    let old = std::mem::replace(self, Tile::tab(name));
                    let parts = vec![(1.0, old), (1.0, Tile::tab(name))];
                    *self = match beside {
                        Beside::Right => Tile::Row(parts),
                        Beside::Below => Tile::Column(parts),
                    };
                }
            }
            Tile::Row(parts) | Tile::Column(parts) => {
                for (_, part) in parts {
                    part.split(name, beside);
                }
            }
        }
    }
}

impl Dock {
    /// The names of the panes that are open.
    #[must_use]
    pub fn panes(&self) -> Vec<&str> {
        let mut found = Vec::new();
        if let Some(tiles) = &self.tiles {
            tiles.names(&mut found);
        }
        found
    }

    /// The share of the window that the panes take.
    #[must_use]
    pub fn share(&self) -> f32 {
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

    /// The same as it was read from a file, with every number in its range.
    #[must_use]
    pub fn held(mut self) -> Dock {
        self.tiles = self.tiles.and_then(Tile::simplified);
        self
    }

    /// Carries out `what`.
    pub(super) fn change(&mut self, what: Docking) {
        match what {
            Docking::Open(name) => self.open(name, &[]),
            Docking::OpenAmong(name, among) => self.open(name, &among),
            Docking::Close(name) => {
                self.retain(|pane| pane != name);
                self.is_hidden |= self.tiles.is_none();
            }
            Docking::CloseOthers(name) => self.retain(|pane| pane == name),
            Docking::Split(name, beside) => {
                if let Some(tiles) = &mut self.tiles {
                    tiles.split(&name, beside);
                }
            }
            Docking::Turn(name, direction) => self.turn(&name, direction),
            Docking::Shift(name, direction) => self.shift(&name, direction),
            Docking::ShowOnly(names) => {
                let parts = names.into_iter().map(|name| (1.0, Tile::tab(name)));
                self.tiles = Tile::Row(parts.collect()).simplified();
                self.is_hidden = self.tiles.is_none();
            }
            Docking::Tiles(tiles) => {
                self.tiles = tiles.and_then(Tile::simplified);
                self.is_hidden |= self.tiles.is_none();
            }
            Docking::Side(side) => {
                if side != self.side {
                    // What stood side by side along the bottom stands one above the other at the right.
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

    /// Brings a pane to the front; where it is closed, it is opened in the tabs that hold most of `among`, else
    /// in the fullest.
    fn open(&mut self, name: &str, among: &[String]) {
        self.is_hidden = false;
        let tiles = self.tiles.get_or_insert_with(|| Tile::tab(name));
        let mut tabs = Vec::new();
        tiles.all_tabs(&mut tabs);
        for (panes, front) in &mut tabs {
            if let Some(at) = panes.iter().position(|pane| pane == name) {
                **front = at;
                return;
            }
        }
        let fits = |panes: &[String]| panes.iter().filter(|pane| among.contains(pane)).count();
        let fullest = tabs
            .into_iter()
            .rev()
            .max_by_key(|(panes, _)| (fits(panes), panes.len()));
        if let Some((panes, front)) = fullest {
            panes.push(name.to_owned());
            *front = panes.len() - 1;
        }
    }

    fn turn(&mut self, name: &str, direction: Direction) {
        self.is_hidden = false;
        let mut tabs = Vec::new();
        if let Some(tiles) = &mut self.tiles {
            tiles.all_tabs(&mut tabs);
        }
        for (panes, front) in tabs {
            if panes.iter().any(|pane| pane == name) {
                *front = match direction {
                    Direction::Next => (*front + 1) % panes.len(),
                    Direction::Previous => front.checked_sub(1).unwrap_or(panes.len() - 1),
                };
            }
        }
    }

    fn shift(&mut self, name: &str, direction: Direction) {
        let Some(tiles) = &mut self.tiles else { return };
        let mut tabs = Vec::new();
        tiles.all_tabs(&mut tabs);
        let place = tabs.iter().enumerate().find_map(|(group, (panes, _))| {
            Some((group, panes.iter().position(|pane| pane == name)?))
        });
        let Some((group, at)) = place else { return };
        let step = |at: usize, count: usize| match direction {
            Direction::Next => Some(at + 1).filter(|at| *at < count),
            Direction::Previous => at.checked_sub(1),
        };
        let other = step(group, tabs.len());
        let Some((panes, front)) = tabs.get_mut(group) else {
            return;
        };
        if let Some(to) = step(at, panes.len()) {
            panes.swap(at, to);
            **front = to;
        } else if let Some(other) = other {
            let pane = panes.remove(at);
            **front = at.min(panes.len().saturating_sub(1));
            if let Some((panes, front)) = tabs.get_mut(other) {
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

    /// The panes that are seen, from left to right and from top to bottom.
    #[must_use]
    pub fn fronts(&self) -> Vec<&str> {
        let tabs = self.tabs();
        let front = tabs.iter().filter_map(|(panes, front)| panes.get(*front));
        front.map(String::as_str).collect()
    }

    /// The pane that is seen where `name` has its tab; without a name, or where it is closed, the one of the
    /// fullest tabs.
    #[must_use]
    pub fn front_at(&self, name: Option<&str>) -> Option<&str> {
        let tabs = self.tabs();
        let holds = |panes: &[String]| panes.iter().any(|pane| Some(pane.as_str()) == name);
        let (panes, front) = tabs
            .iter()
            .rev()
            .max_by_key(|(panes, _)| (holds(panes), panes.len()))?;
        panes.get(*front).map(String::as_str)
    }

    /// The panes among which `name` has its tab.
    pub(super) fn fellows(&self, name: Option<&str>) -> Vec<String> {
        let holds = |panes: &[String]| panes.iter().any(|pane| Some(pane.as_str()) == name);
        let tabs = self.tabs().into_iter().find(|(panes, _)| holds(panes));
        tabs.map_or_else(Vec::new, |(panes, _)| panes.to_vec())
    }

    fn tabs(&self) -> Vec<(&[String], usize)> {
        fn of<'a>(tile: &'a Tile, found: &mut Vec<(&'a [String], usize)>) {
            match tile {
                Tile::Tabs { panes, front } => found.push((panes, *front)),
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

    fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let Some(mut tiles) = self.tiles.take() else {
            return;
        };
        let mut tabs = Vec::new();
        tiles.all_tabs(&mut tabs);
        for (panes, front) in tabs {
            let seen = panes.get(*front).cloned();
            let before = *front;
            panes.retain(|pane| keep(pane));
            let again = seen.and_then(|seen| panes.iter().position(|pane| *pane == seen));
            // Where the one that was seen is closed, its neighbour comes to the front.
            *front = again.unwrap_or(before.min(panes.len().saturating_sub(1)));
        }
        self.tiles = tiles.simplified();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tabs(names: &[&str], front: usize) -> Tile {
        let panes = names.iter().map(|name| (*name).to_owned()).collect();
        Tile::Tabs { panes, front }
    }

    #[test]
    fn a_pane_comes_to_the_front_where_it_is_or_joins_the_fullest_tabs() {
        let mut dock = Dock::default();
        dock.change(Docking::Open("Latency"));
        dock.change(Docking::Open("Files"));
        let panes = dock.panes();
        assert_eq!(panes.first().copied(), Some("Details"));
        assert_eq!(panes.last().copied(), Some("Files"));
        let Some(Tile::Row(parts)) = &dock.tiles else {
            panic!("{dock:?}")
        };
        assert!(matches!(&parts[1].1, Tile::Tabs { front: 8, .. }));
        dock.change(Docking::OpenAmong("Build", vec!["Details".to_owned()]));
        assert_eq!(dock.panes()[..2], ["Details", "Build"]);
    }

    #[test]
    fn panes_are_closed_until_none_is_left_and_come_back() {
        let mut dock = Dock::default();
        dock.change(Docking::CloseOthers("Events".to_owned()));
        assert_eq!(dock.tiles, Some(tabs(&["Events"], 0)));
        dock.change(Docking::Close("Events".to_owned()));
        assert!(dock.is_hidden && dock.tiles.is_none());
        dock.change(Docking::Toggle);
        assert!(!dock.is_hidden && dock.panes().len() == 9);
        dock.change(Docking::Open("Durations"));
        dock.change(Docking::Close("Durations".to_owned()));
        let Some(Tile::Row(parts)) = &dock.tiles else {
            panic!("{dock:?}")
        };
        assert!(matches!(&parts[1].1, Tile::Tabs { front: 2, panes } if panes[2] == "Latency"));
    }

    #[test]
    fn a_pane_is_put_beside_its_tabs() {
        let mut dock = Dock {
            tiles: Some(tabs(&["A", "B", "C"], 1)),
            ..Dock::default()
        };
        dock.change(Docking::Split("B".to_owned(), Beside::Right));
        dock.change(Docking::Split("C".to_owned(), Beside::Below));
        let left = Tile::Column(vec![(1.0, tabs(&["A"], 0)), (1.0, tabs(&["C"], 0))]);
        let both = Tile::Row(vec![(1.0, left), (1.0, tabs(&["B"], 0))]);
        assert_eq!(dock.tiles.as_ref(), Some(&both));
        // A pane that is alone in its tabs stays.
        dock.change(Docking::Split("B".to_owned(), Beside::Right));
        assert_eq!(dock.tiles, Some(both));
    }

    #[test]
    fn tabs_are_turned_and_moved_into_the_next() {
        let two = |a: Tile, b: Tile| Some(Tile::Row(vec![(1.0, a), (1.0, b)]));
        let mut dock = Dock {
            tiles: two(tabs(&["A"], 0), tabs(&["B", "C", "D"], 0)),
            ..Dock::default()
        };
        assert_eq!(dock.front_at(None), Some("B"));
        let turn = |direction| Docking::Turn("B".to_owned(), direction);
        dock.change(turn(Direction::Previous));
        assert_eq!(dock.fronts(), ["A", "D"]);
        assert_eq!(dock.front_at(Some("C")), Some("D"));
        dock.change(turn(Direction::Next));
        assert_eq!(dock.fronts(), ["A", "B"]);
        let shift = |name: &str, direction| Docking::Shift(name.to_owned(), direction);
        dock.change(shift("B", Direction::Next));
        assert_eq!(dock.tiles, two(tabs(&["A"], 0), tabs(&["C", "B", "D"], 1)));
        dock.change(shift("C", Direction::Previous));
        assert_eq!(dock.tiles, two(tabs(&["A", "C"], 1), tabs(&["B", "D"], 0)));
        // At the last place of all it stays; the last of its tabs takes these with it.
        dock.change(shift("D", Direction::Next));
        assert_eq!(dock.fronts(), ["C", "B"]);
        for _ in 0..2 {
            dock.change(shift("A", Direction::Next));
        }
        dock.change(shift("C", Direction::Next));
        assert_eq!(dock.tiles, Some(tabs(&["C", "A", "B", "D"], 0)));
    }

    #[test]
    fn what_a_file_says_is_held() {
        let dock = Dock {
            height_share: f32::NAN,
            tiles: Some(Tile::Row(vec![
                (f32::INFINITY, tabs(&["A"], 7)),
                (-1.0, tabs(&[], 0)),
            ])),
            ..Dock::default()
        };
        let dock = dock.held();
        assert_eq!(dock.tiles, Some(tabs(&["A"], 0)));
        assert_eq!(dock.share(), 0.36);
    }
}
