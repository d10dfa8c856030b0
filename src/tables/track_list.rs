//! The table of tracks: those of slices and instants, followed by those of counters.

use super::columns::{CPU, ID, NAME, UPID, UTID};
use super::def::{Stored, same};
use super::items::{cpu_number, track_name};
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::load::LoadedTrace;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, ProcessId, ThreadId, TrackId, TrackKind};

pub(super) const TRACKS: TableDef = TableDef {
    name: "tracks",
    title: "Tracks",
    about: "Each track with what it belongs to; counters come after the others.",
    columns: &[
        ID,
        ColumnDef::text(
            "type",
            "Type",
            "thread, cpu, async or none; of counters: thread_counter, process_counter, cpu_counter or counter.",
        ),
        NAME,
        UTID,
        UPID,
        CPU,
    ],
    stored: Some(Stored {
        name: "track",
        more: &[],
        columns: &[
            same("id"),
            same("type"),
            same("name"),
            same("utid"),
            same("upid"),
            same("cpu"),
        ],
    }),
    rows: Rows::Trace(tracks),
};

/// A track of slices, or a counter.
#[derive(Clone, Copy)]
enum TrackRow {
    Slices(TrackId),
    Counter(CounterTrackId),
}

/// The owner of a track.
#[derive(Default)]
struct Home {
    kind: &'static str,
    thread: Option<ThreadId>,
    process: Option<ProcessId>,
    /// The index of the CPU.
    cpu: Option<u32>,
}

fn tracks(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let tracks = (0..trace.tracks.len() as u32).map(TrackId);
    let tracks = tracks.filter(|&id| chosen.has_track(id));
    let counters = (0..trace.counters.tracks.len() as u32).map(CounterTrackId);
    let counters = counters.filter(|&id| chosen.has_counter(id));
    let rows = tracks.map(TrackRow::Slices);
    let rows = rows.chain(counters.map(TrackRow::Counter));
    Box::new(RowsOfIds::new(rows.collect(), (), track_cells))
}

fn track_cells<'a>(
    loaded: &'a LoadedTrace,
    (): &'a (),
    row: &'a TrackRow,
    cells: &mut Vec<Cell<'a>>,
) {
    let trace = &loaded.trace;
    let first_counter = trace.tracks.len() as u32;
    let (id, name, home) = match *row {
        TrackRow::Slices(id) => (id.0, track_name(trace, id).into(), home_of(loaded, id)),
        TrackRow::Counter(id) => {
            let track = &trace.counters.tracks[id.0 as usize];
            let name = Cell::of_string(trace, track.name);
            (first_counter + id.0, name, home_of_counter(track.scope))
        }
    };
    let of_thread = home.thread.and_then(|thread| trace.thread(thread).process);
    let process = home.process.or(of_thread);
    cells.extend([
        id.into(),
        home.kind.into(),
        name,
        home.thread.map(|thread| thread.0).into(),
        process.map(|process| process.0).into(),
        cpu_number(trace, home.cpu),
    ]);
}

fn home_of(loaded: &LoadedTrace, id: TrackId) -> Home {
    match loaded.trace.tracks[id.0 as usize].kind {
        TrackKind::Thread(thread) => Home {
            kind: "thread",
            thread: Some(thread),
            ..Home::default()
        },
        TrackKind::Cpu(cpu) => Home {
            kind: "cpu",
            cpu: Some(cpu.0),
            ..Home::default()
        },
        TrackKind::Async(process) => Home {
            kind: "async",
            process,
            ..Home::default()
        },
        TrackKind::Nobody => Home {
            kind: "none",
            ..Home::default()
        },
    }
}

fn home_of_counter(scope: CounterScope) -> Home {
    match scope {
        CounterScope::Thread(thread) => Home {
            kind: "thread_counter",
            thread: Some(thread),
            ..Home::default()
        },
        CounterScope::Process(process) => Home {
            kind: "process_counter",
            process: Some(process),
            ..Home::default()
        },
        CounterScope::Cpu(cpu) => Home {
            kind: "cpu_counter",
            cpu: Some(cpu.0),
            ..Home::default()
        },
        CounterScope::Global => Home {
            kind: "counter",
            ..Home::default()
        },
    }
}
