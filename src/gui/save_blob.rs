//! Details > Save payload: asks for a file and writes an attachment's bytes to it, off the window's thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use crate::export::{ExportError, Overwrite, atomic_file};
use crate::load::LoadedTrace;
use crate::query::blobs::payload;
use crate::trace::EventId;

/// What became of it: the file, or why there is none. `None`: the user named no file.
type Answer = Option<Result<PathBuf, String>>;

/// The question or the writing that is under way.
#[derive(Debug, Default)]
pub struct SaveBlob {
    answer: Option<Receiver<Answer>>,
}

impl SaveBlob {
    /// Asks where to, and writes there.
    pub fn start(&mut self, ctx: &egui::Context, loaded: &Arc<LoadedTrace>, event: EventId) {
        if self.answer.is_some() {
            return;
        }
        let (sender, receiver) = channel();
        let (ctx, loaded) = (ctx.clone(), loaded.clone());
        let spawned = std::thread::Builder::new()
            .name("save payload".to_owned())
            .spawn(move || {
                let name = loaded
                    .trace
                    .kind_name(loaded.trace.events.kind(event))
                    .replace(['/', '\\', ':'], "_");
                let dialog = rfd::FileDialog::new()
                    .set_title("Save payload")
                    .set_file_name(name);
                let written =
                    dialog
                        .save_file()
                        .map(|path| match write_payload(&loaded, event, &path) {
                            Ok(()) => Ok(path),
                            Err(error) => Err(error.to_string()),
                        });
                let _closed = sender.send(written);
                ctx.request_repaint();
            });
        if spawned.is_ok() {
            self.answer = Some(receiver);
        }
    }

    /// What became of it, once.
    pub fn poll(&mut self) -> Answer {
        match self.answer.as_ref()?.try_recv() {
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                self.answer = None;
                None
            }
            Ok(answer) => {
                self.answer = None;
                answer
            }
        }
    }
}

/// Writes the bytes that an event carries. The system's dialog has asked whether a file may be replaced.
fn write_payload(
    loaded: &LoadedTrace,
    event: EventId,
    path: &std::path::Path,
) -> Result<(), ExportError> {
    let bytes = payload(&loaded.trace, loaded.reader.as_ref(), event)
        .ok_or_else(|| ExportError::Nothing("this event carries no payload".to_owned()))?;
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
