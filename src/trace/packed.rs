//! Columns of numbers that are close to their neighbours, packed with as few bits as each block of 128 numbers needs.
//!
//! ```text
//! block: least value i64 | offset of its bits u32 | width u8      value: `width` bits, added to the least value
//! ```
//!
//! A value is found in constant time: its bits are within the 8 bytes from a byte boundary, as widths are at most 57
//! bits, or 64.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use crate::base::column::Column;
use crate::base::maybe::Sparse;
use crate::base::{Maybe, order};

const BLOCK_SHIFT: u32 = 7;
const BLOCK_LEN: usize = 1 << BLOCK_SHIFT;
/// Size in bytes of a block whose values are one bit wide.
const BYTES_A_BIT: usize = BLOCK_LEN / 8;
/// Blocks with wider values use 64 bits per value.
const MOST_BITS: u32 = 57;
/// Bytes after the last block, so that 8 bytes can be read at the last value, too.
const PADDING: usize = 8;
/// How many blocks a parallel job packs.
const BLOCKS_A_JOB: usize = 256;

/// A number type that can be packed.
pub trait Number: Copy + Send + Sync {
    /// Returns the number as a signed 64-bit number.
    fn widened(self) -> i64;
    /// Converts a number that [`Number::widened`] returned back.
    fn narrowed(wide: i64) -> Self;
}

impl Number for i64 {
    #[inline]
    fn widened(self) -> i64 {
        self
    }
    #[inline]
    fn narrowed(wide: i64) -> i64 {
        wide
    }
}

impl Number for u32 {
    #[inline]
    fn widened(self) -> i64 {
        i64::from(self)
    }
    #[inline]
    fn narrowed(wide: i64) -> u32 {
        wide as u32
    }
}

impl<T: Number + Sparse> Number for Maybe<T> {
    #[inline]
    fn widened(self) -> i64 {
        self.or_greatest().widened()
    }
    #[inline]
    fn narrowed(wide: i64) -> Maybe<T> {
        Maybe::new(T::narrowed(wide))
    }
}

/// A packed column; the module's text shows its layout.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Packed<T> {
    blocks: Column<Block>,
    bits: Column<u8>,
    count: usize,
    of: PhantomData<T>,
}

impl<T> Default for Packed<T> {
    fn default() -> Packed<T> {
        Packed {
            blocks: Column::default(),
            bits: Column::default(),
            count: 0,
            of: PhantomData,
        }
    }
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Block {
    least: i64,
    /// Offset of the block's first byte, in units of [`BYTES_A_BIT`] bytes.
    at: u32,
    width: u8,
    unused: [u8; 3],
}

impl Block {
    /// Returns the block for these values; its offset is not set yet.
    fn of<T: Number>(values: &[T]) -> Block {
        let wide = values.iter().map(|value| value.widened());
        let (least, most) = wide.fold((i64::MAX, i64::MIN), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let range = most.wrapping_sub(least) as u64;
        let width = match u64::BITS - range.leading_zeros() {
            width if width > MOST_BITS => u64::BITS,
            width => width,
        };
        Block {
            least,
            at: 0,
            width: width as u8,
            unused: [0; 3],
        }
    }

    fn bytes(self) -> usize {
        usize::from(self.width) * BYTES_A_BIT
    }

    /// Writes the values to the block's bytes.
    fn fill<T: Number>(self, values: &[T], bytes: &mut [u8]) {
        let width = u32::from(self.width);
        let (mut word, mut filled) = (0_u64, 0);
        let mut words = bytes.chunks_exact_mut(8);
        for value in values {
            let above = value.widened().wrapping_sub(self.least) as u64;
            word |= above.checked_shl(filled).unwrap_or(0);
            filled += width;
            if filled >= u64::BITS {
                if let Some(place) = words.next() {
                    place.copy_from_slice(&word.to_le_bytes());
                }
                filled -= u64::BITS;
                // The high bits of the value, which did not fit into the word.
                word = above.checked_shr(width - filled).unwrap_or(0);
            }
        }
        if let (Some(place), true) = (words.next(), filled > 0) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// A block whose values are read.
#[derive(Clone, Copy, Default)]
struct OpenBlock {
    least: i64,
    /// The offset of its bits in bytes.
    start: usize,
    width: usize,
    mask: u64,
}

impl OpenBlock {
    #[inline]
    fn of(block: Block) -> OpenBlock {
        let mask = 1_u64.checked_shl(u32::from(block.width));
        OpenBlock {
            least: block.least,
            start: block.at as usize * BYTES_A_BIT,
            width: usize::from(block.width),
            mask: mask.unwrap_or(0).wrapping_sub(1),
        }
    }

    /// Returns the value of a row of the block.
    #[inline]
    fn value<T: Number>(&self, bits: &[u8], row: usize) -> T {
        let bit = (row & (BLOCK_LEN - 1)) * self.width;
        let from = self.start + bit / 8;
        let word = match bits.get(from..).and_then(|rest| rest.first_chunk()) {
            Some(&bytes) => u64::from_le_bytes(bytes),
            None => 0,
        };
        let above = word >> (bit % 8) & self.mask;
        T::narrowed(self.least.wrapping_add(above as i64))
    }
}

/// Neighbouring values.
#[derive(Clone)]
struct Values<'a, T> {
    blocks: &'a [Block],
    bits: &'a [u8],
    open: OpenBlock,
    /// The number of the open block; greater than any if none is.
    opened: usize,
    rows: Range<usize>,
    of: PhantomData<T>,
}

impl<T: Number> Iterator for Values<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let row = self.rows.next()?;
        let number = row >> BLOCK_SHIFT;
        if number != self.opened {
            self.opened = number;
            self.open = OpenBlock::of(*self.blocks.get(number)?);
        }
        Some(self.open.value(self.bits, row))
    }

    #[inline]
    fn nth(&mut self, steps: usize) -> Option<T> {
        self.rows.start = self.rows.start.saturating_add(steps).min(self.rows.end);
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl<T: Number> ExactSizeIterator for Values<'_, T> {}

impl<T: Number> Packed<T> {
    /// Packs `values`, in parallel.
    #[must_use]
    pub fn new(values: &[T]) -> Packed<T> {
        let mut blocks: Vec<Block> = values
            .par_chunks(BLOCK_LEN)
            .with_min_len(BLOCKS_A_JOB)
            .map(Block::of)
            .collect();
        let mut size = 0;
        for block in &mut blocks {
            block.at = size;
            size += u32::from(block.width);
        }
        let mut bits = vec![0; size as usize * BYTES_A_BIT + PADDING];
        let mut rest = bits.as_mut_slice();
        let jobs = blocks.chunks(BLOCKS_A_JOB).map(|blocks| {
            let count = blocks.iter().map(|block| block.bytes()).sum();
            let (own, left) = std::mem::take(&mut rest).split_at_mut(count);
            rest = left;
            (blocks, own)
        });
        let jobs: Vec<(&[Block], &mut [u8])> = jobs.collect();
        jobs.into_par_iter()
            .zip(values.par_chunks(BLOCKS_A_JOB * BLOCK_LEN))
            .for_each(|((blocks, mut bytes), values)| {
                for (block, values) in blocks.iter().zip(values.chunks(BLOCK_LEN)) {
                    let (own, left) = std::mem::take(&mut bytes).split_at_mut(block.bytes());
                    bytes = left;
                    block.fill(values, own);
                }
            });
        Packed {
            blocks: blocks.into(),
            bits: bits.into(),
            count: values.len(),
            of: PhantomData,
        }
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the value of a row. Panics if there is no such row.
    #[inline]
    #[must_use]
    pub fn at(&self, row: usize) -> T {
        assert!(row < self.count, "row {row} of {}", self.count);
        OpenBlock::of(self.blocks[row >> BLOCK_SHIFT]).value(&self.bits, row)
    }

    /// Returns the value of a row, or `None` if there is no such row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> Option<T> {
        (row < self.count).then(|| self.at(row))
    }

    /// Returns the values of `rows`, in order. Panics if there are no such rows.
    pub fn range(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = T> + Clone + '_ {
        assert!(rows.end <= self.count, "rows {rows:?} of {}", self.count);
        Values {
            blocks: &self.blocks,
            bits: &self.bits,
            open: OpenBlock::default(),
            opened: usize::MAX,
            rows,
            of: PhantomData,
        }
    }

    /// Returns all values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + Clone + '_ {
        self.range(0..self.count)
    }

    /// Returns how many of the first values of `rows` match `is_before`; the matching values must come first, as for
    /// [`slice::partition_point`].
    #[inline]
    #[must_use]
    pub fn partition_point(&self, rows: Range<usize>, is_before: impl Fn(T) -> bool) -> usize {
        let first = rows.start;
        order::first_not(rows, |row| is_before(self.at(row))) - first
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.blocks.memory_bytes() + self.bits.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_however_far_apart_they_are() {
        for width in 0..=64_u32 {
            let mask = 1_u64.checked_shl(width).unwrap_or(0).wrapping_sub(1);
            for count in [0, 1, 2, 127, 128, 129, 1000] {
                let values: Vec<i64> = (0..count)
                    .map(|i: u64| {
                        let bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) & mask;
                        (bits as i64).wrapping_sub(77)
                    })
                    .collect();
                let packed = Packed::new(&values);
                assert!(packed.iter().eq(values.iter().copied()), "{width} bits");
                assert_eq!(packed.get(values.len()), None);
            }
        }
        let ends = [i64::MIN, i64::MAX, 0, -1, 1];
        assert!(Packed::new(&ends).iter().eq(ends));
        let rows = [7, u32::MAX, 0, 8];
        assert!(Packed::new(&rows).iter().eq(rows));
    }

    #[test]
    fn near_values_take_few_bits_and_are_searched_as_slices_are() {
        let values: Vec<u32> = (0..100_000).map(|i| i / 3 * 4).collect();
        let packed = Packed::new(&values);
        assert!(packed.memory_bytes() < values.len() as u64 * 5 / 4);
        assert!(packed.iter().eq(values.iter().copied()));
        for (from, until, value) in [
            (0, 100_000, 77),
            (500, 90_000, 60_000),
            (9, 9, 1),
            (5, 7, 0),
        ] {
            let expected = values[from..until].partition_point(|&other| other < value);
            assert_eq!(
                packed.partition_point(from..until, |other| other < value),
                expected
            );
        }
        let same = Packed::new(&[u32::MAX; 1000]);
        assert!(same.memory_bytes() < 200 && same.iter().all(|value| value == u32::MAX));
    }
}
