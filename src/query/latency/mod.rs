//! Latencies: from a wakeup until the thread runs, and from any event to any other that belongs to it.

mod among;
mod pairs;
mod wakeups;

pub use among::Among;
pub(crate) use pairs::{EventPairs, parse_events};
pub use pairs::{PairKey, PairQuery, event_pairs};
pub(crate) use wakeups::WakeupLatency;
pub use wakeups::wakeups;

use crate::base::{TimeSpan, Timestamp};
use crate::query::Item;

/// One measured latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The start.
    pub start: Timestamp,
    /// The length in ns.
    pub length_ns: i64,
    /// The item at the start: the ready state, or the first event.
    pub from: Item,
    /// The item at the end: the running state, or the second event.
    pub to: Item,
}

impl Sample {
    /// Returns the span from its start to its end.
    #[must_use]
    pub fn span(&self) -> TimeSpan {
        TimeSpan::new(
            self.start,
            Timestamp(self.start.0.saturating_add(self.length_ns)),
        )
    }
}

/// Returns the `count` longest samples, the longest first.
pub(super) fn longest(samples: &[Sample], count: usize) -> Vec<Sample> {
    let mut worst: Vec<Sample> = samples.to_vec();
    let order = |sample: &Sample| (std::cmp::Reverse(sample.length_ns), sample.start);
    if worst.len() > count && count > 0 {
        worst.select_nth_unstable_by_key(count - 1, order);
    }
    worst.truncate(count);
    worst.sort_unstable_by_key(order);
    worst
}
