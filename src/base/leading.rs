//! The result of a parser that reads a value at the start of a text.

/// A value at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leading<T> {
    /// The value.
    pub value: T,
    /// Its length in the text, in bytes.
    pub length: usize,
}

/// Numbers of this many digits fit into 64 bits.
const MOST_SAFE_DIGITS: usize = 19;

/// Parses the whole number at the start of a text; `None` if there is none, or if it needs more than 64 bits. Each byte is
/// read once: a mapped file may change between two reads.
#[must_use]
#[inline]
pub(crate) fn digits(text: &[u8]) -> Option<Leading<u64>> {
    // Most numbers have less than eight digits.
    let (mut value, mut length) = match text.first_chunk::<8>() {
        Some(chunk) => match few_digits(u64::from_le_bytes(*chunk)) {
            Leading { length: 0, .. } => return None,
            few if few.length < 8 => return Some(few),
            Leading { value, length } => (value, length),
        },
        None => (0, 0),
    };
    for byte in text.get(length..)? {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            break;
        }
        value = match length < MOST_SAFE_DIGITS {
            true => value * 10 + digit,
            false => value.checked_mul(10)?.checked_add(digit)?,
        };
        length += 1;
    }
    (length > 0).then_some(Leading { value, length })
}

/// Parses the digits at the start of eight bytes; the first byte is the lowest.
#[inline]
fn few_digits(bytes: u64) -> Leading<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let values = bytes ^ (EACH * u64::from(b'0'));
    // Sets the high bit of values above 9; a carry changes only bytes after the first of these.
    let others = (values.wrapping_add(EACH * 0x76) | values) & (EACH << 7);
    let length = others.trailing_zeros() / u8::BITS;
    if length == 0 {
        return Leading {
            value: 0,
            length: 0,
        };
    }
    // Zeros in front of the digits, so that there are eight; then pairs, fours and all eight are joined.
    let eight = values << (u64::BITS - length * u8::BITS);
    let pairs = (eight.wrapping_mul((10 << 8) + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    let value = fours.wrapping_mul((10_000 << 32) + 1) >> 32;
    Leading {
        value,
        length: length as usize,
    }
}

/// Returns the value of the decimal digit at index `at`, if there is one. The byte is read once: a mapped file may change
/// between two reads.
#[must_use]
#[inline]
pub(crate) fn digit_at(text: &[u8], at: usize) -> Option<u8> {
    let value = text.get(at)?.wrapping_sub(b'0');
    (value < 10).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_are_parsed() {
        let all = "123456789012345678901234567890";
        let most = "18446744073709551615";
        for count in 0..=20 {
            for rest in ["", ".", "/:;", "a0", "\u{ff}9", " 12345678", ":99999999"] {
                for number in [
                    &all[..count],
                    &"0".repeat(count),
                    &most[..count],
                    &"9".repeat(count),
                ] {
                    let text = format!("{number}{rest}");
                    let expected = number.parse().ok().map(|value| Leading {
                        value,
                        length: count,
                    });
                    assert_eq!(digits(text.as_bytes()), expected, "{text}");
                }
            }
        }
        assert_eq!(digits(b"18446744073709551616 "), None);
    }
}
