//! Flame graphs: the nested slices of an area, or the call stacks recorded in it, merged by their paths.
//!
//! Slices count with the time that they take inside the area, stacks with one each. Slices that never ended count with
//! the time that they certainly lasted, which is at least the time of the slices inside them. Their number and their
//! part of a total are counted separately, because such a total is only a lower bound. A graph has at most
//! [`MAX_NODES`] nodes; slices and stacks that need another node count as own time of their caller, and are counted as
//! left out.

mod build;
mod tables;

use crate::base::visible::is_active;
use crate::event::SliceKind;
use rustc_hash::FxHashMap;

pub use build::{Roots, of_slices, of_stacks};

/// The greatest number of nodes of a graph.
pub(crate) const MAX_NODES: usize = 200_000;

/// The unit of a graph's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Times in ns.
    Nanos,
    /// Numbers of stacks.
    Samples,
}

/// A merged call tree. Node 0 is the root, which contains everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flame {
    /// All nodes; callers come before what they call.
    pub nodes: Vec<Node>,
    /// The unit of the numbers.
    pub unit: Unit,
    /// The number of slices or stacks that did not fit.
    pub left_out: u64,
    names: Vec<Name>,
}

/// The name of nodes. A program and a system call may have one text: their kinds keep them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    text: String,
    /// The kind of slices; `None`: a track, a function of a stack, or the root.
    kind: Option<SliceKind>,
}

/// One path of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Number of its name.
    name: u32,
    /// The node that calls it; the root's is itself.
    pub parent: u32,
    /// The number of nodes above it; 0 for the root.
    pub depth: u32,
    /// The total, including all nodes that it calls.
    pub total: i64,
    /// The total without nested slices or called functions.
    pub own: i64,
    /// The number of finished slices, or of stacks through the node.
    pub count: u64,
    /// The number of its unfinished slices.
    pub unfinished: u64,
    /// The part of the total that unfinished slices make up.
    pub unfinished_ns: i64,
    /// Indices of the nodes that it calls, the largest first.
    pub children: Vec<u32>,
}

impl Flame {
    /// Returns a node's name; the root has none.
    #[must_use]
    pub fn name(&self, node: u32) -> &str {
        let node = self.nodes.get(node as usize);
        node.and_then(|node| self.names.get(node.name as usize))
            .map_or("", |name| name.text.as_str())
    }

    /// Returns the names from the root's children down to a node.
    #[must_use]
    pub fn path(&self, node: u32) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = node;
        while at != 0 && path.len() < self.nodes.len() {
            path.push(self.name(at));
            at = self.nodes.get(at as usize).map_or(0, |node| node.parent);
        }
        path.reverse();
        path
    }

    /// Returns the paths that have own time (in ns) as folded stacks, one line (`a;b;c N`) each, as flame graph tools
    /// read them. That form has no escapes: `;` of a name is `,` there, and its control characters are blanks.
    pub(crate) fn folded(&self) -> impl Iterator<Item = String> {
        let plain = |name: &str| -> String {
            let as_there = |it: char| match it {
                ';' => ',',
                it if it.is_control() || is_active(it) => ' ',
                it => it,
            };
            name.chars().map(as_there).collect()
        };
        let nodes = (0..).zip(&self.nodes).skip(1);
        nodes
            .filter(|(_, node)| node.own > 0)
            .map(move |(id, node)| {
                let names: Vec<String> = self.path(id).into_iter().map(plain).collect();
                format!("{} {}", names.join(";"), node.own)
            })
    }

    /// Returns whether a node's total contains unfinished slices: then it is a lower bound.
    #[must_use]
    pub(crate) fn is_at_least(&self, node: u32) -> bool {
        let Some(of) = self.nodes.get(node as usize) else {
            return false;
        };
        // The root and the nodes of tracks have no slices of their own: they are lower bounds if one of their children
        // is.
        let is_container = of.count == 0 && of.depth <= 1;
        of.unfinished > 0 || (is_container && of.children.iter().any(|&it| self.is_at_least(it)))
    }

    /// Returns whether the graph is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() < 2
    }
}

/// A tree to which nodes are added.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    by_path: FxHashMap<(u32, u32), u32>,
    names: Vec<Name>,
    /// By kind, by text: the number of a name.
    by_name: FxHashMap<Option<SliceKind>, FxHashMap<String, u32>>,
    left_out: u64,
}

impl Tree {
    pub(super) fn new() -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            by_path: FxHashMap::default(),
            names: Vec::new(),
            by_name: FxHashMap::default(),
            left_out: 0,
        };
        let name = tree.name("", None);
        tree.nodes.push(Node {
            name,
            parent: 0,
            depth: 0,
            total: 0,
            own: 0,
            count: 0,
            unfinished: 0,
            unfinished_ns: 0,
            children: Vec::new(),
        });
        tree
    }

    /// Returns the number of a name.
    pub(super) fn name(&mut self, text: &str, kind: Option<SliceKind>) -> u32 {
        let of_kind = self.by_name.entry(kind).or_default();
        if let Some(&id) = of_kind.get(text) {
            return id;
        }
        let id = self.names.len() as u32;
        of_kind.insert(text.to_owned(), id);
        let text = text.to_owned();
        self.names.push(Name { text, kind });
        id
    }

    fn number_of(&mut self, name: &Name) -> u32 {
        self.name(&name.text, name.kind)
    }

    /// Returns the node of `name` below `parent`; `None` if the tree is full.
    pub(crate) fn child(&mut self, parent: u32, name: u32) -> Option<u32> {
        if let Some(&node) = self.by_path.get(&(parent, name)) {
            return Some(node);
        }
        if self.nodes.len() >= MAX_NODES {
            return None;
        }
        let id = self.nodes.len() as u32;
        let depth = self.nodes.get(parent as usize).map_or(0, |node| node.depth) + 1;
        self.nodes.push(Node {
            name,
            parent,
            depth,
            total: 0,
            own: 0,
            count: 0,
            unfinished: 0,
            unfinished_ns: 0,
            children: Vec::new(),
        });
        self.by_path.insert((parent, name), id);
        Some(id)
    }

    /// Adds to a node's numbers.
    pub(crate) fn add(&mut self, node: u32, total: i64, own: i64, count: u64) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.total = node.total.saturating_add(total);
            node.own = node.own.saturating_add(own);
            node.count += count;
        }
    }

    /// Adds unfinished slices to a node.
    pub(crate) fn add_unfinished(&mut self, node: u32, count: u64, ns: i64) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.unfinished += count;
            node.unfinished_ns = node.unfinished_ns.saturating_add(ns);
        }
    }

    /// Returns the node that calls a node.
    pub(crate) fn caller(&self, node: u32) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.parent)
    }

    pub(crate) fn leave_out(&mut self, count: u64) {
        self.left_out += count;
    }

    /// Adds the nodes of another tree.
    pub(crate) fn absorb(&mut self, other: &Tree) {
        let names: Vec<u32> = other
            .names
            .iter()
            .map(|name| self.number_of(name))
            .collect();
        let mut places: Vec<u32> = vec![0; other.nodes.len()];
        for (at, node) in other.nodes.iter().enumerate() {
            let place = if at == 0 {
                Some(0)
            } else {
                self.child(places[node.parent as usize], names[node.name as usize])
            };
            match place {
                Some(place) => {
                    places[at] = place;
                    self.add(place, node.total, node.own, node.count);
                    self.add_unfinished(place, node.unfinished, node.unfinished_ns);
                }
                None => {
                    // The total of the caller already contains it.
                    places[at] = places[node.parent as usize];
                    self.add(places[at], 0, node.own, 0);
                    self.left_out += node.count + node.unfinished;
                }
            }
        }
        self.left_out += other.left_out;
    }

    /// Returns the graph; the children of each node are sorted by `size`, the largest first.
    pub(crate) fn finish(mut self, unit: Unit, size: impl Fn(&Node) -> i64) -> Flame {
        for node in &mut self.nodes {
            node.own = node.own.max(0);
        }
        let mut order: Vec<u32> = (1..self.nodes.len() as u32).collect();
        order.sort_by_key(|&id| {
            let node = &self.nodes[id as usize];
            (std::cmp::Reverse(size(node)), node.name)
        });
        for id in order {
            let parent = self.nodes[id as usize].parent as usize;
            self.nodes[parent].children.push(id);
        }
        Flame {
            nodes: self.nodes,
            unit,
            left_out: self.left_out,
            names: self.names,
        }
    }
}
