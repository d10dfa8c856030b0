//! Groups and sorts the tracks: threads by process, by name, or in one list.

use super::outline::{Node, Outline};
use super::rows::{RowKey, RowKind};
use crate::trace::Trace;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What threads are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GroupBy {
    /// By their process.
    #[default]
    Process,
    /// By name, across processes: workers of one kind are together.
    Name,
    /// Not grouped: all in one list.
    Nothing,
}

impl GroupBy {
    /// All variants, in menu order.
    pub const ALL: [GroupBy; 3] = [GroupBy::Process, GroupBy::Name, GroupBy::Nothing];

    /// Label in menus.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            GroupBy::Process => "Process",
            GroupBy::Name => "Thread name",
            GroupBy::Nothing => "Nothing (one list)",
        }
    }
}

/// What threads and processes are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SortBy {
    /// Busiest first.
    #[default]
    Activity,
    /// By name.
    Name,
    /// By pid or tid.
    Number,
}

impl SortBy {
    /// All variants, in menu order.
    pub const ALL: [SortBy; 3] = [SortBy::Activity, SortBy::Name, SortBy::Number];

    /// Label in menus.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            SortBy::Activity => "Activity",
            SortBy::Name => "Name",
            SortBy::Number => "Number",
        }
    }
}

impl Outline {
    /// Returns the tree of `trace`, grouped and sorted.
    #[must_use]
    pub(crate) fn arranged(trace: &Trace, group_by: GroupBy, sort_by: SortBy) -> Outline {
        let mut outline = Outline::new(trace);
        match group_by {
            GroupBy::Process => {}
            GroupBy::Name | GroupBy::Nothing => outline.gather(group_by),
        }
        if sort_by != SortBy::Activity {
            sort(&mut outline.nodes, sort_by);
        }
        outline
    }

    /// Takes the threads out of their processes and groups them by name, or puts them into one list.
    fn gather(&mut self, group_by: GroupBy) {
        let mut threads = Vec::new();
        let mut rest = Vec::new();
        for node in std::mem::take(&mut self.nodes) {
            take_threads(node, &mut threads, &mut rest);
        }
        self.nodes = rest;
        threads.sort_by_key(|node| std::cmp::Reverse(node.activity));
        if group_by == GroupBy::Nothing {
            self.nodes.append(&mut threads);
            return;
        }
        let mut at_name: FxHashMap<Arc<str>, usize> = FxHashMap::default();
        let mut groups: Vec<Vec<Node>> = Vec::new();
        for thread in threads {
            let at = *at_name.entry(thread.title.clone()).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Vec::new());
            }
            groups[at].push(thread);
        }
        for mut group in groups {
            // A single thread of its name needs no group.
            if group.len() == 1 {
                self.nodes.append(&mut group);
                continue;
            }
            let title = group[0].title.clone();
            let mut hasher = FxHasher::default();
            title.hash(&mut hasher);
            self.nodes
                .push(Node::group(RowKey::Named(hasher.finish()), &title, group));
        }
    }
}

/// Splits a tree into its threads and the nodes left without them.
fn take_threads(mut node: Node, threads: &mut Vec<Node>, rest: &mut Vec<Node>) {
    let is_thread = matches!(node.kind, RowKind::Thread(_));
    if is_thread {
        threads.push(node);
        return;
    }
    let mut kept = Vec::new();
    for child in std::mem::take(&mut node.children) {
        take_threads(child, threads, &mut kept);
    }
    let is_process = matches!(node.kind, RowKind::Process(_)) || node.key == RowKey::Loose;
    if !is_process || !kept.is_empty() {
        node.children = kept;
        rest.push(node);
    }
}

/// Sorts processes and threads; other groups keep their places.
fn sort(nodes: &mut [Node], sort_by: SortBy) {
    let first = nodes
        .iter()
        .position(|node| {
            matches!(node.kind, RowKind::Process(_) | RowKind::Thread(_))
                || matches!(node.key, RowKey::Named(_))
        })
        .unwrap_or(nodes.len());
    let number = |node: &Node| {
        let digits: String = node.note.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap_or(u64::MAX)
    };
    match sort_by {
        SortBy::Activity => {}
        SortBy::Name => {
            nodes[first..].sort_by_key(|node| (node.title.to_lowercase(), number(node)))
        }
        SortBy::Number => nodes[first..].sort_by_key(number),
    }
    for node in nodes {
        sort(&mut node.children, sort_by);
    }
}
