//! Why a thread waited: explains a wait by hops, from the moment when the thread ran again back to the start of the wait:
//! who woke the thread, what the waker did and waited for before, who woke the waker, and so on.
//!
//! The walk goes back in time from the moment when the thread runs again. If a ready thread was woken inside an
//! interrupt, softirq or timer on the waker's CPU, the interrupt woke it, not the interrupted thread: the walk then
//! continues with the sleep of the same thread before the wakeup. Otherwise the walk continues with the waker. The hops
//! follow each other without holes, so their shares add up to one. Of a chain of very many hops, short ones that follow
//! each other become one.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::event::family::Family;
use crate::query::Item;
use crate::query::item::title;
use crate::query::waker::{InterruptWaker, Waker, waker_of};
use crate::trace::{CpuId, SliceId, State, StateId, ThreadId, ThreadState, Trace};

/// The most hops of a chain: in a longer chain, short hops that follow each other become one.
pub const MAX_HOPS: usize = 256;
/// The most hops that are kept while a chain is followed.
const MOST_KEPT: usize = 1 << 16;
/// The most steps back.
const MOST_STEPS: usize = 20_000_000;

/// Why a thread waited.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The thread that waited.
    pub thread: ThreadId,
    /// From the beginning of the wait until the thread ran again.
    pub wait: TimeSpan,
    /// The hops of the chain, in time order, without holes.
    pub hops: Vec<Hop>,
    /// How the walk back ended.
    pub end: ChainEnd,
}

/// How the walk back ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainEnd {
    /// The walk reached the start of the wait.
    Whole,
    /// The walk was stopped after very many steps.
    TooLong,
    /// The walk met threads that seem to have woken each other at the same time.
    Cycle,
    /// The trace does not contain the earlier activity of the last thread.
    Unknown,
}

/// One hop of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The activity during the hop.
    pub kind: HopKind,
    /// The thread of the hop (for interrupts: the interrupted thread, if it is known).
    pub thread: Option<ThreadId>,
    /// The CPU on which the thread ran, or the interrupt happened.
    pub cpu: Option<CpuId>,
    /// The time range.
    pub span: TimeSpan,
    /// The hop's share of the whole wait, 0 to 1.
    pub share: f64,
    /// The state, or the slice of an interrupt.
    pub item: Item,
    /// If the thread waited for its CPU: the thread that occupied the CPU for the longest time.
    pub rival: Option<ThreadId>,
    /// The number of short hops that were merged into this one; then `thread` is the thread with most of the time.
    pub count: u32,
    /// Whether events were lost during the hop, so that the thread may have done something else in between.
    pub spans_loss: bool,
}

/// The activity during a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HopKind {
    /// The thread ran.
    Running,
    /// The thread was woken and waited for a CPU.
    RunnableDelay,
    /// The thread was pushed off its CPU.
    Preempted,
    /// The thread slept, and nothing in the trace could have woken it earlier.
    Sleep,
    /// An interrupt handler.
    Irq,
    /// A softirq.
    Softirq,
    /// A timer's function.
    Timer,
    /// The thread was made, and had not run yet.
    Created,
    /// Several short hops.
    Several,
    /// The trace does not contain what happened.
    Unknown,
}

impl HopKind {
    /// Returns the words for the kind.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            HopKind::Running => "running",
            HopKind::RunnableDelay => "waits for a CPU",
            HopKind::Preempted => "preempted",
            HopKind::Sleep => "sleeps",
            HopKind::Irq => "interrupt",
            HopKind::Softirq => "softirq",
            HopKind::Timer => "timer",
            HopKind::Created => "created",
            HopKind::Several => "several short hops",
            HopKind::Unknown => "unknown",
        }
    }

    /// Returns whether it happens on a CPU, whichever thread runs there.
    #[must_use]
    pub(crate) fn is_interrupt(self) -> bool {
        matches!(self, HopKind::Irq | HopKind::Softirq | HopKind::Timer)
    }
}

impl Hop {
    /// Returns the thread's name, or the interrupt's.
    #[must_use]
    pub fn who(&self, trace: &Trace) -> String {
        match self.item {
            Item::Slice(_) => title(trace, self.item),
            _ => trace.thread_name(self.thread).into_owned(),
        }
    }

    /// Returns the activity, in words.
    #[must_use]
    pub fn what(&self, trace: &Trace) -> String {
        let state = match self.item {
            Item::State(id) => trace.states.states.get(id.0 as usize).copied(),
            _ => None,
        };
        let mut words = match (self.kind, state) {
            (HopKind::Several, _) => format!("{} short hops", self.count),
            (HopKind::Sleep, Some(state)) if state != ThreadState::Sleeping => {
                state.word().to_owned()
            }
            (kind, _) => kind.word().to_owned(),
        };
        if self.spans_loss {
            words.push_str(" (events were lost meanwhile)");
        }
        words
    }
}

impl Chain {
    /// Returns the waker of the thread of the hop with that number, if it was woken: an interrupt itself, not the
    /// thread that it interrupted.
    #[must_use]
    pub fn waker_of(&self, trace: &Trace, hop: usize) -> Option<String> {
        let hop = self.hops.get(hop)?;
        let Item::State(state) = hop.item else {
            return None;
        };
        if hop.kind == HopKind::Several {
            return None;
        }
        Some(waker_of(trace, &trace.states.get(state))?.text(trace))
    }

    /// Returns the way through the timeline: at each point, an item of the row of the thread (or of the CPU, for
    /// interrupts).
    #[must_use]
    pub fn path(&self) -> Vec<(Item, Timestamp)> {
        let mut path = Vec::with_capacity(self.hops.len() * 2);
        for hop in &self.hops {
            let place = match (hop.cpu, hop.thread) {
                (Some(cpu), _) if hop.kind.is_interrupt() => Item::Cpu(cpu),
                (_, Some(thread)) => Item::Thread(thread),
                (_, None) => continue,
            };
            path.push((place, hop.span.start));
            path.push((place, hop.span.end));
        }
        path.dedup();
        path
    }
}

/// Returns why `thread` waited at `time`; if it ran then, why it had waited before. `None` if the thread has no wait at
/// or before that time.
#[must_use]
pub fn chain_at(trace: &Trace, thread: ThreadId, time: Timestamp) -> Option<Chain> {
    let rows = trace.states.of(thread);
    let starts = trace
        .states
        .starts
        .get(rows.start as usize..rows.end as usize)?;
    let after = starts.partition_point(|&start| start <= time.0) as u32;
    let waits = (rows.start..rows.start + after).rev();
    let mut waits = waits.filter(|row| is_wait(trace.states.states[*row as usize]));
    chain(trace, StateId(waits.next()?))
}

/// Returns why the thread of `state` waited; `None` if the state is not a wait.
#[must_use]
pub fn chain(trace: &Trace, state: StateId) -> Option<Chain> {
    if state.0 as usize >= trace.states.len() || !is_wait(trace.states.states[state.0 as usize]) {
        return None;
    }
    let thread = trace.states.get(state).thread;
    let rows = trace.states.of(thread);
    // The wait goes from the last run before it to the next one.
    let is_part = |row: &u32| is_wait(trace.states.states[*row as usize]);
    let first = (rows.start..=state.0).rev().take_while(is_part).last()?;
    let last = (state.0..rows.end).take_while(is_part).last()?;
    let wait = TimeSpan::new(
        Timestamp(trace.states.starts[first as usize]),
        end_of(trace, last),
    );
    let mut walk = Walk {
        trace,
        wait,
        hops: Vec::new(),
        met: FxHashSet::default(),
        met_at: wait.end,
    };
    let end = walk.back(last);
    let mut hops = walk.hops;
    merge_short(&mut hops, MAX_HOPS);
    hops.reverse();
    let length = wait.duration().0.max(1) as f64;
    for hop in &mut hops {
        hop.share = hop.span.duration().0 as f64 / length;
        add_rival(trace, hop);
    }
    Some(Chain {
        thread,
        wait,
        hops,
        end,
    })
}

/// Returns the state in which a thread waited longest within `span`.
#[must_use]
pub fn longest_wait(trace: &Trace, thread: ThreadId, span: TimeSpan) -> Option<StateId> {
    let states = &trace.states;
    let rows = states.overlapping(states.of(thread), span);
    let waits = rows.filter(|row| is_wait(states.states[*row as usize]));
    let inside = |row: &u32| {
        let start = Timestamp(states.starts[*row as usize]);
        let of_row = TimeSpan::new(start, end_of(trace, *row));
        of_row.intersection(span).duration()
    };
    // Of equally long waits, the first one is used.
    let longest = waits.rev().max_by_key(inside)?;
    (inside(&longest) > Nanos(0)).then_some(StateId(longest))
}

/// Returns whether a thread waits. An unknown state is not a wait, because the thread may have run.
fn is_wait(state: ThreadState) -> bool {
    !matches!(
        state,
        ThreadState::Running | ThreadState::Dead | ThreadState::Zombie | ThreadState::Unknown
    )
}

fn end_of(trace: &Trace, row: u32) -> Timestamp {
    Timestamp(trace.states.ends[row as usize].at_most(trace.span.end.0))
}

/// The item at which the walk back continues.
enum Step {
    /// At the row before this one, of the same thread.
    Before(u32),
    /// At the state of another thread at this time.
    Thread(ThreadId, Timestamp),
}

struct Walk<'a> {
    trace: &'a Trace,
    wait: TimeSpan,
    /// The latest first.
    hops: Vec<Hop>,
    /// The rows that were visited at the time `met_at`.
    met: FxHashSet<u32>,
    met_at: Timestamp,
}

impl Walk<'_> {
    /// Goes back from the row `last` to where the wait begins.
    fn back(&mut self, last: u32) -> ChainEnd {
        let (mut row, mut time) = (last, self.wait.end);
        let mut steps = 0;
        loop {
            if time < self.met_at {
                self.met.clear();
                self.met_at = time;
            }
            let state = self.trace.states.get(StateId(row));
            steps += 1;
            if !self.met.insert(row) {
                self.rest(state.thread, time);
                return ChainEnd::Cycle;
            }
            if steps > MOST_STEPS {
                self.rest(state.thread, time);
                return ChainEnd::TooLong;
            }
            if state.state == ThreadState::Unknown {
                self.rest(state.thread, time);
                return ChainEnd::Unknown;
            }
            if self.hops.len() >= MOST_KEPT {
                merge_short(&mut self.hops, MOST_KEPT / 2);
            }
            let step = self.step(&state, time);
            time = time.min(self.hops.last().map_or(time, |hop| hop.span.start));
            if time <= self.wait.start {
                return ChainEnd::Whole;
            }
            let (thread, next) = match step {
                Step::Before(row) => (state.thread, self.row_before(state.thread, row)),
                Step::Thread(thread, time) => (thread, self.row_at(thread, time)),
            };
            let Some(next) = next else {
                self.rest(thread, time);
                return ChainEnd::Unknown;
            };
            row = next;
        }
    }

    /// Adds one state of the way back from `time`; returns where the walk continues.
    fn step(&mut self, state: &State, time: Timestamp) -> Step {
        let thread = state.thread;
        match state.state {
            ThreadState::Running => self.push(HopKind::Running, state, time),
            ThreadState::Preempted => self.push(HopKind::Preempted, state, time),
            ThreadState::Created => {
                self.push(HopKind::Created, state, time);
                // The walk continues with the thread that created it.
                let maker = (state.event).and_then(|event| self.trace.events.thread(event));
                if let Some(maker) = maker.filter(|it| *it != thread) {
                    return Step::Thread(maker, state.start);
                }
            }
            ThreadState::Runnable => {
                self.push(HopKind::RunnableDelay, state, time);
                if state.start > self.wait.start {
                    return self.woken(state);
                }
            }
            _ => self.push(HopKind::Sleep, state, time),
        }
        Step::Before(state.id.0)
    }

    /// Continues from the moment when a thread became ready, with the waker.
    fn woken(&mut self, ready: &State) -> Step {
        match waker_of(self.trace, ready) {
            Some(Waker::Thread(waker)) if waker != ready.thread && waker != ThreadId::IDLE => {
                Step::Thread(waker, ready.start)
            }
            Some(Waker::Interrupt(interrupt)) => {
                self.push_interrupts(&interrupt, ready.start);
                // The interrupt came from outside: before it, the thread slept.
                Step::Before(ready.id.0)
            }
            // The thread only yielded its CPU, or its waker is not known.
            _ => Step::Before(ready.id.0),
        }
    }

    fn push_interrupts(&mut self, interrupt: &InterruptWaker, wake: Timestamp) {
        let mut time = wake;
        for &slice in &interrupt.slices {
            if time <= self.wait.start {
                break;
            }
            let span = Item::Slice(slice).span(self.trace).unwrap_or_default();
            let start = span.start.max(self.wait.start).min(time);
            self.hops.push(Hop {
                kind: kind_of(self.trace, slice),
                thread: interrupt.interrupted,
                cpu: interrupt.cpu,
                span: TimeSpan::new(start, time),
                share: 0.0,
                item: Item::Slice(slice),
                rival: None,
                count: 1,
                spans_loss: false,
            });
            time = start;
        }
    }

    fn push(&mut self, kind: HopKind, state: &State, until: Timestamp) {
        let start = state.start.max(self.wait.start).min(until);
        // A hop without duration is only listed if another thread ended it.
        if start == until && !(kind == HopKind::RunnableDelay && state.notes.is_woken()) {
            return;
        }
        self.hops.push(Hop {
            kind,
            thread: Some(state.thread),
            cpu: state.cpu.map(CpuId),
            span: TimeSpan::new(start, until),
            share: 0.0,
            item: Item::State(state.id),
            rival: None,
            count: 1,
            spans_loss: state.notes.spans_loss(),
        });
    }

    /// Adds the rest of the wait, about which nothing is known.
    fn rest(&mut self, thread: ThreadId, until: Timestamp) {
        self.hops.push(Hop {
            kind: HopKind::Unknown,
            thread: Some(thread),
            cpu: None,
            span: TimeSpan::new(self.wait.start, until),
            share: 0.0,
            item: Item::Thread(thread),
            rival: None,
            count: 1,
            spans_loss: false,
        });
    }

    fn row_before(&self, thread: ThreadId, row: u32) -> Option<u32> {
        let rows = self.trace.states.of(thread);
        row.checked_sub(1).filter(|before| rows.contains(before))
    }

    /// Returns the state of a thread when it woke another one at `time`: a run that includes `time`, else the state
    /// before.
    fn row_at(&self, thread: ThreadId, time: Timestamp) -> Option<u32> {
        let states = &self.trace.states;
        let rows = states.of(thread);
        let starts = states.starts.get(rows.start as usize..rows.end as usize)?;
        let before = rows.start + starts.partition_point(|&start| start < time.0) as u32;
        let then = rows.start + starts.partition_point(|&start| start <= time.0) as u32;
        let is_running = |row: &u32| states.states[*row as usize] == ThreadState::Running;
        let running = (before..then).rev().take(64).find(is_running);
        let last = before.checked_sub(1).filter(|row| rows.contains(row));
        let last = last.filter(|row| end_of(self.trace, *row) >= time);
        match last {
            Some(last) if is_running(&last) && end_of(self.trace, last) > time => Some(last),
            last => running.or(last),
        }
    }
}

/// Finds the thread that occupied the CPU on which a waiting thread ran next for the longest time.
fn add_rival(trace: &Trace, hop: &mut Hop) {
    let waits = matches!(hop.kind, HopKind::RunnableDelay | HopKind::Preempted);
    let Item::State(state) = hop.item else { return };
    let Some(thread) = hop.thread.filter(|_| waits) else {
        return;
    };
    let states = &trace.states;
    let rows = states.of(thread);
    let next = state.0 + 1;
    let is_running = |row: &u32| states.states[*row as usize] == ThreadState::Running;
    let next = Some(next)
        .filter(|row| rows.contains(row))
        .filter(is_running);
    hop.cpu = next.and_then(|row| states.get(StateId(row)).cpu.map(CpuId));
    let span = hop.span;
    let Some(cpu) = hop.cpu else { return };
    let runs = &trace.runs;
    let rows = runs.overlapping(runs.on(cpu), span);
    let inside = |row: u32| {
        let run = TimeSpan::new(
            Timestamp(runs.starts[row as usize]),
            Timestamp(runs.ends[row as usize].or_greatest()),
        );
        run.intersection(span).duration()
    };
    let mut times: FxHashMap<u32, Nanos> = FxHashMap::default();
    for row in rows.filter(|&row| runs.threads[row as usize] != thread.0) {
        let time = times.entry(runs.threads[row as usize]).or_default();
        *time = Nanos(time.0.saturating_add(inside(row).0));
    }
    let longest = times.into_iter();
    let longest = longest.max_by_key(|&(thread, time)| (time, std::cmp::Reverse(thread)));
    hop.rival = longest.map(|(thread, _)| ThreadId(thread));
}

/// Merges short hops that follow each other, so that at most `limit` hops are left. The longest hops are not merged.
fn merge_short(hops: &mut Vec<Hop>, limit: usize) {
    if hops.len() <= limit {
        return;
    }
    // Between two kept hops there is at most one merged hop.
    let kept_count = limit / 2 - 2;
    let mut order: Vec<u32> = (0..hops.len() as u32).collect();
    let length = |at: &u32| std::cmp::Reverse(hops[*at as usize].span.duration());
    order.select_nth_unstable_by_key(kept_count, |at| (length(at), *at));
    let mut is_kept = vec![false; hops.len()];
    for &at in order.iter().take(kept_count) {
        is_kept[at as usize] = true;
    }
    // The hop of the waiting thread.
    is_kept[0] = true;
    let all = std::mem::take(hops);
    let mut rest = all.as_slice();
    for stretch in is_kept.chunk_by(|a, b| !a && !b) {
        let (several, after) = rest.split_at(stretch.len());
        rest = after;
        match several {
            [one] => hops.push(*one),
            several => hops.push(merged(several)),
        }
    }
}

/// Returns several hops, the latest first, merged into one.
fn merged(several: &[Hop]) -> Hop {
    let all = || several.iter();
    let span = all().fold(several[0].span, |span, hop| span.union(hop.span));
    let mut of_threads: FxHashMap<Option<ThreadId>, i64> = FxHashMap::default();
    for hop in all() {
        *of_threads.entry(hop.thread).or_default() += hop.span.duration().0;
    }
    let most = of_threads
        .into_iter()
        .max_by_key(|(thread, sum)| (*sum, std::cmp::Reverse(*thread)));
    let thread = most.map_or(several[0].thread, |(thread, _)| thread);
    let of_thread = all().filter(|hop| hop.thread == thread);
    let longest = of_thread.max_by_key(|hop| hop.span.duration());
    Hop {
        kind: HopKind::Several,
        thread,
        cpu: None,
        span,
        share: 0.0,
        item: longest.map_or(several[0].item, |hop| hop.item),
        rival: None,
        count: all().fold(0, |sum, hop| sum.saturating_add(hop.count)),
        spans_loss: all().any(|hop| hop.spans_loss),
    }
}

fn kind_of(trace: &Trace, slice: SliceId) -> HopKind {
    match trace.slices.label(slice).family {
        Family::Softirqs => HopKind::Softirq,
        Family::Timers => HopKind::Timer,
        _ => HopKind::Irq,
    }
}
