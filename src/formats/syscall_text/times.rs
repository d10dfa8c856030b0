//! Parses times in the text of a call: times of day, seconds with a fraction, durations at the end of a line.

use crate::base::Leading;

/// Splits strace's ` <0.000135>` off the end of a line. Returns the rest and the duration in ns.
#[must_use]
pub(crate) fn split_duration(text: &[u8]) -> (&[u8], Option<i64>) {
    let none = (text, None);
    let Some(inner) = text.strip_suffix(b">") else {
        return none;
    };
    let Some(open) = memchr::memrchr(b'<', inner) else {
        return none;
    };
    let before = inner.get(..open).unwrap_or_default();
    let seconds = inner.get(open + 1..).unwrap_or(&[]);
    match decimal_seconds(seconds) {
        // Whole seconds (`--syscall-times=s`) stand apart; `3<5>` is a descriptor with what it stands for.
        Some(ReadTime {
            ns,
            length,
            has_fraction,
        }) if length == seconds.len() && (has_fraction || before.ends_with(b" ")) => {
            (before.trim_ascii_end(), Some(ns))
        }
        _ => none,
    }
}

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
    let mut at = 0;
    let mut seconds = 0_i64;
    while let Some(digit) = text.get(at).filter(|b| b.is_ascii_digit()) {
        seconds = seconds
            .checked_mul(10)?
            .checked_add(i64::from(digit - b'0'))?;
        at += 1;
    }
    if at == 0 {
        return None;
    }
    let Leading { value: ns, length } = fraction_ns(text.get(at..).unwrap_or(&[]));
    Some(ReadTime {
        ns: seconds.checked_mul(1_000_000_000)?.checked_add(ns)?,
        length: at + length,
        has_fraction: length > 0,
    })
}

/// Parses `.000135` at the start of `text`: returns ns and length in bytes; digits after the ninth are dropped.
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
    let mut value = 0_i64;
    let mut count = 0;
    let mut at = 1;
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        if count < 9 {
            value = value * 10 + i64::from(digit);
            count += 1;
        }
        at += 1;
    }
    match SCALES.get(count) {
        Some(scale) if count > 0 => Leading {
            value: value * scale,
            length: at,
        },
        _ => NONE,
    }
}

/// Parses a time of day `HH:MM:SS[.uuuuuu]` at the start of `text`: ns since midnight, length in bytes, has a fraction.
#[must_use]
#[inline]
pub(crate) fn clock_time(text: &[u8]) -> Option<ReadTime> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text else {
        return None;
    };
    let two = |a: &u8, b: &u8| {
        (a.is_ascii_digit() && b.is_ascii_digit())
            .then(|| i64::from(a - b'0') * 10 + i64::from(b - b'0'))
    };
    let seconds = two(h1, h2)? * 3600 + two(m1, m2)? * 60 + two(s1, s2)?;
    let Leading { value: ns, length } = fraction_ns(rest);
    Some(ReadTime {
        ns: seconds * 1_000_000_000 + ns,
        length: 8 + length,
        has_fraction: length > 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_forms() {
        assert_eq!(
            clock_time(b"03:27:57.5 x"),
            Some(ReadTime {
                ns: 12_477_500_000_000,
                length: 10,
                has_fraction: true
            })
        );
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
