//! Creates the rows of calls, in the file or the lifetime table, and writes the calls' texts to them.

use crate::base::StringId;
use crate::event::{FileOp, FileRow, ForkSort, LaneColumns, Life, LifeRow, ThreadKey};

use super::emit::{Emitter, Target};
use super::line::Payload;
use super::sorts::{Slot, Sort};
use super::values::{Key, Values};
use super::words;

/// Facts of the preceding call.
pub(super) struct Before {
    pub(super) sort: Sort,
    pub(super) flags: i64,
    pub(super) first: StringId,
    pub(super) target: Target,
}

impl<'a> Emitter<'a> {
    /// Adds the rows of a call's first line.
    #[inline]
    pub(super) fn rows(
        &mut self,
        sort: Sort,
        slot: u32,
        key: ThreadKey,
        event: u32,
        line: &Payload<'a>,
        before: &Before,
    ) -> Target {
        let values = match self.tasks.get(slot as usize) {
            Some(task) => task.call.values,
            None => return Target::Nothing,
        };
        let int = |key: Key| values.get(key).unwrap_or(0);
        // A missing number is an invalid descriptor.
        let small = |key: Key| {
            let value = values.get(key).map(i32::try_from);
            value.and_then(Result::ok).unwrap_or(-1)
        };
        let flags = int(Key::Flags) as u32;
        let blank = FileRow {
            event,
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
                self.file_row(FileRow {
                    op: FileOp::Rename,
                    path: before.first,
                    flags: before.flags as u32,
                    result: if sort == Sort::RenameTo { 0 } else { -1 },
                    ..blank
                })
            }
            Sort::LinkTo | Sort::LinkFailed
                if matches!(before.sort, Sort::LinkFrom | Sort::LinkatFrom) =>
            {
                self.file_row(FileRow {
                    op: FileOp::Link,
                    path: before.first,
                    flags: before.flags as u32,
                    result: if sort == Sort::LinkTo { 0 } else { -1 },
                    ..blank
                })
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
            _ => self.life(sort, key, event, line, before, &values),
        }
    }

    fn life(
        &mut self,
        sort: Sort,
        key: ThreadKey,
        event: u32,
        line: &Payload<'a>,
        before: &Before,
        values: &Values,
    ) -> Target {
        let life = match sort {
            Sort::NewProc => Life::Exec {
                thread: key,
                program: StringId::EMPTY,
                arguments: Vec::new(),
                directory: StringId::EMPTY,
                interpreter: StringId::EMPTY,
            },
            Sort::SchedFork => {
                let Some(child) = values
                    .get(Key::Pid)
                    .filter(|&child| child > 0 && child != line.upid)
                else {
                    return Target::Nothing;
                };
                Life::Fork {
                    parent: key,
                    child: self.file.upids.key(child),
                    sort: match before.sort {
                        Sort::SysClone if words::is_thread(before.flags) => ForkSort::Thread,
                        Sort::SysClone => ForkSort::Process,
                        _ => ForkSort::Unknown,
                    },
                    name: StringId::EMPTY,
                }
            }
            Sort::Exit => Life::Exit {
                thread: key,
                status: values
                    .get(Key::Status)
                    .and_then(|status| i32::try_from(status).ok()),
                signal: None,
            },
            Sort::Comm => Life::Name {
                thread: key,
                name: StringId::EMPTY,
            },
            _ => return Target::Nothing,
        };
        self.out.lives.push(LifeRow { event, life });
        Target::Life(self.out.lives.len() as u32 - 1)
    }

    #[inline]
    fn file_row(&mut self, row: FileRow) -> Target {
        self.out.files.push(row);
        Target::File(self.out.files.len() as u32 - 1)
    }

    /// Marks a row's operation as failed.
    pub(super) fn fail(&mut self, target: Target) {
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
    out: &mut LaneColumns,
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
            match out.lives.get_mut(row as usize).map(|row| &mut row.life) {
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
