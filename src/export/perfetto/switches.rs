//! Ftrace events of a part of a trace that are not events of that part: events that begin the runs, slices and values
//! that reach into the range, and context switches that are made for the part.
//!
//! - Where a range ends before a run does, a switch to the idle thread at the run's real end: the next run is not shown.
//! - A selection of some threads has only switches made of their runs: every other thread is the idle thread there. A run
//!   whose end was not seen has no switch there.
//! - An event that begins a run, slice or value which reaches into the range is written with its real time; so is an event
//!   that ends such a slice, and a wakeup of a chosen thread by another one.

use super::context::Context;
use super::event_types::{Derives, SWITCH, event_type};
use super::layout::{bundle, ftrace_event};
use super::plan::EventForm;
use super::proto::Message;
use super::sources::{KernelSources, Machine};
use crate::base::Timestamp;
use crate::base::strings::exact_text;
use crate::event::EventKind;
use crate::query::selection::Chosen;
use crate::trace::{
    CounterTrackId, CpuId, EventId, Run, RunId, StateId, ThreadId, ThreadState, Trace, TrackId,
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

/// A context switch that is made from runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MadeSwitch {
    pub time: Timestamp,
    pub cpu: CpuId,
    pub from: SwitchSide,
    /// The state of the thread that leaves.
    pub end_state: ThreadState,
    pub to: SwitchSide,
}

impl MadeSwitch {
    /// Writes the event into a bundle of its CPU.
    pub(super) fn write(&self, context: &Context<'_>, machine: Machine, out: &mut Message) {
        let entry = out.open(bundle::EVENT);
        out.uint(ftrace_event::TIMESTAMP, context.time(self.time.0));
        out.uint(ftrace_event::PID, context.people.raw_tid(self.from.thread));
        let own = out.open(SWITCH.number);
        for field in SWITCH.fields {
            let side = match field.name.starts_with("prev_") {
                true => &self.from,
                false => &self.to,
            };
            match field.name.split_once('_').map_or("", |(_, rest)| rest) {
                "comm" => {
                    let name = context.trace.thread(side.thread).name;
                    let name = context.trace.strings.bytes(name);
                    out.text(field.number, &exact_text(name));
                }
                "pid" => out.uint(field.number, context.people.raw_tid(side.thread)),
                "prio" => out.int(field.number, i64::from(side.priority)),
                _ => {
                    let states = context.states(machine);
                    let bits = states.of_letters(self.end_state.letters()).unwrap_or(0);
                    out.int(field.number, bits);
                }
            }
        }
        out.close(own);
        out.close(entry);
    }
}

/// Returns the context switches that are made, by CPU and time.
pub(super) fn made_switches(context: &Context<'_>) -> Vec<MadeSwitch> {
    let mut made = Vec::new();
    if context.chosen.is_whole() {
        return made;
    }
    for cpu in (0..context.trace.cpus.len() as u32).map(CpuId) {
        if context.has_switches_of(cpu) && context.chosen.has_runs_of(cpu) {
            match context.chosen.is_narrowed() {
                true => of_chosen_runs(context, cpu, &mut made),
                false => made.extend(at_end(context, cpu)),
            }
        }
    }
    made
}

/// Returns the switch at the end of a run that the end of the range cuts.
fn at_end(context: &Context<'_>, cpu: CpuId) -> Option<MadeSwitch> {
    let runs = &context.trace.runs;
    let last = runs
        .overlapping(runs.on(cpu), context.chosen.span)
        .next_back()?;
    let run = runs.get(RunId(last));
    let end = (context.trace.run_end(&run)).filter(|&end| end >= context.chosen.span.end)?;
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
        let end = before.and_then(|before| context.trace.run_end(&before));
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
        && let Some(end) = context.trace.run_end(&run)
    {
        made.push(leave(&run, end, SwitchSide::IDLE));
    }
}

/// Returns the events that may be written besides the chosen ones of the range, each once: those of kinds that have a
/// message of Perfetto's own. The form of each kind is decided afterwards; then [`is_extra`] selects the events.
pub(super) fn extra_candidates(
    trace: &Trace,
    chosen: &Chosen<'_>,
    sources: &KernelSources<'_>,
) -> Vec<EventId> {
    let mut candidates = Candidates {
        trace,
        chosen,
        sources,
        derives: Vec::new(),
        events: Vec::new(),
    };
    if chosen.is_whole() || !sources.is_any() {
        return candidates.events;
    }
    candidates.derives = trace
        .kinds
        .iter()
        .map(|kind| possibly_derived(trace, &kind))
        .collect();
    candidates.of_slices();
    candidates.of_counters();
    match chosen.is_narrowed() {
        true => candidates.wakeups(),
        false => candidates.of_runs(),
    }
    candidates.events.sort_unstable();
    candidates.events.dedup();
    candidates.events
}

/// Returns whether a candidate is an ftrace event that is not written anyway, of a kind with a message of Perfetto's
/// own.
pub(super) fn is_extra(context: &Context<'_>, id: EventId) -> bool {
    let kind = context.trace.events.kind(id);
    let is_typed = |machine| matches!(context.plans.of(machine, kind).form, EventForm::Typed(_));
    context.sources.of_event(id).is_some_and(is_typed) && !context.is_written_event(id)
}

fn possibly_derived(trace: &Trace, kind: &EventKind) -> bool {
    let (system, name) = trace.recorded_as(kind);
    let found = event_type(&exact_text(system), &exact_text(name));
    found.is_some_and(|found| found.derives != Derives::Nothing)
}

struct Candidates<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    sources: &'a KernelSources<'a>,
    /// By kind: whether trace_processor derives rows from its events, if the events have all fields that are needed.
    derives: Vec<bool>,
    events: Vec<EventId>,
}

impl Candidates<'_> {
    fn is_derived(&self, event: EventId) -> bool {
        let kind = self.trace.events.kind(event);
        self.derives.get(kind.index()) == Some(&true)
    }

    /// Adds the ends of chosen slices that trace_processor derives from events.
    fn of_slices(&mut self) {
        let (trace, chosen) = (self.trace, self.chosen);
        let is_narrowed = chosen.is_narrowed();
        for (number, track) in (0_u32..).zip(&trace.tracks) {
            if !chosen.has_track(TrackId(number)) {
                continue;
            }
            for row in trace.slices.rows_of(track) {
                let rows = trace.slices.overlapping(row, chosen.span);
                // Only the first and the last slice of a row can reach out of the range.
                let ends = [rows.start, rows.end.saturating_sub(1)];
                let ends = ends
                    .into_iter()
                    .filter(|slice| !is_narrowed && rows.contains(slice));
                let all = rows.clone().filter(|_| is_narrowed);
                for slice in ends.chain(all) {
                    let row = slice as usize;
                    let begin = trace.slices.begin(row);
                    if self.is_derived(begin) && chosen.has_slice(TrackId(number), row) {
                        self.events.push(begin);
                        self.events.extend(trace.slices.finish(row));
                    }
                }
            }
        }
    }

    /// Adds the samples that are valid at the start of the range.
    fn of_counters(&mut self) {
        let counters = &self.trace.counters;
        for track in (0..counters.tracks.len() as u32).map(CounterTrackId) {
            if !self.chosen.has_counter(track) {
                continue;
            }
            let row = self.chosen.sample_at_start(track);
            let event = row.and_then(|row| counters.events.get(row as usize));
            let event = event.map(|&event| EventId(event));
            self.events
                .extend(event.filter(|&event| self.is_derived(event)));
        }
    }

    /// Adds the switches that begin the runs that reach into the range.
    fn of_runs(&mut self) {
        let runs = &self.trace.runs;
        for cpu in (0..self.trace.cpus.len() as u32).map(CpuId) {
            if self.sources.of_cpu(cpu).is_some() && self.chosen.has_runs_of(cpu) {
                let first = runs.overlapping(runs.on(cpu), self.chosen.span).next();
                self.events
                    .extend(first.and_then(|row| runs.event(row as usize)));
            }
        }
    }

    /// Adds the wakeups of chosen threads in the range.
    fn wakeups(&mut self) {
        let states = &self.trace.states;
        for id in (0..self.trace.threads.len() as u32).map(ThreadId) {
            let range = states.of(id);
            let is_chosen = self.chosen.has_states_of(id) && self.sources.of_thread(id).is_some();
            if range.is_empty() || !is_chosen {
                continue;
            }
            for row in states.overlapping(range, self.chosen.span) {
                let state = states.get(StateId(row));
                if state.notes.is_woken() && self.chosen.span.contains(state.start) {
                    self.events.extend(state.event);
                }
            }
        }
    }
}
