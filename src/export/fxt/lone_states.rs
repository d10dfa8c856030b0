//! States that a switch brought to a thread of which no run is known.
//!
//! The first switch of a CPU takes off a thread that nobody saw coming, and where switches were lost a switch may
//! take off another thread than the one that ran, or one that ran elsewhere. The runs do not know of these switches; the
//! threads' states do.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::event::{EndState, Ties};
use crate::formats::fxt::FxtSource;
use crate::trace::{EventId, StateId, ThreadId, ThreadState, Trace};

/// Those states, by the switch that brought them.
#[derive(Debug, Default)]
pub struct LoneStates {
    /// Sorted by event, one for each.
    rows: Vec<(u32, u32)>,
    /// Which events `rows` has.
    events: Bits,
    /// How many of them come before each word of `events`.
    before: Vec<u32>,
}

impl LoneStates {
    /// Finds them.
    #[must_use]
    pub fn new(trace: &Trace) -> LoneStates {
        let states = &trace.states;
        let is_switch: Vec<bool> = (0..trace.kinds.len())
            .map(|kind| {
                let kind = crate::event::KindId(u16::try_from(kind).unwrap_or(u16::MAX));
                trace.kind_name(kind).contains("switch")
            })
            .collect();
        let of_thread = |(thread, range): (usize, &std::ops::Range<u32>)| {
            let events = trace.events.cursor();
            let mut found = Vec::new();
            let runs = trace.runs.of(ThreadId(thread as u32)).iter();
            let mut run_ends: Vec<i64> = runs.map(|&run| trace.runs.ends[run as usize]).collect();
            // They are in order but where switches were lost.
            run_ends.sort_unstable();
            // Of a run that lasts no time no state is left.
            let runs = trace.runs.of(ThreadId(thread as u32)).iter();
            let ends = runs.map(|&run| {
                (
                    trace.runs.starts[run as usize],
                    trace.runs.ends[run as usize],
                )
            });
            let mut at_once: Vec<i64> = ends
                .filter(|(start, end)| start == end)
                .map(|(_, end)| end)
                .collect();
            at_once.sort_unstable();
            for index in range.start as usize..range.end as usize {
                let is_left = states.states[index] != ThreadState::Running
                    && states.partners[index] == u32::MAX
                    && states.events[index] != u32::MAX;
                let follows_a_run = index > range.start as usize
                    && states.states[index - 1] == ThreadState::Running
                    && run_ends.binary_search(&states.starts[index]).is_ok();
                let is_at_once = || at_once.binary_search(&states.starts[index]).is_ok();
                if !is_left || follows_a_run || is_at_once() {
                    continue;
                }
                let kind = events.kind(EventId(states.events[index]));
                if is_switch.get(usize::from(kind.0)).copied().unwrap_or(false) {
                    found.push((states.events[index], index as u32));
                }
            }
            found
        };
        let found = states.of_thread.par_iter().enumerate().map(of_thread);
        let mut rows: Vec<(u32, u32)> = found.flatten_iter().collect();
        rows.par_sort_unstable();
        // Of several that one switch brought the last one counts.
        rows.reverse();
        rows.dedup_by_key(|row| row.0);
        rows.reverse();
        let mut events = Bits::new(trace.events.len());
        for &(event, _) in &rows {
            events.set(event);
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

    /// The state that a switch brought.
    #[must_use]
    pub fn of_event(&self, event: u32) -> Option<StateId> {
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
        Some(StateId(row.1))
    }

    /// All of them: events and states.
    #[must_use]
    pub fn rows(&self) -> &[(u32, u32)] {
        &self.rows
    }
}

/// Which events are switches that a run begins with.
#[derive(Debug)]
pub struct RunBegins(Bits);

impl RunBegins {
    /// Finds them.
    #[must_use]
    pub fn new(trace: &Trace) -> RunBegins {
        let mut bits = Bits::new(trace.events.len());
        for &event in &trace.runs.events {
            bits.set(event);
        }
        RunBegins(bits)
    }

    /// Whether a run begins with that switch.
    #[must_use]
    pub fn has(&self, event: EventId) -> bool {
        self.0.has(event.0)
    }
}

/// Which events begin a state.
#[derive(Debug)]
pub struct StateBegins(Bits);

impl StateBegins {
    /// Finds them.
    #[must_use]
    pub fn new(trace: &Trace) -> StateBegins {
        let mut bits = Bits::new(trace.events.len());
        for &event in &trace.states.events {
            bits.set(event);
        }
        StateBegins(bits)
    }

    /// Whether a state begins with that event.
    #[must_use]
    pub fn has(&self, event: EventId) -> bool {
        self.0.has(event.0)
    }
}

/// Which runs end where a state of their thread begins, or the last one ends: where switches were lost, some do not. A run
/// whose thread was seen to run on then ended by no switch of its own.
#[derive(Debug, Default)]
pub struct TrueEnds {
    ends: Bits,
    /// Runs after which something happened to their thread before the next one of the CPU began, all at one time: it
    /// went on elsewhere, was woken, or the CPU was idle in between.
    apart: Bits,
}

impl TrueEnds {
    /// Finds them.
    #[must_use]
    pub fn new(trace: &Trace) -> TrueEnds {
        let firsts: FxHashSet<u32> = trace.runs.of_cpu.iter().map(|range| range.start).collect();
        let is_before_next = |run: u32, event: u32| {
            let next = run as usize + 1;
            !firsts.contains(&(run + 1))
                && event != u32::MAX
                && trace.runs.starts.get(next) == trace.runs.ends.get(run as usize)
                && (trace.runs.events.get(next))
                    .is_some_and(|&next| next != u32::MAX && event < next)
        };
        let of_thread = |thread: usize| {
            let runs = trace.runs.of(ThreadId(thread as u32));
            let states = trace.states.of_thread.get(thread).cloned();
            let states = states.unwrap_or(0..0);
            // Behind the last one its state may not be known.
            let last_end = states
                .end
                .checked_sub(1)
                .filter(|last| states.contains(last))
                .map(|last| trace.states.ends[last as usize]);
            let mut found = Vec::with_capacity(runs.len());
            for &run in runs {
                let end = trace.runs.ends[run as usize];
                let behind = trace.states.behind_run(&trace.runs, run as usize);
                let event = behind.and_then(|row| trace.states.events.get(row.0 as usize));
                let is_apart = event.is_some_and(|&event| is_before_next(run, event));
                let is_lost = trace.runs.end_states[run as usize] == EndState::Unknown
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

    /// Whether a run's end is told before the begin of the next one, though both have one time.
    #[must_use]
    pub fn is_apart(&self, run: usize) -> bool {
        self.apart.has(run as u32)
    }

    /// Whether a run is one of them.
    #[must_use]
    pub fn has(&self, run: usize) -> bool {
        self.ends.has(run as u32)
    }
}

/// Whether runs of an FXT file may end by a switch that names another thread. Our own files have ends for all.
#[must_use]
pub fn lacks_run_ends(trace: &Trace, fxt: Option<FxtSource<'_>>) -> bool {
    fxt.is_some_and(|fxt| fxt.ties() != Ties::First)
        && trace.diagnostics.count_of("switch_mismatch") > 0
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
