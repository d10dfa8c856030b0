//! The tree of tracks of one trace: CPUs, processes and their threads, counters, asynchronous groups.
//!
//! Built once per generation of a trace; `rows` decides which part is visible (open, closed, filtered). Keys use the
//! file's own names, so that a row the user closed stays closed in the next generation.

use super::rows::{Lane, LaneKind, RowKey, RowKind, Summarised};
use crate::query::item::Item;
use crate::query::jobs::Jobs;
use crate::trace::Trace;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A track or a group of tracks.
#[derive(Clone, Debug)]
pub struct Node {
    /// Identifies the row across generations.
    pub key: RowKey,
    /// Kind of the row.
    pub kind: RowKind,
    /// Title at the left.
    pub title: Arc<str>,
    /// Small text after the title.
    pub note: Arc<str>,
    /// Lanes drawn when the row is open.
    pub lanes: Vec<Lane>,
    /// Lanes drawn when the row is closed.
    pub closed_lanes: Vec<Lane>,
    /// Nodes inside this one.
    pub children: Vec<Node>,
    /// Whether the row is open until the user closes it.
    pub is_open_at_first: bool,
    /// Number of data rows inside: busier nodes come first.
    pub activity: u64,
}

impl Node {
    /// Returns whether the node is a track rather than a group of tracks.
    #[must_use]
    pub(crate) fn is_track(&self) -> bool {
        !matches!(self.kind, RowKind::Group | RowKind::Source(_))
    }

    pub(super) fn group(key: RowKey, title: &str, children: Vec<Node>) -> Node {
        Node {
            key,
            kind: RowKind::Group,
            title: title.into(),
            note: children.len().to_string().into(),
            lanes: Vec::new(),
            closed_lanes: summary_lanes(key, &children),
            activity: children.iter().map(|child| child.activity).sum(),
            children,
            is_open_at_first: true,
        }
    }

    /// Returns whether closing the row hides anything.
    #[must_use]
    pub(crate) fn can_close(&self) -> bool {
        !self.children.is_empty() || self.closed_lanes.len() < self.lanes.len()
    }
}

/// Returns the lane that a closed row of `children` shows: the mean of their lanes; none if they have no lanes to add
/// up.
pub(super) fn summary_lanes(key: RowKey, children: &[Node]) -> Vec<Lane> {
    let has = |is_it: fn(&LaneKind) -> bool| {
        fn any(node: &Node, is_it: fn(&LaneKind) -> bool) -> bool {
            let has_own = node.lanes.iter().any(|lane| is_it(&lane.kind));
            has_own || node.children.iter().any(|child| any(child, is_it))
        }
        children.iter().any(|child| any(child, is_it))
    };
    let of = if has(|kind| matches!(kind, LaneKind::States(_))) {
        Summarised::States
    } else if has(|kind| matches!(kind, LaneKind::Runs(_) | LaneKind::Slices(_))) {
        Summarised::Fullness
    } else {
        return Vec::new();
    };
    vec![Lane::new(LaneKind::Summary(key, of))]
}

impl Node {
    /// Returns the lanes that the row's summary adds up: one for each track inside it.
    #[must_use]
    pub(crate) fn summarised(&self, of: Summarised) -> Vec<LaneKind> {
        fn collect(node: &Node, of: Summarised, lanes: &mut Vec<LaneKind>) {
            let is_it = |kind: &LaneKind| match of {
                Summarised::States => matches!(kind, LaneKind::States(_)),
                Summarised::Fullness => matches!(kind, LaneKind::Runs(_) | LaneKind::Slices(_)),
            };
            // The outermost slices of a track.
            lanes.extend(node.lanes.iter().map(|lane| lane.kind).find(is_it));
            for child in &node.children {
                collect(child, of, lanes);
            }
        }
        let mut lanes = Vec::new();
        collect(self, of, &mut lanes);
        lanes
    }
}

/// The top-level nodes, in display order.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The top-level nodes.
    pub nodes: Vec<Node>,
    /// Number of tracks, without groups.
    pub track_count: usize,
    /// The jobs of a build.
    pub jobs: Arc<Jobs>,
}

/// Returns a hash that is the same in every generation of a trace.
pub(super) fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Outline {
    /// Visits all nodes from top to bottom, each with the path from the root to it, itself included.
    pub fn visit<'a>(&'a self, each: &mut dyn FnMut(&[&'a Node], &'a Node)) {
        fn walk<'a>(
            nodes: &'a [Node],
            path: &mut Vec<&'a Node>,
            each: &mut dyn FnMut(&[&'a Node], &'a Node),
        ) {
            for node in nodes {
                path.push(node);
                each(path, node);
                walk(&node.children, path, each);
                path.pop();
            }
        }
        walk(&self.nodes, &mut Vec::new(), each);
    }

    /// Returns the node with this key.
    #[must_use]
    pub fn node(&self, key: RowKey) -> Option<&Node> {
        fn find(nodes: &[Node], key: RowKey) -> Option<&Node> {
            nodes.iter().find_map(|node| {
                if node.key == key {
                    return Some(node);
                }
                find(&node.children, key)
            })
        }
        find(&self.nodes, key)
    }

    /// Returns the row of a thread or a process; a process with a single thread has the thread's row.
    #[must_use]
    pub(crate) fn key_of(&self, trace: &Trace, item: Item) -> Option<RowKey> {
        let is_row = |kind: RowKind| match (item, kind) {
            (Item::Process(wanted), RowKind::Process(process)) => process == wanted,
            (Item::Process(wanted), RowKind::Thread(thread)) => {
                trace.thread(thread).process == Some(wanted)
            }
            (Item::Thread(wanted), RowKind::Thread(thread)) => thread == wanted,
            _ => false,
        };
        let mut found = None;
        self.visit(&mut |_, node| {
            if found.is_none() && is_row(node.kind) {
                found = Some(node.key);
            }
        });
        found
    }

    /// Returns the top-level row that contains `key`, or is it.
    #[must_use]
    pub(crate) fn top_of(&self, key: RowKey) -> Option<RowKey> {
        fn holds(node: &Node, key: RowKey) -> bool {
            node.key == key || node.children.iter().any(|child| holds(child, key))
        }
        let top = self.nodes.iter().find(|node| holds(node, key))?;
        Some(top.key)
    }

    /// Returns the group that contains `key`.
    #[must_use]
    pub fn family(&self, key: RowKey) -> Option<Family<'_>> {
        fn find(parent: Option<RowKey>, nodes: &[Node], key: RowKey) -> Option<Family<'_>> {
            if nodes.iter().any(|node| node.key == key) {
                return Some(Family { parent, nodes });
            }
            nodes
                .iter()
                .find_map(|node| find(Some(node.key), &node.children, key))
        }
        find(None, &self.nodes, key)
    }
}

/// Nodes with the same parent.
pub struct Family<'a> {
    /// The key of the parent; `None` at the top level.
    pub parent: Option<RowKey>,
    /// All children of the parent.
    pub nodes: &'a [Node],
}

/// Returns the number of tracks in a node, itself included.
pub(super) fn count_tracks(node: &Node) -> usize {
    usize::from(node.is_track()) + node.children.iter().map(count_tracks).sum::<usize>()
}
