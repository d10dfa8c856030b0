//! What of a trace is to be exported: a time range, and if wanted only some CPUs, processes, threads, tracks.
//!
//! Processes, threads, tracks and counters add up: what belongs to any of them is chosen. If one of the lists is not
//! empty, what belongs to none of them is left out: global counters, and CPUs unless `cpus` names them.
//! `cpus` leaves out what is known to belong to another CPU; things without a CPU stay.

use crate::base::{TimeSpan, Timestamp};
use crate::trace::counters::CounterScope;
use crate::trace::{
    CounterTrackId, CpuId, EventId, ProcessId, ThreadId, Trace, TrackId, TrackKind,
};

/// What to export. The default is nothing in no time: use [`Selection::all`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The time range, on the trace's own clock; may reach past the trace.
    pub span: TimeSpan,
    /// Only these CPUs; empty: all.
    pub cpus: Vec<CpuId>,
    /// These processes; see the module's text.
    pub processes: Vec<ProcessId>,
    /// These threads.
    pub threads: Vec<ThreadId>,
    /// These tracks.
    pub tracks: Vec<TrackId>,
    /// These counters.
    pub counters: Vec<CounterTrackId>,
}

impl Selection {
    /// Everything.
    #[must_use]
    pub fn all() -> Selection {
        Selection::range(TimeSpan::new(Timestamp::MIN, Timestamp::MAX))
    }

    /// Everything in a time range.
    #[must_use]
    pub fn range(span: TimeSpan) -> Selection {
        Selection {
            span,
            ..Selection::default()
        }
    }
}

/// A selection as quick questions about one trace.
#[derive(Clone, Debug)]
pub struct Chosen<'a> {
    trace: &'a Trace,
    /// The range.
    pub span: TimeSpan,
    cpus: Vec<CpuId>,
    is_narrowed: bool,
    threads: Vec<bool>,
    processes: Vec<bool>,
    tracks: Vec<bool>,
    counters: Vec<bool>,
}

impl<'a> Chosen<'a> {
    /// Looks up what `selection` means.
    #[must_use]
    pub fn new(trace: &'a Trace, selection: &Selection) -> Chosen<'a> {
        let mut chosen = Chosen {
            trace,
            span: selection.span,
            cpus: selection.cpus.clone(),
            is_narrowed: !(selection.processes.is_empty()
                && selection.threads.is_empty()
                && selection.tracks.is_empty()
                && selection.counters.is_empty()),
            threads: Vec::new(),
            processes: Vec::new(),
            tracks: Vec::new(),
            counters: Vec::new(),
        };
        if !chosen.is_narrowed {
            return chosen;
        }
        chosen.processes = vec![false; trace.processes.len()];
        for id in &selection.processes {
            if let Some(entry) = chosen.processes.get_mut(id.0 as usize) {
                *entry = true;
            }
        }
        let is_in = |id: &Option<ProcessId>| {
            id.and_then(|id| chosen.processes.get(id.0 as usize).copied())
                .unwrap_or(false)
        };
        chosen.threads = trace
            .threads
            .iter()
            .map(|row| is_in(&row.process))
            .collect();
        for id in &selection.threads {
            if let Some(entry) = chosen.threads.get_mut(id.0 as usize) {
                *entry = true;
            }
        }
        chosen.tracks = vec![false; trace.tracks.len()];
        for id in &selection.tracks {
            if let Some(entry) = chosen.tracks.get_mut(id.0 as usize) {
                *entry = true;
            }
        }
        chosen.counters = vec![false; trace.counters.tracks.len()];
        for id in &selection.counters {
            if let Some(entry) = chosen.counters.get_mut(id.0 as usize) {
                *entry = true;
            }
        }
        chosen
    }

    /// Whether what a thread does is chosen.
    #[must_use]
    pub fn has_thread(&self, id: ThreadId) -> bool {
        !self.is_narrowed || self.threads.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Whether a process is chosen as such.
    #[must_use]
    pub fn has_process(&self, id: ProcessId) -> bool {
        !self.is_narrowed || self.processes.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Whether the trace goes on behind the range: then what never ended is cut at the range's end, as all that lasts
    /// over it.
    #[must_use]
    pub fn ends_before_trace(&self) -> bool {
        self.span.end < self.trace.span.end
    }

    /// Whether what happens on a CPU is chosen, whoever runs.
    #[must_use]
    pub fn has_cpu(&self, id: CpuId) -> bool {
        if self.cpus.is_empty() {
            !self.is_narrowed
        } else {
            self.cpus.contains(&id)
        }
    }

    /// Whether runs on a CPU are chosen (if their threads are).
    #[must_use]
    pub fn has_runs_of(&self, id: CpuId) -> bool {
        self.cpus.is_empty() || self.cpus.contains(&id)
    }

    /// Whether what lies on a track is chosen.
    #[must_use]
    pub fn has_track(&self, id: TrackId) -> bool {
        if self.tracks.get(id.0 as usize).copied().unwrap_or(false) {
            return true;
        }
        match self.trace.tracks.get(id.0 as usize).map(|track| track.kind) {
            Some(TrackKind::Thread(thread)) => self.has_thread(thread),
            Some(TrackKind::Cpu(cpu)) => self.has_cpu(cpu),
            Some(TrackKind::Async(Some(process))) => self.has_process(process),
            Some(TrackKind::Async(None)) => !self.is_narrowed,
            None => false,
        }
    }

    /// Whether a counter is chosen.
    #[must_use]
    pub fn has_counter(&self, id: CounterTrackId) -> bool {
        if self.counters.get(id.0 as usize).copied().unwrap_or(false) {
            return true;
        }
        let Some(track) = self.trace.counters.tracks.get(id.0 as usize) else {
            return false;
        };
        match track.scope {
            CounterScope::Global => !self.is_narrowed,
            CounterScope::Cpu(cpu) => self.has_cpu(cpu),
            CounterScope::Process(process) => self.has_process(process),
            CounterScope::Thread(thread) => self.has_thread(thread),
        }
    }

    /// Whether an event's CPU, if it has one, is chosen.
    #[must_use]
    pub fn has_cpu_of(&self, event: EventId) -> bool {
        self.cpus.is_empty()
            || self
                .trace
                .events
                .get(event)
                .cpu
                .is_none_or(|cpu| self.cpus.contains(&CpuId(cpu)))
    }

    /// Whether `cpus` leaves anything out.
    #[must_use]
    pub fn limits_cpus(&self) -> bool {
        !self.cpus.is_empty()
    }

    /// Whether something that lasts from `start` to `end` shows in the range.
    #[must_use]
    pub fn meets(&self, start: Timestamp, end: Timestamp) -> bool {
        start < self.span.end
            && (end > self.span.start || (start == end && start >= self.span.start))
    }
}
