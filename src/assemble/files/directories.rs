//! Makes relative paths absolute where the trace shows their process's directory, and brings every absolute path into
//! its shortest form, so that each file has one path.
//!
//! ```text
//! sh    chdir("/proj/src") = 0
//! make    (forked by sh: begins there)      open("../a.c")        is /proj/a.c
//! sh    open("/proj") = 3         openat(3, "a.c")                is /proj/a.c; readers write /proc/self/fd/3/a.c
//! cc    open("/proj//src/./../a.c")                               is /proj/a.c
//! ```
//!
//! A process's directory is its parent's at the fork, then what it changed to. While it is unknown, paths stay relative
//! to that unknown directory; equal paths of its children then mean the same files. A line that shows a process's
//! directory (`-y`) also shows its directory before that line, back to its last change. `.` and `..` are resolved as
//! text: symbolic links among the folders are unknown. The target of a symbolic link is relative to the link's folder.
//! Descriptors are followed only where a path is relative to one; a path relative to an unknown descriptor stays.

use rustc_hash::FxHashMap;

use super::super::people::{Born, People, sorted_lives};
use super::super::recorded::Recorded;
use super::super::rows::PerPart;
use super::activity::Activity;
use super::fd_table::{Copies, FdTable};
use super::path_kinds::{DESCRIPTORS, Paths, is_relative};
use super::{Doers, ImageDirectory};
use crate::base::paths::{is_uneven, joined};
use crate::base::{StringId, Strings, Timestamp};
use crate::event::{DirectorySort, FileOp, Life, LifeRow, OnExec};
use crate::trace::{EventId, FileUse, ProcessId};

/// Paths relative to an unknown first directory are followed up to this length, in bytes.
const MOST_BELOW: usize = 1 << 10;
/// A change of a process's directory, or an exec.
struct Step {
    at: (Timestamp, EventId),
    process: ProcessId,
    what: What,
}

enum What {
    Change(StringId),
    /// A line shows that the process is in this directory.
    Found(StringId),
    /// An exec, with the directory that the file states for it (empty if none).
    Exec(StringId),
}

/// Makes the paths of `activity` absolute where it can, in their shortest form. Returns the working directories of
/// programs as absolute paths.
pub(crate) fn resolve_paths(
    activity: &mut Activity,
    recorded: &Recorded,
    doers: Doers<'_>,
    strings: &mut Strings,
) -> Vec<ImageDirectory> {
    let (paths, rows) = (activity.paths, &mut activity.rows);
    let (people, births) = (doers.people, doers.births);
    if paths == Paths::Whole && !has_directories(doers.lives) {
        return Vec::new();
    }
    if paths == Paths::SomeUneven && !has_directories(doers.lives) {
        let mut places = Places::new(strings);
        for row in rows {
            places.resolve(StringId::EMPTY, None, row);
        }
        return Vec::new();
    }
    let steps = steps(recorded, doers);
    let uses_descriptor = |step: &Step| match step.what {
        What::Change(to) => strings.bytes(to).starts_with(DESCRIPTORS),
        What::Found(_) | What::Exec(_) => false,
    };
    let follows = paths == Paths::SomeOfDescriptors || steps.iter().any(uses_descriptor);
    let mut here = first_directories(strings, births, &steps, people);
    let mut places = Places::new(strings);
    if follows {
        places.tables = vec![FdTable::default(); people.processes.len()];
        places.copies = Copies::new(births.len(), rows.len());
    }
    let mut births = births.iter().peekable();
    let mut steps = steps.into_iter().peekable();
    let mut images: Vec<ImageDirectory> = Vec::new();
    // Births, steps and rows are walked together in order of (time, event). At equal places a birth comes first, then a
    // step; the `None` after the last row applies all that are left.
    let end = (Timestamp::MAX, EventId(u32::MAX));
    let rows = rows.iter_mut().map(Some);
    for row in rows.chain([None]) {
        let now = row.as_ref().map_or(end, |row| (row.time, row.event));
        loop {
            let born = births.peek().map(|birth| (birth.time, birth.event));
            let step = steps.peek().map(|step| step.at);
            match (born.filter(|at| *at <= now), step.filter(|at| *at <= now)) {
                (Some(born), step) if step.is_none_or(|step| born <= step) => {
                    let Some(birth) = births.next() else { break };
                    let parent = birth.parent.and_then(|parent| people.process_of(parent));
                    let child = people.process_of(birth.child);
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
                            let to = places.from(*place, Some(step.process), to);
                            *place = match places.is_of_descriptor(to) {
                                true => StringId::EMPTY,
                                false => to,
                            };
                        }
                        What::Found(at) => *place = places.shortest(at),
                        What::Exec(given) => {
                            places.exec(step.process);
                            match given {
                                StringId::EMPTY => images.push(ImageDirectory {
                                    process: step.process,
                                    start: step.at.0,
                                    directory: *place,
                                }),
                                given => *place = given,
                            }
                        }
                    }
                }
                _ => break,
            }
        }
        if let Some(row) = row
            && let Some(thread) = row.thread
            && let Some(process) = people.process_of(thread)
        {
            places.resolve(here[process.0 as usize], Some(process), row);
            places.follow(process, row);
        }
    }
    images.retain(|image| strings.bytes(image.directory).starts_with(b"/"));
    images
}

/// Returns whether the file contains directories of processes besides those stated with execs.
fn has_directories(lives: &PerPart<LifeRow>) -> bool {
    let mut lives = lives.iter().flatten();
    lives.any(|row| matches!(row.life, Life::Directory { .. }))
}

/// Returns the directory of each process when the trace began (or its own life, if its parent is unknown); empty if no
/// line shows it. A later line can show it: a process found in a directory that it has not changed to was there from
/// its beginning, and so was its parent when it forked.
///
/// ```text
/// 7 fork() = 8    8 chdir("sub")    8 openat(AT_FDCWD</proj/sub>, ...)        7 and 8 began in /proj
/// ```
fn first_directories(
    strings: &mut Strings,
    births: &[Born],
    steps: &[Step],
    people: &People,
) -> Vec<StringId> {
    let count = people.processes.len();
    let mut firsts = vec![StringId::EMPTY; count];
    let finds = |step: &Step| matches!(step.what, What::Found(_));
    if !steps.iter().any(finds) {
        return firsts;
    }
    // For each process, its directory at this point of the walk: the process whose first directory it is relative to
    // (`None` if it is not relative), and the path from that directory.
    let mut bases: Vec<Option<u32>> = (0..count as u32).map(Some).collect();
    let mut below = vec![StringId::EMPTY; count];
    let mut births = births.iter().peekable();
    for step in steps {
        while let Some(birth) = births.next_if(|birth| (birth.time, birth.event) <= step.at) {
            let (parent, child) = (
                (birth.parent).and_then(|parent| people.process_of(parent)),
                people.process_of(birth.child),
            );
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
            What::Exec(given) if given != StringId::EMPTY => bases[at] = None,
            What::Exec(_) => {}
        }
    }
    firsts
}

/// Returns changes of directory and execs, sorted by time.
fn steps(recorded: &Recorded, doers: Doers<'_>) -> Vec<Step> {
    sorted_lives(recorded, doers.lives)
        .iter()
        .filter_map(|row| {
            let (thread, what) = match row.life {
                Life::Directory {
                    thread,
                    directory,
                    sort,
                } => {
                    let directory = row.part.string(*directory);
                    match sort {
                        DirectorySort::Changed => (thread, What::Change(directory)),
                        DirectorySort::Found => (thread, What::Found(directory)),
                    }
                }
                Life::Exec {
                    thread, directory, ..
                } => (thread, What::Exec(row.part.string(*directory))),
                _ => return None,
            };
            let thread = recorded.events.threads.at(*thread, row.time)?;
            Some(Step {
                at: (row.time, row.event),
                process: doers.people.process_of(thread)?,
                what,
            })
        })
        .collect()
}

/// Absolute paths by (directory, path), and the descriptors of each process.
struct Places<'a> {
    strings: &'a mut Strings,
    known: FxHashMap<(StringId, StringId), StringId>,
    /// The shortest form of each path, indexed by string id; `None` until computed. Strings that are added here are
    /// already in their shortest form.
    shortest: Vec<Option<StringId>>,
    /// The path of each process's descriptors; empty if no path is relative to a descriptor.
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

    fn resolve(&mut self, here: StringId, process: Option<ProcessId>, row: &mut FileUse) {
        if !matches!(
            row.op,
            FileOp::Open | FileOp::Rename | FileOp::Link | FileOp::Symlink | FileOp::Unlink
        ) {
            return;
        }
        match row.op {
            FileOp::Open | FileOp::Unlink => {
                let given = row.path;
                row.path = self.from(here, process, given);
                let has_changed = row.path != given && !self.is_of_descriptor(given);
                if has_changed && row.op == FileOp::Open && row.other_path == StringId::EMPTY {
                    row.other_path = given;
                }
            }
            FileOp::Rename | FileOp::Link => {
                row.path = self.from(here, process, row.path);
                row.other_path = self.from(here, process, row.other_path);
            }
            FileOp::Symlink => {
                let given = row.path;
                row.other_path = self.from(here, process, row.other_path);
                let link = self.strings.bytes(row.other_path);
                if let Some(slash) = memchr::memrchr(b'/', link) {
                    let folder = link[..slash.max(1)].to_vec();
                    let folder = self.strings.intern(&folder);
                    row.path = self.join(folder, given);
                }
            }
            _ => {}
        }
    }

    /// Returns the absolute form of `path` for a process whose directory is `here`. The path of a descriptor was
    /// already made absolute when it was opened.
    fn from(&mut self, here: StringId, process: Option<ProcessId>, path: StringId) -> StringId {
        match self.of_descriptor(process, path) {
            same if same == path => self.join(here, path),
            opened => opened,
        }
    }

    /// Returns `path`, or if it is relative to a known descriptor, the path that it means.
    fn of_descriptor(&mut self, process: Option<ProcessId>, path: StringId) -> StringId {
        let table = process.and_then(|id| self.tables.get(id.0 as usize));
        let Some(table) = table else {
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

    /// Applies a row to the descriptors of its process.
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
            FileOp::CloseRange => {
                for fd in table.open_in(row.fd..=row.result) {
                    table.remove(fd);
                }
            }
            FileOp::SetOnExec => table.set_on_exec(row.fd..=row.result, on_exec),
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

    /// Returns the shortest form of an absolute path.
    fn shortest(&mut self, path: StringId) -> StringId {
        let at = path.0 as usize;
        match self.shortest.get(at) {
            Some(&Some(known)) => return known,
            Some(None) => {}
            None => return path,
        }
        let given = self.strings.bytes(path);
        let is_long = is_uneven(given) && !given.starts_with(DESCRIPTORS);
        let short = is_long.then(|| joined(b"/", given)).flatten();
        let short = match short {
            Some(short) => self.strings.intern(&short),
            None => path,
        };
        if let Some(slot) = self.shortest.get_mut(at) {
            *slot = Some(short);
        }
        short
    }

    /// Returns `path` as seen from directory `here`; an absolute path only gets its shortest form.
    fn join(&mut self, here: StringId, path: StringId) -> StringId {
        let given = self.strings.bytes(path);
        if given.starts_with(b"/") || !is_relative(given) {
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
