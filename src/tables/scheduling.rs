//! Tables of runs and of thread states.

use rayon::prelude::*;

use super::batch::{Fill, Names};
use super::columns::{CPU, DUR, ID, PID, THREAD, TID, TS, UTID};
use super::def::{Stored, same};
use super::items::{Owners, cpu_of};
use super::rows::ColumnsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::base::{TimeSpan, Timestamp};
use crate::event::Interrupt;
use crate::load::LoadedTrace;
use crate::query::event_cpus::{EventCpus, is_on_chosen_cpu};
use crate::query::waker::{Waker, waker_of};
use crate::trace::{Run, RunId, State, StateId, ThreadId, ThreadState};

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
    stored: Some(Stored {
        name: "sched",
        more: &[ID, UTID],
        columns: &[
            same("id"),
            same("ts"),
            same("dur"),
            same("cpu"),
            same("utid"),
            same("end_state"),
            same("priority"),
        ],
    }),
    rows: Rows::Trace(runs),
};

fn runs(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let mut ids: Vec<u32> = (0..trace.runs.len() as u32).collect();
    ids.retain(|&id| {
        let run = trace.runs.get(RunId(id));
        let end = run.end.unwrap_or(TimeSpan::ALL.end);
        chosen.has_run(run.cpu, run.thread) && chosen.meets(run.start, end)
    });
    ids.par_sort_by_key(|&id| trace.runs.starts[id as usize]);
    Box::new(ColumnsOfIds {
        ids,
        known: Owners::new(trace),
        read: |loaded, known: &Owners, &id: &u32| {
            let run = loaded.trace.runs.get(RunId(id));
            RunOfTable {
                end: loaded.trace.run_end(&run),
                owner: known.index(run.thread),
                run,
            }
        },
        columns: RUN_COLUMNS,
    })
}

/// A run as the columns of the table need it.
struct RunOfTable {
    run: Run,
    end: Option<Timestamp>,
    /// The index of its thread in [`Owners`].
    owner: usize,
}

/// The columns of [`RUNS`].
const RUN_COLUMNS: &[Fill<RunOfTable, Owners>] = &[
    |rows, out| out.ints(rows.iter().map(|row| Some(row.run.start.0))),
    |rows, out| out.ints(rows.iter().map(|row| length(row.run.start, row.end))),
    |rows, out| {
        let trace = &rows.loaded.trace;
        out.ints(rows.iter().map(|row| cpu_of(trace, Some(row.run.cpu.0))));
    },
    |rows, out| out.keys(rows.iter().map(|row| rows.known.pids[row.owner])),
    |rows, out| out.keys(rows.iter().map(|row| rows.known.tids[row.owner])),
    |rows, out| {
        let names = Names::Texts(&rows.known.names);
        out.names(names, rows.iter().map(|row| Some(row.owner as u32)));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.run.priority.into()))),
    |rows, out| {
        let state = |row: &RunOfTable| {
            let is_known = row.end.is_some() || row.run.end_state != ThreadState::Unknown;
            is_known.then(|| row.run.end_state.letters()).into()
        };
        out.cells(rows.iter().map(state));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.run.id.0.into()))),
    |rows, out| out.ints(rows.iter().map(|row| rows.known.utid(row.owner))),
];

/// Returns the duration in ns of a row whose end may be unknown.
fn length(start: Timestamp, end: Option<Timestamp>) -> Option<i64> {
    end.map(|end| (end - start).0)
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
    stored: Some(Stored {
        name: "thread_state",
        more: &[
            ID,
            UTID,
            ColumnDef::row(
                "waker_utid",
                "Waker row",
                "The row of the thread that ended the wait; none for an idle CPU.",
            ),
        ],
        columns: &[
            same("id"),
            same("ts"),
            same("dur"),
            same("cpu"),
            same("utid"),
            same("state"),
            same("waker_utid"),
            same("waker"),
            same("woken_in"),
            same("spans_loss"),
        ],
    }),
    rows: Rows::Trace(states),
};

fn states(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let cpus = EventCpus::new(trace, scope.loaded.reader.as_ref());
    let mut ids: Vec<u32> = (0..trace.states.len() as u32).collect();
    ids.retain(|&id| {
        let state = trace.states.get(StateId(id));
        let end = state.end.unwrap_or(TimeSpan::ALL.end);
        // The state "dead" lasts for ever: a thread that died before the range is not in the range.
        chosen.has_states_of(state.thread)
            && chosen.meets(state.start, end)
            && !chosen.starts_after(state.thread)
            && is_on_chosen_cpu(trace, chosen, &cpus, &state)
    });
    ids.par_sort_by_key(|&id| trace.states.starts[id as usize]);
    let threads = (0..trace.threads.len() as u32).map(ThreadId);
    Box::new(ColumnsOfIds {
        ids,
        known: StateTexts {
            owners: Owners::new(trace),
            titles: threads.map(|id| trace.thread_title(id)).collect(),
        },
        read: read_state,
        columns: STATE_COLUMNS,
    })
}

/// Values that are the same in many rows of the table.
struct StateTexts {
    owners: Owners,
    /// The name and number of each thread.
    titles: Vec<String>,
}

/// A state as the columns of the table need it.
struct StateOfTable {
    state: State,
    end: Option<Timestamp>,
    /// The index of its thread in [`Owners`].
    owner: usize,
    waker: Option<Waker>,
}

fn read_state(loaded: &LoadedTrace, known: &StateTexts, &id: &u32) -> StateOfTable {
    let trace = &loaded.trace;
    let state = trace.states.get(StateId(id));
    StateOfTable {
        end: trace.state_end(&state),
        owner: known.owners.index(state.thread),
        waker: waker_of(trace, &state),
        state,
    }
}

/// The columns of [`STATES`].
const STATE_COLUMNS: &[Fill<StateOfTable, StateTexts>] = &[
    |rows, out| out.ints(rows.iter().map(|row| Some(row.state.start.0))),
    |rows, out| out.ints(rows.iter().map(|row| length(row.state.start, row.end))),
    |rows, out| out.cells(rows.iter().map(|row| row.state.state.word().into())),
    |rows, out| {
        let tids = &rows.known.owners.tids;
        out.keys(rows.iter().map(|row| tids[row.owner]));
    },
    |rows, out| {
        let names = Names::Texts(&rows.known.owners.names);
        out.names(names, rows.iter().map(|row| Some(row.owner as u32)));
    },
    |rows, out| {
        let owners = &rows.known.owners;
        out.keys(rows.iter().map(|row| {
            let waker = row.waker.as_ref().and_then(Waker::thread)?;
            owners.tids[owners.index(waker)]
        }));
    },
    |rows, out| {
        let trace = &rows.loaded.trace;
        out.ints(rows.iter().map(|row| cpu_of(trace, row.state.cpu)));
    },
    |rows, out| {
        let (trace, titles) = (&rows.loaded.trace, &rows.known.titles);
        out.cells(rows.iter().map(|row| match &row.waker {
            None => Cell::None,
            Some(waker) => {
                let title = waker.named().and_then(|id| titles.get(id.0 as usize));
                title.map_or_else(|| waker.text(trace).into(), |title| title.as_str().into())
            }
        }));
    },
    |rows, out| {
        out.cells(rows.iter().map(|row| match &row.waker {
            Some(Waker::Interrupt(interrupt)) => {
                let kind = interrupt.kind;
                kind.map_or("interrupt", Interrupt::word).into()
            }
            _ => Cell::None,
        }));
    },
    |rows, out| {
        out.ints(
            rows.iter()
                .map(|row| Some(row.state.notes.spans_loss().into())),
        )
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.state.id.0.into()))),
    |rows, out| {
        let owners = &rows.known.owners;
        out.ints(rows.iter().map(|row| owners.utid(row.owner)));
    },
    |rows, out| {
        let waker = |row: &StateOfTable| row.waker.as_ref().and_then(Waker::thread);
        let owners = &rows.known.owners;
        let utid = |row: &StateOfTable| owners.utid(owners.index(waker(row)));
        out.ints(rows.iter().map(utid));
    },
];
