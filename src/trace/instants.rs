//! Instants: points on tracks, 4 bytes each: the event says all else.

use super::events::EventId;

/// Row number of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstantId(pub u32);

/// The column, sorted by track, then time; a track names its range.
#[derive(Clone, Debug, Default)]
pub struct Instants {
    /// The events that they are.
    pub events: Vec<u32>,
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
        EventId(self.events[id.0 as usize])
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.events.capacity() * 4) as u64
    }
}
