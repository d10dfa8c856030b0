//! Names that are given, taken and lost: renames, links, deletions, and what takes another file's name.
//!
//! ```text
//! ln T L, mv new T      the old file is called L from now on
//! mv a.tmp a.o          the old a.o has no name any more; it keeps the one that it had when it was used
//! ln -s T L, rm L       a file that is opened as L, where opens say what they led to, is not T
//! ```

use rustc_hash::FxHashMap;

use super::super::entities::ProcessId;
use super::super::file_names::NOTHING;
use super::super::files::{FileUse, OpenPaths};
use super::{FileId, RENAME_EXCHANGE, Walk, Writer, Writers};
use crate::base::paths::{is_uneven, joined};
use crate::base::{StringId, Strings};
use crate::event::FileOp;

/// How many of a file's names are looked through for one that it still has.
const MOST_NAMES: usize = 256;
/// How many that renamed a link are remembered: the first.
const MOST_MAKERS: usize = 64;
const PATH_ONLY: u32 = super::PATH_ONLY;
const NO_FOLLOW: u32 = 0o400_000;
const LINK_FOLLOWS: u32 = 0x400;

/// A name that is a link.
#[derive(Clone)]
pub(super) struct Link {
    sort: LinkSort,
    /// Who made it: its readers depend on them.
    pub(super) makers: Vec<Writer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkSort {
    /// A second name of the same file.
    Hard,
    /// A file of its own that leads to another.
    Symbolic,
}

/// Names as programs said them, by what they mean; worked out once for each that is asked for.
#[derive(Default)]
pub(super) struct ShortNames {
    /// By string; empty until the first is asked for.
    known: Vec<Option<StringId>>,
}

impl ShortNames {
    /// The name that `said` is, if anybody says it.
    pub(super) fn of(&mut self, said: StringId, strings: &Strings) -> StringId {
        if self.known.is_empty() {
            self.known = vec![None; strings.len()];
        }
        let Some(slot) = self.known.get_mut(said.0 as usize) else {
            return said;
        };
        *slot.get_or_insert_with(|| {
            let bytes = strings.bytes(said);
            let short = is_uneven(bytes).then(|| joined(b"/", bytes)).flatten();
            short.and_then(|short| strings.find(&short)).unwrap_or(said)
        })
    }
}

/// What a rename does to the other name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renaming {
    Moves,
    Exchanges,
}

impl Walk<'_> {
    /// A rename: `path` is now `other_path`.
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
            // A folder.
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
            self.names.set(row.path, NOTHING);
        }
        let maker = process.map(|process| Writer::of(index, process, row.op));
        let link = link.map(|mut link| {
            // What moves is the link; the file stays where it is.
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

    /// Whoever renames a file is one of those who made what is there now.
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

    /// A link or a symbolic link: `path` is also `other_path`.
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
            // A link to a symbolic link leads where that does.
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

    /// Whatever is made at `path` later is another file.
    pub(super) fn deleted(&mut self, path: StringId) -> FileId {
        let file = self.at(path);
        self.links.remove(&path);
        self.names.set(path, NOTHING);
        self.lose(file.0, path);
        file
    }

    /// Whether what is opened was made where a symbolic link was that nobody is seen to delete.
    pub(super) fn is_instead_of_link(&self, row: &FileUse) -> bool {
        self.trace.opens == OpenPaths::Resolved
            && !self.links.is_empty()
            && row.flags & (PATH_ONLY | NO_FOLLOW) != PATH_ONLY | NO_FOLLOW
            && self
                .links
                .get(&row.path)
                .is_some_and(|link| link.sort == LinkSort::Symbolic)
    }

    /// A new file at `path`, whatever was there before.
    pub(super) fn replace(&mut self, path: StringId) -> FileId {
        let before = self.names.at(path);
        let file = self.create(path);
        self.lose(before, path);
        file
    }

    /// `file` is at `path` from now on, as a link or as itself.
    fn name(&mut self, file: FileId, path: StringId, link: Option<Link>) {
        if path == StringId::EMPTY {
            return;
        }
        let before = self.names.at(path);
        self.names.set(path, file.0);
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
        if before != file.0 {
            self.lose(before, path);
        }
    }

    /// `path` does not mean the file `before` any more: if it was called so, it is called by another name that it
    /// still has, or is gone.
    fn lose(&mut self, before: u32, path: StringId) {
        let Some(file) = self.out.files.get_mut(before as usize) else {
            return;
        };
        if file.names.last() != Some(&path) {
            return;
        }
        let (names, links) = (&self.names, &self.links);
        let is_symbolic = |link: &Link| link.sort == LinkSort::Symbolic;
        let is_its = |name: &StringId| {
            names.at(*name) == before && !links.get(name).is_some_and(is_symbolic)
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

    /// Files below a renamed folder go with it: how many.
    fn move_below(&mut self, from: StringId, to: StringId, renaming: Renaming) -> usize {
        // What was opened for writing is no folder, so that most renames need not look.
        let is_file = |path: StringId| {
            let writers = self.writers.get(self.names.at(path) as usize);
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
                if let Some(file) = files.get_mut(file as usize) {
                    file.names.push(name);
                }
            });
        }
        self.links.extend(moved);
        count
    }

    /// Takes the links among `files`, which lay below `old`: their names below `new`.
    fn links_below(
        &mut self,
        old: StringId,
        new: StringId,
        files: &[(Vec<u8>, u32)],
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
        let moved = files.iter().filter_map(|(rest, _)| {
            let link = links.remove(&name(old, rest)?)?;
            Some((name(new, rest)?, link))
        });
        moved.collect()
    }
}
