//! What was done to files, as rows sorted by time; opens are counted for their processes.

use super::merge::Merged;
use crate::event::FileOp;
use crate::trace::{FileUse, Files, Process, Thread};

/// See the module's text.
pub fn build_files(merged: &Merged, processes: &mut [Process], threads: &[Thread]) -> Files {
    let mut rows = Vec::new();
    for part in &merged.parts {
        for row in &part.rows.files {
            let event = part.event(row.event);
            rows.push(FileUse {
                time: merged.time(part, row.event),
                thread: merged.events.thread(event),
                op: row.op,
                path: part.string(row.path),
                other_path: part.string(row.other_path),
                flags: row.flags,
                mode: row.mode,
                fd: row.fd,
                result: row.result,
                event,
            });
        }
    }
    rows.sort_by_key(|row| row.time);
    for row in &rows {
        let process = threads
            .get(row.thread.0 as usize)
            .and_then(|thread| thread.process);
        if let (FileOp::Open, Some(process)) = (
            row.op,
            process.and_then(|id| processes.get_mut(id.0 as usize)),
        ) {
            process.opens += 1;
        }
    }
    Files { rows }
}
