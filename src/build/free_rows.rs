//! Rows of a track while slices are laid into them: the topmost row that is free at a time, however many there are.
//!
//! Above the rows stand the earliest ends of every group of 16 rows, of 256, and so on: a search skips groups
//! in which nothing has ended yet. As a row ends later and later, such a time holds on when a slice is laid
//! into the group; it is found anew when a search looked through the group for nothing.

const GROUP: usize = 16;

/// What the rows of a track hold last.
#[derive(Debug, Default)]
pub struct FreeRows {
    /// When the last slice of each row ends.
    ends: Vec<i64>,
    /// How many slices each row has.
    counts: Vec<u32>,
    /// `earliest[k][g]`: no row in group g of 16^(k+1) rows ends earlier.
    earliest: Vec<Vec<i64>>,
    #[cfg(test)]
    looks: usize,
}

impl FreeRows {
    /// Lays a slice into the topmost row at or below row `from` that is free when it starts; answers the row.
    /// (Slices come in the order of their starts.)
    #[inline]
    pub fn take(&mut self, from: u32, start: i64, end: i64) -> u32 {
        let row = match self.ends.get(from as usize) {
            Some(&last) if last <= start => from as usize,
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

    /// How many slices each row has got.
    pub fn into_counts(self) -> Vec<u32> {
        self.counts
    }

    fn first_free(&mut self, from: usize, start: i64) -> usize {
        let mut at = from;
        while at < self.ends.len() {
            #[cfg(test)]
            {
                self.looks += 1;
            }
            // The largest group that begins here and is busy is skipped whole.
            let (mut step, mut skip) = (GROUP, 0);
            for level in &self.earliest {
                if !at.is_multiple_of(step) || level.get(at / step).is_none_or(|&end| end <= start)
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

    /// Finds the earliest ends of groups that end at row `at`, where they seemed to have a free row at `start`.
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

    fn add_row(&mut self, end: i64) {
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

fn earliest_of(ends: &[i64]) -> i64 {
    ends.iter().copied().min().unwrap_or(i64::MIN)
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
                rows.take(from as u32, start, start + length),
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
            assert_eq!(rows.take(0, start, i64::MAX), start as u32);
        }
        assert!(rows.looks < 200_000 * 80, "{}", rows.looks);
    }
}
