//! Runs, thread states and wakeups: the format has no scheduling events, so runs are slices on a thread of their CPU,
//! states are slices on an extra thread for each thread, and wakeups are instants on that thread.

use serde_json::{Map, json};

use super::event_parts::{Head, When};
use super::numbers::exact_number;
use super::{JsonEvents, RUNS_OFFSET};
use crate::base::Timestamp;
use crate::export::ExportError;
use crate::export::shared::ThreadKoids;
use crate::trace::{CpuId, RunId, State, StateId, ThreadId};

/// The numbers of events that were written.
#[derive(Default)]
pub(super) struct StateCounts {
    pub(super) states: u64,
    pub(super) wakeups: u64,
}

impl JsonEvents<'_> {
    pub(super) fn runs(&mut self) -> Result<u64, ExportError> {
        let trace = self.trace;
        let mut count = 0;
        for cpu in (0..trace.cpus.len() as u32).map(CpuId) {
            if !self.chosen.has_runs_of(cpu) {
                continue;
            }
            let owner = self.koids.cpu(cpu);
            let owner = owner.with_thread(owner.thread + RUNS_OFFSET);
            for row in trace.runs.overlapping(trace.runs.on(cpu), self.chosen.span) {
                let run = trace.runs.get(RunId(row));
                if !self.chosen.has_run(cpu, run.thread) {
                    continue;
                }
                let name = trace.thread_name(run.thread);
                let mut args = Map::new();
                args.insert("tid".to_owned(), exact_number(trace.thread(run.thread).tid));
                args.insert("priority".to_owned(), json!(run.priority));
                if run.end.is_some() {
                    args.insert("end_state".to_owned(), json!(run.end_state.letters()));
                }
                let head = Head {
                    phase: if run.end.is_some() { "X" } else { "B" },
                    category: "runs",
                    name: &name,
                    owner,
                };
                let duration = run.end.map(|end: Timestamp| (end - run.start).0);
                let when = When {
                    time: run.start.0,
                    duration,
                };
                self.event(&head, when, "", Some(args))?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Writes states and wakeups.
    pub(super) fn states(&mut self) -> Result<StateCounts, ExportError> {
        let trace = self.trace;
        let mut counts = StateCounts::default();
        for id in (0..trace.threads.len() as u32).map(ThreadId) {
            let range = trace.states.of(id);
            if range.is_empty() || !self.chosen.has_states_of(id) {
                continue;
            }
            let owner = self.koids.thread(id).with_thread(self.extra_thread());
            let name = format!("{} states", trace.thread_name(id));
            self.name_extra(owner, &name)?;
            for row in trace.states.overlapping(range, self.chosen.span) {
                let state = trace.states.get(StateId(row));
                self.state(&state, owner)?;
                counts.states += 1;
                if state.waker.is_some() && self.chosen.span.contains(state.start) {
                    self.wakeup(&state, owner)?;
                    counts.wakeups += 1;
                }
            }
        }
        Ok(counts)
    }

    fn state(&mut self, state: &State, owner: ThreadKoids) -> Result<(), ExportError> {
        let trace = self.trace;
        let mut args = Map::new();
        args.insert(
            "tid".to_owned(),
            exact_number(trace.thread(state.thread).tid),
        );
        if let Some(waker) = state.waker {
            args.insert(
                "waker_tid".to_owned(),
                exact_number(trace.thread(waker).tid),
            );
        }
        if let Some(cpu) = state.cpu {
            let number = trace.cpus.get(cpu as usize).map_or(cpu, |cpu| cpu.number);
            args.insert("cpu".to_owned(), json!(number));
        }
        let head = Head {
            phase: if state.end.is_some() { "X" } else { "B" },
            category: "states",
            name: state.state.word(),
            owner,
        };
        let duration = state.end.map(|end| (end - state.start).0);
        let when = When {
            time: state.start.0,
            duration,
        };
        self.event(&head, when, "", Some(args))
    }

    fn wakeup(&mut self, state: &State, owner: ThreadKoids) -> Result<(), ExportError> {
        let trace = self.trace;
        let waker = state.waker.unwrap_or(ThreadId::NONE);
        let mut args = Map::new();
        args.insert(
            "tid".to_owned(),
            exact_number(trace.thread(state.thread).tid),
        );
        args.insert(
            "waker_tid".to_owned(),
            exact_number(trace.thread(waker).tid),
        );
        args.insert("waker".to_owned(), json!(trace.thread_name(waker)));
        let head = Head {
            phase: "i",
            category: "wakeups",
            name: "wakeup",
            owner,
        };
        self.event(&head, When::at(state.start.0), ",\"s\":\"t\"", Some(args))
    }
}
