//! A text that is to become a file: a script, a list.

use std::path::PathBuf;

/// What is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOrder {
    /// What the file dialog is called.
    pub title: String,
    /// The name that it proposes.
    pub name: String,
    /// The text.
    pub text: String,
    /// The file, where it is known; else the user is asked.
    pub to: Option<PathBuf>,
}
