//! Runs made of events that state on which CPU they happened, for files without context switches.
//!
//! A line proves that its task ran on its CPU at that time, and nothing more. A run here is a sequence of lines of one
//! task on one CPU, each at most 1 ms after the line before it, without lines of other tasks on that CPU and without
//! lines of the task on other CPUs. It lasts from its first line to its last, so the run of a lone line lasts 0 ns:
//! what the task did before, after, and in longer silences is unknown and stays empty. States of threads are not
//! derived.

use super::super::recorded::Recorded;
use super::runs::sort_by_thread;
use crate::base::Maybe;
use crate::event::{ThreadKey, ThreadState};
use crate::trace::{Runs, ThreadId};

/// Lines that are more than this many ns apart belong to different runs.
const MOST_SILENCE_NS: i64 = 1_000_000;

/// The last run of a CPU, which the next line may extend. Times in ns.
#[derive(Clone, Copy)]
struct Open {
    start: i64,
    end: i64,
    thread: u32,
    event: u32,
}

/// Returns the runs of all CPUs; none if events do not state their CPUs.
pub(crate) fn runs_of_lines(recorded: &Recorded, thread_count: usize) -> Runs {
    let cpu_count = recorded.cpus.len();
    let mut open: Vec<Option<Open>> = vec![None; cpu_count];
    let mut done: Vec<Vec<Open>> = vec![Vec::new(); cpu_count];
    let mut last_cpu = vec![Maybe::NONE; thread_count];
    let threads = &recorded.events.threads;
    for part in &recorded.parts {
        let columns = recorded.columns(part);
        for (index, &cpu) in columns.cpus().iter().enumerate() {
            let key = columns.thread(index as u32);
            let Some(cpu) = cpu.get().filter(|_| key != Some(ThreadKey::IDLE)) else {
                continue;
            };
            let time = columns.time(index as u32);
            let Some(ThreadId(thread)) = threads.at(key, time) else {
                continue;
            };
            let slots = (
                last_cpu.get_mut(thread as usize),
                open.get_mut(usize::from(cpu)),
                done.get_mut(usize::from(cpu)),
            );
            let (Some(last_cpu), Some(open), Some(done)) = slots else {
                continue;
            };
            // If the task had a line on another CPU since its last line here, its run here ended.
            let is_here = std::mem::replace(last_cpu, Maybe::new(cpu)) == cpu;
            if let Some(run) = open {
                if is_here && run.thread == thread && time.0 - run.end <= MOST_SILENCE_NS {
                    run.end = run.end.max(time.0);
                    continue;
                }
                done.push(*run);
            }
            // Runs of one CPU never overlap, also if lines are out of order.
            let start = open.map_or(time.0, |before| time.0.max(before.end));
            *open = Some(Open {
                start,
                end: start,
                thread,
                event: part.event(index as u32).0,
            });
        }
    }
    for (open, done) in open.into_iter().zip(&mut done) {
        done.extend(open);
    }
    let mut runs = Runs::default();
    let total = done.iter().map(Vec::len).sum();
    runs.starts.reserve_exact(total);
    runs.ends.reserve_exact(total);
    runs.threads.reserve_exact(total);
    runs.events.reserve_exact(total);
    runs.priorities = vec![0; total].into();
    runs.end_states = vec![ThreadState::Unknown; total];
    for list in done {
        let first = runs.starts.len() as u32;
        for run in list {
            runs.starts.push(run.start);
            runs.ends.push(Maybe::new(run.end));
            runs.threads.push(run.thread);
            runs.events.push(Maybe::new(run.event));
        }
        runs.of_cpu.push(first..runs.starts.len() as u32);
    }
    sort_by_thread(&mut runs, thread_count);
    runs
}
