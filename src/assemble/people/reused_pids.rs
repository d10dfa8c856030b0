//! Ends of processes whose exit is not in the file and whose pid another process has later, or that the kernel has
//! forgotten.
//!
//! ```text
//! pid 7, first     born at 1.0 ... last line at 1.2                 its exit was lost: it ended at 1.2
//! pid 7, second                                     born at 3.0
//! pid 8            born at 1.0 ... last line at 1.2                 the same
//! pid 9 (RCU)                                 sched_process_free pid=8
//! ```
//!
//! Of the 21 etrace files of the corpus, 2 contain reused pids (120 and 116), and no exit before a reuse is missing. Of
//! the 15 trace.dat files of the corpus and the samples with `sched_process_free`, 1 contains two such events of
//! threads whose exit is not in the file.

use super::super::cuts::CutEnd;
use super::births::LifeEvent;
use super::ends::is_cut;
use crate::base::Timestamp;
use crate::event::Life;
use crate::trace::{Process, ProcessId, Thread, ThreadId, ThreadMap};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many earlier owners of a number are considered.
const MOST_OWNERS: u32 = 16;

/// Returns the threads that the kernel has forgotten, each with the time of the event that states it. The kernel forgets
/// a thread some time after its end: when its number was reused before, the event is about the earlier thread.
pub(crate) fn forgotten(
    keys: &ThreadMap,
    threads: &[Thread],
    lives: &[LifeEvent<'_>],
) -> Vec<CutEnd> {
    let mut known: FxHashSet<ThreadId> = FxHashSet::default();
    let mut found = Vec::new();
    for row in lives {
        let Life::Forgotten { thread: key } = row.life else {
            continue;
        };
        let Some(latest) = keys.at(*key, row.time) else {
            continue;
        };
        // The threads with one key are adjacent, in order of their births.
        let is_one = |id: &ThreadId| {
            let thread = threads.get(id.0 as usize);
            let of_key = threads.get(latest.0 as usize).map(|thread| thread.key);
            thread.is_some_and(|thread| Some(thread.key) == of_key)
        };
        let owners = (latest.0.saturating_sub(MOST_OWNERS)..=latest.0).rev();
        let owners = owners.map(ThreadId).take_while(is_one);
        let can_be = |id: &ThreadId| {
            let last_seen = threads.get(id.0 as usize).map(|thread| thread.seen.last);
            !known.contains(id) && last_seen.is_some_and(|last| last <= row.time)
        };
        let owners: Vec<ThreadId> = owners.filter(can_be).collect();
        // The earliest that has ended; if the end of none was recorded, the latest.
        let has_ended = |id: &&ThreadId| {
            let thread = threads.get(id.0 as usize);
            thread.is_some_and(|thread| thread.end.is_some())
        };
        let thread = owners.iter().rev().find(has_ended).or(owners.first());
        if let Some(&thread) = thread {
            known.insert(thread);
            let time = row.time;
            found.push(CutEnd { thread, time });
        }
    }
    found
}

/// Sets the end of these threads and processes to the time of their last event. Returns the threads whose number
/// another thread has later, and the time since which it has it, and those that were forgotten.
pub(crate) fn end_reused(
    threads: &mut [Thread],
    processes: &mut [Process],
    forgotten: &[CutEnd],
) -> Vec<CutEnd> {
    let mut by_tid: Vec<(u64, Timestamp, ThreadId)> = (0..)
        .map(ThreadId)
        .zip(threads.iter())
        .skip(1)
        .map(|(id, thread)| (thread.tid, thread.start.unwrap_or(thread.seen.first), id))
        .collect();
    by_tid.sort_unstable();
    let mut replaced = forgotten.to_vec();
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
    }
    // A number may be another thread's before the kernel has forgotten the first.
    replaced.sort_unstable_by_key(|it| (it.thread, it.time));
    replaced.dedup_by_key(|it| it.thread);
    // A leader's pid is free when all threads of its process have ended: the last end of each process.
    let mut gone: FxHashMap<ProcessId, Option<Timestamp>> = FxHashMap::default();
    for CutEnd { thread: id, .. } in &replaced {
        let Some(thread) = threads.get_mut(id.0 as usize) else {
            continue;
        };
        thread.end = thread.end.or(Some(thread.seen.last));
        let of = thread.process.filter(|of| {
            let process = processes.get(of.0 as usize);
            process.is_some_and(|process| process.main_thread == Some(*id))
        });
        if let Some(of) = of {
            gone.insert(of, None);
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
