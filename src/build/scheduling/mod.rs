//! Context switches and wakeups to runs per CPU and states per thread.
//!
//! A switch ends the CPU's run and begins the next thread's; a switch to idle only ends. The thread that the
//! first switch of a CPU takes off ran since that CPU's first event, if that was earlier: events are by
//! whoever runs. The same holds behind a hole in the CPU's recording, and a run that is in progress where a hole
//! begins ends there: nobody knows who ran in it. Where a switch takes off another thread than the one that ran,
//! switches were lost between: the open run ends there, with an unknown state, and the mismatch is counted.
//!
//! A thread's states follow from its switches and wakeups over all CPUs: running from a switch in; after a
//! switch out what the switch says; ready from the first waking or wakeup on (whose waker is kept) until it
//! runs; see `states`. What a thread does last ends where it is switched from in a state that is not known: nothing is
//! said of it from there on. A thread runs while a run says so: runs that begin or end without a switch of their thread
//! change its state as well.
//!
//! Events of one CPU keep the order of the file, also where their times are equal.

pub(super) mod losses;
mod runs;
mod states;

use std::mem::take;

use rayon::prelude::*;

use super::group::{Groups, Sorted, gather};
use super::merge::{Merged, MergedPart};
use crate::base::{Severity, Timestamp};
use crate::event::{
    EndState, Interrupt, SaidState, Switch, SwitchTells, ThreadKey, Wakeup, WakeupSort,
};
use crate::trace::{CpuId, Runs, States, ThreadId, ThreadState, Trace};

use losses::{Losses, recorded_times};
use runs::{join_runs, runs_of_cpus, told_by_runs};
use states::{Facts, build_states};

pub use runs::{runs_of_cpu, sort_by_thread};

/// A switch with common numbers.
#[derive(Clone, Copy, Debug)]
pub struct SwitchRow {
    /// When, in ns.
    pub time: i64,
    /// The event.
    pub event: u32,
    /// The thread that stops.
    pub prev: u32,
    /// The thread that runs from now on.
    pub next: u32,
    /// Its priority.
    pub next_priority: i32,
    /// The priority of the one that stops.
    pub prev_priority: i32,
    /// What that one does from now on.
    pub prev_state: EndState,
    /// What follows from it.
    pub tells: SwitchTells,
}

/// Something that changes a thread's state.
#[derive(Clone, Copy)]
struct Change {
    time: i64,
    event: u32,
    to: To,
}

impl Change {
    /// One that no event says.
    fn told(time: i64, to: To) -> Change {
        Change {
            time,
            event: u32::MAX,
            to,
        }
    }
}

/// What a thread changes to, in 4 bytes: its CPU or waker in the low 26 bits, then a state or a wakeup, then the
/// interrupt in which the wakeup happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct To(u32);

impl To {
    /// No CPU and no waker.
    const NOBODY: u32 = (1 << 26) - 1;
    const STATE_SHIFT: u32 = 26;
    const INTERRUPT_SHIFT: u32 = 30;
    /// Wakeups are numbered after the states.
    const WAKING: u32 = ThreadState::ALL.len() as u32;
    const WAKEUP: u32 = To::WAKING + 1;

    fn new(state: ThreadState, partner: u32) -> To {
        To::packed(state as u32, partner)
    }

    fn packed(number: u32, partner: u32) -> To {
        To(number << To::STATE_SHIFT | partner.min(To::NOBODY))
    }

    fn woken(waker: u32, sort: WakeupSort, interrupt: Option<Interrupt>) -> To {
        let number = match sort {
            WakeupSort::Waking => To::WAKING,
            WakeupSort::Wakeup | WakeupSort::New => To::WAKEUP,
        };
        let interrupt = interrupt.map_or(0, Interrupt::number);
        To(To::packed(number, waker).0 | interrupt << To::INTERRUPT_SHIFT)
    }

    /// The thread's state is unknown from now on, if it ran on `cpu`.
    fn stops_running_on(cpu: u32) -> To {
        To::new(ThreadState::Unknown, cpu)
    }

    fn number(self) -> u32 {
        self.0 >> To::STATE_SHIFT & 15
    }

    /// Which of the kernel's wakeups it is, if it is one; a new thread's counts as [`WakeupSort::Wakeup`].
    fn wakeup(self) -> Option<WakeupSort> {
        match self.number() {
            To::WAKING => Some(WakeupSort::Waking),
            To::WAKEUP => Some(WakeupSort::Wakeup),
            _ => None,
        }
    }

    fn state(self) -> ThreadState {
        if self.wakeup().is_some() {
            return ThreadState::Runnable;
        }
        let state = ThreadState::ALL.get(self.number() as usize);
        state.copied().unwrap_or_default()
    }

    /// The CPU or waker; `u32::MAX` if there is none.
    fn partner(self) -> u32 {
        match self.0 & To::NOBODY {
            To::NOBODY => u32::MAX,
            partner => partner,
        }
    }

    fn interrupt(self) -> Option<Interrupt> {
        Interrupt::of_number(self.0 >> To::INTERRUPT_SHIFT)
    }
}

/// Room for the switches and changes of a part.
#[derive(Default)]
struct Room {
    switches: Groups<SwitchRow>,
    changes: Groups<Change>,
}

/// What a part's switches and wakeups say.
struct Collected {
    switches: Sorted<SwitchRow>,
    changes: Sorted<Change>,
    /// By event: the CPU on which a woken thread was to run, where it is another one than the event's.
    targets: Vec<(u32, CpuId)>,
}

/// See the module's text. Takes switches and wakeups out of the parts.
pub fn build_scheduling(merged: &mut Merged, trace: &mut Trace) -> (Runs, States) {
    let cpu_count = trace.cpus.len();
    let take = |part: &mut MergedPart| {
        let rows = &mut part.rows;
        (take(&mut rows.switches), take(&mut rows.wakeups))
    };
    let taken: Vec<(Vec<Switch>, Vec<Wakeup>)> = merged.parts.iter_mut().map(take).collect();
    let merged: &Merged = merged;
    let is_waking = |wakeup: &Wakeup| wakeup.sort == WakeupSort::Waking;
    let has_wakings = taken.iter().any(|part| part.1.iter().any(is_waking));
    let times = recorded_times(merged, trace);
    let losses = Losses::new(merged, trace, &times);
    let parts: Vec<Collected> = taken
        .into_par_iter()
        .zip(&merged.parts)
        .map_init(Room::default, |room, (rows, part)| {
            collect(part, rows, (merged, &losses), room)
        })
        .collect();
    let thread_count = trace.threads.len();
    let switches = gather(parts.iter().map(|part| &part.switches));
    // Who was only woken was not seen to do anything: without switches nothing is known of what threads do.
    let has_switches = !switches.is_empty();
    let mut cpus = runs_of_cpus(switches, &times, trace);
    let mismatches = cpus.iter().map(|cpu| cpu.mismatches).sum();
    let told = told_by_runs(&mut cpus);
    let targets = parts.iter().flat_map(|part| &part.targets);
    let facts = Facts {
        events: &merged.events,
        losses: &losses,
        has_switches,
        has_wakings,
        targets: targets.copied().collect(),
        said: merged.parts.iter().flat_map(said_states).collect(),
    };
    let (runs, states) = rayon::join(
        || join_runs(cpus, cpu_count, thread_count),
        || {
            // What runs tell comes behind what switches tell at the same time.
            let changes = parts.iter().map(|part| &part.changes).chain([&told]);
            build_states(gather(changes), thread_count, &facts)
        },
    );
    if mismatches > 0 {
        trace.diagnostics.note_many("switch_mismatch", Severity::Info, None, mismatches, || {
            "context switches that take off another thread than the one that ran: switches were lost between".to_owned()
        });
    }
    (runs, states)
}

/// The switches of a part by CPU, and what they and its wakeups change, by thread and in the file's order. `room` is
/// room to work in.
fn collect(
    part: &MergedPart,
    (switches, wakeups): (Vec<Switch>, Vec<Wakeup>),
    (merged, losses): (&Merged, &Losses),
    room: &mut Room,
) -> Collected {
    let columns = &merged.events.segments()[part.segment as usize].columns;
    let mut targets = Vec::new();
    let mut add_wakeup = |room: &mut Room, wakeup: &Wakeup| {
        room.add_wakeup(wakeup, columns.time(wakeup.event), part, merged);
        if let Some(cpu) = merged.cpu_id(wakeup.target_cpu)
            && !losses.is_empty()
            && Some(cpu) != part.cpu
        {
            targets.push((part.event(wakeup.event).0, cpu));
        }
    };
    let mut wakeups = wakeups.iter().peekable();
    for switch in &switches {
        while let Some(wakeup) = wakeups.next_if(|wakeup| wakeup.event < switch.event) {
            add_wakeup(room, wakeup);
        }
        room.add_switch(switch, columns.time(switch.event), part, merged);
    }
    for wakeup in wakeups {
        add_wakeup(room, wakeup);
    }
    Collected {
        switches: room.switches.sorted(),
        changes: room.changes.sorted(),
        targets,
    }
}

/// What a part says of states, by event.
fn said_states(part: &MergedPart) -> impl Iterator<Item = SaidState> + '_ {
    part.rows.said_states.iter().map(|said| SaidState {
        event: part.event(said.event).0,
        woken_by: said.woken_by.map(|name| part.string(name)),
        ..*said
    })
}

impl Room {
    fn add_switch(&mut self, switch: &Switch, time: Timestamp, part: &MergedPart, merged: &Merged) {
        let Some(cpu) = merged.cpu_id(switch.cpu) else {
            return;
        };
        let event = part.event(switch.event).0;
        let prev = merged.events.threads.at(switch.prev, time).0;
        let next = merged.events.threads.at(switch.next, time).0;
        let row = SwitchRow {
            time: time.0,
            event,
            prev,
            next,
            next_priority: switch.next_priority,
            prev_priority: switch.prev_priority,
            prev_state: switch.prev_state,
            tells: switch.tells,
        };
        self.switches.push(cpu.0, row);
        if switch.tells == SwitchTells::Runs {
            return;
        }
        let change = |to| Change {
            time: time.0,
            event,
            to,
        };
        if switch.prev != ThreadKey::IDLE && prev != ThreadId::NONE.0 {
            let state = ThreadState::from(switch.prev_state);
            self.changes.push(prev, change(To::new(state, To::NOBODY)));
        }
        if switch.next != ThreadKey::IDLE && next != ThreadId::NONE.0 {
            self.changes
                .push(next, change(To::new(ThreadState::Running, cpu.0)));
        }
    }

    fn add_wakeup(&mut self, wakeup: &Wakeup, time: Timestamp, part: &MergedPart, merged: &Merged) {
        let threads = &merged.events.threads;
        let thread = threads.at(wakeup.thread, time).0;
        if thread == ThreadId::NONE.0 || wakeup.thread == ThreadKey::IDLE {
            return;
        }
        let waker = match wakeup.waker {
            ThreadKey::UNKNOWN => u32::MAX,
            waker => threads.at(waker, time).0,
        };
        let change = |to| Change {
            time: time.0,
            event: part.event(wakeup.event).0,
            to,
        };
        if wakeup.sort == WakeupSort::New {
            let created = To::new(ThreadState::Created, To::NOBODY);
            self.changes.push(thread, change(created));
        }
        let to = To::woken(waker, wakeup.sort, wakeup.interrupt);
        self.changes.push(thread, change(to));
    }
}
