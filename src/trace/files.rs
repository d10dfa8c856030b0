//! What was done to files, and by whom.

use super::entities::ThreadId;
use super::events::EventId;
use crate::base::{StringId, Timestamp};
use crate::event::FileOp;
pub use crate::event::keys::OpenPaths;

/// One thing done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// When.
    pub time: Timestamp,
    /// By whom.
    pub thread: ThreadId,
    /// What.
    pub op: FileOp,
    /// The path; empty where only a descriptor is known.
    pub path: StringId,
    /// The path as the program said it, or the other path of a rename or link.
    pub other_path: StringId,
    /// Open flags.
    pub flags: u32,
    /// The descriptor, -1 if none.
    pub fd: i32,
    /// What the call returned.
    pub result: i32,
    /// The event.
    pub event: EventId,
}

/// All uses, sorted by time.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The rows.
    pub rows: Vec<FileUse>,
    /// What the paths of opens are.
    pub opens: OpenPaths,
}
