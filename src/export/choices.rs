//! The parts of a trace that can be chosen for an export, by the names that people see.

use crate::base::order::Rank;
use crate::tables::items::track_name;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, CpuId, ProcessId, ThreadId, Trace, TrackId, TrackKind};

/// A part of a trace that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Choice {
    /// A process with its threads.
    Process(ProcessId),
    /// A thread.
    Thread(ThreadId),
    /// An asynchronous track.
    Track(TrackId),
    /// The track of a CPU.
    Cpu(CpuId),
    /// A counter.
    Counter(CounterTrackId),
}

/// A line of the list of choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChoiceRow {
    /// The part that the line chooses.
    pub choice: Choice,
    /// Its display name.
    pub name: String,
    /// Its kind and number: `process 12`.
    pub note: String,
}

/// Returns every choice: each process, followed by its threads, tracks and counters, then those that belong to no
/// process.
#[must_use]
pub(crate) fn choices(trace: &Trace) -> Vec<ChoiceRow> {
    let mut rows: Vec<(Rank<ProcessId>, ChoiceRow)> = Vec::new();
    for (id, process) in (0..).map(ProcessId).zip(&trace.processes) {
        let row = ChoiceRow {
            choice: Choice::Process(id),
            name: trace.text(process.name).into_owned(),
            note: format!("process {}", process.pid),
        };
        rows.push((Rank::At(id), row));
    }
    for (index, thread) in trace.threads.iter().enumerate().skip(1) {
        let id = ThreadId(index as u32);
        let row = ChoiceRow {
            choice: Choice::Thread(id),
            name: trace.thread_name(id).into_owned(),
            note: format!("thread {}", thread.tid),
        };
        rows.push((thread.process.into(), row));
    }
    for (index, track) in trace.tracks.iter().enumerate() {
        let id = TrackId(index as u32);
        let (process, note) = match track.kind {
            TrackKind::Async(process) => (process, "asynchronous track"),
            TrackKind::Cpu(_) | TrackKind::Thread(_) | TrackKind::Nobody => continue,
        };
        let row = ChoiceRow {
            choice: Choice::Track(id),
            name: track_name(trace, id).into_owned(),
            note: note.to_owned(),
        };
        rows.push((process.into(), row));
    }
    for id in (0..trace.cpus.len() as u32).map(CpuId) {
        let row = ChoiceRow {
            choice: Choice::Cpu(id),
            name: trace.cpu_title(id),
            note: "CPU track".to_owned(),
        };
        rows.push((Rank::Last, row));
    }
    for (index, track) in trace.counters.tracks.iter().enumerate() {
        let process = match track.scope {
            CounterScope::Process(process) => Some(process),
            CounterScope::Thread(thread) => trace.thread(thread).process,
            CounterScope::Global | CounterScope::Cpu(_) => None,
        };
        let row = ChoiceRow {
            choice: Choice::Counter(CounterTrackId(index as u32)),
            name: trace.text(track.name).into_owned(),
            note: "counter".to_owned(),
        };
        rows.push((process.into(), row));
    }
    rows.sort_by_key(|(process, _)| *process);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The tracks, threads, counters and CPUs that match a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Tracks, except those of CPUs.
    pub tracks: Vec<TrackId>,
    /// Threads, also those without slices, which have no track in the trace but a row in the window.
    pub threads: Vec<ThreadId>,
    /// Counters.
    pub counters: Vec<CounterTrackId>,
    /// CPUs; each is called `CPU n`, and by its name in this trace.
    pub cpus: Vec<CpuId>,
}

impl Named {
    /// Returns whether nothing matches the name.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        let Named {
            tracks,
            threads,
            counters,
            cpus,
        } = self;
        tracks.is_empty() && threads.is_empty() && counters.is_empty() && cpus.is_empty()
    }
}

/// Returns the tracks, threads, counters and CPUs with exactly that name; if there are none, those whose names contain it.
#[must_use]
pub(crate) fn tracks_named(trace: &Trace, name: &str) -> Named {
    let find = |fits: &dyn Fn(&str) -> bool| {
        let tracks = trace.tracks.iter().zip((0..).map(TrackId));
        let tracks = tracks.filter(|(track, _)| !matches!(track.kind, TrackKind::Cpu(_)));
        let threads = (1..trace.threads.len() as u32).map(ThreadId);
        let counters = trace.counters.tracks.iter().zip((0..).map(CounterTrackId));
        let cpus = trace.cpus.iter().zip((0..).map(CpuId));
        Named {
            tracks: tracks
                .map(|(_, id)| id)
                .filter(|&id| fits(&track_name(trace, id)))
                .collect(),
            threads: threads.filter(|&id| fits(&trace.thread_name(id))).collect(),
            counters: counters
                .filter(|(track, _)| fits(&trace.text(track.name)))
                .map(|(_, id)| id)
                .collect(),
            cpus: cpus
                .filter(|&(cpu, id)| {
                    fits(&format!("CPU {}", cpu.number)) || fits(&trace.cpu_title(id))
                })
                .map(|(_, id)| id)
                .collect(),
        }
    };
    let exact = find(&|other| other == name);
    if !exact.is_empty() {
        return exact;
    }
    let name = name.to_lowercase();
    find(&|other| other.to_lowercase().contains(&name))
}
