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
//! runs. A wakeup of a thread that runs or is ready already changes nothing. What a thread does last ends where it is
//! switched from in a state that is not known: nothing is said of it from there on. A thread runs while a run says so:
//! runs that begin or end without a switch of their thread change its state as well.

mod runs;
mod states;

use std::mem::take;

use rayon::prelude::*;

use super::group::{Groups, Sorted, gather};
use super::merge::{Merged, MergedPart};
use crate::base::{Severity, Timestamp};
use crate::event::{EndState, Switch, ThreadKey, Wakeup, WakeupSort};
use crate::trace::{Runs, States, ThreadId, ThreadState, Trace};

use runs::{join_runs, runs_of_cpus, told_by_runs};
use states::build_states;

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
}

/// Something that changes a thread's state; and, once the changes are walked, a state that begins.
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

/// What a thread changes to, in 4 bytes: its CPU or waker in the low 27 bits, then the state; and whether it
/// was woken, which changes nothing for one that is up already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct To(u32);

impl To {
    /// No CPU and no waker.
    const NOBODY: u32 = (1 << 27) - 1;
    const WOKEN: u32 = 1 << 31;

    fn new(state: ThreadState, partner: u32) -> To {
        To((state as u32) << 27 | partner.min(To::NOBODY))
    }

    fn woken(waker: u32) -> To {
        To(To::new(ThreadState::Runnable, waker).0 | To::WOKEN)
    }

    /// Nobody knows what the thread does from now on, if it ran on `cpu`.
    fn stops_running_on(cpu: u32) -> To {
        To::new(ThreadState::Unknown, cpu)
    }

    /// What it comes to for a thread that does `now`; nothing if that goes on.
    fn after(self, now: Option<To>) -> Option<To> {
        let state = self.state();
        let is_up = |now: To| now.state() == ThreadState::Running || now.state().is_ready();
        match now {
            _ if state == ThreadState::Unknown && self.partner() != u32::MAX => {
                let runs_there = To::new(ThreadState::Running, self.partner());
                (now == Some(runs_there)).then_some(To::new(ThreadState::Unknown, To::NOBODY))
            }
            Some(_) if state == ThreadState::Created => None,
            Some(now) if self.is_woken() && is_up(now) => None,
            _ => Some(self),
        }
    }

    fn is_woken(self) -> bool {
        self.0 & To::WOKEN != 0
    }

    fn state(self) -> ThreadState {
        let number = (self.0 >> 27 & 15) as usize;
        ThreadState::ALL.get(number).copied().unwrap_or_default()
    }

    /// The CPU or waker; `u32::MAX` if there is none.
    fn partner(self) -> u32 {
        match self.0 & To::NOBODY {
            To::NOBODY => u32::MAX,
            partner => partner,
        }
    }
}

/// Room for the switches and changes of a part.
#[derive(Default)]
struct Room {
    switches: Groups<SwitchRow>,
    changes: Groups<Change>,
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
    let parts: Vec<(Sorted<SwitchRow>, Sorted<Change>)> = taken
        .into_par_iter()
        .zip(&merged.parts)
        .map_init(Room::default, |room, (rows, part)| {
            collect(part, rows, merged, room)
        })
        .collect();
    let thread_count = trace.threads.len();
    let switches = gather(parts.iter().map(|part| &part.0));
    let mut cpus = runs_of_cpus(switches, merged, trace);
    let mismatches = cpus.iter().map(|cpu| cpu.mismatches).sum();
    let told = told_by_runs(&mut cpus);
    let (runs, states) = rayon::join(
        || join_runs(cpus, cpu_count, thread_count),
        || {
            // What runs tell comes behind what switches tell at the same time.
            let changes = parts.iter().map(|part| &part.1).chain([&told]);
            build_states(gather(changes), thread_count)
        },
    );
    if mismatches > 0 {
        trace.diagnostics.note_many("switch_mismatch", Severity::Info, None, mismatches, || {
            "context switches that take off another thread than the one that ran: switches were lost between".to_owned()
        });
    }
    (runs, states)
}

/// The switches of a part by CPU, and what they and its wakeups change, by thread and in order of time (a
/// switch before a wakeup at its time). `room` is room to work in.
fn collect(
    part: &MergedPart,
    (switches, wakeups): (Vec<Switch>, Vec<Wakeup>),
    merged: &Merged,
    room: &mut Room,
) -> (Sorted<SwitchRow>, Sorted<Change>) {
    let columns = &merged.events.segments()[part.segment as usize].columns;
    let mut wakeups = wakeups
        .iter()
        .map(|wakeup| (columns.time(wakeup.event), wakeup))
        .peekable();
    for switch in &switches {
        let time = columns.time(switch.event);
        while let Some((earlier, wakeup)) = wakeups.next_if(|wakeup| wakeup.0 < time) {
            room.add_wakeup(wakeup, earlier, part, merged);
        }
        room.add_switch(switch, time, part, merged);
    }
    for (time, wakeup) in wakeups {
        room.add_wakeup(wakeup, time, part, merged);
    }
    (room.switches.sorted(), room.changes.sorted())
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
        };
        self.switches.push(cpu.0, row);
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
        self.changes.push(thread, change(To::woken(waker)));
    }
}
