//! Runs and states as items: context switches and wakeups.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::item::{END_ORDER, Item, LAST_ORDER, What, order_among, order_of};
use super::items::{Items, known_event};
use super::lanes::Stretch;
use super::lone_states::{RunBegins, StateBegins};
use super::switches::event_behind;
use crate::trace::{CpuId, EventId, StateId, ThreadId};

impl Items<'_> {
    pub(super) fn gather_runs(&self, cpu: u32, stretch: &Stretch, list: &mut Vec<Item>) {
        let runs = &self.trace.runs;
        let range = runs.on(CpuId(cpu));
        let (from, until) = (range.start as usize, range.end as usize);
        let is_narrowed = self.chosen.is_narrowed();
        for index in stretch.starts_from(from) {
            if is_narrowed && !self.has_side(cpu, from, index) {
                continue;
            }
            let order = order_of(known_event(runs.events[index]));
            let at = (runs.starts[index], order);
            list.push(Item::new(What::SwitchTo, at, index as u32, cpu));
        }
        for index in stretch.ends_from(from) {
            let follows = index + 1 < until
                && runs.starts[index + 1] == runs.ends[index]
                && !self.true_ends.is_apart(index);
            let thread = ThreadId(runs.threads[index]);
            if !follows && (!is_narrowed || self.chosen.has_run(CpuId(cpu), thread)) {
                // Just before the next event of its thread, on whatever CPU; if that is unknown, after all others of
                // its time.
                let behind = event_behind(self.trace, index)
                    .map_or(LAST_ORDER, |(event, _)| order_among(event, END_ORDER));
                let is_at_once = runs.starts[index] == runs.ends[index];
                let begin = order_of(known_event(runs.events[index]));
                let order = if is_at_once {
                    behind.max(begin + 1)
                } else {
                    behind
                };
                let at = (runs.ends[index], order);
                list.push(Item::new(What::SwitchToIdle, at, index as u32, cpu));
            }
        }
    }

    /// Returns whether a chosen thread leaves or comes by the switch that begins a run; `from` is the first run of its
    /// CPU.
    fn has_side(&self, cpu: u32, from: usize, index: usize) -> bool {
        let runs = &self.trace.runs;
        let is_chosen = |run: usize| {
            let thread = ThreadId(runs.threads[run]);
            self.chosen.has_run(CpuId(cpu), thread)
        };
        let lone = || {
            let state = self.lone_states.of_event(runs.events[index])?;
            Some(self.chosen.has_thread(self.trace.states.get(state).thread))
        };
        is_chosen(index) || index > from && is_chosen(index - 1) || lone() == Some(true)
    }

    pub(super) fn gather_wakeups(&self, thread: u32, stretch: &Stretch, list: &mut Vec<Item>) {
        let states = &self.trace.states;
        let from = states.of_thread[thread as usize].start as usize;
        for index in stretch.starts_from(from) {
            if self.is_wakeup(index) && self.leads_to_chosen_cpu(index, thread) {
                let own = order_of(known_event(states.events[index]));
                // After the event that took the thread off a CPU at the same time, perhaps on another CPU.
                let of_thread = from..index;
                let at_once = of_thread
                    .rev()
                    .take_while(|&row| states.starts[row] == states.starts[index]);
                let before = at_once.map(|row| order_of(known_event(states.events[row])) + 1);
                let order = before.fold(own, u64::max);
                let at = (states.starts[index], order);
                list.push(Item::new(What::Wakeup, at, index as u32, thread));
            }
        }
    }

    pub(super) fn switches_off(&self) -> Vec<Item> {
        let trace = self.trace;
        let run_begins = RunBegins::new(trace);
        let item_of = |&(event, state): &(u32, u32)| {
            // Most are the outgoing side of a switch that is written anyway.
            if run_begins.has(EventId(event))
                || self.lone_states.of_event(event) != Some(StateId(state))
            {
                return None;
            }
            let row = trace.states.get(StateId(state));
            if !self.chosen.span.contains(row.start) || !self.chosen.has_thread(row.thread) {
                return None;
            }
            let cpu = (self.cpu_of)(EventId(event))?;
            let at = (row.start.0, order_of(event));
            let is_chosen = self.chosen.has_runs_of(CpuId(cpu));
            is_chosen.then(|| Item::new(What::SwitchOff, at, state, cpu))
        };
        let lone_states = self.lone_states.rows().par_iter();
        lone_states.filter_map(item_of).collect()
    }

    /// Returns whether a thread's readiness ends on a chosen CPU: a thread that continued elsewhere would seem to wait
    /// for ever. For the last readiness its event contains the CPU.
    pub(super) fn leads_to_chosen_cpu(&self, index: usize, thread: u32) -> bool {
        if !self.chosen.limits_cpus() {
            return true;
        }
        let of_thread = self.trace.states.of(ThreadId(thread));
        let next = index as u32 + 1;
        let next = of_thread.contains(&next).then_some(StateId(next));
        let state = self.trace.states.get(StateId(index as u32));
        match next.and_then(|next| self.trace.states.get(next).cpu) {
            Some(cpu) => self.chosen.has_runs_of(CpuId(cpu)),
            None => state.event.is_none_or(|event| {
                (self.cpu_of)(event).is_none_or(|cpu| self.chosen.has_runs_of(CpuId(cpu)))
            }),
        }
    }

    /// Returns whether a state began with a wakeup.
    fn is_wakeup(&self, index: usize) -> bool {
        self.trace.states.notes[index].is_woken()
    }

    /// Returns whether an event wakes a thread, including one that was switched from at the same time.
    fn is_wakeup_event(&self, event: u32) -> bool {
        let kind = |event| self.trace.events.get(EventId(event)).row.kind;
        event != u32::MAX
            && self
                .wakeup_kinds
                .get(usize::from(kind(event).0))
                .is_some_and(|&is_one| is_one)
    }

    /// Returns items for wakeups of an FXT file that changed nothing: no state begins with them.
    pub(super) fn wakeups_of_ready(&self) -> Vec<Item> {
        let trace = self.trace;
        let Some(fxt) = self.fxt.filter(|_| self.wakeup_kinds.contains(&true)) else {
            return Vec::new();
        };
        let begun = StateBegins::new(trace);
        // Of several threads with one number only one was scheduled: the wakeup belongs to it.
        let has_states = |id: u32| {
            let states = trace.states.of_thread.get(id as usize);
            states.is_some_and(|range| !range.is_empty())
        };
        let ids = 1..trace.threads.len() as u32;
        let others = ids.clone().filter(|&id| !has_states(id));
        let threads: FxHashMap<u64, u32> = others
            .chain(ids.filter(|&id| has_states(id)))
            .map(|id| (trace.thread(ThreadId(id)).tid, id))
            .collect();
        let item_of = |id: u32| {
            if begun.has(EventId(id)) || !self.is_wakeup_event(id) {
                return None;
            }
            let row = trace.events.get(EventId(id)).row;
            let thread = *threads.get(&fxt.woken(row.place)?)?;
            let is_chosen =
                self.chosen.span.contains(row.time) && self.chosen.has_states_of(ThreadId(thread));
            let is_here = || {
                let cpu = (self.cpu_of)(EventId(id)).map(CpuId);
                cpu.is_none_or(|cpu| self.chosen.has_runs_of(cpu))
            };
            let is_chosen = is_chosen && (!self.chosen.limits_cpus() || is_here());
            let at = (row.time.0, order_of(id));
            is_chosen.then(|| Item::new(What::WakeupOfReady, at, id, thread))
        };
        (0..trace.events.len() as u32)
            .into_par_iter()
            .filter_map(item_of)
            .collect()
    }
}
