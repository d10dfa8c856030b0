//! Follows a growing file: it is reloaded again and again, off the window's thread. The view keeps its place, and
//! follows the end of the trace while the end is visible.

use std::sync::Arc;
use std::time::Instant;

use crate::load::background::{Loading, Request};
use crate::load::growing::{Spool, Watch};
use crate::load::{LoadedTrace, file_name};

/// Files that are followed.
pub(super) struct Follow {
    pub(super) request: Request,
    pub(super) watch: Watch,
    /// The spool of standard input, if that is followed.
    pub(super) spool: Option<Arc<Spool>>,
    pub(super) loading: Option<Loading>,
    /// Total size of the files at the last reload, in bytes.
    pub(super) read_bytes: Option<u64>,
    pub(super) began: Instant,
    /// Earliest time of the next reload.
    pub(super) next: Instant,
    /// A reloaded trace whose plots are still being computed.
    pub(super) arrived: Option<Arc<LoadedTrace>>,
    /// Why the last reload failed.
    pub(super) problem: Option<String>,
    /// Whether no more data will come.
    pub(super) is_last: bool,
}

impl Follow {
    /// Returns whether there is something to reload or to show.
    pub(super) fn is_busy(&self) -> bool {
        self.loading.is_some() || self.arrived.is_some() || self.has_more(self.watch.bytes())
    }

    /// Returns whether the total size differs from that of the last reload.
    pub(super) fn has_more(&self, bytes: u64) -> bool {
        bytes > 0 && self.read_bytes != Some(bytes)
    }

    /// Returns whether the files may have been appended to since the last reload. A smaller file was rewritten.
    pub(super) fn has_grown(&self, bytes: u64) -> bool {
        self.read_bytes.is_none_or(|read| read <= bytes)
    }

    pub(super) fn name(&self) -> String {
        self.request
            .paths
            .first()
            .map_or_else(String::new, |path| file_name(path))
    }
}
