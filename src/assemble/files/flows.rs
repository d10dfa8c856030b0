//! Makes arrows from files: from the process that wrote a file to those that read, renamed or linked it afterwards.

use super::super::file_history::{Cuts, FileDependency, FileHistory, FileSource};
use super::super::link::Link;
use crate::base::{Diagnostics, Severity, StringId, Strings};
use crate::event::{FileOp, FlowKind};

/// Names of arrows, interned before the arrows are made.
#[derive(Clone, Copy, Default)]
pub(crate) struct LinkNames {
    /// The name of arrows to a reader.
    pub file: StringId,
    /// The name of arrows to a rename.
    pub rename: StringId,
    /// The name of arrows to a link.
    pub link: StringId,
}

impl LinkNames {
    /// Returns the names; adds them to `strings`.
    pub(crate) fn new(strings: &mut Strings) -> LinkNames {
        LinkNames {
            file: strings.intern_text(FlowKind::File.word()),
            rename: strings.intern_text(FlowKind::Rename.word()),
            link: strings.intern_text(FlowKind::Link.word()),
        }
    }
}

/// Arrows from writers of files to their readers.
#[derive(Debug, Default)]
pub(crate) struct FileLinks {
    /// The arrows.
    pub links: Vec<Link>,
    /// Counts of the arrows that were left out because of the limits.
    pub diagnostics: Diagnostics,
}

/// Returns the arrows between all operations on files.
pub(crate) fn file_links(names: LinkNames, source: FileSource<'_>) -> FileLinks {
    if source.rows.is_empty() {
        return FileLinks::default();
    }
    let history = FileHistory::of(source);
    let link = |dependency: &FileDependency| {
        let op = source.rows.get(dependency.read as usize).map(|row| row.op);
        let (name, kind) = match op {
            Some(FileOp::Rename) => (names.rename, FlowKind::Rename),
            Some(FileOp::Link | FileOp::Symlink) => (names.link, FlowKind::Link),
            _ => (names.file, FlowKind::File),
        };
        Link {
            name,
            kind,
            key: u64::from(dependency.file.0),
            from: dependency.from.event,
            to: dependency.to.event,
        }
    };
    let links = history.dependencies.iter().map(link).collect();
    FileLinks {
        links,
        diagnostics: cut_notes(history.cuts),
    }
}

/// Returns diagnostics about the arrows that were left out because of the limits.
fn cut_notes(cuts: Cuts) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let mut note = |code, count: u64, text: &str| {
        if count > 0 {
            diagnostics.note_many(code, Severity::Info, None, count, || text.to_owned());
        }
    };
    note(
        "writers_left_out",
        cuts.writers,
        "files with more than a thousand later writers: later readers are not listed as depending on the first writers",
    );
    note(
        "dependencies_left_out",
        cuts.dependencies.into(),
        "there are too many dependencies between processes by files: the list is cut",
    );
    note(
        "moved_files_left_out",
        cuts.moved.into(),
        "folders were renamed too often: their files are not followed any more",
    );
    note(
        "inherited_files_left_out",
        cuts.inherited.into(),
        "too many open files were inherited: the files of later children are not followed",
    );
    diagnostics
}
