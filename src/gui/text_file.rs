//! Writes texts to files: the user chooses a file, then it is written as a whole, off the window's thread.

use std::path::{Path, PathBuf};

use crate::export::atomic_file::{FileError, Overwrite, write_whole};
use crate::view::text_order::TextOrder;

/// The written file, `None` if the user cancelled, or an error for the user.
pub(super) type Outcome = Result<Option<PathBuf>, String>;

/// Asks for a file, if the order names none, and writes it.
pub(super) fn carry_out(order: TextOrder) -> Outcome {
    // The dialog asks before a file is replaced; without the dialog, an existing file is not replaced.
    let (path, overwrite) = match order.to {
        Some(path) => (Some(path), Overwrite::Refuse),
        None => (
            rfd::FileDialog::new()
                .set_title(&order.title)
                .set_file_name(&order.name)
                .save_file(),
            Overwrite::Replace,
        ),
    };
    let Some(path) = path else { return Ok(None) };
    write_bytes(&path, overwrite, order.text.as_bytes())?;
    Ok(Some(path))
}

/// Writes a file as a whole. Returns a sentence for the user if that fails.
pub(super) fn write_bytes(path: &Path, overwrite: Overwrite, bytes: &[u8]) -> Result<(), String> {
    let written = write_whole(path, overwrite, |out| {
        out.write_all(bytes).map_err(FileError::from)
    });
    written.map_err(|error| match error {
        FileError::Exists => format!("{} exists already", path.display()),
        FileError::Io(error) => format!("{}: {error}", path.display()),
    })
}
