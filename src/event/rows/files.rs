//! Operations on files.

use crate::base::StringId;
use serde::{Deserialize, Serialize};

/// An operation on a file by the event's thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// The event.
    pub event: u32,
    /// The operation.
    pub op: FileOp,
    /// The path; empty if only a descriptor is known.
    pub path: StringId,
    /// The path as the program passed it, or the other path of a rename or link; otherwise empty.
    pub other_path: StringId,
    /// Open flags with the kernel's numbers; 0 if none.
    pub flags: u32,
    /// File mode (the low 12 bits are meaningful); 0 if none.
    pub mode: u16,
    /// The descriptor; -1 if none.
    pub fd: i32,
    /// What the call returned: 0 or more, or a negative error number.
    pub result: i32,
}

/// Operations on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FileOp {
    /// Opened.
    Open,
    /// A descriptor was closed.
    Close,
    /// A descriptor was copied (`fd` to `result`).
    Dup,
    /// The descriptors from `fd` to `result` were closed.
    CloseRange,
    /// From now on an exec closes the descriptors from `fd` to `result` if `flags` contains `O_CLOEXEC`, else not.
    SetOnExec,
    /// Data was written through a descriptor. Some formats say so once for a descriptor of a thread, others never.
    Write,
    /// A pipe was made (`fd` reads, `result` writes).
    Pipe,
    /// Renamed from `path` to `other_path`.
    Rename,
    /// Linked, `path` is now also `other_path`.
    Link,
    /// A symbolic link `other_path` to `path` was made.
    Symlink,
    /// The name `path` was removed.
    Unlink,
    /// Mounted (`path` at `other_path`).
    Mount,
    /// Unmounted.
    Unmount,
}

/// Whether an exec closes a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExec {
    /// The descriptor stays open.
    Stays,
    /// The descriptor is closed.
    Closes,
}

impl OnExec {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;

    /// Returns the effect of an exec on a descriptor that was opened or copied with these flags.
    pub(crate) fn of_flags(flags: u32) -> OnExec {
        match flags & OnExec::CLOSE_ON_EXEC {
            0 => OnExec::Stays,
            _ => OnExec::Closes,
        }
    }
}
