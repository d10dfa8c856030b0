//! Sources: the files that were put on one axis, and which rows of the tables came from which.
//!
//! Rows of one file lie together in every table that is not sorted by time over all files.

use std::ops::Range;
use std::sync::Arc;

use super::events::Origin;
use crate::base::{Nanos, TimeSpan};
use crate::event::TraceInfo;

/// Row number of a file in [`Trace::sources`](super::Trace::sources).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// Who decided where a file lies on the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacedBy {
    /// What the files say.
    #[default]
    Evidence,
    /// The user.
    User,
}

/// One of several files on one axis.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// For people: its file name.
    pub name: String,
    /// What it says about itself.
    pub info: TraceInfo,
    /// Its span on its own clock.
    pub own_span: TimeSpan,
    /// How its columns are read; its shift puts the file on the axis.
    pub origin: Arc<Origin>,
    /// Why the offset is what it is, for people.
    pub evidence: String,
    /// Who decided it.
    pub placed_by: PlacedBy,
    /// Its CPUs.
    pub cpus: Range<u32>,
    /// Its threads (the idle one, which is everybody's, left out).
    pub threads: Range<u32>,
    /// Its processes.
    pub processes: Range<u32>,
    /// Its tracks that belong to nobody.
    pub loose_tracks: Range<u32>,
    /// Its counters.
    pub counters: Range<u32>,
    /// Its events, as event numbers.
    pub events: Range<u32>,
    /// Its gaps.
    pub gaps: Range<u32>,
    /// Its parts, as its reader counts them from 0.
    pub parts: Range<u32>,
}

impl Source {
    /// Added to its own times to put it on the axis.
    #[must_use]
    pub fn offset(&self) -> Nanos {
        self.origin.shift
    }

    /// Its span on the axis.
    #[must_use]
    pub fn span(&self) -> TimeSpan {
        self.own_span.shifted(self.offset())
    }

    /// The offset with its sign: `+1.5 ms`.
    #[must_use]
    pub fn offset_text(&self) -> String {
        signed(self.offset())
    }
}

/// A length of time with its sign: `+1.5 ms`.
#[must_use]
pub fn signed(time: Nanos) -> String {
    match time {
        time if time.0 > 0 => format!("+{time}"),
        time => time.to_string(),
    }
}
