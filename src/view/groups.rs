//! The user's groups of tracks: each has a name and members that are taken out of their natural places.
//!
//! Groups are part of the layout and applied when the outline is built. A group may contain groups.

use super::outline::{Node, Outline};
use super::row::RowKey;
use crate::base::order::Rank;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A track in a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    /// Row key of the track.
    pub key: Option<RowKey>,
    /// Titles from the root down to the track at its natural place.
    pub path: Vec<String>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackGroup {
    /// Number of the group: its row is `RowKey::Made(id)`.
    pub id: u32,
    /// Name that the user gave it.
    pub name: String,
    /// The tracks and groups in it.
    pub members: Vec<Member>,
}

impl Outline {
    /// Returns the outline with the members of `groups` moved into their groups.
    #[must_use]
    pub(super) fn grouped(mut self, groups: &[TrackGroup]) -> Outline {
        if groups.is_empty() {
            return self;
        }
        let mut wanted: FxHashMap<RowKey, Option<Node>> = groups
            .iter()
            .flat_map(|group| &group.members)
            .filter_map(|member| Some((member.key?, None)))
            .collect();
        // A group takes the place of its first member.
        let mut places: FxHashMap<RowKey, usize> = FxHashMap::default();
        let mut left: Vec<usize> = Vec::new();
        for (place, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if let Some(node) = taken_out(node, place, &mut wanted, &mut places) {
                self.nodes.push(node);
                left.push(place);
            }
        }
        let inner: Vec<RowKey> = groups
            .iter()
            .flat_map(|group| group.members.iter().filter_map(|member| member.key))
            .filter(|key| matches!(key, RowKey::Made(_)))
            .collect();
        let mut made: Vec<(Rank<usize>, Node)> = Vec::new();
        for group in groups {
            let key = RowKey::Made(group.id);
            // Groups that contain each other in a circle are drawn at the top level.
            if !inner.contains(&key) || is_in_circle(groups, group.id) {
                let mut place = Rank::Last;
                let node = node_of(group, groups, &mut wanted, &places, &mut place, 0);
                // A group stays invisible until the trace has one of its tracks: a trace that grows may get it later.
                if !node.children.is_empty() {
                    made.push((place, node));
                }
            }
        }
        made.sort_by_key(|(place, _)| *place);
        for (place, node) in made.into_iter().rev() {
            let at = left.partition_point(|other| Rank::At(*other) < place);
            self.nodes.insert(at, node);
        }
        self
    }
}

/// Deepest nesting of groups.
const MOST_DEEP: usize = 8;

fn is_in_circle(groups: &[TrackGroup], id: u32) -> bool {
    let mut open = vec![id];
    let mut seen = Vec::new();
    while let Some(next) = open.pop() {
        let Some(group) = groups.iter().find(|group| group.id == next) else {
            continue;
        };
        for member in &group.members {
            if let Some(RowKey::Made(inner)) = member.key {
                if inner == id {
                    return true;
                }
                if !seen.contains(&inner) {
                    seen.push(inner);
                    open.push(inner);
                }
            }
        }
    }
    false
}

/// Returns `node` without the wanted nodes inside it; `None` if it is wanted itself, or empty without them.
fn taken_out(
    mut node: Node,
    place: usize,
    wanted: &mut FxHashMap<RowKey, Option<Node>>,
    places: &mut FxHashMap<RowKey, usize>,
) -> Option<Node> {
    let count = node.children.len();
    node.children = std::mem::take(&mut node.children)
        .into_iter()
        .filter_map(|child| taken_out(child, place, wanted, places))
        .collect();
    if let Some(kept) = wanted.get_mut(&node.key) {
        places.insert(node.key, place);
        *kept = Some(node);
        return None;
    }
    if node.children.len() < count && *node.note == *count.to_string() {
        node.note = node.children.len().to_string().into();
    }
    let is_emptied = count > 0 && node.children.is_empty() && node.lanes.is_empty();
    (!is_emptied).then_some(node)
}

fn node_of(
    group: &TrackGroup,
    groups: &[TrackGroup],
    wanted: &mut FxHashMap<RowKey, Option<Node>>,
    places: &FxHashMap<RowKey, usize>,
    place: &mut Rank<usize>,
    depth: usize,
) -> Node {
    let mut children = Vec::new();
    for key in group.members.iter().filter_map(|member| member.key) {
        let inner = match key {
            RowKey::Made(id) if depth < MOST_DEEP && !is_in_circle(groups, id) => {
                groups.iter().find(|group| group.id == id)
            }
            _ => None,
        };
        if let Some(inner) = inner {
            children.push(node_of(inner, groups, wanted, places, place, depth + 1));
        } else if let Some(node) = wanted.get_mut(&key).and_then(Option::take) {
            *place = (*place).min(places.get(&key).copied().into());
            children.push(node);
        }
    }
    Node::group(RowKey::Made(group.id), &group.name, children)
}
