//! An export order of the user: plain data, which the program around the view passes to an exporter.

use crate::query::selection::Selection;
use std::path::PathBuf;

/// An export to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOrder {
    /// Name of the exporter, e.g. `fxt`.
    pub format: String,
    /// Table to write, if the exporter has several.
    pub table: Option<String>,
    /// The part of the trace to export.
    pub selection: Selection,
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
