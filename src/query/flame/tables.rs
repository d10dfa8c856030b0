//! Lists made from a flame graph: bottom-up (callees with their callers), summed by name, laid out for drawing.

use rustc_hash::FxHashMap;

use super::{Flame, Tree};
use crate::event::SliceKind;

/// All nodes with one name and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTotal {
    /// The name.
    pub name: String,
    /// The kind of slices; `None`: a track, or a function of a stack.
    pub kind: Option<SliceKind>,
    /// The total, including all nodes that they call; recursion counts once.
    pub total: i64,
    /// The total without called functions.
    pub own: i64,
    /// The number of finished slices, or of stacks through the nodes.
    pub count: u64,
    /// The number of unfinished slices.
    pub unfinished: u64,
    /// The part of the total that unfinished slices make up; recursion counts once.
    pub unfinished_ns: i64,
}

/// A node as it is drawn: from `start` to `start + width` in the graph's unit, `depth` rows up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Index of the node.
    pub node: u32,
    /// The number of nodes above it; 0 for the root.
    pub depth: u32,
    /// The position of its left edge, in the graph's unit.
    pub start: i64,
    /// The width, in the graph's unit.
    pub width: i64,
}

/// A step of a walk through a flame graph.
enum Visit {
    /// A node, before what it calls.
    Enter(u32),
    /// The same node, after all that it calls.
    Leave(u32),
}

/// The most levels of callers in a bottom-up graph; callers above them are left out.
const MOST_CALLERS: usize = 256;

/// The limit of the number of callers of all nodes: `MOST_STEPS`, and `MOST_STEPS_EACH` more for each node. Without a
/// limit, the number of entries for one deep recursion would be the square of its depth.
const MOST_STEPS: usize = 1 << 12;
const MOST_STEPS_EACH: usize = 32;

impl Flame {
    /// Visits every node except the root twice: before and after the nodes that it calls.
    fn walk(&self, mut visit: impl FnMut(Visit)) {
        let children = |id: u32| {
            let children = &self.nodes[id as usize].children;
            children.iter().rev().map(|&child| Visit::Enter(child))
        };
        let mut stack: Vec<Visit> = Vec::new();
        if !self.nodes.is_empty() {
            stack.extend(children(0));
        }
        while let Some(step) = stack.pop() {
            if let Visit::Enter(id) = step {
                stack.push(Visit::Leave(id));
                stack.extend(children(id));
            }
            visit(step);
        }
    }

    /// Returns the bottom-up graph: the names with the most own time first, with their callers below them. `total` and
    /// `own` of a caller are the times of the name at its root while that is called from there. Graphs have at most 256
    /// levels of callers; graphs that are deeper than 32 calls on average have fewer, but at least 32.
    #[must_use]
    pub fn bottom_up(&self) -> Flame {
        let mut tree = Tree::new();
        let names: Vec<u32> = self.names.iter().map(|name| tree.number_of(name)).collect();
        // By node of the new tree: how many of the nodes around the current one have already added their time to it. A
        // recursive function counts once in the callers that its calls have in common.
        let mut inside: Vec<u32> = Vec::new();
        let mut lasts: Vec<u32> = Vec::new();
        let most_callers = self.most_callers();
        self.walk(|step| match step {
            Visit::Enter(id) => {
                let node = &self.nodes[id as usize];
                tree.add(0, node.own, 0, node.count);
                let (mut at, mut place, mut depth) = (id, 0, 0);
                while at != 0 && depth < most_callers {
                    let caller = &self.nodes[at as usize];
                    let Some(next) = tree.child(place, names[caller.name as usize]) else {
                        tree.leave_out(1);
                        break;
                    };
                    place = next;
                    depth += 1;
                    if place as usize >= inside.len() {
                        inside.resize(place as usize + 1, 0);
                    }
                    let is_first = inside[place as usize] == 0;
                    tree.add(
                        place,
                        if is_first { node.total } else { 0 },
                        node.own,
                        node.count,
                    );
                    let unfinished_ns = if is_first { node.unfinished_ns } else { 0 };
                    tree.add_unfinished(place, node.unfinished, unfinished_ns);
                    inside[place as usize] += 1;
                    at = caller.parent;
                }
                lasts.push(place);
            }
            Visit::Leave(_) => {
                let mut place = lasts.pop().unwrap_or(0);
                while place != 0 {
                    inside[place as usize] -= 1;
                    place = tree.caller(place);
                }
            }
        });
        tree.leave_out(self.left_out);
        tree.finish(self.unit, |node| node.own)
    }

    /// Returns the number of levels of callers for each node.
    fn most_callers(&self) -> usize {
        // By depth: the number of nodes that are at least that deep. One more level costs that number of steps.
        let mut deep = [0; MOST_CALLERS + 1];
        for node in &self.nodes {
            deep[MOST_CALLERS.min(node.depth as usize)] += 1;
        }
        for depth in (0..MOST_CALLERS).rev() {
            deep[depth] += deep[depth + 1];
        }
        let most_steps = MOST_STEPS + MOST_STEPS_EACH * self.nodes.len();
        let mut steps = 0;
        let mut fits = |count: &usize| {
            steps += count;
            steps <= most_steps
        };
        deep.iter().skip(1).take_while(|it| fits(it)).count()
    }

    /// Returns totals by name, sorted by own time, the largest first.
    #[must_use]
    pub fn by_name(&self) -> Vec<NameTotal> {
        let mut totals: FxHashMap<u32, NameTotal> = FxHashMap::default();
        let mut inside = vec![0_u32; self.names.len()];
        self.walk(|step| match step {
            Visit::Enter(id) => {
                let node = &self.nodes[id as usize];
                let inside = &mut inside[node.name as usize];
                let name = self.names.get(node.name as usize);
                let entry = totals.entry(node.name).or_insert_with(|| NameTotal {
                    name: name.map_or_else(String::new, |name| name.text.clone()),
                    kind: name.and_then(|name| name.kind),
                    total: 0,
                    own: 0,
                    count: 0,
                    unfinished: 0,
                    unfinished_ns: 0,
                });
                entry.own = entry.own.saturating_add(node.own);
                entry.count += node.count;
                entry.unfinished += node.unfinished;
                if *inside == 0 {
                    entry.total = entry.total.saturating_add(node.total);
                    entry.unfinished_ns = entry.unfinished_ns.saturating_add(node.unfinished_ns);
                }
                *inside += 1;
            }
            Visit::Leave(id) => inside[self.nodes[id as usize].name as usize] -= 1,
        });
        let mut totals: Vec<NameTotal> = totals.into_values().collect();
        totals.sort_by(|a, b| {
            (b.own, b.total, &a.name, a.kind).cmp(&(a.own, a.total, &b.name, b.kind))
        });
        totals
    }

    /// Returns the visible nodes and their positions if `top` takes the whole width; nodes narrower than `least` are
    /// left out. Callers come before what they call.
    #[must_use]
    pub fn layout(&self, top: u32, least: i64) -> Vec<Frame> {
        let Some(node) = self.nodes.get(top as usize) else {
            return Vec::new();
        };
        let mut frames = vec![Frame {
            node: top,
            depth: 0,
            start: 0,
            width: node.total,
        }];
        let mut at = 0;
        while let Some(frame) = frames.get(at).copied() {
            let mut start = frame.start;
            for &child in &self.nodes[frame.node as usize].children {
                let width = self.nodes[child as usize].total;
                // Children are sorted by size, the largest first.
                if width < least.max(1) {
                    break;
                }
                frames.push(Frame {
                    node: child,
                    depth: frame.depth + 1,
                    start,
                    width,
                });
                start = start.saturating_add(width);
            }
            at += 1;
        }
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Tree, Unit};

    #[test]
    fn sums_stop_where_the_numbers_end() {
        let mut tree = Tree::new();
        let [outer, inner] = ["outer", "inner"].map(|name| tree.name(name, None));
        for caller in ["a", "b"] {
            let caller = tree.name(caller, None);
            let at = tree.child(0, caller).expect("room");
            let at = tree.child(at, outer).expect("room");
            tree.add(at, i64::MAX, i64::MAX, 1);
            let at = tree.child(at, inner).expect("room");
            tree.add(at, i64::MAX, i64::MAX, 1);
        }
        let flame = tree.finish(Unit::Nanos, |node| node.total);
        for total in flame.by_name().iter().filter(|it| it.count == 2) {
            assert_eq!((total.total, total.own), (i64::MAX, i64::MAX));
        }
    }

    #[test]
    fn folded_names_do_not_break_their_line() {
        let mut tree = Tree::new();
        let [outer, inner] = ["a;b 1", "c\nd"].map(|name| tree.name(name, None));
        let at = tree.child(0, outer).expect("room");
        tree.add(at, 7, 0, 1);
        let at = tree.child(at, inner).expect("room");
        tree.add(at, 7, 7, 1);
        let flame = tree.finish(Unit::Nanos, |node| node.total);
        let lines: Vec<String> = flame.folded().collect();
        assert_eq!(lines, ["a,b 1;c d 7"]);
    }
}
