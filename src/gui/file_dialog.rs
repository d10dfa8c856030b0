//! The system's file dialogs, each run on a thread of its own.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::base::Task;

/// A dialog that closes faster than this was not closed by the user: the system has no dialog.
const TOO_FAST: Duration = Duration::from_millis(150);

/// A file dialog that may be open.
#[derive(Debug, Default)]
pub(super) struct FileDialog {
    chosen: Task<(), Option<Vec<PathBuf>>>,
    began: Option<Instant>,
}

/// The outcome of a file dialog.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The chosen files, at least one.
    Chosen(Vec<PathBuf>),
    /// The user closed the dialog.
    Closed,
    /// The system has no file dialogs.
    NotThere,
}

/// A kind of file that a dialog for saving offers.
pub(crate) struct FileKind {
    pub(crate) name: &'static str,
    /// Endings of names, without the dot; the first is the usual one.
    pub(crate) extensions: Vec<&'static str>,
}

impl FileDialog {
    /// Returns whether a dialog is open.
    pub(super) fn is_open(&self) -> bool {
        self.chosen.is_pending()
    }

    /// Opens a dialog, unless one is open. `ask` blocks until it is answered.
    pub(super) fn open(
        &mut self,
        ctx: &egui::Context,
        ask: impl FnOnce() -> Option<Vec<PathBuf>> + Send + 'static,
    ) {
        if !self.is_open() {
            self.began = Some(Instant::now());
            self.chosen.start(ctx, "file dialog", move |_| Ok(ask()));
        }
    }

    /// Opens a dialog for saving; `proposed` is its initial folder and name.
    pub(super) fn save_as(
        &mut self,
        ctx: &egui::Context,
        title: &'static str,
        proposed: &Path,
        kinds: Vec<FileKind>,
    ) {
        let proposed = proposed.to_path_buf();
        self.open(ctx, move || {
            let mut dialog = rfd::FileDialog::new().set_title(title);
            for kind in &kinds {
                dialog = dialog.add_filter(kind.name, &kind.extensions);
            }
            if let Some(name) = proposed.file_name() {
                dialog = dialog.set_file_name(name.to_string_lossy());
            }
            if let Some(folder) = proposed.parent() {
                dialog = dialog.set_directory(folder);
            }
            dialog.save_file().map(|path| vec![path])
        });
    }

    /// Returns the outcome, once.
    pub(super) fn poll(&mut self) -> Option<Answer> {
        self.poll_at(Instant::now())
    }

    fn poll_at(&mut self, now: Instant) -> Option<Answer> {
        // A failed thread means that there are no dialogs.
        let Ok(answer) = self.chosen.take_end()? else {
            return Some(Answer::NotThere);
        };
        let was_fast = self
            .began
            .is_some_and(|began| now.saturating_duration_since(began) < TOO_FAST);
        Some(match answer {
            Some(paths) if !paths.is_empty() => Answer::Chosen(paths),
            None if was_fast => Answer::NotThere,
            _ => Answer::Closed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the answer of a dialog that closed `after` it was opened.
    fn answer(after: Duration, chosen: Option<Vec<PathBuf>>) -> Answer {
        let mut dialog = FileDialog::default();
        dialog.open(&egui::Context::default(), move || chosen);
        assert!(dialog.is_open());
        let closed = dialog.began.unwrap() + after;
        loop {
            if let Some(answer) = dialog.poll_at(closed) {
                assert!(!dialog.is_open());
                return answer;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn what_closes_at_once_was_not_there() {
        let chosen = vec![PathBuf::from("a.fxt")];
        assert_eq!(
            answer(Duration::ZERO, Some(chosen.clone())),
            Answer::Chosen(chosen)
        );
        let fast = TOO_FAST - Duration::from_nanos(1);
        assert_eq!(answer(fast, None), Answer::NotThere);
        assert_eq!(answer(TOO_FAST, None), Answer::Closed);
    }
}
