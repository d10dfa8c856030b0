//! Finds the topmost free row of a track while slices are put into rows, also where a track has many rows.
//!
//! A tree of groups of 16 rows, 256 rows and so on keeps the earliest end of each group: a search skips groups in which
//! no row is free yet. Ends only grow, so a kept value stays a lower bound when a slice is put into the group. A search
//! that finds no free row in a group recomputes the group's value.

use super::draft::Draft;
use crate::base::Maybe;

const GROUP: usize = 16;

/// The last end of each row of a track, and the tree of groups above the rows.
#[derive(Debug, Default)]
pub(crate) struct FreeRows {
    /// End of the last slice of each row.
    ends: Vec<Maybe<i64>>,
    /// Number of slices in each row.
    counts: Vec<u32>,
    /// `earliest[k][g]` is at most the earliest end in group g of 16^(k+1) rows.
    earliest: Vec<Vec<Maybe<i64>>>,
    #[cfg(test)]
    looks: usize,
}

impl FreeRows {
    /// Puts a slice into the topmost row at or below row `from` that is free at `start`; returns the row.
    /// Slices must come in order of their starts.
    #[inline]
    pub(super) fn take(&mut self, from: u32, start: i64, end: Maybe<i64>) -> u32 {
        let row = match self.ends.get(from as usize) {
            Some(last) if *last <= start => from as usize,
            Some(_) => self.first_free(from as usize + 1, start),
            None => self.ends.len(),
        };
        if row == self.ends.len() {
            self.add_row(end);
        } else {
            self.ends[row] = end;
        }
        self.counts[row] += 1;
        row as u32
    }

    /// Returns the number of slices in each row.
    pub(crate) fn into_counts(self) -> Vec<u32> {
        self.counts
    }

    fn first_free(&mut self, from: usize, start: i64) -> usize {
        let mut at = from;
        while at < self.ends.len() {
            #[cfg(test)]
            {
                self.looks += 1;
            }
            // Skips the largest group that begins at this row and is busy as a whole.
            let (mut step, mut skip) = (GROUP, 0);
            for level in &self.earliest {
                if !at.is_multiple_of(step) || level.get(at / step).is_none_or(|end| *end <= start)
                {
                    break;
                }
                skip = step;
                step *= GROUP;
            }
            if skip == 0 && self.ends[at] <= start {
                return at;
            }
            at = (at + skip.max(1)).min(self.ends.len());
            self.refresh_before(at, start);
        }
        self.ends.len()
    }

    /// Recomputes the kept ends of groups that end at row `at` and whose kept end was at most `start` although no row
    /// is free then.
    fn refresh_before(&mut self, at: usize, start: i64) {
        let (mut below, mut until) = (self.ends.as_slice(), at);
        for level in &mut self.earliest {
            if !until.is_multiple_of(GROUP) && until != below.len() {
                return;
            }
            let group = (until - 1) / GROUP;
            if let Some(known) = level.get_mut(group).filter(|known| **known <= start) {
                *known = earliest_of(&below[group * GROUP..until]);
            }
            (below, until) = (level, group + 1);
        }
    }

    fn add_row(&mut self, end: Maybe<i64>) {
        self.ends.push(end);
        self.counts.push(0);
        let mut below = self.ends.as_slice();
        for level in &mut self.earliest {
            let group = (below.len() - 1) / GROUP;
            match level.get_mut(group) {
                Some(known) => *known = end.min(*known),
                None => level.push(end),
            }
            below = level;
        }
        if below.len() > GROUP {
            let level = below.chunks(GROUP).map(earliest_of).collect();
            self.earliest.push(level);
        }
    }
}

fn earliest_of(ends: &[Maybe<i64>]) -> Maybe<i64> {
    ends.iter().copied().min().unwrap_or(Maybe::new(i64::MIN))
}

/// Drafts in rows without overlaps.
pub(super) struct Packed {
    /// The row of each draft: the topmost that was free.
    pub rows: Vec<u32>,
    /// The number of drafts in each row.
    pub counts: Vec<u32>,
}

/// Returns rows for drafts, which must be sorted by start.
pub(crate) fn pack(drafts: &[Draft]) -> Packed {
    let mut free = FreeRows::default();
    let take = |draft: &Draft| free.take(0, draft.start, draft.end);
    let rows = drafts.iter().map(take).collect();
    let counts = free.into_counts();
    Packed { rows, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_is_the_one_that_a_plain_search_finds() {
        let mut state = 7_u64;
        let mut random = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let mut rows = FreeRows::default();
        let mut plain: Vec<i64> = Vec::new();
        for start in 0..20_000_i64 {
            let length = match random(50) {
                0 => i64::MAX - start,
                n => (n * n) as i64,
            };
            let from = random(plain.len() as u64 + 1) as usize / 3;
            let expected = (from..plain.len())
                .find(|&row| plain[row] <= start)
                .unwrap_or(plain.len());
            if expected == plain.len() {
                plain.push(0);
            }
            plain[expected] = start + length;
            assert_eq!(
                rows.take(from as u32, start, Maybe::new(start + length)),
                expected as u32
            );
        }
        assert!(plain.len() > 300, "{}", plain.len());
        let counts = rows.into_counts();
        assert_eq!(counts.len(), plain.len());
        assert_eq!(counts.iter().sum::<u32>(), 20_000);
    }

    #[test]
    fn what_never_ends_is_not_looked_at_one_by_one() {
        let mut rows = FreeRows::default();
        for start in 0..200_000 {
            assert_eq!(rows.take(0, start, Maybe::NONE), start as u32);
        }
        assert!(rows.looks < 200_000 * 80, "{}", rows.looks);
    }

    #[test]
    fn overlapping_slices_take_the_topmost_free_row() {
        let draft = |start, end| Draft {
            start,
            end: Maybe::new(end),
            is_unended: false,
            label: 0,
            begin: 0,
            finish: Maybe::NONE,
        };
        let Packed { rows, counts } = pack(&[
            draft(0, 10),
            draft(5, 20),
            draft(10, 12),
            draft(11, i64::MAX),
            draft(30, 31),
        ]);
        assert_eq!(rows, vec![0, 1, 0, 2, 0]);
        assert_eq!(counts, vec![3, 1, 1]);
    }
}
