//! Ftrace events of a part of a trace that are not events of that part: those with which runs, slices and values start
//! that reach into the range, and context switches that are made for it.
//!
//! - Where a range ends before a run does, a switch to the idle thread at the run's real end: the next run is not shown.
//! - A selection of some threads has only switches made of their runs: every other thread is the idle thread there.
//! - An event that begins a run, slice or value which reaches into the range is written with its real time; so is one
//!   that ends such a slice, and a wakeup of a chosen thread by another one.

use super::context::Context;
use super::event_types::Derives;
use crate::base::Timestamp;
use crate::trace::{
    CounterTrackId, CpuId, EventId, Run, RunId, SliceId, StateId, ThreadId, ThreadState, TrackId,
};

/// A side of a context switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SwitchSide {
    pub thread: ThreadId,
    pub priority: i32,
}

/// The priority of idle threads.
const IDLE_PRIORITY: i32 = 120;

impl SwitchSide {
    const IDLE: SwitchSide = SwitchSide {
        thread: ThreadId::IDLE,
        priority: IDLE_PRIORITY,
    };

    fn of(run: &Run) -> SwitchSide {
        SwitchSide {
            thread: run.thread,
            priority: run.priority,
        }
    }
}

/// A context switch that is made of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MadeSwitch {
    pub time: Timestamp,
    pub cpu: CpuId,
    pub from: SwitchSide,
    /// The state of the thread that leaves.
    pub end_state: ThreadState,
    pub to: SwitchSide,
}

/// Returns the context switches that are made, by CPU and time.
pub(super) fn made_switches(context: &Context<'_>) -> Vec<MadeSwitch> {
    let mut made = Vec::new();
    if context.chosen.is_whole() {
        return made;
    }
    for cpu in (0..context.trace.cpus.len() as u32).map(CpuId) {
        if context.sources.has_cpu(cpu) && context.chosen.has_runs_of(cpu) {
            match context.chosen.is_narrowed() {
                true => of_chosen_runs(context, cpu, &mut made),
                false => made.extend(at_end(context, cpu)),
            }
        }
    }
    made
}

/// Returns the switch that ends the run which is cut by the end of the range.
fn at_end(context: &Context<'_>, cpu: CpuId) -> Option<MadeSwitch> {
    let runs = &context.trace.runs;
    let last = runs
        .overlapping(runs.on(cpu), context.chosen.span)
        .next_back()?;
    let run = runs.get(RunId(last));
    let end = run.end.filter(|&end| end >= context.chosen.span.end)?;
    Some(MadeSwitch {
        time: end,
        cpu,
        from: SwitchSide::of(&run),
        end_state: run.end_state,
        to: SwitchSide::IDLE,
    })
}

fn of_chosen_runs(context: &Context<'_>, cpu: CpuId, made: &mut Vec<MadeSwitch>) {
    let runs = &context.trace.runs;
    let mut open: Option<Run> = None;
    let leave = |run: &Run, time, to| MadeSwitch {
        time,
        cpu,
        from: SwitchSide::of(run),
        end_state: run.end_state,
        to,
    };
    for row in runs.overlapping(runs.on(cpu), context.chosen.span) {
        let run = runs.get(RunId(row));
        if !context.chosen.has_run(cpu, run.thread) {
            continue;
        }
        let before = open.take();
        let end = before.as_ref().and_then(|before| before.end);
        match (before, end) {
            (Some(before), Some(end)) if end == run.start => {
                made.push(leave(&before, end, SwitchSide::of(&run)));
            }
            (before, end) => {
                if let (Some(before), Some(end)) = (before, end) {
                    made.push(leave(&before, end, SwitchSide::IDLE));
                }
                made.push(MadeSwitch {
                    time: run.start,
                    cpu,
                    from: SwitchSide::IDLE,
                    end_state: ThreadState::Runnable,
                    to: SwitchSide::of(&run),
                });
            }
        }
        open = Some(run);
    }
    if let Some(run) = open
        && let Some(end) = run.end
    {
        made.push(leave(&run, end, SwitchSide::IDLE));
    }
}

/// Returns the events that are written besides the chosen ones of the range, each once.
pub(super) fn extra_events(context: &Context<'_>) -> Vec<EventId> {
    let mut extra = Vec::new();
    if context.chosen.is_whole() || !context.sources.is_any() {
        return extra;
    }
    of_slices(context, &mut extra);
    of_counters(context, &mut extra);
    match context.chosen.is_narrowed() {
        true => wakeups(context, &mut extra),
        false => of_runs(context, &mut extra),
    }
    let is_missing = |id: &EventId| {
        let event = context.trace.events.get(*id);
        context.sources.is_ftrace(&event) && !context.is_written_event(*id)
    };
    extra.retain(is_missing);
    extra.sort_unstable();
    extra.dedup();
    extra
}

/// Adds the ends of chosen slices that trace_processor makes of the events.
fn of_slices(context: &Context<'_>, extra: &mut Vec<EventId>) {
    let (trace, chosen) = (context.trace, context.chosen);
    let is_narrowed = chosen.is_narrowed();
    for (number, track) in (0_u32..).zip(&trace.tracks) {
        if !chosen.has_track(TrackId(number)) {
            continue;
        }
        let rows = track.rows.start as usize..track.rows.end as usize;
        for row in trace.slices.rows.get(rows).unwrap_or(&[]) {
            let rows = trace.slices.overlapping_on(row, chosen.span);
            // Only the first and the last slice of a row can reach out of the range.
            let ends = [rows.start, rows.end.saturating_sub(1)];
            let ends = ends
                .into_iter()
                .filter(|&slice| !is_narrowed && rows.contains(&slice));
            let all = rows.clone().filter(|_| is_narrowed);
            for slice in ends.chain(all) {
                let id = SliceId(slice);
                if chosen.has_slice(TrackId(number), slice as usize) && context.is_derived_slice(id)
                {
                    let slice = trace.slices.get(id);
                    extra.push(slice.begin);
                    extra.extend(slice.finish);
                }
            }
        }
    }
}

/// Adds the samples that are valid at the start of the range.
fn of_counters(context: &Context<'_>, extra: &mut Vec<EventId>) {
    let counters = &context.trace.counters;
    for track in (0..counters.tracks.len() as u32).map(CounterTrackId) {
        if !context.chosen.has_counter(track) {
            continue;
        }
        let row = context.chosen.sample_at_start(track);
        let event = row.and_then(|row| counters.events.get(row as usize));
        let event = event.map(|&event| EventId(event));
        let is_counter = |event: &EventId| {
            let kind = context.trace.events.kind(*event);
            context.plans.derives(kind) != Derives::Nothing
        };
        extra.extend(event.filter(is_counter));
    }
}

/// Adds the switches with which the runs start that reach into the range.
fn of_runs(context: &Context<'_>, extra: &mut Vec<EventId>) {
    let runs = &context.trace.runs;
    for cpu in (0..context.trace.cpus.len() as u32).map(CpuId) {
        if context.sources.has_cpu(cpu) && context.chosen.has_runs_of(cpu) {
            let first = runs.overlapping(runs.on(cpu), context.chosen.span).next();
            extra.extend(first.and_then(|row| runs.event(row as usize)));
        }
    }
}

/// Adds the wakeups of chosen threads in the range.
fn wakeups(context: &Context<'_>, extra: &mut Vec<EventId>) {
    let states = &context.trace.states;
    for id in (0..context.trace.threads.len() as u32).map(ThreadId) {
        let range = states.of(id);
        if range.is_empty() || !context.chosen.has_states_of(id) || !context.sources.has_thread(id)
        {
            continue;
        }
        for row in states.overlapping(range, context.chosen.span) {
            let state = states.get(StateId(row));
            if state.notes.is_woken() && context.chosen.span.contains(state.start) {
                extra.extend(state.event);
            }
        }
    }
}
