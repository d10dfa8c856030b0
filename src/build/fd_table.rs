//! The descriptors of a process by their numbers, and which of them an exec closes: whatever the numbers are, and however
//! many others are open, each step costs the same.

use std::collections::{BTreeMap, BTreeSet};

/// How many descriptors forks may copy in all, and how many more for each fork and each row about a file: no more than
/// the trace is long, though all children of a process have all that it has.
const MOST_COPIES: usize = 1 << 12;
const MOST_COPIES_EACH: usize = 64;

/// See the module's text.
#[derive(Clone)]
pub struct FdTable<T> {
    of_fd: BTreeMap<i32, T>,
    /// Those that an exec closes.
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

/// What an exec does to a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExec {
    /// It stays open.
    Stays,
    /// It is closed.
    Closes,
}

impl OnExec {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;

    /// What the flags say that it was opened or copied with.
    pub fn of_flags(flags: u32) -> OnExec {
        match flags & OnExec::CLOSE_ON_EXEC {
            0 => OnExec::Stays,
            _ => OnExec::Closes,
        }
    }
}

impl<T: Copy> FdTable<T> {
    /// What descriptor `fd` stands for.
    pub fn get(&self, fd: i32) -> Option<T> {
        self.of_fd.get(&fd).copied()
    }

    /// Descriptor `fd` stands for this from now on.
    pub fn insert(&mut self, fd: i32, what: T, on_exec: OnExec) {
        self.of_fd.insert(fd, what);
        match on_exec {
            OnExec::Closes => self.closing.insert(fd),
            OnExec::Stays => self.closing.remove(&fd),
        };
    }

    /// It stands for nothing any more: for what before.
    pub fn remove(&mut self, fd: i32) -> Option<T> {
        self.closing.remove(&fd);
        self.of_fd.remove(&fd)
    }

    /// The descriptors that an exec closes.
    pub fn closing(&self) -> Vec<i32> {
        self.closing.iter().copied().collect()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (i32, T)> {
        self.of_fd.iter().map(|(fd, what)| (*fd, *what))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.of_fd.len()
    }
}

/// How many descriptors forks have copied.
pub struct Copies {
    made: usize,
    most: usize,
}

impl Copies {
    /// For a trace with so many forks and rows about files.
    pub fn new(forks: usize, rows: usize) -> Copies {
        Copies {
            made: 0,
            most: MOST_COPIES + MOST_COPIES_EACH * (forks + rows),
        }
    }

    /// So many more: whether these are still followed.
    pub fn allow(&mut self, count: usize) -> bool {
        self.made += count;
        !self.is_cut()
    }

    /// Whether not all were followed.
    pub fn is_cut(&self) -> bool {
        self.made > self.most
    }
}
