//! Where events were lost, or may have been.

use crate::base::{Nanos, Timestamp};

/// The category of losses in Chrome JSON that this program exported.
pub(crate) const LOSS_CATEGORY: &str = "losses";

/// The recorder lost events of a CPU (or of the lane) in `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Time of the last event before the gap; [`Gap::OPEN_START`] if there is none.
    pub start: Timestamp,
    /// Time of the first event after the gap; [`Gap::OPEN_END`] if there is none.
    pub end: Timestamp,
    /// The CPU, if the gap belongs to one.
    pub cpu: Option<u32>,
    /// How many events are missing, if the file contains the number.
    pub lost: Option<u64>,
}

impl Gap {
    /// The start of a gap before all events: earlier than all times.
    pub(crate) const OPEN_START: Timestamp = Timestamp::MIN;
    /// The end of a gap after all events: later than all times.
    pub(crate) const OPEN_END: Timestamp = Timestamp::MAX;

    /// Returns the time of the last event before the gap; `None` if there is none.
    #[must_use]
    pub(crate) fn event_before(&self) -> Option<Timestamp> {
        (self.start != Gap::OPEN_START).then_some(self.start)
    }

    /// Returns the time of the first event after the gap; `None` if there is none.
    #[must_use]
    pub(crate) fn event_after(&self) -> Option<Timestamp> {
        (self.end != Gap::OPEN_END).then_some(self.end)
    }

    /// Returns the time between the events around the gap; `None` if there is none before or after it.
    #[must_use]
    pub(crate) fn duration(&self) -> Option<Nanos> {
        Some(self.event_after()? - self.event_before()?)
    }
}

/// A time range in which events of a CPU may have been dropped, if the file contains only the number of dropped events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seam {
    /// Time of the last event before the range.
    pub start: Timestamp,
    /// Time of the first event after the range.
    pub end: Timestamp,
    /// The CPU.
    pub cpu: u32,
}
