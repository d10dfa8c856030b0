//! Where events were lost, or may have been.

use crate::base::Timestamp;

/// The recorder lost events of a CPU (or of the lane) in `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Time of the last event before the gap.
    pub start: Timestamp,
    /// Time of the first event after the gap.
    pub end: Timestamp,
    /// The CPU, if the gap belongs to one.
    pub cpu: Option<u32>,
    /// How many events are missing, if the file contains the number.
    pub lost: Option<u64>,
}

/// A time range in which events of a CPU may have been dropped, if the file contains only their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seam {
    /// Time of the last event before it.
    pub start: Timestamp,
    /// Time of the first event after it.
    pub end: Timestamp,
    /// The CPU.
    pub cpu: u32,
}
