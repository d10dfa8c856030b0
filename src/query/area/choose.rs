//! The lanes of a thread or a CPU, put into an area.

use super::{Area, Lane, Lanes};
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, CpuId, ProcessId, ThreadId, Trace, TrackId, TrackKind};

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
        self.add_tracks(trace, TrackKind::Cpu(cpu));
        self.add_counters(trace, CounterScope::Cpu(cpu));
    }

    /// Adds the contents of a CPU's track: its runs, its own slices and its counters.
    pub(crate) fn add_cpu_track(&mut self, trace: &Trace, cpu: CpuId) {
        self.add(Lane::Runs(cpu));
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
