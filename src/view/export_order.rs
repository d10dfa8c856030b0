//! What the user wants to be written: plain data, which the program around the view hands to an exporter.

use crate::base::TimeSpan;
use crate::trace::{CounterTrackId, CpuId, ProcessId, ThreadId, TrackId};
use std::path::PathBuf;

/// An export that the user asked for. The lists narrow it as those of the command line do; empty: all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOrder {
    /// The exporter's name, e.g. `fxt`.
    pub format: String,
    /// The table that it writes, where it has tables to choose from.
    pub table: Option<String>,
    /// The range of time.
    pub span: TimeSpan,
    /// Only these CPUs.
    pub cpus: Vec<CpuId>,
    /// These processes.
    pub processes: Vec<ProcessId>,
    /// These threads.
    pub threads: Vec<ThreadId>,
    /// These tracks.
    pub tracks: Vec<TrackId>,
    /// These counters.
    pub counters: Vec<CounterTrackId>,
    /// What the tracks of these CPUs show.
    pub cpu_tracks: Vec<CpuId>,
    /// The file.
    pub path: PathBuf,
    /// What happens to a file that is there.
    pub existing: Existing,
}

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the user is asked.
    #[default]
    Ask,
    /// It is replaced once the new one is whole.
    Replace,
}
