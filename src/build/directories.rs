//! Paths that programs said relative to where they were become whole ones, where the trace tells where that was; and
//! those that are not said the shortest way become so: each file has one path.
//!
//! ```text
//! sh    chdir("/proj/src") = 0
//! make    (forked by sh: begins there)      open("../a.c")        is /proj/a.c
//! sh    open("/proj") = 3         openat(3, "a.c")                is /proj/a.c; readers say /proc/self/fd/3/a.c
//! cc    open("/proj//src/./../a.c")                               is /proj/a.c
//! ```
//!
//! A process's directory is that of its parent at the fork, then what it changed to. As long as it is not known, paths
//! stay relative, to that unknown directory: those of its children mean the same files. A line that shows where a process
//! is (`-y`) also shows where it was before, back to its last change. What `.` and `..` say is taken
//! as text: links among the folders are not known. The target of a symbolic link counts from the link's folder.
//! What descriptors stand for is followed only where a path counts from one; one that is not known stays as it is.

use rustc_hash::FxHashMap;

use super::fd_table::{Copies, FdTable, OnExec};
use super::identities::{Born, sorted_lives};
use super::merge::Merged;
use crate::base::paths::{is_uneven, joined};
use crate::base::{StringId, Strings, Timestamp};
use crate::event::{DirectorySort, FileOp, Life};
use crate::trace::{EventId, FileUse, ProcessId, Thread, ThreadId, Trace};

/// Paths from a first directory that is not known yet are followed up to this length, in bytes.
const MOST_BELOW: usize = 1 << 10;
/// Where the kernel has the descriptors of a process as files.
const DESCRIPTORS: &[u8] = b"/proc/self/fd/";

/// What has to be done to the paths of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paths {
    /// Nothing: all of them are whole.
    Whole,
    /// Some have `//`, `.` or `..` in them.
    SomeUneven,
    /// Some count from where their process was.
    SomeRelative,
    /// Some count from an open descriptor.
    SomeOfDescriptors,
}

impl Paths {
    /// What has to be done to one path.
    pub fn of(path: &[u8]) -> Paths {
        if path.starts_with(DESCRIPTORS) {
            Paths::SomeOfDescriptors
        } else if is_relative(path) {
            Paths::SomeRelative
        } else if is_uneven(path) {
            Paths::SomeUneven
        } else {
            Paths::Whole
        }
    }
}

/// A process is in another directory, or runs another program in the one it is in.
struct Step {
    at: (Timestamp, EventId),
    process: ProcessId,
    what: What,
}

enum What {
    Change(StringId),
    /// It turned out to be there.
    Found(StringId),
    /// An exec, with the directory that the file says.
    Exec(StringId),
}

/// See the module's text. Rows of files and people are there.
pub fn resolve_paths(merged: &mut Merged, births: &[Born], trace: &mut Trace, paths: Paths) {
    if paths == Paths::Whole && !says_directories(merged) {
        return;
    }
    if paths == Paths::SomeUneven && !says_directories(merged) {
        let mut places = Places::new(&mut merged.strings);
        for row in &mut trace.files.rows {
            places.resolve(StringId::EMPTY, ProcessId(u32::MAX), row);
        }
        return;
    }
    let steps = steps(merged, &trace.threads);
    let uses_descriptor = |step: &Step| match step.what {
        What::Change(to) => merged.strings.bytes(to).starts_with(DESCRIPTORS),
        What::Found(_) | What::Exec(_) => false,
    };
    let follows = paths == Paths::SomeOfDescriptors || steps.iter().any(uses_descriptor);
    let mut here = first_directories(&mut merged.strings, births, &steps, trace);
    let mut places = Places::new(&mut merged.strings);
    if follows {
        places.tables = vec![FdTable::default(); trace.processes.len()];
        places.copies = Copies::new(births.len(), trace.files.rows.len());
    }
    let mut births = births.iter().peekable();
    let mut steps = steps.into_iter().peekable();
    let process_of =
        |threads: &[Thread], thread: usize| -> Option<ProcessId> { threads.get(thread)?.process };
    let mut images: Vec<(ProcessId, Timestamp, StringId)> = Vec::new();
    let end = (Timestamp::MAX, EventId(u32::MAX));
    let rows = trace.files.rows.iter_mut().map(Some);
    for row in rows.chain([None]) {
        let now = row.as_ref().map_or(end, |row| (row.time, row.event));
        loop {
            let born = births.peek().map(|birth| (birth.time, birth.event));
            let step = steps.peek().map(|step| step.at);
            match (born.filter(|at| *at <= now), step.filter(|at| *at <= now)) {
                (Some(born), step) if step.is_none_or(|step| born <= step) => {
                    let Some(birth) = births.next() else { break };
                    let parent = process_of(&trace.threads, birth.parent.0 as usize);
                    let child = process_of(&trace.threads, birth.child.0 as usize);
                    if let (Some(parent), Some(child)) = (parent, child) {
                        here[child.0 as usize] = here[parent.0 as usize];
                        places.fork(parent, child);
                    }
                }
                (_, Some(_)) => {
                    let Some(step) = steps.next() else { break };
                    let place = &mut here[step.process.0 as usize];
                    match step.what {
                        What::Change(to) => {
                            let to = places.from(*place, step.process, to);
                            *place = match places.is_of_descriptor(to) {
                                true => StringId::EMPTY,
                                false => to,
                            };
                        }
                        What::Found(at) => *place = places.shortest(at),
                        What::Exec(said) => {
                            places.exec(step.process);
                            match said {
                                StringId::EMPTY => {
                                    images.push((step.process, step.at.0, *place));
                                }
                                said => *place = said,
                            }
                        }
                    }
                }
                _ => break,
            }
        }
        if let Some(row) = row
            && let Some(process) = process_of(&trace.threads, row.thread.0 as usize)
        {
            places.resolve(here[process.0 as usize], process, row);
            places.follow(process, row);
        }
    }
    for (process, start, place) in images {
        let is_whole = merged.strings.bytes(place).starts_with(b"/");
        let images = &mut trace.processes[process.0 as usize].images;
        // Programs of a process are in order of time.
        let at = images.partition_point(|image| image.start < start);
        if let Some(image) = images.get_mut(at).filter(|image| image.start == start)
            && is_whole
        {
            image.directory = place;
        }
    }
}

/// Whether the file says where processes are, beside what it says of each program.
fn says_directories(merged: &Merged) -> bool {
    let mut lives = merged.parts.iter().flat_map(|part| &part.rows.lives);
    lives.any(|row| matches!(row.life, Life::Directory { .. }))
}

/// The directory that each process was in when the trace (or, without a known parent, its own life) began; empty where
/// nothing shows it. A later line can show it: who is found in a directory, and has not changed it since, has always
/// been there, and so was the parent when it made him.
///
/// ```text
/// 7 fork() = 8    8 chdir("sub")    8 openat(AT_FDCWD</proj/sub>, ...)        7 and 8 began in /proj
/// ```
fn first_directories(
    strings: &mut Strings,
    births: &[Born],
    steps: &[Step],
    trace: &Trace,
) -> Vec<StringId> {
    let count = trace.processes.len();
    let mut firsts = vec![StringId::EMPTY; count];
    let finds = |step: &Step| matches!(step.what, What::Found(_));
    if !steps.iter().any(finds) {
        return firsts;
    }
    // Whose first directory a process's own counts from, if any, and the path from there.
    let mut bases: Vec<Option<u32>> = (0..count as u32).map(Some).collect();
    let mut below = vec![StringId::EMPTY; count];
    let process_of = |thread: ThreadId| trace.threads.get(thread.0 as usize)?.process;
    let mut births = births.iter().peekable();
    for step in steps {
        while let Some(birth) = births.next_if(|birth| (birth.time, birth.event) <= step.at) {
            let (parent, child) = (process_of(birth.parent), process_of(birth.child));
            if let (Some(parent), Some(child)) = (parent, child)
                && parent != child
            {
                bases[child.0 as usize] = bases[parent.0 as usize];
                below[child.0 as usize] = below[parent.0 as usize];
            }
        }
        let at = step.process.0 as usize;
        match step.what {
            What::Found(path) => {
                let found = strings.bytes(path);
                let first = match strings.bytes(below[at]) {
                    [] => Some(found),
                    below => found
                        .strip_suffix(below)
                        .and_then(|path| path.strip_suffix(b"/"))
                        .map(|path| if path.is_empty() { &b"/"[..] } else { path }),
                };
                let first = first.map(<[u8]>::to_vec);
                let base = bases[at].and_then(|base| firsts.get_mut(base as usize));
                if let (Some(first), Some(base)) = (first, base)
                    && *base == StringId::EMPTY
                {
                    *base = strings.intern(&first);
                }
                bases[at] = None;
            }
            What::Change(to) => {
                let (from, path) = (strings.bytes(below[at]), strings.bytes(to));
                let is_odd = |part: &[u8]| matches!(part, b"" | b"." | b"..");
                let is_followed = from.len() + path.len() < MOST_BELOW
                    && !path.split(|&byte| byte == b'/').any(is_odd);
                if !is_followed {
                    bases[at] = None;
                } else if from.is_empty() {
                    below[at] = to;
                } else {
                    let longer = [from, b"/", path].concat();
                    below[at] = strings.intern(&longer);
                }
            }
            What::Exec(said) if said != StringId::EMPTY => bases[at] = None,
            What::Exec(_) => {}
        }
    }
    firsts
}

/// Changes of directory and execs, by time.
fn steps(merged: &Merged, threads: &[Thread]) -> Vec<Step> {
    sorted_lives(merged)
        .iter()
        .filter_map(|told| {
            let (thread, what) = match told.life {
                Life::Directory {
                    thread,
                    directory,
                    sort,
                } => {
                    let directory = told.part.string(*directory);
                    match sort {
                        DirectorySort::Changed => (thread, What::Change(directory)),
                        DirectorySort::Found => (thread, What::Found(directory)),
                    }
                }
                Life::Exec {
                    thread, directory, ..
                } => (thread, What::Exec(told.part.string(*directory))),
                _ => return None,
            };
            let thread = merged.events.threads.at(*thread, told.time);
            Some(Step {
                at: (told.time, told.event),
                process: threads.get(thread.0 as usize)?.process?,
                what,
            })
        })
        .collect()
}

/// Whether these bytes are a path that counts from somewhere. (`pipe:[7]` and the like are no paths.)
fn is_relative(path: &[u8]) -> bool {
    let is_special = path.ends_with(b"]") && memchr::memmem::find(path, b":[").is_some();
    !path.is_empty() && !path.starts_with(b"/") && !is_special
}

/// Whole paths by where somebody was and what they said.
struct Places<'a> {
    strings: &'a mut Strings,
    known: FxHashMap<(StringId, StringId), StringId>,
    /// Each path that is whole the shortest way, by string, as far as it was asked for. Those made here are so.
    shortest: Vec<Option<StringId>>,
    /// The paths of each process's descriptors; empty if nothing counts from one.
    tables: Vec<FdTable<StringId>>,
    copies: Copies,
}

impl Places<'_> {
    fn new(strings: &mut Strings) -> Places<'_> {
        Places {
            known: FxHashMap::default(),
            shortest: vec![None; strings.len()],
            tables: Vec::new(),
            copies: Copies::new(0, 0),
            strings,
        }
    }

    fn resolve(&mut self, here: StringId, process: ProcessId, row: &mut FileUse) {
        if !matches!(
            row.op,
            FileOp::Open | FileOp::Rename | FileOp::Link | FileOp::Symlink | FileOp::Unlink
        ) {
            return;
        }
        match row.op {
            FileOp::Open | FileOp::Unlink => {
                let said = row.path;
                row.path = self.from(here, process, said);
                let has_changed = row.path != said && !self.is_of_descriptor(said);
                if has_changed && row.op == FileOp::Open && row.other_path == StringId::EMPTY {
                    row.other_path = said;
                }
            }
            FileOp::Rename | FileOp::Link => {
                row.path = self.from(here, process, row.path);
                row.other_path = self.from(here, process, row.other_path);
            }
            FileOp::Symlink => {
                let said = row.path;
                row.other_path = self.from(here, process, row.other_path);
                let link = self.strings.bytes(row.other_path);
                if let Some(slash) = memchr::memrchr(b'/', link) {
                    let folder = link[..slash.max(1)].to_vec();
                    let folder = self.strings.intern(&folder);
                    row.path = self.join(folder, said);
                }
            }
            _ => {}
        }
    }

    /// `path` as somebody at `here` means it. What a descriptor stands for was made whole when it was opened.
    fn from(&mut self, here: StringId, process: ProcessId, path: StringId) -> StringId {
        match self.of_descriptor(process, path) {
            same if same == path => self.join(here, path),
            opened => opened,
        }
    }

    /// `path`; or what it means, if it counts from a descriptor that is known.
    fn of_descriptor(&mut self, process: ProcessId, path: StringId) -> StringId {
        let Some(table) = self.tables.get(process.0 as usize) else {
            return path;
        };
        let Some(rest) = self.strings.bytes(path).strip_prefix(DESCRIPTORS) else {
            return path;
        };
        let length = rest.iter().position(|&byte| byte == b'/');
        let (number, below) = rest.split_at(length.unwrap_or(rest.len()));
        let number = std::str::from_utf8(number)
            .ok()
            .and_then(|it| it.parse().ok());
        let Some(opened) = number.and_then(|number: i32| table.get(number)) else {
            return path;
        };
        if below.len() <= 1 {
            return opened;
        }
        match joined(self.strings.bytes(opened), &below[1..]) {
            Some(whole) => self.strings.intern(&whole),
            None => path,
        }
    }

    fn is_of_descriptor(&self, path: StringId) -> bool {
        self.strings.bytes(path).starts_with(DESCRIPTORS)
    }

    /// What a row does to the descriptors of its process.
    fn follow(&mut self, process: ProcessId, row: &FileUse) {
        let Some(table) = self.tables.get_mut(process.0 as usize) else {
            return;
        };
        let on_exec = OnExec::of_flags(row.flags);
        match row.op {
            FileOp::Open if row.fd >= 0 => table.insert(row.fd, row.path, on_exec),
            FileOp::Close => {
                table.remove(row.fd);
            }
            FileOp::Dup if row.result >= 0 && row.result != row.fd => match table.get(row.fd) {
                Some(opened) => table.insert(row.result, opened, on_exec),
                None => {
                    table.remove(row.result);
                }
            },
            FileOp::Pipe => {
                table.remove(row.fd);
                table.remove(row.result);
            }
            _ => {}
        }
    }

    fn fork(&mut self, parent: ProcessId, child: ProcessId) {
        let Some(table) = self
            .tables
            .get(parent.0 as usize)
            .filter(|_| parent != child)
        else {
            return;
        };
        if self.copies.allow(table.len()) {
            let table = table.clone();
            self.tables[child.0 as usize] = table;
        }
    }

    fn exec(&mut self, process: ProcessId) {
        if let Some(table) = self.tables.get_mut(process.0 as usize) {
            for fd in table.closing() {
                table.remove(fd);
            }
        }
    }

    /// A whole path said the shortest way.
    fn shortest(&mut self, path: StringId) -> StringId {
        let at = path.0 as usize;
        match self.shortest.get(at) {
            Some(&Some(known)) => return known,
            Some(None) => {}
            None => return path,
        }
        let said = self.strings.bytes(path);
        let is_said_long = is_uneven(said) && !said.starts_with(DESCRIPTORS);
        let short = is_said_long.then(|| joined(b"/", said)).flatten();
        let short = match short {
            Some(short) => self.strings.intern(&short),
            None => path,
        };
        if let Some(slot) = self.shortest.get_mut(at) {
            *slot = Some(short);
        }
        short
    }

    /// `path` from the view of somebody who is at `here`; as it is, if it is whole.
    fn join(&mut self, here: StringId, path: StringId) -> StringId {
        let said = self.strings.bytes(path);
        if said.starts_with(b"/") || !is_relative(said) {
            return self.shortest(path);
        }
        if let Some(&known) = self.known.get(&(here, path)) {
            return known;
        }
        let joined = joined(self.strings.bytes(here), self.strings.bytes(path));
        let whole = match joined {
            Some(joined) => self.strings.intern(&joined),
            None => path,
        };
        self.known.insert((here, path), whole);
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pipes_are_no_paths() {
        assert!(!is_relative(b"pipe:[123]") && !is_relative(b"/x") && !is_relative(b""));
        assert!(is_relative(b"a[1]"));
    }
}
