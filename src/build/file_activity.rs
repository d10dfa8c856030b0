//! What was done to files, as rows sorted by time; opens are counted for their processes.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use super::directories::Paths;
use super::merge::Merged;
use crate::base::StringId;
use crate::base::order::settle;
use crate::event::FileOp;
use crate::trace::{FileUse, Files, Process, Thread};

/// So many rows are worth a job of their own.
const MANY_ROWS: usize = 4096;

/// See the module's text.
pub fn build_files(
    merged: &mut Merged,
    processes: &mut [Process],
    threads: &[Thread],
) -> (Files, Paths) {
    let mut ends = Vec::with_capacity(merged.parts.len());
    let mut count = 0;
    for part in &merged.parts {
        count += part.rows.files.len();
        ends.push(count);
    }
    if count == 0 {
        return (Files::default(), Paths::Whole);
    }
    let paths: Vec<Vec<Paths>> = merged
        .parts
        .par_iter()
        .map(|part| {
            let of_string = |&id: &StringId| Paths::of(merged.strings.bytes(id));
            part.string_map.iter().map(of_string).collect()
        })
        .collect();
    let has = [(); 3].map(|()| AtomicBool::new(false));
    let opens: Vec<AtomicU32> = processes.iter().map(|_| AtomicU32::new(0)).collect();
    let mut rows: Vec<FileUse> = (0..count)
        .into_par_iter()
        .with_min_len(MANY_ROWS)
        .map_init(
            || 0,
            |number: &mut usize, at| {
                // Mostly the part of the row before.
                let start = |number: usize| number.checked_sub(1).map_or(0, |last| ends[last]);
                if !(start(*number)..ends[*number]).contains(&at) {
                    *number = ends.partition_point(|&end| end <= at);
                }
                let part = &merged.parts[*number];
                let row = &part.rows.files[at - start(*number)];
                for path in [row.path, row.other_path] {
                    match paths[*number].get(path.0 as usize) {
                        Some(Paths::SomeRelative) => has[0].store(true, Ordering::Relaxed),
                        Some(Paths::SomeOfDescriptors) => has[1].store(true, Ordering::Relaxed),
                        // What an open said beside what it led to stays as it is.
                        Some(Paths::SomeUneven) if row.op != FileOp::Open || path == row.path => {
                            has[2].store(true, Ordering::Relaxed);
                        }
                        _ => {}
                    }
                }
                let columns = &merged.events.segments()[part.segment as usize].columns;
                let time = columns.time(row.event);
                let thread = merged.events.threads.at(columns.thread(row.event), time);
                if row.op == FileOp::Open
                    && let Some(process) =
                        threads.get(thread.0 as usize).and_then(|row| row.process)
                    && let Some(opens) = opens.get(process.0 as usize)
                {
                    opens.fetch_add(1, Ordering::Relaxed);
                }
                FileUse {
                    time,
                    thread,
                    op: row.op,
                    path: part.string(row.path),
                    other_path: part.string(row.other_path),
                    flags: row.flags,
                    fd: row.fd,
                    result: row.result,
                    event: part.event(row.event),
                }
            },
        )
        .collect();
    for part in &mut merged.parts {
        part.rows.files = Vec::new();
    }
    // Parts that follow each other overlap by a few rows; those of several lanes wholly.
    if !settle(&mut rows, &|row: &FileUse| row.time) {
        rows.par_sort_by_key(|row| row.time);
    }
    for (process, opens) in processes.iter_mut().zip(opens) {
        process.opens += opens.into_inner();
    }
    let paths = match has.map(AtomicBool::into_inner) {
        [_, true, _] => Paths::SomeOfDescriptors,
        [true, false, _] => Paths::SomeRelative,
        [false, false, true] => Paths::SomeUneven,
        [false, false, false] => Paths::Whole,
    };
    let files = Files {
        rows,
        ..Files::default()
    };
    (files, paths)
}
