//! Changes to the states of each thread.
//!
//! A state lasts until the thread's next change. What was not seen is not claimed: a wait for a CPU is one only if the
//! thread is then seen to run, was not woken a second time before (it ran and slept in between), and if no events
//! were lost meanwhile on the CPUs on which it was woken and ran. What was not such a wait is a stretch of which only
//! its begin is known. Other states are marked where they span a loss.
//!
//! Changes of one CPU keep their order. Of several CPUs' at one time that one comes first which fits to what the thread
//! does: a wakeup where it sleeps, a switch in where it is ready, a switch out where it runs.

use rayon::prelude::*;

use super::super::group::{Pieces, join_in_order};
use super::super::slice_table::cut;
use super::Change;
use super::losses::Losses;
use crate::base::StringId;
use crate::event::{SaidState, WakeupSort};
use crate::trace::{CpuId, EventId, Events, StateNotes, States, ThreadState};

/// Of more CPUs than this, changes at one time are taken in the order of the CPUs.
const MOST_CPUS_AT_ONCE: usize = 64;

/// What is known beside a thread's changes.
pub(super) struct Facts<'a> {
    pub events: &'a Events,
    pub losses: &'a Losses,
    /// Whether any switch was recorded.
    pub has_switches: bool,
    /// Whether any `sched_waking` was: each `sched_wakeup` then follows one.
    pub has_wakings: bool,
    /// By event, sorted: the CPU on which a woken thread was to run.
    pub targets: Vec<(u32, CpuId)>,
    /// What the file itself says of the states that events brought, sorted by event.
    pub said: Vec<SaidState>,
}

impl Facts<'_> {
    fn said(&self, event: u32) -> Option<&SaidState> {
        let at = self.said.binary_search_by_key(&event, |said| said.event);
        self.said.get(at.ok()?)
    }

    /// What the file says of a ready thread's state: whether it was seen to wait until it ran.
    fn said_wait(&self, event: u32) -> Option<bool> {
        self.said(event)?.is_wait
    }

    /// Whether events were lost during a state that is neither a run nor a wait for a CPU.
    fn spans_loss(&self, row: &Row, end: i64) -> bool {
        let said = self.said(row.event).and_then(|said| said.spans_loss);
        said.unwrap_or_else(|| self.losses.are_anywhere(row.start, end))
    }
}

/// One state.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: i64,
    event: u32,
    partner: u32,
    state: ThreadState,
    notes: StateNotes,
}

/// The states of one thread.
#[derive(Debug, Default)]
struct OfThread {
    rows: Vec<Row>,
    /// When the last one ends; `i64::MAX` if nothing ended it.
    end: i64,
    /// Whether a switch from or to the thread was seen.
    has_switches: bool,
    /// Whether it was woken a second time before it was seen to run, though no events were lost.
    ran_unseen: bool,
}

/// All states, from what each thread changes to.
pub(super) fn build_states(
    threads: Vec<(u32, Pieces<'_, Change>)>,
    thread_count: usize,
    facts: &Facts<'_>,
) -> States {
    let mut each: Vec<(u32, OfThread)> = threads
        .into_par_iter()
        .map_init(Vec::new, |changes, (thread, pieces)| {
            join_in_order(&pieces, |change| change.time, changes);
            (thread, states_of(changes, facts))
        })
        .collect();
    // Some threads' switches were not recorded: who was woken, but never switched to, may be one of them.
    let is_filtered = each.iter().any(|(_, it)| it.ran_unseen && !it.has_switches);
    if is_filtered {
        for (_, of_thread) in each.iter_mut().filter(|(_, it)| !it.has_switches) {
            of_thread.forget_last_wait(facts);
        }
    }
    let total: usize = each.iter().map(|(_, it)| it.rows.len()).sum();
    let mut states = States {
        starts: vec![0; total],
        ends: vec![0; total],
        states: vec![ThreadState::Running; total],
        partners: vec![0; total],
        notes: vec![StateNotes::default(); total],
        events: vec![0; total],
        of_thread: Vec::with_capacity(thread_count),
        woken_by: woken_by(&facts.said),
    };
    let mut starts = states.starts.as_mut_slice();
    let mut ends = states.ends.as_mut_slice();
    let mut kinds = states.states.as_mut_slice();
    let mut partners = states.partners.as_mut_slice();
    let mut notes = states.notes.as_mut_slice();
    let mut events = states.events.as_mut_slice();
    let mut jobs = Vec::with_capacity(each.len());
    let mut first = 0;
    for (thread, of_thread) in each {
        let count = of_thread.rows.len();
        states.of_thread.resize(thread as usize, first..first);
        states.of_thread.push(first..first + count as u32);
        first += count as u32;
        jobs.push((
            of_thread,
            (cut(&mut starts, count), cut(&mut ends, count)),
            (cut(&mut kinds, count), cut(&mut notes, count)),
            cut(&mut partners, count),
            cut(&mut events, count),
        ));
    }
    states
        .of_thread
        .resize(thread_count.max(states.of_thread.len()), first..first);
    jobs.into_par_iter().for_each(
        |(of_thread, (starts, ends), (kinds, notes), partners, events)| {
            let rows = &of_thread.rows;
            for (i, row) in rows.iter().enumerate() {
                let end = rows.get(i + 1).map_or(of_thread.end, |next| next.start);
                starts[i] = row.start;
                ends[i] = end;
                kinds[i] = row.state;
                partners[i] = row.partner;
                events[i] = row.event;
                notes[i] = match row.state {
                    // Whoever runs is seen to.
                    ThreadState::Running => row.notes,
                    // That it is a wait was shown.
                    ThreadState::Runnable if row.notes.is_woken() => row.notes,
                    _ if facts.spans_loss(row, end) => row.notes.with_loss(),
                    _ => row.notes,
                };
            }
        },
    );
    states
}

/// The names of interrupts that the file says, by the event of the wakeup.
fn woken_by(said: &[SaidState]) -> Vec<(u32, StringId)> {
    let names = said.iter();
    let names = names.filter_map(|said| Some((said.event, said.woken_by?)));
    names.collect()
}

/// The states of a thread with these changes, in order of time.
fn states_of(changes: &[Change], facts: &Facts<'_>) -> OfThread {
    let mut walk = Walk {
        facts,
        made: OfThread::default(),
        woken_by: None,
        woken_before: false,
    };
    for at_once in changes.chunk_by(|a, b| a.time == b.time) {
        walk.take_all(at_once);
    }
    walk.finish()
}

struct Walk<'a> {
    facts: &'a Facts<'a>,
    made: OfThread,
    /// Of a thread that was woken and waits: which of the two events of a wakeup came last, and the event.
    woken_by: Option<(WakeupSort, u32)>,
    /// Of such a thread: whether it was asked to wake up earlier, by an event that is lost.
    woken_before: bool,
}

impl Walk<'_> {
    /// Takes in changes at one time.
    fn take_all(&mut self, changes: &[Change]) {
        let lane = |change: &Change| match change.event {
            u32::MAX => None,
            event => Some(self.facts.events.lane_of(EventId(event))),
        };
        let is_one = changes.len() < 2 || {
            let first = changes.first().and_then(lane);
            changes.iter().all(|change| lane(change) == first)
        };
        if is_one {
            for change in changes {
                self.take(*change);
            }
            return;
        }
        // They are in the order of their lanes; what no event says comes last.
        let mut lanes: Vec<&[Change]> = changes.chunk_by(|a, b| lane(a) == lane(b)).collect();
        if lanes.len() > MOST_CPUS_AT_ONCE {
            for change in changes {
                self.take(*change);
            }
            return;
        }
        loop {
            let heads = lanes.iter().enumerate();
            let heads = heads.filter_map(|(at, rest)| Some((at, rest.first()?)));
            let Some((at, _)) = heads.min_by_key(|(at, change)| (self.rank(change), *at)) else {
                return;
            };
            let Some((change, rest)) = lanes[at].split_first() else {
                return;
            };
            lanes[at] = rest;
            self.take(*change);
        }
    }

    /// How badly a change fits to what the thread does.
    fn rank(&self, change: &Change) -> u8 {
        let Some(now) = self.made.rows.last() else {
            return 0;
        };
        if change.event == u32::MAX {
            return 9;
        }
        let (wakeup, state) = (change.to.wakeup(), change.to.state());
        match now.state {
            ThreadState::Running if wakeup.is_none() && state != ThreadState::Running => 0,
            ThreadState::Running => 1,
            now if now.is_ready() || now == ThreadState::Created => match wakeup {
                // The other half of the same wakeup.
                Some(WakeupSort::Wakeup) if self.waits_for_other_half() => 0,
                None if state == ThreadState::Running => 1,
                _ => 2,
            },
            _ => match wakeup {
                Some(WakeupSort::Waking) => 0,
                Some(_) => 1,
                None if state == ThreadState::Running => 2,
                None => 3,
            },
        }
    }

    fn take(&mut self, change: Change) {
        let now = self.made.rows.last().map(|now| (now.state, now.partner));
        let state = change.to.state();
        if let Some(sort) = change.to.wakeup() {
            return self.take_wakeup(change, sort);
        }
        let partner = change.to.partner();
        if state == ThreadState::Unknown && partner != u32::MAX {
            // Who runs elsewhere by now still does.
            if now == Some((ThreadState::Running, partner)) {
                self.push(change, u32::MAX, StateNotes::default());
            }
            return;
        }
        if state == ThreadState::Created && now.is_some() {
            return;
        }
        self.made.has_switches |= state != ThreadState::Created;
        if now.is_some_and(|(now, _)| now == ThreadState::Runnable) && !self.is_wait(&change) {
            self.not_a_wait();
        }
        self.push(change, partner, StateNotes::default());
    }

    fn take_wakeup(&mut self, change: Change, sort: WakeupSort) {
        let now = self.made.rows.last();
        let is_up =
            now.is_some_and(|now| now.state == ThreadState::Running || now.state.is_ready());
        if is_up {
            let Some((_, before)) = self.woken_by else {
                return;
            };
            if self.waits_for_other_half() && sort == WakeupSort::Wakeup {
                self.woken_by = Some((sort, change.event));
                return;
            }
            if self.is_told_twice(before, change.event) {
                return;
            }
            let since = now.map_or(change.time, |now| now.start);
            self.made.ran_unseen |= !self.facts.losses.are_anywhere(since, change.time);
            self.not_a_wait();
        }
        let notes = StateNotes::woken(change.to.interrupt());
        let woken_before = self.was_asked_before(&change, sort);
        self.push(change, change.to.partner(), notes);
        self.woken_by = Some((sort, change.event));
        self.woken_before = woken_before;
    }

    /// Whether a wakeup is the second of two events (`sched_waking`, `sched_wakeup`), of which the first is lost: who asked
    /// for it, and when, is not known. (Only the second is recorded on the thread's own CPU.)
    fn was_asked_before(&self, change: &Change, sort: WakeupSort) -> bool {
        let now = self.made.rows.last();
        let is_new = now.is_some_and(|now| now.state == ThreadState::Created);
        sort == WakeupSort::Wakeup
            && !is_new
            && self.facts.has_wakings
            && (self.facts.losses).are_anywhere(now.map_or(i64::MIN, |now| now.start), change.time)
    }

    /// Whether a wakeup may have a second event: `sched_wakeup` follows `sched_waking`.
    fn waits_for_other_half(&self) -> bool {
        matches!(self.woken_by, Some((WakeupSort::Waking, _)))
    }

    /// Whether two events are of one CPU in two buffers, each of which recorded the same wakeup.
    fn is_told_twice(&self, before: u32, event: u32) -> bool {
        let events = self.facts.events;
        let lane = |event: u32| events.lane_of(EventId(event));
        let is_known = before != u32::MAX && event != u32::MAX;
        is_known
            && lane(before) != lane(event)
            && self.cpu_of(before).is_some()
            && self.cpu_of(before) == self.cpu_of(event)
    }

    /// Whether the thread, which is ready, waited for its CPU until a change: it runs then, and could not have run before.
    fn is_wait(&self, change: &Change) -> bool {
        let Some(ready) = self.made.rows.last() else {
            return false;
        };
        // Without a switch it ran already, nobody knows since when.
        if change.to.state() != ThreadState::Running || change.event == u32::MAX {
            return false;
        }
        if let Some(is_wait) = self.facts.said_wait(ready.event) {
            return is_wait;
        }
        let losses = self.facts.losses;
        if losses.is_empty() {
            return true;
        }
        if self.woken_before {
            return false;
        }
        let cpus = [
            self.cpu_of(ready.event),
            self.target_of(ready.event),
            Some(CpuId(change.to.partner())),
        ];
        let mut cpus = cpus.into_iter().flatten();
        !cpus.any(|cpu| losses.are_on(cpu, ready.start, change.time))
    }

    fn cpu_of(&self, event: u32) -> Option<CpuId> {
        let event = (event != u32::MAX).then_some(EventId(event))?;
        self.facts.events.get(event).cpu.map(CpuId)
    }

    /// The CPU on which a woken thread was to run.
    fn target_of(&self, event: u32) -> Option<CpuId> {
        let targets = &self.facts.targets;
        let at = targets
            .binary_search_by_key(&event, |target| target.0)
            .ok()?;
        targets.get(at).map(|target| target.1)
    }

    /// Of the last row only its begin is known.
    fn not_a_wait(&mut self) {
        if let Some(last) = self.made.rows.last_mut() {
            last.state = ThreadState::Unknown;
        }
        self.woken_by = None;
    }

    fn push(&mut self, change: Change, partner: u32, notes: StateNotes) {
        let rows = &mut self.made.rows;
        let says_nothing = |last: &Row| {
            last.start == change.time
                && match last.state {
                    ThreadState::Unknown => !last.notes.is_woken(),
                    // A new thread is ready as soon as it is made.
                    ThreadState::Created => last.event == change.event,
                    _ => false,
                }
        };
        if rows.last().is_some_and(says_nothing) {
            rows.pop();
        }
        rows.push(Row {
            start: change.time,
            event: change.event,
            partner,
            state: change.to.state(),
            notes,
        });
        self.woken_by = None;
        self.woken_before = false;
    }

    fn finish(mut self) -> OfThread {
        self.made.end = i64::MAX;
        let last = self.made.rows.last();
        let is_unsure = last.is_some_and(|last| {
            let is_lossy = || self.facts.losses.are_anywhere(last.start, i64::MAX);
            let said = self.facts.said_wait(last.event);
            let is_guess = || !self.facts.has_switches || is_lossy();
            last.state == ThreadState::Runnable && said.map_or_else(is_guess, |is_wait| !is_wait)
        });
        if is_unsure {
            self.not_a_wait();
        }
        self.made.forget_unknown_end();
        self.made.rows.shrink_to_fit();
        self.made
    }
}

impl OfThread {
    /// Nothing is said of what is not known to the end, but that it began with a wakeup.
    fn forget_unknown_end(&mut self) {
        let Some(last) = self.rows.last().copied() else {
            return;
        };
        if last.state == ThreadState::Unknown {
            self.end = last.start;
            if !last.notes.is_woken() {
                self.rows.pop();
            }
        }
    }

    /// What the thread did after it was woken last was not recorded.
    fn forget_last_wait(&mut self, facts: &Facts<'_>) {
        let is_unsure =
            |it: &&mut Row| it.state.is_ready() && facts.said_wait(it.event) != Some(true);
        if let Some(last) = self.rows.last_mut().filter(is_unsure) {
            last.state = ThreadState::Unknown;
        }
        self.forget_unknown_end();
    }
}
