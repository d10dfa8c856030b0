//! Which events are listed: all, those of the selected range, or those that an expression means.

use crate::base::{TimeSpan, Timestamp};
use crate::query::search::FilteredEvents;
use crate::trace::{EventId, Trace};
use crate::view::locate;

/// How many events of one time are looked at.
const MOST_AT_ONCE: usize = 100_000;

/// The events that are listed, in time order. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Listed {
    /// So many from a rank on.
    Ranks {
        /// The rank of the first.
        first: usize,
        /// How many.
        count: usize,
    },
    /// Those that fit a filter.
    Found {
        /// In time order.
        events: FilteredEvents,
        /// Which filtering they are of: the numbers of two are never the same.
        number: u64,
    },
}

impl Listed {
    /// All events that lie in `span`.
    #[must_use]
    pub fn all(trace: &Trace, span: Option<TimeSpan>) -> Listed {
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

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Listed::Ranks { count, .. } => *count,
            Listed::Found { events: found, .. } => found.len(),
        }
    }

    /// The row of an event.
    #[must_use]
    pub fn row_of(&self, trace: &Trace, id: EventId) -> Option<usize> {
        match self {
            Listed::Ranks { first, count } => {
                let rank = locate::rank_of_event(trace, id)? as usize;
                rank.checked_sub(*first).filter(|row| row < count)
            }
            Listed::Found { events: found, .. } => {
                let time = trace.events.time(id);
                let first = found.rank(trace, time);
                // Few events share a nanosecond; a clock that hardly moves must not hang the window.
                let same = found.iter_from(first).take(MOST_AT_ONCE);
                let mut same = same.take_while(|other| trace.events.time(*other) == time);
                same.position(|other| other == id).map(|at| first + at)
            }
        }
    }

    /// The first row at or after a time.
    #[must_use]
    pub fn row_at(&self, trace: &Trace, time: Timestamp) -> usize {
        match self {
            Listed::Ranks { first, .. } => {
                (trace.events.rank(time) as usize).saturating_sub(*first)
            }
            Listed::Found { events: found, .. } => found.rank(trace, time),
        }
    }

    /// The events from a row on, at most `count`, until `each` says no.
    pub fn walk(
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

    /// Tells one list from another, as far as what stands in its rows goes.
    #[must_use]
    pub fn stamp(&self) -> (usize, usize) {
        match self {
            Listed::Ranks { first, count } => (*first, usize::MAX - count),
            Listed::Found { events, number } => (*number as usize, events.len()),
        }
    }
}
