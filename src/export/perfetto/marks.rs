//! Marks on the tracks of the file: begins, ends, points, samples.

use super::tracks::TrackUuid;
use crate::base::Maybe;
use crate::trace::{EventId, SliceId, ThreadId};

/// A mark on a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    /// ns on the trace's clock.
    pub time: i64,
    pub what: What,
}

/// The kind of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// A slice begins. What most slices need is here: the rows of slices that begin at a time are far apart.
    Begin {
        track: TrackUuid,
        slice: SliceId,
        /// The index of its label.
        label: u32,
        begin: EventId,
        finish: Maybe<u32>,
        /// Whether its end was seen, no other duration was measured, and no arrows are at it.
        is_plain: bool,
    },
    /// A slice ends.
    End {
        track: TrackUuid,
        slice: SliceId,
        has_arrows: bool,
    },
    /// An instant.
    Instant { track: TrackUuid, event: EventId },
    /// A flow event that makes no arrow, by its index in `Arrows::lone`.
    LoneFlow { track: TrackUuid, row: u32 },
    /// The sample of a counter, by its row.
    Sample {
        track: TrackUuid,
        /// The row of the sample's counter.
        counter: u32,
        row: u32,
    },
    /// A thread begins to run, or to be in another state.
    Task {
        thread: ThreadId,
        /// The number of the CPU.
        cpu: u32,
        /// One of `layout::task_state`.
        state: u8,
        priority: Option<i32>,
    },
    /// An end of an arrow, by its row, that is on no slice that is written.
    Arrow {
        track: TrackUuid,
        arrow: u32,
        end: ArrowEnd,
    },
    /// Events were lost from here on.
    LossBegins { track: TrackUuid },
    /// The first event after a loss.
    LossEnds { track: TrackUuid },
}

/// An end of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowEnd {
    /// Where the arrow starts.
    From,
    /// Where it points to.
    To,
}
