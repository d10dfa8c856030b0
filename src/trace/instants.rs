//! Instants: points on tracks, 1 or 2 bytes each where neighbours are near in the file (see `packed`): the event
//! says all else.

use std::ops::Range;

use super::events::EventId;
use super::packed::Packed;

/// Row number of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstantId(pub u32);

/// The column, sorted by track, then time; a track names its range.
#[derive(Clone, Debug, Default)]
pub struct Instants {
    /// The events that they are.
    pub events: Packed<u32>,
}

impl Instants {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The event that an instant is. Panics if there is no such row.
    #[must_use]
    pub fn event(&self, id: InstantId) -> EventId {
        EventId(self.events.at(id.0 as usize))
    }

    /// The events of a track's instants, which are these rows. Panics if there are no such rows, as slices do.
    pub fn of(&self, rows: &Range<u32>) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        self.events.range(rows.start as usize..rows.end as usize)
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.events.memory_bytes() as u64
    }
}
