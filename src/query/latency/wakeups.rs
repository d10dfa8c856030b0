//! The time that woken threads waited for a CPU.

use rayon::prelude::*;

use super::{Among, Sample, longest};
use crate::base::{Cancelled, Job, Maybe, TimeSpan, Timestamp};
use crate::query::Item;
use crate::query::distribution::Distribution;
use crate::query::seen::Seen;
use crate::trace::{CpuId, StateId, ThreadId, ThreadState, Trace};

/// The wakeups of one thread.
#[derive(Clone, Debug)]
pub struct WakeupLatency {
    /// The thread.
    pub thread: ThreadId,
    /// The lengths of its waits.
    pub lengths: Distribution,
    /// The longest waits, the longest first.
    pub worst: Vec<Sample>,
    /// The number of wakeups after which the thread was not seen to run: it never ran again, or it ran and slept unseen
    /// (it was woken once more, or events of its CPUs were lost meanwhile).
    pub unmatched: u64,
    /// The number of waits that had not ended at the recording's end.
    pub unfinished: u64,
    /// The total time in ns that these waits lasted until the recording's end.
    pub unfinished_ns: i128,
}

/// Returns the waits from each wakeup in `span` until the thread ran, by thread; the thread with the longest wait comes
/// first. Each thread has a list of its `worst` longest waits. A wakeup belongs to the CPU on which the thread then
/// ran.
///
/// # Errors
/// Errors if the job is cancelled.
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
    let seen = Seen::new(trace);
    let mut found: Vec<WakeupLatency> = all
        .into_par_iter()
        .filter(|_| !job.is_cancelled())
        .map(|thread| {
            let row = of_thread(trace, &seen, thread, among, span, worst);
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
    seen: &Seen,
    thread: ThreadId,
    among: &Among,
    span: TimeSpan,
    worst: usize,
) -> WakeupLatency {
    let states = &trace.states;
    let rows = states.of(thread);
    let mut samples = Vec::new();
    let (mut unmatched, mut unfinished, mut unfinished_ns) = (0, 0, 0);
    for row in states.overlapping(rows.clone(), span) {
        let at = row as usize;
        let start = Timestamp(states.starts[at]);
        // A thread that was preempted, or yielded its CPU, was not woken.
        if !states.notes[at].is_woken() || !span.contains(start) {
            continue;
        }
        let next = row + 1;
        let runs = states.states[at] == ThreadState::Runnable
            && next < rows.end
            && states.states[next as usize] == ThreadState::Running;
        let partner = runs.then(|| states.partners[next as usize]);
        let cpu = partner.and_then(Maybe::get).map(CpuId);
        if !among.has(thread, cpu) {
            continue;
        }
        if !runs {
            unmatched += 1;
            let file = trace.source_of(thread.0, |source| &source.threads);
            if states.states[at] == ThreadState::Runnable && states.is_open(at) {
                let drawn = Timestamp(states.ends[at].or_greatest());
                let until = seen.open_until(trace, file, start).min(drawn);
                unfinished += 1;
                unfinished_ns += i128::from((until - start).0);
            }
            continue;
        }
        if states.is_partial(at) {
            // An export cut the wait at the start of its range.
            unmatched += 1;
            unfinished += 1;
            unfinished_ns += i128::from(states.ends[at].or_greatest().saturating_sub(start.0));
            continue;
        }
        samples.push(Sample {
            start,
            length_ns: states.ends[at].or_greatest().saturating_sub(start.0),
            from: Item::State(StateId(row)),
            to: Item::State(StateId(next)),
        });
    }
    WakeupLatency {
        thread,
        worst: longest(&samples, worst),
        lengths: Distribution::of(samples.iter().map(|sample| sample.length_ns).collect()),
        unmatched,
        unfinished,
        unfinished_ns,
    }
}
