//! Reports when an open file is truncated or overwritten: what the window reads from it then may be wrong.

use std::sync::Arc;

use crate::load::OpenedFile;
use crate::load::opened::Lookout;

/// The watcher of the open files.
pub(super) struct FileLookout {
    pub(super) files: Vec<Arc<OpenedFile>>,
    /// `None`: no thread could be started.
    pub(super) lookout: Option<Lookout>,
}
