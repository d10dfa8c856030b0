//! The order and the result of an export that does not run on the window's thread.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{ExportError, Exporter, Overwrite, Selection, Summary, run};
use crate::base::Job;
use crate::load::LoadedTrace;

/// An order for an export: what, how, and to which file.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The format.
    pub exporter: Exporter,
    /// The part of the trace to export.
    pub selection: Selection,
    /// The path of the output file.
    pub path: PathBuf,
    /// Whether an existing file is replaced.
    pub overwrite: Overwrite,
}

/// The result of an order.
#[derive(Debug)]
pub(crate) struct Exported {
    /// The path of the output file.
    pub path: PathBuf,
    /// The duration of the export.
    pub took: Duration,
    /// The summary of the file, or the reason why it was not written.
    pub result: Result<Summary, ExportError>,
}

impl Order {
    /// Writes the file; reports the number of rows to `job`.
    #[must_use]
    pub(crate) fn carry_out(self, loaded: &LoadedTrace, job: &Job) -> Exported {
        let began = Instant::now();
        let (exporter, selection) = (&self.exporter, &self.selection);
        let result = run(exporter, loaded, selection, &self.path, self.overwrite, job);
        Exported {
            path: self.path,
            took: began.elapsed(),
            result,
        }
    }
}
