//! Files as things that last: what was opened under which names, who wrote it, and who read it afterwards.
//!
//! ```text
//! cc1   open W /tmp/x.s ---- close
//! as            open R /tmp/x.s        dependency cc1 -> as: from the close (or exit) to the open
//! mv                      rename a.tmp -> a.o     the file goes on under another name; mv counts as a writer
//! ln                      link a.o -> b.o         who reads it as b.o depends on ln, too
//! ```
//!
//! A path means the file that was last created, renamed or linked there (`file_names`). A file's writers are those since
//! it was last emptied; children that inherited it as their output are among them, as those that were given it as
//! their input are among its readers (`file_holders`). Devices, `/proc`,
//! `/sys` and directories are files, but nothing depends on them. What takes another's name, and which name a file is
//! called by, is in `renames`. Build tracers do not tell what is deleted, so a path that is written again is the same
//! file unless it was opened with `O_EXCL`, or was a symbolic link that opens do not go through any more.

use rustc_hash::{FxHashMap, FxHashSet};

mod renames;
mod writers;

use super::Trace;
use super::entities::{Process, ProcessId, Thread};
use super::events::{EventId, Events};
use super::file_holders::{Cause, Done, Holders, runs_program};
pub use super::file_holders::{Heir, Inherited};
use super::file_names::{FileNames, NOTHING};
use super::files::{FileUse, OpenPaths};
use crate::base::{StringId, Strings, Timestamp};
use crate::event::FileOp;
use renames::{Link, ShortNames};
use writers::Writers;

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
    /// Its names in the order in which they were met; the last is the present one, or the last that it had; links
    /// and names that others have now stand before it.
    pub names: Vec<StringId>,
    /// Whether it has no name any more: each is another file's now, or was deleted.
    pub is_gone: bool,
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
    /// The other file of each row that exchanges two.
    pub exchanged: FxHashMap<u32, FileId>,
    /// The event that ended what each row opened for writing (a close or an exit), `u32::MAX` if none is known.
    pub ended_by: FxHashMap<u32, EventId>,
    /// Who depends on whom, by the time of the read.
    pub dependencies: Vec<FileDependency>,
    /// Children that read what their parents had opened, or wrote to it; the latter by the time at which they let go of it.
    pub heirs: Vec<Heir>,
    /// What was not followed to its end.
    pub cuts: Cuts,
}

/// What a history leaves out, because there is too much of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Writers that were forgotten because a file had many more after them.
    pub writers: u64,
    /// Whether there are more dependencies.
    pub dependencies: bool,
    /// Whether folders moved more files.
    pub moved: bool,
    /// Whether children inherited more descriptors.
    pub inherited: bool,
}

/// What an open asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// To read.
    pub reads: bool,
    /// To read what was there before: it is not emptied first.
    pub takes: bool,
    /// To change it.
    pub writes: bool,
}

const STANDARD_INPUT: i32 = 0;
const ACCESS_MODE: u32 = 3;
const CREATE: u32 = 0o100;
const EXCLUSIVE: u32 = 0o200;
/// In the flags of an open: what the file held is gone.
pub const TRUNCATE: u32 = 0o1000;
const DIRECTORY: u32 = 0o200_000;
const PATH_ONLY: u32 = 0o10_000_000;
const RENAME_EXCHANGE: u32 = 2;
/// What the kernel puts behind the path of a file that has no name any more.
const DELETED: &[u8] = b" (deleted)";
/// How many dependencies are remembered, and how many more for each row: as many as the trace is long, though all
/// writers of a file with all its readers are many more.
const MOST_DEPENDENCIES: usize = 1 << 12;
const MOST_DEPENDENCIES_EACH: usize = 16;

impl Access {
    /// What open flags (as the kernel counts them) ask for, whatever else they do.
    #[must_use]
    pub fn of_flags(flags: u32) -> Access {
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
        FileOp::Unlink => "delete",
        FileOp::Mount => "mount",
        FileOp::Unmount => "unmount",
    }
}

#[derive(Clone, Copy)]
struct Writer {
    row: u32,
    process: ProcessId,
    /// What the row did.
    op: FileOp,
    /// When it was done, where that is not the end of its row.
    until: Option<(Timestamp, EventId)>,
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
    /// What the paths of opens are.
    pub opens: OpenPaths,
    /// By whom.
    pub threads: &'a [Thread],
    /// Their processes.
    pub processes: &'a [Process],
}

struct Walk<'a> {
    trace: FileSource<'a>,
    names: FileNames<'a>,
    writers: Vec<Writers>,
    /// Which writer of a file, as `Writers` counts them, is the last that a reader is known to depend on.
    known: FxHashMap<(FileId, ProcessId), u64>,
    most_dependencies: usize,
    /// Names that were made links of a file.
    linked: FxHashSet<(FileId, StringId)>,
    /// Names that are links.
    links: FxHashMap<StringId, Link>,
    /// What was said of them, in the shortest way.
    said: ShortNames,
    holders: Holders,
    /// Rows of opens and the children that read what they inherited from them.
    readers: FxHashSet<(u32, u32)>,
    told: FxHashSet<(u32, u32, u32)>,
    out: FileHistory,
}

/// Births and ends of processes, by time.
struct Turns {
    births: Vec<(Timestamp, ProcessId)>,
    ends: Vec<(Timestamp, ProcessId)>,
    born: usize,
    ended: usize,
}

impl Turns {
    fn of(processes: &[Process]) -> Turns {
        let sorted = |time: &dyn Fn(&Process) -> Option<Timestamp>| {
            let all = (0..).map(ProcessId).zip(processes);
            let mut all: Vec<(Timestamp, ProcessId)> = all
                .filter_map(|(id, process)| Some((time(process)?, id)))
                .collect();
            all.sort_unstable();
            all
        };
        Turns {
            births: sorted(&|process| process.parent.and(process.start)),
            ends: sorted(&|process| process.end),
            born: 0,
            ended: 0,
        }
    }
}

impl FileHistory {
    /// Follows all that was done to files in `trace`.
    #[must_use]
    pub fn new(trace: &Trace) -> FileHistory {
        FileHistory::of(FileSource {
            strings: &trace.strings,
            events: &trace.events,
            rows: &trace.files.rows,
            opens: trace.files.opens,
            threads: &trace.threads,
            processes: &trace.processes,
        })
    }

    /// The same, while the trace is made.
    #[must_use]
    pub fn of(trace: FileSource<'_>) -> FileHistory {
        if trace.rows.is_empty() {
            return FileHistory::default();
        }
        let mut walk = Walk {
            trace,
            names: FileNames::new(trace.strings, trace.rows.len()),
            writers: Vec::new(),
            known: FxHashMap::default(),
            most_dependencies: MOST_DEPENDENCIES + MOST_DEPENDENCIES_EACH * trace.rows.len(),
            linked: FxHashSet::default(),
            links: FxHashMap::default(),
            said: ShortNames::default(),
            holders: Holders::new(trace.processes.len(), trace.rows.len()),
            readers: FxHashSet::default(),
            told: FxHashSet::default(),
            out: FileHistory::default(),
        };
        walk.out.of_row.reserve(trace.rows.len());
        let mut turns = Turns::of(trace.processes);
        for (index, row) in trace.rows.iter().enumerate() {
            walk.catch_up(row.time, &mut turns);
            let file = walk.row(index as u32, row);
            walk.out.of_row.push(file);
        }
        walk.catch_up(Timestamp::MAX, &mut turns);
        for process in walk.holders.left() {
            walk.end(process, None);
        }
        walk.out.cuts.moved = walk.names.is_cut();
        walk.out.cuts.inherited = walk.holders.is_cut();
        walk.out
    }

    /// The files and the rows about them, by row: one that exchanges two files is about both.
    pub fn uses(&self) -> impl Iterator<Item = (u32, FileId)> {
        let rows = (0..).zip(&self.of_row);
        rows.flat_map(|(row, file)| {
            let other = match self.exchanged.is_empty() {
                true => None,
                false => self.exchanged.get(&row).copied(),
            };
            std::iter::once((row, *file)).chain(other.map(|other| (row, other)))
        })
        .filter(|(_, file)| *file != FileId::NONE)
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
    /// Births up to `time`, and ends before it.
    fn catch_up(&mut self, time: Timestamp, turns: &mut Turns) {
        loop {
            let birth = turns.births.get(turns.born).filter(|it| it.0 <= time);
            let end = turns.ends.get(turns.ended);
            let end = end.filter(|it| it.0 < time || time == Timestamp::MAX);
            match (birth, end) {
                (Some(&(born, child)), end) if end.is_none_or(|end| born <= end.0) => {
                    turns.born += 1;
                    let parent = self.trace.processes.get(child.0 as usize);
                    if let Some(parent) = parent.and_then(|child| child.parent) {
                        self.holders.fork(parent, child);
                    }
                }
                (_, Some(&(_, process))) => {
                    turns.ended += 1;
                    self.end(process, self.exit_of(process));
                }
                _ => return,
            }
        }
    }

    /// A process lets go of all that it has: it ends, or the trace does.
    fn end(&mut self, id: ProcessId, at: Option<(Timestamp, EventId)>) {
        let Some(process) = self.trace.processes.get(id.0 as usize) else {
            return;
        };
        let cause = match process.end {
            Some(_) => Cause::Exit,
            None => Cause::Rest,
        };
        let mut all = Vec::new();
        self.holders
            .end(id, process, at, cause, &mut |done| all.push(done));
        for done in all {
            self.done(done, at.map(|at| at.1));
        }
    }

    /// What was open for writing is so no more, for one process.
    fn done(&mut self, done: Done, event: Option<EventId>) {
        match (done, event) {
            (Done::Own(row), Some(event)) => {
                self.out.ended_by.insert(row, event);
            }
            (Done::Own(_), None) => {}
            (Done::Inherited(heir), _) => {
                let file = self.out.of_row.get(heir.row as usize).copied();
                if let Some(file) = file.filter(|file| *file != FileId::NONE) {
                    self.out.heirs.push(heir);
                    self.add_writer(
                        file,
                        Writer {
                            until: heir.until,
                            ..Writer::of(heir.row, heir.process, FileOp::Open)
                        },
                    );
                }
            }
        }
    }

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
                if fd == STANDARD_INPUT {
                    self.take_input(process, row);
                }
                self.release(process, fd, (row.time, row.event));
                if row.op == FileOp::Dup && row.result >= 0 {
                    self.holders.copy(process, row.fd, row.result);
                }
            }
            return FileId::NONE;
        }
        if row.result < 0 || row.path == StringId::EMPTY {
            return FileId::NONE;
        }
        match row.op {
            FileOp::Open => self.opened(index, row, process),
            FileOp::Rename => self.renamed(index, row, process),
            FileOp::Link | FileOp::Symlink => self.linked(index, row, process),
            FileOp::Unlink => self.deleted(row.path),
            _ => FileId::NONE,
        }
    }

    /// A descriptor is closed; if it was the last one of what a row opened for writing, that is over.
    fn release(&mut self, id: ProcessId, fd: i32, at: (Timestamp, EventId)) {
        let Some(process) = self.trace.processes.get(id.0 as usize) else {
            return;
        };
        if let Some(done) = self.holders.close(id, process, fd, at) {
            self.done(done, Some(at.1));
        }
    }

    fn opened(&mut self, index: u32, row: &FileUse, process: Option<ProcessId>) -> FileId {
        if let Some(process) = process {
            // The number means this from now on: what it meant before was closed without a line.
            self.release(process, row.fd, (row.time, row.event));
        }
        let access = Access::of_flags(row.flags);
        let is_new = row.flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE;
        let file = if is_new || self.is_instead_of_link(row) {
            self.links.remove(&row.path);
            self.replace(row.path)
        } else {
            match self.still_open(row) {
                Some(file) => file,
                None => self.at(row.path),
            }
        };
        if row.flags & DIRECTORY != 0 {
            self.out.files[file.0 as usize].has_content = false;
        }
        let Some(process) = process.filter(|_| self.out.files[file.0 as usize].has_content) else {
            return file;
        };
        if access.takes {
            self.depend(file, index, row, process);
        }
        if access.writes {
            self.holders.open(process, row.fd, index, Inherited::Writes);
            if row.flags & TRUNCATE != 0 {
                self.writers[file.0 as usize].clear();
            }
            self.add_writer(file, Writer::of(index, process, row.op));
        } else if access.takes {
            self.holders.open(process, row.fd, index, Inherited::Reads);
        }
        file
    }

    /// The file that was at a path before it was deleted there, if one that is still open somewhere is opened.
    fn still_open(&self, row: &FileUse) -> Option<FileId> {
        if self.trace.opens != OpenPaths::Resolved {
            return None;
        }
        let strings = self.trace.strings;
        let path = strings.bytes(row.path).strip_suffix(DELETED)?;
        let is_name = strings.bytes(row.other_path).ends_with(DELETED);
        let path = strings.find(path).filter(|_| !is_name)?;
        let file = self.names.at(path);
        (file != NOTHING).then_some(FileId(file))
    }

    /// A child makes what it inherited the standard input of its program, or that closes it there: it reads it.
    fn take_input(&mut self, id: ProcessId, row: &FileUse) {
        let Some(process) = self.trace.processes.get(id.0 as usize) else {
            return;
        };
        let is_used = match row.op {
            FileOp::Dup => row.result >= 0 && !process.images.is_empty(),
            _ => runs_program(process, row.time),
        };
        let Some(opened) = self.holders.reads_inherited(id, row.fd).filter(|_| is_used) else {
            return;
        };
        let heir = Heir {
            row: opened,
            process: id,
            access: Inherited::Reads,
            from: row.time,
            until: None,
        };
        let file = self.out.of_row.get(opened as usize).copied();
        if let Some(file) = file.filter(|file| *file != FileId::NONE)
            && self.readers.insert((opened, id.0))
            && let Some(&open) = self.trace.rows.get(opened as usize)
        {
            self.out.heirs.push(heir);
            let taken = FileUse {
                time: row.time,
                event: row.event,
                ..open
            };
            self.depend(file, opened, &taken, id);
        }
    }

    fn depend(&mut self, file: FileId, index: u32, row: &FileUse, reader: ProcessId) {
        let linkers: Vec<Writer> = match self.links.is_empty() || row.op != FileOp::Open {
            true => Vec::new(),
            // An open knows the name that was said beside the one that it led to.
            false => [row.path, self.said.of(row.other_path, self.trace.strings)]
                .iter()
                .filter_map(|path| self.links.get(path))
                .flat_map(|link| link.makers.iter().copied())
                .collect(),
        };
        for writer in linkers {
            self.depend_on(writer, file, index, row, reader);
        }
        let writers = &self.writers[file.0 as usize];
        let known = self.known.insert((file, reader), writers.last());
        let new: Vec<Writer> = writers.after(known.unwrap_or(0)).collect();
        for writer in new {
            self.depend_on(writer, file, index, row, reader);
        }
    }

    fn depend_on(
        &mut self,
        writer: Writer,
        file: FileId,
        index: u32,
        row: &FileUse,
        reader: ProcessId,
    ) {
        if writer.process == reader {
            return;
        }
        if self.out.dependencies.len() >= self.most_dependencies {
            self.out.cuts.dependencies = true;
            return;
        }
        if !self.told.insert((writer.row, writer.process.0, reader.0)) {
            return;
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

    /// When and by which event a writer was done, if that was before `now`; else when it began.
    fn end_of(&self, writer: Writer, now: Timestamp) -> (Timestamp, EventId) {
        if let Some(until) = writer.until {
            return until;
        }
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

    fn add_writer(&mut self, file: FileId, writer: Writer) {
        let forgotten = self.writers[file.0 as usize].add(writer);
        self.out.cuts.writers += u64::from(forgotten.is_some());
    }

    fn at(&mut self, path: StringId) -> FileId {
        match self.names.at(path) {
            NOTHING => self.create(path),
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
            is_gone: false,
            has_content: !is_special && is_path && bytes != b"/dev",
        });
        self.writers.push(Writers::default());
        self.names.set(path, id.0);
        id
    }
}

impl Writer {
    fn of(row: u32, process: ProcessId, op: FileOp) -> Writer {
        Writer {
            row,
            process,
            op,
            until: None,
        }
    }
}
