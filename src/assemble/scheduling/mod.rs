//! Makes runs per CPU and states per thread from context switches and wakeups.
//!
//! A switch ends the CPU's run and begins the next thread's run; a switch to idle only ends the run. The thread that
//! the first switch of a CPU takes off has run since that CPU's first event, if that was earlier: a CPU's events are
//! recorded by the thread that runs. The same holds after a hole in the CPU's recording. A run in progress where a hole
//! begins ends there: which thread ran in the hole is unknown. If a switch takes off another thread than the one that
//! ran, or if another thread recorded events before it, switches are missing: the mismatch is counted. The open run then
//! lasted at least until its thread's last event before those of others: it ends there, in an unknown state and
//! unfinished. (In files that do not show who was on a CPU, such as FXT, it ends at the switch.) The thread that is taken
//! off has run since the first of its events that directly precede the switch, without an event of another thread
//! between them. No switch is missing if the thread that ran took the other's number by `execve`: then its own number
//! is dead.
//!
//! A thread's states follow from its switches and wakeups on all CPUs: running from a switch to it; after a switch away
//! the state that the switch records; ready from the first waking or wakeup (whose waker is kept) until it runs; see
//! `state_walk`. If the last switch takes a thread off in an unknown state, its states end there. Running states agree with
//! the runs: a run that begins or ends without a switch of its thread also changes the thread's state.
//!
//! Files of our own that have neither switches nor wakeups state runs and states whole: these are taken as they are (`whole`).
//!
//! Events of one CPU keep the order of the file, also if their times are equal.

mod breaks;
mod changes;
mod cpu_activity;
mod runs;
mod state_walk;
mod states;
mod threads;
mod whole;
mod witnesses;

use rayon::prelude::*;

use super::cuts::CutEnd;
use super::group::{Groups, Sorted, gather};
use super::recorded::{Part, Recorded};
use super::rows::SchedulingRows;
use super::whereabouts::Missing;
use crate::base::streaks::Streaks;
use crate::base::{Diagnostics, Maybe, Severity, Timestamp};
use crate::event::{EventKind, Sighted, StateFacts, Switch, SwitchContent, Wakeup, WakeupSort};
use crate::trace::{Runs, States, ThreadId, ThreadState};

use breaks::{Breaks, Filter};
use changes::{Change, To};
use runs::{RunSource, breaks_of, changes_of_runs, join_runs, lost_runs, runs_of_cpus};
use state_walk::Facts;
use states::build_states;
use whole::{whole_runs, whole_states};
use witnesses::TakenNumbers;

pub(crate) use changes::SwitchRow;
pub(crate) use cpu_activity::runs_of_lines;
pub(crate) use runs::{SwitchSource, runs_of_cpu, sort_by_thread};
pub(crate) use threads::Threads;
pub(crate) use witnesses::NoWitness;

/// The runs of all CPUs and the states of all threads.
#[derive(Debug, Default)]
pub(crate) struct Scheduling {
    /// The runs of each CPU.
    pub runs: Runs,
    /// The states of each thread.
    pub states: States,
    /// The threads whose runs ended unseen, and the time until which each was seen to run.
    pub lost: Vec<CutEnd>,
    /// Count of switches that do not match the run before them.
    pub diagnostics: Diagnostics,
}

/// Reused memory to group the switches and changes of a part.
#[derive(Default)]
struct Room {
    switches: Groups<SwitchRow>,
    changes: Groups<Change>,
}

/// The switches and changes of one part.
struct Collected {
    switches: Sorted<SwitchRow>,
    changes: Sorted<Change>,
    /// That threads ran, by events of other threads.
    sighted: Sorted<Change>,
}

/// Returns runs and states. `kinds` are the kinds of the events.
pub(crate) fn schedule(
    rows: SchedulingRows,
    recorded: &Recorded,
    kinds: &Streaks<EventKind>,
    missing: Missing<'_>,
    threads: Threads<'_>,
) -> Scheduling {
    let thread_count = threads.all.len();
    let losses = missing.losses;
    if !rows.whole.is_empty() {
        let runs = whole_runs(&rows.whole.runs, recorded, thread_count);
        return Scheduling {
            states: whole_states(&rows.whole.states, &runs, recorded, thread_count),
            runs,
            ..Scheduling::default()
        };
    }
    let is_waking = |wakeup: &Wakeup| wakeup.sort == WakeupSort::Waking;
    let is_wakeup = |wakeup: &Wakeup| wakeup.sort == WakeupSort::Wakeup;
    let has_wakings = rows.wakeups.iter().flatten().any(is_waking);
    let has_wakeups = rows.wakeups.iter().flatten().any(is_wakeup);
    let collector = Collector { recorded };
    let parts: Vec<Collected> = (rows.switches.into_par_iter().zip(rows.wakeups))
        .zip(rows.sighted)
        .zip(&recorded.parts)
        .map_init(
            Room::default,
            |room, (((switches, wakeups), sighted), part)| {
                let own = OfPart {
                    part,
                    switches,
                    wakeups,
                    sighted,
                };
                collector.collect(&own, room)
            },
        )
        .collect();
    let switches = gather(parts.iter().map(|part| &part.switches));
    // A wakeup alone does not show what a thread does after it: if no switches were recorded, the state after it is
    // unknown.
    let has_switches = !switches.is_empty();
    let taken_numbers = TakenNumbers::new(threads.taken_over);
    let source = RunSource {
        recorded,
        kinds,
        losses,
        taken_over: &taken_numbers,
    };
    let mut cpus = runs_of_cpus(&switches, &source, None);
    let found = breaks_of(&mut cpus);
    let all = switches.iter().flat_map(|cpu| &cpu.own);
    let filter = match losses.has_cpus() {
        true => Filter::of(&found, all.flat_map(|piece| piece.iter()), threads),
        false => None,
    };
    if filter.is_some() {
        // Runs of threads that were left out are known only where the chosen ones show them.
        cpus = runs_of_cpus(&switches, &source, filter.as_ref());
    }
    let mismatches = cpus.iter().map(|cpu| cpu.mismatches).sum();
    let breaks = Breaks::new(&found, recorded.cpus.len(), filter);
    let of_chosen = breaks.filter().map(|filter| {
        let whereabouts = missing.whereabouts;
        whereabouts.of_threads(|thread| filter.has_chosen(thread))
    });
    let missing = Missing {
        whereabouts: of_chosen.as_ref().unwrap_or(missing.whereabouts),
        ..missing
    };
    let of_runs = changes_of_runs(&mut cpus);
    let lost = lost_runs(&mut cpus);
    let stated = recorded.parts.iter().zip(&rows.state_facts);
    let facts = Facts {
        events: &recorded.events,
        missing,
        has_switches,
        has_wakings,
        has_wakeups,
        breaks: &breaks,
        stated: stated
            .flat_map(|(part, stated)| state_facts(part, stated))
            .collect(),
    };
    let (runs, states) = rayon::join(
        || join_runs(cpus, recorded.cpus.len(), thread_count),
        || {
            // At equal times the changes that follow from runs come after those that follow from switches.
            let changes = parts.iter().flat_map(|part| [&part.changes, &part.sighted]);
            let changes = changes.chain([&of_runs]);
            build_states(gather(changes), thread_count, &facts)
        },
    );
    let mut diagnostics = Diagnostics::default();
    for cpu in missing.whereabouts.unrecorded() {
        diagnostics.note_many("cpu_not_recorded", Severity::DataLoss, None, 1, || {
            format!("CPU {cpu} was not recorded, although threads ran on it: what they did there is unknown")
        });
    }
    if mismatches > 0 {
        let why = match breaks.filter() {
            Some(_) => "only the switches of some threads are recorded",
            None => "switches before them are missing",
        };
        diagnostics.note_many("switch_mismatch", Severity::Info, None, mismatches, || {
            format!("context switches away from a thread that was not the running one: {why}")
        });
    }
    Scheduling {
        runs,
        states,
        lost,
        diagnostics,
    }
}

/// The switches and wakeups of a part.
struct OfPart<'a> {
    part: &'a Part,
    switches: Vec<Switch>,
    wakeups: Vec<Wakeup>,
    sighted: Vec<Sighted>,
}

/// Converts the switches and wakeups of a part to the trace's threads and CPUs.
#[derive(Clone, Copy)]
struct Collector<'a> {
    recorded: &'a Recorded,
}

impl Collector<'_> {
    /// Returns the switches of a part by CPU, and the changes that follow from its switches and wakeups, by thread and
    /// in the file's order. `room` is reused memory.
    fn collect(&self, own: &OfPart<'_>, room: &mut Room) -> Collected {
        let (recorded, part) = (self.recorded, own.part);
        let columns = recorded.columns(part);
        let add_wakeup = |room: &mut Room, wakeup: &Wakeup| {
            room.add_wakeup(wakeup, columns.time(wakeup.event), part, recorded);
        };
        let mut wakeups = own.wakeups.iter().peekable();
        for switch in &own.switches {
            while let Some(wakeup) = wakeups.next_if(|wakeup| wakeup.event < switch.event) {
                add_wakeup(room, wakeup);
            }
            room.add_switch(switch, columns.time(switch.event), part, recorded);
        }
        for wakeup in wakeups {
            add_wakeup(room, wakeup);
        }
        let changes = room.changes.sorted();
        for sighted in &own.sighted {
            room.add_sighted(sighted, columns.time(sighted.event), part, recorded);
        }
        Collected {
            switches: room.switches.sorted(),
            changes,
            sighted: room.changes.sorted(),
        }
    }
}

/// Returns the states that the file states for a part's events, with the trace's numbers.
fn state_facts<'a>(
    part: &'a Part,
    stated: &'a [StateFacts],
) -> impl Iterator<Item = StateFacts> + 'a {
    stated.iter().map(|stated| StateFacts {
        event: part.event(stated.event).0,
        woken_by: stated.woken_by.map(|name| part.string(name)),
        ..*stated
    })
}

impl Room {
    fn add_switch(&mut self, switch: &Switch, time: Timestamp, part: &Part, recorded: &Recorded) {
        let Some(cpu) = recorded.cpu_id(switch.cpu) else {
            return;
        };
        let event = part.event(switch.event).0;
        let prev = recorded.events.threads.at(switch.prev, time);
        let next = recorded.events.threads.at(switch.next, time);
        let row = SwitchRow {
            time: time.0,
            event: Maybe::new(event),
            prev,
            next,
            next_priority: switch.next_priority,
            prev_priority: switch.prev_priority,
            prev_state: switch.prev_state,
            content: switch.content,
        };
        self.switches.push(cpu.0, row);
        if switch.content == SwitchContent::Runs {
            return;
        }
        let change = |to| Change {
            time: time.0,
            event_number: Maybe::new(event),
            to,
        };
        let is_thread = |thread: &ThreadId| *thread != ThreadId::IDLE;
        if let Some(prev) = prev.filter(is_thread) {
            let to = To::new(switch.prev_state, None);
            self.changes.push(prev.0, change(to));
        }
        if let Some(next) = next.filter(is_thread) {
            let to = To::new(ThreadState::Running, Some(cpu.0));
            self.changes.push(next.0, change(to));
        }
    }

    fn add_sighted(&mut self, seen: &Sighted, time: Timestamp, part: &Part, recorded: &Recorded) {
        let thread = recorded.events.threads.at(seen.thread, time);
        if let Some(ThreadId(thread)) = thread.filter(|&thread| thread != ThreadId::IDLE) {
            let change = Change {
                time: time.0,
                event_number: Maybe::new(part.event(seen.event).0),
                to: To::seen_running(),
            };
            self.changes.push(thread, change);
        }
    }

    fn add_wakeup(&mut self, wakeup: &Wakeup, time: Timestamp, part: &Part, recorded: &Recorded) {
        let threads = &recorded.events.threads;
        let thread = threads.at(wakeup.thread, time);
        let Some(ThreadId(thread)) = thread.filter(|&thread| thread != ThreadId::IDLE) else {
            return;
        };
        let waker = wakeup.waker.get();
        let waker = waker.and_then(|waker| Some(threads.at(waker, time)?.0));
        let change = |to| Change {
            time: time.0,
            event_number: Maybe::new(part.event(wakeup.event).0),
            to,
        };
        if wakeup.sort == WakeupSort::New {
            let created = To::new(ThreadState::Created, None);
            self.changes.push(thread, change(created));
        }
        let to = To::woken(waker, wakeup.sort, wakeup.interrupt);
        self.changes.push(thread, change(to));
    }
}
