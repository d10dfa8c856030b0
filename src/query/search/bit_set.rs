//! A set of row numbers, one bit each.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bits that several threads may set.
#[derive(Debug, Default)]
pub struct BitSet {
    words: Vec<AtomicU64>,
}

impl BitSet {
    /// Returns a set with room for `count` bits, none of which is set.
    #[must_use]
    pub fn new(count: usize) -> BitSet {
        BitSet {
            words: (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Sets a bit.
    pub(crate) fn set(&self, at: u32) {
        if let Some(word) = self.words.get(at as usize / 64) {
            word.fetch_or(1 << (at % 64), Ordering::Relaxed);
        }
    }

    /// Returns whether a bit is set.
    #[must_use]
    pub fn has(&self, at: u32) -> bool {
        let word = self.words.get(at as usize / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (at % 64) & 1 != 0)
    }

    /// Returns whether any bit of `first..first + count` is set.
    #[must_use]
    pub(crate) fn has_any(&self, first: u32, count: u32) -> bool {
        let end = u64::from(first) + u64::from(count);
        let mut at = u64::from(first);
        while at < end {
            let Some(word) = self.words.get((at / 64) as usize) else {
                return false;
            };
            let until = (at / 64 * 64 + 64).min(end);
            let width = until - at;
            let mask = if width == 64 {
                u64::MAX
            } else {
                ((1 << width) - 1) << (at % 64)
            };
            if word.load(Ordering::Relaxed) & mask != 0 {
                return true;
            }
            at = until;
        }
        false
    }
}
