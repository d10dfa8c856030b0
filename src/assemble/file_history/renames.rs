//! Names that files get and lose: by renames, links, deletions, and by other files that take the name.
//!
//! ```text
//! ln T L, mv new T      the old file's name is L from now on
//! mv a.tmp a.o          the old a.o has no name any more; it keeps the name that it had when it was used
//! ln -s T L, rm L       if opens record the path that they led to, a file that is opened as L is not T
//! ```

use rustc_hash::FxHashMap;

use super::names::Below;
use super::writers::{Writer, Writers};
use super::{FileId, RENAME_EXCHANGE, Walk};
use crate::base::paths::{is_uneven, joined};
use crate::base::{StringId, Strings};
use crate::event::FileOp;
use crate::trace::files::{OpenPaths, PATH_ONLY};
use crate::trace::{FileUse, ProcessId};

/// Only this many of a file's last names are searched for one that it still has.
const MOST_NAMES: usize = 256;
/// At most this many processes that renamed a link are kept: the earliest.
const MOST_MAKERS: usize = 64;
const NO_FOLLOW: u32 = 0o400_000;
const LINK_FOLLOWS: u32 = 0x400;

/// A name that is a link.
#[derive(Clone)]
pub(super) struct Link {
    sort: LinkSort,
    /// The processes that made the link: a process that reads a file by this name depends on them.
    pub(super) makers: Vec<Writer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkSort {
    /// Another name of the same file.
    Hard,
    /// A file of its own that leads to another file.
    Symbolic,
}

/// The shortest forms of names as programs spelled them; each is computed once.
#[derive(Default)]
pub(super) struct ShortNames {
    /// Indexed by string id; empty until the first call.
    known: Vec<Option<StringId>>,
}

impl ShortNames {
    /// Returns the shortest form of `path` if it is in the string table, otherwise `path`.
    pub(super) fn of(&mut self, path: StringId, strings: &Strings) -> StringId {
        if self.known.is_empty() {
            self.known = vec![None; strings.len()];
        }
        let Some(slot) = self.known.get_mut(path.0 as usize) else {
            return path;
        };
        *slot.get_or_insert_with(|| {
            let bytes = strings.bytes(path);
            let short = is_uneven(bytes).then(|| joined(b"/", bytes)).flatten();
            short.and_then(|short| strings.find(&short)).unwrap_or(path)
        })
    }
}

/// The effect of a rename on the file at the other path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renaming {
    Moves,
    Exchanges,
}

impl Walk<'_> {
    /// Applies a rename: the file at `path` is now at `other_path`. Returns that file.
    pub(super) fn renamed(
        &mut self,
        index: u32,
        row: &FileUse,
        process: Option<ProcessId>,
    ) -> FileId {
        let renaming = match row.flags & RENAME_EXCHANGE {
            0 => Renaming::Moves,
            _ => Renaming::Exchanges,
        };
        let moved = self.move_below(row.path, row.other_path, renaming);
        let links = [row.path, row.other_path].map(|path| self.links.remove(&path));
        let [link, other_link] = links;
        let is_link = link.is_some();
        let file = self.at(row.path);
        if moved > 0 {
            // Files below the path moved, so it is a folder.
            self.out.files[file.0 as usize].has_content = false;
        }
        if renaming == Renaming::Exchanges {
            let other = self.at(row.other_path);
            let is_link = other_link.is_some();
            self.name(other, row.path, other_link);
            self.out.exchanged.insert(index, other);
            if !is_link {
                self.changed_name(other, index, row, process);
            }
        } else {
            self.names.set(row.path, None);
        }
        let maker = process.map(|process| Writer::of(index, process, row.op));
        let link = link.map(|mut link| {
            // Only the link moves; the file that it leads to keeps its names.
            if link.makers.len() < MOST_MAKERS {
                link.makers.extend(maker);
            }
            link
        });
        self.name(file, row.other_path, link);
        if !is_link {
            self.changed_name(file, index, row, process);
        }
        file
    }

    /// Makes a process that renamed a file a reader and a writer of it: readers of the new name depend on the rename.
    fn changed_name(
        &mut self,
        file: FileId,
        index: u32,
        row: &FileUse,
        process: Option<ProcessId>,
    ) {
        let has_content = self.out.files[file.0 as usize].has_content;
        if let Some(process) = process.filter(|_| has_content) {
            self.depend(file, index, row, process);
            self.add_writer(file, Writer::of(index, process, row.op));
        }
    }

    /// Applies a hard or symbolic link: `other_path` becomes a name of the file at `path`. Returns that file.
    pub(super) fn linked(
        &mut self,
        index: u32,
        row: &FileUse,
        process: Option<ProcessId>,
    ) -> FileId {
        let file = self.at(row.path);
        let is_symbolic = |link: &Link| link.sort == LinkSort::Symbolic;
        let sort = match row.op {
            FileOp::Symlink => LinkSort::Symbolic,
            // A hard link to a symbolic link leads to the target of that link.
            _ if row.flags & LINK_FOLLOWS == 0
                && self.links.get(&row.path).is_some_and(is_symbolic) =>
            {
                LinkSort::Symbolic
            }
            _ => LinkSort::Hard,
        };
        let makers = process.map(|process| Writer::of(index, process, row.op));
        let makers = makers.into_iter().collect();
        self.name(file, row.other_path, Some(Link { sort, makers }));
        if let Some(process) = process.filter(|_| self.out.files[file.0 as usize].has_content) {
            self.depend(file, index, row, process);
        }
        file
    }

    /// Removes the name `path` and returns the file that had it; a file that is made at `path` later is another file.
    pub(super) fn deleted(&mut self, path: StringId) -> FileId {
        let file = self.at(path);
        self.links.remove(&path);
        self.names.set(path, None);
        self.lose(file, path);
        file
    }

    /// Returns whether a row opens a file at a path that was a symbolic link: the open led to the path itself, so the
    /// link was deleted without a recorded event.
    pub(super) fn is_instead_of_link(&self, row: &FileUse) -> bool {
        self.trace.opens == OpenPaths::Resolved
            && !self.links.is_empty()
            && row.flags & (PATH_ONLY | NO_FOLLOW) != PATH_ONLY | NO_FOLLOW
            && self
                .links
                .get(&row.path)
                .is_some_and(|link| link.sort == LinkSort::Symbolic)
    }

    /// Returns a new file at `path`; a file that was there loses the name.
    pub(super) fn replace(&mut self, path: StringId) -> FileId {
        let before = self.names.at(path);
        let file = self.create(path);
        if let Some(before) = before {
            self.lose(before, path);
        }
        file
    }

    /// Gives `file` the name `path`, as a link or as its present name.
    fn name(&mut self, file: FileId, path: StringId, link: Option<Link>) {
        if path == StringId::EMPTY {
            return;
        }
        let before = self.names.at(path);
        self.names.set(path, Some(file));
        let names = &mut self.out.files[file.0 as usize].names;
        match link {
            Some(link) => {
                let present = names.len().saturating_sub(1);
                let is_new = self.linked.insert((file, path));
                if is_new && !names.iter().rev().take(MOST_NAMES).any(|it| *it == path) {
                    names.insert(present, path);
                }
                self.links.insert(path, link);
            }
            None => {
                names.push(path);
                self.out.files[file.0 as usize].is_gone = false;
                self.links.remove(&path);
            }
        }
        if let Some(before) = before.filter(|before| *before != file) {
            self.lose(before, path);
        }
    }

    /// Takes the name `path` from the file `before`. If that was its present name, another name that it still has
    /// becomes its present name, or the file is gone.
    fn lose(&mut self, before: FileId, path: StringId) {
        let Some(file) = self.out.files.get_mut(before.0 as usize) else {
            return;
        };
        if file.names.last() != Some(&path) {
            return;
        }
        let (names, links) = (&self.names, &self.links);
        let is_symbolic = |link: &Link| link.sort == LinkSort::Symbolic;
        let is_its = |name: &StringId| {
            names.at(*name) == Some(before) && !links.get(name).is_some_and(is_symbolic)
        };
        let first = file.names.len().saturating_sub(MOST_NAMES);
        let other = file.names.iter().skip(first).rposition(is_its);
        match other {
            Some(at) => {
                let name = file.names.remove(first + at);
                file.names.push(name);
            }
            None => file.is_gone = first == 0,
        }
    }

    /// Moves the files below a renamed folder; returns how many.
    fn move_below(&mut self, from: StringId, to: StringId, renaming: Renaming) -> usize {
        // A path that was opened for writing is not a folder: for most renames this saves the search.
        let is_file = |path: StringId| {
            let file = self.names.at(path);
            let writers = file.and_then(|file| self.writers.get(file.0 as usize));
            writers.is_some_and(Writers::have_opened)
        };
        if is_file(from) || (renaming == Renaming::Exchanges && is_file(to)) {
            return 0;
        }
        let own = self.names.take_below(from);
        let others = match renaming {
            Renaming::Exchanges => self.names.take_below(to),
            Renaming::Moves => Vec::new(),
        };
        let count = own.len();
        let mut moved: Vec<(StringId, Link)> = Vec::new();
        for (old, new, below) in [(from, to, &own), (to, from, &others)] {
            moved.extend(self.links_below(old, new, below));
        }
        let files = &mut self.out.files;
        for (folder, below) in [(to, own), (from, others)] {
            self.names.put_below(folder, below, &mut |name, file| {
                if let Some(file) = files.get_mut(file.0 as usize) {
                    file.names.push(name);
                }
            });
        }
        self.links.extend(moved);
        count
    }

    /// Removes the links among `files`, which were below `old`; returns them with their names below `new`.
    fn links_below(
        &mut self,
        old: StringId,
        new: StringId,
        files: &[Below],
    ) -> Vec<(StringId, Link)> {
        if self.links.is_empty() {
            return Vec::new();
        }
        let strings = self.trace.strings;
        let name = |folder: StringId, rest: &[u8]| {
            let folder = strings.bytes(folder);
            let folder = folder.strip_suffix(b"/").unwrap_or(folder);
            strings.find(&[folder, rest].concat())
        };
        let links: &mut FxHashMap<StringId, Link> = &mut self.links;
        let moved = files.iter().filter_map(|Below { rest, .. }| {
            let link = links.remove(&name(old, rest)?)?;
            Some((name(new, rest)?, link))
        });
        moved.collect()
    }
}
