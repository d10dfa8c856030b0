//! Instants: points on tracks, 1 or 2 bytes each where neighbours are close in the file (see `packed`). Only the event
//! is stored; everything else is read from the event.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::packed::Packed;
use super::segments::EventId;

/// Row number of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstantId(pub u32);

/// The column of all instants, sorted by track, then time; a track has its range of rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Instants {
    /// The event of each instant.
    pub events: Packed<u32>,
}

impl Instants {
    /// Number of instants.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether there is no instant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the event of an instant. Panics if there is no such row.
    #[must_use]
    pub fn event(&self, id: InstantId) -> EventId {
        EventId(self.events.at(id.0 as usize))
    }

    /// Returns the events of a track's instants; `rows` are the rows of these instants. Panics if there are no such
    /// rows.
    pub fn of(&self, rows: &Range<u32>) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        self.events.range(rows.start as usize..rows.end as usize)
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.events.memory_bytes()
    }
}
