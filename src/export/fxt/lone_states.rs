//! States that a switch brought to a thread of which no run is known.
//!
//! The first switch of a CPU takes off a thread that nobody saw coming, and where switches were lost a switch may
//! take off another thread than the one that ran. The runs do not know of these threads; their states do.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::trace::{EventId, StateId, ThreadState, Trace};

/// Those states, by the switch that brought them.
#[derive(Debug, Default)]
pub struct LoneStates {
    by_event: FxHashMap<u32, u32>,
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
        let of_thread = |range: &std::ops::Range<u32>| {
            let events = trace.events.cursor();
            let mut found = Vec::new();
            for index in range.start as usize..range.end as usize {
                let is_left = states.states[index] != ThreadState::Running
                    && states.partners[index] == u32::MAX
                    && states.events[index] != u32::MAX;
                let follows_a_run = index > range.start as usize
                    && states.states[index - 1] == ThreadState::Running;
                if !is_left || follows_a_run {
                    continue;
                }
                let kind = events.kind(EventId(states.events[index]));
                if is_switch.get(usize::from(kind.0)).copied().unwrap_or(false) {
                    found.push((states.events[index], index as u32));
                }
            }
            found
        };
        let found = states.of_thread.par_iter().map(of_thread);
        LoneStates {
            by_event: found
                .flatten_iter()
                .collect::<Vec<_>>()
                .into_iter()
                .collect(),
        }
    }

    /// The state that a switch brought.
    #[must_use]
    pub fn of_event(&self, event: u32) -> Option<StateId> {
        self.by_event.get(&event).copied().map(StateId)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, StateId)> {
        self.by_event
            .iter()
            .map(|(&event, &state)| (EventId(event), StateId(state)))
    }
}

/// Which events are switches that a run begins with.
#[derive(Debug)]
pub struct RunBegins {
    bits: Vec<u64>,
}

impl RunBegins {
    /// Finds them.
    #[must_use]
    pub fn new(trace: &Trace) -> RunBegins {
        let mut bits = vec![0; trace.events.len().div_ceil(64)];
        for &event in &trace.runs.events {
            if let Some(word) = bits.get_mut(event as usize / 64) {
                *word |= 1 << (event % 64);
            }
        }
        RunBegins { bits }
    }

    /// Whether a run begins with that switch.
    #[must_use]
    pub fn has(&self, event: EventId) -> bool {
        let word = self.bits.get(event.0 as usize / 64);
        word.is_some_and(|word| word >> (event.0 % 64) & 1 == 1)
    }
}
