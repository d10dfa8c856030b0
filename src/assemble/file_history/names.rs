//! Maps a path to the file that was last created, renamed or linked there, also if a folder above it was moved.
//!
//! ```text
//! mv old new        old/a, old/b/c are new/a, new/b/c from now on, whether or not any row contains these names
//! ```
//!
//! Names below a folder are found in a sorted map of all names, which is made when the first folder moves.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::file::FileId;
use crate::base::{Maybe, StringId, Strings};

/// Folders may move this many files in all, and this many more for each row about a file. The limit keeps the work in
/// proportion to the trace's length, although each of many moves may move all files.
const MOST_MOVED: usize = 1 << 16;
const MOST_MOVED_EACH: usize = 16;

/// A file below a folder.
pub(super) struct Below {
    /// Its name after the folder's, from the slash on.
    pub rest: Vec<u8>,
    /// The file.
    pub file: FileId,
}

/// The file at each path.
pub(super) struct FileNames<'a> {
    strings: &'a Strings,
    /// The file at each path, indexed by string id.
    at_path: Vec<Maybe<u32>>,
    /// The same sorted by name, including names that are not in the string table. `None` until the first folder moves.
    in_order: Option<BTreeMap<Cow<'a, [u8]>, u32>>,
    moved: usize,
    most_moved: usize,
}

impl<'a> FileNames<'a> {
    /// Returns an empty map; `row_count` is the number of rows about files.
    pub(super) fn new(strings: &'a Strings, row_count: usize) -> FileNames<'a> {
        FileNames {
            strings,
            at_path: vec![Maybe::NONE; strings.len()],
            in_order: None,
            moved: 0,
            most_moved: MOST_MOVED + MOST_MOVED_EACH * row_count,
        }
    }

    /// Returns the file at `path`.
    pub(super) fn at(&self, path: StringId) -> Option<FileId> {
        let file = self.at_path.get(path.0 as usize);
        file?.get().map(FileId)
    }

    /// Sets the file at `path`; `None` removes it.
    pub(crate) fn set(&mut self, path: StringId, file: Option<FileId>) {
        if let Some(slot) = self.at_path.get_mut(path.0 as usize) {
            *slot = file.map(|file| file.0).into();
        }
        let name = self.strings.bytes(path);
        match (&mut self.in_order, file) {
            (Some(names), None) => {
                names.remove(name);
            }
            (Some(names), Some(file)) => {
                names.insert(Cow::Borrowed(name), file.0);
            }
            (None, _) => {}
        }
    }

    /// Returns whether folders moved more files than the limit.
    pub(super) fn is_cut(&self) -> bool {
        self.moved > self.most_moved
    }

    /// Removes all files below `folder` and returns them.
    pub(crate) fn take_below(&mut self, folder: StringId) -> Vec<Below> {
        let folder = self.strings.bytes(folder);
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        if folder.is_empty() || self.is_cut() {
            return Vec::new();
        }
        let (strings, at_path) = (self.strings, &self.at_path);
        let names = self.in_order.get_or_insert_with(|| {
            let all = (0..).zip(at_path);
            let all = all.filter_map(|(id, file)| Some((id, file.get()?)));
            all.map(|(id, file)| (Cow::Borrowed(strings.bytes(StringId(id))), file))
                .collect()
        });
        let below = [folder, b"/"].concat();
        let found: Vec<Below> = names
            .range(Cow::Borrowed(below.as_slice())..)
            .map_while(|(name, &file)| Some((name.strip_prefix(folder)?, file)))
            .take_while(|(rest, _)| rest.starts_with(b"/"))
            .map(|(rest, file)| Below {
                rest: rest.to_vec(),
                file: FileId(file),
            })
            .collect();
        for Below { rest, .. } in &found {
            let name = [folder, rest.as_slice()].concat();
            names.remove(name.as_slice());
            if let Some(slot) = strings
                .find(&name)
                .and_then(|id| self.at_path.get_mut(id.0 as usize))
            {
                *slot = Maybe::NONE;
            }
        }
        self.moved += found.len();
        found
    }

    /// Puts files below `folder`; calls `each` with the names that the string table contains, and their files.
    pub(crate) fn put_below(
        &mut self,
        folder: StringId,
        files: Vec<Below>,
        each: &mut dyn FnMut(StringId, FileId),
    ) {
        let folder = self.strings.bytes(folder);
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        for Below { rest, file } in files {
            let name = [folder, &rest].concat();
            if let Some(id) = self.strings.find(&name) {
                self.set(id, Some(file));
                each(id, file);
            } else if let Some(names) = &mut self.in_order {
                names.insert(Cow::Owned(name), file.0);
            }
        }
    }
}
