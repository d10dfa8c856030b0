//! Where events were lost, or may have been.

use crate::base::{Nanos, TimeSpan, Timestamp};
use serde::{Deserialize, Serialize};

/// The category of losses in Chrome JSON that this program exported.
pub(crate) const LOSS_CATEGORY: &str = "losses";

/// The recorder lost events of a CPU (or of the lane) between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Time of the last event before the gap; the first possible time if there is none.
    start: Timestamp,
    /// Time of the first event after the gap; the last possible time if there is none.
    end: Timestamp,
    /// The CPU, if the gap belongs to one.
    pub cpu: Option<u32>,
    /// How many events are missing, if the file contains the number.
    pub lost: Option<u64>,
}

impl Gap {
    /// Returns the gap between the events at these times, which belongs to no CPU. `None`: there is no event before or
    /// after the gap. An end before the start is moved to the start.
    #[must_use]
    pub fn between(before: Option<Timestamp>, after: Option<Timestamp>) -> Gap {
        let start = before.unwrap_or(TimeSpan::ALL.start);
        Gap {
            start,
            end: after.unwrap_or(TimeSpan::ALL.end).max(start),
            cpu: None,
            lost: None,
        }
    }

    /// Returns the gap with its CPU, if it belongs to one.
    #[must_use]
    pub(crate) fn on(self, cpu: Option<u32>) -> Gap {
        Gap { cpu, ..self }
    }

    /// Returns the gap with the number of missing events, if the file contains it.
    #[must_use]
    pub(crate) fn losing(self, lost: Option<u64>) -> Gap {
        Gap { lost, ..self }
    }

    /// Returns the gap between other times; `time` computes each from the present one.
    #[must_use]
    pub(crate) fn moved(self, time: impl Fn(Timestamp) -> Timestamp) -> Gap {
        Gap::between(
            self.event_before().map(&time),
            self.event_after().map(&time),
        )
        .on(self.cpu)
        .losing(self.lost)
    }

    /// Returns the time of the gap. Without an event before or after it, the gap lasts from the first or to the last
    /// possible time.
    #[must_use]
    pub fn span(&self) -> TimeSpan {
        TimeSpan::new(self.start, self.end)
    }

    /// Returns the time of the last event before the gap; `None` if there is none.
    #[must_use]
    pub(crate) fn event_before(&self) -> Option<Timestamp> {
        (self.start != TimeSpan::ALL.start).then_some(self.start)
    }

    /// Returns the time of the first event after the gap; `None` if there is none.
    #[must_use]
    pub(crate) fn event_after(&self) -> Option<Timestamp> {
        (self.end != TimeSpan::ALL.end).then_some(self.end)
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
