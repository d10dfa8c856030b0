//! States that a switch brought to a thread of which no run is known.
//!
//! The first switch of a CPU takes off a thread that nobody saw coming, and where switches were lost a switch may
//! take off another thread than the one that ran. The runs do not know of these threads; their states do.

use rustc_hash::FxHashMap;

use crate::trace::{CpuId, EventId, StateId, ThreadState, Trace};

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
        let mut found = LoneStates::default();
        let is_switch: Vec<bool> = (0..trace.kinds.len())
            .map(|kind| {
                let kind = crate::event::KindId(u16::try_from(kind).unwrap_or(u16::MAX));
                trace.kind_name(kind).contains("switch")
            })
            .collect();
        for range in &states.of_thread {
            for index in range.start as usize..range.end as usize {
                let is_left = states.states[index] != ThreadState::Running
                    && states.partners[index] == u32::MAX
                    && states.events[index] != u32::MAX;
                let follows_a_run = index > range.start as usize
                    && states.states[index - 1] == ThreadState::Running;
                if !is_left || follows_a_run {
                    continue;
                }
                let kind = trace.events.kind(EventId(states.events[index]));
                if is_switch.get(usize::from(kind.0)).copied().unwrap_or(false) {
                    found.by_event.insert(states.events[index], index as u32);
                }
            }
        }
        found
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

/// Whether a run begins with that switch.
#[must_use]
pub fn begins_run(trace: &Trace, event: EventId) -> bool {
    let time = trace.events.time(event).0;
    (0..trace.cpus.len() as u32).any(|cpu| {
        let range = trace.runs.on(CpuId(cpu));
        let (from, until) = (range.start as usize, range.end as usize);
        let first = from + trace.runs.starts[from..until].partition_point(|&start| start < time);
        (first..until)
            .take_while(|&run| trace.runs.starts[run] == time)
            .any(|run| trace.runs.events[run] == event.0)
    })
}
