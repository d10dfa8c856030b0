//! Processes whose end is not in the file, and whose pid somebody else has later: they ended.
//!
//! ```text
//! pid 7, first     born at 1.0 ... last line at 1.2                 its exit was lost: it ended at 1.2
//! pid 7, second                                     born at 3.0
//! ```

use crate::base::Timestamp;
use crate::trace::{Process, Thread, ThreadId};
use rustc_hash::FxHashMap;

/// Ends such threads and processes with the last that was seen of them.
pub fn end_reused(threads: &mut [Thread], processes: &mut [Process]) {
    let mut by_tid: Vec<(u64, Timestamp, ThreadId)> = (0..)
        .map(ThreadId)
        .zip(threads.iter())
        .skip(1)
        .map(|(id, thread)| (thread.tid, thread.start.unwrap_or(thread.seen.0), id))
        .collect();
    by_tid.sort_unstable();
    let mut ended: Vec<ThreadId> = Vec::new();
    for pair in by_tid.windows(2) {
        let [(tid, _, earlier), (next_tid, since, later)] = *pair else {
            continue;
        };
        let (Some(thread), Some(next)) = (
            threads.get(earlier.0 as usize),
            threads.get(later.0 as usize),
        ) else {
            continue;
        };
        if tid == next_tid && thread.end.is_none() && next.start.is_some() && thread.seen.1 <= since
        {
            ended.push(earlier);
        }
    }
    if ended.is_empty() {
        return;
    }
    for &id in &ended {
        if let Some(thread) = threads.get_mut(id.0 as usize) {
            thread.end = Some(thread.seen.1);
        }
    }
    // A main thread's number is free when all threads of its process are gone.
    let mut last_seen: FxHashMap<u32, Timestamp> = FxHashMap::default();
    for thread in threads.iter() {
        if let Some(process) = thread.process {
            let last = last_seen.entry(process.0).or_insert(thread.seen.1);
            *last = (*last).max(thread.seen.1);
        }
    }
    for id in ended {
        let Some(of) = threads.get(id.0 as usize).and_then(|thread| thread.process) else {
            continue;
        };
        if let Some(process) = processes.get_mut(of.0 as usize)
            && process.main_thread == Some(id)
            && process.end.is_none()
        {
            process.end = last_seen.get(&of.0).copied();
        }
    }
}
