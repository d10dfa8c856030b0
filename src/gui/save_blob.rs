//! Details > Save payload: asks for a file and writes an event's payload to it, off the window's thread.

use std::path::PathBuf;

use crate::export::{ExportError, Overwrite, atomic_file};
use crate::load::LoadedTrace;
use crate::query::blobs::payload;
use crate::trace::EventId;

/// The written file, or why there is none. `None`: the user chose no file.
pub(super) type Answer = Option<Result<PathBuf, String>>;

/// Asks for a file and writes the payload to it.
pub(super) fn save(loaded: &LoadedTrace, event: EventId) -> Answer {
    let name = loaded
        .trace
        .kind_name(loaded.trace.events.kind(event))
        .replace(['/', '\\', ':'], "_");
    let dialog = rfd::FileDialog::new()
        .set_title("Save payload")
        .set_file_name(name);
    let path = dialog.save_file()?;
    Some(match write_payload(loaded, event, &path) {
        Ok(()) => Ok(path),
        Err(error) => Err(error.to_string()),
    })
}

/// Writes the payload of an event. The system's dialog has asked before whether a file may be replaced.
fn write_payload(
    loaded: &LoadedTrace,
    event: EventId,
    path: &std::path::Path,
) -> Result<(), ExportError> {
    let bytes = payload(&loaded.trace, loaded.reader.as_ref(), event)
        .ok_or_else(|| ExportError::Nothing("this event has no payload".to_owned()))?;
    atomic_file::write_whole(path, Overwrite::Replace, |out| {
        out.write_all(&bytes).map_err(ExportError::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_written_whole() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/golden/fxt/log_and_large.fxt"
        );
        let loaded = crate::load::open(file.as_ref(), &crate::base::Job::default()).unwrap();
        let blobs = crate::query::blobs::blobs(&loaded.trace, loaded.reader.as_ref());
        let largest = blobs.iter().max_by_key(|blob| blob.size_bytes).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payload.bin");
        write_payload(&loaded, largest.event, &path).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        assert!(size == largest.size_bytes && size > 0);
    }
}
