//! Texts on their way into files: the user names one, then it is written whole, off the window's thread.

use std::path::{Path, PathBuf};

use crate::export::atomic_file::{FileError, Overwrite, write_whole};
use crate::view::text_order::TextOrder;

/// What came of it: the file, nothing because the user thought better of it, or why not.
pub(super) type Outcome = Result<Option<PathBuf>, String>;

/// Asks where to, if that is not said, and writes.
pub(super) fn carry_out(order: TextOrder) -> Outcome {
    // The dialog asks before a file is replaced; a file that is named without it is left alone.
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

/// Writes a file whole, or says in words why not.
pub(super) fn write_bytes(path: &Path, overwrite: Overwrite, bytes: &[u8]) -> Result<(), String> {
    let written = write_whole(path, overwrite, |out| {
        out.write_all(bytes).map_err(FileError::from)
    });
    written.map_err(|error| match error {
        FileError::Exists => format!("there is a file {} already", path.display()),
        FileError::Io(error) => format!("{}: {error}", path.display()),
    })
}
