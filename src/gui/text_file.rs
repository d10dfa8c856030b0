//! Texts on their way into files: the user names one, then it is written whole, off the window's thread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use crate::export::atomic_file::{FileError, Overwrite, write_whole};
use crate::view::text_order::TextOrder;

/// What came of it: the file, nothing because the user thought better of it, or why not.
type Outcome = Result<Option<PathBuf>, String>;

/// At most one text on its way.
#[derive(Default)]
pub(super) struct TextFile {
    pending: Option<Receiver<Outcome>>,
}

impl TextFile {
    /// Starts to write; does nothing while another text is on its way.
    pub(super) fn start(&mut self, ctx: &egui::Context, order: TextOrder) {
        if self.pending.is_some() {
            return;
        }
        let (sender, receiver) = channel();
        let ctx = ctx.clone();
        let spawned = std::thread::Builder::new()
            .name("text file".to_owned())
            .spawn(move || {
                let _window_gone = sender.send(carry_out(order));
                ctx.request_repaint();
            });
        if spawned.is_ok() {
            self.pending = Some(receiver);
        }
    }

    /// Whether one is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.pending.is_some()
    }

    /// What came of it, once.
    pub(super) fn poll(&mut self) -> Option<Outcome> {
        let outcome = match self.pending.as_ref()?.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
        };
        self.pending = None;
        outcome
    }
}

fn carry_out(order: TextOrder) -> Outcome {
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
    let written = write_whole(&path, overwrite, |out| {
        out.write_all(order.text.as_bytes())
            .map_err(FileError::from)
    });
    match written {
        Ok(()) => Ok(Some(path)),
        Err(FileError::Exists) => Err(format!("there is a file {} already", path.display())),
        Err(FileError::Io(error)) => Err(format!("{}: {error}", path.display())),
    }
}
