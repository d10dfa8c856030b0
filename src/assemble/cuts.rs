//! Marks items that a file contains only in part: an export cut them at the border of its range, they were open at the
//! end of one of several joined files, or they are runs during which the recorder began to lose events.
//!
//! Slices are marked by the event that begins them. Runs and states are marked by the event that begins them, or by the
//! event of their thread that ends them; the last state of a thread that was last seen before the trace's end ends there.
//! A zombie is drawn until another thread has its number; of another state in which such a thread was last seen, only
//! the start is known.
//!
//! Of the 50 FXT files of the corpus and the samples, 1 is an export of a range. Of the 99 trace.dat files, 6 have runs
//! during which the recorder began to lose events.

use rustc_hash::FxHashSet;

use super::recorded::Recorded;
use super::rows::PerPart;
use crate::base::{Maybe, TimeSpan, Timestamp};
use crate::event::{Cut, CutSide, Directory};
use crate::trace::{Runs, Slices, States, ThreadId, ThreadMap, ThreadState};

/// The cuts of a trace.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    /// The events with which cut items begin.
    begins: FxHashSet<u32>,
    /// The threads whose last run or running state was cut, and the times of the cuts.
    ends: Vec<CutEnd>,
    /// The threads whose file ended before other files, and the time until which each was seen.
    seen: Vec<CutEnd>,
    /// The threads whose number another thread has later, and since when.
    replaced: Vec<CutEnd>,
}

/// A thread, and the time until which it (or its run) was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutEnd {
    pub thread: ThreadId,
    pub time: Timestamp,
}

impl Cuts {
    /// Returns the cuts of all parts, and the cuts in the directory of threads that were last seen before the trace's
    /// end. `lost` contains the threads that still ran where events were lost, and the time until which each was
    /// seen to run.
    pub(super) fn new(
        rows: &PerPart<Cut>,
        recorded: &Recorded,
        directory: &Directory,
        lost: Vec<CutEnd>,
        span: TimeSpan,
    ) -> Cuts {
        let mut cuts = Cuts {
            ends: lost,
            ..Cuts::default()
        };
        for (part, rows) in recorded.parts.iter().zip(rows) {
            for cut in rows {
                let event = part.event(cut.event);
                match cut.side {
                    CutSide::Begin => _ = cuts.begins.insert(event.0),
                    CutSide::End => {
                        let time = recorded.events.time(event);
                        let thread = recorded.events.thread(event);
                        (cuts.ends).extend(thread.map(|thread| CutEnd { thread, time }));
                    }
                }
            }
        }
        let threads: &ThreadMap = &recorded.events.threads;
        for (key, life) in &directory.thread_lives {
            let is_before_end = |time: &Timestamp| time.0.saturating_add(1) < span.end.0;
            if let Some(time) = life.seen_until.filter(is_before_end) {
                let thread = threads.last(*key);
                (cuts.seen).extend(thread.map(|thread| CutEnd { thread, time }));
            }
        }
        cuts
    }

    /// Returns the cuts with those of the threads whose number another thread has later.
    pub(crate) fn with_replaced(self, replaced: Vec<CutEnd>) -> Cuts {
        Cuts { replaced, ..self }
    }

    /// Marks the slices that begin with one of the events and have a drawn end.
    pub(crate) fn mark_slices(&self, slices: &mut Slices) {
        if self.begins.is_empty() {
            return;
        }
        let begins = slices.begins.iter().zip(0_u32..);
        let rows = begins.filter(|(begin, _)| self.begins.contains(begin));
        let rows = rows.map(|(_, row)| row);
        let rows: Vec<u32> = rows
            .filter(|&row| slices.end(row as usize).is_some())
            .collect();
        slices.mark_cut(rows);
    }

    /// Marks runs that begin or end with one of the events.
    pub(crate) fn mark_runs(&self, runs: &mut Runs) {
        let mut rows = self.begun(&runs.events, &runs.ends);
        for CutEnd { thread, time } in &self.ends {
            let own = runs.of(*thread);
            let ended_before = |&run: &u32| runs.ends[run as usize] < time.0;
            let first = own.partition_point(ended_before);
            let at_time = |run: &&u32| runs.ends[**run as usize] == time.0;
            rows.extend(own.iter().skip(first).take_while(at_time).last());
        }
        runs.partial = in_order(rows);
    }

    /// Marks states that begin or end with one of the events, and ends the last states of threads where they were last
    /// seen.
    pub(crate) fn mark_states(&self, states: &mut States) {
        let mut rows = self.begun(&states.events, &states.ends);
        for CutEnd { thread, time } in &self.ends {
            let own = states.of(*thread);
            let own = own.start as usize..own.end as usize;
            let ended_before = |end: &Maybe<i64>| *end < time.0;
            let first = own.start + states.ends[own.clone()].partition_point(ended_before);
            let at_time = |row: &usize| states.ends[*row] == time.0;
            let ran = |row: &usize| states.states[*row] == ThreadState::Running;
            let found = (first..own.end).take_while(at_time).filter(ran).last();
            rows.extend(found.map(|row| row as u32));
        }
        for CutEnd { thread, time } in &self.seen {
            let Some(last) = states.of(*thread).next_back() else {
                continue;
            };
            let start = states.starts[last as usize];
            let end = &mut states.ends[last as usize];
            if end.is_none() {
                *end = Maybe::new(time.0.max(start));
                rows.push(last);
            }
        }
        for CutEnd { thread, time } in &self.replaced {
            let Some(last) = states.of(*thread).next_back() else {
                continue;
            };
            let (start, state) = (states.starts[last as usize], states.states[last as usize]);
            let end = &mut states.ends[last as usize];
            if end.is_none() {
                // What the thread did before it ended is not in the recording.
                *end = Maybe::new(match state.is_over() {
                    true => time.0.max(start),
                    false => start,
                });
                rows.push(last);
            }
        }
        states.partial = in_order(rows);
    }

    /// Returns the rows that begin with one of the events and have an end.
    fn begun(&self, events: &[Maybe<u32>], ends: &[Maybe<i64>]) -> Vec<u32> {
        if self.begins.is_empty() {
            return Vec::new();
        }
        let rows = events.iter().zip(ends).zip(0_u32..);
        let is_one = |event: &Maybe<u32>| event.get().is_some_and(|it| self.begins.contains(&it));
        rows.filter(|((event, end), _)| end.is_some() && is_one(event))
            .map(|(_, row)| row)
            .collect()
    }
}

fn in_order(mut rows: Vec<u32>) -> Vec<u32> {
    rows.sort_unstable();
    rows.dedup();
    rows
}
