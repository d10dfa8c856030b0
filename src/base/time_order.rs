//! Stable radix sort of times, for times that arrive as several sorted streams, one after the other or interleaved.

use std::ops::RangeInclusive;

const DIGIT_BITS: u32 = 11;
const BUCKETS: usize = 1 << DIGIT_BITS;

/// Buffers that are reused from part to part.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    items: Vec<u64>,
    other: Vec<u64>,
}

impl Sorter {
    /// Calls `visit` with the index of each time and the time (ns), earliest first; equal times in order of their
    /// index. All times must be within `span`.
    pub(crate) fn visit_in_order(
        &mut self,
        times: &[i64],
        span: RangeInclusive<i64>,
        mut visit: impl FnMut(usize, i64),
    ) {
        let index_bits = u64::BITS - (times.len() as u64).leading_zeros();
        let (first, last) = span.into_inner();
        let range = (last as u64).wrapping_sub(first as u64);
        let key_bits = u64::BITS - range.leading_zeros();
        if index_bits + key_bits >= u64::BITS {
            // Time and index do not fit into one u64 together: sort pairs instead.
            let mut order: Vec<(i64, u32)> = times.iter().copied().zip(0..).collect();
            order.sort_unstable();
            for (time, index) in order {
                visit(index as usize, time);
            }
            return;
        }
        // An item is the distance from `first`, shifted above the index bits: one number to sort by time, then by
        // index.
        self.items.clear();
        let items = times.iter().zip(0_u64..);
        self.items.extend(
            items.map(|(&time, index)| {
                (time as u64).wrapping_sub(first as u64) << index_bits | index
            }),
        );
        self.sort(index_bits, key_bits);
        let mask = (1_u64 << index_bits) - 1;
        for item in &self.items {
            let time = (first as u64).wrapping_add(item >> index_bits);
            visit((item & mask) as usize, time as i64);
        }
    }

    /// Sorts the items by the `key_bits` bits above the lowest `index_bits` bits. The lowest bits are the index, by
    /// which the items are already sorted.
    fn sort(&mut self, index_bits: u32, key_bits: u32) {
        self.other.resize(self.items.len(), 0);
        for digit in 0..key_bits.div_ceil(DIGIT_BITS) {
            let shift = index_bits + digit * DIGIT_BITS;
            let bucket = |item: u64| (item >> shift) as usize & (BUCKETS - 1);
            let mut starts = [0_usize; BUCKETS];
            for &item in &self.items {
                starts[bucket(item)] += 1;
            }
            let mut start = 0;
            for entry in &mut starts {
                start += std::mem::replace(entry, start);
            }
            for &item in &self.items {
                let place = &mut starts[bucket(item)];
                if let Some(slot) = self.other.get_mut(*place) {
                    *slot = item;
                }
                *place += 1;
            }
            std::mem::swap(&mut self.items, &mut self.other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_times_come_in_order_and_equal_ones_as_they_were() {
        let mut sorter = Sorter::default();
        let mut state = 1_u64;
        for (count, range) in [(0, 1), (1, 1), (5000, 3), (3000, 1 << 40), (900, u64::MAX)] {
            let times: Vec<i64> = (0..count)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    ((state >> 3) % range) as i64 - 1000
                })
                .collect();
            let mut expected: Vec<usize> = (0..times.len()).collect();
            expected.sort_by_key(|&index| times[index]);
            let first = times.iter().copied().min().unwrap_or(0);
            let last = times.iter().copied().max().unwrap_or(0);
            let mut found = Vec::new();
            sorter.visit_in_order(&times, first..=last, |index, time| {
                assert_eq!(time, times[index]);
                found.push(index);
            });
            assert_eq!(found, expected);
        }
    }
}
