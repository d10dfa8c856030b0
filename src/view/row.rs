//! A row of the timeline: its subject, its title, and its lanes from top to bottom. Heights are in points.

use crate::query::Item;
use crate::trace::{CounterTrackId, CpuId, ProcessId, SourceId, ThreadId, TrackId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Space above the first and below the last lane, in points.
pub(super) const PADDING: f32 = 3.0;
/// Space between lanes, in points.
pub(super) const LANE_GAP: f32 = 1.0;

/// Identifies a row by the file's own names: stable across generations of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RowKey {
    /// The group of all CPUs.
    Cpus,
    /// The group of counters of the whole machine.
    Counters,
    /// The group of asynchronous tracks without a process.
    Asyncs,
    /// The group of threads without a process.
    Loose,
    /// One of several files, by its index.
    Source(u32),
    /// A group within one of the later files, by a hash of the file and the group.
    Group(u64),
    /// A CPU by its number (in later files: with the file's index in the upper half).
    Cpu(u32),
    /// A process by the file's key.
    Process(u64),
    /// A thread by the file's key.
    Thread(u64),
    /// A track by a hash of its owner and name.
    Track(u64),
    /// A counter by a hash of its owner and name.
    Counter(u64),
    /// A group of threads of one name, by a hash of the name.
    Named(u64),
    /// The group of plots.
    Plots,
    /// The row of the jobs of a build.
    Jobs,
    /// A group that the user made, by its number in the layout.
    Made(u32),
}

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A group without a subject of its own.
    Group,
    /// One of several files on the axis.
    Source(SourceId),
    /// A CPU.
    Cpu(CpuId),
    /// A process.
    Process(ProcessId),
    /// A thread.
    Thread(ThreadId),
    /// A track.
    Track(TrackId),
    /// A counter.
    Counter(CounterTrackId),
    /// A plot that is still being computed.
    Plot,
    /// The jobs of a build.
    Jobs,
}

/// The lanes that a summary lane adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Summarised {
    /// The states of threads.
    States,
    /// Runs of CPUs, or the outermost slices of tracks: the share of time that they fill.
    Fullness,
}

/// The content of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// The runs of a CPU.
    Runs(CpuId),
    /// The states of a thread.
    States(ThreadId),
    /// The slices of one row of `Slices::rows`, by its index.
    Slices(u32),
    /// The points of a track.
    Instants(TrackId),
    /// A counter's samples.
    Counter(CounterTrackId),
    /// The flat profile of nested rows of `Slices::rows` that are too thin to be drawn one by one.
    Profile {
        /// Index of the outermost row.
        first: u32,
        /// Number of rows.
        count: u32,
    },
    /// The mean of the tracks inside a closed row.
    Summary(RowKey, Summarised),
    /// A lane of [`Jobs`](crate::query::jobs::Jobs), by its index.
    Jobs(u32),
}

impl LaneKind {
    /// Returns the natural height of the lane, in points.
    #[must_use]
    pub fn height(self) -> f32 {
        match self {
            LaneKind::Runs(_) => 20.0,
            LaneKind::States(_) => 12.0,
            LaneKind::Slices(_) => 18.0,
            LaneKind::Instants(_) => 7.0,
            LaneKind::Profile { .. } => 26.0,
            LaneKind::Summary(..) | LaneKind::Jobs(_) => 18.0,
            LaneKind::Counter(_) => 28.0,
        }
    }
}

/// One strip of drawing within a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Content of the lane.
    pub kind: LaneKind,
    /// Distance from the row's top, in points.
    pub offset: f32,
    /// Height in points.
    pub height: f32,
    /// Whether it contains an item that is wide enough to be read at the zoom for which heights were chosen.
    pub legibility: Legibility,
}

/// Whether a lane contains an item that is wide enough to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legibility {
    /// Yes, or it is not known yet.
    #[default]
    Legible,
    /// Everything in view is thinner than a label.
    Thin,
}

impl Lane {
    /// Returns a lane of natural height that is not laid out yet.
    #[must_use]
    pub fn new(kind: LaneKind) -> Lane {
        Lane {
            kind,
            offset: 0.0,
            height: kind.height(),
            legibility: Legibility::Legible,
        }
    }
}

/// Whether a row hides its children and further lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fold {
    /// The row has nothing to hide.
    None,
    /// Everything is shown.
    Open,
    /// Children and further lanes are hidden.
    Closed,
}

/// A lane that is drawn as a part of another lane of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergedLane {
    /// The content that it would draw.
    pub kind: LaneKind,
    /// Index of the lane that is drawn instead.
    pub shown_by: u32,
}

/// One row of the timeline.
#[derive(Clone, Debug)]
pub struct Row {
    /// Identity of the row.
    pub key: RowKey,
    /// Subject of the row.
    pub kind: RowKind,
    /// Number of groups around the row.
    pub depth: u8,
    /// Title at the left.
    pub title: Arc<str>,
    /// Small text after the title.
    pub note: Arc<str>,
    /// Open or closed.
    pub fold: Fold,
    /// Visible lanes.
    pub lanes: Vec<Lane>,
    /// Lanes that are not drawn by themselves now because they are too thin: another lane of the row shows them.
    pub merged: Vec<MergedLane>,
    /// Distance from the top of the first row, in points.
    pub top: f32,
    /// Height in points.
    pub height: f32,
}

impl Row {
    /// Returns the item that the row shows, if it can be selected.
    #[must_use]
    pub fn item(&self) -> Option<Item> {
        match self.kind {
            RowKind::Group
            | RowKind::Source(_)
            | RowKind::Counter(_)
            | RowKind::Plot
            | RowKind::Jobs => None,
            RowKind::Cpu(id) => Some(Item::Cpu(id)),
            RowKind::Process(id) => Some(Item::Process(id)),
            RowKind::Thread(id) => Some(Item::Thread(id)),
            RowKind::Track(id) => Some(Item::Track(id)),
        }
    }

    /// Returns the contents of the row, including lanes that are merged into another lane.
    pub fn kinds(&self) -> impl Iterator<Item = LaneKind> {
        let own = self.lanes.iter().map(|lane| lane.kind);
        let all = own.chain(self.merged.iter().map(|lane| lane.kind));
        all.filter(|kind| !matches!(kind, LaneKind::Profile { .. }))
    }

    /// Returns the row's height without its lanes, in points.
    #[must_use]
    pub(crate) fn height_around_lanes(&self) -> f32 {
        let gaps = self.lanes.len().saturating_sub(1) as f32 * LANE_GAP;
        gaps + 2.0 * PADDING
    }

    /// Returns the sum of the lanes' natural heights, in points.
    #[must_use]
    pub(crate) fn natural_lanes_height(&self) -> f32 {
        self.lanes.iter().map(|lane| lane.kind.height()).sum()
    }

    /// Returns the row's lower edge, in points from the top of the first row.
    #[must_use]
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }
}
