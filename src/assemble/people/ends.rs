//! Ends of processes: a process ends with the last of its threads.
//!
//! ```text
//! thread 7 (leads)   |------ exit
//! thread 8               |------------- exit        process 7 ends here
//! thread 9               |----- ...                 no event after the leader's exit: ended with process 7
//! ```
//!
//! If a thread of a process has events after the leader's exit and no exit itself, the process has not ended. (A thread
//! whose key belongs to another thread later proves nothing, because it is unknown how long the thread lived.)

use super::table::People;
use crate::base::Timestamp;
use crate::trace::{Process, States, Thread, ThreadId};

/// Returns `people` with ends: a thread whose last switch records that it exited has ended there, even without an exit
/// event; a process whose leader has ended ends with the last of its threads.
pub(crate) fn with_ends(mut people: People, states: &States) -> People {
    let (threads, processes) = (&mut people.threads, &mut people.processes);
    for (id, thread) in threads.iter_mut().enumerate() {
        let Some(last) = states.of(ThreadId(id as u32)).next_back() else {
            continue;
        };
        let has_died = states.states[last as usize].is_over();
        if thread.end.is_some() || !has_died {
            continue;
        }
        let end = Timestamp(states.starts[last as usize]);
        thread.end = Some(end);
        let process = thread
            .process
            .and_then(|process| processes.get_mut(process.0 as usize));
        if let Some(process) =
            process.filter(|process| process.main_thread == Some(ThreadId(id as u32)))
        {
            process.end = process.end.or(Some(end));
        }
    }
    // A thread that ended after its leader ends the process later; one that has not ended keeps the process open.
    let mut unended = Vec::new();
    for (thread, id) in threads.iter().zip(0_u32..).skip(1) {
        let Some(of) = thread.process else { continue };
        if is_cut(threads, id) {
            continue;
        }
        let Some(process) = processes.get_mut(of.0 as usize) else {
            continue;
        };
        let leader = process.main_thread.filter(|leader| leader.0 != id);
        let leader: Option<&Thread> = leader.and_then(|leader| threads.get(leader.0 as usize));
        let Some(leader_end) = leader.and_then(|leader| leader.end) else {
            continue;
        };
        match thread.end {
            Some(end) if process.end.is_some_and(|of_process| of_process < end) => {
                process.end = Some(end);
                process.exit_event = None;
            }
            None if thread.seen.last > leader_end => unended.push(of),
            _ => {}
        }
    }
    for of in unended {
        if let Some(process) = processes.get_mut(of.0 as usize) {
            process.end = None;
            process.exit_event = None;
            process.exit_status = None;
            process.exit_signal = None;
        }
    }
    end_the_silent(threads, processes);
    people
}

/// Ends the threads of a process that has ended, also threads without an exit event (`exit_group` ends all).
fn end_the_silent(threads: &mut [Thread], processes: &[Process]) {
    for id in 1..threads.len() as u32 {
        let is_cut = is_cut(threads, id);
        let Some(thread) = threads.get_mut(id as usize) else {
            continue;
        };
        let process = thread.process.and_then(|of| processes.get(of.0 as usize));
        let end = process.and_then(|process| process.end);
        if thread.end.is_none() && !is_cut && end.is_some_and(|end| thread.seen.last <= end) {
            thread.end = end;
        }
    }
}

/// Returns whether a thread's last event is uncertain because its key later belongs to the thread of the next row.
pub(super) fn is_cut(threads: &[Thread], id: u32) -> bool {
    let pair = threads.get(id as usize).zip(threads.get(id as usize + 1));
    pair.is_some_and(|(thread, next)| {
        next.key == thread.key && next.start == Some(thread.seen.last)
    })
}
