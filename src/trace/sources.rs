//! Sources: the files that share one time axis, and which rows of the tables belong to each file.
//!
//! The rows of one file are adjacent in every table that is not sorted by time over all files.

use std::ops::Range;
use std::sync::Arc;

use super::ProcessId;
use super::segments::Origin;
use crate::base::{Nanos, TimeSpan};
use crate::event::TraceInfo;

/// Index of a file in [`Trace::sources`](super::Trace::sources).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// Who decided the offset of a file on the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlacedBy {
    /// Computed from the contents of the files.
    #[default]
    Evidence,
    /// A guess: a compiler's trace starts with the process that wrote it, because their clocks cannot be compared.
    Alignment,
    /// The user.
    User,
}

/// One of several files on one axis.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file's name, to show.
    pub name: String,
    /// The file's facts about itself.
    pub info: TraceInfo,
    /// The file's span on its own clock.
    pub own_span: TimeSpan,
    /// How the file's columns are converted; its shift moves the file to the axis.
    pub origin: Arc<Origin>,
    /// The reason for the offset, as text for the user.
    pub evidence: String,
    /// Who decided the offset.
    pub placed_by: PlacedBy,
    /// Rows of the file's CPUs.
    pub cpus: Range<u32>,
    /// Rows of the file's threads (without the idle thread, which all files share).
    pub threads: Range<u32>,
    /// Rows of the file's processes.
    pub processes: Range<u32>,
    /// The process of another file that wrote this file: the file's threads and tracks belong to that process.
    pub home: Option<ProcessId>,
    /// Rows of the file's tracks that belong to no thread, CPU or process.
    pub loose_tracks: Range<u32>,
    /// Rows of the file's counter tracks.
    pub counters: Range<u32>,
    /// Ids of the file's events.
    pub events: Range<u32>,
    /// Rows of the file's gaps.
    pub gaps: Range<u32>,
    /// The file's parts. The file's own reader numbers them from 0.
    pub parts: Range<u32>,
    /// Whether the file has operations on files.
    pub has_files: bool,
}

impl Source {
    /// Returns the offset that is added to the file's own times to get times on the axis.
    #[must_use]
    pub fn offset(&self) -> Nanos {
        self.origin.shift
    }

    /// Returns whether the file's offset is a guess: the file is aligned with something that probably happened at the
    /// same time.
    #[must_use]
    pub(crate) fn is_aligned(&self) -> bool {
        self.placed_by == PlacedBy::Alignment
    }

    /// Returns the file's span on the axis.
    #[must_use]
    pub(crate) fn span(&self) -> TimeSpan {
        self.own_span.shifted(self.offset())
    }

    /// Returns the offset with its sign: `+1.5 ms`.
    #[must_use]
    pub(crate) fn offset_text(&self) -> String {
        signed(self.offset())
    }
}

/// Returns a duration with its sign: `+1.5 ms`.
#[must_use]
pub(crate) fn signed(time: Nanos) -> String {
    match time {
        time if time.0 > 0 => format!("+{time}"),
        time => time.to_string(),
    }
}

/// Returns the name of the CPU with this number: `CPU 3`, with its file if there are several.
#[must_use]
pub(crate) fn title_of_cpu(number: u32, source: Option<&Source>) -> String {
    match source {
        Some(source) => format!("CPU {number} · {}", source.name),
        None => format!("CPU {number}"),
    }
}
