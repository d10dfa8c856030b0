//! Times in cargo's files: seconds since the start of the build, and dates.

use serde_json::Value as Json;

use crate::base::calendar::days_since_1970;

/// The latest valid time, in seconds: a century.
const MOST_SECONDS: f64 = 100.0 * 366.0 * 86_400.0;

/// Returns a member in seconds as ns; `None` if it is not a time.
pub(super) fn ns(object: &Json, name: &str) -> Option<i64> {
    ns_of(object.get(name)?)
}

/// Returns a number of seconds as ns; `None` if it is not a time.
///
/// A double contains at least 15 decimal digits, so ns are exact in builds of up to 11 days.
pub(super) fn ns_of(seconds: &Json) -> Option<i64> {
    let seconds = seconds.as_f64()?;
    let is_time = seconds.abs() <= MOST_SECONDS;
    is_time.then(|| (seconds * 1e9).round() as i64)
}

/// Returns a date of the form `2026-11-24T04:07:44.458156176Z` in ns since the Unix epoch; `None` for other forms.
pub(super) fn unix_ns(date: &str) -> Option<i64> {
    let (day, time) = date.strip_suffix('Z')?.split_once('T')?;
    let mut parts = time.splitn(3, ':');
    let hours = number(parts.next()?, 24)?;
    let minutes = number(parts.next()?, 60)?;
    let seconds = parts.next()?;
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let seconds = number(seconds, 61)?;
    let is_digits = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fraction = is_digits.then(|| format!("{fraction:0<9}"))?;
    let days = days_since_1970(day)?;
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    let seconds = minutes.checked_mul(60)?.checked_add(seconds)?;
    let fraction: i64 = fraction.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

fn number(digits: &str, limit: i64) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = is_number.then(|| digits.parse().ok())??;
    (number < limit).then_some(number)
}
