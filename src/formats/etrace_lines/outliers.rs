//! Detects lines with impossible times: a single line whose time is far before or after both of its neighbours in the
//! file.
//!
//! The tracer writes lines nearly in order, so such a time is damage; it would stretch the time axis to centuries. None
//! of the 21 etrace files of the corpus contains such a line.

use super::line::parse_line;
use super::lines::{events_after, lines_before};

/// Consecutive lines of a file differ by less than this, unless there is a pause.
const FAR_NS: i64 = 10_000_000_000;
/// No pause is this long: ten years.
const TOO_FAR_NS: i64 = 315_360_000_000_000_000;
/// Number of bytes around a line that are searched for its neighbours.
const AROUND_BYTES: usize = 1 << 16;

/// Compares the times of consecutive lines.
pub(super) struct Outliers<'a> {
    text: &'a [u8],
    /// Time of the previous line, in ns.
    last: Option<i64>,
}

impl<'a> Outliers<'a> {
    /// Returns the state before the line at `start`.
    pub(super) fn new(text: &'a [u8], start: usize) -> Outliers<'a> {
        let before = lines_before(text, start, AROUND_BYTES);
        let last = before.filter_map(|it| parse_line(it.line)).next();
        Outliers {
            text,
            last: last.map(|line| line.time),
        }
    }

    /// Returns the time of the previous line, in ns.
    pub(super) fn last_time(&self) -> Option<i64> {
        self.last
    }

    /// Returns the corrected time of the next line, whose own time is `time` and which ends at byte `end`.
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
        let mut behind = events_after(self.text, end, AROUND_BYTES).map(|it| it.line.time);
        let next = behind.next();
        let is_far = |other: i64| time.abs_diff(other) > FAR_NS.unsigned_abs();
        match (last, next) {
            // The time is far from both neighbours, in the same direction.
            (Some(last), Some(next)) if is_far(next) && (time > last) == (time > next) => last,
            (Some(last), None)
                if time < last || time.abs_diff(last) > TOO_FAR_NS.unsigned_abs() =>
            {
                last
            }
            (None, Some(next)) if is_far(next) => {
                // The first line of the text: the two lines after it are near each other but far from it.
                let second = behind.next();
                let agree =
                    second.is_some_and(|second| next.abs_diff(second) <= FAR_NS.unsigned_abs());
                if agree { next } else { time }
            }
            _ => time,
        }
    }
}
