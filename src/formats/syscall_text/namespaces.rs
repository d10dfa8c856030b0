//! Children in a PID namespace: a fork returns the child's number in there, while strace's lines have the number outside.
//!
//! ```text
//! 7499 vfork( <unfinished ...>
//! 7500 execve("/usr/bin/sh", ...) = 0            the child's first line
//! 7499 <... vfork resumed>)      = 2             2 is the child's number in the namespace
//! 7499 wait4(-1, ..., 0, NULL)   = 2
//! ```
//!
//! (With `--decode-pids=pidns` strace prints both numbers.)
//!
//! Numbers rise from fork to fork, outside as inside (until they start again at the highest pid). So a fork is one of a
//! namespace if it returned a lower number than its caller has outside, no line has that number, and a later line is the
//! first of a thread with a higher number, which no fork returned. Where several forks fit a thread, it is the one with
//! the lowest number: right within one namespace, a guess between two. Files of `-ff` are not searched. No text of the
//! corpus contains such forks.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::child_end::ChildEnd;
use super::forks::Fork;

/// This many forks without a child are looked at for a thread, so that very many cost no more.
const MOST_OPEN: usize = 64;

/// The pids of the children in PID namespaces.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Namespaces {
    /// By parent and by the number that the fork returned.
    children: FxHashMap<(u32, u32), u32>,
    /// By that number alone, if one child has it.
    only: FxHashMap<u32, Option<u32>>,
    /// By the offset of the fork's first line.
    forks: FxHashMap<u64, u32>,
}

impl Namespaces {
    /// Finds them. `forks` are sorted by place, `first_lines` has the offset of the first line of each pid, and `first` is
    /// the pid of the first process.
    #[must_use]
    pub(super) fn find(
        forks: &[Fork<i64>],
        first_lines: &FxHashMap<u32, u64>,
        first: u32,
    ) -> Namespaces {
        let mut found = Namespaces::default();
        let parent_of = |fork: &Fork<i64>| fork.parent.pid().unwrap_or(first);
        let born: FxHashSet<u32> = forks.iter().map(|fork| fork.child).collect();
        let is_inside = |fork: &&Fork<i64>| {
            fork.child < parent_of(fork) && !first_lines.contains_key(&fork.child)
        };
        let mut made = forks.iter().filter(is_inside).peekable();
        if made.peek().is_none() {
            return found;
        }
        let orphans = first_lines.iter().map(|(&pid, &place)| (pid, place));
        let mut orphans: Vec<(u32, u64)> = orphans
            .filter(|(pid, _)| *pid != first && !born.contains(pid))
            .collect();
        orphans.sort_unstable();
        // Forks without a child yet, by number and place.
        let mut open: BTreeMap<(u32, u64), &Fork<i64>> = BTreeMap::new();
        for (pid, place) in orphans {
            while let Some(fork) = made.next_if(|fork| fork.place < place) {
                open.insert((fork.child, fork.place), fork);
            }
            let fits = |fork: &&&Fork<i64>| fork.place < place && parent_of(fork) < pid;
            let Some(&fork) = open.values().take(MOST_OPEN).find(fits) else {
                continue;
            };
            open.remove(&(fork.child, fork.place));
            let parent = parent_of(fork);
            found.children.insert((parent, fork.child), pid);
            found.forks.insert(fork.place, pid);
            let only = found.only.entry(fork.child).or_insert(Some(pid));
            *only = only.filter(|&other| other == pid);
        }
        found
    }

    /// Returns the end of a child that `parent` was told, with the child's pid. (Its reaper may be another process than
    /// its parent.)
    #[must_use]
    pub(crate) fn of_child(&self, parent: u32, child: ChildEnd) -> ChildEnd {
        let own = self.children.get(&(parent, child.pid)).copied();
        let only = || self.only.get(&child.pid).copied().flatten();
        ChildEnd {
            pid: own.or_else(only).unwrap_or(child.pid),
            ..child
        }
    }

    /// Returns the child of the fork whose first line is at `place`; `None` if it is in no namespace.
    #[must_use]
    pub(crate) fn child_at(&self, place: u64) -> Option<u32> {
        self.forks.get(&place).copied()
    }

    /// Returns the number of children.
    #[must_use]
    pub(super) fn len(&self) -> usize {
        self.forks.len()
    }

    /// Returns the heap memory of the tables, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.children.capacity() * 13 + self.only.capacity() * 13 + self.forks.capacity() * 17)
            as u64
    }
}
