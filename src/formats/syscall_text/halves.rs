//! Calls on several lines: maps each later line to the first line, and the first line to the last.
//!
//! ```text
//! 11 read(3,  <unfinished ...>             first
//! 12 getpid()             = 12
//! 11 <... read resumed>"x", 1) = 1         rest
//! ```
//!
//! Built once when the text is read, so that decoding one line needs no search through the lines around it.
//!
//! Of the 29 strace texts of the corpus and the samples, 16 contain such calls.

use serde::{Deserialize, Serialize};

/// A line that continues a call, by byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Half {
    /// The offset of the line.
    pub rest: u64,
    /// The offset of the call's first line.
    pub first: u64,
}

/// All lines that continue a call, with the call's first line: 16 bytes per line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Halves {
    /// Offsets of the lines that continue calls, ascending.
    rests: Vec<u64>,
    /// For each entry of `rests`: distance in bytes back to the call's first line.
    distances: Vec<u32>,
    /// Indices into `rests`, sorted by the offset of the first line, then by the line's own offset.
    by_first: Vec<u32>,
}

impl Halves {
    /// Builds the map. Lines more than 4 GiB apart are dropped.
    #[must_use]
    pub(super) fn new(mut pairs: Vec<Half>) -> Halves {
        pairs.retain(|half| {
            let distance = half.rest.checked_sub(half.first);
            distance.is_some_and(|distance| u32::try_from(distance).is_ok())
        });
        pairs.truncate(u32::MAX as usize);
        pairs.sort_unstable();
        let mut by_first: Vec<u32> = (0..pairs.len() as u32).collect();
        // The sort is stable: lines of the same call keep their order.
        by_first.sort_by_key(|&at| pairs.get(at as usize).map(|half| half.first));
        Halves {
            rests: pairs.iter().map(|half| half.rest).collect(),
            distances: pairs
                .iter()
                .map(|half| half.rest.saturating_sub(half.first) as u32)
                .collect(),
            by_first,
        }
    }

    /// Returns the offset of the first line of the call that the line at `rest` continues.
    #[must_use]
    pub(crate) fn first_of(&self, rest: u64) -> Option<u64> {
        self.first(self.rests.binary_search(&rest).ok()?)
    }

    /// Returns the offset of the last line of the call whose first line is at `first`.
    #[must_use]
    pub(crate) fn last_of(&self, first: u64) -> Option<u64> {
        let is_by_then = |at: &u32| self.first(*at as usize).is_some_and(|of| of <= first);
        let after = self.by_first.partition_point(is_by_then);
        let last = *self.by_first.get(after.checked_sub(1)?)? as usize;
        (self.first(last)? == first).then(|| self.rests.get(last).copied())?
    }

    fn first(&self, at: usize) -> Option<u64> {
        let distance = u64::from(*self.distances.get(at)?);
        self.rests.get(at)?.checked_sub(distance)
    }

    /// Returns the heap memory of the map, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.rests.capacity() * 8 + (self.distances.capacity() + self.by_first.capacity()) * 4)
            as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_call_find_each_other() {
        let halves = Halves::new(
            [(90, 10), (40, 20), (60, 10), (1 << 40, 5)]
                .map(|(rest, first)| Half { rest, first })
                .to_vec(),
        );
        assert_eq!(halves.first_of(60), Some(10));
        assert_eq!(halves.first_of(40), Some(20));
        assert_eq!(halves.first_of(41), None);
        assert_eq!(halves.last_of(10), Some(90));
        assert_eq!(halves.last_of(20), Some(40));
        assert_eq!((halves.last_of(5), halves.last_of(15)), (None, None));
        assert_eq!(Halves::default().last_of(0), None);
    }
}
