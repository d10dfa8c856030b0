//! Context switches: the thread that leaves a CPU, its next state, and the thread that comes.

use super::encode::Encoder;
use super::item::{Item, What};
use super::records::{Arg, ArgValue};
use super::scheduling_args::{int32_of, value_of};
use super::scheduling_records::{NumberedState, OnCpu, Outgoing, Side};
use crate::event::{FieldRole, Role, ValueRef};
use crate::export::shared::borders::{CutArgument, EndCut};
use crate::fxt::agreed::{END_NOT_SEEN, LONGEST, MISSES_SWITCHES, OUTGOING_NOT_SEEN};
use crate::fxt::layout::scheduling::IDLE_WEIGHT;
use crate::query::event_cpus::leads_to_chosen_cpu;
use crate::trace::{CpuId, EventId, RunId, State, StateId, ThreadId, ThreadState, Trace};

/// Arguments of scheduling records that the export computes again.
pub(super) const COMPUTED_AGAIN: &[&str] = &[
    "incoming_weight",
    "outgoing_weight",
    "outgoing_state",
    "waker",
    "woken_in",
    OUTGOING_NOT_SEEN,
    "waits",
    "spans_loss",
    MISSES_SWITCHES,
    LONGEST,
];

/// Facts about the state that a switch or wakeup begins, which readers cannot derive from the records.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ExtraFacts {
    /// Whether the recording shows that the thread waited for a CPU until it ran.
    waits: Option<bool>,
    /// Whether events were lost while the state lasted.
    spans_loss: Option<bool>,
    /// Whether switches are missing while the state lasted, where no loss was recorded; written if they are.
    misses_switches: bool,
    /// How long the state lasted at most, in ns, if an event of the thread that is no scheduling event contradicts it, or
    /// if it ended on a CPU that was not chosen.
    longest: Option<i64>,
}

/// The content of one context switch record.
struct SwitchSides {
    /// The outgoing thread and its next state; `None` if the CPU was idle.
    outgoing: Option<Outgoing>,
    incoming: Side,
    /// Whether the outgoing thread was seen on the CPU before.
    is_outgoing_seen: bool,
    /// The argument with the real start or end of a run or state that the range cuts.
    border: Option<Arg<'static>>,
    /// Facts about the outgoing thread's state that do not follow from the records.
    extra: ExtraFacts,
}

/// What happens to the arguments about a state in the source's own record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnFacts {
    /// The arguments are copied.
    Kept,
    /// The export writes its own.
    Replaced,
}

impl OwnFacts {
    /// Returns `Replaced` if the export writes facts of its own.
    pub(super) fn beside(extra: ExtraFacts) -> OwnFacts {
        match extra == ExtraFacts::default() {
            true => OwnFacts::Kept,
            false => OwnFacts::Replaced,
        }
    }
}

impl<'a> Encoder<'a, '_> {
    pub(super) fn switch(&mut self, item: &Item) {
        let Some(cpu) = self.cpu_number(item.of) else {
            return;
        };
        let at = OnCpu {
            time: self.ticks(item.time),
            cpu,
        };
        if let Some(run) = self.run_ended_apart(item) {
            let ended = self.prepare_end(item, run);
            self.write_switch(at, &ended);
            if item.what != What::SwitchTo {
                return;
            }
        }
        let Some(sides) = self.sides_of(item) else {
            return;
        };
        let is_seen = |side: Side| matches!(side, Side::Thread { .. });
        let is_out_seen = sides.outgoing.is_some_and(|out| is_seen(out.side));
        if !is_seen(sides.incoming) && !is_out_seen {
            return;
        }
        let weight = self.prepare_switch(item, OwnFacts::beside(sides.extra));
        let outgoing = sides.outgoing.map(|out| match (out.side, weight) {
            (Side::Thread { koid, .. }, Some(weight)) => Outgoing {
                side: Side::Thread { koid, weight },
                ..out
            },
            _ => out,
        });
        let sides = SwitchSides { outgoing, ..sides };
        if !is_seen(sides.incoming) || !self.begins_without_state(item) {
            return self.write_switch(at, &sides);
        }
        if is_out_seen {
            let ended = SwitchSides {
                incoming: Side::Idle,
                border: None,
                ..sides
            };
            self.write_switch(at, &ended);
            self.records.prepare(&[]);
        }
        self.records.prepare_without_states();
        let begun = SwitchSides {
            outgoing: None,
            extra: ExtraFacts::default(),
            ..sides
        };
        self.write_switch(at, &begun);
    }

    fn write_switch(&mut self, at: OnCpu, sides: &SwitchSides) {
        let idle = Outgoing {
            side: Side::Idle,
            state: state_number(ThreadState::Runnable),
        };
        let outgoing = sides.outgoing.unwrap_or(idle);
        if matches!(outgoing.side, Side::Thread { .. }) {
            self.prepare_extra_facts(sides.extra);
            if !sides.is_outgoing_seen {
                let name = self.records.name(OUTGOING_NOT_SEEN);
                self.records.prepare_one(name, &ArgValue::Bool(true));
            }
        }
        self.records
            .prepared_switch(at, outgoing, sides.incoming, sides.border.as_ref());
    }

    /// Writes the end of a run that no switch of its FXT file names: readers that end runs by thread need it.
    pub(super) fn unseen_end(&mut self, item: &Item) {
        let Some(cpu) = self.cpu_number(item.of) else {
            return;
        };
        let ended = self.prepare_end(item, item.row as usize);
        let name = self.records.name(END_NOT_SEEN);
        self.records.prepare_one(name, &ArgValue::Bool(true));
        let time = self.ticks(item.time);
        self.write_switch(OnCpu { time, cpu }, &ended);
    }

    /// Prepares a switch to idle that only ends a run. Readers end runs by thread: it must name the outgoing thread, even
    /// if its next state is unknown. Of a thread whose states are not written, it names the state in which it left.
    fn prepare_end(&mut self, item: &Item, run: usize) -> SwitchSides {
        self.records.prepare(&[]);
        if !self.ends_in_state(item, run) {
            self.records.prepare_without_states();
        }
        let runs = &self.source.trace.runs;
        let is_switch = matches!(item.what, What::SwitchTo | What::SwitchToIdle);
        let is_only_run = is_switch && !self.has_states(ThreadId(runs.threads[run]));
        let left = Outgoing {
            side: self.side_of_run(run),
            state: state_number(runs.end_states[run]),
        };
        SwitchSides {
            outgoing: Some(match is_only_run && self.source.true_ends.has(run) {
                true => left,
                false => self.leaves_in_unknown_state(run),
            }),
            incoming: Side::Idle,
            is_outgoing_seen: true,
            border: self.border_of_end(run),
            extra: ExtraFacts::default(),
        }
    }

    /// Returns both sides of a switch. `None` if the switch belongs to a life that was over before the range.
    fn sides_of(&self, item: &Item) -> Option<SwitchSides> {
        let runs = &self.source.trace.runs;
        let index = item.row as usize;
        let (outgoing, incoming) = match item.what {
            What::SwitchToIdle => {
                let thread = ThreadId(runs.threads[index]);
                if runs.starts[index] < item.time && self.is_dead_at_start(thread, item.time) {
                    return None;
                }
                (self.leaves(index), Side::Idle)
            }
            // The thread's next state is not in the range.
            What::SwitchAtEnd => (Some(self.leaves_in_unknown_state(index)), Side::Idle),
            What::SwitchOff => {
                let state = self.source.trace.states.get(StateId(item.row));
                let event = state.event.filter(|_| state.start.0 == item.time);
                (Some(self.leaves_without_run(&state, event)), Side::Idle)
            }
            _ => (self.left_for(item), self.side_of_run(index)),
        };
        Some(SwitchSides {
            outgoing,
            incoming,
            is_outgoing_seen: self.is_outgoing_seen(item),
            border: self.border_of(item),
            extra: match self.left_state(item) {
                Some(state) => self.extra_facts(state, item.time),
                None => self.facts_without_state(item),
            },
        })
    }

    /// Returns the state that a switch begins for the outgoing thread.
    fn left_state(&self, item: &Item) -> Option<StateId> {
        let trace = self.source.trace;
        self.lone_state(item).or_else(|| {
            let run = self.run_left(item)?;
            trace.states.behind_run(&trace.runs, run)
        })
    }

    /// Returns the run that a switch ends.
    fn run_left(&self, item: &Item) -> Option<usize> {
        let index = item.row as usize;
        match item.what {
            What::SwitchToIdle => Some(index),
            What::SwitchTo if item.time == self.source.trace.runs.starts[index] => {
                self.run_before(item)
            }
            _ => None,
        }
    }

    /// Returns the state that a switch begins for an outgoing thread that has no run until then, because switches were
    /// lost.
    fn lone_state(&self, item: &Item) -> Option<StateId> {
        let (runs, index) = (&self.source.trace.runs, item.row as usize);
        match item.what {
            What::SwitchOff => Some(StateId(item.row)),
            What::SwitchTo if item.time == runs.starts[index] => {
                self.source.lone_states.of_event(runs.events[index])
            }
            _ => None,
        }
    }

    /// Returns whether the thread that a switch takes off the CPU ran there until then.
    fn is_outgoing_seen(&self, item: &Item) -> bool {
        let trace = self.source.trace;
        let Some(lone) = self.lone_state(item).map(|id| trace.states.get(id)) else {
            return true;
        };
        if lone.start.0 < item.time {
            // The switch itself is before the range.
            return false;
        }
        let runs = trace.runs.of(lone.thread);
        let later = runs.partition_point(|&run| trace.runs.starts[run as usize] < item.time);
        let begins_here = |run: &&u32| trace.runs.starts[**run as usize] == item.time;
        let at_once = runs[later..].iter().take_while(begins_here);
        let mut before = runs[..later].last().into_iter().chain(at_once);
        before.any(|&run| trace.runs.ends[run as usize].get() == Some(item.time))
    }

    /// Returns the facts about a state that readers cannot derive. `waits` is needed where events were lost, and if the
    /// range ends before the thread runs: whether a ready thread was seen to wait for a CPU. `spans_loss` is needed
    /// where events were lost. `longest` is needed where neither a switch nor a wakeup in the output ends the state; it
    /// counts from `from` (ns), the time of the record. If a record of an FXT file contains such facts, `keep_extra_facts` writes them
    /// again.
    pub(super) fn extra_facts(&self, id: StateId, from: i64) -> ExtraFacts {
        let (trace, chosen) = (self.source.trace, self.source.chosen);
        let state = trace.states.get(id);
        let is_wait = match state.state {
            ThreadState::Unknown => Some(false),
            ThreadState::Runnable => Some(true),
            _ => None,
        };
        let infos = trace.sources.iter().map(|source| &source.info);
        let mut infos = infos.chain([&trace.info]);
        let is_lossy = !trace.gaps.is_empty() || infos.any(|info| !info.losses.is_empty());
        let is_cut =
            chosen.ends_before_trace() && state.end.is_none_or(|end| end >= chosen.span.end);
        let is_made_of_more = is_wait == Some(false) && self.source.kept.is_none();
        let is_marked = match state.state {
            ThreadState::Running => false,
            // The argument `waits` defines this state.
            ThreadState::Runnable => !state.notes.is_woken(),
            _ => true,
        };
        ExtraFacts {
            waits: is_wait.filter(|_| is_cut || is_lossy || is_made_of_more),
            // Of a CPU that was not recorded no loss is stated.
            spans_loss: Some(state.notes.spans_loss())
                .filter(|&spans| is_marked && (is_lossy || spans)),
            misses_switches: is_marked && state.notes.misses_switches(),
            longest: (self.contradicted_at(id))
                .or_else(|| self.ends_elsewhere(id))
                .map(|end| end.saturating_sub(from).max(0)),
        }
    }

    /// Returns the facts about the outgoing thread if its states end with its run: it left ready, but is not known to have
    /// waited for a CPU.
    fn facts_without_state(&self, item: &Item) -> ExtraFacts {
        let runs = &self.source.trace.runs;
        let is_ready = self
            .run_left(item)
            .is_some_and(|run| runs.end_states[run].is_ready());
        ExtraFacts {
            waits: (is_ready && self.source.kept.is_none()).then_some(false),
            ..ExtraFacts::default()
        }
    }

    /// Returns when an event that is no scheduling event showed that a state was over, in ns.
    fn contradicted_at(&self, id: StateId) -> Option<i64> {
        let (trace, chosen) = (self.source.trace, self.source.chosen);
        let state = trace.states.get(id);
        let is_claimed = match state.state {
            ThreadState::Running | ThreadState::Unknown => false,
            // Such a state is not known to have lasted at all.
            state => !state.is_ready_or_new(),
        };
        let end = trace.state_end(&state).filter(|_| is_claimed)?;
        let next = trace
            .states
            .next_of_thread(id)
            .map(|next| trace.states.get(next));
        let is_unknown = |next: State| next.state == ThreadState::Unknown && next.event.is_none();
        let is_cut = chosen.ends_before_trace() && end >= chosen.span.end;
        (!is_cut && next.is_none_or(is_unknown)).then_some(end.0)
    }

    /// Returns when a state ended, in ns, if what ended it is on a CPU that was not chosen.
    fn ends_elsewhere(&self, id: StateId) -> Option<i64> {
        let (trace, chosen) = (self.source.trace, self.source.chosen);
        if !chosen.limits_cpus() {
            return None;
        }
        let state = trace.states.get(id);
        let end = trace.state_end(&state)?;
        if matches!(state.state, ThreadState::Running | ThreadState::Unknown) {
            return None;
        }
        let next = trace.states.next_of_thread(id)?;
        let after = trace.states.get(next);
        let is_written = match after.cpu {
            Some(cpu) => chosen.has_runs_of(CpuId(cpu)),
            None if after.notes.is_woken() => {
                leads_to_chosen_cpu(trace, chosen, self.source.cpus, next)
            }
            None => after.event.is_none_or(|event| {
                let cpu = self.source.cpus.cpu(event);
                cpu.is_none_or(|cpu| chosen.has_runs_of(cpu))
            }),
        };
        let is_cut = chosen.ends_before_trace() && end >= chosen.span.end;
        (!is_written && !is_cut).then_some(end.0)
    }

    /// Writes the facts about a state again that a record of an FXT file contains.
    pub(super) fn keep_extra_facts(&mut self, own: &[Arg<'a>]) {
        let flag = |name: &str| {
            value_of(own, name.as_bytes(), |value| match value {
                ArgValue::Bool(value) => Some(*value),
                _ => None,
            })
        };
        let longest = value_of(own, LONGEST.as_bytes(), |value| match value {
            ArgValue::Int64(value) => Some(*value),
            _ => None,
        });
        self.prepare_extra_facts(ExtraFacts {
            waits: flag("waits"),
            spans_loss: flag("spans_loss"),
            misses_switches: flag(MISSES_SWITCHES) == Some(true),
            longest,
        });
    }

    pub(super) fn prepare_extra_facts(&mut self, extra: ExtraFacts) {
        let facts = [
            ("waits", extra.waits.map(ArgValue::Bool)),
            ("spans_loss", extra.spans_loss.map(ArgValue::Bool)),
            (
                MISSES_SWITCHES,
                extra.misses_switches.then_some(ArgValue::Bool(true)),
            ),
            (LONGEST, extra.longest.map(ArgValue::Int64)),
        ];
        for (name, value) in facts {
            if let Some(value) = value {
                let name = self.records.name(name);
                self.records.prepare_one(name, &value);
            }
        }
    }

    fn border_of(&self, item: &Item) -> Option<Arg<'static>> {
        let trace = self.source.trace;
        let index = item.row as usize;
        let began = |start: i64| {
            let is_cut = start < item.time;
            is_cut.then(|| CutArgument::really_began(start))
        };
        let cut = match item.what {
            What::SwitchTo => began(trace.runs.starts[index]),
            What::SwitchOff => began(trace.states.get(StateId(item.row)).start.0),
            What::SwitchAtEnd => return self.border_of_end(index),
            _ => None,
        };
        cut.map(|cut| Arg::of_cut(cut, self.source.shift))
    }

    /// Returns the argument for the end of a run that the range cuts, or whose end was not seen.
    fn border_of_end(&self, run: usize) -> Option<Arg<'static>> {
        let part = (self.source.borders).of_run(self.source.trace, RunId(run as u32));
        let cut = part.cut.map(EndCut::argument);
        cut.map(|cut| Arg::of_cut(cut, self.source.shift))
    }

    /// Prepares the arguments of the switch's own record in an FXT file, except those that every switch has, and
    /// returns the weight of the outgoing thread.
    fn prepare_switch(&mut self, item: &Item, own_facts: OwnFacts) -> Option<i32> {
        self.records.prepare(&[]);
        let kept = self.source.kept?;
        let trace = self.source.trace;
        let index = item.row as usize;
        let event = match item.what {
            What::SwitchTo if item.time == trace.runs.starts[index] => {
                trace.runs.events[index].get()
            }
            // If the thread continues at once, that switch is another record.
            What::SwitchToIdle => event_behind(trace, index)
                .filter(|behind| behind.state != ThreadState::Running)
                .map(|behind| behind.event),
            What::SwitchOff => {
                let state = trace.states.get(StateId(item.row));
                let event = state.event.filter(|_| state.start.0 == item.time);
                event.map(|event| event.0)
            }
            _ => None,
        };
        let event = EventId(event?);
        // A thread that was woken at once has a wakeup here, not a switch.
        (self.role_of(event) == Role::Switch).then_some(())?;
        let own = (kept.scheduling_args)(event)?;
        self.prepare_but(&own, COMPUTED_AGAIN);
        if own_facts == OwnFacts::Kept {
            self.keep_extra_facts(&own);
        }
        int32_of(&own, "outgoing_weight").filter(|&weight| weight != IDLE_WEIGHT)
    }

    pub(super) fn cpu_number(&self, index: u32) -> Option<u16> {
        self.source.koids.cpu_number(CpuId(index))
    }

    /// Returns a thread as one side of a switch; a thread that is not chosen is not named.
    pub(super) fn side(&self, thread: ThreadId, weight: i32) -> Side {
        let koid = self.source.koids.thread(thread).thread;
        match self.source.chosen.has_thread(thread) {
            true => Side::Thread { koid, weight },
            false => Side::NotChosen { koid },
        }
    }

    /// Returns the thread of a run as one side of a switch: choosing the CPU's track also chooses the thread.
    fn side_of_run(&self, run: usize) -> Side {
        let runs = &self.source.trace.runs;
        let thread = ThreadId(runs.threads[run]);
        let cpu = runs
            .of_cpu
            .partition_point(|range| range.end as usize <= run);
        let koid = self.source.koids.thread(thread).thread;
        match self.source.chosen.has_run(CpuId(cpu as u32), thread) {
            true => Side::Thread {
                koid,
                weight: runs.priorities[run],
            },
            false => Side::NotChosen { koid },
        }
    }

    /// Returns the run of a chosen thread that needs an extra record for its end: no state of the thread follows from
    /// the run's end, or the switch itself names another outgoing thread because switches were lost.
    fn run_ended_apart(&self, item: &Item) -> Option<usize> {
        let trace = self.source.trace;
        let runs = &trace.runs;
        let index = item.row as usize;
        let ended = match item.what {
            What::SwitchToIdle | What::SwitchAtEnd => Some(index),
            What::SwitchTo if item.time == runs.starts[index] => self
                .run_before(item)
                .filter(|&run| !self.source.true_ends.is_apart(run)),
            _ => None,
        }?;
        let thread = ThreadId(runs.threads[ended]);
        let is_another = |state| trace.states.get(state).thread != thread;
        let names_another = self.lone_state(item).is_some_and(is_another);
        let is_over = runs.starts[ended] < item.time && self.is_dead_at_start(thread, item.time);
        let is_apart = names_another || !self.ends_in_state(item, ended);
        (is_apart && !is_over && self.source.chosen.has_run(CpuId(item.of), thread))
            .then_some(ended)
    }

    /// Returns whether a state of its thread follows from the end of a run.
    fn ends_in_state(&self, item: &Item, run: usize) -> bool {
        let thread = ThreadId(self.source.trace.runs.threads[run]);
        self.has_states(thread)
            && (item.what == What::SwitchAtEnd || self.source.true_ends.has(run))
    }

    /// Returns whether a switch begins a run of a thread for which no states are written: its file contains runs only,
    /// or only the CPU's track was chosen.
    fn begins_without_state(&self, item: &Item) -> bool {
        let thread = self.source.trace.runs.threads.get(item.row as usize);
        let is_begin = item.what == What::SwitchTo;
        is_begin && thread.is_some_and(|&thread| !self.has_states(ThreadId(thread)))
    }

    /// Returns whether states of a thread are written: it has some, and they were chosen.
    fn has_states(&self, thread: ThreadId) -> bool {
        let is_chosen = self.source.chosen.has_states_of(thread);
        is_chosen && !self.source.trace.states.of(thread).is_empty()
    }

    /// Returns the thread of a run as the outgoing side, with an unknown next state.
    fn leaves_in_unknown_state(&self, run: usize) -> Outgoing {
        Outgoing {
            side: self.side_of_run(run),
            state: state_number(ThreadState::Unknown),
        }
    }

    /// Returns the run that ends where the run of a switch begins.
    fn run_before(&self, item: &Item) -> Option<usize> {
        let runs = &self.source.trace.runs;
        let index = item.row as usize;
        let first = runs.on(CpuId(item.of)).start as usize;
        let before = index.checked_sub(1)?;
        (before >= first && runs.ends[before] == runs.starts[index]).then_some(before)
    }

    /// Returns the outgoing side of a run that ends, if the thread's states confirm that end: where switches were lost
    /// they may not.
    fn leaves(&self, run: usize) -> Option<Outgoing> {
        let runs = &self.source.trace.runs;
        let side = self.side_of_run(run);
        let is_chosen = matches!(side, Side::Thread { .. });
        let lacks_states = is_chosen && !self.has_states(ThreadId(runs.threads[run]));
        if lacks_states || !self.source.true_ends.has(run) {
            return None;
        }
        Some(Outgoing {
            side,
            state: state_number(runs.end_states[run]),
        })
    }

    /// Returns the outgoing side of a thread that has no run until then; `switch` is the event.
    fn leaves_without_run(&self, state: &State, switch: Option<EventId>) -> Outgoing {
        let weight = switch.map_or(0, |event| self.priority_before(event));
        Outgoing {
            side: self.side(state.thread, weight),
            state: state_number(state.state),
        }
    }

    /// Returns whether `time` is the range's start and a thread's life was over by then.
    pub(super) fn is_dead_at_start(&self, thread: ThreadId, time: i64) -> bool {
        let chosen = self.source.chosen;
        time == chosen.span.start.0 && chosen.starts_after(thread)
    }

    /// Returns the outgoing side of the switch at the start of a run.
    fn left_for(&self, item: &Item) -> Option<Outgoing> {
        let trace = self.source.trace;
        let runs = &trace.runs;
        let index = item.row as usize;
        if item.time > runs.starts[index] {
            // The run began before the range.
            return None;
        }
        // Where switches were lost, the outgoing thread is not the one that ran.
        let lone = self.lone_state(item).map(|state| trace.states.get(state));
        let lone = lone.filter(|state| !self.is_dead_at_start(state.thread, item.time));
        if let Some(state) = lone {
            return Some(self.leaves_without_run(&state, runs.event(index)));
        }
        let before = self.run_before(item).filter(|&run| {
            let thread = ThreadId(runs.threads[run]);
            !self.source.true_ends.is_apart(run)
                && (runs.starts[run] >= item.time || !self.is_dead_at_start(thread, item.time))
        });
        before.and_then(|before| self.leaves(before))
    }

    /// Returns the priority of an outgoing thread without a known run, from the switch's event.
    fn priority_before(&self, event: EventId) -> i32 {
        if self.source.kept.is_some() {
            return 0;
        }
        let mut fields = Vec::new();
        let event = self.event_ref(event);
        self.source.reader.fields_into(event, &mut fields);
        let priority = fields
            .iter()
            .find(|field| field.role == FieldRole::OutgoingPriority);
        priority.map_or(0, |field| match field.value {
            ValueRef::Int(value) => i32::try_from(value).unwrap_or(0),
            ValueRef::UInt(value) => i32::try_from(value).unwrap_or(0),
            _ => 0,
        })
    }
}

/// The state of a thread that begins where one of its runs ends.
pub(crate) struct StateBehind {
    /// The event that begins the state.
    pub event: u32,
    pub state: ThreadState,
}

/// Returns the state of the run's thread that begins where the run ends; `None` if no event begins the state.
pub(crate) fn event_behind(trace: &Trace, run: usize) -> Option<StateBehind> {
    let states = &trace.states;
    let row = states.behind_run(&trace.runs, run)?.0 as usize;
    Some(StateBehind {
        event: states.events.get(row)?.get()?,
        state: *states.states.get(row)?,
    })
}

/// Returns the format's number of a thread that is ready.
pub(super) fn runnable_number() -> NumberedState {
    state_number(ThreadState::Runnable)
}

/// Returns the format's number of a state; 15 if it has none.
fn state_number(state: ThreadState) -> NumberedState {
    let (number, letters) = match state {
        ThreadState::Running | ThreadState::Runnable => (1, ""),
        ThreadState::Preempted => (1, state.letters()),
        ThreadState::Stopped => (2, ""),
        ThreadState::Traced => (2, state.letters()),
        ThreadState::Sleeping => (3, ""),
        ThreadState::Uninterruptible | ThreadState::Parked | ThreadState::Idle => {
            (3, state.letters())
        }
        ThreadState::Zombie => (4, ""),
        ThreadState::Dead => (5, ""),
        ThreadState::Created | ThreadState::Unknown => (15, ""),
    };
    NumberedState { number, letters }
}
