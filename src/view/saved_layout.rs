//! A layout in its saved form: tracks are identified by names, so that it can be applied to another trace.

use super::dock::Dock;
use super::grouping::{GroupBy, SortBy};
use super::groups::{Member, TrackGroup};
use super::layout::{HEIGHTS, Layout};
use super::outline::{Node, Outline};
use super::row::{Fold, RowKey};
use crate::trace::{Plot, Trace};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The saved layout of one track.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedTrack {
    /// Row key of the track.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<RowKey>,
    /// Titles from the root to the track.
    pub path: Vec<String>,
    /// Whether the user opened or closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<Fold>,
    /// Whether it is hidden.
    pub is_hidden: bool,
    /// Index among the pinned tracks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<u32>,
    /// Name given by the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Height in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u16>,
    /// Index within its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
}

/// A saved layout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedLayout {
    /// Name given by the user.
    pub name: String,
    /// What tracks are grouped by.
    pub group_by: GroupBy,
    /// What tracks are sorted by.
    pub sort_by: SortBy,
    /// Groups that the user made.
    pub groups: Vec<TrackGroup>,
    /// Plots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<Plot>,
    /// Tracks that the user changed.
    pub tracks: Vec<SavedTrack>,
    /// Arrangement of the panes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dock: Option<Dock>,
}

/// How the tracks of a saved layout are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundBy {
    /// By row key: in the same trace.
    Key,
    /// By title: in another trace; applies to all tracks of that title.
    Name,
}

/// A saved layout, resolved for the tracks of a trace.
pub(crate) struct TakenUp {
    pub layout: Layout,
    /// The outline of the tracks.
    pub outline: Outline,
}

impl Layout {
    /// Returns the layout in its saved form.
    #[must_use]
    pub(crate) fn saved(&self, outline: &Outline, name: &str) -> SavedLayout {
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
            // Tracks the user did not change are not saved.
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

    /// Returns the layout `saved` resolved for the tracks of `trace`, and their outline.
    #[must_use]
    pub(crate) fn taken_up(saved: &SavedLayout, trace: &Trace, found_by: FoundBy) -> TakenUp {
        let natural =
            Outline::arranged(trace, saved.group_by, saved.sort_by).plotted(trace, &saved.plots);
        let groups = found_again(&saved.groups, &natural, found_by);
        let outline = natural.grouped(&groups);
        let mut layout = Layout::from_saved(saved, &outline, found_by);
        layout.groups = groups;
        TakenUp { layout, outline }
    }

    /// Returns the layout `saved` resolved for the tracks of `outline`, which is grouped and sorted as `saved` demands;
    /// without its groups.
    #[must_use]
    pub(crate) fn from_saved(saved: &SavedLayout, outline: &Outline, found_by: FoundBy) -> Layout {
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
}

/// Returns saved groups resolved for the tracks of `outline`, which has no groups yet.
#[must_use]
pub(crate) fn found_again(
    saved: &[TrackGroup],
    outline: &Outline,
    found_by: FoundBy,
) -> Vec<TrackGroup> {
    if found_by == FoundBy::Key {
        return saved.to_vec();
    }
    let mut by_path: FxHashMap<Vec<String>, Vec<RowKey>> = FxHashMap::default();
    outline.visit(&mut |path, node| {
        let path = path.iter().map(|node| node.title.to_string()).collect();
        by_path.entry(path).or_default().push(node.key);
    });
    let mut groups = saved.to_vec();
    for group in &mut groups {
        let mut members: Vec<Member> = Vec::new();
        for member in std::mem::take(&mut group.members) {
            let keys = match member.key {
                Some(key @ RowKey::Made(_)) => vec![key],
                _ => by_path.get(&member.path).cloned().unwrap_or_default(),
            };
            for key in keys {
                if members.iter().all(|other| other.key != Some(key)) {
                    members.push(Member {
                        key: Some(key),
                        path: member.path.clone(),
                    });
                }
            }
        }
        group.members = members;
    }
    groups
}
