//! Lines whose time cannot be: alone far before or behind both of their neighbours in the file.
//!
//! The tracer writes lines nearly in order, so that such a time is damage; it would stretch the axis to centuries.

use super::file::{events_after, lines_before};
use super::line::parse_line;

/// Lines that follow each other in a file are less far apart than this, unless there is a pause.
const FAR_NS: i64 = 10_000_000_000;
/// No pause is as long as that: ten years.
const TOO_FAR_NS: i64 = 315_360_000_000_000_000;
/// How much text around a line is looked at.
const AROUND_BYTES: usize = 1 << 16;

/// Follows the times of lines that follow each other.
pub(super) struct Outliers<'a> {
    text: &'a [u8],
    /// The time of the line before.
    last: Option<i64>,
}

impl<'a> Outliers<'a> {
    /// From the line at `start` on.
    pub(super) fn new(text: &'a [u8], start: usize) -> Outliers<'a> {
        let before = lines_before(text, start, AROUND_BYTES);
        let last = before.filter_map(|(line, _)| parse_line(line)).next();
        Outliers {
            text,
            last: last.map(|line| line.time),
        }
    }

    /// The time for the next line, which says `time` and ends at `end`: another one where that cannot be.
    #[inline]
    pub(super) fn corrected(&mut self, time: i64, end: usize) -> i64 {
        let is_near = |last: i64| time.abs_diff(last) <= FAR_NS.unsigned_abs();
        let time = match self.last {
            Some(last) if is_near(last) => time,
            last => self.look(time, last, end),
        };
        self.last = Some(time);
        time
    }

    #[cold]
    fn look(&self, time: i64, last: Option<i64>, end: usize) -> i64 {
        let mut behind = events_after(self.text, end, AROUND_BYTES).map(|(line, _)| line.time);
        let next = behind.next();
        let is_far = |other: i64| time.abs_diff(other) > FAR_NS.unsigned_abs();
        match (last, next) {
            // It sticks out of both, to the same side.
            (Some(last), Some(next)) if is_far(next) && (time > last) == (time > next) => last,
            (Some(last), None)
                if time < last || time.abs_diff(last) > TOO_FAR_NS.unsigned_abs() =>
            {
                last
            }
            (None, Some(next)) if is_far(next) => {
                // The first line: the two behind it agree against it.
                let second = behind.next();
                let agree =
                    second.is_some_and(|second| next.abs_diff(second) <= FAR_NS.unsigned_abs());
                if agree { next } else { time }
            }
            _ => time,
        }
    }
}
