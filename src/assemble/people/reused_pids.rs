//! Ends of processes whose exit is not in the file and whose pid another process has later.
//!
//! ```text
//! pid 7, first     born at 1.0 ... last line at 1.2                 its exit was lost: it ended at 1.2
//! pid 7, second                                     born at 3.0
//! ```

use super::super::cuts::CutEnd;
use super::ends::is_cut;
use crate::base::Timestamp;
use crate::trace::{Process, ProcessId, Thread, ThreadId};
use rustc_hash::FxHashMap;

/// Sets the end of these threads and processes to the time of their last event. Returns the threads whose number
/// another thread has later, and the time since which it has it.
pub(crate) fn end_reused(threads: &mut [Thread], processes: &mut [Process]) -> Vec<CutEnd> {
    let mut by_tid: Vec<(u64, Timestamp, ThreadId)> = (0..)
        .map(ThreadId)
        .zip(threads.iter())
        .skip(1)
        .map(|(id, thread)| (thread.tid, thread.start.unwrap_or(thread.seen.first), id))
        .collect();
    by_tid.sort_unstable();
    let mut ended: Vec<ThreadId> = Vec::new();
    let mut replaced = Vec::new();
    // A leader's pid is free when all threads of its process have ended: the last end of each process.
    let mut gone: FxHashMap<ProcessId, Option<Timestamp>> = FxHashMap::default();
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
        if tid != next_tid || next.start.is_none() || thread.seen.last > since {
            continue;
        }
        replaced.push(CutEnd {
            thread: earlier,
            time: since,
        });
        if thread.end.is_none() {
            ended.push(earlier);
        }
        let of = thread.process.filter(|of| {
            let process = processes.get(of.0 as usize);
            process.is_some_and(|process| process.main_thread == Some(earlier))
        });
        if let Some(of) = of {
            gone.insert(of, None);
        }
    }
    for id in ended {
        if let Some(thread) = threads.get_mut(id.0 as usize) {
            thread.end = Some(thread.seen.last);
        }
    }
    if gone.is_empty() {
        return replaced;
    }
    for id in 0..threads.len() as u32 {
        let is_cut = is_cut(threads, id);
        let Some(thread) = threads.get_mut(id as usize) else {
            continue;
        };
        if let Some(last) = thread.process.and_then(|of| gone.get_mut(&of)) {
            let end = *thread.end.get_or_insert(thread.seen.last);
            *last = (*last).max(Some(end).filter(|_| !is_cut));
        }
    }
    for (of, last) in gone {
        if let Some(process) = processes.get_mut(of.0 as usize) {
            let main = process
                .main_thread
                .and_then(|id| threads.get(id.0 as usize));
            let end = last.or_else(|| main?.end);
            process.end = process.end.or(end);
        }
    }
    replaced
}
