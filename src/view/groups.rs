//! Groups that the user makes of tracks: a name, and the tracks that are taken out of where they lie by nature.
//!
//! They are part of the layout; the outline is made with them. A group may lie in another one.

use super::kept_places::KeptPlaces;
use super::layout::{FoundBy, Layout};
use super::outline::{Node, Outline};
use super::rows::RowKey;
use crate::trace::Trace;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A track in a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Member {
    /// The file's own name for it.
    pub key: Option<RowKey>,
    /// The titles from the top down to it, where it lies by nature.
    pub path: Vec<String>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackGroup {
    /// Its number: `RowKey::Made` of it is its row.
    pub id: u32,
    /// What the user calls it.
    pub name: String,
    /// What lies in it.
    pub members: Vec<Member>,
}

impl Outline {
    /// The tree of `trace` as `layout` gathers and sorts it, before the user's groups are made. `kept`: where its rows
    /// stood before the trace grew.
    #[must_use]
    pub(super) fn natural(trace: &Trace, layout: &Layout, kept: Option<&KeptPlaces>) -> Outline {
        let outline =
            Outline::arranged(trace, layout.group_by, layout.sort_by).plotted(trace, &layout.plots);
        match kept {
            Some(kept) => outline.at_places(kept),
            None => outline,
        }
    }

    /// The same with the members of `groups` put together.
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
        // A group stands where the first of its members stood.
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
        let mut made: Vec<(usize, Node)> = Vec::new();
        for group in groups {
            let key = RowKey::Made(group.id);
            // Groups that lie in each other in a circle are drawn as if they did not.
            if !inner.contains(&key) || is_in_circle(groups, group.id) {
                let mut place = usize::MAX;
                let node = node_of(group, groups, &mut wanted, &places, &mut place, 0);
                // Tracks that this generation of the trace does not have yet are waited for.
                if !node.children.is_empty() {
                    made.push((place, node));
                }
            }
        }
        made.sort_by_key(|(place, _)| *place);
        for (place, node) in made.into_iter().rev() {
            let at = left.partition_point(|other| *other < place);
            self.nodes.insert(at, node);
        }
        self
    }
}

/// How deep groups can lie in each other.
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

/// `node` without what is wanted in it; nothing if it is wanted itself, or is empty without it.
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
    place: &mut usize,
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
            *place = (*place).min(places.get(&key).copied().unwrap_or(usize::MAX));
            children.push(node);
        }
    }
    Node::group(RowKey::Made(group.id), &group.name, children)
}

impl Layout {
    /// The group that a track was put in.
    #[must_use]
    pub fn group_of(&self, key: RowKey) -> Option<&TrackGroup> {
        let holds = |group: &&TrackGroup| group.members.iter().any(|it| it.key == Some(key));
        self.groups.iter().find(holds)
    }

    /// The group that a row is of.
    #[must_use]
    pub fn group(&self, key: RowKey) -> Option<&TrackGroup> {
        self.groups
            .iter()
            .find(|group| RowKey::Made(group.id) == key)
    }

    /// Makes a group of tracks; its row. `natural` is the outline without any groups.
    pub(super) fn make_group(
        &mut self,
        outline: &Outline,
        natural: &Outline,
        keys: &[RowKey],
    ) -> Option<RowKey> {
        let members = members(outline, natural, keys);
        if members.is_empty() {
            return None;
        }
        let id = self.groups.iter().map(|group| group.id + 1).max();
        let id = id.unwrap_or(1);
        let first = members.first().and_then(|first| first.key);
        let parent = first.and_then(|key| self.group_of(key));
        let is_first = |member: &Member| member.key == first;
        let place = parent.and_then(|group| group.members.iter().position(is_first));
        let (parent, place) = (parent.map(|it| it.id), place.unwrap_or(usize::MAX));
        let keys = members.iter().filter_map(|member| member.key);
        let tops: Vec<RowKey> = keys.filter_map(|key| outline.top_of(key)).collect();
        for member in &members {
            self.leave(member.key);
        }
        self.groups.push(TrackGroup {
            id,
            name: format!("Group {id}"),
            members,
        });
        // What is made of members of a group stays in it.
        if let Some(parent) = self.groups.iter_mut().find(|it| Some(it.id) == parent) {
            let at = place.min(parent.members.len());
            let member = Member {
                key: Some(RowKey::Made(id)),
                path: Vec::new(),
            };
            parent.members.insert(at, member);
        }
        self.drop_empty();
        // Where the user ordered the tracks, the group stands where its first member stood.
        if let Some(order) = self.order.get_mut(&None) {
            let places = tops
                .iter()
                .filter_map(|top| order.iter().position(|key| key == top));
            if let Some(at) = places.min() {
                order.insert(at, RowKey::Made(id));
            }
        }
        Some(RowKey::Made(id))
    }

    /// Puts a track into a group, before another of its tracks or last.
    pub(super) fn join(
        &mut self,
        natural: &Outline,
        key: RowKey,
        into: RowKey,
        before: Option<RowKey>,
    ) {
        // A group cannot lie in itself, nor in what lies in it.
        let mut around = Some(into);
        for _ in 0..=self.groups.len() {
            if around == Some(key) {
                return;
            }
            around = around
                .and_then(|key| self.group_of(key))
                .map(|group| RowKey::Made(group.id));
        }
        let kept = self
            .group_of(key)
            .and_then(|group| group.members.iter().find(|it| it.key == Some(key)))
            .cloned();
        let Some(member) = kept.or_else(|| members(natural, natural, &[key]).pop()) else {
            return;
        };
        if before == Some(key) {
            return;
        }
        self.leave(Some(key));
        if let Some(group) = self
            .groups
            .iter_mut()
            .find(|group| RowKey::Made(group.id) == into)
        {
            let at = group.members.iter().position(|it| it.key == before);
            let at = at.filter(|_| before.is_some());
            group
                .members
                .insert(at.unwrap_or(group.members.len()), member);
        }
        self.drop_empty();
    }

    /// Takes a track out of its group: it goes where it lies by nature.
    pub(super) fn take_out(&mut self, key: RowKey) {
        self.leave(Some(key));
        self.drop_empty();
    }

    /// Takes a group apart.
    pub(super) fn ungroup(&mut self, key: RowKey) {
        let Some(at) = self
            .groups
            .iter()
            .position(|group| RowKey::Made(group.id) == key)
        else {
            return;
        };
        let members = self.groups.remove(at).members;
        let around = self
            .groups
            .iter_mut()
            .find(|group| group.members.iter().any(|it| it.key == Some(key)));
        if let Some(around) = around {
            around.members.retain(|it| it.key != Some(key));
            around.members.extend(members);
        }
        self.drop_empty();
    }

    fn leave(&mut self, key: Option<RowKey>) {
        for group in &mut self.groups {
            group.members.retain(|member| member.key != key);
        }
    }

    fn drop_empty(&mut self) {
        loop {
            let empty = self.groups.iter().position(|it| it.members.is_empty());
            let Some(at) = empty else { return };
            let gone = RowKey::Made(self.groups.remove(at).id);
            self.leave(Some(gone));
        }
    }
}

/// Those of `keys` that lie in none of the others, from top to bottom, with where they lie by nature.
fn members(outline: &Outline, natural: &Outline, keys: &[RowKey]) -> Vec<Member> {
    let mut found = Vec::new();
    outline.visit(&mut |path, node| {
        let above = path.split_last().map_or(&[][..], |(_, above)| above);
        let is_inside = above.iter().any(|node| keys.contains(&node.key));
        if keys.contains(&node.key) && !is_inside {
            found.push(Member {
                key: Some(node.key),
                path: Vec::new(),
            });
        }
    });
    natural.visit(&mut |path, node| {
        if let Some(member) = found.iter_mut().find(|it| it.key == Some(node.key)) {
            member.path = path.iter().map(|node| node.title.to_string()).collect();
        }
    });
    found
}

/// The groups that were written down as they are for the tracks of `outline`, which has none yet.
#[must_use]
pub fn found_again(saved: &[TrackGroup], outline: &Outline, found_by: FoundBy) -> Vec<TrackGroup> {
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
