//! The lanes of a thread or a CPU, put into an area.

use super::{Area, Lane, Lanes};
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, CpuId, ProcessId, ThreadId, Trace, TrackId, TrackKind};
use rustc_hash::FxHashSet;

/// The threads whose asynchronous slices an area contains, whatever their track.
#[derive(Clone, Debug, Default)]
pub(crate) struct AsyncsOf(FxHashSet<ThreadId>);

/// Returns the tracks that are chosen whole, sorted.
pub(crate) fn whole_tracks(lanes: &[Lane]) -> Vec<TrackId> {
    let tracks = lanes.iter().filter_map(|lane| match lane {
        Lane::Track(track) => Some(*track),
        _ => None,
    });
    let mut tracks: Vec<TrackId> = tracks.collect();
    tracks.sort_unstable();
    tracks.dedup();
    tracks
}

impl AsyncsOf {
    /// Returns the threads of [`Lane::AsyncOf`].
    pub(crate) fn new(lanes: &[Lane]) -> AsyncsOf {
        let threads = lanes.iter().filter_map(|lane| match lane {
            Lane::AsyncOf(thread) => Some(*thread),
            _ => None,
        });
        AsyncsOf(threads.collect())
    }

    /// Returns the asynchronous tracks that are not in `whole` (sorted): some of their slices may be chosen.
    pub(crate) fn tracks(&self, trace: &Trace, whole: &[TrackId]) -> Vec<TrackId> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let tracks = trace.tracks.iter().zip((0..).map(TrackId));
        let tracks = tracks.filter(|(track, id)| {
            matches!(track.kind, TrackKind::Async(_)) && whole.binary_search(id).is_err()
        });
        tracks.map(|(_, id)| id).collect()
    }

    /// Returns whether one of the threads began a slice.
    pub(crate) fn has(&self, trace: &Trace, slice: u32) -> bool {
        let begin = trace.slices.begin(slice as usize);
        let thread = trace.events.thread(begin);
        thread.is_some_and(|thread| self.0.contains(&thread))
    }
}

impl Area {
    /// Adds the lanes of a thread: its states, its slices, the asynchronous slices that it began, and its counters.
    pub(crate) fn add_thread(&mut self, trace: &Trace, thread: ThreadId) {
        self.add(Lane::States(thread));
        self.add(Lane::AsyncOf(thread));
        self.add_tracks(trace, TrackKind::Thread(thread));
        self.add_counters(trace, CounterScope::Thread(thread));
    }

    /// Adds the lanes of a process besides those of its threads: its asynchronous slices and its counters.
    pub(crate) fn add_process(&mut self, trace: &Trace, process: ProcessId) {
        self.add_tracks(trace, TrackKind::Async(Some(process)));
        self.add_counters(trace, CounterScope::Process(process));
    }

    /// Adds the lanes of a CPU: its runs, the slices of threads while they run there, its interrupts and its counters.
    pub fn add_cpu(&mut self, trace: &Trace, cpu: CpuId) {
        self.add(Lane::Runs(cpu));
        self.add(Lane::OnCpu(cpu));
        self.add_own_of_cpu(trace, cpu);
    }

    /// Adds the contents of a CPU's track: its runs, its own slices and its counters.
    pub(crate) fn add_cpu_track(&mut self, trace: &Trace, cpu: CpuId) {
        self.add(Lane::Runs(cpu));
        self.add_own_of_cpu(trace, cpu);
    }

    /// Adds the slices and counters of a CPU itself.
    fn add_own_of_cpu(&mut self, trace: &Trace, cpu: CpuId) {
        self.add_tracks(trace, TrackKind::Cpu(cpu));
        self.add_counters(trace, CounterScope::Cpu(cpu));
    }

    fn add_tracks(&mut self, trace: &Trace, kind: TrackKind) {
        let first = trace.tracks.partition_point(|track| track.kind < kind);
        let tracks = trace.tracks.iter().enumerate().skip(first);
        for (at, _) in tracks.take_while(|(_, track)| track.kind == kind) {
            self.add(Lane::Track(TrackId(at as u32)));
        }
    }

    fn add_counters(&mut self, trace: &Trace, scope: CounterScope) {
        for (at, track) in trace.counters.tracks.iter().enumerate() {
            if track.scope == scope {
                self.add(Lane::Counter(CounterTrackId(at as u32)));
            }
        }
    }

    /// Adds a lane. If the area contained all lanes, it then contains only this one.
    pub(crate) fn add(&mut self, lane: Lane) {
        match &mut self.lanes {
            Lanes::Of(lanes) => lanes.push(lane),
            Lanes::All | Lanes::Both { .. } => self.lanes = Lanes::Of(vec![lane]),
        }
    }
}
