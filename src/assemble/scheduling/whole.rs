//! Runs and states that the file contains with their durations become rows as they are. If two overlap, the first ends
//! where the second begins.

use rayon::prelude::*;

use super::super::recorded::{Part, Recorded};
use super::super::rows::PerPart;
use super::runs::sort_by_thread;
use crate::base::{Maybe, StringId};
use crate::event::{ThreadState, WholeRun, WholeState};
use crate::trace::{RunId, Runs, StateNotes, States, ThreadId};

/// The time span of a row, and the number of the CPU or thread that it belongs to.
#[derive(Clone, Copy, Debug)]
struct Stretch<T> {
    track: u32,
    start: i64,
    /// None if it lasts to the trace's end.
    end: Maybe<i64>,
    event: u32,
    /// The other values of the row.
    what: T,
}

/// Returns the end of a row that starts at `start`; none if it has no duration.
fn end_after(start: i64, duration_ns: Option<i64>) -> Maybe<i64> {
    let end = duration_ns.map(|ns| start.saturating_add(ns.max(0)));
    end.into()
}

/// Sorts by track and time, and ends each row where the next one of its track begins.
fn put_in_line<T: Send>(all: &mut [Stretch<T>]) {
    all.par_sort_unstable_by_key(|it| (it.track, it.start, it.event));
    for at in 1..all.len() {
        if let [before, next] = &mut all[at - 1..=at]
            && before.track == next.track
        {
            before.end = Maybe::new(before.end.at_most(next.start));
        }
    }
}

/// The values of a run besides its times and CPU.
#[derive(Clone, Copy, Debug)]
struct Ran {
    thread: ThreadId,
    priority: i32,
    end_state: ThreadState,
}

/// Returns the runs of all CPUs.
pub(super) fn whole_runs(
    rows: &PerPart<WholeRun>,
    recorded: &Recorded,
    thread_count: usize,
) -> Runs {
    let mut all = Vec::with_capacity(rows.iter().map(Vec::len).sum());
    for (part, rows) in recorded.parts.iter().zip(rows) {
        for row in rows {
            let start = recorded.time(part, row.event);
            let thread = recorded.events.threads.at(row.thread, start);
            let (Some(cpu), Some(thread)) = (recorded.cpu_id(row.cpu), thread) else {
                continue;
            };
            all.push(Stretch {
                track: cpu.0,
                start: start.0,
                end: end_after(start.0, row.duration_ns),
                event: part.event(row.event).0,
                what: Ran {
                    thread,
                    priority: row.priority,
                    end_state: row.end_state,
                },
            });
        }
    }
    put_in_line(&mut all);
    let mut runs = Runs {
        of_cpu: vec![0..0; recorded.cpus.len()],
        ..Runs::default()
    };
    for of_cpu in all.chunk_by(|a, b| a.track == b.track) {
        let first = runs.len() as u32;
        for stretch in of_cpu {
            let ran = stretch.what;
            runs.starts.push(stretch.start);
            runs.ends.push(stretch.end);
            runs.threads.push(ran.thread.0);
            runs.priorities.push(ran.priority);
            runs.end_states.push(ran.end_state);
            runs.events.push(Maybe::new(stretch.event));
            runs.of_cpu[stretch.track as usize] = first..runs.starts.len() as u32;
        }
    }
    runs.place_empty_cpus();
    sort_by_thread(&mut runs, thread_count);
    runs
}

/// The values of a state besides its times and thread.
#[derive(Clone, Copy, Debug)]
struct Was {
    state: ThreadState,
    partner: Maybe<u32>,
    notes: StateNotes,
    woken_by: Option<StringId>,
}

impl Was {
    fn new(row: &WholeState, part: &Part, recorded: &Recorded) -> Was {
        let time = recorded.time(part, row.event);
        let mut was = Was {
            state: row.state,
            partner: Maybe::NONE,
            notes: StateNotes::default(),
            woken_by: None,
        };
        if let Some(wakeup) = row.wakeup {
            was.notes = StateNotes::woken(wakeup.interrupt);
            was.woken_by = wakeup.woken_by.map(|name| part.string(name));
            let waker = recorded.events.threads.at(wakeup.waker, time);
            was.partner = waker.map(|waker| waker.0).into();
        }
        if row.state == ThreadState::Running {
            let cpu = row.cpu.and_then(|number| recorded.cpu_id(number));
            was.partner = cpu.map(|cpu| cpu.0).into();
        }
        if row.spans_loss {
            was.notes = was.notes.with_loss();
        }
        if row.misses_switches {
            was.notes = was.notes.with_missing_switches();
        }
        was
    }
}

/// Returns the states of all threads.
pub(super) fn whole_states(
    rows: &PerPart<WholeState>,
    runs: &Runs,
    recorded: &Recorded,
    thread_count: usize,
) -> States {
    let mut all = Vec::with_capacity(rows.iter().map(Vec::len).sum());
    for (part, rows) in recorded.parts.iter().zip(rows) {
        for row in rows {
            let thread = recorded.thread(part, row.event);
            let start = recorded.time(part, row.event).0;
            let Some(ThreadId(track)) = thread else {
                continue;
            };
            all.push(Stretch {
                track,
                start,
                end: end_after(start, row.duration_ns),
                event: part.event(row.event).0,
                what: Was::new(row, part, recorded),
            });
        }
    }
    put_in_line(&mut all);
    let mut states = States::default();
    for of_thread in all.chunk_by(|a, b| a.track == b.track) {
        let first = states.len() as u32;
        for stretch in of_thread {
            let was = stretch.what;
            states.starts.push(stretch.start);
            states.ends.push(stretch.end);
            states.states.push(was.state);
            states.partners.push(was.partner);
            states.notes.push(was.notes);
            states.events.push(Maybe::new(stretch.event));
            let woken_by = was.woken_by.map(|name| (stretch.event, name));
            states.woken_by.extend(woken_by);
        }
        if let Some(stretch) = of_thread.first() {
            states
                .of_thread
                .resize(stretch.track as usize, first..first);
            states.of_thread.push(first..states.starts.len() as u32);
        }
    }
    let end = states.len() as u32;
    let count = thread_count.max(states.of_thread.len());
    states.of_thread.resize(count, end..end);
    states.woken_by.sort_unstable();
    begin_with_runs(&mut states, runs);
    states
}

/// Gives each running state the event of its run, as where both follow from switches: in the file each has its own.
fn begin_with_runs(states: &mut States, runs: &Runs) {
    let events = &mut *states.events;
    for (range, thread) in states.of_thread.iter().zip((0..).map(ThreadId)) {
        let mut of_thread = runs.of(thread).iter().copied().peekable();
        for row in range.clone().map(|row| row as usize) {
            if states.states.get(row) != Some(&ThreadState::Running) {
                continue;
            }
            let (start, cpu) = (states.starts[row], states.partners[row].get());
            let is_before = |&run: &u32| {
                let run = runs.get(RunId(run));
                let is_elsewhere = cpu.is_some_and(|cpu| cpu != run.cpu.0);
                run.start.0 < start || run.start.0 == start && is_elsewhere
            };
            while of_thread.next_if(is_before).is_some() {}
            if let Some(run) = of_thread.next_if(|&run| runs.starts[run as usize] == start) {
                events[row] = runs.events[run as usize];
            }
        }
    }
}
