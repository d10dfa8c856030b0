//! What the user did to the tracks: opened, hid, pinned, moved, renamed, made higher; and the same written
//! down by names, so that it can be applied to another trace.

use super::dock::Dock;
use super::grouping::{GroupBy, SortBy};
use super::groups::{TrackGroup, found_again};
use super::outline::{Node, Outline};
use super::rows::{Fold, RowKey};
use crate::trace::{Plot, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// The heights a track can have, in percent.
pub const HEIGHTS: std::ops::RangeInclusive<u16> = 50..=800;

/// What the user did to the tracks of one trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// What was opened and closed.
    pub folds: FxHashMap<RowKey, Fold>,
    /// What is not shown.
    pub hidden: FxHashSet<RowKey>,
    /// What is shown above all others as well, in this order.
    pub pinned: Vec<RowKey>,
    /// What has another name.
    pub names: FxHashMap<RowKey, String>,
    /// What has another height, in percent.
    pub heights: FxHashMap<RowKey, u16>,
    /// The order of the tracks within each group, `None` being the whole; what is not named comes after.
    pub order: FxHashMap<Option<RowKey>, Vec<RowKey>>,
    /// What tracks are gathered by.
    pub group_by: GroupBy,
    /// What they are sorted by.
    pub sort_by: SortBy,
    /// Groups that the user made.
    pub groups: Vec<TrackGroup>,
    /// What is plotted, as tracks above the others.
    pub plots: Vec<Plot>,
}

/// Something done to the tracks.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrange {
    /// Keep a track above all others, or no longer.
    Pin(RowKey),
    /// Show a track no longer.
    Hide(RowKey),
    /// Show a hidden track again.
    Unhide(RowKey),
    /// Show all hidden tracks again.
    UnhideAll,
    /// Hide all tracks of this name; if they are hidden, show them again.
    ToggleAll(&'static str),
    /// Put a track before another of the same group, or last.
    Move {
        /// Which.
        key: RowKey,
        /// Before which.
        before: Option<RowKey>,
    },
    /// Call a track otherwise; the empty name is its own.
    Rename(RowKey, String),
    /// Make a track as high as this, in percent.
    Height(RowKey, u16),
    /// Make a group of these tracks.
    Group(Vec<RowKey>),
    /// Put a track into a group that the user made, before another of its tracks or last.
    Join {
        /// Which.
        key: RowKey,
        /// Into which group.
        into: RowKey,
        /// Before which.
        before: Option<RowKey>,
    },
    /// Take a track out of the group that it was put in.
    TakeOut(RowKey),
    /// Take a group apart that the user made.
    Ungroup(RowKey),
    /// Gather tracks by this.
    GroupBy(GroupBy),
    /// Sort tracks by this.
    SortBy(SortBy),
    /// Show all tracks again, or only those where something happens in what is seen.
    ToggleOnlyActive,
    /// Plot numbers of events as a track, in place of another plot if one is named.
    Plot(Plot, Option<Plot>),
    /// Plot this no longer.
    Unplot(Plot),
    /// Undo all of these.
    Reset,
    /// Keep all of these under a name.
    Save(String),
    /// Do what is kept under a name to this trace's tracks.
    Use(String),
    /// Forget what is kept under a name.
    Forget(String),
}

/// What a layout says of one track.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedTrack {
    /// The file's own name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<RowKey>,
    /// The titles from the top down to it.
    pub path: Vec<String>,
    /// Open or closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<Fold>,
    /// Whether it is not shown.
    pub is_hidden: bool,
    /// Its place among the pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<u32>,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its height in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u16>,
    /// Its place in its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
}

/// A layout as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedLayout {
    /// What the user calls it.
    pub name: String,
    /// What tracks are gathered by.
    pub group_by: GroupBy,
    /// What they are sorted by.
    pub sort_by: SortBy,
    /// Groups that the user made.
    pub groups: Vec<TrackGroup>,
    /// What is plotted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<Plot>,
    /// The tracks that something was done to.
    pub tracks: Vec<SavedTrack>,
    /// The panes beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dock: Option<Dock>,
}

/// How the tracks of a kept layout are found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// By the file's own keys: in the same trace.
    Key,
    /// By their names: in another trace; all tracks of the same name are alike.
    Name,
}

impl Layout {
    /// What is done to the tracks, written down.
    #[must_use]
    pub fn saved(&self, outline: &Outline, name: &str) -> SavedLayout {
        let mut tracks = Vec::new();
        outline.visit(&mut |path, node| {
            let parent = path.len().checked_sub(2).map(|at| path[at].key);
            let place_in = |list: &[RowKey]| {
                let at = list.iter().position(|key| *key == node.key)?;
                Some(at as u32)
            };
            let mut track = SavedTrack {
                key: Some(node.key),
                path: Vec::new(),
                fold: self.folds.get(&node.key).copied(),
                is_hidden: self.hidden.contains(&node.key),
                pin: place_in(&self.pinned),
                name: self.names.get(&node.key).cloned(),
                percent: self.heights.get(&node.key).copied(),
                place: self.order.get(&parent).and_then(|list| place_in(list)),
            };
            let is_touched = track.is_hidden
                || track.fold.is_some()
                || track.pin.is_some()
                || track.name.is_some()
                || track.percent.is_some()
                || track.place.is_some();
            if is_touched {
                track.path = path.iter().map(|node| node.title.to_string()).collect();
                tracks.push(track);
            }
        });
        SavedLayout {
            name: name.to_owned(),
            group_by: self.group_by,
            sort_by: self.sort_by,
            groups: self.groups.clone(),
            plots: self.plots.clone(),
            tracks,
            dock: None,
        }
    }

    /// The layout that `saved` means for the tracks of `trace`, and their outline.
    #[must_use]
    pub fn taken_up(saved: &SavedLayout, trace: &Trace, found_by: FoundBy) -> (Layout, Outline) {
        let natural =
            Outline::arranged(trace, saved.group_by, saved.sort_by).plotted(trace, &saved.plots);
        let groups = found_again(&saved.groups, &natural, found_by);
        let outline = natural.grouped(&groups);
        let mut layout = Layout::from_saved(saved, &outline, found_by);
        layout.groups = groups;
        (layout, outline)
    }

    /// The layout that `saved` means for the tracks of `outline`, which is gathered and sorted as it says; without
    /// groups.
    #[must_use]
    pub fn from_saved(saved: &SavedLayout, outline: &Outline, found_by: FoundBy) -> Layout {
        let mut layout = Layout {
            group_by: saved.group_by,
            sort_by: saved.sort_by,
            plots: saved.plots.clone(),
            ..Layout::default()
        };
        let mut by_key = FxHashMap::default();
        let mut by_path: FxHashMap<&[String], &SavedTrack> = FxHashMap::default();
        for track in &saved.tracks {
            match (found_by, track.key) {
                (FoundBy::Key, Some(key)) => drop(by_key.insert(key, track)),
                (FoundBy::Key, None) => {}
                (FoundBy::Name, _) => drop(by_path.entry(&track.path).or_insert(track)),
            }
        }
        let mut pinned = Vec::new();
        let mut places: FxHashMap<Option<RowKey>, Vec<(u32, RowKey)>> = FxHashMap::default();
        outline.visit(&mut |path, node| {
            let track = match found_by {
                FoundBy::Key => by_key.get(&node.key).copied(),
                FoundBy::Name => {
                    let path: Vec<String> =
                        path.iter().map(|node| node.title.to_string()).collect();
                    by_path.get(path.as_slice()).copied()
                }
            };
            let Some(track) = track else { return };
            let parent = path.len().checked_sub(2).map(|at| path[at].key);
            layout.take(node, track);
            pinned.extend(track.pin.map(|place| (place, node.key)));
            if let Some(place) = track.place {
                places.entry(parent).or_default().push((place, node.key));
            }
        });
        let sorted = |mut list: Vec<(u32, RowKey)>| -> Vec<RowKey> {
            list.sort_by_key(|(place, _)| *place);
            list.into_iter().map(|(_, key)| key).collect()
        };
        layout.pinned = sorted(pinned);
        layout.order = places
            .into_iter()
            .map(|(parent, list)| (parent, sorted(list)))
            .collect();
        layout
    }

    fn take(&mut self, node: &Node, track: &SavedTrack) {
        if let Some(fold) = track.fold {
            self.folds.insert(node.key, fold);
        }
        if track.is_hidden {
            self.hidden.insert(node.key);
        }
        if let Some(name) = &track.name {
            self.names.insert(node.key, name.clone());
        }
        if let Some(percent) = track.percent {
            let percent = percent.clamp(*HEIGHTS.start(), *HEIGHTS.end());
            self.heights.insert(node.key, percent);
        }
    }

    /// Puts `key` before `before` (or last) among the tracks of its group.
    pub(super) fn move_row(&mut self, outline: &Outline, key: RowKey, before: Option<RowKey>) {
        if before == Some(key) {
            return;
        }
        let Some((parent, siblings)) = outline.family(key) else {
            return;
        };
        let natural: Vec<RowKey> = siblings.iter().map(|node| node.key).collect();
        let mut order = match self.order.get(&parent) {
            Some(list) => ordered(&natural, list),
            None => natural,
        };
        order.retain(|other| *other != key);
        let at = before
            .and_then(|before| order.iter().position(|other| *other == before))
            .unwrap_or(order.len());
        order.insert(at, key);
        self.order.insert(parent, order);
    }
}

/// `natural` with what `wanted` names first, in its order.
fn ordered(natural: &[RowKey], wanted: &[RowKey]) -> Vec<RowKey> {
    let mut order: Vec<RowKey> = wanted
        .iter()
        .filter(|key| natural.contains(key))
        .copied()
        .collect();
    order.extend(natural.iter().filter(|key| !wanted.contains(key)));
    order
}
