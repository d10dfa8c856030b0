//! Seconds with a decimal fraction at the start of a text, exact to the nanosecond.

use super::Leading;
use super::leading::digits;

/// A time at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadTime {
    pub ns: i64,
    /// The length of its text in bytes.
    pub length: usize,
    /// Whether it has digits after the point.
    pub has_fraction: bool,
}

/// Parses `123.000135` at the start of `text`.
#[must_use]
#[inline]
pub(crate) fn decimal_seconds(text: &[u8]) -> Option<ReadTime> {
    let Leading { value, length: at } = digits(text)?;
    let Leading { value: ns, length } = fraction_ns(text.get(at..).unwrap_or(&[]));
    let seconds = i64::try_from(value).ok()?;
    Some(ReadTime {
        ns: seconds.checked_mul(1_000_000_000)?.checked_add(ns)?,
        length: at + length,
        has_fraction: length > 0,
    })
}

/// Parses `.000135` at the start of `text`; returns the fraction in ns and its length in bytes. Digits after the ninth
/// are ignored.
#[must_use]
#[inline]
pub(crate) fn fraction_ns(text: &[u8]) -> Leading<i64> {
    const NONE: Leading<i64> = Leading {
        value: 0,
        length: 0,
    };
    if text.first() != Some(&b'.') {
        return NONE;
    }
    const SCALES: [i64; 10] = [
        1_000_000_000,
        100_000_000,
        10_000_000,
        1_000_000,
        100_000,
        10_000,
        1_000,
        100,
        10,
        1,
    ];
    let after = text.get(1..).unwrap_or(&[]);
    let near = after.get(..SCALES.len() - 1).unwrap_or(after);
    let Some(Leading { value, length }) = digits(near) else {
        return NONE;
    };
    // Only the first nine digits count.
    let more = after
        .iter()
        .skip(length)
        .take_while(|byte| byte.is_ascii_digit());
    Leading {
        value: value.cast_signed() * SCALES.get(length).copied().unwrap_or(1),
        length: 1 + length + more.count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_a_fraction() {
        assert_eq!(
            decimal_seconds(b"1795231677.843674796 "),
            Some(ReadTime {
                ns: 1_795_231_677_843_674_796,
                length: 20,
                has_fraction: true
            })
        );
    }
}
