//! The user's arrangement of the tracks: opened, hidden, pinned, moved, renamed, resized.

use super::grouping::{GroupBy, SortBy};
use super::groups::TrackGroup;
use super::kept_places::KeptPlaces;
use super::outline::{Family, Outline};
use super::row::{Fold, RowKey};
use crate::trace::{Plot, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Legal range of a track's height, in percent.
pub(crate) const HEIGHTS: std::ops::RangeInclusive<u16> = 50..=800;

/// The user's arrangement of one trace's tracks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Rows that the user opened or closed.
    pub folds: FxHashMap<RowKey, Fold>,
    /// Hidden rows.
    pub hidden: FxHashSet<RowKey>,
    /// Rows that are also shown above all others, in this order.
    pub pinned: Vec<RowKey>,
    /// New names of renamed rows.
    pub names: FxHashMap<RowKey, String>,
    /// Heights of resized rows, in percent.
    pub heights: FxHashMap<RowKey, u16>,
    /// Order of the tracks within each group (`None`: the top level); tracks not listed follow.
    pub order: FxHashMap<Option<RowKey>, Vec<RowKey>>,
    /// What tracks are grouped by.
    pub group_by: GroupBy,
    /// What they are sorted by.
    pub sort_by: SortBy,
    /// Groups that the user made.
    pub groups: Vec<TrackGroup>,
    /// Plots, drawn as tracks above the others.
    pub plots: Vec<Plot>,
}

/// A change to the tracks.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrange {
    /// Pin a track above all others, or unpin it.
    Pin(RowKey),
    /// Hide a track.
    Hide(RowKey),
    /// Show all hidden tracks again.
    UnhideAll,
    /// Hide all tracks of this name; if they are hidden, show them.
    ToggleAll(&'static str),
    /// Put a track before another of the same group, or last.
    Move {
        /// The track to move.
        key: RowKey,
        /// The track to put it before.
        before: Option<RowKey>,
    },
    /// Rename a track; an empty name restores its own.
    Rename(RowKey, String),
    /// Set a track's height, in percent.
    Height(RowKey, u16),
    /// Make a group of these tracks.
    Group(Vec<RowKey>),
    /// Put a track into a group that the user made, before another of its tracks or last.
    Join {
        /// The track to move.
        key: RowKey,
        /// The group to put it into.
        into: RowKey,
        /// The group's track to put it before.
        before: Option<RowKey>,
    },
    /// Take a track out of its group.
    TakeOut(RowKey),
    /// Take apart a group that the user made.
    Ungroup(RowKey),
    /// Group tracks by this.
    GroupBy(GroupBy),
    /// Sort tracks by this.
    SortBy(SortBy),
    /// Switch between all tracks and only those active in the visible span.
    ToggleOnlyActive,
    /// Plot a number of the matching events as a track, replacing the second plot if given.
    Plot(Plot, Option<Plot>),
    /// Remove a plot.
    Unplot(Plot),
    /// Reset the whole arrangement.
    Reset,
    /// Save the arrangement under a name.
    Save(String),
    /// Apply a saved arrangement to this trace's tracks.
    Use(String),
    /// Delete a saved arrangement.
    Forget(String),
}

impl Layout {
    /// Puts `key` before `before` (or last) among the tracks of its group.
    pub(super) fn move_row(&mut self, outline: &Outline, key: RowKey, before: Option<RowKey>) {
        if before == Some(key) {
            return;
        }
        let Some(Family { parent, nodes }) = outline.family(key) else {
            return;
        };
        let natural: Vec<RowKey> = nodes.iter().map(|node| node.key).collect();
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

impl Outline {
    /// Returns the tree of `trace` grouped and sorted by `layout`, before the user's groups are made. `kept`: the
    /// places of its rows before the trace grew.
    #[must_use]
    pub(super) fn natural(trace: &Trace, layout: &Layout, kept: Option<&KeptPlaces>) -> Outline {
        let outline =
            Outline::arranged(trace, layout.group_by, layout.sort_by).plotted(trace, &layout.plots);
        match kept {
            Some(kept) => outline.at_places(kept),
            None => outline,
        }
    }
}

/// Returns `natural` with the rows of `wanted` first, in that order.
fn ordered(natural: &[RowKey], wanted: &[RowKey]) -> Vec<RowKey> {
    let mut order: Vec<RowKey> = wanted
        .iter()
        .filter(|key| natural.contains(key))
        .copied()
        .collect();
    order.extend(natural.iter().filter(|key| !wanted.contains(key)));
    order
}
