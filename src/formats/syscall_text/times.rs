//! Parses times in the text of a call: times of day, and durations at the end of a line.

use crate::base::Leading;
use crate::base::decimal_seconds::{ReadTime, decimal_seconds, fraction_ns};
use crate::base::leading::digit_at;

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
        // Whole seconds (`--syscall-times=s`) have a space before them; `3<5>` is a descriptor with its meaning.
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

/// Parses a time of day `HH:MM:SS[.uuuuuu]` at the start of `text`; returns ns since midnight.
#[must_use]
#[inline]
pub(crate) fn clock_time(text: &[u8]) -> Option<ReadTime> {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text else {
        return None;
    };
    let two = |pair: [u8; 2]| {
        let [tens, units] = [digit_at(&pair, 0)?, digit_at(&pair, 1)?];
        Some(i64::from(tens) * 10 + i64::from(units))
    };
    let seconds = two([*h1, *h2])? * 3600 + two([*m1, *m2])? * 60 + two([*s1, *s2])?;
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
    fn a_time_of_day_has_a_fraction() {
        assert_eq!(
            clock_time(b"03:27:57.5 x"),
            Some(ReadTime {
                ns: 12_477_500_000_000,
                length: 10,
                has_fraction: true
            })
        );
    }
}
