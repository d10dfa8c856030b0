//! Files over time: under which names each was opened, which processes wrote it, and which read it afterwards.
//!
//! ```text
//! cc1   open W /tmp/x.s ---- close
//! as            open R /tmp/x.s        dependency cc1 -> as: from the close (or exit) to the open
//! mv                      rename a.tmp -> a.o     the same file under another name; mv counts as a writer
//! ln                      link a.o -> b.o         a process that reads it as b.o depends on ln, too
//! ```
//!
//! A path means the file that was last created, renamed or linked there (`names`). A file's writers are the processes
//! that wrote it since it was last emptied. Children that inherited it as their output are among its writers, and
//! children that were given it as their input are among its readers (`holders`). Devices, `/proc`, `/sys` and
//! directories are files, but no process depends on them. Files that take another file's name, and the choice of a
//! file's present name, are in `renames`. Build tracers do not record deletions, so a path that is written again is the
//! same file, unless it was opened with `O_EXCL`, or was a symbolic link that opens no longer follow.

use rustc_hash::{FxHashMap, FxHashSet};

mod file;
mod holders;
mod names;
mod renames;
mod turns;
mod writers;

use crate::base::{StringId, Strings, Timestamp};
use crate::event::{FileOp, OnExec};
use crate::trace::files::{Access, OpenPaths, TRUNCATE};
use crate::trace::sources::Source;
use crate::trace::{EventId, Events, FileUse, Process, ProcessId, Thread, Trace};
pub use file::{File, FileId};
use holders::{Cause, Done, Holders, runs_program};
pub(crate) use holders::{Heir, Inherited, Moment};
use names::FileNames;
use renames::{Link, ShortNames};
use turns::{Turn, Turns};
use writers::{Writer, Writers};

/// One process read a file that another process had written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDependency {
    /// The file.
    pub file: FileId,
    /// The process that wrote (or renamed, or linked) it.
    pub writer: ProcessId,
    /// The process that read (or renamed, or linked) it afterwards.
    pub reader: ProcessId,
    /// The row of the writer's open or rename.
    pub write: u32,
    /// The row of the reader's open or rename.
    pub read: u32,
    /// When the writer was done: its close or exit; its open, if the reader read before that.
    pub from: Moment,
    /// When the reader opened (or renamed, or linked) it.
    pub to: Moment,
}

/// All files of a trace, and the dependencies between processes that follow from them.
#[derive(Clone, Debug, Default)]
pub struct FileHistory {
    /// The files, in the order in which the rows first use them.
    pub files: Vec<File>,
    /// The file of each row of [`Trace::files`]; `None` if the row failed, or is about a descriptor alone.
    pub of_row: Vec<Option<FileId>>,
    /// The other file of each row that exchanges two.
    pub exchanged: FxHashMap<u32, FileId>,
    /// The event (a close or an exit) that ended each row's open for writing, if it is known.
    pub ended_by: FxHashMap<u32, EventId>,
    /// The dependencies, sorted by the time of the read.
    pub dependencies: Vec<FileDependency>,
    /// Children that read files that their parents had opened, or wrote to them. Writers are in the order of their
    /// releases.
    pub heirs: Vec<Heir>,
    /// The entries that were left out because of the limits.
    pub cuts: Cuts,
}

/// The entries that a history leaves out because of its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Number of writers that were dropped because a file had too many after them.
    pub writers: u64,
    /// Whether there are more dependencies than the limit.
    pub dependencies: bool,
    /// Whether folders moved more files than the limit.
    pub moved: bool,
    /// Whether children inherited more descriptors than the limit.
    pub inherited: bool,
}

const STANDARD_INPUT: i32 = 0;
const CREATE: u32 = 0o100;
const EXCLUSIVE: u32 = 0o200;
const DIRECTORY: u32 = 0o200_000;
const RENAME_EXCHANGE: u32 = 2;
/// Suffix that the kernel adds to the path of a file that has no name any more.
const DELETED: &[u8] = b" (deleted)";
/// At most this many dependencies are kept, and this many more for each row. The limit keeps the memory in proportion
/// to the trace's length: all pairs of a file's writers and readers can be many more.
const MOST_DEPENDENCIES: usize = 1 << 12;
const MOST_DEPENDENCIES_EACH: usize = 16;

/// The tables that a history is made from.
#[derive(Clone, Copy)]
pub struct FileSource<'a> {
    /// The trace's strings, with all paths.
    pub strings: &'a Strings,
    /// All events.
    pub events: &'a Events,
    /// Rows about files, sorted by time.
    pub rows: &'a [FileUse],
    /// Writes through descriptors, sorted by time.
    pub writes: &'a [FileUse],
    /// The files on the axis, if they are several.
    pub sources: &'a [Source],
    /// How the file states the paths of opens.
    pub opens: OpenPaths,
    /// All threads.
    pub threads: &'a [Thread],
    /// All processes.
    pub processes: &'a [Process],
}

struct Walk<'a> {
    trace: FileSource<'a>,
    names: FileNames<'a>,
    writers: Vec<Writers>,
    /// For each (file, reader): the number, as `Writers` counts, of the last writer that the reader depends on.
    known: FxHashMap<(FileId, ProcessId), u64>,
    most_dependencies: usize,
    /// Names that were made links of a file.
    linked: FxHashSet<(FileId, StringId)>,
    /// The names that are links now.
    links: FxHashMap<StringId, Link>,
    /// The shortest forms of names as programs spelled them.
    short_names: ShortNames,
    holders: Holders,
    /// (row of an open, process that reads its file through an inherited descriptor), for all found so far.
    readers: FxHashSet<(u32, u32)>,
    /// (row of the write, writer, reader) of all dependencies so far.
    known_dependencies: FxHashSet<(u32, u32, u32)>,
    out: FileHistory,
}

impl FileHistory {
    /// Returns the file of a row of `trace.files`.
    #[must_use]
    pub(crate) fn file_of(&self, row: u32) -> Option<FileId> {
        self.of_row.get(row as usize).copied().flatten()
    }

    /// Returns the history of all files in `trace`.
    #[must_use]
    pub fn new(trace: &Trace) -> FileHistory {
        FileHistory::of(FileSource {
            strings: &trace.strings,
            events: &trace.events,
            rows: &trace.files.rows,
            writes: &trace.files.writes,
            sources: &trace.sources,
            opens: trace.files.opens,
            threads: &trace.threads,
            processes: &trace.processes,
        })
    }

    /// Returns the history of all files while the trace is still being made.
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
            short_names: ShortNames::default(),
            holders: Holders::new(shown_writers(&trace), trace.rows.len()),
            readers: FxHashSet::default(),
            known_dependencies: FxHashSet::default(),
            out: FileHistory::default(),
        };
        walk.out.of_row.reserve(trace.rows.len());
        let mut turns = Turns::of(trace.processes);
        let mut writes = trace.writes.iter().peekable();
        for (index, row) in trace.rows.iter().enumerate() {
            let is_before = |it: &&FileUse| (it.time, it.event) < (row.time, row.event);
            while let Some(write) = writes.next_if(is_before) {
                walk.wrote(write, &mut turns);
            }
            walk.catch_up(Some(row.time), &mut turns);
            let file = walk.row(index as u32, row);
            walk.out.of_row.push(file);
        }
        for write in writes {
            walk.wrote(write, &mut turns);
        }
        walk.catch_up(None, &mut turns);
        for process in walk.holders.left() {
            walk.end(process, None);
        }
        walk.out.cuts.moved = walk.names.is_cut();
        walk.out.cuts.inherited = walk.holders.is_cut();
        walk.out
    }

    /// Iterates over (row, file) for all rows about files; a row that exchanges two files comes once for each.
    pub(crate) fn uses(&self) -> impl Iterator<Item = (u32, FileId)> {
        let rows = (0..).zip(&self.of_row);
        rows.flat_map(|(row, file)| {
            let other = match self.exchanged.is_empty() {
                true => None,
                false => self.exchanged.get(&row).copied(),
            };
            let files = file.iter().copied().chain(other);
            files.map(move |file| (row, file))
        })
    }

    /// Returns the present (or last) name of a file; the empty string if there is no such file.
    #[must_use]
    pub fn name(&self, file: FileId) -> StringId {
        self.files
            .get(file.0 as usize)
            .and_then(|file| file.names.last())
            .copied()
            .unwrap_or_default()
    }
}

/// Returns for each process whether its recording shows who wrote through which descriptor: whether any process in it did.
fn shown_writers(trace: &FileSource<'_>) -> Vec<bool> {
    if trace.sources.is_empty() {
        return vec![!trace.writes.is_empty(); trace.processes.len()];
    }
    let mut shown = vec![false; trace.processes.len()];
    let mut of_sources = vec![false; trace.sources.len()];
    for thread in trace.writes.iter().filter_map(|write| write.thread) {
        let after = |source: &Source| source.threads.end <= thread.0;
        if let Some(of) = of_sources.get_mut(trace.sources.partition_point(after)) {
            *of = true;
        }
    }
    for (source, _) in trace.sources.iter().zip(of_sources).filter(|(_, of)| *of) {
        let range = source.processes.start as usize..source.processes.end as usize;
        shown
            .get_mut(range)
            .into_iter()
            .for_each(|of| of.fill(true));
    }
    shown
}

impl Walk<'_> {
    /// Notes that a process wrote through a descriptor.
    fn wrote(&mut self, write: &FileUse, turns: &mut Turns) {
        self.catch_up(Some(write.time), turns);
        let thread = (write.thread).and_then(|id| self.trace.threads.get(id.0 as usize));
        if let Some(process) = thread.and_then(|thread| thread.process) {
            self.holders.wrote(process, write.fd);
        }
    }

    /// Applies births and execs up to `time`, and ends before it; `None`: all of them.
    fn catch_up(&mut self, time: Option<Timestamp>, turns: &mut Turns) {
        while let Some(turn) = turns.next_before(time) {
            match turn {
                Turn::Birth(child) => {
                    let child_row = self.trace.processes.get(child.0 as usize);
                    if let Some(parent) = child_row.and_then(|child| child.parent) {
                        self.holders.fork(parent, child);
                    }
                }
                Turn::Exec(process, moment) => {
                    for fd in self.holders.closing(process) {
                        self.release(process, fd, moment);
                    }
                }
                Turn::End(process) => self.end(process, self.exit_of(process)),
            }
        }
    }

    /// Releases all descriptors of a process, at its end or the trace's (`at` is `None`).
    fn end(&mut self, id: ProcessId, at: Option<Moment>) {
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
            self.done(done, at.map(|at| at.event));
        }
    }

    /// Notes that an open for writing has ended for one process, by `event`.
    fn done(&mut self, done: Done, event: Option<EventId>) {
        match (done, event) {
            (Done::Own(row), Some(event)) => {
                self.out.ended_by.insert(row, event);
            }
            (Done::Own(_), None) => {}
            (Done::Inherited(heir), _) => {
                if let Some(file) = self.out.file_of(heir.row) {
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

    fn row(&mut self, index: u32, row: &FileUse) -> Option<FileId> {
        let thread = (row.thread).and_then(|id| self.trace.threads.get(id.0 as usize));
        let process = thread.and_then(|thread| thread.process);
        if row.op == FileOp::Close || (row.op == FileOp::Dup && row.result != row.fd) {
            // A dup closes the file that its new number referred to before.
            let fd = if row.op == FileOp::Close {
                row.fd
            } else {
                row.result
            };
            if let Some(process) = process {
                if fd == STANDARD_INPUT {
                    self.take_input(process, row);
                }
                self.release(process, fd, Moment::of(row));
                if row.op == FileOp::Dup && row.result >= 0 {
                    self.holders.copy(process, row);
                }
            }
            return None;
        }
        if let Some(process) = process {
            let range = row.fd..=row.result;
            match row.op {
                FileOp::CloseRange => {
                    for fd in self.holders.open_in(process, range) {
                        self.release(process, fd, Moment::of(row));
                    }
                }
                FileOp::SetOnExec => {
                    let on_exec = OnExec::of_flags(row.flags);
                    self.holders.set_on_exec(process, range, on_exec);
                }
                _ => {}
            }
        }
        if row.result < 0 || row.path == StringId::EMPTY {
            return None;
        }
        let file = match row.op {
            FileOp::Open => self.opened(index, row, process),
            FileOp::Rename => self.renamed(index, row, process),
            FileOp::Link | FileOp::Symlink => self.linked(index, row, process),
            FileOp::Unlink => self.deleted(row.path),
            _ => return None,
        };
        Some(file)
    }

    /// Closes a descriptor; notes the end of an open for writing if it was the last descriptor of it.
    fn release(&mut self, id: ProcessId, fd: i32, at: Moment) {
        let Some(process) = self.trace.processes.get(id.0 as usize) else {
            return;
        };
        if let Some(done) = self.holders.close(id, process, fd, at) {
            self.done(done, Some(at.event));
        }
    }

    fn opened(&mut self, index: u32, row: &FileUse, process: Option<ProcessId>) -> FileId {
        if let Some(process) = process {
            // The number was in use: that descriptor was closed without a recorded line.
            self.release(process, row.fd, Moment::of(row));
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
            self.holders.open(process, index, row, Inherited::Writes);
            if row.flags & TRUNCATE != 0 {
                self.writers[file.0 as usize].clear();
            }
            self.add_writer(file, Writer::of(index, process, row.op));
        } else if access.takes {
            self.holders.open(process, index, row, Inherited::Reads);
        }
        file
    }

    /// If the row opens a file that was deleted but is still open in some process, returns the file that was last at
    /// that path.
    fn still_open(&self, row: &FileUse) -> Option<FileId> {
        if self.trace.opens != OpenPaths::Resolved {
            return None;
        }
        let strings = self.trace.strings;
        let path = strings.bytes(row.path).strip_suffix(DELETED)?;
        let is_name = strings.bytes(row.other_path).ends_with(DELETED);
        let path = strings.find(path).filter(|_| !is_name)?;
        self.names.at(path)
    }

    /// Notes that a child reads an inherited file: it makes it its program's standard input, or its program closes it
    /// there.
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
        if let Some(file) = self.out.file_of(opened)
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
            // An open makes both a name of the file: the path that it led to, and the path as the program spelled it.
            false => [
                row.path,
                self.short_names.of(row.other_path, self.trace.strings),
            ]
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
        if !self
            .known_dependencies
            .insert((writer.row, writer.process.0, reader.0))
        {
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
            to: Moment::of(row),
        });
    }

    /// Returns when a writer finished writing, and the event that ended it, if that is known and at most `now`;
    /// otherwise the time and event of its row.
    fn end_of(&self, writer: Writer, now: Timestamp) -> Moment {
        if let Some(until) = writer.until {
            return until;
        }
        let row = &self.trace.rows[writer.row as usize];
        match self.out.ended_by.get(&writer.row) {
            Some(&event) => Moment {
                time: self.trace.events.time(event),
                event,
            },
            None => match self.exit_of(writer.process) {
                Some(exit) if exit.time <= now && row.op == FileOp::Open => exit,
                _ => Moment::of(row),
            },
        }
    }

    /// Returns the exit of a process and its event.
    fn exit_of(&self, process: ProcessId) -> Option<Moment> {
        let process = self.trace.processes.get(process.0 as usize)?;
        Some(Moment {
            time: process.end?,
            event: process.exit_event?,
        })
    }

    fn add_writer(&mut self, file: FileId, writer: Writer) {
        let forgotten = self.writers[file.0 as usize].add(writer);
        self.out.cuts.writers += u64::from(forgotten.is_some());
    }

    fn at(&mut self, path: StringId) -> FileId {
        let known = self.names.at(path);
        known.unwrap_or_else(|| self.create(path))
    }

    fn create(&mut self, path: StringId) -> FileId {
        let id = FileId(self.out.files.len() as u32);
        let bytes = self.trace.strings.bytes(path);
        let is_special = [&b"/dev/"[..], b"/proc/", b"/sys/"]
            .iter()
            .any(|folder| bytes.starts_with(folder));
        // `pipe:[1113]`, `socket:[7]`, `anon_inode:...` are not paths.
        let is_path = !bytes.ends_with(b"]") || bytes.contains(&b'/');
        self.out.files.push(File {
            names: vec![path],
            is_gone: false,
            has_content: !is_special && is_path && bytes != b"/dev",
        });
        self.writers.push(Writers::default());
        self.names.set(path, Some(id));
        id
    }
}
