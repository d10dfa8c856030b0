//! An export order of the user: plain data, which the program around the view passes to an exporter.

use crate::base::TimeSpan;
use crate::trace::{CounterTrackId, CpuId, ProcessId, ThreadId, TrackId};
use std::path::PathBuf;

/// An export to write. The lists narrow it like those of the command line; an empty list means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOrder {
    /// Name of the exporter, e.g. `fxt`.
    pub format: String,
    /// Table to write, if the exporter has several.
    pub table: Option<String>,
    /// Time range to export.
    pub span: TimeSpan,
    /// Only these CPUs.
    pub cpus: Vec<CpuId>,
    /// Only these processes.
    pub processes: Vec<ProcessId>,
    /// Only these threads.
    pub threads: Vec<ThreadId>,
    /// Only these tracks.
    pub tracks: Vec<TrackId>,
    /// Only these counters.
    pub counters: Vec<CounterTrackId>,
    /// Only what the tracks of these CPUs show.
    pub cpu_tracks: Vec<CpuId>,
    /// Path of the output file.
    pub path: PathBuf,
    /// What to do if the output file exists.
    pub existing: Existing,
}

/// What to do with an existing output file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Keep the file and ask the user.
    #[default]
    Ask,
    /// Replace the file once the new one is complete.
    Replace,
}
