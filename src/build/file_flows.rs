//! Files as arrows: from whoever wrote a file to those that read, renamed or linked it afterwards.

use super::process_life::Link;
use crate::event::FileOp;
use crate::trace::{FileHistory, Trace};

/// The arrows; `trace.files`, `trace.events` and people are there.
pub fn build_file_links(trace: &mut Trace) -> Vec<Link> {
    if trace.files.rows.is_empty() {
        return Vec::new();
    }
    let history = FileHistory::new(trace);
    let names = ["file", "rename", "link"].map(|name| trace.strings.intern_text(name));
    let rows = &trace.files.rows;
    history
        .dependencies
        .iter()
        .map(|dependency| Link {
            name: match rows.get(dependency.read as usize).map(|row| row.op) {
                Some(FileOp::Rename) => names[1],
                Some(FileOp::Link | FileOp::Symlink) => names[2],
                _ => names[0],
            },
            key: u64::from(dependency.file.0),
            from: dependency.from.1,
            to: dependency.to.1,
        })
        .collect()
}
