//! Context switches and wakeups to runs per CPU and states per thread.
//!
//! A switch ends the CPU's run and begins the next thread's; a switch to idle only ends. The thread that the
//! first switch of a CPU takes off ran since that CPU's first event, if that was earlier: events are by
//! whoever runs. Where a switch takes off another thread than the one that ran, switches were lost between:
//! the open run ends there, with an unknown state, and the mismatch is counted.
//!
//! A thread's states follow from its switches and wakeups over all CPUs: running from a switch in; after a
//! switch out what the switch says; ready from the first waking or wakeup on (whose waker is kept) until it
//! runs. A wakeup of a thread that runs or is ready already changes nothing. What a thread does last ends where it is
//! switched from in a state that is not known: nothing is said of it from there on.

use std::mem::take;

use rayon::prelude::*;

use super::group::{Groups, Pieces, Sorted, gather, join_in_order};
use super::merge::{Merged, MergedPart};
use super::slice_table::cut;
use crate::base::{Severity, Timestamp};
use crate::event::{EndState, Switch, ThreadKey, Wakeup, WakeupSort};
use crate::trace::{Runs, States, ThreadId, ThreadState, Trace};

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

/// What a thread changes to, in 4 bytes: its CPU or waker in the low 27 bits, then the state; and whether it
/// was woken, which changes nothing for one that is up already.
#[derive(Clone, Copy)]
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
    let ((runs, mismatches), states) = rayon::join(
        || {
            let switches = gather(parts.iter().map(|part| &part.0));
            build_runs(switches, merged, cpu_count, thread_count)
        },
        || build_states(gather(parts.iter().map(|part| &part.1)), thread_count),
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

fn build_runs(
    cpus: Vec<(u32, Pieces<'_, SwitchRow>)>,
    merged: &Merged,
    cpu_count: usize,
    thread_count: usize,
) -> (Runs, u64) {
    let mut first_events: Vec<Option<Timestamp>> = vec![None; cpu_count];
    for segment in merged.events.segments() {
        if let Some(first) = segment
            .cpu
            .and_then(|cpu| first_events.get_mut(cpu as usize))
        {
            let time = segment.columns.time(0);
            *first = Some(first.map_or(time, |known| known.min(time)));
        }
    }
    let each: Vec<(u32, Runs, u64)> = cpus
        .into_par_iter()
        .map_init(Vec::new, |rows, (cpu, pieces)| {
            join_in_order(&pieces, |row| row.time, rows);
            let (runs, mismatches) =
                runs_of_cpu(rows, first_events.get(cpu as usize).copied().flatten());
            (cpu, runs, mismatches)
        })
        .collect();
    let mut runs = Runs {
        of_cpu: vec![0..0; cpu_count],
        ..Runs::default()
    };
    let total: usize = each.iter().map(|(_, part, _)| part.len()).sum();
    let mismatches = each.iter().map(|(_, _, count)| count).sum();
    reserve(&mut runs, total);
    for (cpu, mut part, _) in each {
        let first = runs.starts.len() as u32;
        runs.append(&mut part);
        runs.of_cpu[cpu as usize] = first..runs.starts.len() as u32;
    }
    sort_by_thread(&mut runs, thread_count);
    (runs, mismatches)
}

fn reserve(runs: &mut Runs, count: usize) {
    runs.starts.reserve_exact(count);
    runs.ends.reserve_exact(count);
    runs.threads.reserve_exact(count);
    runs.priorities.reserve_exact(count);
    runs.end_states.reserve_exact(count);
    runs.events.reserve_exact(count);
}

/// The runs of one CPU, and how many switches did not fit the run before them.
pub fn runs_of_cpu(rows: &[SwitchRow], first_event: Option<Timestamp>) -> (Runs, u64) {
    let mut runs = Runs::default();
    reserve(&mut runs, rows.len() + 1);
    let mut mismatches = 0;
    let mut is_open = false;
    for (index, row) in rows.iter().enumerate() {
        if let Some(last) = runs.ends.len().checked_sub(1).filter(|_| is_open) {
            runs.ends[last] = row.time.max(runs.starts[last]);
            let fits = runs.threads[last] == row.prev;
            // From idle to idle: whoever wrote that says no more than that the run ended (our FXT, where the state
            // after a run is not known).
            let says_only_end = row.prev == row.next && row.prev == ThreadId::IDLE.0;
            mismatches += u64::from(!fits && !says_only_end);
            runs.end_states[last] = if fits {
                row.prev_state
            } else {
                EndState::Unknown
            };
        } else if let Some(start) = first_event.filter(|start| index == 0 && start.0 < row.time)
            && row.prev != ThreadId::IDLE.0
            && row.prev != ThreadId::NONE.0
        {
            push_run(&mut runs, start.0, row.prev, row.prev_priority, u32::MAX);
            runs.ends[0] = row.time;
            runs.end_states[0] = row.prev_state;
        }
        is_open = row.next != ThreadId::IDLE.0 && row.next != ThreadId::NONE.0;
        if is_open {
            push_run(&mut runs, row.time, row.next, row.next_priority, row.event);
        }
    }
    (runs, mismatches)
}

fn push_run(runs: &mut Runs, start: i64, thread: u32, priority: i32, event: u32) {
    runs.starts.push(start);
    runs.ends.push(i64::MAX);
    runs.threads.push(thread);
    runs.priorities.push(priority);
    runs.end_states.push(EndState::Unknown);
    runs.events.push(event);
}

/// Fills `by_thread` and `of_thread`: a counting sort, then each thread's few runs by start.
pub fn sort_by_thread(runs: &mut Runs, thread_count: usize) {
    let mut counts = vec![0_u32; thread_count + 1];
    for &thread in &runs.threads {
        counts[thread as usize + 1] += 1;
    }
    for i in 1..counts.len() {
        counts[i] += counts[i - 1];
    }
    runs.of_thread = counts.windows(2).map(|w| w[0]..w[1]).collect();
    let mut next = counts;
    let mut by_thread = vec![0_u32; runs.threads.len()];
    for (run, &thread) in runs.threads.iter().enumerate() {
        by_thread[next[thread as usize] as usize] = run as u32;
        next[thread as usize] += 1;
    }
    let starts = &runs.starts;
    for range in &runs.of_thread {
        let list = &mut by_thread[range.start as usize..range.end as usize];
        if !list.is_sorted_by_key(|&run| starts[run as usize]) {
            list.sort_by_key(|&run| starts[run as usize]);
        }
    }
    runs.by_thread = by_thread;
}

fn build_states(threads: Vec<(u32, Pieces<'_, Change>)>, thread_count: usize) -> States {
    let each: Vec<(u32, (Vec<Change>, i64))> = threads
        .into_par_iter()
        .map_init(Vec::new, |changes, (thread, pieces)| {
            join_in_order(&pieces, |change| change.time, changes);
            let end = keep_states(changes);
            (thread, (changes.clone(), end))
        })
        .collect();
    let total: usize = each.iter().map(|(_, (rows, _))| rows.len()).sum();
    let mut states = States {
        starts: vec![0; total],
        ends: vec![0; total],
        states: vec![ThreadState::Running; total],
        partners: vec![0; total],
        events: vec![0; total],
        of_thread: Vec::with_capacity(thread_count),
    };
    let mut starts = states.starts.as_mut_slice();
    let mut ends = states.ends.as_mut_slice();
    let mut kinds = states.states.as_mut_slice();
    let mut partners = states.partners.as_mut_slice();
    let mut events = states.events.as_mut_slice();
    let mut jobs = Vec::with_capacity(each.len());
    let mut first = 0;
    for (thread, (rows, end)) in each {
        let count = rows.len();
        states.of_thread.resize(thread as usize, first..first);
        states.of_thread.push(first..first + count as u32);
        first += count as u32;
        jobs.push((
            (rows, end),
            (cut(&mut starts, count), cut(&mut ends, count)),
            cut(&mut kinds, count),
            cut(&mut partners, count),
            cut(&mut events, count),
        ));
    }
    states
        .of_thread
        .resize(thread_count.max(states.of_thread.len()), first..first);
    jobs.into_par_iter()
        .for_each(|((rows, end), (starts, ends), kinds, partners, events)| {
            for (i, row) in rows.iter().enumerate() {
                starts[i] = row.time;
                ends[i] = rows.get(i + 1).map_or(end, |next| next.time);
                kinds[i] = row.to.state();
                partners[i] = row.to.partner();
                events[i] = row.event;
            }
        });
    states
}

/// Keeps of a thread's changes, in order of time, those that begin a state. When the last of them ends.
fn keep_states(changes: &mut Vec<Change>) -> i64 {
    let mut count = 0_usize;
    for at in 0..changes.len() {
        let change = changes[at];
        let now = count.checked_sub(1).map(|last| changes[last]);
        let is_up = |state: ThreadState| state == ThreadState::Running || state.is_ready();
        if let Some(now) = now {
            let state = now.to.state();
            if change.to.state() == ThreadState::Created || change.to.is_woken() && is_up(state) {
                continue;
            }
            if now.time == change.time {
                // Nothing lasts no time at all: a new thread is ready as soon as it is made.
                count -= 1;
            }
        }
        changes[count] = change;
        count += 1;
    }
    changes.truncate(count);
    let is_unknown = |last: &mut Change| last.to.state() == ThreadState::Unknown;
    changes
        .pop_if(is_unknown)
        .map_or(i64::MAX, |last| last.time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(time: i64, to: To) -> Change {
        Change {
            time,
            event: time as u32,
            to,
        }
    }

    #[test]
    fn a_thread_sleeps_is_woken_and_runs_again() {
        use ThreadState::{Created, Preempted, Runnable, Running, Sleeping};
        let mut changes = vec![
            change(9, To::new(Created, To::NOBODY)),
            change(9, To::woken(u32::MAX)),
            change(10, To::new(Running, 1)),
            change(20, To::new(Sleeping, To::NOBODY)),
            change(50, To::woken(7)),
            change(51, To::woken(8)),
            change(55, To::new(Created, To::NOBODY)),
            change(60, To::new(Running, 0)),
            change(70, To::new(Preempted, To::NOBODY)),
            change(71, To::woken(3)),
        ];
        changes.push(change(80, To::new(ThreadState::Unknown, To::NOBODY)));
        assert_eq!(keep_states(&mut changes), 80);
        let rows: Vec<_> = changes
            .iter()
            .map(|row| (row.time, row.to.state(), row.to.partner()))
            .collect();
        assert_eq!(
            rows,
            vec![
                (9, Runnable, u32::MAX),
                (10, Running, 1),
                (20, Sleeping, u32::MAX),
                (50, Runnable, 7),
                (60, Running, 0),
                (70, Preempted, u32::MAX)
            ]
        );
    }

    #[test]
    fn lost_switches_end_a_run_without_a_state() {
        let row = |time, prev, next| SwitchRow {
            time,
            event: 0,
            prev,
            next,
            next_priority: 120,
            prev_priority: 100,
            prev_state: EndState::Sleeping,
        };
        let (runs, mismatches) = runs_of_cpu(
            &[row(10, 5, 6), row(20, 6, 0), row(30, 0, 7), row(40, 8, 9)],
            Some(Timestamp(3)),
        );
        assert_eq!(runs.starts, vec![3, 10, 30, 40]);
        assert_eq!(runs.ends, vec![10, 20, 40, i64::MAX]);
        assert_eq!(runs.threads, vec![5, 6, 7, 9]);
        assert_eq!(mismatches, 1);
        assert_eq!(
            runs.end_states[1..3],
            [EndState::Sleeping, EndState::Unknown]
        );
    }
}
