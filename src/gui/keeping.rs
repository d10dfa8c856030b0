//! Saves what outlives the window: the session of each trace, which is restored when the trace is opened again, and the
//! places of window and panes. Written periodically, when another trace is opened, and at the end.

use crate::base::{Task, Waker};
use crate::view::Session;
use std::path::{Path, PathBuf};

/// Sessions to restore, and the last one written.
#[derive(Default)]
pub(super) struct Keeping {
    /// Folder of the sessions.
    pub(super) folder: Option<PathBuf>,
    /// Session that the user opened, for the trace that is being loaded.
    pub(super) wanted: Option<Session>,
    /// The session that is restored with each generation until the trace is complete.
    pub(super) resume: Option<Session>,
    /// The view right after the session was restored: if the view differs later, the user has changed it.
    pub(super) resumed: Option<Session>,
    pub(super) written: Option<Session>,
    /// Task that writes the last file, after all earlier ones.
    pub(super) writer: Task<(), ()>,
    pub(super) looked_at: f64,
}

impl Keeping {
    /// Returns a `Keeping` with its sessions folder beside the settings file.
    pub(super) fn beside(settings: Option<&Path>) -> Keeping {
        Keeping {
            folder: settings.and_then(|path| Some(path.parent()?.join("sessions"))),
            ..Keeping::default()
        }
    }
}

impl Keeping {
    /// Writes a file off the window's thread: syncing it to disk may take longer than a frame.
    pub(super) fn write(&mut self, write: impl FnOnce() + Send + 'static) {
        let mut before = std::mem::take(&mut self.writer);
        self.writer.start(Waker::none(), "save", move |_| {
            // An older state of the same file must not replace this one.
            before.wait();
            write();
            Ok(())
        });
    }
}
