//! Creates the rows of calls, in the file or the lifetime table, and writes the calls' texts to them.

use crate::base::{Severity, StringId};
use crate::event::{FileOp, FileRow, ForkSort, Life};

use super::emit::{Calls, Emitter, Target};
use super::line::Payload;
use super::sorts::{Slot, Sort};
use super::values::{Key, Values};
use super::words;

/// Minimum number of lost lines if two halves belong to different calls: the failure of the first call, the start of
/// the second, and its text.
const LEAST_BETWEEN_HALVES: u128 = 3;

/// Facts of the preceding call.
pub(super) struct Before {
    pub(super) sort: Sort,
    pub(super) flags: i64,
    pub(super) first: StringId,
    pub(super) target: Target,
    /// Upper bound of the number of events that were lost between the first lines of both calls, if both may be halves
    /// of one call.
    pub(super) lost: u128,
}

impl Before {
    /// Returns whether the call is a first half, and `next` is not its second half.
    pub(super) fn is_half_without(&self, next: Sort) -> bool {
        match self.sort {
            Sort::RenameFrom | Sort::Rename2From => {
                !matches!(next, Sort::RenameTo | Sort::RenameFailed)
            }
            Sort::LinkFrom | Sort::LinkatFrom => !matches!(next, Sort::LinkTo | Sort::LinkFailed),
            _ => false,
        }
    }

    /// Returns whether `next` is a second half, and the call is not its first half.
    pub(super) fn lacks_half_of(&self, next: Sort) -> bool {
        match next {
            Sort::RenameTo => !matches!(self.sort, Sort::RenameFrom | Sort::Rename2From),
            Sort::LinkTo => !matches!(self.sort, Sort::LinkFrom | Sort::LinkatFrom),
            _ => false,
        }
    }
}

impl Emitter<'_> {
    /// Adds the rows of a call's first line.
    #[inline]
    pub(super) fn rows(&mut self, sort: Sort, line: &Payload<'_>, before: &Before) -> Target {
        let values = self.call.values;
        let int = |key: Key| values.get(key).unwrap_or(0);
        // A missing number is treated as an invalid descriptor.
        let small = |key: Key| {
            let value = values.get(key).map(i32::try_from);
            value.and_then(Result::ok).unwrap_or(-1)
        };
        let flags = int(Key::Flags) as u32;
        let blank = FileRow {
            event: 0,
            op: FileOp::Open,
            path: StringId::EMPTY,
            other_path: StringId::EMPTY,
            flags,
            mode: 0,
            fd: -1,
            result: 0,
        };
        match sort {
            Sort::Open => self.file_row(FileRow {
                mode: if words::has_mode(flags) {
                    int(Key::Mode) as u16
                } else {
                    0
                },
                fd: small(Key::Fd),
                result: match values.get(Key::Fd) {
                    Some(_) => small(Key::Fd),
                    // The line names the file but not the descriptor.
                    None => 0,
                },
                ..blank
            }),
            Sort::Close => self.file_row(FileRow {
                op: FileOp::Close,
                fd: small(Key::Fd),
                ..blank
            }),
            Sort::Pipe => self.file_row(FileRow {
                op: FileOp::Pipe,
                fd: small(Key::Fd1),
                result: small(Key::Fd2),
                ..blank
            }),
            Sort::Dup => self.file_row(FileRow {
                op: FileOp::Dup,
                fd: small(Key::OldFd),
                result: small(Key::NewFd),
                ..blank
            }),
            Sort::RenameTo | Sort::RenameFailed
                if matches!(before.sort, Sort::RenameFrom | Sort::Rename2From) =>
            {
                let row = FileRow {
                    op: FileOp::Rename,
                    path: before.first,
                    flags: before.flags as u32,
                    result: if sort == Sort::RenameTo { 0 } else { -1 },
                    ..blank
                };
                self.second_half(row, before)
            }
            Sort::LinkTo | Sort::LinkFailed
                if matches!(before.sort, Sort::LinkFrom | Sort::LinkatFrom) =>
            {
                let row = FileRow {
                    op: FileOp::Link,
                    path: before.first,
                    flags: before.flags as u32,
                    result: if sort == Sort::LinkTo { 0 } else { -1 },
                    ..blank
                };
                self.second_half(row, before)
            }
            Sort::Symlink => self.file_row(FileRow {
                op: FileOp::Symlink,
                ..blank
            }),
            Sort::Mount => self.file_row(FileRow {
                op: FileOp::Mount,
                ..blank
            }),
            Sort::Umount => self.file_row(FileRow {
                op: FileOp::Unmount,
                ..blank
            }),
            Sort::MountFailed if before.sort == Sort::Mount => {
                self.fail(before.target);
                Target::Nothing
            }
            Sort::UmountFailed if before.sort == Sort::Umount => {
                self.fail(before.target);
                Target::Nothing
            }
            Sort::RenameFrom | Sort::Rename2From | Sort::LinkFrom | Sort::LinkatFrom => {
                Target::First
            }
            _ => self.life(sort, line, before, &values),
        }
    }

    /// Adds the row of a rename or link. A task writes no other line between the lines of both halves, so they form one
    /// call unless events were lost between them: then no row is added.
    fn second_half(&mut self, row: FileRow, before: &Before) -> Target {
        if before.lost < LEAST_BETWEEN_HALVES {
            return self.file_row(row);
        }
        self.doubt(
            "rename_over_lost",
            Severity::Error,
            "events were lost between the line with the old path and this one with the new path: they may \
             not belong together, so this is not counted as use of a file",
        );
        Target::Nothing
    }

    /// Returns how the child of a fork was created. A clone call before lost events may not be the call that created
    /// it.
    fn fork_sort(&mut self, before: &Before) -> ForkSort {
        if before.sort != Sort::SysClone {
            return ForkSort::Unknown;
        }
        if before.lost > 0 {
            self.doubt(
                "clone_before_lost",
                Severity::Info,
                "events were lost between a clone call and the fork after it: they may not belong together, \
                 so how the child was created is not known",
            );
            return ForkSort::Unknown;
        }
        ForkSort::of_clone(before.flags.cast_unsigned())
    }

    fn life(&mut self, sort: Sort, line: &Payload<'_>, before: &Before, values: &Values) -> Target {
        let Some(key) = self.key else {
            return Target::Nothing;
        };
        let life = match sort {
            Sort::NewProc => Life::exec(key, StringId::EMPTY, None),
            Sort::SchedFork => {
                let Some(child) = values
                    .get(Key::Pid)
                    .filter(|&child| child > 0 && child != line.upid)
                else {
                    return Target::Nothing;
                };
                Life::Fork {
                    parent: Some(key),
                    child: self.file.upids.key(child),
                    sort: self.fork_sort(before),
                    name: StringId::EMPTY,
                }
            }
            Sort::Exit => Life::Exit {
                thread: key,
                status: values
                    .get(Key::Status)
                    .and_then(|status| i32::try_from(status).ok()),
                signal: None,
                is_last: None,
            },
            Sort::Comm => Life::Name {
                thread: key,
                name: StringId::EMPTY,
            },
            _ => return Target::Nothing,
        };
        self.out.lives.push(life);
        Target::Life(self.out.lives.len() as u32 - 1)
    }

    #[inline]
    fn file_row(&mut self, row: FileRow) -> Target {
        self.out.files.push(row);
        Target::File(self.out.files.len() as u32 - 1)
    }

    /// Marks a row's operation as failed.
    fn fail(&mut self, target: Target) {
        if let Target::File(row) = target
            && let Some(row) = self.out.files.get_mut(row as usize)
        {
            row.result = -1;
        }
    }
}

/// Writes a complete text to its destination.
#[inline]
pub(super) fn deliver(
    out: &mut Calls,
    target: Target,
    first: &mut StringId,
    slot: Slot,
    bytes: &[u8],
) {
    match target {
        Target::Nothing => {}
        Target::First => *first = out.strings.intern(bytes),
        Target::File(row) => {
            let Some(row) = out.files.get_mut(row as usize) else {
                return;
            };
            if slot == Slot::Original && out.strings.bytes(row.path) == bytes {
                return;
            }
            let text = out.strings.intern(bytes);
            match slot {
                Slot::Path | Slot::LinkText | Slot::LinkTarget | Slot::MountSource => {
                    row.path = text;
                }
                Slot::MountTarget if row.op == FileOp::Unmount => row.path = text,
                Slot::Original
                | Slot::RenameTo
                | Slot::LinkTo
                | Slot::LinkName
                | Slot::MountTarget => row.other_path = text,
                _ => {}
            }
        }
        Target::Life(row) => {
            let text = out.strings.intern(bytes);
            match out.lives.get_mut(row as usize) {
                Some(Life::Exec {
                    program,
                    arguments,
                    directory,
                    interpreter,
                    ..
                }) => match slot {
                    Slot::Program => *program = text,
                    Slot::Directory => *directory = text,
                    Slot::Interpreter => *interpreter = text,
                    Slot::Argument => arguments.push(text),
                    _ => {}
                },
                Some(Life::Name { name, .. }) if slot == Slot::Name => *name = text,
                _ => {}
            }
        }
    }
}
