//! Rows of a track while slices are laid into them: the topmost row that is free at a time, however many there are.
//!
//! Above the rows stand the earliest ends of every group of 16 rows, of 256, and so on: a search skips groups
//! in which nothing has ended yet.

const GROUP: usize = 16;

/// What the rows of a track hold last.
#[derive(Debug, Default)]
pub struct FreeRows {
    /// When the last slice of each row ends.
    ends: Vec<i64>,
    /// How many slices each row has.
    counts: Vec<u32>,
    /// `earliest[k][g]`: the earliest end in group g of 16^(k+1) rows.
    earliest: Vec<Vec<i64>>,
    #[cfg(test)]
    looks: std::cell::Cell<usize>,
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
            self.ends.push(end);
            self.counts.push(0);
        } else {
            self.ends[row] = end;
        }
        self.counts[row] += 1;
        if self.ends.len() > GROUP {
            self.tell_groups(row);
        }
        row as u32
    }

    /// How many slices each row has got.
    pub fn into_counts(self) -> Vec<u32> {
        self.counts
    }

    fn first_free(&self, from: usize, start: i64) -> usize {
        let mut at = from;
        while at < self.ends.len() {
            #[cfg(test)]
            self.looks.set(self.looks.get() + 1);
            // The largest group that begins here and is busy is skipped whole.
            let (mut step, mut skip) = (GROUP, 0);
            for level in &self.earliest {
                if at % step != 0 || level.get(at / step).is_none_or(|&end| end <= start) {
                    break;
                }
                skip = step;
                step *= GROUP;
            }
            if skip > 0 {
                at += skip;
            } else if self.ends[at] <= start {
                return at;
            } else {
                at += 1;
            }
        }
        self.ends.len()
    }

    /// Row `row` ends at another time now.
    fn tell_groups(&mut self, row: usize) {
        let mut number = row / GROUP;
        for k in 0.. {
            let below_len = match k {
                0 => self.ends.len(),
                _ => self.earliest[k - 1].len(),
            };
            if below_len <= 1 {
                return;
            }
            if k == self.earliest.len() {
                // A new level: all that lies below it, once.
                let below = if k == 0 {
                    &self.ends
                } else {
                    &self.earliest[k - 1]
                };
                let groups = below.chunks(GROUP).map(earliest_of).collect();
                self.earliest.push(groups);
            } else {
                let below = if k == 0 {
                    &self.ends
                } else {
                    &self.earliest[k - 1]
                };
                let first = number * GROUP;
                let end = earliest_of(&below[first..below.len().min(first + GROUP)]);
                let level = &mut self.earliest[k];
                if number == level.len() {
                    level.push(end);
                } else if level[number] == end {
                    return;
                } else {
                    level[number] = end;
                }
            }
            number /= GROUP;
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
        assert!(rows.looks.get() < 200_000 * 80, "{}", rows.looks.get());
    }
}
