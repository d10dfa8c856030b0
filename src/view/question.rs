//! Questions that the user answers before an action is carried out.

use crate::trace::Plot;

/// What a chosen file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Open it, replacing the current trace.
    Open,
    /// Add it to the current trace.
    Add,
    /// Write the session to it.
    SaveSession,
    /// Write a picture of the window to it.
    SavePicture,
    /// Copy the finished recording to it.
    SaveRecording,
}

impl Purpose {
    /// Title of the file dialog.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Purpose::Open => "Open a trace",
            Purpose::Add => "Add a trace to this axis",
            Purpose::SaveSession => "Save the session",
            Purpose::SavePicture => "Save a picture of the window",
            Purpose::SaveRecording => "Save the recording",
        }
    }
}

/// A question that the user answers before an action is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Whether to discard the view's state.
    StartOver,
    /// Path of a file, typed as text.
    Path(Purpose),
    /// Name under which to save the layout.
    KeepLayout,
    /// What to plot.
    Plot {
        /// Initial values of the fields.
        draft: Plot,
        /// The plot that it replaces.
        instead_of: Option<Plot>,
    },
}
