//! The events of the list: all, those of the selected range, or those that match an expression.

use crate::base::{TimeSpan, Timestamp};
use crate::query::search::FilteredEvents;
use crate::trace::{EventId, Trace};
use crate::view::locate;

/// The most events of one time that are searched.
const MOST_AT_ONCE: usize = 100_000;

/// The events of the list, in order of time. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum Listed {
    /// `count` events from a rank on.
    Ranks {
        /// The rank of the first event.
        first: usize,
        /// The number of events.
        count: usize,
    },
    /// The events that match a filter.
    Found {
        /// The events, in order of time.
        events: FilteredEvents,
        /// The number of the filtering; each filtering has a new number.
        number: u64,
    },
}

/// The choices that identify a list of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListStamp {
    /// The events from one rank on.
    Ranks {
        /// The rank of the first event.
        first: usize,
        /// The number of events.
        count: usize,
    },
    /// The events that a filter has found so far.
    Found {
        /// The number of the filtering.
        number: u64,
        /// The number of events.
        count: usize,
        /// Whether the filtering is over.
        is_complete: bool,
    },
}

impl ListStamp {
    /// Returns whether a list is another state of the same list, which may have grown.
    #[must_use]
    pub(crate) fn is_same_list(self, other: ListStamp) -> bool {
        match (self, other) {
            (ListStamp::Ranks { first, .. }, ListStamp::Ranks { first: other, .. }) => {
                first == other
            }
            (ListStamp::Found { number, .. }, ListStamp::Found { number: other, .. }) => {
                number == other
            }
            _ => false,
        }
    }
}

impl Listed {
    /// Returns all events in `span`.
    #[must_use]
    pub(super) fn all(trace: &Trace, span: Option<TimeSpan>) -> Listed {
        let (first, end) = match span {
            None => (0, trace.events.len()),
            Some(span) => (
                trace.events.rank(span.start) as usize,
                trace.events.rank(span.end) as usize,
            ),
        };
        Listed::Ranks {
            first,
            count: end.saturating_sub(first),
        }
    }

    /// Returns the number of events.
    #[must_use]
    pub(super) fn len(&self) -> usize {
        match self {
            Listed::Ranks { count, .. } => *count,
            Listed::Found { events: found, .. } => found.len(),
        }
    }

    /// Returns the row of an event.
    #[must_use]
    pub(crate) fn row_of(&self, trace: &Trace, id: EventId) -> Option<usize> {
        match self {
            Listed::Ranks { first, count } => {
                let rank = locate::rank_of_event(trace, id)? as usize;
                rank.checked_sub(*first).filter(|row| row < count)
            }
            Listed::Found { events: found, .. } => {
                let time = trace.events.time(id);
                let first = found.rank(trace, time);
                // Few events share a nanosecond, but a coarse clock must not hang the window.
                let same = found.iter_from(first).take(MOST_AT_ONCE);
                let mut same = same.take_while(|other| trace.events.time(*other) == time);
                same.position(|other| other == id).map(|at| first + at)
            }
        }
    }

    /// Returns the first row at or after a time.
    #[must_use]
    pub(crate) fn row_at(&self, trace: &Trace, time: Timestamp) -> usize {
        match self {
            Listed::Ranks { first, .. } => {
                (trace.events.rank(time) as usize).saturating_sub(*first)
            }
            Listed::Found { events: found, .. } => found.rank(trace, time),
        }
    }

    /// Walks at most `count` events from a row on, until `each` returns false.
    pub(super) fn walk(
        &self,
        trace: &Trace,
        from: usize,
        count: usize,
        mut each: impl FnMut(EventId) -> bool,
    ) {
        let count = count.min(self.len().saturating_sub(from));
        match self {
            Listed::Ranks { first, .. } => {
                let walk = trace.events.from_rank((first + from) as u32);
                for id in walk.take(count) {
                    if !each(id) {
                        return;
                    }
                }
            }
            Listed::Found { events: found, .. } => {
                for id in found.iter_from(from).take(count) {
                    if !each(id) {
                        return;
                    }
                }
            }
        }
    }

    /// Returns a stamp that differs between lists with different rows, and between a list that may grow and one that
    /// is complete.
    #[must_use]
    pub(crate) fn stamp(&self) -> ListStamp {
        match self {
            &Listed::Ranks { first, count } => ListStamp::Ranks { first, count },
            Listed::Found { events, number } => ListStamp::Found {
                number: *number,
                count: events.len(),
                is_complete: events.is_complete,
            },
        }
    }
}
