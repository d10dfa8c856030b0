//! A flame graph as other lists: turned over (callees with their callers), summed up by name, laid out.

use rustc_hash::FxHashMap;

use super::{Flame, Tree};

/// All nodes of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameTotal {
    /// The name.
    pub name: String,
    /// With all that they call; recursion counts once.
    pub total: i64,
    /// Without.
    pub own: i64,
    /// How many slices, or stacks through them.
    pub count: u64,
}

/// A node as it is drawn: `start..start + total` of the root's total, `depth` rows up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Which.
    pub node: u32,
    /// 0 for the root.
    pub depth: u32,
    /// Where it begins.
    pub start: i64,
    /// How wide it is.
    pub width: i64,
}

impl Flame {
    /// The same turned over: what has most time of its own first, above it who calls that. Of a caller, `total` and
    /// `own` are those of the name at its root while it is called from there.
    #[must_use]
    pub fn bottom_up(&self) -> Flame {
        let mut tree = Tree::new();
        let names: Vec<u32> = self.names.iter().map(|name| tree.name(name)).collect();
        for (id, node) in self.nodes.iter().enumerate().skip(1) {
            tree.add(0, node.own, 0, node.count);
            let counted = self.counted_above(id as u32);
            let (mut at, mut place, mut depth) = (id as u32, 0, 0);
            while at != 0 {
                let caller = &self.nodes[at as usize];
                match tree.child(place, names[caller.name as usize]) {
                    Some(next) => place = next,
                    None => {
                        tree.leave_out(1);
                        break;
                    }
                }
                depth += 1;
                let total = if depth > counted { node.total } else { 0 };
                tree.add(place, total, node.own, node.count);
                at = caller.parent;
            }
        }
        tree.leave_out(self.left_out);
        tree.finish(self.unit, |node| node.own)
    }

    /// Of a node that calls itself: in how many of its rows, from its own name on, its time is in that of its outer
    /// ones already. They are the callers that both have in common.
    fn counted_above(&self, id: u32) -> usize {
        let callers = |from: u32| {
            std::iter::successors(Some(from), |&at| Some(self.nodes[at as usize].parent))
                .take_while(|&at| at != 0)
                .map(|at| self.nodes[at as usize].name)
        };
        let name = self.nodes[id as usize].name;
        let mut outer = self.nodes[id as usize].parent;
        let mut most = 0;
        while outer != 0 {
            let node = &self.nodes[outer as usize];
            if node.name == name {
                let same = callers(id).zip(callers(outer));
                most = most.max(same.take_while(|(a, b)| a == b).count());
            }
            outer = node.parent;
        }
        most
    }

    /// Totals by name, the one with most of its own first.
    #[must_use]
    pub fn by_name(&self) -> Vec<NameTotal> {
        let mut totals: FxHashMap<u32, NameTotal> = FxHashMap::default();
        for node in self.nodes.iter().skip(1) {
            let entry = totals.entry(node.name).or_insert_with(|| NameTotal {
                name: self
                    .names
                    .get(node.name as usize)
                    .cloned()
                    .unwrap_or_default(),
                total: 0,
                own: 0,
                count: 0,
            });
            entry.own = entry.own.saturating_add(node.own);
            entry.count += node.count;
            let mut at = node.parent;
            let mut is_inner = false;
            while at != 0 && !is_inner {
                let caller = &self.nodes[at as usize];
                is_inner = caller.name == node.name;
                at = caller.parent;
            }
            if !is_inner {
                entry.total = entry.total.saturating_add(node.total);
            }
        }
        let mut totals: Vec<NameTotal> = totals.into_values().collect();
        totals.sort_by(|a, b| (b.own, b.total, &a.name).cmp(&(a.own, a.total, &b.name)));
        totals
    }

    /// Where each node is drawn if `top` takes the whole width; nodes narrower than `least` are left out.
    /// Callers come before what they call.
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
                // The largest come first.
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
        let [outer, inner] = ["outer", "inner"].map(|name| tree.name(name));
        for caller in ["a", "b"] {
            let caller = tree.name(caller);
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
        let [outer, inner] = ["a;b 1", "c\nd"].map(|name| tree.name(name));
        let at = tree.child(0, outer).expect("room");
        tree.add(at, 7, 0, 1);
        let at = tree.child(at, inner).expect("room");
        tree.add(at, 7, 7, 1);
        let flame = tree.finish(Unit::Nanos, |node| node.total);
        let lines: Vec<String> = flame.folded().collect();
        assert_eq!(lines, ["a,b 1;c d 7"]);
    }
}
