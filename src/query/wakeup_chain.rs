//! Why a thread waited: the wait in, what went on until it ran again out, hop by hop: who woke it, what that one
//! did and waited for before, who woke the waker, and so on back to where the wait began.
//!
//! The walk goes back in time from the moment the thread runs again. A ready thread was woken by somebody: if
//! that happened inside an interrupt, softirq or timer on the waker's CPU, it was not the thread which was
//! interrupted that woke it but the interrupt; what came before it is then the sleep itself. Otherwise the walk
//! goes on with the waker. The hops lie one behind the other without holes, so their shares add up to one.

use rustc_hash::FxHashSet;

use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::event::{Value, pairs};
use crate::formats::Reader;
use crate::formats::latency_flags::{HARDIRQ, NMI, SOFTIRQ};
use crate::query::Item;
use crate::query::item::{event_ref, title};
use crate::trace::{
    CpuId, EventId, SliceId, State, StateId, ThreadId, ThreadState, Trace, TrackId, TrackKind,
};

/// Most hops of a chain.
pub const MAX_HOPS: usize = 256;
/// A softirq that begins this soon after an interrupt's end was raised by it.
const SOFTIRQ_FOLLOWS: Nanos = Nanos(50_000);

/// In `common_flags`: a hardware interrupt, or a softirq.
const INTERRUPT_FLAGS: u64 = HARDIRQ | SOFTIRQ | NMI;

/// Why a thread waited.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Who waited.
    pub thread: ThreadId,
    /// From the beginning of the wait until the thread ran again.
    pub wait: TimeSpan,
    /// What went on, in time order, without holes.
    pub hops: Vec<Hop>,
    /// How the walk back ended.
    pub end: ChainEnd,
}

/// How the walk back ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainEnd {
    /// Where the wait began.
    Whole,
    /// After [`MAX_HOPS`].
    TooLong,
    /// Threads that seem to have woken each other at the same time.
    Cycle,
    /// The trace does not say what the last thread did before.
    Unknown,
}

/// One stretch of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// What went on.
    pub kind: HopKind,
    /// Whose time it was (of interrupts: the thread that was interrupted).
    pub thread: ThreadId,
    /// Where it ran, or the interrupt happened.
    pub cpu: Option<CpuId>,
    /// When.
    pub span: TimeSpan,
    /// Its share of the whole wait, 0 to 1.
    pub share: f64,
    /// The state, or the slice of an interrupt.
    pub item: Item,
    /// Of a thread that waited for its CPU: who had it for the longest time.
    pub rival: Option<ThreadId>,
    /// Of a thread that was woken: by whom. [`ThreadId::IDLE`]: in an interrupt of an idle CPU.
    pub waker: Option<ThreadId>,
}

/// What went on.
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
    /// The trace does not say.
    Unknown,
}

impl HopKind {
    /// The words for it.
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
            HopKind::Unknown => "unknown",
        }
    }

    /// Whether it happened on a CPU whoever ran there.
    #[must_use]
    pub fn is_interrupt(self) -> bool {
        matches!(self, HopKind::Irq | HopKind::Softirq | HopKind::Timer)
    }
}

impl Hop {
    /// Who: the thread's name, or what the interrupt is called.
    #[must_use]
    pub fn who(&self, trace: &Trace) -> String {
        match self.item {
            Item::Slice(_) => title(trace, self.item),
            _ => trace.thread_name(self.thread),
        }
    }
}

impl Chain {
    /// Who ended the hop of that number: where an interrupt did, that one and not the thread that it interrupted.
    #[must_use]
    pub fn waker_of(&self, trace: &Trace, hop: usize) -> Option<String> {
        let waker = self.hops.get(hop)?.waker?;
        let before = hop.checked_sub(1).and_then(|at| self.hops.get(at));
        Some(match before.filter(|before| before.kind.is_interrupt()) {
            Some(interrupt) => interrupt.who(trace),
            None if waker == ThreadId::IDLE => "an interrupt".to_owned(),
            None => trace.thread_title(waker),
        })
    }

    /// The way through the timeline: at each point, whose row (a CPU's for interrupts).
    #[must_use]
    pub fn path(&self) -> Vec<(Item, Timestamp)> {
        let mut path = Vec::with_capacity(self.hops.len() * 2);
        for hop in &self.hops {
            let place = match hop.cpu {
                Some(cpu) if hop.kind.is_interrupt() => Item::Cpu(cpu),
                _ => Item::Thread(hop.thread),
            };
            path.push((place, hop.span.start));
            path.push((place, hop.span.end));
        }
        path.dedup();
        path
    }
}

/// Why `thread` waited at `time`; if it ran then, why it had waited before. `None` if the trace has no wait of
/// it at or before that time.
#[must_use]
pub fn chain_at(
    trace: &Trace,
    reader: &dyn Reader,
    thread: ThreadId,
    time: Timestamp,
) -> Option<Chain> {
    let rows = trace.states.of(thread);
    let starts = trace
        .states
        .starts
        .get(rows.start as usize..rows.end as usize)?;
    let after = starts.partition_point(|&start| start <= time.0) as u32;
    let waits = (rows.start..rows.start + after).rev();
    let mut waits = waits.filter(|row| is_wait(trace.states.states[*row as usize]));
    chain(trace, reader, StateId(waits.next()?))
}

/// Why the thread of `state` waited. `None` if that is no wait.
#[must_use]
pub fn chain(trace: &Trace, reader: &dyn Reader, state: StateId) -> Option<Chain> {
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
        reader,
        wait,
        hops: Vec::new(),
        met: FxHashSet::default(),
    };
    let end = walk.back(thread);
    let mut hops = walk.hops;
    hops.reverse();
    let length = wait.duration().0.max(1) as f64;
    for hop in &mut hops {
        hop.share = hop.span.duration().0 as f64 / length;
    }
    Some(Chain {
        thread,
        wait,
        hops,
        end,
    })
}

/// The state in which a thread waited longest of what lies in `span`.
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
    // Of equals the first.
    let longest = waits.rev().max_by_key(inside)?;
    (inside(&longest) > Nanos(0)).then_some(StateId(longest))
}

fn is_wait(state: ThreadState) -> bool {
    !matches!(
        state,
        ThreadState::Running | ThreadState::Dead | ThreadState::Zombie
    )
}

fn end_of(trace: &Trace, row: u32) -> Timestamp {
    Timestamp(trace.states.ends[row as usize].min(trace.span.end.0))
}

struct Walk<'a> {
    trace: &'a Trace,
    reader: &'a dyn Reader,
    wait: TimeSpan,
    /// The latest first.
    hops: Vec<Hop>,
    met: FxHashSet<(ThreadId, Timestamp)>,
}

impl Walk<'_> {
    fn back(&mut self, first: ThreadId) -> ChainEnd {
        let (mut thread, mut time) = (first, self.wait.end);
        while time > self.wait.start {
            if self.hops.len() >= MAX_HOPS {
                self.rest(HopKind::Unknown, thread, time);
                return ChainEnd::TooLong;
            }
            if !self.met.insert((thread, time)) {
                self.rest(HopKind::Unknown, thread, time);
                return ChainEnd::Cycle;
            }
            let Some(state) = self.state_before(thread, time) else {
                self.rest(HopKind::Unknown, thread, time);
                return ChainEnd::Unknown;
            };
            (thread, time) = self.step(&state, time);
        }
        ChainEnd::Whole
    }

    /// One state of the way back from `time`; where the walk goes on.
    fn step(&mut self, state: &State, time: Timestamp) -> (ThreadId, Timestamp) {
        let thread = state.thread;
        match state.state {
            ThreadState::Running => self.push(HopKind::Running, state, time),
            ThreadState::Preempted => self.push(HopKind::Preempted, state, time),
            ThreadState::Created => {
                self.push(HopKind::Created, state, time);
                // Whoever made it goes on from there.
                let maker = state.event.map(|event| self.trace.events.thread(event));
                if let Some(maker) = maker.filter(|it| *it != thread && *it != ThreadId::NONE) {
                    return (maker, state.start);
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
        (thread, state.start)
    }

    /// Goes on from the moment a thread became ready: with what woke it.
    fn woken(&mut self, ready: &State) -> (ThreadId, Timestamp) {
        let (trace, thread, wake) = (self.trace, ready.thread, ready.start);
        let before = self.state_before(thread, wake);
        if before.is_some_and(|before| before.state == ThreadState::Running) {
            // It only gave up its CPU.
            return (thread, wake);
        }
        let event = ready
            .event
            .filter(|id| (id.0 as usize) < trace.events.len());
        let cpu = event.and_then(|id| trace.events.get(id).cpu).map(CpuId);
        let interrupted = event.map_or(ThreadId::NONE, |id| trace.events.thread(id));
        let mut time = wake;
        for slice in interrupts(trace, cpu, wake) {
            if time <= self.wait.start {
                break;
            }
            let span = Item::Slice(slice).span(trace).unwrap_or_default();
            let start = span.start.max(self.wait.start).min(time);
            self.hops.push(Hop {
                kind: kind_of(trace, slice),
                thread: interrupted,
                cpu,
                span: TimeSpan::new(start, time),
                share: 0.0,
                item: Item::Slice(slice),
                rival: None,
                waker: None,
            });
            time = start;
        }
        if time < wake {
            // The interrupt came from outside: until then it slept.
            return self.slept(thread, time);
        }
        let is_interrupt = event.is_some_and(|id| self.is_in_interrupt(id));
        match ready.waker {
            Some(waker) if waker != thread && waker != ThreadId::IDLE && !is_interrupt => {
                (waker, wake)
            }
            // An interrupt that was not traced, or nobody known.
            _ => self.slept(thread, wake),
        }
    }

    /// Whether an event happened in an interrupt or softirq, as its flags say.
    fn is_in_interrupt(&self, id: EventId) -> bool {
        match self.reader.value(event_ref(self.trace, id), "common_flags") {
            Some(Value::UInt(flags)) => flags & INTERRUPT_FLAGS != 0,
            _ => false,
        }
    }

    /// The sleep of `thread` that something outside of the trace ended at `time`.
    fn slept(&mut self, thread: ThreadId, time: Timestamp) -> (ThreadId, Timestamp) {
        match self.state_before(thread, time) {
            Some(state) => {
                self.push(HopKind::Sleep, &state, time);
                (thread, state.start.min(time))
            }
            None => (thread, time),
        }
    }

    fn push(&mut self, kind: HopKind, state: &State, until: Timestamp) {
        let span = TimeSpan::new(state.start.max(self.wait.start), until);
        let waits = matches!(kind, HopKind::RunnableDelay | HopKind::Preempted);
        let cpu = match kind {
            HopKind::Running => state.cpu.map(CpuId),
            _ if waits => self.next_cpu(state),
            _ => None,
        };
        let rival = cpu
            .filter(|_| waits)
            .and_then(|cpu| self.rival(cpu, span, state.thread));
        self.hops.push(Hop {
            kind,
            thread: state.thread,
            cpu,
            span,
            share: 0.0,
            item: Item::State(state.id),
            rival,
            waker: state.waker,
        });
    }

    /// What is left of the wait, of which nothing is known.
    fn rest(&mut self, kind: HopKind, thread: ThreadId, until: Timestamp) {
        self.hops.push(Hop {
            kind,
            thread,
            cpu: None,
            span: TimeSpan::new(self.wait.start, until),
            share: 0.0,
            item: Item::Thread(thread),
            rival: None,
            waker: None,
        });
    }

    /// What a thread did just before `time`.
    fn state_before(&self, thread: ThreadId, time: Timestamp) -> Option<State> {
        let states = &self.trace.states;
        let rows = states.of(thread);
        let starts = states.starts.get(rows.start as usize..rows.end as usize)?;
        let after = starts.partition_point(|&start| start < time.0) as u32;
        let row = rows.start + after.checked_sub(1)?;
        (end_of(self.trace, row) >= time).then(|| states.get(StateId(row)))
    }

    /// The CPU on which a waiting thread ran next.
    fn next_cpu(&self, state: &State) -> Option<CpuId> {
        let states = &self.trace.states;
        let rows = states.of(state.thread);
        let mut later = state.id.0 + 1..rows.end;
        later.find_map(|row| states.get(StateId(row)).cpu.map(CpuId))
    }

    /// Who had `cpu` for most of `span`.
    fn rival(&self, cpu: CpuId, span: TimeSpan, thread: ThreadId) -> Option<ThreadId> {
        let runs = &self.trace.runs;
        let rows = runs.overlapping(runs.on(cpu), span);
        let inside = |row: u32| {
            let run = TimeSpan::new(
                Timestamp(runs.starts[row as usize]),
                Timestamp(runs.ends[row as usize]),
            );
            run.intersection(span).duration()
        };
        // The longest single run stands for its thread: many short ones are nobody's fault alone.
        let longest = rows
            .take(4096)
            .filter(|&row| runs.threads[row as usize] != thread.0)
            .max_by_key(|&row| inside(row))?;
        Some(ThreadId(runs.threads[longest as usize]))
    }
}

fn kind_of(trace: &Trace, slice: SliceId) -> HopKind {
    match trace.slices.label(slice).family {
        pairs::SOFTIRQS => HopKind::Softirq,
        pairs::TIMERS => HopKind::Timer,
        _ => HopKind::Irq,
    }
}

/// The interrupts on a CPU inside of which something happened at `time`, the innermost first; before a softirq
/// that follows right on an interrupt, that interrupt.
fn interrupts(trace: &Trace, cpu: Option<CpuId>, time: Timestamp) -> Vec<SliceId> {
    let Some(track) = cpu.and_then(|cpu| trace.track_of(TrackKind::Cpu(cpu))) else {
        return Vec::new();
    };
    let mut found: Vec<SliceId> = around(trace, track, time);
    if let Some(&outermost) = found.last()
        && kind_of(trace, outermost) == HopKind::Softirq
    {
        let start = Timestamp(trace.slices.starts.at(outermost.0 as usize));
        found.extend(last_before(trace, track, start).filter(|slice| {
            let gap = start - Timestamp(trace.slices.end(slice.0 as usize));
            gap <= SOFTIRQ_FOLLOWS && kind_of(trace, *slice) == HopKind::Irq
        }));
    }
    found
}

fn rows_of(trace: &Trace, track: TrackId) -> &[crate::trace::slices::SliceRow] {
    let rows = trace
        .tracks
        .get(track.0 as usize)
        .map(|track| track.rows.clone());
    let rows = rows.unwrap_or(0..0);
    trace
        .slices
        .rows
        .get(rows.start as usize..rows.end as usize)
        .unwrap_or(&[])
}

/// The slices of a track around `time` (those that end just then, too), the innermost first.
fn around(trace: &Trace, track: TrackId, time: Timestamp) -> Vec<SliceId> {
    let slices = &trace.slices;
    let rows = rows_of(trace, track).iter().rev();
    rows.filter_map(|row| {
        let range = row.slices.start as usize..row.slices.end as usize;
        let after = slices
            .starts
            .partition_point(range, |start| start <= time.0);
        let at = row.slices.start + after.checked_sub(1)? as u32;
        (slices.end(at as usize) >= time.0 && slices.starts.at(at as usize) < time.0)
            .then_some(SliceId(at))
    })
    .collect()
}

/// The topmost slice of a track that ended last before `time`.
fn last_before(trace: &Trace, track: TrackId, time: Timestamp) -> Option<SliceId> {
    let slices = &trace.slices;
    let row = rows_of(trace, track).first()?;
    let after = slices.first_that(row, |at| slices.end(at) > time.0);
    let last = after.checked_sub(1).filter(|&at| at >= row.slices.start)?;
    Some(SliceId(last))
}
