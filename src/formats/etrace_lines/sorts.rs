//! The known calls, with the numbers and texts of each.

use crate::event::Role;

use super::values::{Key, Usual};

/// Types of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Sort {
    /// A program was loaded.
    NewProc,
    /// A clone call begins.
    SysClone,
    /// The clone call failed.
    SysCloneFailed,
    /// A new task exists.
    SchedFork,
    /// The task ends.
    Exit,
    /// A file was opened.
    Open,
    /// A descriptor was closed.
    Close,
    /// A pipe was created.
    Pipe,
    /// A descriptor was duplicated.
    Dup,
    /// A rename begins.
    RenameFrom,
    /// A renameat2 begins.
    Rename2From,
    /// The rename succeeded.
    RenameTo,
    /// The rename failed.
    RenameFailed,
    /// A link begins.
    LinkFrom,
    /// A linkat begins.
    LinkatFrom,
    /// The link was created.
    LinkTo,
    /// The link failed.
    LinkFailed,
    /// A symbolic link was created.
    Symlink,
    /// A mount begins.
    Mount,
    /// The mount failed.
    MountFailed,
    /// An unmount begins.
    Umount,
    /// The unmount failed.
    UmountFailed,
    /// The task changed its name.
    Comm,
    /// One of the tasks to which the following environment belongs.
    Upid,
    /// A variable of that environment.
    Env,
    /// A text whose call is missing; the slot gives the text's kind.
    Lone,
    /// A call with an unknown tag.
    Unknown,
}

/// Kinds of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Slot {
    /// `PI`: the file that was loaded; for a script its interpreter.
    Interpreter,
    /// `PP`: the program as requested.
    Program,
    /// `CW`: the working directory.
    Directory,
    /// `A`: an argument.
    Argument,
    /// `FN`: the path that was opened.
    Path,
    /// `FO`: the path as the program wrote it.
    Original,
    /// `RF`: renamed from.
    RenameFrom,
    /// `RT`: renamed to.
    RenameTo,
    /// `LF`: linked from.
    LinkFrom,
    /// `LT`: linked to.
    LinkTo,
    /// `ST`: the contents of a symbolic link.
    LinkText,
    /// `SR`: the path that the symbolic link resolves to.
    LinkTarget,
    /// `SL`: the path of the symbolic link.
    LinkName,
    /// `MS`: the source of a mount.
    MountSource,
    /// `MT`: the mount point.
    MountTarget,
    /// `MX`: the file system type.
    MountType,
    /// `CN`: the task's name.
    Name,
    /// `Env`: an environment variable.
    Variable,
    /// The text of an unknown tag.
    Other,
}

/// A text of a call.
#[derive(Debug)]
pub(crate) struct SizedText {
    pub slot: Slot,
    /// The key of the number that announces the text's size.
    pub size: Key,
}

const fn sized(slot: Slot, size: Key) -> SizedText {
    SizedText { slot, size }
}

struct SortRow {
    sort: Sort,
    name: &'static str,
    category: &'static str,
    role: Role,
    /// The call's texts, each with the key of its announced size.
    texts: &'static [SizedText],
}

const fn row(
    sort: Sort,
    name: &'static str,
    category: &'static str,
    role: Role,
    texts: &'static [SizedText],
) -> SortRow {
    SortRow {
        sort,
        name,
        category,
        role,
        texts,
    }
}

const SORTS: &[SortRow] = &[
    row(
        Sort::NewProc,
        "New_proc",
        "process",
        Role::Consumed,
        &[
            sized(Slot::Interpreter, Key::InterpreterSize),
            sized(Slot::Program, Key::ProgramSize),
            sized(Slot::Directory, Key::DirectorySize),
            sized(Slot::Argument, Key::ArgumentsSize),
        ],
    ),
    row(Sort::SysClone, "SysClone", "process", Role::Instant, &[]),
    row(
        Sort::SysCloneFailed,
        "SysCloneFailed",
        "process",
        Role::Instant,
        &[],
    ),
    row(Sort::SchedFork, "SchedFork", "process", Role::Instant, &[]),
    row(Sort::Exit, "Exit", "process", Role::Consumed, &[]),
    row(
        Sort::Open,
        "Open",
        "file",
        Role::Consumed,
        &[
            sized(Slot::Path, Key::PathSize),
            sized(Slot::Original, Key::OriginalSize),
        ],
    ),
    row(Sort::Close, "Close", "file", Role::Consumed, &[]),
    row(Sort::Pipe, "Pipe", "file", Role::Instant, &[]),
    row(Sort::Dup, "Dup", "file", Role::Instant, &[]),
    row(
        Sort::RenameFrom,
        "RenameFrom",
        "file",
        Role::Instant,
        &[sized(Slot::RenameFrom, Key::PathSize)],
    ),
    row(
        Sort::Rename2From,
        "Rename2From",
        "file",
        Role::Instant,
        &[sized(Slot::RenameFrom, Key::PathSize)],
    ),
    row(
        Sort::RenameTo,
        "RenameTo",
        "file",
        Role::Instant,
        &[sized(Slot::RenameTo, Key::PathSize)],
    ),
    row(
        Sort::RenameFailed,
        "RenameFailed",
        "file",
        Role::Instant,
        &[],
    ),
    row(
        Sort::LinkFrom,
        "LinkFrom",
        "file",
        Role::Instant,
        &[sized(Slot::LinkFrom, Key::PathSize)],
    ),
    row(
        Sort::LinkatFrom,
        "LinkatFrom",
        "file",
        Role::Instant,
        &[sized(Slot::LinkFrom, Key::PathSize)],
    ),
    row(
        Sort::LinkTo,
        "LinkTo",
        "file",
        Role::Instant,
        &[sized(Slot::LinkTo, Key::PathSize)],
    ),
    row(Sort::LinkFailed, "LinkFailed", "file", Role::Instant, &[]),
    row(
        Sort::Symlink,
        "Symlink",
        "file",
        Role::Instant,
        &[
            sized(Slot::LinkText, Key::TargetSize),
            sized(Slot::LinkTarget, Key::ResolvedSize),
            sized(Slot::LinkName, Key::LinkSize),
        ],
    ),
    row(
        Sort::Mount,
        "Mount",
        "file",
        Role::Instant,
        &[
            sized(Slot::MountSource, Key::SourceSize),
            sized(Slot::MountTarget, Key::TargetSize),
            sized(Slot::MountType, Key::TypeSize),
        ],
    ),
    row(Sort::MountFailed, "MountFailed", "file", Role::Instant, &[]),
    row(
        Sort::Umount,
        "Umount",
        "file",
        Role::Instant,
        &[sized(Slot::MountTarget, Key::TargetSize)],
    ),
    row(
        Sort::UmountFailed,
        "UmountFailed",
        "file",
        Role::Instant,
        &[],
    ),
    row(
        Sort::Comm,
        "Comm",
        "process",
        Role::Instant,
        &[sized(Slot::Name, Key::Size)],
    ),
    row(Sort::Upid, "UPID", "environment", Role::Instant, &[]),
    row(
        Sort::Env,
        "Env",
        "environment",
        Role::Instant,
        &[sized(Slot::Variable, Key::Other)],
    ),
    row(Sort::Lone, "text", "etrace", Role::Instant, &[]),
    row(
        Sort::Unknown,
        "unknown",
        "etrace",
        Role::Instant,
        &[sized(Slot::Other, Key::Other)],
    ),
];

const SLOTS: &[(Slot, &str, &str)] = &[
    (Slot::Interpreter, "PI", "interpreter"),
    (Slot::Program, "PP", "program"),
    (Slot::Directory, "CW", "directory"),
    (Slot::Argument, "A", "argument"),
    (Slot::Path, "FN", "path"),
    (Slot::Original, "FO", "original"),
    (Slot::RenameFrom, "RF", "from"),
    (Slot::RenameTo, "RT", "to"),
    (Slot::LinkFrom, "LF", "from"),
    (Slot::LinkTo, "LT", "to"),
    (Slot::LinkText, "ST", "text"),
    (Slot::LinkTarget, "SR", "target"),
    (Slot::LinkName, "SL", "link"),
    (Slot::MountSource, "MS", "source"),
    (Slot::MountTarget, "MT", "target"),
    (Slot::MountType, "MX", "type"),
    (Slot::Name, "CN", "name"),
    (Slot::Variable, "Env", "variable"),
    (Slot::Other, "text", "text"),
];

impl Sort {
    /// All call types, in the order of their numbers.
    pub(crate) fn all() -> impl Iterator<Item = Sort> {
        SORTS.iter().map(|row| row.sort)
    }

    #[inline]
    fn row(self) -> &'static SortRow {
        SORTS.get(self as usize).unwrap_or(&SORTS[SORTS.len() - 1])
    }

    /// Returns the call type that `tag` starts.
    #[must_use]
    pub(crate) fn from_tag(tag: &[u8]) -> Option<Sort> {
        let known = SORTS.get(..Sort::Lone as usize)?;
        known
            .iter()
            .find(|row| row.name.as_bytes() == tag)
            .map(|row| row.sort)
    }

    /// Returns the tag of the call.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the category of the call.
    #[must_use]
    pub(crate) fn category(self) -> &'static str {
        self.row().category
    }

    /// Returns the role of the call's events.
    #[must_use]
    pub(crate) fn role(self) -> Role {
        self.row().role
    }

    /// Returns the call's texts, each with the key of the number that announces its size.
    #[inline]
    #[must_use]
    pub(crate) fn texts(self) -> &'static [SizedText] {
        self.row().texts
    }

    /// Returns the usual numbers of a frequent call.
    #[inline]
    #[must_use]
    pub(crate) fn usual_values(self) -> Usual {
        match self {
            Sort::Open => Usual::Open,
            Sort::Close => Usual::Descriptor,
            _ => Usual::Nothing,
        }
    }

    /// Returns whether numbers follow the tag.
    #[inline]
    #[must_use]
    pub(crate) fn has_values(self) -> bool {
        !matches!(self, Sort::Env | Sort::Upid | Sort::Lone | Sort::Unknown)
    }
}

impl Slot {
    /// Returns all texts, in the order of their numbers.
    pub(crate) fn all() -> impl Iterator<Item = Slot> {
        SLOTS.iter().map(|row| row.0)
    }

    /// Returns the text kind with this tag.
    #[must_use]
    pub(crate) fn from_tag(tag: &[u8]) -> Option<Slot> {
        let known = SLOTS.get(..Slot::Variable as usize)?;
        known
            .iter()
            .find(|row| row.1.as_bytes() == tag)
            .map(|row| row.0)
    }

    /// Returns the tag of the text.
    #[must_use]
    pub(crate) fn tag(self) -> &'static str {
        SLOTS.get(self as usize).map_or("", |row| row.1)
    }

    /// Returns the name of the text for users.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        SLOTS.get(self as usize).map_or("", |row| row.2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::MOST_TEXTS;
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_their_numbers() {
        for (index, row) in SORTS.iter().enumerate() {
            assert_eq!(row.sort as usize, index);
            assert!(row.texts.len() <= MOST_TEXTS);
        }
        for (index, row) in SLOTS.iter().enumerate() {
            assert_eq!(row.0 as usize, index);
        }
    }
}
