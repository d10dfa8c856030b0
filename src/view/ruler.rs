//! The ruler: round steps between ticks, and the text of a time at a tick.
//!
//! Steps are 1, 2 or 5 times a power of ten below a second, and the units of clocks above it.

use crate::base::calendar::{clock_text, wall_text};
pub use crate::base::time::grouped;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::event::part::ClockUnit;
use serde::{Deserialize, Serialize};

/// The zero point and notation of displayed times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TimeFormat {
    /// Time since the trace's first event.
    #[default]
    SinceStart,
    /// The trace's own clock, in seconds.
    TraceClock,
    /// Wall clock (UTC), if the file contains the offset to it.
    WallClock,
}

impl TimeFormat {
    /// All variants, in the order in which the key cycles through them.
    pub const ALL: [TimeFormat; 3] = [
        TimeFormat::SinceStart,
        TimeFormat::TraceClock,
        TimeFormat::WallClock,
    ];

    /// Label in menus.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TimeFormat::SinceStart => "Since start",
            TimeFormat::TraceClock => "Trace clock",
            TimeFormat::WallClock => "Wall clock (UTC)",
        }
    }
}

/// The zero points of the time axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The trace's first event.
    pub start: Timestamp,
    /// ns to add to a time of the trace's clock to get Unix time in ns, if the file contains it.
    pub unix_offset: Option<i128>,
    /// Unit of the trace's clock; only nanoseconds are written as seconds.
    pub unit: ClockUnit,
}

const SECOND: i64 = 1_000_000_000;

/// Returns the smallest round distance between labelled ticks that is at least `per_tick` ns.
#[must_use]
pub(crate) fn step_for(per_tick: f64) -> Nanos {
    const CLOCK: [i64; 16] = [
        1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800,
    ];
    let mut step = 1_i64;
    while step < SECOND {
        for factor in [1, 2, 5] {
            if (step * factor) as f64 >= per_tick {
                return Nanos(step * factor);
            }
        }
        step *= 10;
    }
    for seconds in CLOCK {
        if (seconds * SECOND) as f64 >= per_tick {
            return Nanos(seconds * SECOND);
        }
    }
    let mut days = 5_i64;
    while (days as f64) * 86_400e9 < per_tick && days < 50_000 {
        days *= 2;
    }
    Nanos(days.saturating_mul(86_400 * SECOND))
}

/// Returns the ticks in `span`: multiples of `step` from `zero`, at most 10,000.
pub(crate) fn ticks(
    span: TimeSpan,
    zero: Timestamp,
    step: Nanos,
) -> impl Iterator<Item = Timestamp> {
    let step = i128::from(step.0.max(1));
    let zero = i128::from(zero.0);
    let first = (i128::from(span.start.0) - zero).div_euclid(step);
    let end = i128::from(span.end.0);
    (first..)
        .map(move |n| zero + n * step)
        .skip_while(move |&time| time < i128::from(span.start.0))
        .take_while(move |&time| time < end)
        .filter_map(|time| i64::try_from(time).ok().map(Timestamp))
        .take(10_000)
}

/// Returns the time from which ticks are counted in `format`.
#[must_use]
pub(crate) fn zero_of(format: TimeFormat, origins: Origins) -> Timestamp {
    match (format, origins.unix_offset) {
        (TimeFormat::SinceStart, _) | (TimeFormat::WallClock, None) => origins.start,
        (TimeFormat::TraceClock, _) => Timestamp(0),
        (TimeFormat::WallClock, Some(offset)) => {
            // A midnight of the wall clock near the start, so that ticks fall on round times.
            let second = i128::from(SECOND) * 86_400;
            let start = i128::from(origins.start.0) + offset;
            i64::try_from(start.div_euclid(second) * second - offset)
                .map_or(origins.start, Timestamp)
        }
    }
}

/// Returns the text of a tick, with only the decimals that `step` needs.
#[must_use]
pub(crate) fn tick_text(
    time: Timestamp,
    step: Nanos,
    format: TimeFormat,
    origins: Origins,
) -> String {
    if origins.unit != ClockUnit::Nanoseconds {
        // Clocks of another unit: plain counts with their unit.
        return length_text(Nanos(count_of(time, format, origins)), origins.unit);
    }
    match (format, origins.unix_offset) {
        (TimeFormat::SinceStart, _) | (TimeFormat::WallClock, None) => {
            offset_text((time - origins.start).0, step)
        }
        (TimeFormat::TraceClock, _) => seconds_text(time.0, decimals_of(step)),
        (TimeFormat::WallClock, Some(offset)) => {
            clock_text(i128::from(time.0) + offset, decimals_of(step))
        }
    }
}

/// Returns a time as text, to the nanosecond.
#[must_use]
pub(crate) fn full_text(time: Timestamp, format: TimeFormat, origins: Origins) -> String {
    if origins.unit != ClockUnit::Nanoseconds {
        return length_text(Nanos(count_of(time, format, origins)), origins.unit);
    }
    match (format, origins.unix_offset) {
        (TimeFormat::SinceStart, _) | (TimeFormat::WallClock, None) => {
            format!("{} s", seconds_text((time - origins.start).0, 9))
        }
        (TimeFormat::TraceClock, _) => format!("{} s", seconds_text(time.0, 9)),
        (TimeFormat::WallClock, Some(offset)) => wall_text(i128::from(time.0) + offset),
    }
}

/// Returns a duration as text, in full precision.
#[must_use]
pub fn length_text(length: Nanos, unit: ClockUnit) -> String {
    unit.length_text(length)
}

/// Returns a duration as text for a column: with all its decimals, so that the digits align.
#[must_use]
pub(crate) fn column_length_text(length: Nanos, unit: ClockUnit) -> String {
    unit.column_length_text(length)
}

fn count_of(time: Timestamp, format: TimeFormat, origins: Origins) -> i64 {
    match format {
        TimeFormat::TraceClock => time.0,
        TimeFormat::SinceStart | TimeFormat::WallClock => (time - origins.start).0,
    }
}

/// Returns an amount of bytes in three digits: `640 B`, `1.2 MB`, `27.4 GB`.
#[must_use]
pub fn size_text(bytes: u64) -> String {
    let (amount, unit) = match bytes {
        ..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (bytes as f64 / 1e3, "kB"),
        1_000_000..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
        _ => (bytes as f64 / 1e9, "GB"),
    };
    let digits = if amount < 100.0 { 1 } else { 0 };
    format!("{amount:.digits$} {unit}")
}

/// Returns a count with its noun: `1 slice`, `2 300 slices`.
#[must_use]
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", grouped(count as i64))
}

/// Returns the number of decimals of a second that `step` needs: 0, 3, 6 or 9.
fn decimals_of(step: Nanos) -> usize {
    match step.0 {
        s if s % SECOND == 0 => 0,
        s if s % 1_000_000 == 0 => 3,
        s if s % 1_000 == 0 => 6,
        _ => 9,
    }
}

/// Returns nanoseconds as seconds: `12.345`.
fn seconds_text(ns: i64, decimals: usize) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let (whole, rest) = (ns / SECOND as u64, ns % SECOND as u64);
    if decimals == 0 {
        return format!("{sign}{whole}");
    }
    let digits = format!("{rest:09}");
    format!("{sign}{whole}.{}", &digits[..decimals.min(9)])
}

/// Returns a time since the start in a fitting unit: `250 µs`, `1.5 s`, `2:30`.
fn offset_text(ns: i64, step: Nanos) -> String {
    if ns == 0 {
        return "0".to_owned();
    }
    let sign = if ns < 0 { "-" } else { "" };
    let abs = ns.unsigned_abs();
    if step.0 >= 30 * SECOND {
        let seconds = abs / SECOND as u64;
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        return if hours > 0 {
            format!("{sign}{hours}:{minutes:02}:{seconds:02}")
        } else {
            format!("{sign}{minutes}:{seconds:02}")
        };
    }
    // The unit follows the number; the decimals follow the step.
    let (unit, word) = match abs {
        0..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (SECOND as u64, "s"),
    };
    let mut decimals = 0;
    let mut rest = step.0.unsigned_abs();
    while !rest.is_multiple_of(unit) && decimals < 9 {
        rest = rest.saturating_mul(10);
        decimals += 1;
    }
    let scale = 10_u64.pow(decimals);
    let fraction = (u128::from(abs % unit) * u128::from(scale) / u128::from(unit)) as u64;
    if decimals == 0 {
        format!("{sign}{} {word}", abs / unit)
    } else {
        let width = decimals as usize;
        format!("{sign}{}.{fraction:0width$} {word}", abs / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins() -> Origins {
        Origins {
            start: Timestamp(5_000),
            unix_offset: Some(1_795_000_000 * 1_000_000_000),
            unit: ClockUnit::Nanoseconds,
        }
    }

    #[test]
    fn lengths_in_a_column_have_all_their_decimals() {
        let text = |ns| column_length_text(Nanos(ns), ClockUnit::Nanoseconds);
        assert_eq!(text(2_630_000), "2.630 ms");
        assert_eq!(text(-25_889_123), "-25.889 ms");
        assert_eq!(text(3_000_000_000), "3.000 s");
        assert_eq!(text(999), "999 ns");
        assert_eq!(column_length_text(Nanos(1), ClockUnit::Lines), "1 line");
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        assert_eq!(size_text(640), "640 B");
        assert_eq!(size_text(1_234_567), "1.2 MB");
        assert_eq!(size_text(944_000_000), "944 MB");
        assert_eq!(size_text(27_400_000_000), "27.4 GB");
    }

    #[test]
    fn steps_are_round() {
        assert_eq!(step_for(0.3), Nanos(1));
        assert_eq!(step_for(1_100.0), Nanos(2_000));
        assert_eq!(step_for(300e6), Nanos(500_000_000));
        assert_eq!(step_for(0.9e9), Nanos(SECOND));
        assert_eq!(step_for(11e9), Nanos(30 * SECOND));
        assert!(step_for(1e18).0 > 0);
    }

    #[test]
    fn ticks_count_from_the_zero_point() {
        let span = TimeSpan::new(Timestamp(5_500), Timestamp(8_100));
        let at: Vec<_> = ticks(span, Timestamp(5_000), Nanos(1_000))
            .map(|time| time.0)
            .collect();
        assert_eq!(at, [6_000, 7_000, 8_000]);
        let all = TimeSpan::ALL;
        assert!(ticks(all, Timestamp(0), Nanos(1)).count() <= 10_000);
    }

    #[test]
    fn tick_texts_have_the_decimals_of_their_step() {
        let text = |ns, step| {
            tick_text(
                Timestamp(5_000 + ns),
                Nanos(step),
                TimeFormat::SinceStart,
                origins(),
            )
        };
        assert_eq!(text(0, 10), "0");
        assert_eq!(text(1_500_000, 500_000), "1.5 ms");
        assert_eq!(text(2_000_000, 500_000), "2.0 ms");
        assert_eq!(text(1_000_000_010, 10), "1.00000001 s");
        assert_eq!(text(150 * SECOND, 30 * SECOND), "2:30");
        assert_eq!(text(-2_000, 1_000), "-2 µs");
    }

    #[test]
    fn an_axis_without_seconds_says_what_it_counts() {
        let text = |count: i64, unit| {
            let origins = Origins { unit, ..origins() };
            let step = Nanos(10);
            tick_text(
                Timestamp(5_000 + count),
                step,
                TimeFormat::SinceStart,
                origins,
            )
        };
        assert_eq!(text(20, ClockUnit::Lines), "20 lines");
        assert_eq!(text(1, ClockUnit::Order), "1 step");
        assert_eq!(text(0, ClockUnit::Cycles), "0 cycles");
    }

    #[test]
    fn wall_clock_times_and_dates() {
        let time = Timestamp(250_000_000);
        let text = tick_text(time, Nanos(1_000_000), TimeFormat::WallClock, origins());
        assert_eq!(text, "11:06:40.250");
        assert_eq!(
            full_text(time, TimeFormat::WallClock, origins()),
            "2026-11-18 11:06:40.250000000"
        );
    }
}
