//! Tables of runs and of thread states.

use super::columns::{CPU, DUR, PID, THREAD, TID, TS};
use super::items::{Owner, cpu_number, duration};
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::base::Timestamp;
use crate::event::Interrupt;
use crate::load::LoadedTrace;
use crate::query::waker::{Waker, waker_of};
use crate::trace::{RunId, StateId, ThreadState};

pub(super) const RUNS: TableDef = TableDef {
    name: "runs",
    title: "Runs",
    about: "Which thread ran on which CPU, and for how long.",
    columns: &[
        TS,
        DUR,
        CPU,
        PID,
        TID,
        THREAD,
        ColumnDef::key(
            "priority",
            "Priority",
            "The thread's priority, as the kernel counts.",
        ),
        ColumnDef::text(
            "end_state",
            "Left as",
            "The state in which the thread left the CPU.",
        ),
    ],
    rows: Rows::Trace(runs),
};

fn runs(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let mut ids: Vec<u32> = (0..trace.runs.len() as u32).collect();
    ids.retain(|&id| {
        let run = trace.runs.get(RunId(id));
        let end = run.end.unwrap_or(Timestamp::MAX);
        chosen.has_run(run.cpu, run.thread) && chosen.meets(run.start, end)
    });
    ids.sort_by_key(|&id| trace.runs.starts[id as usize]);
    Box::new(RowsOfIds::new(ids, (), |loaded, (), &id: &u32, cells| {
        let trace = &loaded.trace;
        let run = trace.runs.get(RunId(id));
        let Owner { pid, tid } = Owner::of(trace, run.thread);
        let end = trace.run_end(&run);
        cells.extend([
            run.start.into(),
            duration(run.start, end),
            cpu_number(trace, Some(run.cpu.0)),
            pid,
            tid,
            trace.thread_name(run.thread).into(),
            run.priority.into(),
            (end.is_some() || run.end_state != ThreadState::Unknown)
                .then(|| run.end_state.letters())
                .into(),
        ]);
    }))
}

pub(super) const STATES: TableDef = TableDef {
    name: "states",
    title: "Thread states",
    about: "What each thread did: running, runnable, sleeping, waiting for a disk.",
    columns: &[
        TS,
        DUR,
        ColumnDef::text("state", "State", "What the thread did."),
        TID,
        THREAD,
        ColumnDef::key("waker_tid", "Waker TID", "The thread that ended the wait."),
        CPU,
        ColumnDef::text(
            "waker",
            "Waker",
            "The thread or interrupt that ended the wait.",
        ),
        ColumnDef::text(
            "woken_in",
            "Woken in",
            "The kind of interrupt in which the wait ended.",
        )
        .minor(),
        ColumnDef::flag(
            "spans_loss",
            "Over loss",
            "Whether events were lost meanwhile.",
        ),
    ],
    rows: Rows::Trace(states),
};

fn states(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let mut ids: Vec<u32> = (0..trace.states.len() as u32).collect();
    ids.retain(|&id| {
        let state = trace.states.get(StateId(id));
        let end = state.end.unwrap_or(Timestamp::MAX);
        if !chosen.has_states_of(state.thread) || !chosen.meets(state.start, end) {
            return false;
        }
        // The state "dead" lasts for ever: a thread that died before the range is not in the range.
        let died = trace.over_at(state.thread);
        died.is_none_or(|end| end > chosen.span.start)
    });
    ids.sort_by_key(|&id| trace.states.starts[id as usize]);
    Box::new(RowsOfIds::new(ids, (), state_cells))
}

fn state_cells<'a>(loaded: &'a LoadedTrace, (): &'a (), &id: &'a u32, cells: &mut Vec<Cell<'a>>) {
    let trace = &loaded.trace;
    let state = trace.states.get(StateId(id));
    let waker = waker_of(trace, &state);
    let interrupt = match &waker {
        Some(Waker::Interrupt(interrupt)) => {
            Some(interrupt.kind.map_or("interrupt", Interrupt::word))
        }
        _ => None,
    };
    let waker_thread = waker.as_ref().and_then(Waker::thread);
    cells.extend([
        state.start.into(),
        duration(state.start, trace.state_end(&state)),
        state.state.word().into(),
        Owner::of(trace, state.thread).tid,
        trace.thread_name(state.thread).into(),
        waker_thread.map_or(Cell::None, |waker| Owner::of(trace, waker).tid),
        cpu_number(trace, state.cpu),
        waker.map(|waker| waker.text(trace)).into(),
        interrupt.into(),
        u32::from(state.notes.spans_loss()).into(),
    ]);
}
