//! Tracks, which slices and instants are on.

use super::entities::{CpuId, ProcessId, ThreadId};
use crate::base::StringId;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Row number of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrackId(pub u32);

/// A track.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// The owner of the track.
    pub kind: TrackKind,
    /// The track's name; empty: it has the name of its owner.
    pub name: StringId,
    /// The track's rows in [`Slices::rows`](super::Slices::rows), the topmost first.
    pub rows: Range<u32>,
    /// The track's instants in [`Instants`](super::Instants).
    pub instants: Range<u32>,
}

/// The owner of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TrackKind {
    /// A CPU: interrupts, softirqs, timers, whichever thread ran.
    Cpu(CpuId),
    /// A thread.
    Thread(ThreadId),
    /// The events that belong to no CPU and no thread.
    Nobody,
    /// A group of asynchronous slices of a process, or (`None`) of the whole trace.
    Async(Option<ProcessId>),
}

/// Returns the track of this kind, if there is one (the first of several asynchronous tracks). `tracks` must be sorted
/// by kind.
#[must_use]
pub(crate) fn of_kind(tracks: &[Track], kind: TrackKind) -> Option<TrackId> {
    let at = tracks.partition_point(|track| track.kind < kind);
    let found = tracks.get(at).filter(|track| track.kind == kind);
    found.map(|_| TrackId(at as u32))
}
