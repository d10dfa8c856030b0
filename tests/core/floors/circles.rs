//! Circles among things that use each other: strongly connected components, by Tarjan's algorithm.

use std::collections::BTreeSet;

/// Returns the groups of at least two things that use each other in a circle; `uses[i]` holds the indices of the things that `i` uses.
///
/// Groups are sorted by size, the largest first; the indices of each group ascend.
pub fn circles(uses: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut walk = Walk {
        uses,
        number: vec![0; uses.len()],
        low: vec![0; uses.len()],
        is_open: vec![false; uses.len()],
        stack: Vec::new(),
        next: 1,
        found: Vec::new(),
    };
    for thing in 0..uses.len() {
        if walk.number[thing] == 0 {
            walk.visit(thing);
        }
    }
    let mut found = walk.found;
    found.sort_by_key(|circle| (std::cmp::Reverse(circle.len()), circle.clone()));
    found
}

struct Walk<'a> {
    uses: &'a [BTreeSet<usize>],
    /// The order in which things were first visited, from 1; 0: not visited.
    number: Vec<usize>,
    /// The lowest number that can be reached from a thing.
    low: Vec<usize>,
    /// Whether a thing is on the stack.
    is_open: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Walk<'_> {
    fn visit(&mut self, thing: usize) {
        self.number[thing] = self.next;
        self.low[thing] = self.next;
        self.next += 1;
        self.stack.push(thing);
        self.is_open[thing] = true;
        for &other in &self.uses[thing] {
            if self.number[other] == 0 {
                self.visit(other);
                self.low[thing] = self.low[thing].min(self.low[other]);
            } else if self.is_open[other] {
                self.low[thing] = self.low[thing].min(self.number[other]);
            }
        }
        if self.low[thing] == self.number[thing] {
            let at = self.stack.iter().position(|it| *it == thing).unwrap();
            let mut circle = self.stack.split_off(at);
            for &it in &circle {
                self.is_open[it] = false;
            }
            if circle.len() > 1 {
                circle.sort_unstable();
                self.found.push(circle);
            }
        }
    }
}

#[test]
fn things_in_a_circle_are_found() {
    // 0 -> 1 -> 2 -> 0, 2 -> 3 <-> 4, 5 -> 0.
    let uses = [&[1][..], &[2], &[0, 3], &[4], &[3], &[0]];
    let uses = uses.map(|used| used.iter().copied().collect());
    assert_eq!(circles(&uses), [vec![0, 1, 2], vec![3, 4]]);
}
