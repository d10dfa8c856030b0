//! A row of the timeline: what it is of, how it is named, and its lanes one below the other. Heights are points.

use crate::query::Item;
use crate::trace::{CounterTrackId, CpuId, ProcessId, SourceId, ThreadId, TrackId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Space above the first and below the last lane.
pub(super) const PADDING: f32 = 3.0;
/// Space between lanes.
pub(super) const LANE_GAP: f32 = 1.0;

/// Names a row as the file names it: the same in the next generation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RowKey {
    /// The group of all CPUs.
    Cpus,
    /// The group of counters of the whole machine.
    Counters,
    /// The group of asynchronous tracks of no process.
    Asyncs,
    /// The group of threads of no process.
    Loose,
    /// One of several files, by its place among them.
    Source(u32),
    /// A group within one of the later files, by a hash of the file and the group.
    Group(u64),
    /// A CPU by its number (of a later file: with the file's place in the upper half).
    Cpu(u32),
    /// A process by the file's key.
    Process(u64),
    /// A thread by the file's key.
    Thread(u64),
    /// A track by a hash of its owner and name.
    Track(u64),
    /// A counter by a hash of its owner and name.
    Counter(u64),
    /// A group of threads of one name, by a hash of it.
    Named(u64),
    /// The group of what is plotted.
    Plots,
    /// A group that the user made, by its number in the layout.
    Made(u32),
}

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A group that is nothing by itself.
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
}

/// What a lane draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// Who runs on a CPU.
    Runs(CpuId),
    /// What a thread does.
    States(ThreadId),
    /// A row of `Slices::rows`.
    Slices(u32),
    /// The points of a track.
    Instants(TrackId),
    /// A counter's samples.
    Counter(CounterTrackId),
}

impl LaneKind {
    /// How high it is unless the user says otherwise.
    #[must_use]
    pub fn height(self) -> f32 {
        match self {
            LaneKind::Runs(_) => 20.0,
            LaneKind::States(_) => 12.0,
            LaneKind::Slices(_) => 18.0,
            LaneKind::Instants(_) => 9.0,
            LaneKind::Counter(_) => 28.0,
        }
    }
}

/// One line of drawing within a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// What it draws.
    pub kind: LaneKind,
    /// From the row's top.
    pub offset: f32,
    /// How high it is.
    pub height: f32,
}

impl Lane {
    /// A lane that has no place yet.
    #[must_use]
    pub fn new(kind: LaneKind) -> Lane {
        Lane {
            kind,
            offset: 0.0,
            height: kind.height(),
        }
    }
}

/// Whether a row hides what lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fold {
    /// There is nothing to hide.
    None,
    /// It shows all.
    Open,
    /// It hides some.
    Closed,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub key: RowKey,
    /// What it is.
    pub kind: RowKind,
    /// How deep it lies in groups.
    pub depth: u8,
    /// Shown at the left.
    pub title: Arc<str>,
    /// Shown small behind the title.
    pub note: Arc<str>,
    /// Open or closed.
    pub fold: Fold,
    /// What it draws.
    pub lanes: Vec<Lane>,
    /// From the top of all rows.
    pub top: f32,
    /// How high it is.
    pub height: f32,
}

impl Row {
    /// What it is of, where that can be selected.
    #[must_use]
    pub fn item(&self) -> Option<Item> {
        match self.kind {
            RowKind::Group | RowKind::Source(_) | RowKind::Counter(_) => None,
            RowKind::Cpu(id) => Some(Item::Cpu(id)),
            RowKind::Process(id) => Some(Item::Process(id)),
            RowKind::Thread(id) => Some(Item::Thread(id)),
            RowKind::Track(id) => Some(Item::Track(id)),
        }
    }

    /// How high it is without its lanes, and how high these are unless the user says otherwise.
    #[must_use]
    pub fn natural_heights(&self) -> (f32, f32) {
        let gaps = self.lanes.len().saturating_sub(1) as f32 * LANE_GAP;
        let lanes = self.lanes.iter().map(|lane| lane.kind.height()).sum();
        (gaps + 2.0 * PADDING, lanes)
    }

    /// Where it ends.
    #[must_use]
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }
}
