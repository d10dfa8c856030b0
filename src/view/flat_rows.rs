//! Flattens the outline: which nodes are rows, which pass the filter, and the height of each row and lane.

use super::heights::{LegibleRows, Reach, lanes_at};
use super::layout::Layout;
use super::outline::{Node, count_tracks};
use super::row::{Fold, LaneKind, Row, RowKey};
use crate::base::order::Rank;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The part of the outline that is shown.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The user's arrangement of the tracks.
    pub layout: &'a Layout,
    /// Text that titles or notes must contain, ignoring case.
    pub filter: &'a str,
    /// Only these rows and the groups around them; `None`: all.
    pub active: Option<&'a FxHashSet<RowKey>>,
    /// The rows of slices in which something is wide enough to be read; `None`: not known yet, all are drawn.
    pub legible: Option<&'a LegibleRows>,
    /// How much of the trace is in view.
    pub reach: Reach,
    /// Height of all tracks, in percent.
    pub percent: u16,
    /// Height that the window has for tracks, in points: lanes grow into the height that is left. 0: they do not grow.
    pub room: f32,
}

/// Numbers of tracks that are not shown.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Tracks that the user hid.
    pub(super) hidden: usize,
    /// Other tracks that are not active in the visible time.
    pub(super) inactive: usize,
}

/// Returns the numbers of tracks among and below `nodes` that are not shown.
pub(super) fn left_out(nodes: &[Node], wanted: Wanted<'_>) -> LeftOut {
    let mut found = LeftOut::default();
    for node in nodes {
        if wanted.layout.hidden.contains(&node.key) {
            found.hidden += count_tracks(node);
            continue;
        }
        let below = left_out(&node.children, wanted);
        found.hidden += below.hidden;
        found.inactive += below.inactive;
        let is_counted = wanted
            .active
            .is_some_and(|active| !active.contains(&node.key));
        // A group that contains an active row is shown with it.
        let unseen = below.hidden + below.inactive;
        let is_seen = unseen < count_tracks(node) - usize::from(node.is_track());
        found.inactive += usize::from(is_counted && !is_seen && node.is_track());
    }
    found
}

/// Whether a group around this node matched the filter already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    NotYet,
    Already,
}

pub(super) struct Flat<'a> {
    wanted: Wanted<'a>,
    words: Vec<String>,
    pub(super) rows: Vec<Row>,
    /// Closed rows, with the nodes that they hide.
    closed: Vec<(u32, &'a Node)>,
}

impl<'a> Flat<'a> {
    /// Maps each hidden lane to the index of the closed row that hides it.
    pub(super) fn covers(&self) -> FxHashMap<LaneKind, u32> {
        fn note(node: &Node, row: u32, covers: &mut FxHashMap<LaneKind, u32>) {
            for lane in &node.lanes {
                covers.insert(lane.kind, row);
            }
            for child in &node.children {
                note(child, row, covers);
            }
        }
        let mut covers = FxHashMap::default();
        for (row, node) in &self.closed {
            note(node, *row, &mut covers);
        }
        covers
    }

    pub(super) fn new(wanted: Wanted<'a>) -> Flat<'a> {
        let words = wanted.filter.split_whitespace().map(str::to_lowercase);
        Flat {
            wanted,
            words: words.collect(),
            rows: Vec::new(),
            closed: Vec::new(),
        }
    }

    fn title<'n>(&'n self, node: &'n Node) -> &'n str {
        match self.wanted.layout.names.get(&node.key) {
            Some(name) => name,
            None => &node.title,
        }
    }

    pub(super) fn matches(&self, node: &Node) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let title = self.title(node).to_lowercase();
        self.words
            .iter()
            .all(|word| title.contains(word.as_str()) || node.note.contains(word.as_str()))
    }

    /// Returns the number of tracks that only the filter excludes; hidden and inactive ones are not counted.
    pub(super) fn filtered_out(&self, nodes: &[Node]) -> usize {
        let count = |node: &Node| {
            if self.wanted.layout.hidden.contains(&node.key) || self.matches(node) {
                return 0;
            }
            let is_left_out = node.is_track() && self.is_active(node) && !self.any_below(node);
            usize::from(is_left_out) + self.filtered_out(&node.children)
        };
        if self.words.is_empty() {
            return 0;
        }
        nodes.iter().map(count).sum()
    }

    fn any_below(&self, node: &Node) -> bool {
        node.children
            .iter()
            .any(|child| self.matches(child) || self.any_below(child))
    }

    fn is_active(&self, node: &Node) -> bool {
        let Some(active) = self.wanted.active else {
            return true;
        };
        active.contains(&node.key) || node.children.iter().any(|child| self.is_active(child))
    }

    pub(super) fn add_all(
        &mut self,
        parent: Option<RowKey>,
        nodes: &'a [Node],
        depth: u8,
        passed: Passed,
    ) {
        let Some(order) = self.wanted.layout.order.get(&parent) else {
            for node in nodes {
                self.add(node, depth, passed);
            }
            return;
        };
        let place: FxHashMap<RowKey, usize> = order.iter().copied().zip(0..).collect();
        let mut sorted: Vec<&'a Node> = nodes.iter().collect();
        sorted.sort_by_key(|node| Rank::from(place.get(&node.key)));
        for node in sorted {
            self.add(node, depth, passed);
        }
    }

    pub(super) fn add(&mut self, node: &'a Node, depth: u8, passed: Passed) {
        if self.wanted.layout.hidden.contains(&node.key) {
            return;
        }
        let has_passed = passed == Passed::Already || self.matches(node);
        if (!has_passed && !self.any_below(node)) || !self.is_active(node) {
            return;
        }
        let is_filtering = !self.words.is_empty();
        let fold = match self.wanted.layout.folds.get(&node.key) {
            _ if !node.can_close() => Fold::None,
            // Matches inside a group must be visible.
            _ if is_filtering && !has_passed => Fold::Open,
            Some(&fold) => fold,
            None if node.is_open_at_first => Fold::Open,
            None => Fold::Closed,
        };
        if fold == Fold::Closed {
            self.closed.push((self.rows.len() as u32, node));
        }
        self.push(node, depth, fold);
        if fold != Fold::Closed {
            let passed = if has_passed && is_filtering {
                Passed::Already
            } else {
                passed
            };
            self.add_all(
                Some(node.key),
                &node.children,
                depth.saturating_add(1),
                passed,
            );
        }
    }

    /// Returns the note of a row; a note that counts the group's children becomes "shown of all" if some are left out.
    fn note_of(&self, node: &Node) -> Arc<str> {
        let count = node.children.len();
        let is_left_out = |child: &&Node| {
            self.wanted.layout.hidden.contains(&child.key) || !self.is_active(child)
        };
        match node.children.iter().filter(is_left_out).count() {
            some if some > 0 && *node.note == *count.to_string() => {
                format!("{} of {count}", count - some).into()
            }
            _ => node.note.clone(),
        }
    }

    fn push(&mut self, node: &Node, depth: u8, fold: Fold) {
        let layout = self.wanted.layout;
        let lanes = match fold {
            Fold::Closed => &node.closed_lanes,
            Fold::None | Fold::Open => &node.lanes,
        };
        // A row whose height the user chose shows all its lanes.
        let legible = match layout.heights.contains_key(&node.key) {
            true => None,
            false => self.wanted.legible,
        };
        let drawn = lanes_at(lanes, legible);
        let title = match layout.names.get(&node.key) {
            Some(name) => Arc::from(name.as_str()),
            None => node.title.clone(),
        };
        self.rows.push(Row {
            key: node.key,
            kind: node.kind,
            depth,
            title,
            note: self.note_of(node),
            fold,
            lanes: drawn.lanes,
            merged: drawn.merged,
            top: 0.0,
            height: 0.0,
        });
    }
}
