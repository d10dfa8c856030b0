//! CPUs to which threads were sent: a thread may have run there, although none of its own events is from there.
//!
//! ```text
//! sched_waking: target_cpu=0           where it ran last
//! sched_migrate_task: orig_cpu=0 dest_cpu=1
//! sched_wakeup: target_cpu=1           where it is put on a run queue
//! ```
//!
//! Kept only for CPUs whose events may be missing: events were lost there, or the CPU was not recorded at all
//! (`tracing_cpumask`, one file of `per_cpu`). A CPU counts as not recorded if no event is from it, although a thread
//! was put on its run queue twice: it ran there in between. A thread that another thread's event shows running
//! (`sched_stat_runtime`) while no recorded CPU runs it was on such a CPU, too.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::losses::Losses;
use super::recorded::{Part, Recorded};
use super::rows::SchedulingRows;
use crate::event::{Migration, ThreadKey, ThreadState, Wakeup, WakeupSort};
use crate::trace::states::States;
use crate::trace::{CpuId, ThreadId};

/// A CPU whose events may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubtful {
    /// Events were lost on it.
    Lossy(CpuId),
    /// No event is from it; its number.
    Unrecorded(u32),
    /// One of the CPUs that were not recorded.
    Unnamed,
}

/// A thread was sent to a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sent {
    /// When, in ns.
    time: i64,
    cpu: Doubtful,
    how: How,
}

/// What was said of a thread and a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// It ran there before, or is taken off its run queue.
    WasThere,
    /// It was put on the CPU's run queue.
    Queued,
}

/// The CPUs with missing events to which each thread was sent.
#[derive(Debug, Default)]
pub(crate) struct Whereabouts {
    /// By thread, in order of time.
    of: FxHashMap<u32, Vec<Sent>>,
    /// The numbers of CPUs that were not recorded, sorted.
    unrecorded: Vec<u32>,
}

/// Waits for a CPU during which events of a CPU are missing: the thread may have run there, and waited again.
#[derive(Debug, Default)]
pub(crate) struct WaitsOverLosses {
    /// Thread and start in ns, sorted.
    waits: Vec<(u32, i64)>,
}

impl WaitsOverLosses {
    /// Returns the waits among the states of all threads.
    #[must_use]
    pub(crate) fn new(states: &States) -> WaitsOverLosses {
        let mut waits = Vec::new();
        for (thread, rows) in (0..).zip(&states.of_thread) {
            for row in rows.start as usize..rows.end as usize {
                let is_wait = matches!(
                    states.states[row],
                    ThreadState::Runnable | ThreadState::Preempted
                );
                if is_wait && states.notes[row].spans_loss() {
                    waits.push((thread, states.starts[row]));
                }
            }
        }
        WaitsOverLosses { waits }
    }

    /// Returns whether there is no such wait.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// Returns the start of a thread's first wait that began between two times, in ns.
    #[must_use]
    pub(crate) fn first(&self, thread: ThreadId, from: i64, until: i64) -> Option<i64> {
        let first = self.waits.partition_point(|wait| *wait < (thread.0, from));
        let (of, start) = *self.waits.get(first)?;
        (of == thread.0 && start < until).then_some(start)
    }
}

/// What is missing in the recording.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'a> {
    /// When events were lost.
    pub losses: &'a Losses,
    /// Where threads were sent where events are missing.
    pub whereabouts: &'a Whereabouts,
}

impl Whereabouts {
    /// Returns where the threads of these rows were sent.
    #[must_use]
    pub(crate) fn new(rows: &SchedulingRows, recorded: &Recorded, losses: &Losses) -> Whereabouts {
        if !losses.has_cpus() {
            return Whereabouts::default();
        }
        let parts = recorded.parts.par_iter().enumerate();
        let found: Vec<Vec<(u32, Sent)>> = parts
            .map(|(at, part)| {
                let mut gather = Gather {
                    recorded,
                    losses,
                    part,
                    found: Vec::new(),
                };
                rows.wakeups[at].iter().for_each(|row| gather.wakeup(row));
                rows.migrations[at]
                    .iter()
                    .for_each(|row| gather.migration(row));
                gather.found
            })
            .collect();
        let mut of: FxHashMap<u32, Vec<Sent>> = FxHashMap::default();
        for (thread, sent) in found.into_iter().flatten() {
            of.entry(thread).or_default().push(sent);
        }
        let mut unrecorded: Vec<u32> = Vec::new();
        for sent in of.values_mut() {
            sent.sort_unstable();
            sent.dedup();
            unrecorded.extend(visited(sent));
        }
        unrecorded.sort_unstable();
        unrecorded.dedup();
        let is_missing = |sent: &Sent| match sent.cpu {
            Doubtful::Lossy(_) => true,
            Doubtful::Unrecorded(cpu) => unrecorded.binary_search(&cpu).is_ok(),
            Doubtful::Unnamed => true,
        };
        of.retain(|_, sent| {
            sent.retain(is_missing);
            !sent.is_empty()
        });
        if !unrecorded.is_empty() {
            for (thread, times) in seen_elsewhere(rows, recorded) {
                let of_thread = of.entry(thread).or_default();
                of_thread.extend(times.into_iter().map(|time| Sent {
                    time,
                    cpu: Doubtful::Unnamed,
                    how: How::Queued,
                }));
                of_thread.sort_unstable();
            }
        }
        Whereabouts { of, unrecorded }
    }

    /// Returns the whereabouts of some threads. A CPU counts as not recorded only if one of these ran there.
    #[must_use]
    pub(crate) fn of_threads(&self, is_one: impl Fn(ThreadId) -> bool) -> Whereabouts {
        let own = self
            .of
            .iter()
            .filter(|(thread, _)| is_one(ThreadId(**thread)));
        let mut of: FxHashMap<u32, Vec<Sent>> = own.map(|(id, sent)| (*id, sent.clone())).collect();
        let mut unrecorded: Vec<u32> = of.values().flat_map(|sent| visited(sent)).collect();
        unrecorded.sort_unstable();
        unrecorded.dedup();
        let is_missing = |sent: &Sent| match sent.cpu {
            Doubtful::Lossy(_) => true,
            Doubtful::Unrecorded(cpu) => unrecorded.binary_search(&cpu).is_ok(),
            Doubtful::Unnamed => !unrecorded.is_empty(),
        };
        of.values_mut().for_each(|sent| sent.retain(is_missing));
        Whereabouts { of, unrecorded }
    }

    /// Returns the numbers of CPUs that were not recorded, although threads ran there.
    #[must_use]
    pub(crate) fn unrecorded(&self) -> &[u32] {
        &self.unrecorded
    }

    /// Returns whether no thread was sent to a CPU whose events are missing.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Returns whether a ready thread may have run between two times where events are missing: it was put on the run
    /// queue of such a CPU, or taken from one on which it had been put meanwhile. (A wakeup also names the CPU on which
    /// the thread ran before it slept, which says nothing about the wait.)
    #[must_use]
    pub(crate) fn may_have_run(
        &self,
        losses: &Losses,
        thread: ThreadId,
        from: i64,
        until: i64,
    ) -> bool {
        let mut is_queued = false;
        self.lost(losses, thread, from, until).any(|(sent, _)| {
            is_queued |= sent.how == How::Queued;
            is_queued
        })
    }

    /// Returns the time from which events of a thread may be lost between two times, on a CPU to which it was sent
    /// meanwhile; at least `from`. `None` if there is no such CPU.
    #[must_use]
    pub(crate) fn first_lost(
        &self,
        losses: &Losses,
        thread: ThreadId,
        from: i64,
        until: i64,
    ) -> Option<i64> {
        let lost = self.lost(losses, thread, from, until);
        lost.map(|(_, time)| time).min()
    }

    /// Returns where a thread was sent between two times, of CPUs whose events between these times are missing, and since
    /// when they are.
    fn lost(
        &self,
        losses: &Losses,
        thread: ThreadId,
        from: i64,
        until: i64,
    ) -> impl Iterator<Item = (&Sent, i64)> {
        let sent = self.of.get(&thread.0).map_or(&[][..], Vec::as_slice);
        let first = sent.partition_point(|sent| sent.time < from);
        let meanwhile = sent[first..].iter();
        let meanwhile = meanwhile.take_while(move |sent| sent.time <= until && from < until);
        meanwhile.filter_map(move |sent| {
            let since = match sent.cpu {
                Doubtful::Lossy(cpu) => losses.first_on(cpu, from, until)?,
                Doubtful::Unrecorded(_) | Doubtful::Unnamed => from,
            };
            Some((sent, since))
        })
    }
}

/// Returns the CPUs without events on whose run queues a thread was put at two times.
fn visited(sent: &[Sent]) -> impl Iterator<Item = u32> {
    let queued = sent.iter().filter(|sent| sent.how == How::Queued);
    let mut seen: FxHashMap<u32, i64> = FxHashMap::default();
    queued.filter_map(move |sent| match sent.cpu {
        Doubtful::Unrecorded(cpu) => {
            let first = *seen.entry(cpu).or_insert(sent.time);
            (first < sent.time).then_some(cpu)
        }
        Doubtful::Lossy(_) | Doubtful::Unnamed => None,
    })
}

/// Returns when threads were seen to run, by events of other threads, although no recorded CPU ran them; by thread.
/// Nothing is known of threads without a recorded switch.
fn seen_elsewhere(rows: &SchedulingRows, recorded: &Recorded) -> FxHashMap<u32, Vec<i64>> {
    let threads = &recorded.events.threads;
    let mut seen: FxHashMap<u32, Vec<i64>> = FxHashMap::default();
    for (of_part, part) in rows.sighted.iter().zip(&recorded.parts) {
        for row in of_part {
            let time = recorded.time(part, row.event);
            if let Some(thread) = threads.at(row.thread, time) {
                seen.entry(thread.0).or_default().push(time.0);
            }
        }
    }
    if seen.is_empty() {
        return seen;
    }
    // (time, whether the thread runs from there on), by thread.
    let mut switches: FxHashMap<u32, Vec<(i64, bool)>> = FxHashMap::default();
    for (of_part, part) in rows.switches.iter().zip(&recorded.parts) {
        for row in of_part {
            let time = recorded.time(part, row.event);
            for (key, runs) in [(row.prev, false), (row.next, true)] {
                let thread = threads.at(key, time);
                if let Some(thread) = thread.filter(|thread| seen.contains_key(&thread.0)) {
                    switches.entry(thread.0).or_default().push((time.0, runs));
                }
            }
        }
    }
    switches.values_mut().for_each(|own| own.sort_unstable());
    seen.retain(|thread, times| {
        let own = switches.get(thread).map_or(&[][..], Vec::as_slice);
        times.retain(|&time| {
            let next = own.partition_point(|&(at, _)| at < time);
            let is_at_switch = own.get(next).is_some_and(|&(at, _)| at == time);
            let runs_before = next.checked_sub(1).map(|at| own[at].1);
            let runs_on = own.get(next).map(|&(_, runs)| !runs);
            !is_at_switch && runs_before.or(runs_on) == Some(false)
        });
        !times.is_empty()
    });
    seen
}

/// Gathers where the threads of a part were sent.
struct Gather<'a> {
    recorded: &'a Recorded,
    losses: &'a Losses,
    part: &'a Part,
    found: Vec<(u32, Sent)>,
}

impl Gather<'_> {
    fn wakeup(&mut self, row: &Wakeup) {
        if let Some(cpu) = row.target_cpu.get() {
            let how = match row.sort {
                WakeupSort::Waking => How::WasThere,
                WakeupSort::Wakeup | WakeupSort::New => How::Queued,
            };
            self.sent(row.event, row.thread, cpu, how);
        }
    }

    fn migration(&mut self, row: &Migration) {
        self.sent(row.event, row.thread, row.from_cpu, How::WasThere);
        self.sent(row.event, row.thread, row.to_cpu, How::Queued);
    }

    fn sent(&mut self, event: u32, thread: ThreadKey, number: u32, how: How) {
        let Some(cpu) = self.doubtful(number) else {
            return;
        };
        let time = self.recorded.time(self.part, event);
        let thread = self.recorded.events.threads.at(thread, time);
        let time = time.0;
        self.found.extend(thread.map(|thread| {
            let sent = Sent { time, cpu, how };
            (thread.0, sent)
        }));
    }

    /// Returns the CPU with a number, if its events may be missing.
    fn doubtful(&self, number: u32) -> Option<Doubtful> {
        let cpu = self.recorded.cpu_id(number);
        match cpu.filter(|cpu| self.losses.first_event_of(*cpu).is_some()) {
            Some(cpu) => (self.losses.are_some_on(cpu)).then_some(Doubtful::Lossy(cpu)),
            None => Some(Doubtful::Unrecorded(number)),
        }
    }
}
