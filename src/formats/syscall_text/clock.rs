//! Converts the times in lines to nanoseconds on one time axis.
//!
//! Times of day count from the first day's midnight; a decrease by more than twelve hours starts the next day. Whole
//! seconds (`-t`) are spread in file order: each further line of a second is one microsecond after the previous line,
//! and after the end of that line's call if its duration is known. Relative times (`-r`) are added up from the first
//! line. In a text without times, a line takes one unit.

use super::prefix::RawTime;
use crate::base::calendar::{date_text, wall_text};

const DAY_NS: i64 = 86_400 * 1_000_000_000;
const SPREAD_NS: i64 = 1_000;
/// Maximum spread in ns: one step more would be in the next second.
const MOST_SPREAD_NS: i64 = 999_999_000;

/// Kind of times in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// There are no times: line numbers are used.
    Lines,
    /// Time of day with a fraction of a second.
    Day,
    /// Time of day in whole seconds.
    DaySeconds,
    /// Time since the Unix epoch.
    Unix,
    /// Time since the previous line.
    Relative,
}

impl Clock {
    /// Returns the clock that a line's time belongs to.
    #[must_use]
    pub(super) fn of(time: RawTime) -> Clock {
        match time {
            RawTime::Day(_, true) => Clock::Day,
            RawTime::Day(_, false) => Clock::DaySeconds,
            RawTime::Unix(_) => Clock::Unix,
            RawTime::Since(_) => Clock::Relative,
        }
    }

    /// Returns the clock's name for users; `midnight_ns` is the first day's midnight if the user gave a date.
    #[must_use]
    pub(super) fn text(self, midnight_ns: Option<i64>) -> String {
        match (self, midnight_ns.map(i128::from)) {
            (Clock::Lines, _) => "lines".to_owned(),
            (Clock::Day | Clock::DaySeconds, None) => "time of day (no date)".to_owned(),
            (Clock::Day | Clock::DaySeconds, Some(ns)) if ns % i128::from(DAY_NS) == 0 => {
                format!("time of day, first day {}", date_text(ns))
            }
            (Clock::Day | Clock::DaySeconds, Some(ns)) => {
                format!("time of day, first midnight {} (UTC)", wall_text(ns))
            }
            (Clock::Unix, _) => "realtime".to_owned(),
            (Clock::Relative, _) => "since the first line".to_owned(),
        }
    }

    fn ns(self, time: RawTime) -> Option<i64> {
        match (self, time) {
            (Clock::Day | Clock::DaySeconds, RawTime::Day(ns, _))
            | (Clock::Unix, RawTime::Unix(ns))
            | (Clock::Relative, RawTime::Since(ns)) => Some(ns),
            _ => None,
        }
    }
}

/// The state of the clock between two lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeState {
    /// Last time in ns, without the spread of whole seconds.
    last: i64,
    /// Last time of day as printed; before any time was read, the text's first time.
    raw: Option<i64>,
    /// First time of day that was read.
    first: Option<i64>,
    /// Midnight of the current day in ns; in texts without times, the number of lines before the first line.
    day: i64,
    /// Distance in ns of the next line from the start of the last second, if the next line is also in that second.
    spread: i64,
    /// The spread before the first time was read, in ns.
    lead: i64,
    /// Whether the times so far belong to more than one second.
    has_changed: bool,
}

impl TimeState {
    /// Returns the state before a file whose first time is `first`: lines before that time also get it.
    #[must_use]
    pub(crate) fn at_start(clock: Clock, first: Option<RawTime>) -> TimeState {
        let last = match clock {
            Clock::Relative | Clock::Lines => 0,
            _ => first.and_then(|time| clock.ns(time)).unwrap_or(0),
        };
        TimeState {
            last,
            ..TimeState::default()
        }
    }

    /// Returns the last time in ns.
    #[must_use]
    pub(crate) fn last(&self) -> i64 {
        self.last
    }

    /// Advances to line number `line` and returns its time; a line without a time gets the last time.
    #[inline]
    pub(super) fn advance(&mut self, clock: Clock, time: Option<RawTime>, line: u64) -> i64 {
        let ns = time.and_then(|time| clock.ns(time));
        match (clock, ns) {
            (Clock::Lines, _) => self.last = self.day.saturating_add(line.cast_signed()),
            (_, None) => {}
            (Clock::Unix, Some(ns)) => self.last = ns,
            (Clock::Relative, Some(ns)) => self.last = self.last.saturating_add(ns),
            (Clock::Day | Clock::DaySeconds, Some(ns)) => {
                if self
                    .raw
                    .is_some_and(|raw| raw.saturating_sub(ns) > DAY_NS / 2)
                {
                    self.day = self.day.saturating_add(DAY_NS);
                }
                if self.raw != Some(ns) {
                    self.has_changed |= self.raw.is_some();
                    self.spread = 0;
                }
                self.first = self.first.or(Some(ns));
                self.raw = Some(ns);
                self.last = self.day.saturating_add(ns);
            }
        }
        if clock != Clock::DaySeconds {
            return self.last;
        }
        let spread = self.spread.min(MOST_SPREAD_NS);
        self.spread = spread.saturating_add(SPREAD_NS);
        if self.raw.is_none() {
            self.lead = self.spread;
            return self.last;
        }
        self.last.saturating_add(spread)
    }

    /// Adds the duration of the call on the last line: later lines come after its end.
    #[inline]
    pub(crate) fn took(&mut self, clock: Clock, duration_ns: i64) {
        if clock == Clock::DaySeconds {
            self.spread = self.spread.saturating_add(duration_ns).min(MOST_SPREAD_NS);
            if self.raw.is_none() {
                self.lead = self.spread;
            }
        }
    }

    /// Notes that the call that the last line continued ended at `end`, so that later lines of this second come after
    /// it. Returns the end time that is used.
    #[inline]
    pub(crate) fn reach(&mut self, clock: Clock, end: i64) -> i64 {
        if clock != Clock::DaySeconds {
            return end;
        }
        let behind = end.saturating_sub(self.last).min(MOST_SPREAD_NS);
        self.spread = self.spread.max(behind.saturating_add(SPREAD_NS));
        if self.raw.is_none() {
            self.lead = self.spread;
        }
        self.last.saturating_add(behind)
    }

    /// Returns the time of the line that led to this state.
    #[must_use]
    pub(crate) fn of_line(&self, clock: Clock) -> i64 {
        match clock {
            Clock::DaySeconds if self.raw.is_some() => {
                let spread = self.spread.saturating_sub(SPREAD_NS);
                self.last.saturating_add(spread.clamp(0, MOST_SPREAD_NS))
            }
            _ => self.last,
        }
    }

    /// Returns the state moved later by a number of days.
    #[must_use]
    pub(crate) fn later(self, days: i64) -> TimeState {
        self.moved(days.saturating_mul(DAY_NS))
    }

    /// Returns the state moved later by `shift`, in ns, or in lines for a text without times.
    #[must_use]
    pub(crate) fn moved(self, shift: i64) -> TimeState {
        TimeState {
            last: self.last.saturating_add(shift),
            day: self.day.saturating_add(shift),
            ..self
        }
    }

    /// Returns the state for a text that starts within the second `first`, `behind` ns after its start.
    #[must_use]
    pub(crate) fn within_second(self, first: i64, behind: i64) -> TimeState {
        match self.raw {
            None => TimeState {
                raw: Some(first),
                spread: behind.clamp(0, MOST_SPREAD_NS),
                ..self
            },
            // A later part that also starts in the first second.
            Some(raw) if raw == first && !self.has_changed => TimeState {
                spread: self
                    .spread
                    .saturating_add(behind)
                    .clamp(0, MOST_SPREAD_NS + SPREAD_NS),
                ..self
            },
            Some(_) => self,
        }
    }

    /// Returns the time of an earlier line, if its printed time determines it.
    #[must_use]
    pub(crate) fn earlier(&self, clock: Clock, time: Option<RawTime>) -> Option<i64> {
        let ns = clock.ns(time?)?;
        match clock {
            Clock::Unix => Some(ns),
            Clock::Day => {
                let today = self.day.saturating_add(ns);
                Some(if today > self.last {
                    today.saturating_sub(DAY_NS)
                } else {
                    today
                })
            }
            Clock::Lines | Clock::DaySeconds | Clock::Relative => None,
        }
    }

    /// Returns the state after a part, from the state before it and the state that the part's lines alone yield.
    #[must_use]
    pub(crate) fn after(self, clock: Clock, part: TimeState) -> TimeState {
        match clock {
            Clock::Lines => part,
            Clock::Unix => {
                if part.last == 0 {
                    self
                } else {
                    part
                }
            }
            Clock::Relative => TimeState {
                last: self.last.saturating_add(part.last),
                ..self
            },
            Clock::Day | Clock::DaySeconds => {
                let spread = |more: i64| {
                    self.spread
                        .saturating_add(more)
                        .min(MOST_SPREAD_NS + SPREAD_NS)
                };
                let (Some(first), Some(raw)) = (part.first, part.raw) else {
                    return TimeState {
                        spread: spread(part.spread),
                        ..self
                    };
                };
                // A decrease by more than twelve hours at the border of the parts is midnight.
                let falls = self
                    .raw
                    .is_some_and(|before| before.saturating_sub(first) > DAY_NS / 2);
                let mut day = self.day.saturating_add(part.day);
                if falls {
                    day = day.saturating_add(DAY_NS);
                }
                // The whole part is in the second in which the previous text ended: the spread continues.
                let goes_on = !part.has_changed && self.raw == Some(raw);
                TimeState {
                    last: day.saturating_add(raw),
                    raw: Some(raw),
                    first: self.first.or(part.first),
                    day,
                    spread: if goes_on {
                        spread(part.lead.saturating_add(part.spread))
                    } else {
                        part.spread
                    },
                    lead: self.lead,
                    has_changed: self.has_changed
                        || part.has_changed
                        || self.raw.is_some_and(|before| before != first),
                }
            }
        }
    }
}

/// Returns which files of one recording start after midnight, from the times of day of their first lines: files whose
/// first time is before the time at which the recording started, if all files started within twelve hours.
#[must_use]
pub(crate) fn begin_next_day(firsts: &[Option<i64>]) -> Vec<bool> {
    let mut sorted: Vec<i64> = firsts.iter().flatten().copied().collect();
    sorted.sort_unstable();
    let spread = |start: i64, end: i64| end.saturating_sub(start);
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
        return vec![false; firsts.len()];
    };
    // The longest interval without a first line: the recording started at its end.
    let gap = sorted
        .windows(2)
        .max_by_key(|pair| spread(pair[0], pair[1]));
    let start = match gap {
        Some(&[before, after])
            if spread(first, last) > DAY_NS / 2 && spread(before, after) > DAY_NS / 2 =>
        {
            after
        }
        _ => first,
    };
    firsts
        .iter()
        .map(|time| time.is_some_and(|time| time < start))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that reading in two parts yields the same times as reading at once.
    fn same_in_parts(clock: Clock, times: &[Option<RawTime>]) -> Vec<i64> {
        same_with_durations(clock, times, &[])
    }

    fn same_with_durations(clock: Clock, times: &[Option<RawTime>], took: &[i64]) -> Vec<i64> {
        let read = |state: &mut TimeState, from: usize, to: usize| -> Vec<i64> {
            let lines = (from..to).map(|at| {
                let time = state.advance(clock, times[at], at as u64 + 1);
                state.took(clock, took.get(at).copied().unwrap_or(0));
                time
            });
            lines.collect()
        };
        let first = times.iter().flatten().next().copied();
        let start = TimeState::at_start(clock, first);
        let whole = read(&mut start.clone(), 0, times.len());
        for cut in 0..=times.len() {
            for later in cut..=times.len() {
                let (mut one, mut two) = (TimeState::default(), TimeState::default());
                let _ = read(&mut one, 0, cut);
                let _ = read(&mut two, cut, later);
                let mut state = start.after(clock, one).after(clock, two);
                assert_eq!(
                    read(&mut state, later, times.len()),
                    whole[later..],
                    "{cut} {later}"
                );
            }
        }
        whole
    }

    #[test]
    fn files_of_a_recording_may_begin_behind_midnight() {
        let hours = |all: &[i64]| -> Vec<bool> {
            let firsts: Vec<Option<i64>> =
                all.iter().map(|h| Some(h * 3_600_000_000_000)).collect();
            begin_next_day(&firsts)
        };
        assert_eq!(hours(&[23, 0, 22, 1]), [false, true, false, true]);
        assert_eq!(hours(&[8, 9, 17]), [false; 3]);
        // Undecidable: the files start at all times of the day.
        assert_eq!(hours(&[0, 8, 16]), [false; 3]);
        assert_eq!(begin_next_day(&[None, Some(5)]), [false; 2]);
        assert!(begin_next_day(&[]).is_empty());
    }

    #[test]
    fn midnight_passes() {
        let at = |s: i64| Some(RawTime::Day(s * 1_000_000_000, true));
        let times = same_in_parts(
            Clock::Day,
            &[
                at(86_398),
                None,
                at(86_399),
                at(1),
                at(2),
                at(86_399),
                at(0),
            ],
        );
        let seconds: Vec<i64> = times.iter().map(|ns| ns / 1_000_000_000).collect();
        assert_eq!(
            seconds,
            [86_398, 86_398, 86_399, 86_401, 86_402, 172_799, 172_800]
        );
    }

    #[test]
    fn whole_seconds_spread_in_file_order() {
        let at = |s: i64| Some(RawTime::Day(s * 1_000_000_000, false));
        let times = same_in_parts(
            Clock::DaySeconds,
            &[at(5), at(5), None, at(5), at(6), at(6)],
        );
        assert_eq!(
            times,
            [
                5_000_000_000,
                5_000_001_000,
                5_000_002_000,
                5_000_003_000,
                6_000_000_000,
                6_000_001_000
            ]
        );
    }

    #[test]
    fn calls_of_one_second_do_not_overlap() {
        let at = |s: i64| Some(RawTime::Day(s * 1_000_000_000, false));
        let lines = [at(5), at(5), at(5), None, at(6), at(6), at(6)];
        let took = [30_000, 0, 7_000, 0, 2_000_000_000, 5, 0];
        let times = same_with_durations(Clock::DaySeconds, &lines, &took);
        let micros: Vec<i64> = times.iter().map(|ns| ns / 1_000 - 5_000_000).collect();
        assert_eq!(micros, [0, 31, 32, 40, 1_000_000, 1_999_999, 1_999_999]);
        same_with_durations(
            Clock::DaySeconds,
            &[None, None, at(5), at(5)],
            &[5, 0, 9, 0],
        );
    }

    #[test]
    fn relative_times_add_up_and_lines_are_their_own_time() {
        let since = |ns| Some(RawTime::Since(ns));
        assert_eq!(
            same_in_parts(Clock::Relative, &[since(0), since(5), None, since(7)]),
            [0, 5, 5, 12]
        );
        assert_eq!(same_in_parts(Clock::Lines, &[None, None, None]), [1, 2, 3]);
        let unix = |ns| Some(RawTime::Unix(ns));
        assert_eq!(
            same_in_parts(Clock::Unix, &[None, unix(10), None, unix(12)]),
            [10, 10, 10, 12]
        );
    }
}
