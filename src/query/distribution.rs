//! Durations in; their percentiles, a percentile curve and histograms out. All exact.

use std::ops::Range;

/// Sorted durations in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    sorted: Vec<i64>,
    sum: i128,
}

/// How the buckets of a histogram grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// All buckets have the same width.
    Linear,
    /// Each bucket is wider than the previous one by a fixed factor.
    Log,
}

/// Counts between edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The borders of the buckets: bucket i contains values from `edges[i]` to below `edges[i + 1]`.
    pub edges: Vec<i64>,
    /// The number of values in each bucket.
    pub counts: Vec<u64>,
    /// The total of the values in each bucket.
    pub sums: Vec<i128>,
}

impl Distribution {
    /// Returns the distribution of these durations, which may be in any order.
    #[must_use]
    pub fn of(mut lengths: Vec<i64>) -> Distribution {
        lengths.sort_unstable();
        Distribution {
            sum: lengths.iter().map(|&length| i128::from(length)).sum(),
            sorted: lengths,
        }
    }

    /// Returns the number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sorted.len() as u64
    }

    /// Returns the total of all durations in ns.
    #[must_use]
    pub fn sum_ns(&self) -> i128 {
        self.sum
    }

    /// Returns the mean; 0 if there are no durations.
    #[must_use]
    pub(crate) fn mean_ns(&self) -> i64 {
        (self.sum / i128::from(self.count().max(1))) as i64
    }

    /// Returns the shortest duration; 0 if there are none.
    #[must_use]
    pub(crate) fn min_ns(&self) -> i64 {
        self.sorted.first().copied().unwrap_or(0)
    }

    /// Returns the longest duration; 0 if there are none.
    #[must_use]
    pub fn max_ns(&self) -> i64 {
        self.sorted.last().copied().unwrap_or(0)
    }

    /// Returns all durations, sorted.
    #[must_use]
    pub fn sorted(&self) -> &[i64] {
        &self.sorted
    }

    /// Returns the least duration that at least `per_mille` of 1000 durations do not exceed (500: the median); 0 if
    /// there are none.
    #[must_use]
    pub fn per_mille(&self, per_mille: u32) -> i64 {
        let rank = (self.sorted.len() as u128 * u128::from(per_mille)).div_ceil(1000);
        let at = (rank.max(1) as usize - 1).min(self.sorted.len().saturating_sub(1));
        self.sorted.get(at).copied().unwrap_or(0)
    }

    /// The percentile curve at about `points` places: (percent, ns), closer to each other towards 100 %, where
    /// the outliers are.
    #[must_use]
    pub(crate) fn curve(&self, points: usize) -> Vec<[f64; 2]> {
        let count = self.sorted.len();
        if count == 0 || points < 2 {
            return Vec::new();
        }
        let mut curve: Vec<[f64; 2]> = Vec::with_capacity(points + 1);
        let mut last = None;
        for point in 0..=points {
            // Half of the points are for the lower 90 %. The others are spaced logarithmically towards 100 %.
            let at = point as f64 / points as f64;
            let share = if at < 0.5 {
                at * 1.8
            } else {
                let nines = 1.0 + (at - 0.5) * 2.0 * ((count as f64).log10() - 1.0).max(0.0);
                1.0 - 10_f64.powf(-nines)
            };
            let rank = ((share * count as f64) as usize).min(count - 1);
            if last != Some(rank) {
                curve.push([
                    100.0 * (rank + 1) as f64 / count as f64,
                    self.sorted[rank] as f64,
                ]);
                last = Some(rank);
            }
        }
        if last != Some(count - 1) {
            curve.push([100.0, self.sorted[count - 1] as f64]);
        }
        curve
    }

    /// Counts the durations in at most `count` buckets over `range` (by default from the shortest to the longest).
    #[must_use]
    pub fn histogram(
        &self,
        range: Option<Range<i64>>,
        count: usize,
        buckets: Buckets,
    ) -> Histogram {
        let all = || self.min_ns()..self.max_ns().saturating_add(1);
        let Range { start, end } = range.unwrap_or_else(all);
        let end = end.max(start.saturating_add(1));
        let edges = edges(start..end, count.max(1), buckets);
        let mut histogram = Histogram {
            counts: Vec::with_capacity(edges.len()),
            sums: Vec::with_capacity(edges.len()),
            edges,
        };
        if self.sorted.is_empty() {
            return Histogram::default();
        }
        for pair in histogram.edges.windows(2) {
            let from = self.sorted.partition_point(|&length| length < pair[0]);
            let until = self.sorted.partition_point(|&length| length < pair[1]);
            let inside = self.sorted.get(from..until).unwrap_or(&[]);
            histogram.counts.push(inside.len() as u64);
            histogram
                .sums
                .push(inside.iter().map(|&length| i128::from(length)).sum());
        }
        histogram
    }
}

fn edges(range: Range<i64>, count: usize, buckets: Buckets) -> Vec<i64> {
    let Range {
        start: low,
        end: high,
    } = range;
    let mut edges = Vec::with_capacity(count + 1);
    let width = i128::from(high) - i128::from(low);
    for at in 0..=count {
        let edge = match buckets {
            Buckets::Linear => (i128::from(low) + width * at as i128 / count as i128) as i64,
            Buckets::Log => {
                let (bottom, top) = (
                    (low.max(0) as f64 + 1.0).ln(),
                    (high.max(1) as f64 + 1.0).ln(),
                );
                let value = (bottom + (top - bottom) * at as f64 / count as f64).exp() - 1.0;
                (value.round() as i64).clamp(low, high)
            }
        };
        edges.push(edge);
    }
    if let (Some(first), Some(last)) = (edges.first().copied(), edges.last_mut()) {
        *last = high.max(first);
    }
    edges.dedup();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let all = Distribution::of((1..=1000).rev().collect());
        assert_eq!(all.per_mille(500), 500);
        assert_eq!(all.per_mille(999), 999);
        assert_eq!(all.per_mille(1000), 1000);
        assert_eq!(all.per_mille(0), 1);
        assert_eq!((all.count(), all.mean_ns()), (1000, 500));
        let curve = all.curve(50);
        assert!(curve.is_sorted_by(|a, b| a[0] < b[0] && a[1] <= b[1]));
        assert_eq!(curve.last(), Some(&[100.0, 1000.0]));
        let none = Distribution::default();
        assert_eq!((none.per_mille(500), none.curve(9).len()), (0, 0));
        assert_eq!(none.histogram(None, 5, Buckets::Log), Histogram::default());
    }

    #[test]
    fn buckets_hold_everything_once() {
        let lengths: Vec<i64> = (0..5000_i64).map(|i| i * i * 7 % 1_000_003).collect();
        let all = Distribution::of(lengths.clone());
        for buckets in [Buckets::Linear, Buckets::Log] {
            for count in [1, 2, 7, 100] {
                let histogram = all.histogram(None, count, buckets);
                assert!(histogram.edges.is_sorted_by(|a, b| a < b));
                assert!(histogram.counts.len() <= count);
                assert_eq!(histogram.edges.len(), histogram.counts.len() + 1);
                assert_eq!(histogram.counts.iter().sum::<u64>(), 5000);
                assert_eq!(histogram.sums.iter().sum::<i128>(), all.sum_ns());
            }
        }
        let part = all.histogram(Some(1000..2000), 10, Buckets::Linear);
        let inside = lengths
            .iter()
            .filter(|it| (1000..2000).contains(*it))
            .count();
        assert_eq!(part.counts.iter().sum::<u64>(), inside as u64);
    }
}
