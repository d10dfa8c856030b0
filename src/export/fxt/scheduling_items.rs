//! Runs and states as items: context switches and wakeups.

use std::ops::Range;

use rayon::prelude::*;

use super::item::{END_ORDER, Item, ItemTime, LAST_ORDER, What, order_among, order_of};
use super::items::{Items, known_event};
use super::lanes::Stretch;
use super::lone_states::{LoneState, RunBegins};
use super::switches::event_behind;
use crate::base::Maybe;
use crate::query::event_cpus::leads_to_chosen_cpu;
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
            let at = ItemTime {
                time: runs.starts[index],
                order,
            };
            list.push(Item::new(What::SwitchTo, at, index as u32, cpu));
        }
        for index in stretch.ends_from(from) {
            let follows = index + 1 < until
                && runs.ends[index] == runs.starts[index + 1]
                && !self.true_ends.is_apart(index);
            let thread = ThreadId(runs.threads[index]);
            if !follows
                && !self.ends_as_part(index)
                && (!is_narrowed || self.chosen.has_run(CpuId(cpu), thread))
            {
                // Just before the next event of its thread, on whatever CPU; if that is unknown, after all others of
                // its time.
                let behind = event_behind(self.trace, index)
                    .map_or(LAST_ORDER, |behind| order_among(behind.event, END_ORDER));
                let is_at_once = runs.ends[index] == runs.starts[index];
                let begin = order_of(known_event(runs.events[index]));
                let order = if is_at_once {
                    behind.max(begin + 1)
                } else {
                    behind
                };
                let time = runs.ends[index].or_greatest();
                let at = ItemTime { time, order };
                list.push(Item::new(What::SwitchToIdle, at, index as u32, cpu));
            }
        }
    }

    /// Returns whether the outgoing or incoming thread of the switch that begins a run is chosen; `from` is the first
    /// run of its CPU.
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
        let Range { start, .. } = states.of_thread[thread as usize];
        if self.chosen.starts_after(ThreadId(thread)) {
            return;
        }
        let own_order = |row: usize| order_of(known_event(states.events[row]));
        for index in stretch.starts_from(start as usize) {
            let state = StateId(index as u32);
            if self.is_wakeup(index)
                && leads_to_chosen_cpu(self.trace, self.chosen, self.cpus, state)
            {
                // `take_turns` puts it between the events of the states around it.
                let at = ItemTime {
                    time: states.starts[index],
                    order: own_order(index),
                };
                list.push(Item::new(What::Wakeup, at, index as u32, thread));
            }
        }
    }

    pub(super) fn switches_off(&self) -> Vec<Item> {
        let trace = self.trace;
        let run_begins = RunBegins::new(trace);
        let item_of = |&LoneState { event, state }: &LoneState| {
            // Most of these switches are written anyway, as the outgoing side of the switch to the next run.
            if run_begins.has(EventId(event))
                || self.lone_states.of_event(Maybe::new(event)) != Some(StateId(state))
            {
                return None;
            }
            let row = trace.states.get(StateId(state));
            let is_chosen =
                self.chosen.span.contains(row.start) && self.chosen.has_thread(row.thread);
            if !is_chosen || self.chosen.starts_after(row.thread) {
                return None;
            }
            let cpu = self.cpus.cpu(EventId(event))?;
            let at = ItemTime {
                time: row.start.0,
                order: order_of(event),
            };
            let is_chosen = self.chosen.has_runs_of(cpu);
            is_chosen.then(|| Item::new(What::SwitchOff, at, state, cpu.0))
        };
        let lone_states = self.lone_states.rows().par_iter();
        lone_states.filter_map(item_of).collect()
    }

    /// Returns whether a state began with a wakeup.
    fn is_wakeup(&self, index: usize) -> bool {
        self.trace.states.notes[index].is_woken()
    }
}
