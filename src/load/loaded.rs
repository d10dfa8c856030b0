//! A loaded trace: the value that all other modules work on.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::definitions::Attached;
use super::opened::{DamagedFile, OpenedFile};
use super::reading::Reading;
use crate::base::{Cancelled, ReadError, TraceId};
use crate::event::FirstDay;
use crate::formats::{Events, HasReport};
use crate::index::Index;
use crate::trace::Trace;

/// A loaded trace: its tables, indexes and reader. Cheap to clone.
#[derive(Clone)]
pub struct LoadedTrace {
    /// The tables.
    pub trace: Arc<Trace>,
    /// The indexes over the tables.
    pub index: Arc<Index>,
    /// Decodes single events.
    pub reader: Arc<dyn Events>,
    /// Prints the whole trace as its reference tool does; `None` if there is no such tool.
    pub report: Option<Arc<dyn HasReport>>,
    /// The number of parts of the reader; events refer to parts by number.
    pub part_count: u32,
    /// The path that the trace was loaded from.
    pub path: PathBuf,
    /// The other files of the same recording (strace's `-ff`, one file per CPU), which were read as one trace.
    pub part_paths: Vec<PathBuf>,
    /// What the recording is, if it is a further one in a file whose main recording is an earlier member.
    pub part_name: Option<String>,
    /// Size on disk of all its files together, in bytes.
    pub file_bytes: u64,
    /// Identifies this trace among all that this process has loaded.
    pub id: TraceId,
    /// Whether everything was read.
    pub is_complete: bool,
    /// How long loading took.
    pub timings: Timings,
    /// The traces that this one joins on one axis, in the order of `trace.sources`; empty for a single recording.
    pub members: Vec<Arc<LoadedTrace>>,
    /// Files that were to be opened with this trace but could not be read.
    pub left_out: Vec<LoadError>,
    /// The path by which a recording among the members names this trace, if it was opened for that reason and not by
    /// the user.
    pub named: Option<Arc<[u8]>>,
    /// The probe definitions that are attached to this trace.
    pub probes: Option<Attached>,
    /// Whether this trace is empty: its probe definitions were opened without a trace.
    pub has_only_probes: bool,
    /// Settings that the file was read with.
    pub reading: Reading,
    /// The files from which events are still read. The files of a joined trace are in its members.
    pub opened: Vec<Arc<OpenedFile>>,
    /// This trace without the user's plots; `None` if it has no plots.
    pub without_plots: Option<Arc<LoadedTrace>>,
}

impl fmt::Debug for LoadedTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoadedTrace({}, {:?})", self.path.display(), self.id)
    }
}

/// How long loading took, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the coarse trace (span and density) was ready.
    pub coarse: Duration,
    /// Until the whole trace was ready.
    pub full: Duration,
}

impl LoadedTrace {
    /// Returns the trace as it was read, without the user's plots.
    #[must_use]
    pub(crate) fn as_read(loaded: &Arc<LoadedTrace>) -> Arc<LoadedTrace> {
        let plain = loaded.without_plots.as_ref();
        Arc::clone(plain.unwrap_or(loaded))
    }

    /// Returns the heap bytes of the tables, the indexes and the reader. The mapped file is not counted.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.trace.memory_bytes() + self.index.memory_bytes() + self.reader.memory_bytes()
            - self.shared_bytes()
            + self
                .members
                .iter()
                .map(|member| member.memory_bytes())
                .sum::<u64>()
            + self.without_plots.as_ref().map_or(0, |plain| {
                // All other tables are shared.
                plain.trace.strings.memory_bytes() + plain.trace.counters.memory_bytes()
            })
    }

    /// Returns the heap bytes of the events that a joined trace shares with its members.
    fn shared_bytes(&self) -> u64 {
        let events = |member: &Arc<LoadedTrace>| member.trace.events.memory_bytes();
        self.members.iter().map(events).sum()
    }

    /// Returns the files to open in order to load this trace again, without files that are found through others.
    #[must_use]
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        if !self.members.is_empty() {
            return self.members.iter().flat_map(|it| it.paths()).collect();
        }
        match self.named {
            Some(_) => Vec::new(),
            None => self.all_paths(),
        }
    }

    /// Returns all files from which this trace was loaded.
    #[must_use]
    pub(crate) fn all_paths(&self) -> Vec<PathBuf> {
        if !self.members.is_empty() {
            return self.members.iter().flat_map(|it| it.all_paths()).collect();
        }
        if self.part_name.is_some() {
            return Vec::new();
        }
        std::iter::once(&self.path)
            .chain(&self.part_paths)
            .cloned()
            .collect()
    }

    /// Returns the name of the first file, or its path, with the number of the other files of this trace.
    pub(crate) fn with_others(&self, first: String) -> String {
        match self.all_paths().len() {
            0 | 1 => first,
            count => format!("{first} and {} more", count - 1),
        }
    }

    /// Iterates over all files from which events are still read.
    pub(crate) fn opened_files(&self) -> Box<dyn Iterator<Item = &Arc<OpenedFile>> + '_> {
        let theirs = self.members.iter().flat_map(|it| it.opened_files());
        Box::new(self.opened.iter().chain(theirs))
    }

    /// Returns the first file that was cut short or rewritten since it was opened, and which of the two happened.
    #[must_use]
    pub(crate) fn damage(&self) -> Option<DamagedFile> {
        self.opened_files().find_map(|file| file.damaged())
    }

    /// Returns whether the user set the date of the first day.
    #[must_use]
    pub(crate) fn has_given_day(&self) -> bool {
        self.trace.info.first_day == FirstDay::Given
    }

    /// Returns the file's name without its folder; the first file's name if there are several.
    #[must_use]
    pub fn file_name(&self) -> String {
        file_name(&self.path)
    }
}

/// Returns a file's name without its folder, as text; the whole path if it has no file name.
#[must_use]
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Why a file could not be opened: the path, then the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Path of the file.
    pub path: PathBuf,
    /// The error.
    pub error: ReadError,
}

impl LoadError {
    /// Returns the error of a load that was cancelled.
    pub(crate) fn cancelled(path: impl Into<PathBuf>) -> LoadError {
        LoadError {
            path: path.into(),
            error: Cancelled.into(),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for LoadError {}
