//! Makes the states of a thread from its changes.
//!
//! A state lasts until the thread's next change. Only what was recorded counts: a thread counts as waiting for a CPU,
//! after a wakeup or a preemption, only if it is then seen to start running. After a wakeup it must also not have been
//! woken a second time before (it would have run and slept in between), and the thread must not have recorded an event
//! meanwhile (where switches are missing). No events may have been lost meanwhile on the CPUs on which it was woken and
//! ran, nor on any CPU if the event is lost that says where it was put. Otherwise only the begin of the state is known,
//! and the state is unknown. Other states end where the thread recorded an event, and are marked if events were lost
//! while they lasted. `breaks` says where switches are missing although no loss is recorded.
//!
//! A switch that two buffers of a CPU recorded counts once.
//!
//! A thread that runs again after a sleep in which nothing woke it was woken while it was leaving its CPU: the waking on
//! another CPU has a time before the switch.
//!
//! Changes of one CPU keep their order. Of changes of several CPUs at one time, the change that fits the thread's state
//! comes first: a wakeup if it sleeps, a switch to it if it is ready, a switch away if it runs. Of several that fit, those
//! of a CPU that the thread leaves again come first, then those of the CPU with the most changes of the thread.

use std::cmp::Reverse;

use super::super::whereabouts::Missing;
use super::breaks::Breaks;
use super::changes::{Change, SHORTEST_TURN, To};
use crate::base::Maybe;
use crate::event::{StateFacts, WakeupSort};
use crate::trace::{CpuId, EventId, Events, StateNotes, ThreadId, ThreadState};

/// If changes at one time are from more CPUs than this, they are taken in the order of the CPUs.
const MOST_CPUS_AT_ONCE: usize = 64;

/// The trace's events, losses and facts about wakeups that the walk over a thread's changes reads.
pub(super) struct Facts<'a> {
    pub events: &'a Events,
    pub missing: Missing<'a>,
    /// Whether any switch was recorded.
    pub has_switches: bool,
    /// Whether any `sched_waking` was recorded: each `sched_wakeup` then follows one.
    pub has_wakings: bool,
    /// Whether any `sched_wakeup` was recorded: one then follows each `sched_waking`, on the CPU that the thread waits for.
    pub has_wakeups: bool,
    /// Where switches are missing without a recorded loss.
    pub breaks: &'a Breaks,
    /// States that the file itself states, sorted by the event that began them.
    pub stated: Vec<StateFacts>,
}

impl Facts<'_> {
    fn stated(&self, event: Maybe<u32>) -> Option<&StateFacts> {
        let event = event.get()?;
        let at = self
            .stated
            .binary_search_by_key(&event, |stated| stated.event);
        self.stated.get(at.ok()?)
    }

    /// Returns whether the file states that a ready thread was seen to wait until it ran; `None` if it states nothing.
    fn stated_wait(&self, event: Maybe<u32>) -> Option<bool> {
        self.stated(event)?.is_wait
    }

    /// Returns the notes of a state that is neither a run nor a wait for a CPU, with those of losses.
    pub(super) fn notes_of(&self, row: &Row, end: Maybe<i64>) -> StateNotes {
        let stated = self.stated(row.event_number).copied().unwrap_or_default();
        let are_lost = || self.are_lost(row.start, end.or_greatest());
        if stated.misses_switches {
            return row.notes.with_missing_switches();
        }
        match stated.spans_loss.unwrap_or_else(are_lost) {
            true => row.notes.with_loss(),
            false => row.notes,
        }
    }

    /// Returns whether events of any CPU are missing between two times.
    fn are_lost(&self, from: i64, until: i64) -> bool {
        let Missing {
            losses,
            whereabouts,
        } = self.missing;
        !whereabouts.unrecorded().is_empty() || losses.are_anywhere(from, until)
    }
}

/// A state while the states of its thread are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub start: i64,
    /// Id of the event that began it; use [`Row::event`].
    pub event_number: Maybe<u32>,
    /// The CPU of a run, or the waker.
    pub partner: Option<u32>,
    pub state: ThreadState,
    pub notes: StateNotes,
}

impl Row {
    fn event(&self) -> Option<EventId> {
        self.event_number.get().map(EventId)
    }
}

/// The states of one thread.
#[derive(Debug, Default)]
pub(super) struct OfThread {
    pub rows: Vec<Row>,
    /// End of the last state, ns; none if no change ended it.
    pub end: Maybe<i64>,
    /// Whether a switch from or to the thread was seen.
    pub has_switches: bool,
    /// Whether it was woken a second time before it was seen to run, although no events were lost.
    pub ran_unseen: bool,
    /// Whether any run may be missing, because the recording was filtered by other threads.
    pub is_left_out: bool,
}

/// Returns the states of a thread; `changes` are in order of time.
pub(super) fn states_of(thread: ThreadId, changes: &[Change], facts: &Facts<'_>) -> OfThread {
    let mut walk = Walk {
        thread,
        facts,
        made: OfThread {
            is_left_out: facts.breaks.leave_out(thread),
            ..OfThread::default()
        },
        woken_by: None,
        woken_before: false,
        woken_while_up: None,
    };
    for at_once in changes.chunk_by(|a, b| a.time == b.time) {
        walk.take_all(at_once);
    }
    walk.finish()
}

/// Returns whether a change is a switch to the thread. Otherwise the thread already ran, since an unknown time.
fn runs_from_here(change: &Change) -> bool {
    change.to.state() == ThreadState::Running && change.event().is_some()
}

struct Walk<'a> {
    thread: ThreadId,
    facts: &'a Facts<'a>,
    made: OfThread,
    /// For a thread that was woken and waits: which of a wakeup's two events came last, and that event.
    woken_by: Option<(WakeupSort, Option<EventId>)>,
    /// For a thread that was woken and waits: whether an earlier event of the wakeup is lost.
    woken_before: bool,
    /// The last waking of the running thread, until it runs again.
    woken_while_up: Option<Change>,
}

/// Longest time in ns from a waking to the switch of a thread that leaves meanwhile, whatever woke the thread before: it is
/// off the run queue, but still on its CPU. (On a machine without load 0.1 to 5 us; more if the CPU is virtual and stands
/// still.)
const LONGEST_LEAVING: i64 = 1_000_000;

/// Longest time in ns by which the clocks of two CPUs differ.
const LONGEST_SKEW: i64 = 100_000;

/// Longest time in ns from a `sched_waking` to its `sched_wakeup`, where events are missing that could show another pair. (On a
/// machine without load 1 to 50 us, longer if the other CPU must be woken first.)
const LONGEST_WAKING: i64 = 1_000_000;

impl Walk<'_> {
    /// Applies the changes of one time.
    fn take_all(&mut self, changes: &[Change]) {
        if let Some(first) = changes.first() {
            self.end_as_stated(first.time);
        }
        let events = self.facts.events;
        let lane = |change: &Change| change.event().map(|event| events.lane_of(event));
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
        // Changes are in the order of their lanes; changes without an event come last.
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
            // A thread ends up running where it is not switched away again.
            let stays = |at: usize, head: &Change| {
                !runs_from_here(head) || lanes[at].last().is_some_and(runs_from_here)
            };
            // Of several that fit equally, the one with the most changes after it: the others may fit between those changes.
            let left = |at: usize| Reverse(lanes[at].len());
            let best =
                heads.min_by_key(|&(at, head)| (self.rank(head), stays(at, head), left(at), at));
            let Some((at, _)) = best else {
                return;
            };
            let Some((change, rest)) = lanes[at].split_first() else {
                return;
            };
            lanes[at] = rest;
            self.take(*change);
        }
    }

    /// Returns how badly a change fits the thread's current state: 0 is the best fit.
    fn rank(&self, change: &Change) -> u8 {
        let Some(now) = self.made.rows.last() else {
            return 0;
        };
        let is_left = || now.state == ThreadState::Running && now.partner == change.to.partner();
        match change.event() {
            None if change.to.is_before_events() && is_left() => return 0,
            Some(_) if !change.to.is_sighting() => {}
            _ => return 9,
        }
        let (wakeup, state) = (change.to.wakeup(), change.to.state());
        match now.state {
            ThreadState::Running if wakeup.is_none() && state != ThreadState::Running => 0,
            ThreadState::Running => 1,
            now if now.is_ready_or_new() => match wakeup {
                // The second event of the same wakeup.
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
        if change.to.is_sighting() {
            return self.take_sighting(change);
        }
        if runs_from_here(&change) {
            self.wake_while_leaving(change.time);
        }
        let state = change.to.state();
        if let Some(sort) = change.to.wakeup() {
            return self.take_wakeup(change, sort);
        }
        let partner = change.to.partner();
        if self.is_known(&change) {
            return;
        }
        let now = self.made.rows.last().map(|now| (now.state, now.partner));
        if state == ThreadState::Unknown && partner.is_some() {
            // This change only ends a run on that CPU; a thread that already runs on another CPU continues to run.
            if now == Some((ThreadState::Running, partner)) {
                self.push(change, None, StateNotes::default());
            }
            return;
        }
        if state == ThreadState::Created && now.is_some() {
            return;
        }
        self.made.has_switches |= state != ThreadState::Created;
        let is_unknown = match now {
            Some((ThreadState::Runnable, _)) => !self.is_wait(&change),
            // If events were lost, the state is only marked as such. It becomes unknown if the thread is known to have
            // run meanwhile.
            Some((now, _)) if now.is_ready() => {
                !runs_from_here(&change)
                    || self.is_stated_to_have_run()
                    || self.was_sent_elsewhere(change.time)
            }
            _ => false,
        };
        if is_unknown {
            self.not_a_wait();
        } else {
            self.mark_break(&change);
        }
        self.push(change, partner, StateNotes::default());
    }

    /// Returns whether a switch is one that already changed the state: two buffers recorded it, or a text contains it twice.
    fn is_known(&self, change: &Change) -> bool {
        self.made.rows.last().is_some_and(|now| {
            (now.state, now.partner) == (change.to.state(), change.to.partner())
                && now.state != ThreadState::Unknown
                && self.is_recorded_twice(now.event(), change)
        })
    }

    /// Marks the state of a preempted thread that ends with `change` if the thread may have run meanwhile without a recorded
    /// switch. (Other states are not marked: of a text with the lines of one task only, all sleeps would be.)
    fn mark_break(&mut self, change: &Change) {
        let Some(last) = self.made.rows.last() else {
            return;
        };
        if last.state == ThreadState::Preempted && self.ran_in_a_break(last, change) {
            let notes = last.notes.with_missing_switches();
            if let Some(row) = self.made.rows.last_mut() {
                row.notes = notes;
            }
        }
    }

    /// Returns whether a thread off the CPU may have run without a recorded switch before `change`, on the CPU on which its
    /// state began or on that of `change`.
    fn ran_in_a_break(&self, off: &Row, change: &Change) -> bool {
        let breaks = self.facts.breaks;
        breaks.may_hide_a_run(
            self.thread,
            self.cpus_around(off, change),
            off.start,
            change.time,
        )
    }

    /// Returns the CPUs on which a thread's state began, as it was woken or left, and on which it ran next.
    fn cpus_around(&self, off: &Row, change: &Change) -> impl Iterator<Item = CpuId> + use<> {
        let began_on = off.event().and_then(|event| self.cpu_of(event));
        let runs_on = change.to.partner().map(CpuId);
        began_on.into_iter().chain(runs_on)
    }

    /// Takes an event that the thread recorded where switches are missing: the thread ran. If it was ready before, it did
    /// not wait for a CPU until the switch that follows; another state lasted at most until the event.
    fn take_sighting(&mut self, change: Change) {
        let Some(now) = self.made.rows.last() else {
            return;
        };
        // At the time of a switch away, the event may be from before the switch. The clocks of two buffers may differ,
        // even where the file states the same clock for both (trace-cmd 3.1.6 does).
        let lane = |event: Option<EventId>| event.map(|event| self.facts.events.lane_of(event));
        let is_later = now.start < change.time && lane(now.event()) == lane(change.event());
        let is_of_another = change.to.partner().is_none();
        if is_of_another && now.start == change.time {
            // Another CPU's event: at one time, the thread may have run before its state began.
            return;
        }
        match now.state {
            _ if !is_later && self.woken_by.is_none() => {}
            ThreadState::Running | ThreadState::Unknown => {}
            now if now.is_ready_or_new() => self.not_a_wait(),
            _ => self.become_unknown(change.time, StateNotes::default()),
        }
    }

    /// Begins an unknown state at `time` (ns), without an event.
    fn become_unknown(&mut self, time: i64, notes: StateNotes) {
        let to = To::new(ThreadState::Unknown, None);
        self.push(Change::without_event(time, to), None, notes);
    }

    /// Ends the current state after the longest time that the file states for it, if that is before `time` (ns).
    fn end_as_stated(&mut self, time: i64) {
        // What a switch states is about the thread that it takes off, not about the one that runs from there.
        let now = self.made.rows.last();
        let end = now.filter(|now| now.state != ThreadState::Running);
        let end = end.and_then(|now| {
            let stated = self.facts.stated(now.event_number)?;
            let end = now.start.checked_add(stated.longest_ns?)?;
            // What ended the state is lost, and so is what the thread did until its next event.
            let notes = match stated.spans_loss {
                Some(true) => StateNotes::default().with_loss(),
                _ => StateNotes::default(),
            };
            (now.start..time).contains(&end).then_some((end, notes))
        });
        if let Some((end, notes)) = end {
            self.become_unknown(end, notes);
        }
    }

    fn take_wakeup(&mut self, change: Change, sort: WakeupSort) {
        let now = self.made.rows.last();
        let is_up =
            now.is_some_and(|now| now.state == ThreadState::Running || now.state.is_ready());
        if is_up {
            let Some((_, before)) = self.woken_by else {
                self.woken_while_up = Some(change).filter(|_| sort == WakeupSort::Waking);
                return;
            };
            let is_other_half = self.waits_for_other_half() && sort == WakeupSort::Wakeup;
            let since = self.start_of_state(change.time);
            let is_late = change.time.saturating_sub(since) > LONGEST_WAKING;
            if is_other_half && !(is_late && self.may_have_run_since(change.time)) {
                self.woken_by = Some((sort, change.event()));
                return;
            }
            if self.is_recorded_twice(before, &change) {
                return;
            }
            let since = now.map_or(change.time, |now| now.start);
            self.made.ran_unseen |= !self.facts.are_lost(since, change.time);
            self.not_a_wait();
        }
        let notes = StateNotes::woken(change.to.interrupt());
        let woken_before = self.was_asked_before(&change, sort);
        self.push(change, change.to.partner(), notes);
        self.woken_by = Some((sort, change.event()));
        self.woken_before = woken_before;
    }

    /// Returns whether a thread that was woken to a CPU may have run there before its `sched_wakeup` at `time` (ns): events of
    /// that CPU were lost meanwhile, so the `sched_wakeup` may be that of a later waking.
    fn may_have_run_since(&self, time: i64) -> bool {
        let missing = self.facts.missing;
        let since = self.start_of_state(time);
        let lost = (missing.whereabouts).first_lost(missing.losses, self.thread, since, time);
        lost.is_some()
    }

    /// If the thread sleeps and runs again at `time` (ns) without having been woken since: it was woken while it was leaving
    /// its CPU, by the last waking before the switch. It was ready from the switch on.
    fn wake_while_leaving(&mut self, time: i64) {
        let Some(waking) = self.woken_while_up.take() else {
            return;
        };
        // The wakeup of the thread may also be missing.
        if self.facts.breaks.leave_out(self.thread) {
            return;
        }
        let asleep = self.made.rows.last();
        let asleep = asleep.filter(|now| {
            let leaving = now.start - waking.time;
            let is_short = (0..=LONGEST_LEAVING).contains(&leaving);
            now.state.is_asleep() && (is_short || leaving > 0 && self.is_of_next_sleep(&waking))
        });
        let Some(asleep) = asleep.filter(|_| !self.facts.are_lost(waking.time, time)) else {
            return;
        };
        let change = Change {
            time: asleep.start,
            ..waking
        };
        let notes = StateNotes::woken(waking.to.interrupt());
        self.push(change, waking.to.partner(), notes);
        self.woken_by = Some((WakeupSort::Waking, waking.event()));
    }

    /// Returns whether a waking of a running thread is that of its next sleep, although the thread left long after it: every
    /// sleep has a waking, so it is, unless it may be the waking of the sleep before, by a CPU whose clock is late.
    fn is_of_next_sleep(&self, waking: &Change) -> bool {
        let [rest @ .., run, _] = self.made.rows.as_slice() else {
            return false;
        };
        // Nothing may be known of the time before the run.
        let was_asleep = rest.last().is_some_and(|before| before.state.is_asleep());
        waking.time - run.start > LONGEST_SKEW && !was_asleep
    }

    /// Returns whether a wakeup's event is the second of two (`sched_waking`, `sched_wakeup`) and the first is lost:
    /// who woke the thread, and when, is then unknown. (Only the second is recorded on the thread's own CPU.)
    fn was_asked_before(&self, change: &Change, sort: WakeupSort) -> bool {
        let now = self.made.rows.last();
        let is_new = now.is_some_and(|now| now.state == ThreadState::Created);
        sort == WakeupSort::Wakeup
            && !is_new
            && self.facts.has_wakings
            && (self.facts).are_lost(now.map_or(i64::MIN, |now| now.start), change.time)
    }

    /// Returns whether the wakeup may still have its second event: `sched_wakeup` follows `sched_waking`.
    fn waits_for_other_half(&self) -> bool {
        matches!(self.woken_by, Some((WakeupSort::Waking, _)))
    }

    /// Returns whether `change` is what `before` recorded already: two buffers of a CPU have it, or a text contains it twice.
    fn is_recorded_twice(&self, before: Option<EventId>, change: &Change) -> bool {
        let events = self.facts.events;
        before.zip(change.event()).is_some_and(|(before, event)| {
            let cpu = self.cpu_of(before);
            let is_other = events.lane_of(before) != events.lane_of(event)
                || change.time.saturating_sub(events.time(before).0) < SHORTEST_TURN;
            is_other && cpu.is_some() && cpu == self.cpu_of(event)
        })
    }

    /// Returns whether the ready thread waited for a CPU until `change`: the change makes it run, and it cannot have
    /// run before.
    fn is_wait(&self, change: &Change) -> bool {
        let Some(ready) = self.made.rows.last() else {
            return false;
        };
        if !runs_from_here(change) {
            return false;
        }
        if let Some(is_wait) = self.facts.stated_wait(ready.event_number) {
            return is_wait;
        }
        let losses = self.facts.missing.losses;
        if self.woken_before
            || self.was_sent_elsewhere(change.time)
            || self.was_perhaps_put_elsewhere(change.time)
        {
            return false;
        }
        let is_lossy = !losses.is_empty()
            && (self.cpus_around(ready, change))
                .any(|cpu| losses.are_on(cpu, ready.start, change.time));
        !is_lossy && !self.ran_in_a_break(ready, change)
    }

    /// Returns whether the file states that the ready thread ran before the recording shows it.
    fn is_stated_to_have_run(&self) -> bool {
        let ready = self.made.rows.last();
        ready.is_some_and(|it| self.facts.stated_wait(it.event_number) == Some(false))
    }

    fn cpu_of(&self, event: EventId) -> Option<CpuId> {
        self.facts.events.get(event).cpu.map(CpuId)
    }

    /// Returns whether the thread was sent, since the last state began, to a CPU whose events until `time` (ns) are
    /// missing: it may have run there.
    fn was_sent_elsewhere(&self, time: i64) -> bool {
        let missing = self.facts.missing;
        let since = self.start_of_state(time);
        (missing.whereabouts).may_have_run(missing.losses, self.thread, since, time)
    }

    /// Returns the start of the current state in ns; `time` if there is none.
    fn start_of_state(&self, time: i64) -> i64 {
        self.made.rows.last().map_or(time, |now| now.start)
    }

    /// Returns whether the thread may have been put on the run queue of a CPU whose events until `time` (ns) are missing:
    /// the event that says where is not in the recording. If the recording has no such events, a thread is mostly put
    /// where it ran before.
    fn was_perhaps_put_elsewhere(&self, time: i64) -> bool {
        let since = self.start_of_state(time);
        self.waits_for_other_half()
            && match self.facts.has_wakeups {
                true => self.facts.are_lost(since, time),
                false => self.may_have_run_since(time),
            }
    }

    /// Makes the last state unknown: only its begin is known.
    fn not_a_wait(&mut self) {
        if let Some(last) = self.made.rows.last_mut() {
            last.state = ThreadState::Unknown;
        }
        self.woken_by = None;
    }

    fn push(&mut self, change: Change, partner: Option<u32>, notes: StateNotes) {
        let rows = &mut self.made.rows;
        let has_no_effect = |last: &Row| {
            last.start == change.time
                && match last.state {
                    ThreadState::Unknown => !last.notes.is_woken(),
                    // A new thread is ready as soon as it is created.
                    ThreadState::Created => last.event_number == change.event_number,
                    _ => false,
                }
        };
        if rows.last().is_some_and(has_no_effect) {
            rows.pop();
        }
        rows.push(Row {
            start: change.time,
            event_number: change.event_number,
            partner,
            state: change.to.state(),
            notes,
        });
        self.woken_by = None;
        self.woken_before = false;
    }

    fn finish(mut self) -> OfThread {
        self.end_as_stated(i64::MAX);
        let last = self.made.rows.last();
        let is_unsure = last.is_some_and(|last| {
            let is_lossy = || self.facts.are_lost(last.start, i64::MAX);
            let stated = self.facts.stated_wait(last.event_number);
            let is_left_out = self.made.is_left_out;
            let is_guess = || !self.facts.has_switches || is_left_out || is_lossy();
            match last.state {
                ThreadState::Runnable => stated.map_or_else(is_guess, |is_wait| !is_wait),
                state => state.is_ready() && stated == Some(false),
            }
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
    /// Ends the states of a thread where its last state begins if that state is unknown; the last state is kept (empty)
    /// only if a wakeup began it.
    fn forget_unknown_end(&mut self) {
        let Some(last) = self.rows.last().copied() else {
            return;
        };
        if last.state == ThreadState::Unknown {
            self.end = Maybe::new(last.start);
            if !last.notes.is_woken() {
                self.rows.pop();
            }
        }
    }

    /// Makes the state after the thread's last wakeup unknown: what it did then was not recorded.
    pub(crate) fn forget_last_wait(&mut self, facts: &Facts<'_>) {
        let is_unsure =
            |it: &&mut Row| it.state.is_ready() && facts.stated_wait(it.event_number) != Some(true);
        if let Some(last) = self.rows.last_mut().filter(is_unsure) {
            last.state = ThreadState::Unknown;
        }
        self.forget_unknown_end();
    }
}
