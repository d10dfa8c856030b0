//! Operations on files, and the threads that performed them.

use super::entities::ThreadId;
use super::segments::EventId;
use crate::base::{StringId, Timestamp};
use crate::event::FileOp;
pub(crate) use crate::event::keys::OpenPaths;
use serde::{Deserialize, Serialize};

/// One operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    /// Time on the trace's clock.
    pub time: Timestamp,
    /// The thread that performed it, if it is known.
    pub thread: Option<ThreadId>,
    /// The operation.
    pub op: FileOp,
    /// The path; empty where only a descriptor is known.
    pub path: StringId,
    /// The path as the program passed it, or the other path of a rename or link.
    pub other_path: StringId,
    /// Open flags with the kernel's numbers.
    pub flags: u32,
    /// The descriptor, -1 if none.
    pub fd: i32,
    /// The call's result: 0 or more, or a negative error number.
    pub result: i32,
    /// The event.
    pub event: EventId,
}

/// All operations on files, sorted by time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Files {
    /// The operations, but [`FileOp::Write`].
    pub rows: Vec<FileUse>,
    /// Each [`FileOp::Write`].
    pub writes: Vec<FileUse>,
    /// Whether the paths of opens are resolved.
    pub opens: OpenPaths,
}

/// The access that an open requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Reading.
    pub reads: bool,
    /// Reading of the earlier contents: the file is not truncated first.
    pub takes: bool,
    /// Writing.
    pub writes: bool,
}

/// In open flags: the bits of the access mode.
const ACCESS_MODE: u32 = 3;
/// In open flags: the file is truncated.
pub(crate) const TRUNCATE: u32 = 0o1000;
/// In open flags: the file is located but not opened (`O_PATH`).
pub(crate) const PATH_ONLY: u32 = 0o10_000_000;

impl Access {
    /// Returns the access that open flags (with the kernel's numbers) request.
    #[must_use]
    pub(crate) fn of_flags(flags: u32) -> Access {
        let mode = flags & ACCESS_MODE;
        if flags & PATH_ONLY != 0 {
            return Access {
                reads: false,
                takes: false,
                writes: false,
            };
        }
        Access {
            reads: mode == 0 || mode == 2,
            takes: mode == 0 || (mode == 2 && flags & TRUNCATE == 0),
            writes: mode == 1 || mode == 2,
        }
    }

    /// Returns the access in one or two words.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        match (self.reads, self.writes) {
            (true, true) => "read, write",
            (true, false) => "read",
            (false, true) => "write",
            (false, false) => "look up",
        }
    }
}

impl FileUse {
    /// Returns the operation in one or two words.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.op {
            FileOp::Open => Access::of_flags(self.flags).word(),
            FileOp::Close => "close",
            FileOp::Dup => "copy descriptor",
            FileOp::CloseRange => "close several",
            FileOp::SetOnExec => "set close-on-exec",
            FileOp::Write => "write data",
            FileOp::Pipe => "make pipe",
            FileOp::Rename => "rename",
            FileOp::Link => "link",
            FileOp::Symlink => "symbolic link",
            FileOp::Unlink => "delete",
            FileOp::Mount => "mount",
            FileOp::Unmount => "unmount",
        }
    }
}
