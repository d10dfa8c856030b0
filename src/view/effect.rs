//! The requests of the view to the program around it.

use super::direction::Direction;
use super::export_order::ExportOrder;
use super::question::Purpose;
use super::recording::RecordCommand;
use super::text_order::TextOrder;
use crate::base::Nanos;
use crate::load::Reading;
use crate::trace::EventId;
use crate::trace::SourceId;
use std::path::PathBuf;

/// What an action requests of the program around the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Open files on one time axis.
    Open(Vec<PathBuf>),
    /// Add files to the current trace.
    Add(Vec<PathBuf>),
    /// Shift one of several files by an offset; `None`: by the offset found from the files themselves.
    Place(SourceId, Option<Nanos>),
    /// Remove one of several files.
    Remove(SourceId),
    /// Reload the current files with other reading options.
    ReadAgain(Reading),
    /// Reload the current files with their reading options.
    Reload,
    /// Switch on or off following the current files as they grow.
    ToggleFollow,
    /// Attach probe definitions, as text, to the current trace.
    DefineProbes(String),
    /// Write a text to a file.
    WriteText(Box<TextOrder>),
    /// Open the file dialog.
    AskForFile(Purpose),
    /// Close the trace.
    Close,
    /// Stop the load.
    CancelLoad,
    /// Export a part of the trace to a file.
    Export(Box<ExportOrder>),
    /// Stop the export.
    CancelExport,
    /// Save the payload bytes of an event.
    SavePayload(EventId),
    /// Copy the selection to the clipboard, as text.
    CopySelection,
    /// Copy a link to the current view to the clipboard.
    CopyLink,
    /// Open the view that a link describes.
    OpenLink(String),
    /// Request the clipboard's content.
    Paste,
    /// Open files with these reading options, replacing the current trace.
    OpenAs(Vec<PathBuf>, Reading),
    /// Copy a text to the clipboard.
    Copy(String),
    /// Select the next or previous match.
    StepMatch(Direction),
    /// Stop the search.
    StopSearch,
    /// Stop the search and the panes' background computations.
    StopWork,
    /// Write the session to a file.
    SaveSession(PathBuf),
    /// Write a picture of the window to a file.
    SavePicture(PathBuf),
    /// Command the recording that this window makes.
    Record(RecordCommand),
    /// Close all error notices.
    Dismiss,
    /// End the program.
    Quit,
}
