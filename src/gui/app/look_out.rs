//! Watching the files of the trace that is shown.

use super::App;
use crate::base::strings::capitalised;
use crate::gui::keys::key_of;
use crate::gui::lookout::FileLookout;
use crate::gui::notices::Mood;
use crate::load::OpenedFile;
use crate::load::opened::{DamagedFile, Lookout};
use std::sync::Arc;

impl App {
    /// Watches the files of the visible trace and reports damage to them; called once a frame.
    pub(super) fn poll_lookout(&mut self, ctx: &egui::Context) {
        let shown = self
            .loaded
            .as_ref()
            .filter(|loaded| loaded.is_complete && self.follow.is_none());
        let files: Vec<Arc<OpenedFile>> = shown
            .map(|loaded| loaded.opened_files().cloned().collect())
            .unwrap_or_default();
        let is_same = self.lookout.as_ref().is_some_and(|lookout| {
            lookout.files.len() == files.len()
                && lookout
                    .files
                    .iter()
                    .zip(&files)
                    .all(|(a, b)| Arc::ptr_eq(a, b))
        });
        if !is_same {
            let waker = ctx.clone();
            self.lookout = (!files.is_empty()).then(|| FileLookout {
                lookout: Lookout::start(files.clone(), move || waker.request_repaint()).ok(),
                files,
            });
        }
        let lookout = self.lookout.as_ref().and_then(|it| it.lookout.as_ref());
        if let Some(DamagedFile { path, change }) = lookout.and_then(Lookout::take) {
            let words = format!(
                "{change}. Its events may be shown wrongly, and it cannot be exported. Press {} to read it again: {}",
                key_of("Read the files again"),
                path.display()
            );
            self.notices.say(Mood::Wrong, capitalised(&words));
        }
    }
}
