//! Time as integer nanoseconds: points in time, durations and half-open spans; parses and prints them.
//!
//! No time is a float in this program before it is converted to a pixel (`view::scale`).

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// A point in time: nanoseconds on the trace's own clock, whose zero depends on the trace.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Timestamp(pub i64);

/// A duration in nanoseconds; negative only as the difference of two points in the wrong order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Nanos(pub i64);

/// A half-open span `start..end` on the trace's own clock. `end >= start` always holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TimeSpan {
    /// First nanosecond inside the span.
    pub start: Timestamp,
    /// First nanosecond after the span.
    pub end: Timestamp,
}

impl Timestamp {
    /// The earliest time that can be represented.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// The latest time that can be represented; also means "never ended" in `end` columns.
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// Returns the time `delta` later, clamped to the range of `i64` instead of wrapping.
    #[must_use]
    pub fn saturating_add(self, delta: Nanos) -> Timestamp {
        Timestamp(self.0.saturating_add(delta.0))
    }
}

impl Add<Nanos> for Timestamp {
    type Output = Timestamp;
    fn add(self, rhs: Nanos) -> Timestamp {
        self.saturating_add(rhs)
    }
}

impl Sub<Nanos> for Timestamp {
    type Output = Timestamp;
    fn sub(self, rhs: Nanos) -> Timestamp {
        Timestamp(self.0.saturating_sub(rhs.0))
    }
}

impl Sub for Timestamp {
    type Output = Nanos;
    fn sub(self, rhs: Timestamp) -> Nanos {
        Nanos(self.0.saturating_sub(rhs.0))
    }
}

impl TimeSpan {
    /// All times; the last possible one is its end.
    pub const ALL: TimeSpan = TimeSpan {
        start: Timestamp::MIN,
        end: Timestamp::MAX,
    };

    /// Returns the span from `start` to `end`; empty at `start` if `end` is earlier.
    #[must_use]
    pub fn new(start: Timestamp, end: Timestamp) -> TimeSpan {
        TimeSpan {
            start,
            end: end.max(start),
        }
    }

    /// Returns the span's length.
    #[must_use]
    pub fn duration(self) -> Nanos {
        self.end - self.start
    }

    /// Returns whether the span contains no nanosecond.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// Returns whether the span has no end: then it also contains the last possible time.
    #[must_use]
    pub(crate) fn is_endless(self) -> bool {
        self.end == TimeSpan::ALL.end
    }

    /// Returns whether `time` is inside the span; the end is not.
    #[must_use]
    pub fn contains(self, time: Timestamp) -> bool {
        self.start <= time && time < self.end
    }

    /// Returns whether the spans share a nanosecond. An empty span overlaps a span that contains its start, and an
    /// empty span with the same start.
    #[must_use]
    pub fn overlaps(self, other: TimeSpan) -> bool {
        if self.is_empty() {
            return other.contains(self.start) || (other.is_empty() && other.start == self.start);
        }
        if other.is_empty() {
            return self.contains(other.start);
        }
        self.start < other.end && other.start < self.end
    }

    /// Returns the common part of both spans; empty if they do not overlap.
    #[must_use]
    pub fn intersection(self, other: TimeSpan) -> TimeSpan {
        TimeSpan::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// Returns the smallest span that contains both.
    #[must_use]
    pub(crate) fn union(self, other: TimeSpan) -> TimeSpan {
        TimeSpan {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Returns the span moved by `delta`.
    #[must_use]
    pub fn shifted(self, delta: Nanos) -> TimeSpan {
        TimeSpan::new(self.start + delta, self.end + delta)
    }
}

/// Prints a duration for people: in the largest unit that fits, up to three decimals, e.g. `1.5 ms`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let ns = self.0.unsigned_abs();
        let (unit_ns, unit) = match ns {
            0..1_000 => return write!(f, "{sign}{ns} ns"),
            1_000..1_000_000 => (1_000, "µs"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let whole = ns / unit_ns;
        let thousandths = (ns % unit_ns) / (unit_ns / 1_000);
        let decimals = format!("{thousandths:03}");
        let decimals = decimals.trim_end_matches('0');
        if decimals.is_empty() {
            write!(f, "{sign}{whole} {unit}")
        } else {
            write!(f, "{sign}{whole}.{decimals} {unit}")
        }
    }
}

/// Prints seconds with nine decimals, e.g. `12.000000345`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let ns = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    }
}

/// A time as a user writes it: relative to the trace's start, or on the trace's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeArg {
    /// `1.5s`, `250ms`, `12us`, `7ns`: time since the trace's start.
    SinceStart(Nanos),
    /// `@N`: N ns on the trace's own clock.
    OnClock(Timestamp),
}

impl TimeArg {
    /// Returns the point in time in a trace that starts at `start`.
    #[must_use]
    pub(crate) fn resolve(self, start: Timestamp) -> Timestamp {
        match self {
            TimeArg::SinceStart(delta) => start + delta,
            TimeArg::OnClock(time) => time,
        }
    }
}

impl std::str::FromStr for TimeArg {
    type Err = String;

    /// Parses `1.5s`, `250ms`, `12us`, `12µs`, `7ns` or `@N`; the error states what was expected.
    fn from_str(text: &str) -> Result<TimeArg, String> {
        let text = text.trim();
        if let Some(raw) = text.strip_prefix('@') {
            return raw
                .trim()
                .parse::<i64>()
                .map(|ns| TimeArg::OnClock(Timestamp(ns)))
                .map_err(|_| format!("'{text}': after @ comes a whole number of nanoseconds"));
        }
        parse_duration(text).map(TimeArg::SinceStart)
    }
}

/// Returns a whole number with its digits in groups of three, separated by spaces: `1 234 567`.
#[must_use]
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        text.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Parses a duration with a unit: `1.5s`, `250 ms`, `12us`, `7ns`, also `m`, `min` and `h`.
///
/// # Errors
/// A sentence for the user, if there is no number, no unit, or more digits than nanoseconds have.
pub(crate) fn parse_duration(text: &str) -> Result<Nanos, String> {
    let expected =
        || format!("'{text}': expected a time with a unit, such as 1.5s, 250ms, 12us or 7ns");
    let compact = text.trim();
    let unit_at = compact
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-' && c != '_')
        .ok_or_else(expected)?;
    let (number, unit) = compact.split_at(unit_at);
    let unit_ns: i128 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return Err(expected()),
    };
    let number: String = number.chars().filter(|&c| c != '_').collect();
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.as_str()),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if (whole.is_empty() && fraction.is_empty()) || whole.len() > 18 || fraction.len() > 18 {
        return Err(expected());
    }
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| expected())?
    };
    let scale = 10_i128.pow(fraction.len() as u32);
    let fraction: i128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().map_err(|_| expected())?
    };
    let ns = whole * unit_ns + fraction * unit_ns / scale;
    let ns = if is_negative { -ns } else { ns };
    i64::try_from(ns)
        .map(Nanos)
        .map_err(|_| format!("'{text}': more than this axis can hold"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_in_their_largest_unit() {
        assert_eq!(Nanos(7).to_string(), "7 ns");
        assert_eq!(Nanos(1_500_000).to_string(), "1.5 ms");
        assert_eq!(Nanos(-2_000).to_string(), "-2 µs");
        assert_eq!(Nanos(12_345_678_901).to_string(), "12.345 s");
    }

    #[test]
    fn times_are_read_as_users_write_them() {
        assert_eq!(
            "1.5s".parse(),
            Ok(TimeArg::SinceStart(Nanos(1_500_000_000)))
        );
        assert_eq!("12us".parse(), Ok(TimeArg::SinceStart(Nanos(12_000))));
        assert_eq!("@42".parse(), Ok(TimeArg::OnClock(Timestamp(42))));
        assert_eq!(parse_duration("0.5 ns"), Ok(Nanos(0)));
        for bad in [
            "",
            "5",
            "s",
            "1.2.3s",
            "@x",
            "99999999999999999999s",
            "1e3s",
        ] {
            assert!(bad.parse::<TimeArg>().is_err(), "{bad}");
        }
    }

    #[test]
    fn spans_are_half_open() {
        let span = TimeSpan::new(Timestamp(10), Timestamp(20));
        assert!(span.contains(Timestamp(10)) && !span.contains(Timestamp(20)));
        assert!(!span.overlaps(TimeSpan::new(Timestamp(20), Timestamp(30))));
        assert!(span.overlaps(TimeSpan::new(Timestamp(10), Timestamp(10))));
        assert!(
            span.intersection(TimeSpan::new(Timestamp(30), Timestamp(40)))
                .is_empty()
        );
    }
}
