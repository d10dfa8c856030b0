//! Makes rows about files, sorted by time, from the rows of all parts; counts the opens of each process.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use super::super::people::People;
use super::super::recorded::Recorded;
use super::super::rows::PerPart;
use super::path_kinds::Paths;
use crate::base::order::settle;
use crate::base::{StringId, Strings};
use crate::event::{FileOp, FileRow};
use crate::trace::FileUse;

/// The rows about files, and the opens of each process.
#[derive(Debug)]
pub(crate) struct Activity {
    /// The rows but [`FileOp::Write`], sorted by time.
    pub rows: Vec<FileUse>,
    /// The other rows, sorted by time.
    pub writes: Vec<FileUse>,
    /// The number of files that each process opened.
    pub opens: Vec<u32>,
    /// The changes that paths need.
    pub paths: Paths,
}

/// A parallel job has at least this many rows.
const MANY_ROWS: usize = 4096;

/// Returns the rows about files of all parts.
pub(super) fn collect(
    of_parts: &PerPart<FileRow>,
    recorded: &Recorded,
    people: &People,
    strings: &Strings,
) -> Activity {
    let mut ends = Vec::with_capacity(of_parts.len());
    let mut count = 0;
    for rows in of_parts {
        count += rows.len();
        ends.push(count);
    }
    if count == 0 {
        return Activity {
            rows: Vec::new(),
            writes: Vec::new(),
            opens: Vec::new(),
            paths: Paths::Whole,
        };
    }
    let paths: Vec<Vec<Paths>> = recorded
        .parts
        .par_iter()
        .map(|part| {
            let of_string = |id: StringId| Paths::of(strings.bytes(id));
            part.strings.0.iter().map(of_string).collect()
        })
        .collect();
    let has = [(); 3].map(|()| AtomicBool::new(false));
    let processes = people.processes.iter();
    let opens: Vec<AtomicU32> = processes.map(|_| AtomicU32::new(0)).collect();
    let mut rows: Vec<FileUse> = (0..count)
        .into_par_iter()
        .with_min_len(MANY_ROWS)
        .map_init(
            || 0,
            |number: &mut usize, at| {
                // The row is mostly of the same part as the row before.
                let start = |number: usize| number.checked_sub(1).map_or(0, |last| ends[last]);
                if !(start(*number)..ends[*number]).contains(&at) {
                    *number = ends.partition_point(|&end| end <= at);
                }
                let part = &recorded.parts[*number];
                let row = &of_parts[*number][at - start(*number)];
                for path in [row.path, row.other_path] {
                    match paths[*number].get(path.0 as usize) {
                        Some(Paths::SomeRelative) => has[0].store(true, Ordering::Relaxed),
                        Some(Paths::SomeOfDescriptors) => has[1].store(true, Ordering::Relaxed),
                        // An open's other path, its original spelling beside the path it led to, stays as it is.
                        Some(Paths::SomeUneven) if row.op != FileOp::Open || path == row.path => {
                            has[2].store(true, Ordering::Relaxed);
                        }
                        _ => {}
                    }
                }
                let time = recorded.time(part, row.event);
                let thread = recorded.thread(part, row.event);
                if row.op == FileOp::Open
                    && let Some(thread) = thread
                    && let Some(process) = people.process_of(thread)
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
    // Successive parts overlap by a few rows; parts of several lanes overlap wholly.
    if !settle(&mut rows, &|row: &FileUse| row.time) {
        rows.par_sort_by_key(|row| row.time);
    }
    let writes = rows.extract_if(.., |row| row.op == FileOp::Write).collect();
    let paths = match has.map(AtomicBool::into_inner) {
        [_, true, _] => Paths::SomeOfDescriptors,
        [true, false, _] => Paths::SomeRelative,
        [false, false, true] => Paths::SomeUneven,
        [false, false, false] => Paths::Whole,
    };
    Activity {
        rows,
        writes,
        opens: opens.into_iter().map(AtomicU32::into_inner).collect(),
        paths,
    }
}
