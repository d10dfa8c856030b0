//! Context switches and wakeups: who leaves a CPU and in which state, who comes, who wakes whom.

use super::encode::Encoder;
use super::item::{Item, What};
use super::scheduling_records::Side;
use crate::event::{EndState, ValueRef};
use crate::formats::fxt::{IDLE_WEIGHT, SchedulingSort, SourceScheduling};
use crate::trace::{CpuId, EventId, StateId, ThreadId, ThreadState, Trace};

/// Arguments of scheduling records that are told anew.
const TOLD_ANEW: &[&str] = &[
    "incoming_weight",
    "outgoing_weight",
    "outgoing_state",
    "waker",
];

impl Encoder<'_, '_> {
    pub(super) fn switch(&mut self, item: &Item) {
        let Some(cpu) = self.cpu_number(item.of) else {
            return;
        };
        let runs = &self.source.trace.runs;
        let index = item.row as usize;
        let (out, incoming) = match item.what {
            What::SwitchToIdle => {
                let thread = ThreadId(runs.threads[index]);
                if runs.starts[index] < item.time && self.is_dead_at_start(thread, item.time) {
                    return;
                }
                (self.leaves(index), Side::Idle)
            }
            What::SwitchAtEnd => {
                // What it does from there on is not in the range.
                let side = self.side(ThreadId(runs.threads[index]), runs.priorities[index]);
                (Some((side, state_number(EndState::Unknown))), Side::Idle)
            }
            What::SwitchOff => {
                let state = self.source.trace.states.get(StateId(item.row));
                let event = state.event.filter(|_| state.start.0 == item.time);
                let weight = event.map_or(0, |event| self.priority_before(event.0));
                let out = self.side(state.thread, weight);
                (Some((out, thread_state_number(state.state))), Side::Idle)
            }
            _ => {
                let incoming = self.side(ThreadId(runs.threads[index]), runs.priorities[index]);
                (self.left_for(item), incoming)
            }
        };
        let is_seen = |side: Side| matches!(side, Side::Thread { .. });
        let is_of_others = !is_seen(incoming) && !out.is_some_and(|(out, _)| is_seen(out));
        if is_of_others && !self.ends_unsaid(item) {
            return;
        }
        let (out, state) = out.unwrap_or((Side::Idle, state_number(EndState::Runnable)));
        let time = self.ticks(item.time);
        let shift = self.source.shift;
        let border = match item.what {
            What::SwitchTo if runs.starts[index] < item.time => {
                Some(("really_began_ns", runs.starts[index]))
            }
            What::SwitchOff => {
                let start = self.source.trace.states.get(StateId(item.row)).start.0;
                (start < item.time).then_some(("really_began_ns", start))
            }
            What::SwitchAtEnd if runs.ends[index] != item.time && runs.ends[index] != i64::MAX => {
                Some(("really_ended_ns", runs.ends[index]))
            }
            _ => None,
        };
        let border = border.map(|(name, time)| (name, time.saturating_add(shift)));
        let weight = self.prepare_switch(item);
        let out = match (out, weight) {
            (Side::Thread { koid, .. }, Some(weight)) => Side::Thread { koid, weight },
            _ => out,
        };
        self.records
            .prepared_switch((time, cpu), out, state, incoming, border);
    }

    /// Prepares what the switch's own record, in an FXT file, says beside what every one says, and answers the weight of
    /// the thread that leaves.
    fn prepare_switch(&mut self, item: &Item) -> Option<i32> {
        self.records.prepare(&[]);
        let fxt = self.source.fxt?;
        let trace = self.source.trace;
        let index = item.row as usize;
        let event = match item.what {
            What::SwitchTo if item.time == trace.runs.starts[index] => {
                Some(trace.runs.events[index]).filter(|&event| event != u32::MAX)
            }
            // A switch to where it goes on at once is another one.
            What::SwitchToIdle => event_behind(trace, index)
                .filter(|(_, state)| *state != ThreadState::Running)
                .map(|(event, _)| event),
            What::SwitchOff => {
                let state = trace.states.get(StateId(item.row));
                let event = state.event.filter(|_| state.start.0 == item.time);
                event.map(|event| event.0)
            }
            _ => None,
        };
        let place = self.events.get(EventId(event?)).row.place;
        // Who was woken at once has a wakeup there.
        fxt.woken(place).is_none().then_some(())?;
        let own = fxt.with_arguments(place)?;
        self.source_names
            .prepare_but(&fxt, &own, TOLD_ANEW, &mut self.records);
        self.source_names
            .int32_of(&fxt, &own, "outgoing_weight", &self.records)
            .filter(|&weight| weight != IDLE_WEIGHT)
    }

    fn cpu_number(&self, index: u32) -> Option<u16> {
        self.source.koids.cpu_number(CpuId(index))
    }

    /// A thread as one side of a switch. What was not chosen runs unseen.
    fn side(&self, thread: ThreadId, weight: i32) -> Side {
        let koid = self.source.koids.thread(thread).1;
        match self.source.chosen.has_thread(thread) {
            true => Side::Thread { koid, weight },
            false => Side::NotChosen { koid },
        }
    }

    /// Whether a switch ends a run of a chosen thread of which it cannot say that it left: where switches were lost.
    fn ends_unsaid(&self, item: &Item) -> bool {
        let runs = &self.source.trace.runs;
        let index = item.row as usize;
        let ended = match item.what {
            What::SwitchToIdle => Some(index),
            What::SwitchTo if item.time == runs.starts[index] => self.run_before(item),
            _ => None,
        };
        ended.is_some_and(|run| {
            let is_chosen = self.source.chosen.has_thread(ThreadId(runs.threads[run]));
            is_chosen && !self.source.true_ends.has(run)
        })
    }

    /// The run that ends where that of a switch begins.
    fn run_before(&self, item: &Item) -> Option<usize> {
        let runs = &self.source.trace.runs;
        let index = item.row as usize;
        let first = runs.on(CpuId(item.of)).start as usize;
        let before = index.checked_sub(1)?;
        (before >= first && runs.ends[before] == runs.starts[index]).then_some(before)
    }

    /// The thread of a run that ends, if its states say so as well: where switches were lost they do not.
    fn leaves(&self, run: usize) -> Option<(Side, (u8, &'static str))> {
        if !self.source.true_ends.has(run) {
            return None;
        }
        let runs = &self.source.trace.runs;
        let side = self.side(ThreadId(runs.threads[run]), runs.priorities[run]);
        Some((side, state_number(runs.end_states[run])))
    }

    /// Whether a thread's life is over at a time, which is the range's start.
    fn is_dead_at_start(&self, thread: ThreadId, time: i64) -> bool {
        let start = self.source.chosen.span.start;
        let end = self.source.trace.thread(thread).end;
        time == start.0 && end.is_some_and(|end| end <= start)
    }

    /// Who is switched from at the start of a run.
    fn left_for(&self, item: &Item) -> Option<(Side, (u8, &'static str))> {
        let trace = self.source.trace;
        let runs = &trace.runs;
        let index = item.row as usize;
        if item.time > runs.starts[index] {
            // It began before the range.
            return None;
        }
        // Where switches were lost it is not the one that ran.
        let lone = self.source.lone_states.of_event(runs.events[index]);
        let lone = lone.map(|state| trace.states.get(state));
        let lone = lone.filter(|state| !self.is_dead_at_start(state.thread, item.time));
        if let Some(state) = lone {
            let weight = self.priority_before(runs.events[index]);
            let side = self.side(state.thread, weight);
            return Some((side, thread_state_number(state.state)));
        }
        let before = self.run_before(item).filter(|&run| {
            let thread = ThreadId(runs.threads[run]);
            !self.source.true_ends.is_apart(run)
                && (runs.starts[run] >= item.time || !self.is_dead_at_start(thread, item.time))
        });
        before.and_then(|before| self.leaves(before))
    }

    /// The priority of the thread that a switch takes off of which no run is known: as its event says.
    fn priority_before(&self, event: u32) -> i32 {
        if event == u32::MAX || self.source.fxt.is_some() {
            return 0;
        }
        let mut fields = Vec::new();
        let event = self.event_ref(EventId(event));
        self.source.reader.fields_into(event, &mut fields);
        let priority = fields.iter().find(|field| field.name == "prev_prio");
        priority.map_or(0, |field| match field.value {
            ValueRef::Int(value) => i32::try_from(value).unwrap_or(0),
            ValueRef::UInt(value) => i32::try_from(value).unwrap_or(0),
            _ => 0,
        })
    }

    /// A scheduling record of an FXT file, as it stands there.
    pub(super) fn scheduling_record(&mut self, item: &Item) {
        let Some(fxt) = self.source.fxt else { return };
        let id = EventId(item.row);
        let place = self.place(id);
        let Some(SourceScheduling { cpu, sort }) = fxt.scheduling(place) else {
            return;
        };
        let at = (self.ticks(item.time), cpu as u16);
        let is_at_start = item.time == self.source.chosen.span.start.0;
        let is_dead = is_at_start && self.is_dead_at_start(self.events.thread(id), item.time);
        self.records.prepare(&[]);
        let own = fxt.with_arguments(place);
        let names = &mut self.source_names;
        match sort {
            SchedulingSort::Wakeup { thread } => {
                if let Some(own) = own {
                    names.prepare_all(&fxt, &own, &mut self.records);
                }
                self.records.prepared_wakeup(at.0, at.1, thread, None);
            }
            SchedulingSort::Switch {
                state,
                outgoing,
                incoming,
            } => {
                let Some(own) = own else { return };
                if !is_dead {
                    names.prepare_all(&fxt, &own, &mut self.records);
                    let threads = (outgoing, incoming);
                    return self.records.switch_as_it_stands(at, state, threads);
                }
                names.prepare_but(&fxt, &own, TOLD_ANEW, &mut self.records);
                let weight = names.int32_of(&fxt, &own, "incoming_weight", &self.records);
                if weight != Some(IDLE_WEIGHT) {
                    let koid = incoming;
                    let weight = weight.unwrap_or(0);
                    let incoming = Side::Thread { koid, weight };
                    let state = state_number(EndState::Runnable);
                    self.records
                        .prepared_switch(at, Side::Idle, state, incoming, None);
                }
            }
            SchedulingSort::OldSwitch { state, priorities } => {
                let out = match self.events.thread(id) {
                    ThreadId::IDLE | ThreadId::NONE => Side::Idle,
                    _ if is_dead => Side::Idle,
                    prev => self.side(prev, priorities.0),
                };
                let next = self.run_of_event(cpu, item);
                let incoming = next.map_or(Side::Idle, |next| self.side(next, priorities.1));
                if !is_dead || incoming != Side::Idle {
                    self.records
                        .prepared_switch(at, out, (state, ""), incoming, None);
                }
            }
        }
    }

    /// The thread of the run that a switch begins.
    fn run_of_event(&self, cpu: u32, item: &Item) -> Option<ThreadId> {
        let trace = self.source.trace;
        let cpu = trace
            .cpus
            .binary_search_by_key(&cpu, |cpu| cpu.number)
            .ok()?;
        let range = trace.runs.on(CpuId(cpu as u32));
        let (first, last) = (range.start as usize, range.end as usize);
        let starts = trace.runs.starts.get(first..last)?;
        let from = first + starts.partition_point(|&start| start < item.time);
        let mut same = (from..last).take_while(|&run| trace.runs.starts[run] == item.time);
        let run = same.find(|&run| trace.runs.events[run] == item.row)?;
        Some(ThreadId(trace.runs.threads[run]))
    }

    pub(super) fn wakeup(&mut self, item: &Item) {
        let source = self.source;
        let state = source.trace.states.get(StateId(item.row));
        let thread = source.koids.thread(ThreadId(item.of)).1;
        let waker = state
            .waker
            .filter(|&waker| waker != ThreadId::IDLE)
            .map(|waker| source.koids.thread(waker).1);
        let cpu = state.event.and_then(|id| {
            let event = self.events.get(id);
            match (event.cpu, source.fxt) {
                (Some(cpu), _) => self.cpu_number(cpu),
                (None, Some(fxt)) => u16::try_from(fxt.cpu(event.row.place)?).ok(),
                // Of several files the numbers are those of their CPUs.
                (None, None) => self.cpu_number((source.cpu_of)(id)?),
            }
        });
        self.prepare_wakeup(state.event.filter(|_| state.start.0 == item.time));
        self.records
            .prepared_wakeup(self.ticks(item.time), cpu.unwrap_or(0), thread, waker);
    }

    fn prepare_wakeup(&mut self, event: Option<EventId>) {
        self.records.prepare(&[]);
        let place = event.map(|event| self.place(event));
        if let (Some(fxt), Some(place)) = (self.source.fxt, place)
            && let Some(own) = fxt.with_arguments(place)
        {
            self.source_names
                .prepare_but(&fxt, &own, TOLD_ANEW, &mut self.records);
        }
    }

    /// A wakeup that changed nothing, as its thread was up already: the event is the row.
    pub(super) fn wakeup_of_ready(&mut self, item: &Item) {
        let source = self.source;
        let id = EventId(item.row);
        let event = self.events.get(id);
        let cpu = source.fxt.and_then(|fxt| fxt.cpu(event.row.place));
        let cpu = cpu.and_then(|cpu| u16::try_from(cpu).ok()).unwrap_or(0);
        let woken = ThreadId(item.of);
        let own = source
            .fxt
            .and_then(|fxt| Some((fxt, fxt.with_arguments(event.row.place)?)));
        let waker = own.and_then(|(fxt, own)| {
            let names = &mut self.source_names;
            names.koid_of(&fxt, &own, "waker", &self.records)
        });
        let thread = source.koids.thread(woken).1;
        self.prepare_wakeup(Some(id));
        self.records
            .prepared_wakeup(self.ticks(item.time), cpu, thread, waker);
    }
}

/// The state that begins for a thread where a run of it ends, and its event.
pub fn event_behind(trace: &Trace, run: usize) -> Option<(u32, ThreadState)> {
    let (runs, states) = (&trace.runs, &trace.states);
    let range = states.of_thread.get(runs.threads[run] as usize)?;
    let starts = states
        .starts
        .get(range.start as usize..range.end as usize)?;
    let end = runs.ends[run];
    let at = starts.partition_point(|&start| start < end);
    let event = *states.events.get(range.start as usize + at)?;
    let state = *states.states.get(range.start as usize + at)?;
    (starts.get(at) == Some(&end) && event != u32::MAX).then_some((event, state))
}

/// A state as the format numbers it (15 is none that it knows), and its letters where the number says less.
fn state_number(state: EndState) -> (u8, &'static str) {
    match state {
        EndState::Runnable => (1, ""),
        EndState::Preempted => (1, state.letters()),
        EndState::Stopped => (2, ""),
        EndState::Traced => (2, state.letters()),
        EndState::Sleeping => (3, ""),
        EndState::Uninterruptible | EndState::Parked | EndState::Idle => (3, state.letters()),
        EndState::Zombie => (4, ""),
        EndState::Dead => (5, ""),
        EndState::Unknown => (15, ""),
    }
}

/// The same of a state that a switch brought.
fn thread_state_number(state: ThreadState) -> (u8, &'static str) {
    state_number(match state {
        ThreadState::Running | ThreadState::Runnable => EndState::Runnable,
        ThreadState::Preempted => EndState::Preempted,
        ThreadState::Stopped => EndState::Stopped,
        ThreadState::Traced => EndState::Traced,
        ThreadState::Sleeping => EndState::Sleeping,
        ThreadState::Uninterruptible => EndState::Uninterruptible,
        ThreadState::Parked => EndState::Parked,
        ThreadState::Idle => EndState::Idle,
        ThreadState::Zombie => EndState::Zombie,
        ThreadState::Dead => EndState::Dead,
        ThreadState::Created | ThreadState::Unknown => EndState::Unknown,
    })
}
