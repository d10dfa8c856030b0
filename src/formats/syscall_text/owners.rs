//! Finds the thread of lines without a pid: the most recent pid that is alive.
//!
//! None of the 29 strace texts of the corpus and the samples contains lines of both kinds, with and without a pid; of
//! the 2 MINIX texts of the corpus, 1 does.

use rustc_hash::FxHashMap;

/// Maximum number of stored pids; a text with more pids has a pid in every line.
const MOST_OWNERS: usize = 128;

/// Living pids with the order of their last lines: a line without a pid belongs to the pid with the most recent line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners {
    heard: FxHashMap<u32, u64>,
    count: u64,
    last: Option<u32>,
}

impl Owners {
    /// Notes a line of `pid`.
    #[inline]
    pub(crate) fn hear(&mut self, pid: u32) {
        if self.last == Some(pid) {
            return;
        }
        self.last = Some(pid);
        self.count += 1;
        self.heard.insert(pid, self.count);
        if self.heard.len() > MOST_OWNERS {
            self.forget_old();
        }
    }

    /// Drops the older half of the pids.
    #[cold]
    fn forget_old(&mut self) {
        let mut stamps: Vec<u64> = self.heard.values().copied().collect();
        let (_, middle, _) = stamps.select_nth_unstable(MOST_OWNERS / 2);
        let middle = *middle;
        self.heard.retain(|_, stamp| *stamp >= middle);
    }

    /// Notes that `pid` ended.
    pub(super) fn end(&mut self, pid: u32) {
        self.heard.remove(&pid);
        if self.last == Some(pid) {
            let newest = self.heard.iter().max_by_key(|(_, stamp)| **stamp);
            self.last = newest.map(|(pid, _)| *pid);
        }
    }

    /// Returns the pid of a line without a pid.
    #[inline]
    #[must_use]
    pub(crate) fn last(&self) -> Option<u32> {
        self.last
    }

    /// Returns all pids; the most recent one is the last.
    pub(crate) fn in_order(&self) -> Vec<u32> {
        let mut all: Vec<(u64, u32)> = self.heard.iter().map(|(pid, at)| (*at, *pid)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, pid)| pid).collect()
    }
}
