//! Runs and thread states that trace_processor does not derive from the kernel's context switches, as generic task
//! states.
//!
//! An event of a thread states that it runs on a CPU or is in another state from this time on; trace_processor derives
//! runs and thread states from these events. A run ends with the thread's next state, or with the next run of its CPU.
//! If neither is known, the CPU's idle thread runs next. A state that the format lacks is written as the nearest one; a
//! thread that was created but did not run yet, and a thread of unknown state, have no event.

use super::context::Context;
use super::layout::task_state;
use super::marks::{Mark, What};
use crate::trace::{CpuId, Run, RunId, StateId, ThreadId, ThreadState};

/// Numbers of rows that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskCounts {
    pub runs: u64,
    pub states: u64,
    /// States that have no event.
    pub left_out: u64,
}

/// Returns the format's number of a state; `None` if it has none.
fn number_of(state: ThreadState) -> Option<u8> {
    match state {
        ThreadState::Running => Some(task_state::RUNNING),
        ThreadState::Runnable | ThreadState::Preempted => Some(task_state::RUNNABLE),
        ThreadState::Sleeping => Some(task_state::INTERRUPTIBLE),
        ThreadState::Uninterruptible | ThreadState::Idle | ThreadState::Parked => {
            Some(task_state::UNINTERRUPTIBLE)
        }
        ThreadState::Stopped | ThreadState::Traced => Some(task_state::STOPPED),
        ThreadState::Zombie => Some(task_state::DEAD),
        ThreadState::Dead => Some(task_state::DESTROYED),
        ThreadState::Created | ThreadState::Unknown => None,
    }
}

/// Calls `each` with the marks of all chosen runs and states.
pub(super) fn for_each_task<E>(
    context: &Context<'_>,
    mut each: impl FnMut(Mark) -> Result<(), E>,
) -> Result<TaskCounts, E> {
    let mut counts = TaskCounts::default();
    for cpu in (0..context.trace.cpus.len() as u32).map(CpuId) {
        let Some(number) = context.people.cpu(cpu) else {
            continue;
        };
        if !context.has_switches_of(cpu) && context.chosen.has_runs_of(cpu) {
            of_runs(context, cpu, number, &mut counts, &mut each)?;
        }
    }
    for thread in (0..context.trace.threads.len() as u32).map(ThreadId) {
        if !context.has_switches_of_thread(thread) && context.chosen.has_states_of(thread) {
            of_states(context, thread, &mut counts, &mut each)?;
        }
    }
    Ok(counts)
}

fn of_runs<E>(
    context: &Context<'_>,
    cpu: CpuId,
    number: u32,
    counts: &mut TaskCounts,
    each: &mut impl FnMut(Mark) -> Result<(), E>,
) -> Result<(), E> {
    let runs = &context.trace.runs;
    let chosen = |row: &u32| {
        let thread = runs.threads.get(*row as usize).copied().map(ThreadId);
        thread.is_some_and(|thread| context.chosen.has_run(cpu, thread))
    };
    let mut rows = runs
        .overlapping(runs.on(cpu), context.chosen.span)
        .filter(chosen)
        .peekable();
    while let Some(row) = rows.next() {
        let run = runs.get(RunId(row));
        counts.runs += 1;
        each(Mark {
            time: run.start.0,
            what: What::Task {
                thread: run.thread,
                cpu: number,
                state: task_state::RUNNING,
                priority: Some(run.priority),
            },
        })?;
        let Some(end) = context.trace.run_end(&run) else {
            continue;
        };
        let next = rows.peek().and_then(|&row| runs.starts.get(row as usize));
        let state = match state_after(context, &run) {
            After::Written => continue,
            After::State(state) => number_of(state),
            After::Nothing => None,
        };
        match state {
            Some(state) => each(Mark {
                time: end.0,
                what: What::Task {
                    thread: run.thread,
                    cpu: number,
                    state,
                    priority: None,
                },
            })?,
            None if next == Some(&end.0) => {}
            None => each(Mark {
                time: end.0,
                what: What::Task {
                    thread: ThreadId::IDLE,
                    cpu: number,
                    state: task_state::RUNNING,
                    priority: None,
                },
            })?,
        }
    }
    Ok(())
}

/// The state that follows a run.
enum After {
    /// A state of the thread that is written itself.
    Written,
    /// A state that the trace contains no row of.
    State(ThreadState),
    /// The format lacks this state, or the thread has no state in the range.
    Nothing,
}

fn state_after(context: &Context<'_>, run: &Run) -> After {
    let states = &context.trace.states;
    let range = states.of(run.thread);
    let Some(end) = run.end else {
        return After::Nothing;
    };
    if end >= context.chosen.span.end {
        return After::Nothing;
    }
    if range.is_empty() || !context.chosen.has_states_of(run.thread) {
        return match run.end_state {
            ThreadState::Running => After::Nothing,
            state => After::State(state),
        };
    }
    let rows = range.start as usize..range.end as usize;
    let starts = states.starts.get(rows).unwrap_or(&[]);
    let first = starts.partition_point(|&start| start < end.0);
    let from_end = starts.get(first..).unwrap_or(&[]);
    let at_end = from_end.iter().zip(range.start + first as u32..);
    let at_end = at_end.take_while(|(start, _)| **start == end.0);
    let mut at_end = at_end.filter_map(|(_, row)| states.states.get(row as usize));
    match at_end.any(|&state| state != ThreadState::Running && number_of(state).is_some()) {
        true => After::Written,
        false => After::Nothing,
    }
}

fn of_states<E>(
    context: &Context<'_>,
    thread: ThreadId,
    counts: &mut TaskCounts,
    each: &mut impl FnMut(Mark) -> Result<(), E>,
) -> Result<(), E> {
    let states = &context.trace.states;
    let range = states.of(thread);
    for row in states.overlapping(range.clone(), context.chosen.span) {
        let state = states.get(StateId(row));
        if state.state == ThreadState::Running {
            // Its run is written.
            counts.states += 1;
            continue;
        }
        let Some(number) = number_of(state.state) else {
            counts.left_out += 1;
            continue;
        };
        // The run that it ends is on the CPU of the state before it.
        let before = row.checked_sub(1).filter(|before| range.contains(before));
        let before = before.map(|before| states.get(StateId(before)));
        let cpu = before.and_then(|before| before.cpu).unwrap_or(0);
        counts.states += 1;
        each(Mark {
            time: state.start.0,
            what: What::Task {
                thread,
                cpu: context.cpu(cpu).unwrap_or(0),
                state: number,
                priority: None,
            },
        })?;
    }
    Ok(())
}
