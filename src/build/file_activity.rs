//! What was done to files, as rows sorted by time; opens are counted for their processes.

use rayon::prelude::*;

use super::merge::Merged;
use crate::event::FileOp;
use crate::trace::{FileUse, Files, Process, Thread};

/// So many rows are worth a job of their own.
const MANY_ROWS: usize = 4096;

/// See the module's text.
pub fn build_files(merged: &mut Merged, processes: &mut [Process], threads: &[Thread]) -> Files {
    let mut starts = Vec::with_capacity(merged.parts.len());
    let mut count = 0;
    for part in &merged.parts {
        starts.push(count);
        count += part.rows.files.len();
    }
    let mut rows: Vec<FileUse> = (0..count)
        .into_par_iter()
        .with_min_len(MANY_ROWS)
        .map(|at| {
            let number = starts.partition_point(|&start| start <= at) - 1;
            let part = &merged.parts[number];
            let row = &part.rows.files[at - starts[number]];
            let columns = &merged.events.segments()[part.segment as usize].columns;
            let time = columns.time(row.event);
            FileUse {
                time,
                thread: merged.events.threads.at(columns.thread(row.event), time),
                op: row.op,
                path: part.string(row.path),
                other_path: part.string(row.other_path),
                flags: row.flags,
                mode: row.mode,
                fd: row.fd,
                result: row.result,
                event: part.event(row.event),
            }
        })
        .collect();
    for part in &mut merged.parts {
        part.rows.files = Vec::new();
    }
    if !rows.is_sorted_by_key(|row| row.time) {
        rows.par_sort_by_key(|row| row.time);
    }
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
