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
//! A fork is one of a namespace if no line has the number that it returned, while the next thread that no fork returned
//! has a higher number: outside, numbers rise from fork to fork, so a child that strace does not follow has a higher
//! number than all threads before it. No text of the corpus contains such forks.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::child_end::ChildEnd;
use super::head::Caller;

/// A fork with what its caller knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// Offset of the call's first line.
    pub place: u64,
    pub parent: Caller,
    /// The number that the call returned.
    pub number: u32,
}

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
    /// Finds them; `first_lines` has the offset of the first line of each pid, `first` is the pid of the first process.
    #[must_use]
    pub(super) fn find(
        mut made: Vec<Made>,
        first_lines: &FxHashMap<u32, u64>,
        first: u32,
    ) -> Namespaces {
        let mut found = Namespaces::default();
        let born: FxHashSet<u32> = made.iter().map(|fork| fork.number).collect();
        made.retain(|fork| !first_lines.contains_key(&fork.number));
        if made.is_empty() {
            return found;
        }
        made.sort_unstable_by_key(|fork| fork.place);
        let orphans = first_lines.iter().map(|(&pid, &place)| (place, pid));
        let mut orphans: Vec<(u64, u32)> = orphans
            .filter(|(_, pid)| *pid != first && !born.contains(pid))
            .collect();
        orphans.sort_unstable();
        let mut orphans = orphans.into_iter().peekable();
        for fork in made {
            while orphans.next_if(|(place, _)| *place < fork.place).is_some() {}
            if let Some((_, pid)) = orphans.next_if(|(_, pid)| *pid > fork.number) {
                let parent = fork.parent.pid().unwrap_or(first);
                found.children.insert((parent, fork.number), pid);
                found.forks.insert(fork.place, pid);
                let only = found.only.entry(fork.number).or_insert(Some(pid));
                *only = only.filter(|&other| other == pid);
            }
        }
        found
    }

    /// Returns the pid of a child that `parent` calls by a number. (Its reaper may be another process than its parent.)
    #[must_use]
    pub(crate) fn pid(&self, parent: u32, number: u32) -> u32 {
        let own = self.children.get(&(parent, number)).copied();
        let only = || self.only.get(&number).copied().flatten();
        own.or_else(only).unwrap_or(number)
    }

    /// Returns the end of a child that `parent` was told, with the child's pid.
    #[must_use]
    pub(crate) fn of_child(&self, parent: u32, child: ChildEnd) -> ChildEnd {
        ChildEnd {
            pid: self.pid(parent, child.pid),
            ..child
        }
    }

    /// Returns the child of the fork whose first line is at `place`; `None` if it is in no namespace.
    #[must_use]
    pub(super) fn child_at(&self, place: u64) -> Option<u32> {
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
