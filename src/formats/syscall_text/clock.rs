//! Times of lines: what stands in them becomes nanoseconds on one axis.
//!
//! Time of day counts from the first day's midnight, and a fall by more than twelve hours is the next day.
//! Whole seconds (`-t`) are spread in file order: each further line of a second lies one microsecond later.
//! Relative times (`-r`) add up from the first line. Without any time a line is one unit long.

use super::prefix::RawTime;

const DAY_NS: i64 = 86_400 * 1_000_000_000;
const SPREAD_NS: i64 = 1_000;
const MOST_SPREAD: u64 = 999_999;

/// What the times of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// There are none: line numbers stand for them.
    Lines,
    /// Time of day with a fraction.
    Day,
    /// Time of day in whole seconds.
    DaySeconds,
    /// Since the epoch.
    Unix,
    /// Since the line before.
    Relative,
}

impl Clock {
    /// The clock that a line's time belongs to.
    #[must_use]
    pub fn of(time: RawTime) -> Clock {
        match time {
            RawTime::Day(_, true) => Clock::Day,
            RawTime::Day(_, false) => Clock::DaySeconds,
            RawTime::Unix(_) => Clock::Unix,
            RawTime::Since(_) => Clock::Relative,
        }
    }

    /// Its name for the info pane.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Clock::Lines => "lines",
            Clock::Day => "time of day (no date)",
            Clock::DaySeconds => "time of day (no date), whole seconds",
            Clock::Unix => "realtime",
            Clock::Relative => "since the first line",
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

/// Where a reader of lines stands in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeState {
    /// The last time, without the spread of whole seconds.
    last: i64,
    /// The last time of day as the line had it, or the first time if none was read yet.
    raw: Option<i64>,
    /// The first time of day that was read.
    first: Option<i64>,
    /// Midnight of the day.
    day: i64,
    /// Line on which the last second began.
    second_line: u64,
    /// Whether all times so far were the same second.
    has_changed: bool,
}

impl TimeState {
    /// The state before a file whose first time is `first`: lines before it have that time too.
    #[must_use]
    pub fn at_start(clock: Clock, first: Option<RawTime>) -> TimeState {
        let last = match clock {
            Clock::Relative | Clock::Lines => 0,
            _ => first.and_then(|time| clock.ns(time)).unwrap_or(0),
        };
        TimeState {
            last,
            ..TimeState::default()
        }
    }

    /// The last time.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.last
    }

    /// The time of the next line, number `line`; lines without a time have the last one.
    #[inline]
    pub fn advance(&mut self, clock: Clock, time: Option<RawTime>, line: u64) -> i64 {
        let ns = time.and_then(|time| clock.ns(time));
        match (clock, ns) {
            (Clock::Lines, _) => self.last = line.cast_signed(),
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
                    self.second_line = line;
                }
                self.first = self.first.or(Some(ns));
                self.raw = Some(ns);
                self.last = self.day.saturating_add(ns);
            }
        }
        if clock == Clock::DaySeconds && self.raw.is_some() {
            let steps = line.saturating_sub(self.second_line).min(MOST_SPREAD);
            return self.last.saturating_add(steps.cast_signed() * SPREAD_NS);
        }
        self.last
    }

    /// The state after a part, from the state before it and the state that the part alone leads to (read
    /// with line numbers of its own that start at `first_line`).
    #[must_use]
    pub fn after(self, clock: Clock, part: TimeState, first_line: u64) -> TimeState {
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
                let (Some(first), Some(raw)) = (part.first, part.raw) else {
                    return self;
                };
                let falls = self
                    .raw
                    .is_some_and(|before| before.saturating_sub(first) > DAY_NS / 2);
                let mut day = self.day.saturating_add(part.day);
                if falls {
                    day = day.saturating_add(DAY_NS);
                }
                let goes_on = !part.has_changed && self.raw == Some(raw);
                TimeState {
                    last: day.saturating_add(raw),
                    raw: Some(raw),
                    first: self.first.or(part.first),
                    day,
                    second_line: if goes_on {
                        self.second_line
                    } else {
                        first_line.saturating_add(part.second_line)
                    },
                    has_changed: self.has_changed || part.has_changed || !goes_on,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading in two parts gives what reading at once gives.
    fn same_in_parts(clock: Clock, times: &[Option<RawTime>]) -> Vec<i64> {
        let first = times.iter().flatten().next().copied();
        let start = TimeState::at_start(clock, first);
        let mut state = start;
        let whole: Vec<i64> = (1..)
            .zip(times)
            .map(|(line, time)| state.advance(clock, *time, line))
            .collect();
        for cut in 0..=times.len() {
            let (head, tail) = times.split_at(cut);
            let mut alone = TimeState::default();
            for (line, time) in (0..).zip(head) {
                let _ = alone.advance(clock, *time, line);
            }
            let mut state = start.after(clock, alone, 1);
            for (i, time) in tail.iter().enumerate() {
                let line = (cut + i) as u64 + 1;
                assert_eq!(state.advance(clock, *time, line), whole[cut + i], "{cut}");
            }
        }
        whole
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
