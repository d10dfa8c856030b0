//! Files as arrows: from whoever wrote a file to those that read, renamed or linked it afterwards.

use super::merge::Merged;
use super::process_life::Link;
use crate::base::StringId;
use crate::event::FileOp;
use crate::trace::file_history::FileSource;
use crate::trace::{FileHistory, Trace};

/// What arrows are called, made before.
#[derive(Clone, Copy, Default)]
pub struct Names {
    /// To a reader.
    pub file: StringId,
    /// To a rename.
    pub rename: StringId,
    /// To a link.
    pub link: StringId,
}

/// The strings that this needs; none where nothing was done to files.
pub fn names(merged: &mut Merged, trace: &Trace) -> Names {
    if trace.files.rows.is_empty() {
        return Names::default();
    }
    Names {
        file: merged.strings.intern_text("file"),
        rename: merged.strings.intern_text("rename"),
        link: merged.strings.intern_text("link"),
    }
}

/// The arrows.
pub fn build_file_links(names: Names, source: FileSource<'_>) -> Vec<Link> {
    if source.rows.is_empty() {
        return Vec::new();
    }
    FileHistory::of(source)
        .dependencies
        .iter()
        .map(|dependency| Link {
            name: match source.rows.get(dependency.read as usize).map(|row| row.op) {
                Some(FileOp::Rename) => names.rename,
                Some(FileOp::Link | FileOp::Symlink) => names.link,
                _ => names.file,
            },
            key: u64::from(dependency.file.0),
            from: dependency.from.1,
            to: dependency.to.1,
        })
        .collect()
}
