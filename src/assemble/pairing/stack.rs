//! The open begins of one family on one track.

use rustc_hash::FxHashMap;

/// An open begin: the index of its draft, and its pair number.
pub(super) struct Open {
    pub(super) draft: u32,
    pub(super) pair: u32,
    /// The number of calls around it, for calls of traced functions; `None` if it is not known.
    pub(super) depth: Option<u32>,
}

/// The open begins of a family, innermost last.
#[derive(Default)]
pub(super) struct Stack {
    pub(super) open: Vec<Open>,
    /// The number of open begins of each pair number; made when `holds` is called with more than [`SHALLOW`] open.
    counts: Option<FxHashMap<u32, u32>>,
}

/// Up to this many open begins are searched one by one.
const SHALLOW: usize = 16;

impl Stack {
    #[inline]
    pub(super) fn push(&mut self, open: Open) {
        if let Some(counts) = &mut self.counts {
            *counts.entry(open.pair).or_insert(0) += 1;
        }
        self.open.push(open);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        if let Some(counts) = &mut self.counts {
            if self.open.len() < SHALLOW / 2 {
                self.counts = None;
            } else if let Some(count) = counts.get_mut(&open.pair) {
                *count -= 1;
            }
        }
        Some(open)
    }

    #[inline]
    pub(super) fn holds(&mut self, pair: u32) -> bool {
        if self.open.len() <= SHALLOW {
            return self.open.iter().rev().any(|open| open.pair == pair);
        }
        let counts = self.counts.get_or_insert_with(|| {
            let mut counts = FxHashMap::default();
            for open in &self.open {
                *counts.entry(open.pair).or_insert(0) += 1;
            }
            counts
        });
        counts.get(&pair).is_some_and(|&count| count > 0)
    }
}
