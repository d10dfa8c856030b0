//! Processes end with the last of their threads.
//!
//! ```text
//! thread 7 (leads)   |------ exit
//! thread 8               |------------- exit        process 7 ends here
//! thread 9               |----- ...                 said nothing after the leader's exit: ended with it
//! ```
//!
//! A process of which a thread goes on behind its leader's exit, and that has no exit itself, has not ended. (Of a
//! thread whose key means somebody else later it is not known how long it went on: it says nothing.)

use crate::base::Timestamp;
use crate::trace::{Thread, ThreadId, ThreadState, Trace};

/// Threads whose last switch says that they exited have ended there, even if no exit event says so; and processes
/// whose leader has ended end with the last of their threads.
pub fn end_lives(trace: &mut Trace) {
    for (id, thread) in trace.threads.iter_mut().enumerate() {
        let Some(last) = trace.states.of(ThreadId(id as u32)).next_back() else {
            continue;
        };
        let has_died = matches!(
            trace.states.states[last as usize],
            ThreadState::Zombie | ThreadState::Dead
        );
        if thread.end.is_some() || !has_died {
            continue;
        }
        let end = Timestamp(trace.states.starts[last as usize]);
        thread.end = Some(end);
        let process = thread
            .process
            .and_then(|process| trace.processes.get_mut(process.0 as usize));
        if let Some(process) =
            process.filter(|process| process.main_thread == Some(ThreadId(id as u32)))
        {
            process.end = process.end.or(Some(end));
        }
    }
    let mut unended = Vec::new();
    for (thread, id) in trace.threads.iter().zip(0_u32..).skip(1) {
        let Some(of) = thread.process else { continue };
        if is_cut(&trace.threads, id) {
            continue;
        }
        let Some(process) = trace.processes.get_mut(of.0 as usize) else {
            continue;
        };
        let leader = process.main_thread.filter(|leader| leader.0 != id);
        let leader: Option<&Thread> =
            leader.and_then(|leader| trace.threads.get(leader.0 as usize));
        let Some(leader_end) = leader.and_then(|leader| leader.end) else {
            continue;
        };
        match thread.end {
            Some(end) if process.end.is_some_and(|of_process| of_process < end) => {
                process.end = Some(end);
                process.exit_event = None;
            }
            None if thread.seen.1 > leader_end => unended.push(of),
            _ => {}
        }
    }
    for of in unended {
        if let Some(process) = trace.processes.get_mut(of.0 as usize) {
            process.end = None;
            process.exit_event = None;
            process.exit_status = None;
            process.exit_signal = None;
        }
    }
    end_the_silent(trace);
}

/// Threads of a process that has ended have ended by then, also those that nothing says it of (`exit_group` ends all).
fn end_the_silent(trace: &mut Trace) {
    for id in 1..trace.threads.len() as u32 {
        let is_cut = is_cut(&trace.threads, id);
        let Some(thread) = trace.threads.get_mut(id as usize) else {
            continue;
        };
        let process = thread
            .process
            .and_then(|of| trace.processes.get(of.0 as usize));
        let end = process.and_then(|process| process.end);
        if thread.end.is_none() && !is_cut && end.is_some_and(|end| thread.seen.1 <= end) {
            thread.end = end;
        }
    }
}

/// Whether what a thread was seen doing last is not known: its key, which stands behind it, is another's from then on.
pub fn is_cut(threads: &[Thread], id: u32) -> bool {
    let pair = threads.get(id as usize).zip(threads.get(id as usize + 1));
    pair.is_some_and(|(thread, next)| next.key == thread.key && next.start == Some(thread.seen.1))
}
