//! Files as things that last: what was opened under which names, who wrote it, and who read it afterwards.
//!
//! ```text
//! cc1   open W /tmp/x.s ---- close
//! as            open R /tmp/x.s        dependency cc1 -> as: from the close (or exit) to the open
//! mv                      rename a.tmp -> a.o     the file goes on under another name; mv counts as a writer
//! ```
//!
//! A path means the file that was last created, renamed or linked there. A file's writers are those since it was
//! last emptied. Devices, `/proc`, `/sys` and directories are files, but nothing depends on them. Deleting is not
//! recorded by any format here, so a path that is written again is the same file unless it was opened with `O_EXCL`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Trace;
use super::entities::{Process, ProcessId, Thread};
use super::events::{EventId, Events};
use super::files::FileUse;
use crate::base::{StringId, Strings, Timestamp};
use crate::event::FileOp;

/// Row number of a file in [`FileHistory::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// No file: the row failed, or is about a descriptor alone.
    pub const NONE: FileId = FileId(u32::MAX);
}

/// One file under all its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its names in the order in which they were met; the last is the present one.
    pub names: Vec<StringId>,
    /// Whether others can depend on what is in it (it is no device and no directory).
    pub has_content: bool,
}

/// Somebody read a file that somebody else had written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDependency {
    /// The file.
    pub file: FileId,
    /// Who wrote (or renamed, or linked) it.
    pub writer: ProcessId,
    /// Who read (or renamed, or linked) it afterwards.
    pub reader: ProcessId,
    /// The row of the writer's open or rename.
    pub write: u32,
    /// The row of the reader's open or rename.
    pub read: u32,
    /// When the writer was done: its close or exit; its open, if the reader came before that.
    pub from: (Timestamp, EventId),
    /// When the reader opened it.
    pub to: (Timestamp, EventId),
}

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub struct FileHistory {
    /// The files, in the order in which they were met.
    pub files: Vec<File>,
    /// The file of each row of [`Trace::files`].
    pub of_row: Vec<FileId>,
    /// The event that ended what each row opened for writing (a close or an exit), `u32::MAX` if none is known.
    pub ended_by: FxHashMap<u32, EventId>,
    /// Who depends on whom, by the time of the read.
    pub dependencies: Vec<FileDependency>,
}

/// What an open asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// To read what is there.
    pub reads: bool,
    /// To change it.
    pub writes: bool,
}

const ACCESS_MODE: u32 = 3;
const CREATE: u32 = 0o100;
const EXCLUSIVE: u32 = 0o200;
const TRUNCATE: u32 = 0o1000;
const DIRECTORY: u32 = 0o200_000;
const PATH_ONLY: u32 = 0o10_000_000;
const RENAME_EXCHANGE: u32 = 2;
/// How many writers of one file are remembered: the latest.
const MOST_WRITERS: usize = 16;
/// How many dependencies are remembered.
const MOST_DEPENDENCIES: usize = 1 << 22;
/// How many renamed folders are followed into their files.
const MOST_FOLDERS: usize = 64;

impl Access {
    /// What open flags (as the kernel counts them) ask for.
    #[must_use]
    pub fn of_flags(flags: u32) -> Access {
        let mode = flags & ACCESS_MODE;
        if flags & PATH_ONLY != 0 {
            return Access {
                reads: false,
                writes: false,
            };
        }
        Access {
            reads: mode == 0 || (mode == 2 && flags & TRUNCATE == 0),
            writes: mode == 1 || mode == 2,
        }
    }

    /// In a word or two.
    #[must_use]
    pub fn word(self) -> &'static str {
        match (self.reads, self.writes) {
            (true, true) => "read, write",
            (true, false) => "read",
            (false, true) => "write",
            (false, false) => "look up",
        }
    }
}

/// What a row does to its file, in a word or two.
#[must_use]
pub fn word_of(row: &FileUse) -> &'static str {
    match row.op {
        FileOp::Open => Access::of_flags(row.flags).word(),
        FileOp::Close => "close",
        FileOp::Dup => "copy descriptor",
        FileOp::Pipe => "make pipe",
        FileOp::Rename => "rename",
        FileOp::Link => "link",
        FileOp::Symlink => "symbolic link",
        FileOp::Mount => "mount",
        FileOp::Unmount => "unmount",
    }
}

#[derive(Clone, Copy)]
struct Writer {
    row: u32,
    process: ProcessId,
}

/// What the history is made from.
#[derive(Clone, Copy)]
pub struct FileSource<'a> {
    /// The paths.
    pub strings: &'a Strings,
    /// All events.
    pub events: &'a Events,
    /// What was done to files, by time.
    pub rows: &'a [FileUse],
    /// By whom.
    pub threads: &'a [Thread],
    /// Their processes.
    pub processes: &'a [Process],
}

struct Walk<'a> {
    trace: FileSource<'a>,
    /// The file at each path, by string.
    at_path: Vec<u32>,
    writers: Vec<Vec<Writer>>,
    /// The row that a descriptor of a process was opened for writing by.
    open: FxHashMap<(u32, i32), u32>,
    /// How many copies of its descriptor are open, for rows that have some.
    copies: FxHashMap<u32, u32>,
    told: FxHashSet<(u32, u32, u32)>,
    folders: usize,
    out: FileHistory,
}

impl FileHistory {
    /// Follows all that was done to files in `trace`.
    #[must_use]
    pub fn new(trace: &Trace) -> FileHistory {
        FileHistory::of(FileSource {
            strings: &trace.strings,
            events: &trace.events,
            rows: &trace.files.rows,
            threads: &trace.threads,
            processes: &trace.processes,
        })
    }

    /// The same, while the trace is made.
    #[must_use]
    pub fn of(trace: FileSource<'_>) -> FileHistory {
        let mut walk = Walk {
            trace,
            at_path: vec![u32::MAX; trace.strings.len()],
            writers: Vec::new(),
            open: FxHashMap::default(),
            copies: FxHashMap::default(),
            told: FxHashSet::default(),
            folders: 0,
            out: FileHistory::default(),
        };
        walk.out.of_row.reserve(trace.rows.len());
        for (index, row) in trace.rows.iter().enumerate() {
            let file = walk.row(index as u32, row);
            walk.out.of_row.push(file);
        }
        walk.out
    }

    /// The present (last) name of a file.
    #[must_use]
    pub fn name(&self, file: FileId) -> StringId {
        self.files
            .get(file.0 as usize)
            .and_then(|file| file.names.last())
            .copied()
            .unwrap_or_default()
    }
}

impl Walk<'_> {
    fn row(&mut self, index: u32, row: &FileUse) -> FileId {
        let thread = self.trace.threads.get(row.thread.0 as usize);
        let process = thread.and_then(|thread| thread.process);
        if row.op == FileOp::Close || (row.op == FileOp::Dup && row.result != row.fd) {
            // A copy takes the place of what its new number meant before.
            let fd = if row.op == FileOp::Close {
                row.fd
            } else {
                row.result
            };
            if let Some(process) = process {
                self.release(process, fd, row.event);
                if row.op == FileOp::Dup && row.result >= 0 {
                    self.copy(process, row.fd, row.result);
                }
            }
            return FileId::NONE;
        }
        if row.result < 0 || row.path == StringId::EMPTY {
            return FileId::NONE;
        }
        match row.op {
            FileOp::Open => self.opened(index, row, process),
            FileOp::Rename | FileOp::Link | FileOp::Symlink => self.named(index, row, process),
            _ => FileId::NONE,
        }
    }

    /// A descriptor is closed; if it was the last one of what a row opened for writing, that is over.
    fn release(&mut self, process: ProcessId, fd: i32, event: EventId) {
        let Some(open) = self.open.remove(&(process.0, fd)) else {
            return;
        };
        match self.copies.get_mut(&open).filter(|copies| **copies > 0) {
            Some(copies) => *copies -= 1,
            None => {
                self.out.ended_by.insert(open, event);
            }
        }
    }

    fn copy(&mut self, process: ProcessId, from: i32, to: i32) {
        if let Some(&open) = self.open.get(&(process.0, from)) {
            self.open.insert((process.0, to), open);
            *self.copies.entry(open).or_default() += 1;
        }
    }

    fn opened(&mut self, index: u32, row: &FileUse, process: Option<ProcessId>) -> FileId {
        let access = Access::of_flags(row.flags);
        let is_new = row.flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE;
        let file = if is_new {
            self.create(row.path)
        } else {
            self.at(row.path)
        };
        if row.flags & DIRECTORY != 0 {
            self.out.files[file.0 as usize].has_content = false;
        }
        let Some(process) = process.filter(|_| self.out.files[file.0 as usize].has_content) else {
            return file;
        };
        if access.reads {
            self.depend(file, index, row, process);
        }
        if access.writes {
            self.open.insert((process.0, row.fd), index);
            if row.flags & TRUNCATE != 0 {
                self.writers[file.0 as usize].clear();
            }
            self.add_writer(file, index, process);
        }
        file
    }

    /// A rename, a link or a symbolic link: `path` is now (also) `other_path`.
    fn named(&mut self, index: u32, row: &FileUse, process: Option<ProcessId>) -> FileId {
        if row.op == FileOp::Rename
            && self.slot(row.path) == u32::MAX
            && self.folders < MOST_FOLDERS
        {
            self.folders += 1;
            self.rename_folder(row.path, row.other_path);
        }
        let file = self.at(row.path);
        if row.op == FileOp::Rename && row.flags & RENAME_EXCHANGE != 0 {
            let other = self.at(row.other_path);
            self.set(row.path, other);
            self.out.files[other.0 as usize].names.push(row.path);
        } else if row.op == FileOp::Rename {
            self.forget(row.path);
        }
        self.set(row.other_path, file);
        self.out.files[file.0 as usize].names.push(row.other_path);
        if let Some(process) = process.filter(|_| self.out.files[file.0 as usize].has_content) {
            self.depend(file, index, row, process);
            self.add_writer(file, index, process);
        }
        file
    }

    /// Files below a renamed folder go with it.
    fn rename_folder(&mut self, from: StringId, to: StringId) {
        let strings = self.trace.strings;
        let (from, to) = (strings.bytes(from), strings.bytes(to));
        for index in 0..self.out.files.len() {
            let Some(&name) = self.out.files[index].names.last() else {
                continue;
            };
            let Some(rest) = strings.bytes(name).strip_prefix(from) else {
                continue;
            };
            if !rest.starts_with(b"/") || self.slot(name) != index as u32 {
                continue;
            }
            self.forget(name);
            // A name that nobody ever says again need not be known.
            if let Some(new) = strings.find(&[to, rest].concat()) {
                self.set(new, FileId(index as u32));
                self.out.files[index].names.push(new);
            }
        }
    }

    fn depend(&mut self, file: FileId, index: u32, row: &FileUse, reader: ProcessId) {
        for at in 0..self.writers[file.0 as usize].len() {
            let writer = self.writers[file.0 as usize][at];
            if writer.process == reader
                || self.out.dependencies.len() >= MOST_DEPENDENCIES
                || !self.told.insert((file.0, writer.process.0, reader.0))
            {
                continue;
            }
            let from = self.end_of(writer, row.time);
            self.out.dependencies.push(FileDependency {
                file,
                writer: writer.process,
                reader,
                write: writer.row,
                read: index,
                from,
                to: (row.time, row.event),
            });
        }
    }

    /// When and by which event a writer was done, if that was before `now`; else when it began.
    fn end_of(&self, writer: Writer, now: Timestamp) -> (Timestamp, EventId) {
        let row = &self.trace.rows[writer.row as usize];
        match self.out.ended_by.get(&writer.row) {
            Some(&event) => (self.trace.events.time(event), event),
            None => match self.exit_of(writer.process) {
                Some((time, event)) if time <= now && row.op == FileOp::Open => (time, event),
                _ => (row.time, row.event),
            },
        }
    }

    /// The exit of a process, by its last event.
    fn exit_of(&self, process: ProcessId) -> Option<(Timestamp, EventId)> {
        let process = self.trace.processes.get(process.0 as usize)?;
        Some((process.end?, process.exit_event?))
    }

    fn add_writer(&mut self, file: FileId, row: u32, process: ProcessId) {
        let writers = &mut self.writers[file.0 as usize];
        writers.retain(|writer| writer.process != process);
        if writers.len() == MOST_WRITERS {
            writers.remove(0);
        }
        writers.push(Writer { row, process });
    }

    fn slot(&self, path: StringId) -> u32 {
        self.at_path
            .get(path.0 as usize)
            .copied()
            .unwrap_or(u32::MAX)
    }

    fn set(&mut self, path: StringId, file: FileId) {
        if let Some(slot) = self.at_path.get_mut(path.0 as usize) {
            *slot = file.0;
        }
    }

    fn forget(&mut self, path: StringId) {
        self.set(path, FileId::NONE);
    }

    fn at(&mut self, path: StringId) -> FileId {
        match self.slot(path) {
            u32::MAX => self.create(path),
            file => FileId(file),
        }
    }

    fn create(&mut self, path: StringId) -> FileId {
        let id = FileId(self.out.files.len() as u32);
        let bytes = self.trace.strings.bytes(path);
        let is_special = [&b"/dev/"[..], b"/proc/", b"/sys/"]
            .iter()
            .any(|folder| bytes.starts_with(folder));
        // `pipe:[1113]`, `socket:[7]`, `anon_inode:...` are no paths.
        let is_path = !bytes.ends_with(b"]") || bytes.contains(&b'/');
        self.out.files.push(File {
            names: vec![path],
            has_content: !is_special && is_path && bytes != b"/dev",
        });
        self.writers.push(Vec::new());
        self.set(path, id);
        id
    }
}
