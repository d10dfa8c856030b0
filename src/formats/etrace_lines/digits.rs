//! Parses decimal numbers, eight digits at a time.

use crate::base::Leading;

/// Parses the leading digits of 8 bytes. Returns the number and the count of digits.
#[inline]
pub(super) fn eight_digits(bytes: [u8; 8]) -> Leading<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let nibbles = u64::from_le_bytes(bytes) ^ (ONES * 0x30);
    // A digit is now 0 to 9; any other byte has a bit in its upper half, or gets one by the addition.
    let others = (nibbles | ((nibbles & (ONES * 0x0f)) + ONES * 6)) & (ONES * 0xf0);
    let count = others.trailing_zeros() / 8;
    if count == 0 {
        return Leading {
            value: 0,
            length: 0,
        };
    }
    // Shift out the bytes after the digits; zeros move in before the digits.
    let digits = nibbles << (64 - 8 * count);
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    Leading {
        value: all,
        length: count as usize,
    }
}
