//! The events that an expression matches, or that belong to some threads and CPUs, in time order, 4 bytes each: for
//! lists of any length. They are searched in time windows like a search, off the window's thread.

use std::sync::Arc;

use rayon::prelude::*;

use super::bit_set::BitSet;
use super::found::Marks;
use super::scan::{Picked, Scan, range_of, windows};
use super::{Place, Places, Query};
use crate::base::order::first_not;
use crate::base::{Job, TimeSpan, Timestamp};
use crate::formats::Events;
use crate::query::Item;
use crate::query::area::events::for_each_chosen;
use crate::query::expression::{
    Expression, ExpressionError, Matcher, unknown_event, unknown_field,
};
use crate::query::latency::Among;
use crate::trace::{EventId, Trace};

/// Events in time order. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct FilteredEvents {
    /// The events in chunks, each with the number of its first event.
    chunks: Vec<(usize, Arc<[u32]>)>,
    count: usize,
    /// Whether the list is complete.
    pub is_complete: bool,
    /// If the list is empty: a field in the expression that no event seems to have.
    pub unknown: Option<ExpressionError>,
}

impl FilteredEvents {
    /// Returns an empty list with an error.
    pub(super) fn refused(error: ExpressionError) -> FilteredEvents {
        FilteredEvents {
            unknown: Some(error),
            ..FilteredEvents::default()
        }
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the event at index `at` of the list.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<EventId> {
        let after = self.chunks.partition_point(|(first, _)| *first <= at);
        let (first, chunk) = self.chunks.get(after.checked_sub(1)?)?;
        chunk.get(at - first).copied().map(EventId)
    }

    /// Returns the number of events before `time`: the index to scroll to.
    #[must_use]
    pub fn rank(&self, trace: &Trace, time: Timestamp) -> usize {
        let is_before = |at| self.get(at).is_some_and(|id| trace.events.time(id) < time);
        first_not(0..self.count, is_before)
    }

    /// Returns the events from index `from` on.
    pub fn iter_from(&self, from: usize) -> impl Iterator<Item = EventId> {
        (from..self.count).map_while(|at| self.get(at))
    }

    /// Adds the events of each window of `span`, several windows at a time on all cores.
    fn fill(
        &mut self,
        trace: &Trace,
        span: TimeSpan,
        job: &Job,
        publish: &mut dyn FnMut(&FilteredEvents),
        window: &(impl Fn(TimeSpan) -> Picked<u32> + Sync),
    ) {
        let step = rayon::current_num_threads().max(1) * 4;
        let windows = windows(trace, span);
        let mut groups = windows.chunks(step).peekable();
        while let Some(windows) = groups.next() {
            if job.is_cancelled() {
                return;
            }
            let found: Vec<_> = windows.par_iter().map(|span| window(*span)).collect();
            let mut events = Vec::new();
            for some in found {
                events.extend(some.found);
                job.advance(some.of);
            }
            self.push(events);
            // The last publication contains all events and is already complete: a frame may read it when the task has
            // just ended.
            self.is_complete = groups.peek().is_none() && !job.is_cancelled();
            publish(self);
        }
        self.is_complete = !job.is_cancelled();
    }

    fn push(&mut self, events: Vec<u32>) {
        if !events.is_empty() {
            let first = self.count;
            self.count += events.len();
            self.chunks.push((first, events.into()));
        }
    }
}

/// The conditions that listed events fulfil.
pub struct EventFilter {
    /// Events that match this expression; `None`: all.
    pub expression: Option<Expression>,
    /// Events of these threads and CPUs.
    pub among: Among,
    /// Events in this span.
    pub span: TimeSpan,
}

/// Lists the raw events that a filter chooses; calls `publish` with the list after each step. If the job is cancelled,
/// the list is not `is_complete`.
///
/// # Errors
/// Errors if the expression contains a field that the trace cannot have.
pub fn filter_events(
    trace: &Trace,
    reader: &dyn Events,
    filter: &EventFilter,
    job: &Job,
    publish: &mut dyn FnMut(&FilteredEvents),
) -> Result<FilteredEvents, ExpressionError> {
    let EventFilter {
        expression,
        among,
        span,
    } = filter;
    let span = *span;
    let mut found = FilteredEvents::default();
    let Some(expression) = expression else {
        job.set_total(trace.events.len() as u64);
        found.fill(trace, span, job, publish, &|window| {
            pick(trace, among, window)
        });
        return Ok(found);
    };
    let matcher = Matcher::new(expression, trace, reader)?;
    let query = Query {
        expression: expression.clone(),
        places: Places::of(&[Place::Events]),
        span,
        limit: 0,
    };
    let scan = Scan {
        trace,
        matcher: &matcher,
        query: &query,
        job,
        marks: Arc::new(Marks::default()),
        covered: BitSet::default(),
        among,
    };
    scan.set_total();
    found.fill(trace, span, job, publish, &|window| {
        let hits = scan.window(window);
        let events = hits.found.iter().filter_map(|hit| match hit.item {
            Item::Event(id) => Some(id.0),
            _ => None,
        });
        Picked {
            found: events.collect(),
            of: hits.of,
        }
    });
    if found.is_complete && found.is_empty() {
        found.unknown =
            unknown_event(expression, trace).or_else(|| unknown_field(expression, trace, reader));
    }
    Ok(found)
}

/// Returns the events of a window that belong to the chosen threads and CPUs, in time order.
fn pick(trace: &Trace, among: &Among, window: TimeSpan) -> Picked<u32> {
    let (mut events, mut count) = (Vec::new(), 0);
    for segment in trace.events.segments() {
        let Some(range) = range_of(segment, window) else {
            continue;
        };
        count += range.len() as u64;
        for_each_chosen(trace, among, segment, range, |indices, _| {
            events.extend(indices.map(|index| (segment.order(index), segment.first + index)));
        });
    }
    // Events with the same time keep their order.
    events.sort_by_key(|(time, _)| *time);
    Picked {
        found: events.into_iter().map(|(_, id)| id).collect(),
        of: count,
    }
}
