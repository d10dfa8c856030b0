//! The results of a search so far: a sorted list, a count, and marks for the rows of each table.

use std::sync::{Arc, OnceLock};

use super::bit_set::BitSet;
use super::places::Place;
use super::whole::WholeMarks;
use crate::base::{TimeSpan, Timestamp};
use crate::query::Item;
use crate::query::expression::ExpressionError;
use crate::trace::Trace;

/// Number of steps of the density over the whole trace.
pub(super) const STEPS: usize = 2048;

/// One result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The item's start.
    pub time: Timestamp,
    /// The item.
    pub item: Item,
}

/// The results so far. The last published results are complete, unless the search was cancelled.
#[derive(Clone, Debug)]
pub struct Found {
    /// The results sorted by time; only the earliest, if there are more than are kept.
    pub hits: Vec<Hit>,
    /// The number of all results, by [`Place`].
    pub counts: [u64; Place::ALL.len()],
    /// Whether the search is complete.
    pub is_complete: bool,
    /// Marks of all slices, events, states ... that were found.
    pub marks: Arc<Marks>,
    /// If nothing was found: a field of the expression that no event seems to have.
    pub unknown: Option<ExpressionError>,
    span: TimeSpan,
    steps: Vec<u32>,
}

/// A mark for each row of the tables that can be searched.
#[derive(Debug, Default)]
pub struct Marks {
    /// By `SliceId`: when the search is complete, slices that begin with a found event are marked too.
    pub slices: BitSet,
    /// Marks by `EventId`.
    pub events: BitSet,
    /// Marks by `InstantId`: when the search is complete, instants of found events are marked too.
    pub instants: BitSet,
    /// Marks by `StateId`, as for slices.
    pub states: BitSet,
    /// Marks by `RunId`, as for slices.
    pub runs: BitSet,
    /// Marks by `FlowId`.
    pub flows: BitSet,
    /// Threads, processes and tracks that match by their names or numbers, once these were searched.
    pub whole: OnceLock<WholeMarks>,
}

impl Found {
    /// Returns no results, with an error.
    pub(super) fn refused(error: ExpressionError, span: TimeSpan) -> Found {
        Found {
            unknown: Some(error),
            ..Found::empty(span, Arc::new(Marks::default()))
        }
    }

    pub(super) fn empty(span: TimeSpan, marks: Arc<Marks>) -> Found {
        Found {
            hits: Vec::new(),
            counts: [0; Place::ALL.len()],
            is_complete: false,
            marks,
            unknown: None,
            span,
            steps: vec![0; STEPS],
        }
    }

    pub(super) fn count(&mut self, place: Place, hits: &[Hit]) {
        self.counts[place as usize] += hits.len() as u64;
        let length = i128::from(self.span.duration().0).max(1);
        for hit in hits {
            let into = i128::from(hit.time.0) - i128::from(self.span.start.0);
            let step = (into * STEPS as i128 / length).clamp(0, STEPS as i128 - 1);
            self.steps[step as usize] = self.steps[step as usize].saturating_add(1);
        }
    }

    /// Returns the number of all results.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns whether [`Found::hits`] contains all results.
    #[must_use]
    pub fn lists_all(&self) -> bool {
        self.hits.len() as u64 == self.total()
    }

    /// Returns the index in the list of the first hit after `time`.
    #[must_use]
    pub(crate) fn after(&self, time: Timestamp) -> Option<usize> {
        let at = self.hits.partition_point(|hit| hit.time <= time);
        (at < self.hits.len()).then_some(at)
    }

    /// Returns the index in the list of the last hit before `time`.
    #[must_use]
    pub(crate) fn before(&self, time: Timestamp) -> Option<usize> {
        let at = self.hits.partition_point(|hit| hit.time < time);
        at.checked_sub(1)
    }

    /// Returns the index of `item`, which begins at `time`, in the list of results.
    #[must_use]
    pub fn position(&self, time: Timestamp, item: Item) -> Option<usize> {
        let from = self.hits.partition_point(|hit| hit.time < time);
        let same = self.hits.get(from..)?.iter();
        let at = same
            .take_while(|hit| hit.time == time)
            .position(|hit| hit.item == item)?;
        Some(from + at)
    }

    /// Returns the number of results that begin in each of `columns` equal parts of `span`; results that are not listed
    /// are estimated.
    #[must_use]
    pub fn density(&self, span: TimeSpan, columns: usize) -> Vec<u32> {
        let mut counts = vec![0_u32; columns];
        let length = i128::from(span.duration().0).max(1);
        if self.lists_all() {
            // Hits and columns are visited together in order of time, so that each hit needs one comparison.
            let from = self.hits.partition_point(|hit| hit.time < span.start);
            let mut hits = self.hits.get(from..).unwrap_or(&[]).iter().peekable();
            for (column, count) in counts.iter_mut().enumerate() {
                // The first time that belongs to a later column.
                let all = columns as i128;
                let into = (length * (column as i128 + 1) + all - 1) / all;
                let edge = i128::from(span.start.0) + into.min(length);
                while hits.next_if(|hit| i128::from(hit.time.0) < edge).is_some() {
                    *count += 1;
                }
            }
            return counts;
        }
        let whole = self.span.duration().0.max(1) as f64;
        let before = (i128::from(self.span.start.0) - i128::from(span.start.0)) as f64;
        for (step, &count) in self.steps.iter().enumerate() {
            let middle = whole * (step as f64 + 0.5) / STEPS as f64;
            let column = ((before + middle) / length as f64 * columns as f64).floor();
            if (0.0..columns as f64).contains(&column) {
                let count_of = &mut counts[column as usize];
                *count_of = count_of.saturating_add(count);
            }
        }
        counts
    }

    /// Returns whether an item was found (for items with marks: slices, events, instants, states, runs, flows).
    #[must_use]
    pub fn has(&self, item: Item) -> bool {
        match item {
            Item::Slice(id) => self.marks.slices.has(id.0),
            Item::Event(id) => self.marks.events.has(id.0),
            Item::Instant(id) => self.marks.instants.has(id.0),
            Item::State(id) => self.marks.states.has(id.0),
            Item::Run(id) => self.marks.runs.has(id.0),
            Item::Flow(id) => self.marks.flows.has(id.0),
            _ => self.hits.iter().any(|hit| hit.item == item),
        }
    }
}

impl Marks {
    pub(super) fn new(trace: &Trace) -> Marks {
        Marks {
            slices: BitSet::new(trace.slices.len()),
            events: BitSet::new(trace.events.len()),
            instants: BitSet::new(trace.instants.len()),
            states: BitSet::new(trace.states.len()),
            runs: BitSet::new(trace.runs.len()),
            flows: BitSet::new(trace.flows.rows.len()),
            whole: OnceLock::new(),
        }
    }

    pub(super) fn set(&self, item: Item) {
        match item {
            Item::Slice(id) => self.slices.set(id.0),
            Item::Event(id) => self.events.set(id.0),
            Item::Instant(id) => self.instants.set(id.0),
            Item::State(id) => self.states.set(id.0),
            Item::Run(id) => self.runs.set(id.0),
            Item::Flow(id) => self.flows.set(id.0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::EventId;

    #[test]
    fn any_bit_of_a_range_is_seen() {
        let bits = BitSet::new(300);
        bits.set(130);
        for first in 0..300_u32 {
            for count in 0..(300 - first) {
                let is_in = (first..first + count).contains(&130);
                assert_eq!(bits.has_any(first, count), is_in, "{first} {count}");
            }
        }
        assert!(!bits.has(299) && !bits.has(5000) && bits.has(130));
    }

    #[test]
    fn hits_are_found_by_time() {
        let span = TimeSpan::new(Timestamp(0), Timestamp(100));
        let mut found = Found::empty(span, Arc::default());
        found.hits = [5, 5, 9, 50]
            .iter()
            .zip(0..)
            .map(|(&time, id)| Hit {
                time: Timestamp(time),
                item: Item::Event(EventId(id)),
            })
            .collect();
        let hits = found.hits.clone();
        found.count(Place::Events, &hits);
        assert_eq!(found.after(Timestamp(5)), Some(2));
        assert_eq!(found.after(Timestamp(50)), None);
        assert_eq!(found.before(Timestamp(9)), Some(1));
        assert_eq!(found.before(Timestamp(5)), None);
        let second = Item::Event(EventId(1));
        assert_eq!(found.position(Timestamp(5), second), Some(1));
        assert_eq!(found.density(span, 10), [3, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        found.hits.truncate(1);
        assert_eq!(found.density(span, 10), [3, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    }
}
