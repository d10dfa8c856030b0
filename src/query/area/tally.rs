//! Counts, sums and percentiles of durations, which are added and removed one by one.
//!
//! Durations fall into buckets of 1/32 of a power of two, so that percentiles are known within 3 % at any time; an
//! exact answer reads only the durations in the buckets of the percentiles again (`exact.rs`).

use crate::base::Maybe;
use crate::query::seen::Length;
use crate::trace::SliceId;

/// Logarithm (base 2) of the number of buckets for each power of two.
const FINE_BITS: u32 = 5;
const FINE: u64 = 1 << FINE_BITS;

/// The bucket of a duration.
#[inline]
pub(super) fn bucket_of(length: i64) -> usize {
    let value = length.max(0) as u64;
    if value < FINE {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - FINE_BITS;
    (((u64::from(shift) + 1) << FINE_BITS) + (value >> shift) - FINE) as usize
}

/// The durations of a bucket: the shortest, and the longest.
pub(super) fn bounds_of(bucket: usize) -> (i64, i64) {
    let bucket = bucket as u64;
    if bucket < FINE {
        return (bucket as i64, bucket as i64);
    }
    let shift = (bucket >> FINE_BITS) - 1;
    let low = (FINE + (bucket & (FINE - 1))) << shift;
    (low as i64, (low + ((1 << shift) - 1)) as i64)
}

/// The sums of some durations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    pub count: u64,
    pub sum: i128,
    /// The sum without nested slices.
    pub own: i128,
    pub min: i64,
    pub max: i64,
    /// The number of unfinished slices, and their least total duration.
    pub unfinished: u64,
    pub at_least: i128,
    /// Row number of the longest interval.
    pub longest: Maybe<u32>,
    /// Whether something was removed: then `min`, `max` and `longest` may be too extreme.
    pub has_shrunk: bool,
    buckets: Vec<u32>,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            count: 0,
            sum: 0,
            own: 0,
            min: i64::MAX,
            max: i64::MIN,
            unfinished: 0,
            at_least: 0,
            longest: Maybe::NONE,
            has_shrunk: false,
            buckets: Vec::new(),
        }
    }
}

/// A duration in its bucket.
pub(crate) struct RankInBucket {
    pub bucket: usize,
    /// How many durations of the bucket come before it.
    pub rank: u64,
}

impl Tally {
    /// Returns whether the tally is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.unfinished == 0
    }

    /// Adds an interval, finished or not.
    #[inline]
    pub(crate) fn take_in(&mut self, row: u32, length: Length) {
        match length {
            Length::Known(length) => self.add(row, length),
            Length::AtLeast(length) => {
                self.unfinished += 1;
                self.at_least += i128::from(length);
            }
        }
    }

    /// Removes an interval that was added with this length.
    #[inline]
    pub(crate) fn put_out(&mut self, length: Length) {
        match length {
            Length::Known(length) => self.remove(length),
            Length::AtLeast(length) => {
                self.unfinished = self.unfinished.saturating_sub(1);
                self.at_least -= i128::from(length);
            }
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, row: u32, length: i64) {
        self.count += 1;
        self.sum += i128::from(length);
        self.own += i128::from(length);
        self.min = self.min.min(length);
        if length > self.max || (length == self.max && self.longest > row) {
            self.max = length;
            self.longest = Maybe::new(row);
        }
        let bucket = bucket_of(length);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
    }

    #[inline]
    pub(crate) fn remove(&mut self, length: i64) {
        self.count = self.count.saturating_sub(1);
        self.sum -= i128::from(length);
        self.own -= i128::from(length);
        self.has_shrunk = true;
        if let Some(bucket) = self.buckets.get_mut(bucket_of(length)) {
            *bucket = bucket.saturating_sub(1);
        }
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        self.count += other.count;
        self.sum += other.sum;
        self.own += other.own;
        self.unfinished += other.unfinished;
        self.at_least += other.at_least;
        self.min = self.min.min(other.min);
        if other.max > self.max || (other.max == self.max && other.longest < self.longest) {
            self.max = other.max;
            self.longest = other.longest;
        }
        self.has_shrunk |= other.has_shrunk;
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket += more;
        }
    }

    /// Returns the bucket of the duration that has `rank` durations before it in sorted order, and its rank in that
    /// bucket.
    pub(crate) fn bucket_at(&self, rank: u64) -> Option<RankInBucket> {
        let mut before = 0;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            let count = u64::from(count);
            if rank < before + count {
                return Some(RankInBucket {
                    bucket,
                    rank: rank - before,
                });
            }
            before += count;
        }
        None
    }

    /// Returns a percentile within 3 %; it is exact if its bucket contains only one duration.
    pub(crate) fn about(&self, percent: u64) -> i64 {
        let Some(RankInBucket { bucket, .. }) = self.bucket_at(rank_of(percent, self.count)) else {
            return 0;
        };
        let (low, high) = bounds_of(bucket);
        low.midpoint(high).clamp(self.shortest(), self.largest())
    }

    /// Returns the shortest duration, exact unless an interval was removed.
    pub(crate) fn shortest(&self) -> i64 {
        if self.count == 0 {
            return 0;
        }
        if !self.has_shrunk {
            return self.min;
        }
        let first = self.buckets.iter().position(|&count| count > 0);
        first.map_or(0, |bucket| bounds_of(bucket).0.max(self.min))
    }

    /// Returns the longest duration, exact unless an interval was removed.
    pub(crate) fn largest(&self) -> i64 {
        if self.count == 0 {
            return 0;
        }
        if !self.has_shrunk {
            return self.max;
        }
        let last = self.buckets.iter().rposition(|&count| count > 0);
        last.map_or(0, |bucket| bounds_of(bucket).1.min(self.max))
    }

    pub(crate) fn longest_slice(&self) -> Option<SliceId> {
        let longest = self.longest.get().filter(|_| !self.has_shrunk);
        longest.map(SliceId)
    }
}

/// Returns the number of `count` sorted values that come before their `percent`-th percentile (nearest rank).
pub(crate) fn rank_of(percent: u64, count: u64) -> u64 {
    (u128::from(percent) * u128::from(count))
        .div_ceil(100)
        .saturating_sub(1)
        .min(u128::from(count.saturating_sub(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_narrow_and_leave_no_hole() {
        let mut expected = 0;
        for bucket in 0..1500 {
            let (low, high) = bounds_of(bucket);
            assert_eq!(low, expected, "bucket {bucket}");
            assert_eq!((bucket_of(low), bucket_of(high)), (bucket, bucket));
            assert!(high - low <= low / 32);
            expected = high + 1;
        }
        assert_eq!(bounds_of(bucket_of(i64::MAX)).1, i64::MAX);
    }

    #[test]
    fn what_goes_leaves_no_trace() {
        let mut tally = Tally::default();
        for length in [5, 900, 70, 1_000_000, 70] {
            tally.add(0, length);
        }
        assert_eq!(tally.about(50), 70);
        tally.remove(1_000_000);
        tally.remove(900);
        assert_eq!((tally.count, tally.sum), (3, 145));
        assert!((70..=73).contains(&tally.largest()));
        assert_eq!(rank_of(50, 4), 1);
        assert_eq!(rank_of(99, 10), 9);
        assert_eq!(rank_of(95, 0), 0);
    }
}
