//! Finds the thread of lines without a pid: the most recent pid that is alive.
//!
//! None of the 29 strace texts of the corpus and the samples contains lines of both kinds, with and without a pid; of
//! the 2 MINIX texts of the corpus, 1 does.

use rustc_hash::FxHashSet;

/// Number of pids of which the order is known for certain; a text with more pids has a pid in every line.
const MOST_OWNERS: usize = 128;
/// Number of lines after which the older lines of each pid are forgotten.
const MOST_LINES: usize = 1024;

/// Living pids in the order of their last lines: a line without a pid belongs to the pid with the most recent line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners {
    /// The pids of the last lines, the most recent one last; lines of one pid that follow each other count once.
    heard: Vec<u32>,
}

impl Owners {
    /// Notes a line of `pid`.
    #[inline]
    pub(crate) fn hear(&mut self, pid: u32) {
        if self.heard.last() == Some(&pid) {
            return;
        }
        if self.heard.len() >= MOST_LINES {
            self.heard = self.in_order();
        }
        self.heard.push(pid);
    }

    /// Notes that `pid` ended.
    pub(super) fn end(&mut self, pid: u32) {
        self.heard.retain(|&other| other != pid);
    }

    /// Returns the pid of a line without a pid.
    #[inline]
    #[must_use]
    pub(crate) fn last(&self) -> Option<u32> {
        self.heard.last().copied()
    }

    /// Returns the most recent pids; the most recent one is the last.
    pub(crate) fn in_order(&self) -> Vec<u32> {
        let mut seen = FxHashSet::default();
        let newest = self.heard.iter().rev().copied();
        let mut all: Vec<u32> = newest
            .filter(|&pid| seen.insert(pid))
            .take(MOST_OWNERS)
            .collect();
        all.reverse();
        all
    }
}
