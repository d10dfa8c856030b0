//! Tracks: what slices and instants lie on.

use super::entities::{CpuId, ProcessId, ThreadId};
use crate::base::StringId;
use std::ops::Range;

/// Row number of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackId(pub u32);

/// A track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Whose it is.
    pub kind: TrackKind,
    /// Its name; empty: its owner's name says it.
    pub name: StringId,
    /// Its rows in [`Slices::rows`](super::Slices::rows), the topmost first.
    pub rows: Range<u32>,
    /// Its points in [`Instants`](super::Instants).
    pub instants: Range<u32>,
}

/// Whose a track is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrackKind {
    /// What happened on a CPU whoever ran: interrupts, softirqs, timers.
    Cpu(CpuId),
    /// What a thread did.
    Thread(ThreadId),
    /// A group of asynchronous slices of a process, or of the whole trace.
    Async(Option<ProcessId>),
}
