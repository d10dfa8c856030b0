//! States that a switch began for a thread without a known run.
//!
//! The first switch of a CPU takes off a thread whose start was not recorded, and where switches were lost a switch
//! may take off another thread than the one that ran, or one that ran elsewhere. The table of runs does not contain
//! these switches, but the states of the threads do.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::base::{Maybe, TimeSpan, Timestamp};
use crate::event::Role;
use crate::trace::{CpuId, EventId, StateId, ThreadId, ThreadState, Trace};

/// A state without a run before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LoneState {
    /// The event of the switch that began it.
    pub event: u32,
    /// The row of the state.
    pub state: u32,
}

/// The states without a run, by the event of the switch that began them.
#[derive(Debug, Default)]
pub(crate) struct LoneStates {
    /// Sorted by event, one for each event.
    rows: Vec<LoneState>,
    /// The set of the events in `rows`.
    events: Bits,
    /// By word of `events`: how many of its bits come before that word.
    before: Vec<u32>,
}

impl LoneStates {
    /// Finds the states without a run that touch `span`.
    #[must_use]
    pub(super) fn new(trace: &Trace, span: TimeSpan) -> LoneStates {
        let states = &trace.states;
        let kinds = trace.kinds.iter();
        let roles: Vec<Role> = kinds.map(|kind| kind.role).collect();
        // Only files without switches state their states whole.
        let are_stated = !roles.contains(&Role::Switch);
        let of_thread = |(thread, range): (usize, &std::ops::Range<u32>)| {
            let events = trace.events.cursor();
            let mut found = Vec::new();
            // A switch that ended a run is written with the run. If a run's own state was so short that it is not
            // kept, another one begins where the run ends.
            let is_own = |run: usize, row: usize| {
                let (of_run, state) = (trace.runs.end_states[run], states.states[row]);
                of_run == state || [of_run, state].contains(&ThreadState::Unknown)
            };
            let near = states.overlapping(range.clone(), span);
            if near.is_empty() {
                return found;
            }
            // The first of these states may begin where a run before it ended.
            let since = Timestamp(states.starts[near.start as usize]).min(span.start);
            let runs = runs_near(trace, thread, TimeSpan::new(since, span.end));
            let behind = runs.into_iter().filter_map(|run| {
                let row = states.behind_run(&trace.runs, run as usize)?.0;
                is_own(run as usize, row as usize).then_some(row)
            });
            let mut behind: Vec<u32> = behind.collect();
            behind.sort_unstable();
            for index in near {
                let row = index as usize;
                let is_left = states.states[row] != ThreadState::Running
                    && states.partners[row].is_none()
                    && !states.notes[row].is_woken();
                let is_lone = is_left && behind.binary_search(&index).is_err();
                let Some(event) = states.events[row].get().filter(|_| is_lone) else {
                    continue;
                };
                let begun_by = match roles.get(events.kind(EventId(event)).index()) {
                    Some(Role::Switch) => event,
                    // A state that its file states whole has an event of its own.
                    Some(Role::Consumed) if are_stated => {
                        run_at(trace, EventId(event)).unwrap_or(event)
                    }
                    _ => continue,
                };
                found.push(LoneState {
                    event: begun_by,
                    state: index,
                });
            }
            found
        };
        let found = states.of_thread.par_iter().enumerate().map(of_thread);
        let mut rows: Vec<LoneState> = found.flatten_iter().collect();
        rows.par_sort_unstable();
        // If one switch began several states the last one counts.
        rows.reverse();
        rows.dedup_by_key(|row| row.event);
        rows.reverse();
        let mut events = Bits::new(trace.events.len());
        for row in &rows {
            events.set(row.event);
        }
        let mut count = 0;
        let before = events.0.iter().map(|word| {
            count += word.count_ones();
            count - word.count_ones()
        });
        LoneStates {
            before: before.collect(),
            rows,
            events,
        }
    }

    /// Returns the state that a switch began.
    #[must_use]
    pub(crate) fn of_event(&self, event: Maybe<u32>) -> Option<StateId> {
        let event = event.get()?;
        let number = event as usize / 64;
        let word = *self.events.0.get(number)?;
        let bit = 1_u64 << (event % 64);
        if word & bit == 0 {
            return None;
        }
        let lower = (word & (bit - 1)).count_ones();
        let row = self
            .rows
            .get((*self.before.get(number)? + lower) as usize)?;
        Some(StateId(row.state))
    }

    /// Returns all of them, sorted by event.
    #[must_use]
    pub(super) fn rows(&self) -> &[LoneState] {
        &self.rows
    }
}

/// Returns the event of the run that begins on the CPU and at the time of an event.
fn run_at(trace: &Trace, event: EventId) -> Option<u32> {
    let event = trace.events.get(event);
    let (cpu, time) = (CpuId(event.cpu?), event.row.time.0);
    let runs = trace.runs.on(cpu);
    let own = trace
        .runs
        .starts
        .get(runs.start as usize..runs.end as usize)?;
    let at = own.partition_point(|&start| start < time);
    let run = runs.start as usize + at;
    own.get(at).filter(|&&start| start == time)?;
    trace.runs.events.get(run)?.get()
}

/// The events that are switches with which a run begins.
#[derive(Debug)]
pub(crate) struct RunBegins(Bits);

impl RunBegins {
    /// Finds the events.
    #[must_use]
    pub(super) fn new(trace: &Trace) -> RunBegins {
        let mut bits = Bits::new(trace.events.len());
        for event in trace.runs.events.iter().filter_map(|event| event.get()) {
            bits.set(event);
        }
        RunBegins(bits)
    }

    /// Returns whether a run begins with that switch.
    #[must_use]
    pub(super) fn has(&self, event: EventId) -> bool {
        self.0.has(event.0)
    }
}

/// The runs that end where a state of their thread begins, or where its last state ends. Where switches were lost,
/// some runs do not: if the states show that the thread continued to run, no switch of its own ended the run.
#[derive(Debug, Default)]
pub(crate) struct TrueEnds {
    ends: Bits,
    /// Runs after which an event changed their thread before the next run of the CPU began, all at one time: the
    /// thread continued elsewhere, was woken, or the CPU was idle in between.
    apart: Bits,
}

impl TrueEnds {
    /// Finds those that touch `span`.
    #[must_use]
    pub(super) fn new(trace: &Trace, span: TimeSpan) -> TrueEnds {
        let firsts: FxHashSet<u32> = trace.runs.of_cpu.iter().map(|range| range.start).collect();
        let is_before_next = |run: u32, event: Maybe<u32>| {
            let next = run as usize + 1;
            let next_event = trace.runs.events.get(next).and_then(|next| next.get());
            let start = trace.runs.starts.get(next);
            !firsts.contains(&(run + 1))
                && start.is_some_and(|start| trace.runs.ends[run as usize] == *start)
                && next_event.is_some_and(|next| event < next)
        };
        let of_thread = |thread: usize| {
            let runs = runs_near(trace, thread, span);
            let states = trace.states.of_thread.get(thread).cloned();
            let states = states.unwrap_or(0..0);
            // The state after the last run may be unknown.
            let last_end = states
                .end
                .checked_sub(1)
                .filter(|last| states.contains(last))
                .map(|last| trace.states.ends[last as usize]);
            let mut found = Vec::with_capacity(runs.len());
            for run in runs {
                let end = trace.runs.ends[run as usize];
                let behind = trace.states.behind_run(&trace.runs, run as usize);
                let event = behind.and_then(|row| trace.states.events.get(row.0 as usize));
                let is_apart = event.is_some_and(|&event| is_before_next(run, event));
                let is_lost = trace.runs.end_states[run as usize] == ThreadState::Unknown
                    && behind.is_some_and(|row| {
                        trace.states.states.get(row.0 as usize) == Some(&ThreadState::Running)
                    });
                let is_true = !is_lost && (behind.is_some() || last_end == Some(end));
                if is_true || is_apart {
                    found.push((run, is_true, is_apart));
                }
            }
            found
        };
        let count = trace.runs.of_thread.len();
        let found: Vec<Vec<(u32, bool, bool)>> =
            (0..count).into_par_iter().map(of_thread).collect();
        let mut ends = Bits::new(trace.runs.len());
        let mut apart = Bits::new(trace.runs.len());
        for (run, is_true, is_apart) in found.into_iter().flatten() {
            if is_true {
                ends.set(run);
            }
            if is_apart {
                apart.set(run);
            }
        }
        TrueEnds { ends, apart }
    }

    /// Returns whether a run's end is written before the begin of the next run, though both have one time.
    #[must_use]
    pub(crate) fn is_apart(&self, run: usize) -> bool {
        self.apart.has(run as u32)
    }

    /// Returns whether the states of its thread confirm a run's end.
    #[must_use]
    pub(super) fn has(&self, run: usize) -> bool {
        self.ends.has(run as u32)
    }
}

/// Returns the runs of a thread that touch `span`. (Runs of the thread on several CPUs may overlap, where switches were
/// lost: their ends are not in order.)
fn runs_near(trace: &Trace, thread: usize, span: TimeSpan) -> Vec<u32> {
    let (starts, ends) = (&*trace.runs.starts, &*trace.runs.ends);
    let runs = trace.runs.of(ThreadId(thread as u32)).iter().copied();
    let is_near =
        |run: &u32| ends[*run as usize] >= span.start.0 && starts[*run as usize] <= span.end.0;
    runs.filter(is_near).collect()
}

/// A set of row numbers.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, row: u32) {
        if let Some(word) = self.0.get_mut(row as usize / 64) {
            *word |= 1 << (row % 64);
        }
    }

    fn has(&self, row: u32) -> bool {
        let word = self.0.get(row as usize / 64);
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}
