//! The CPU on which an event was recorded: of the column that contains it, or of the event's own details.

use super::selection::Chosen;
use crate::formats::Events;
use crate::trace::{CpuId, EventId, State, StateId, ThreadState, Trace};

/// Looks up the CPUs of events.
pub(crate) struct EventCpus<'a> {
    trace: &'a Trace,
    reader: &'a dyn Events,
}

impl<'a> EventCpus<'a> {
    /// Returns a look-up for the events of a trace.
    pub(crate) fn new(trace: &'a Trace, reader: &'a dyn Events) -> EventCpus<'a> {
        EventCpus { trace, reader }
    }

    /// Returns the CPU of an event; `None` if its file does not contain it, or if the model has no such CPU.
    pub(crate) fn cpu(&self, id: EventId) -> Option<CpuId> {
        match self.of(id)? {
            EventCpu::Known(cpu) => Some(cpu),
            EventCpu::Number(_) => None,
        }
    }

    /// Returns the CPU of an event as far as it is known; `None` if its file does not contain it.
    pub(crate) fn of(&self, id: EventId) -> Option<EventCpu> {
        let event = self.trace.events.get(id);
        if let Some(cpu) = event.cpu {
            return Some(EventCpu::Known(CpuId(cpu)));
        }
        let number = self.reader.describe(event.into()).cpu?;
        let file = self.trace.source_of(id.0, |source| &source.events);
        let known = self.trace.cpu_numbered(file, number);
        Some(known.map_or(EventCpu::Number(number), EventCpu::Known))
    }
}

/// The CPU of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventCpu {
    /// A CPU of the trace.
    Known(CpuId),
    /// The number of a CPU on which no thread ran.
    Number(u32),
}

/// Returns whether a thread's runnable state ends on a chosen CPU: a thread that continued on another CPU would seem to
/// wait for ever. For the last runnable state, the CPU of its event decides.
pub(crate) fn leads_to_chosen_cpu(
    trace: &Trace,
    chosen: &Chosen<'_>,
    cpus: &EventCpus<'_>,
    id: StateId,
) -> bool {
    if !chosen.limits_cpus() {
        return true;
    }
    let next = trace.states.next_of_thread(id);
    let state = trace.states.get(id);
    match next.and_then(|next| trace.states.get(next).cpu) {
        Some(cpu) => chosen.has_runs_of(CpuId(cpu)),
        None => state
            .event
            .is_none_or(|event| (cpus.cpu(event)).is_none_or(|cpu| chosen.has_runs_of(cpu))),
    }
}

/// Returns whether a state of a thread whose states are chosen is on a chosen CPU: the thread ran there, was woken to run
/// there, or left it.
pub(crate) fn is_on_chosen_cpu(
    trace: &Trace,
    chosen: &Chosen<'_>,
    cpus: &EventCpus<'_>,
    state: &State,
) -> bool {
    if !chosen.limits_cpus() {
        return true;
    }
    match state.cpu {
        Some(cpu) if state.state == ThreadState::Running => chosen.has_runs_of(CpuId(cpu)),
        _ if state.notes.is_woken() => leads_to_chosen_cpu(trace, chosen, cpus, state.id),
        _ => {
            let ran_on = left_cpu(trace, state);
            let cpu = ran_on.or_else(|| state.event.and_then(|event| cpus.cpu(event)));
            cpu.is_none_or(|cpu| chosen.has_runs_of(cpu))
        }
    }
}

/// Returns the CPU on which a thread ran until a state began.
pub(crate) fn left_cpu(trace: &Trace, state: &State) -> Option<CpuId> {
    let states = &trace.states;
    let before = StateId(state.id.0.checked_sub(1)?);
    let is_own = states.of(state.thread).contains(&before.0);
    let before = is_own.then(|| states.get(before))?;
    before
        .cpu
        .filter(|_| before.state == ThreadState::Running)
        .map(CpuId)
}
