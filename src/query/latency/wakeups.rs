//! How long woken threads waited for a CPU.

use rayon::prelude::*;

use super::{Among, Sample, longest};
use crate::base::{Cancelled, Job, TimeSpan, Timestamp};
use crate::query::Item;
use crate::query::distribution::Distribution;
use crate::trace::{CpuId, EventId, StateId, ThreadId, ThreadState, Trace};

/// The wakeups of one thread.
#[derive(Clone, Debug)]
pub struct WakeupLatency {
    /// Whose.
    pub thread: ThreadId,
    /// How long it waited each time.
    pub lengths: Distribution,
    /// The longest waits, the longest first.
    pub worst: Vec<Sample>,
    /// Woken, but never seen to run afterwards.
    pub unmatched: u64,
}

/// From each wakeup in `span` until the thread ran, by thread; the one with the longest wait first.
/// Each keeps its `worst` longest. A wakeup is on the CPU on which the thread ran.
///
/// # Errors
/// If the job is cancelled.
pub fn wakeups(
    trace: &Trace,
    among: &Among,
    span: TimeSpan,
    worst: usize,
    job: &Job,
) -> Result<Vec<WakeupLatency>, Cancelled> {
    let all = (0..trace.threads.len() as u32).map(ThreadId);
    let all: Vec<ThreadId> = all.filter(|thread| among.may_have(*thread)).collect();
    job.add_total(all.len() as u64);
    let mut found: Vec<WakeupLatency> = all
        .into_par_iter()
        .filter(|_| !job.is_cancelled())
        .map(|thread| {
            let row = of_thread(trace, (thread, among), span, worst);
            job.advance(1);
            row
        })
        .filter(|row| row.lengths.count() + row.unmatched > 0)
        .collect();
    job.check()?;
    found.sort_by_key(|row| (std::cmp::Reverse(row.lengths.max_ns()), row.thread));
    Ok(found)
}

fn of_thread(
    trace: &Trace,
    (thread, among): (ThreadId, &Among),
    span: TimeSpan,
    worst: usize,
) -> WakeupLatency {
    let states = &trace.states;
    let rows = states.of(thread);
    let mut samples = Vec::new();
    let mut unmatched = 0;
    for row in states.overlapping(rows.clone(), span) {
        let at = row as usize;
        let start = Timestamp(states.starts[at]);
        // Who was only pushed off its CPU, or gave it up, was not woken.
        let was_off = row == rows.start || states.states[at - 1] != ThreadState::Running;
        if states.states[at] != ThreadState::Runnable || !was_off || !span.contains(start) {
            continue;
        }
        let next = row + 1;
        let runs = next < rows.end && states.states[next as usize] == ThreadState::Running;
        if was_switched_off(trace, row, runs.then_some(next)) {
            continue;
        }
        let cpu = CpuId(states.partners[next.min(rows.end - 1) as usize]);
        if !among.has(thread, runs.then_some(cpu)) {
            continue;
        }
        if !runs {
            unmatched += 1;
            continue;
        }
        samples.push(Sample {
            start,
            length_ns: states.ends[at].saturating_sub(start.0),
            from: Item::State(StateId(row)),
            to: Item::State(StateId(next)),
        });
    }
    WakeupLatency {
        thread,
        worst: longest(&samples, worst),
        lengths: Distribution::of(samples.iter().map(|sample| sample.length_ns).collect()),
        unmatched,
    }
}

/// Whether a ready state came with a switch from the thread (of which nothing was known before), not with a wakeup: the
/// event is of the kind of the one by which it ran next.
fn was_switched_off(trace: &Trace, row: u32, next: Option<u32>) -> bool {
    let states = &trace.states;
    let kind = |row: u32| {
        let event = states.events[row as usize];
        (event != u32::MAX).then(|| trace.events.kind(EventId(event)))
    };
    let is_woken = states.partners[row as usize] != u32::MAX;
    !is_woken && kind(row).is_some_and(|it| next.and_then(kind) == Some(it))
}
