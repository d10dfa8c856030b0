//! Which file a path means: the one that was last created, renamed or linked there, also when a folder above it moved.
//!
//! ```text
//! mv old new        old/a, old/b/c are new/a, new/b/c from now on; whether anybody ever says these names or not
//! ```
//!
//! Names below a folder are found in an order of all names, which is made when the first folder moves.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::base::{StringId, Strings};

/// How many files are taken along by folders in all, and how many more for each row about a file: no more than the
/// trace is long, though each of many moves may take along all files.
const MOST_MOVED: usize = 1 << 16;
const MOST_MOVED_EACH: usize = 16;
/// No file.
pub(super) const NOTHING: u32 = u32::MAX;

/// See the module's text.
pub(super) struct FileNames<'a> {
    strings: &'a Strings,
    /// The file at each path, by string.
    at_path: Vec<u32>,
    /// The same by name, also of names that are in no table: from the first move of a folder on.
    in_order: Option<BTreeMap<Cow<'a, [u8]>, u32>>,
    moved: usize,
    most_moved: usize,
}

impl<'a> FileNames<'a> {
    /// For so many rows about files.
    pub fn new(strings: &'a Strings, row_count: usize) -> FileNames<'a> {
        FileNames {
            strings,
            at_path: vec![NOTHING; strings.len()],
            in_order: None,
            moved: 0,
            most_moved: MOST_MOVED + MOST_MOVED_EACH * row_count,
        }
    }

    /// The file at `path`, or [`NOTHING`].
    pub fn at(&self, path: StringId) -> u32 {
        self.at_path
            .get(path.0 as usize)
            .copied()
            .unwrap_or(NOTHING)
    }

    /// The file at `path` is this one from now on; [`NOTHING`]: there is none.
    pub fn set(&mut self, path: StringId, file: u32) {
        if let Some(slot) = self.at_path.get_mut(path.0 as usize) {
            *slot = file;
        }
        let name = self.strings.bytes(path);
        match &mut self.in_order {
            Some(names) if file == NOTHING => {
                names.remove(name);
            }
            Some(names) => {
                names.insert(Cow::Borrowed(name), file);
            }
            None => {}
        }
    }

    /// Whether more files were moved than are followed.
    pub fn is_cut(&self) -> bool {
        self.moved > self.most_moved
    }

    /// All that lies below `folder` leaves it: what each name is behind the folder's, and the file.
    pub fn take_below(&mut self, folder: StringId) -> Vec<(Vec<u8>, u32)> {
        let folder = self.strings.bytes(folder);
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        if folder.is_empty() || self.is_cut() {
            return Vec::new();
        }
        let (strings, at_path) = (self.strings, &self.at_path);
        let names = self.in_order.get_or_insert_with(|| {
            let all = (0..).zip(at_path).filter(|(_, file)| **file != NOTHING);
            all.map(|(id, &file)| (Cow::Borrowed(strings.bytes(StringId(id))), file))
                .collect()
        });
        let below = [folder, b"/"].concat();
        let found: Vec<(Vec<u8>, u32)> = names
            .range(Cow::Borrowed(below.as_slice())..)
            .map_while(|(name, &file)| Some((name.strip_prefix(folder)?, file)))
            .take_while(|(rest, _)| rest.starts_with(b"/"))
            .map(|(rest, file)| (rest.to_vec(), file))
            .collect();
        for (rest, _) in &found {
            let name = [folder, rest].concat();
            names.remove(name.as_slice());
            if let Some(slot) = strings
                .find(&name)
                .and_then(|id| self.at_path.get_mut(id.0 as usize))
            {
                *slot = NOTHING;
            }
        }
        self.moved += found.len();
        found
    }

    /// They lie below `folder` now; `each` is told the names that somebody says, and their files.
    pub fn put_below(
        &mut self,
        folder: StringId,
        files: Vec<(Vec<u8>, u32)>,
        each: &mut dyn FnMut(StringId, u32),
    ) {
        let folder = self.strings.bytes(folder);
        let folder = folder.strip_suffix(b"/").unwrap_or(folder);
        for (rest, file) in files {
            let name = [folder, &rest].concat();
            if let Some(id) = self.strings.find(&name) {
                self.set(id, file);
                each(id, file);
            } else if let Some(names) = &mut self.in_order {
                names.insert(Cow::Owned(name), file);
            }
        }
    }
}
