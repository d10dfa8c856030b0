//! The descriptors of a process by their numbers, and which of them an exec closes. The cost of each step hardly
//! depends on the numbers or on how many descriptors are open.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::event::OnExec;

/// Forks may copy this many descriptors in all, and this many more for each fork and each row about a file. The limit
/// keeps the work in proportion to the trace's length, although each child of a process has all its descriptors.
const MOST_COPIES: usize = 1 << 12;
const MOST_COPIES_EACH: usize = 64;

/// The descriptors of one process, each with a value.
#[derive(Clone)]
pub(crate) struct FdTable<T> {
    of_fd: BTreeMap<i32, T>,
    /// The descriptors that an exec closes.
    closing: BTreeSet<i32>,
}

impl<T> Default for FdTable<T> {
    fn default() -> FdTable<T> {
        FdTable {
            of_fd: BTreeMap::new(),
            closing: BTreeSet::new(),
        }
    }
}

impl<T: Copy> FdTable<T> {
    /// Returns the value of descriptor `fd`; `None` if it is not open.
    pub(crate) fn get(&self, fd: i32) -> Option<T> {
        self.of_fd.get(&fd).copied()
    }

    /// Sets the value of descriptor `fd`.
    pub(crate) fn insert(&mut self, fd: i32, what: T, on_exec: OnExec) {
        self.of_fd.insert(fd, what);
        match on_exec {
            OnExec::Closes => self.closing.insert(fd),
            OnExec::Stays => self.closing.remove(&fd),
        };
    }

    /// Removes descriptor `fd`; returns its value.
    pub(crate) fn remove(&mut self, fd: i32) -> Option<T> {
        self.closing.remove(&fd);
        self.of_fd.remove(&fd)
    }

    /// Returns the open descriptors in a range, sorted.
    pub(crate) fn open_in(&self, range: RangeInclusive<i32>) -> Vec<i32> {
        // A range from a higher to a lower number has none.
        match range.is_empty() {
            true => Vec::new(),
            false => self.of_fd.range(range).map(|(fd, _)| *fd).collect(),
        }
    }

    /// Sets what an exec does to the open descriptors in a range.
    pub(crate) fn set_on_exec(&mut self, range: RangeInclusive<i32>, on_exec: OnExec) {
        for fd in self.open_in(range) {
            match on_exec {
                OnExec::Closes => self.closing.insert(fd),
                OnExec::Stays => self.closing.remove(&fd),
            };
        }
    }

    /// Returns the descriptors that an exec closes.
    pub(crate) fn closing(&self) -> Vec<i32> {
        self.closing.iter().copied().collect()
    }

    /// Iterates over (descriptor, value), sorted by descriptor.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i32, T)> {
        self.of_fd.iter().map(|(fd, what)| (*fd, *what))
    }

    /// Returns the number of descriptors.
    pub(crate) fn len(&self) -> usize {
        self.of_fd.len()
    }
}

/// Counts the descriptors that forks copy, and limits them.
pub(crate) struct Copies {
    made: usize,
    most: usize,
}

impl Copies {
    /// Returns a counter whose limit grows with the number of forks and of rows about files.
    pub(crate) fn new(forks: usize, rows: usize) -> Copies {
        Copies {
            made: 0,
            most: MOST_COPIES + MOST_COPIES_EACH * (forks + rows),
        }
    }

    /// Adds `count` copies; returns whether the limit still allows them.
    pub(crate) fn allow(&mut self, count: usize) -> bool {
        self.made += count;
        !self.is_cut()
    }

    /// Returns whether some copies were not allowed.
    pub(crate) fn is_cut(&self) -> bool {
        self.made > self.most
    }
}
