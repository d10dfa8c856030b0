//! Files as arrows: from whoever wrote a file to those that read, renamed or linked it afterwards.

use super::merge::Merged;
use super::process_life::Link;
use crate::base::{Diagnostics, Severity, StringId};
use crate::event::FileOp;
use crate::trace::file_history::{Cuts, FileSource};
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

/// Says what was not followed.
pub fn note_cuts(cuts: Cuts, diagnostics: &mut Diagnostics) {
    let mut note = |code, count: u64, text: &str| {
        if count > 0 {
            diagnostics.note_many(code, Severity::Info, None, count, || text.to_owned());
        }
    };
    note(
        "writers_left_out",
        cuts.writers,
        "writers of files that had a thousand others after them: nobody who read the file later is said to depend on them",
    );
    note(
        "dependencies_left_out",
        cuts.dependencies.into(),
        "there are more dependencies between processes by files than are listed",
    );
    note(
        "moved_files_left_out",
        cuts.moved.into(),
        "folders were renamed so often that their files are not followed any more",
    );
    note(
        "inherited_files_left_out",
        cuts.inherited.into(),
        "so many open files were inherited that those of later children are not followed",
    );
}

/// The arrows, and what was left out.
pub fn build_file_links(names: Names, source: FileSource<'_>) -> (Vec<Link>, Cuts) {
    if source.rows.is_empty() {
        return (Vec::new(), Cuts::default());
    }
    let history = FileHistory::of(source);
    let links = history
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
        .collect();
    (links, history.cuts)
}
