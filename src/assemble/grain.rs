//! Rounds times to the file's resolution. A text with microseconds has many events at one time; its reader puts them
//! some ns apart, so that all tables that are made from them keep the file's order. When the tables are complete, this
//! module removes what the reader added.
//!
//! ```text
//! in the file      7.000005 enter   7.000005 leave   7.000005 enter           7.000009 leave
//! while assembled  7.000005000      7.000005001      7.000005002              7.000009000
//! in the trace     |0 ns|                            |------- 4 us -----------|
//! ```
//!
//! Rounding down keeps every order and every nesting. A duration that the recorder measured is not the distance of two
//! events, so it is not rounded.
//!
//! All 28 ftrace texts of the corpus and the samples have times in microseconds; 19 of them contain successive lines
//! with the same time.

use super::group::Numbered;
use super::nesting::Nested;
use super::people::People;
use crate::base::{Maybe, TimeSpan, Timestamp};
use crate::event::Gap;
use crate::trace::{Counters, EventId, Events, FileUse, Logs, Runs, States};

/// The resolution of the file's times, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grain(i64);

impl Grain {
    /// The grain of times that are multiples of `resolution_ns`; `None` if nothing has to be rounded.
    pub(super) fn of(resolution_ns: i64) -> Option<Grain> {
        (resolution_ns > 1).then_some(Grain(resolution_ns))
    }

    /// The grain in ns.
    pub(super) fn ns(self) -> i64 {
        self.0
    }

    /// Returns a time rounded to the file's resolution; the times that mean an open end are unchanged.
    fn time(self, time: i64) -> i64 {
        match time {
            i64::MIN | i64::MAX => time,
            time => time.saturating_sub(time.rem_euclid(self.0)),
        }
    }

    /// Returns an end of the file; an end that was not seen is unchanged.
    fn end(self, end: Maybe<i64>) -> Maybe<i64> {
        Maybe::from(end.get().map(|end| self.time(end)))
    }

    fn stamp(self, time: &mut Timestamp) {
        *time = Timestamp(self.time(time.0));
    }

    /// Rounds the trace's span; it ends just after its last event.
    pub(super) fn span(self, span: TimeSpan) -> TimeSpan {
        let last = span.end.0.saturating_sub(1);
        TimeSpan {
            start: Timestamp(self.time(span.start.0)),
            end: Timestamp(self.time(last).saturating_add(1)),
        }
    }

    /// Rounds the slices of tracks.
    pub(super) fn tracks(self, tracks: &mut [Numbered<Nested>], events: &Events) {
        for track in tracks {
            self.nested(&mut track.own, events);
        }
    }

    /// Rounds the slices of a track.
    pub(super) fn nested(self, nested: &mut Nested, events: &Events) {
        let events = events.cursor();
        let is_at = |event: Maybe<u32>, time: Maybe<i64>| {
            event
                .get()
                .zip(time.get())
                .is_some_and(|(event, time)| events.time(EventId(event)).0 == time)
        };
        let mut measured = Vec::new();
        let mut known = std::mem::take(&mut nested.measured).into_iter().peekable();
        for at in 0..nested.slices.len() {
            let Some(&slice) = nested.slices.get(at) else {
                break;
            };
            let own = known.next_if(|(row, _)| *row as usize == at);
            let length = slice.end.get().map(|end| end.saturating_sub(slice.start));
            let is_distance =
                length.is_none() || slice.is_unended || is_at(slice.finish, slice.end);
            // If the length is a multiple of the resolution, the file may contain the length instead of the end.
            let is_whole = length.is_some_and(|length| length.rem_euclid(self.0) == 0);
            let is_rounded = is_at(Maybe::new(slice.begin), Maybe::new(slice.start))
                && (is_distance || is_whole);
            let (mut start, mut end) = match is_rounded {
                true => (self.time(slice.start), self.end(slice.end)),
                false => (slice.start, slice.end),
            };
            let parent = nested.parents.get(at).and_then(|parent| parent.get());
            if let Some(parent) = parent.and_then(|row| nested.slices.get(row as usize)) {
                end = end.clamp(Maybe::new(parent.start), parent.end);
                start = end.at_most(start.max(parent.start));
            }
            // The measured length is kept where the drawn slice had to be shortened.
            let drawn = end.get().map(|end| end.saturating_sub(start));
            let other = length.filter(|_| !is_rounded && drawn != length);
            measured.extend(own.or_else(|| other.map(|length| (at as u32, length))));
            if let Some(slice) = nested.slices.get_mut(at) {
                (slice.start, slice.end) = (start, end);
            }
        }
        nested.measured = measured;
    }

    fn spans(self, starts: &mut [i64], ends: &mut [Maybe<i64>]) {
        for time in starts {
            *time = self.time(*time);
        }
        for time in ends {
            *time = self.end(*time);
        }
    }

    /// Rounds the starts and ends of runs.
    pub(super) fn runs(self, runs: &mut Runs) {
        self.spans(&mut runs.starts, &mut runs.ends);
    }

    /// Rounds the starts and ends of states.
    pub(super) fn states(self, states: &mut States) {
        self.spans(&mut states.starts, &mut states.ends);
    }

    /// Rounds the times of samples.
    pub(super) fn counters(self, counters: &mut Counters) {
        for time in &mut counters.times {
            *time = self.time(*time);
        }
    }

    /// Rounds the times of log messages.
    pub(super) fn logs(self, logs: &mut Logs) {
        for row in &mut logs.rows {
            self.stamp(&mut row.time);
        }
    }

    /// Rounds the times of operations on files.
    pub(super) fn files(self, rows: &mut [FileUse]) {
        for row in rows {
            self.stamp(&mut row.time);
        }
    }

    /// Rounds the edges of gaps.
    pub(super) fn gaps(self, gaps: &mut [Gap]) {
        for gap in gaps {
            *gap = gap.moved(|time| Timestamp(self.time(time.0)));
        }
    }

    /// Rounds the lives of threads and processes.
    pub(super) fn people(self, people: &mut People) {
        for thread in &mut people.threads {
            let lives = thread.start.iter_mut().chain(&mut thread.end);
            let seen = [&mut thread.seen.first, &mut thread.seen.last];
            lives.chain(seen).for_each(|time| self.stamp(time));
        }
        for process in &mut people.processes {
            let lives = process.start.iter_mut().chain(&mut process.end);
            let images = process.images.iter_mut().map(|image| &mut image.start);
            lives.chain(images).for_each(|time| self.stamp(time));
        }
    }
}
