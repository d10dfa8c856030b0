//! Runs, thread states and wakeups: the format has no scheduling events, so runs are slices on a thread of their CPU,
//! states are slices on an extra thread for each thread, and wakeups are instants on that thread.

use serde_json::{Map, Value as Json, json};

use super::event_parts::{Head, When};
use super::{JsonEvents, RUNS_OFFSET, add_cuts, when};
use crate::event::Interrupt;
use crate::export::ExportError;
use crate::export::shared::ThreadKoids;
use crate::export::shared::numbers::exact_number;
use crate::fxt::agreed::MISSES_SWITCHES;
use crate::query::event_cpus::{is_on_chosen_cpu, left_cpu};
use crate::query::waker::{Waker, waker_of};
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
                let thread = self.koids.thread(run.thread);
                let mut args = Map::new();
                args.insert("cpu".to_owned(), json!(self.cpu_number(cpu.0)));
                self.add_thread(["pid", "tid"], thread, &mut args);
                args.insert("priority".to_owned(), json!(run.priority));
                let part = self.borders.of_run(trace, run.id);
                if part.end.is_some() && part.cut.is_none() {
                    args.insert("end_state".to_owned(), json!(run.end_state.letters()));
                }
                add_cuts(&part, &mut args);
                let head = Head {
                    phase: if part.end.is_some() { "X" } else { "B" },
                    category: "runs",
                    name: &name,
                    owner,
                };
                self.event(&head, when(&part), "", Some(args))?;
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
            let is_chosen = self.chosen.has_states_of(id) && !self.chosen.starts_after(id);
            if range.is_empty() || !is_chosen {
                continue;
            }
            let own = self.koids.thread(id);
            let thread = self.extra_thread();
            let name = format!("{} states", trace.thread_name(id));
            self.name_extra(own, thread, &name)?;
            for row in trace.states.overlapping(range, self.chosen.span) {
                let state = trace.states.get(StateId(row));
                if !is_on_chosen_cpu(trace, self.chosen, &self.cpus, &state) {
                    continue;
                }
                let waker = waker_of(trace, &state);
                self.state(&state, waker.as_ref(), own, thread)?;
                counts.states += 1;
                if self.chosen.span.contains(state.start)
                    && let Some(waker) = waker
                {
                    let owner = own.with_thread(thread);
                    self.wakeup(&state, &waker, owner)?;
                    counts.wakeups += 1;
                }
            }
        }
        Ok(counts)
    }

    /// Adds the numbers that a thread has in the file, under these names.
    pub(super) fn add_thread(
        &self,
        names: [&str; 2],
        thread: ThreadKoids,
        args: &mut Map<String, Json>,
    ) {
        let numbers = [thread.process, thread.thread].map(|koid| self.numbers.of(koid));
        for (name, number) in names.into_iter().zip(numbers) {
            args.insert(name.to_owned(), exact_number(number));
        }
    }

    /// Returns the number of a CPU in the exported file: the CPUs of each file on the axis have numbers of their own.
    pub(super) fn cpu_number(&self, index: u32) -> u32 {
        let number = self.koids.cpu_number(CpuId(index));
        number.map_or(index, u32::from)
    }

    /// Writes a state of `own`, which `waker` began if it is known, on a `thread` of its process.
    fn state(
        &mut self,
        state: &State,
        waker: Option<&Waker>,
        own: ThreadKoids,
        thread: u64,
    ) -> Result<(), ExportError> {
        let trace = self.trace;
        let mut args = Map::new();
        args.insert("tid".to_owned(), exact_number(self.numbers.of(own.thread)));
        if state.notes.is_woken() {
            args.insert("woken".to_owned(), json!(true));
            let of_handler = match waker {
                Some(Waker::Interrupt(waker)) => waker.kind,
                _ => None,
            };
            let interrupt = state.notes.interrupt().or(of_handler);
            if let Some(waker) = trace.states.woken_in(state.id) {
                let waker = self.koids.thread(waker);
                self.add_thread(["waker_pid", "waker_tid"], waker, &mut args);
            }
            if let Some(interrupt) = interrupt {
                args.insert("interrupt".to_owned(), json!(interrupt.word()));
            }
            // The wakeup has no CPU in the file, so a reader could not find the interrupt handler by CPU: its name is
            // an argument.
            if let Some(Waker::Interrupt(waker)) = waker
                && let Some(handler) = waker.handler(trace)
            {
                args.insert("woken_by".to_owned(), json!(handler));
            }
        }
        if state.notes.spans_loss() {
            args.insert("spans_loss".to_owned(), json!(true));
        }
        if state.notes.misses_switches() {
            args.insert(MISSES_SWITCHES.to_owned(), json!(true));
        }
        if let Some(cpu) = state.cpu {
            args.insert("cpu".to_owned(), json!(self.cpu_number(cpu)));
        } else {
            self.add_cpu(self.cpu_of_begin(state), &mut args);
        }
        let part = self.borders.of_state(trace, state.id);
        add_cuts(&part, &mut args);
        let head = Head {
            phase: if part.end.is_some() { "X" } else { "B" },
            category: "states",
            name: state.state.word(),
            owner: own.with_thread(thread),
        };
        self.event(&head, when(&part), "", Some(args))
    }

    /// Returns the CPU of the switch or wakeup that began a state, unless a run of the thread ended there then.
    fn cpu_of_begin(&self, state: &State) -> Option<CpuId> {
        let ran = left_cpu(self.trace, state).is_some();
        let event = state.event.filter(|_| state.notes.is_woken() || !ran)?;
        self.cpus.cpu(event)
    }

    /// Writes the wakeup that started a state. If an interrupt woke the thread, `waker_tid` is left out: it would be
    /// the thread that was interrupted, which woke nobody.
    fn wakeup(
        &mut self,
        state: &State,
        waker: &Waker,
        owner: ThreadKoids,
    ) -> Result<(), ExportError> {
        let trace = self.trace;
        let mut args = Map::new();
        let own = self.koids.thread(state.thread).thread;
        args.insert("tid".to_owned(), exact_number(self.numbers.of(own)));
        match waker {
            Waker::Thread(waker) => {
                let of_waker = self.koids.thread(*waker);
                self.add_thread(["waker_pid", "waker_tid"], of_waker, &mut args);
                args.insert("waker".to_owned(), json!(trace.thread_name(*waker)));
            }
            Waker::Interrupt(interrupt) => {
                args.insert("waker".to_owned(), json!(interrupt.text(trace)));
                let kind = interrupt.kind.map_or("interrupt", Interrupt::word);
                args.insert("woken_in".to_owned(), json!(kind));
            }
        }
        let head = Head {
            phase: "i",
            category: "wakeups",
            name: "wakeup",
            owner,
        };
        self.event(&head, When::at(state.start.0), ",\"s\":\"t\"", Some(args))
    }
}
