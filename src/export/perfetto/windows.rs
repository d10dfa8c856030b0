//! Windows of time with about as many events each, and what is due when.
//!
//! ```text
//! time:    |                stretch                |                stretch                |
//!          | window | window | window |     ...    | window | window | window |     ...    |
//! ```
//!
//! The marks of a stretch are made track by track, which reads the rows of slices one after the other. They are written
//! window by window: so the events of a piece are near each other in memory and in the file, whichever track they are on.

use super::context::Context;

/// About as many events are in a window.
const EVENTS_IN_WINDOW: usize = 4096;
/// The time of each event of this number is looked at.
const STEP: u32 = 256;
/// Windows of a stretch. While the marks of one are made, those of the stretch before are encoded.
pub(super) const WINDOWS_IN_STRETCH: usize = 64;

/// Returns the ends of windows that divide the range of an export by the times of its events: first ns after each,
/// ascending; the last window never ends.
fn window_ends(context: &Context<'_>) -> Vec<i64> {
    let span = context.chosen.span;
    let mut times = Vec::new();
    for segment in context.trace.events.segments() {
        let from = segment.lower_bound(span.start);
        let until = segment.lower_bound(span.end);
        let some = (from..until).step_by(STEP as usize);
        times.extend(some.map(|index| segment.time(index).0));
    }
    times.sort_unstable();
    let ends = times.into_iter().step_by(EVENTS_IN_WINDOW / STEP as usize);
    let mut ends: Vec<i64> = ends.skip(1).collect();
    ends.dedup();
    ends.push(i64::MAX);
    ends
}

/// What is due, by stretch.
pub(super) struct Agenda {
    /// The ends of the windows.
    ends: Vec<i64>,
    due: Vec<Vec<u32>>,
}

/// A stretch of time.
pub(super) struct Stretch {
    /// The ends of its windows.
    pub ends: Vec<i64>,
    /// The numbers of what is due, ascending.
    pub due: Vec<u32>,
}

impl Stretch {
    /// Returns the first ns after it.
    pub(super) fn end(&self) -> i64 {
        self.ends.last().copied().unwrap_or(i64::MAX)
    }
}

impl Agenda {
    /// Returns an agenda on which nothing is.
    pub(super) fn new(context: &Context<'_>) -> Agenda {
        Agenda::with_windows(window_ends(context))
    }

    fn with_windows(ends: Vec<i64>) -> Agenda {
        Agenda {
            due: vec![Vec::new(); ends.len().div_ceil(WINDOWS_IN_STRETCH)],
            ends,
        }
    }

    /// Adds a number that is due at a time.
    pub(super) fn add(&mut self, number: u32, time: i64) {
        let window = self.ends.partition_point(|&end| end <= time);
        if let Some(due) = self.due.get_mut(window / WINDOWS_IN_STRETCH) {
            due.push(number);
        }
    }

    /// The number of stretches.
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    /// Returns a stretch and what is due in it.
    pub(super) fn take(&mut self, index: usize) -> Stretch {
        let mut due = self.due.get_mut(index).map_or(Vec::new(), std::mem::take);
        due.sort_unstable();
        let ends = self.ends.chunks(WINDOWS_IN_STRETCH).nth(index);
        Stretch {
            ends: ends.unwrap_or_default().to_vec(),
            due,
        }
    }
}

/// Marks of a stretch, by window.
pub(super) struct Buckets<T> {
    ends: Vec<i64>,
    of_windows: Vec<Vec<T>>,
    /// The window of the last mark: the next one is mostly in it or soon after.
    last: usize,
}

impl<T> Buckets<T> {
    /// Returns buckets without marks for the windows that end so.
    pub(super) fn new(ends: Vec<i64>) -> Buckets<T> {
        Buckets {
            of_windows: ends.iter().map(|_| Vec::new()).collect(),
            ends,
            last: 0,
        }
    }

    /// Adds a mark.
    #[inline]
    pub(super) fn add(&mut self, time: i64, mark: T) {
        let starts_by = |window: usize| window == 0 || self.ends[window - 1] <= time;
        let is_near = starts_by(self.last) && self.ends[self.last] > time;
        if !is_near {
            let window = self.ends.partition_point(|&end| end <= time);
            self.last = window.min(self.ends.len() - 1);
        }
        self.of_windows[self.last].push(mark);
    }

    /// Returns the marks of each window, in order.
    pub(crate) fn into_windows(self) -> Vec<Vec<T>> {
        self.of_windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_at_the_end_of_a_stretch_is_in_the_next_one() {
        let count = WINDOWS_IN_STRETCH as i64;
        let ends = (1..count + 10).map(|window| 10 * window);
        let mut agenda = Agenda::with_windows(ends.chain([i64::MAX]).collect());
        assert_eq!(agenda.len(), 2);
        let end = 10 * count;
        for (number, time) in [(3, end - 1), (2, -5), (1, end), (7, i64::MAX - 1)] {
            agenda.add(number, time);
        }
        let first = agenda.take(0);
        assert_eq!((first.end(), first.due), (end, vec![2, 3]));
        let second = agenda.take(1);
        assert_eq!((second.end(), second.due), (i64::MAX, vec![1, 7]));
    }

    #[test]
    fn marks_are_in_the_window_of_their_time() {
        let mut buckets = Buckets::new(vec![10, 20, 30]);
        for time in [-1, 9, 10, 29, 20, 19, 0] {
            buckets.add(time, time);
        }
        let windows = buckets.into_windows();
        assert_eq!(windows, [vec![-1, 9, 0], vec![10, 19], vec![29, 20]]);
    }
}
