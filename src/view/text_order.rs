//! A text to be written to a file: a script, a list.

use std::path::PathBuf;

/// A text and where to write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOrder {
    /// Title of the file dialog.
    pub title: String,
    /// File name that the dialog proposes.
    pub name: String,
    /// Content of the file.
    pub text: String,
    /// Path of the file; `None`: the user is asked.
    pub to: Option<PathBuf>,
}
