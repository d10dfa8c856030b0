//! "Go to": parses a point or a span of time, in any of the formats that the window prints.
//!
//! ```text
//! 1.5s  250ms  12us  2:30       since the trace's start
//! +20ms  -3us                   from the middle of the visible span
//! @123456789                    nanoseconds on the trace's clock
//! 5094.123456                   seconds on the trace's clock, if within the trace; else since its start
//! 2026-11-18 11:06:40.25Z       wall clock (UTC), if the file has its offset; 11:06:40 alone: on the day in view
//! 1.5s .. 1.6s                  a span: both ends in any of these
//! ```

use super::ruler::Origins;
use crate::base::calendar::days_since_1970;
use crate::base::time::TimeArg;
use crate::base::{Nanos, TimeSpan, Timestamp};

/// Target of a "Go to".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A point, to be centred.
    At(Timestamp),
    /// A span, to fill the view.
    Over(TimeSpan),
}

/// The times to which a text is relative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// The trace's span.
    pub trace: TimeSpan,
    /// The middle of the visible span.
    pub middle: Timestamp,
    /// The zero points of the time formats.
    pub origins: Origins,
}

/// Parses a time or a span.
///
/// # Errors
/// Returns a sentence for the user if the text is neither.
pub(crate) fn parse_target(text: &str, around: &Around) -> Result<Target, String> {
    if let Some((from, until)) = text.split_once("..") {
        let (from, until) = (parse_time(from, around)?, parse_time(until, around)?);
        return Ok(Target::Over(TimeSpan::new(
            from.min(until),
            from.max(until),
        )));
    }
    parse_time(text, around).map(Target::At)
}

fn parse_time(text: &str, around: &Around) -> Result<Timestamp, String> {
    let text = text.trim();
    let relative = |rest: &str| crate::base::time::parse_duration(rest.trim());
    if let Some(rest) = text.strip_prefix('+') {
        return relative(rest).map(|delta| around.middle + delta);
    }
    if let Some(rest) = text.strip_prefix(['-', '−'])
        && let Ok(delta) = relative(rest)
    {
        return Ok(around.middle - delta);
    }
    if let Some(time) = wall_clock(text, around) {
        return time;
    }
    if text.contains(':') {
        return since_start_clock(text)
            .map(|delta| around.trace.start + delta)
            .ok_or_else(expected);
    }
    if let Some(number) = plain_number(text) {
        let whole = (!text.contains('.')).then_some(number / 1_000_000_000);
        return Ok(place_number(number, whole, around));
    }
    text.parse::<TimeArg>()
        .map(|arg| arg.resolve(around.trace.start))
        .map_err(|_| expected())
}

fn expected() -> String {
    "expected a time such as 1.5s, 250ms, +20us, 2:30, @123456789, 5094.123456 or 11:06:40.25, or a span such as 1.5s .. 1.6s"
        .to_owned()
}

/// Parses a number without a unit, in billionths; grouped digits are accepted.
fn plain_number(text: &str) -> Option<i128> {
    let compact: String = text
        .chars()
        .filter(|c| !matches!(c, '_' | ' ' | '\u{202f}' | '\u{a0}'))
        .collect();
    let (whole, fraction) = compact.split_once('.').unwrap_or((&compact, ""));
    let is_number = |text: &str| text.len() <= 19 && text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    Some(whole.parse::<i128>().ok()? * 1_000_000_000 + billionths(fraction)?)
}

fn billionths(fraction: &str) -> Option<i128> {
    let nine: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    nine.parse().ok()
}

/// Returns the time that a number without a unit means: seconds or, if `whole`, nanoseconds; the one within the trace
/// wins.
fn place_number(number: i128, whole: Option<i128>, around: &Around) -> Timestamp {
    let at = |ns: i128| Timestamp(ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
    let is_inside = |time: Timestamp| around.trace.start <= time && time <= around.trace.end;
    let seconds = at(number);
    if is_inside(seconds) {
        return seconds;
    }
    if let Some(nanos) = whole.map(at).filter(|time| is_inside(*time)) {
        return nanos;
    }
    at(i128::from(around.trace.start.0) + number)
}

/// Parses `2:30` or `1:02:03.5`: minutes and hours since the start.
fn since_start_clock(text: &str) -> Option<Nanos> {
    let mut seconds = 0_i128;
    let mut parts = text.split(':').peekable();
    let mut count = 0;
    while let Some(part) = parts.next() {
        count += 1;
        let number = plain_number(part)?;
        // The first number may exceed 59.
        if count > 1 && number >= 60 * 1_000_000_000 {
            return None;
        }
        if count > 3 || (part.contains('.') && parts.peek().is_some()) {
            return None;
        }
        seconds = seconds.checked_mul(60)?.checked_add(number)?;
    }
    i64::try_from(seconds).ok().map(Nanos)
}

/// Parses a date and a time of day, or the time of day alone; `None` if the text is not of that form.
fn wall_clock(text: &str, around: &Around) -> Option<Result<Timestamp, String>> {
    let text = text
        .trim_end_matches(['Z', 'z'])
        .trim_end_matches("UTC")
        .trim();
    let (date, clock) = match text.split_once([' ', 'T']) {
        Some((date, clock)) => (Some(date), clock.trim()),
        None => (None, text),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let &[hours, minutes, seconds] = parts.as_slice() else {
        return None;
    };
    let offset = around.origins.unix_offset;
    if date.is_none() && offset.is_none() {
        return None;
    }
    let Some(offset) = offset else {
        return Some(Err(
            "this file does not relate its clock to the wall clock".to_owned()
        ));
    };
    let of_day = || {
        if hours.contains('.') || minutes.contains('.') {
            return None;
        }
        let (hours, minutes) = (plain_number(hours)?, plain_number(minutes)?);
        let seconds = plain_number(seconds)?;
        // A leap second is second 60.
        let is_clock = hours < 24 * SECOND && minutes < 60 * SECOND && seconds < 61 * SECOND;
        let clock = hours * 3_600 + minutes * 60;
        clock.checked_add(seconds).filter(|_| is_clock)
    };
    const SECOND: i128 = 1_000_000_000;
    const DAY: i128 = 86_400 * 1_000_000_000;
    let day_start = match date {
        Some(date) => days_since_1970(date).map(|days| i128::from(days) * DAY),
        None => Some((i128::from(around.middle.0) + offset).div_euclid(DAY) * DAY),
    };
    let (Some(of_day), Some(day_start)) = (of_day(), day_start) else {
        return Some(Err(expected()));
    };
    Some(
        i64::try_from(day_start + of_day - offset)
            .map(Timestamp)
            .map_err(|_| "that is more than this axis can hold".to_owned()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn around() -> Around {
        let start = Timestamp(5_094 * SECOND);
        Around {
            trace: TimeSpan::new(start, start + Nanos(100 * SECOND)),
            middle: start + Nanos(50 * SECOND),
            origins: Origins {
                start,
                // The trace's clock starts at noon of 2026-11-18.
                unix_offset: Some((20_775 * 86_400 + 43_200) * i128::from(SECOND)),
                ..Origins::default()
            },
        }
    }

    fn since_start(text: &str) -> i64 {
        match parse_target(text, &around()) {
            Ok(Target::At(time)) => (time - around().trace.start).0,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_time_is_read_in_every_format() {
        assert_eq!(since_start("1.5s"), 1_500_000_000);
        assert_eq!(since_start(" 250 ms "), 250_000_000);
        assert_eq!(since_start("+20us"), 50 * SECOND + 20_000);
        assert_eq!(since_start("-1s"), 49 * SECOND);
        assert_eq!(since_start("1:30"), 90 * SECOND);
        assert_eq!(since_start("@5095000000000"), SECOND);
        assert_eq!(since_start("5094.123456"), 123_456_000);
        assert_eq!(since_start("5095000000000"), SECOND);
        assert_eq!(since_start("7"), 7 * SECOND);
        assert_eq!(since_start("2026-11-18 13:24:55Z"), SECOND);
        assert_eq!(since_start("13:24:55.25"), SECOND + 250_000_000);
    }

    #[test]
    fn a_span_has_two_ends() {
        let start = around().trace.start;
        let target = parse_target("2s .. 1s", &around());
        let span = TimeSpan::new(start + Nanos(SECOND), start + Nanos(2 * SECOND));
        assert_eq!(target, Ok(Target::Over(span)));
    }

    #[test]
    fn what_is_no_time_is_refused_in_words() {
        for bad in [
            "",
            "soon",
            "1.5 parsecs",
            "1:2:3:4",
            "..",
            "1:2.5:3",
            "2026-13-01 00:00:00",
        ] {
            let error = parse_target(bad, &around()).unwrap_err();
            assert!(error.contains("expected"), "{bad}: {error}");
        }
        let mut dark = around();
        dark.origins.unix_offset = None;
        let error = parse_target("2026-11-18 13:24:55", &dark).unwrap_err();
        assert!(error.contains("wall clock"), "{error}");
        assert!(parse_target("1:02:03", &dark).is_ok());
    }

    #[test]
    fn a_clock_has_60_seconds_and_24_hours() {
        for text in ["12:00:61", "12:61:00", "24:00:00", "2:75"] {
            let found = parse_target(text, &around());
            assert!(found.is_err(), "{text}: {found:?}");
        }
        assert!(parse_target("23:59:60", &around()).is_ok());
    }
}
