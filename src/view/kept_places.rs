//! Keeps rows in place while a trace grows: known rows keep their order whichever is busiest by now, new ones follow.

use super::outline::{Node, Outline};
use super::rows::{RowKey, RowKind};
use crate::base::order::Rank;
use rustc_hash::FxHashMap;

/// A node's index among its siblings, and whether it was open initially.
type Place = (usize, bool);

/// Places of a trace's rows before it grew, without the user's groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptPlaces(FxHashMap<RowKey, Place>);

impl KeptPlaces {
    /// Records the places of `outline`.
    #[must_use]
    pub fn of(outline: &Outline) -> KeptPlaces {
        let mut places = FxHashMap::default();
        note(&outline.nodes, &mut places);
        KeptPlaces(places)
    }
}

impl Outline {
    /// Puts the nodes in the order of `kept`. New nodes come after the kept nodes; a new group stays after the node
    /// that it follows in the new outline. Nodes that were open initially stay open.
    #[must_use]
    pub(crate) fn at_places(mut self, kept: &KeptPlaces) -> Outline {
        keep(&mut self.nodes, &kept.0);
        self
    }
}

fn note(nodes: &[Node], places: &mut FxHashMap<RowKey, Place>) {
    for (at, node) in nodes.iter().enumerate() {
        places.insert(node.key, (at, node.is_open_at_first));
        note(&node.children, places);
    }
}

fn keep(nodes: &mut Vec<Node>, places: &FxHashMap<RowKey, Place>) {
    for node in nodes.iter_mut() {
        if let Some((_, is_open)) = places.get(&node.key) {
            node.is_open_at_first = *is_open;
        }
        keep(&mut node.children, places);
    }
    // A process with one thread shares its thread's row. When it gets a second thread, its new row takes the position
    // of that row.
    let place_of = |node: &Node| {
        let of_children = || node.children.iter().filter_map(|it| places.get(&it.key));
        let own = places.get(&node.key).map(|(at, _)| *at);
        own.or_else(|| match node.kind {
            RowKind::Process(_) => of_children().map(|(at, _)| *at).min(),
            _ => None,
        })
    };
    let mut last = 0;
    let mut sorted: Vec<([Rank<usize>; 2], Node)> = Vec::with_capacity(nodes.len());
    for (at, node) in std::mem::take(nodes).into_iter().enumerate() {
        let is_group = matches!(node.kind, RowKind::Group | RowKind::Source(_));
        let key = match place_of(&node) {
            Some(place) => {
                last = place + 1;
                [Rank::At(place), Rank::Last]
            }
            // Right after the node it comes after now.
            None if is_group => [last, at].map(Rank::At),
            None => [Rank::Last, Rank::At(at)],
        };
        sorted.push((key, node));
    }
    sorted.sort_by_key(|(key, _)| *key);
    nodes.extend(sorted.into_iter().map(|(_, node)| node));
}
