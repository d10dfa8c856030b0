//! Tables of the content of tracks: slices, instants, counters, flows.

use rayon::prelude::*;

use super::columns::{CATEGORY, CPU, DUR, ID, NAME, PID, PROCESS, THREAD, TID, TS};
use super::items::{Owner, cpu_number, pid_of, track_name};
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef, Unit};
use crate::base::Timestamp;
use crate::load::LoadedTrace;
use crate::query::whole_samples::whole_value;
use crate::trace::counters::CounterScope;
use crate::trace::slices::SliceRow;
use crate::trace::{CounterTrackId, EventId, SliceId, ThreadId, Trace, TrackId, TrackKind};

pub(super) const SLICES: TableDef = TableDef {
    name: "slices",
    title: "Slices",
    about: "What has a start and an end: calls, sections, work of threads and CPUs.",
    columns: &[
        TS,
        DUR,
        ColumnDef::count("depth", "Depth", "How many slices of its track contain it.").minor(),
        NAME,
        CATEGORY,
        PID,
        TID,
        PROCESS,
        THREAD,
        ColumnDef::text("track", "Track", "The track that shows it."),
        ID,
        ColumnDef::key("parent_id", "Parent", "The row of the slice around it.").minor(),
    ],
    rows: Rows::Trace(slices),
};

/// A slice with what comes before its number in the order of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    start: i64,
    begin: u32,
    depth: u32,
    id: u32,
    row: u32,
}

/// A slice with its row of slices, which a search would have to find.
struct OnRow {
    id: SliceId,
    row: u32,
}

/// What is the same in many rows of the table.
struct SliceTexts {
    depths: Vec<u32>,
    /// The name of each track.
    tracks: Vec<String>,
    /// By thread.
    owners: Vec<OwnerCells>,
    nobody: OwnerCells,
}

/// The cells of the thread that something happened on.
struct OwnerCells {
    numbers: Owner,
    process: Cell<'static>,
    thread: Cell<'static>,
}

impl OwnerCells {
    fn of(trace: &Trace, thread: Option<ThreadId>) -> OwnerCells {
        let process = trace.process_of(thread);
        let process: Cell<'_> = process.map(|it| Cell::of_string(trace, it.name)).into();
        OwnerCells {
            numbers: Owner::of(trace, thread),
            process: process.into_owned(),
            thread: Cell::from(trace.thread_name(thread)).into_owned(),
        }
    }
}

fn slices(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let trace = &scope.loaded.trace;
    let table = &trace.slices;
    let depths = table.depths();
    let chosen = scope.chosen;
    let of_row = |(row, number): (&SliceRow, u32)| {
        let slices = row.slices.clone().filter(|&id| {
            // A slice whose end was not seen ends where it is drawn to.
            let end = Timestamp(table.open_end(id as usize).or_greatest());
            chosen.meets(Timestamp(table.starts.at(id as usize)), end)
                && chosen.has_slice(row.track, id as usize)
        });
        let keyed = slices.map(|id| Keyed {
            start: table.starts.at(id as usize),
            begin: table.begins.at(id as usize),
            depth: depths[id as usize],
            id,
            row: number,
        });
        keyed.collect::<Vec<Keyed>>()
    };
    let rows = table.rows.par_iter().zip(0..table.rows.len() as u32);
    let mut keyed: Vec<Keyed> = rows.flat_map_iter(of_row).collect();
    // Each row is in order: this sort merges them.
    keyed.par_sort();
    let ids = keyed.into_iter().map(|keyed| OnRow {
        id: SliceId(keyed.id),
        row: keyed.row,
    });
    let name = |track: u32| track_name(trace, TrackId(track)).into_owned();
    let owner = |thread: u32| OwnerCells::of(trace, Some(ThreadId(thread)));
    let known = SliceTexts {
        depths,
        tracks: (0..trace.tracks.len() as u32).map(name).collect(),
        owners: (0..trace.threads.len() as u32).map(owner).collect(),
        nobody: OwnerCells::of(trace, None),
    };
    Box::new(RowsOfIds::new(ids.collect(), known, slice_cells))
}

fn slice_cells<'a>(
    loaded: &'a LoadedTrace,
    known: &'a SliceTexts,
    at: &'a OnRow,
    cells: &mut Vec<Cell<'a>>,
) {
    let trace = &loaded.trace;
    let table = &trace.slices;
    let slice = table.get(at.id);
    let label = table.label(at.id);
    let track = table.rows[at.row as usize].track.0 as usize;
    let kind = trace.tracks.get(track).map(|track| track.kind);
    let thread = match kind {
        Some(TrackKind::Thread(thread)) => Some(thread),
        _ => trace.events.thread(slice.begin),
    };
    let owner = thread.and_then(|thread| known.owners.get(thread.0 as usize));
    let owner = owner.unwrap_or(&known.nobody);
    let pid = match kind {
        Some(TrackKind::Async(Some(process))) => pid_of(trace, process),
        _ => owner.numbers.pid.borrowed(),
    };
    cells.extend([
        slice.start.into(),
        slice.duration().map(|length| length.0).into(),
        known.depths[at.id.0 as usize].into(),
        Cell::of_string(trace, label.name),
        Cell::of_text_or_none(trace, label.category),
        pid,
        owner.numbers.tid.borrowed(),
        owner.process.borrowed(),
        owner.thread.borrowed(),
        known.tracks.get(track).map(String::as_str).into(),
        at.id.0.into(),
        slice.parent.map(|parent| parent.0).into(),
    ]);
}

pub(super) const INSTANTS: TableDef = TableDef {
    name: "instants",
    title: "Instants",
    about: "What happened at a point in time on a track.",
    columns: &[
        TS,
        NAME,
        CATEGORY,
        PID,
        TID,
        CPU,
        ColumnDef::text("track", "Track", "The track that shows it."),
    ],
    rows: Rows::Trace(instants),
};

/// An instant of a track.
struct OnTrack {
    event: EventId,
    track: TrackId,
}

fn instants(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let trace = &scope.loaded.trace;
    let mut order: Vec<(Timestamp, u32, u32)> = Vec::with_capacity(trace.instants.len());
    for (track, row) in trace.tracks.iter().enumerate() {
        for event in trace.instants.of(&row.instants) {
            order.push((trace.events.time(EventId(event)), event, track as u32));
        }
    }
    order.sort_unstable();
    let ids = order.into_iter().filter_map(|(time, event, track)| {
        let (event, track) = (EventId(event), TrackId(track));
        let is_in = scope.chosen.span.contains(time) && scope.chosen.has_point(track, event);
        is_in.then_some(OnTrack { event, track })
    });
    Box::new(RowsOfIds::new(
        ids.collect(),
        (),
        |loaded, (), id: &OnTrack, cells| {
            let trace = &loaded.trace;
            let event = trace.events.get(id.event);
            let kind = trace.kinds.get(event.row.kind.index());
            let Owner { pid, tid } = Owner::of(trace, trace.events.thread(event.id));
            cells.extend([
                event.row.time.into(),
                trace.kind_name(event.row.kind).into(),
                kind.map_or(Cell::None, |kind| {
                    Cell::of_text_or_none(trace, kind.category)
                }),
                pid,
                tid,
                cpu_number(trace, event.cpu),
                track_name(trace, id.track).into(),
            ]);
        },
    ))
}

pub(super) const COUNTERS: TableDef = TableDef {
    name: "counters",
    title: "Counter samples",
    about: "Each value of each counter, and when it was set.",
    columns: &[
        TS,
        ColumnDef::text("track", "Counter", "The counter's name."),
        ColumnDef::number(
            "value",
            "Value",
            Unit::None,
            "The counter's value from then on.",
        ),
        PID,
        CPU,
    ],
    rows: Rows::Trace(counters),
};

/// A sample of a counter.
struct Sample {
    track: CounterTrackId,
    row: u32,
}

fn counters(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let table = &scope.loaded.trace.counters;
    let mut order: Vec<(i64, u32, u32, u32)> = Vec::with_capacity(table.times.len());
    for (number, track) in table.tracks.iter().enumerate() {
        let key = |row: u32| {
            (
                table.times[row as usize],
                table.events[row as usize],
                row,
                number as u32,
            )
        };
        order.extend(track.samples.clone().map(key));
    }
    order.sort_unstable();
    let ids = order.into_iter().filter_map(|(time, _, row, number)| {
        let track = CounterTrackId(number);
        let is_in =
            scope.chosen.span.contains(Timestamp(time)) && scope.chosen.has_sample(track, row);
        is_in.then_some(Sample { track, row })
    });
    Box::new(RowsOfIds::new(ids.collect(), (), sample_cells))
}

fn sample_cells<'a>(
    loaded: &'a LoadedTrace,
    (): &'a (),
    id: &'a Sample,
    cells: &mut Vec<Cell<'a>>,
) {
    let trace = &loaded.trace;
    let track = &trace.counters.tracks[id.track.0 as usize];
    let (pid, cpu) = match track.scope {
        CounterScope::Process(process) => (pid_of(trace, process), Cell::None),
        CounterScope::Thread(thread) => (Owner::of(trace, thread).pid, Cell::None),
        CounterScope::Cpu(cpu) => (Cell::None, cpu_number(trace, Some(cpu.0))),
        CounterScope::Global => (Cell::None, Cell::None),
    };
    cells.extend([
        trace.counters.times[id.row as usize].into(),
        Cell::of_string(trace, track.name),
        counter_value(loaded, id.row as usize, trace.strings.bytes(track.name)),
        pid,
        cpu,
    ]);
}

/// Returns the value of a counter's sample.
fn counter_value(loaded: &LoadedTrace, row: usize, track: &[u8]) -> Cell<'static> {
    let trace = &loaded.trace;
    match whole_value(trace, loaded.reader.as_ref(), row, track) {
        Some(whole) => Cell::Int(whole),
        None => Cell::Float(trace.counters.values[row]),
    }
}

pub(super) const FLOWS: TableDef = TableDef {
    name: "flows",
    title: "Flows",
    about: "Arrows from one place to another, in time and between threads.",
    columns: &[
        ID,
        NAME,
        ColumnDef::time("from_ts", "From", "When it begins."),
        ColumnDef::key("from_tid", "From TID", "The thread where it begins."),
        ColumnDef::time("to_ts", "To", "When it ends."),
        ColumnDef::key("to_tid", "To TID", "The thread where it ends."),
        ColumnDef::key("key", "Key", "The number that the file has for it.").minor(),
        ColumnDef::key(
            "from_slice",
            "From slice",
            "The row of the slice where it begins.",
        )
        .minor(),
        ColumnDef::key(
            "to_slice",
            "To slice",
            "The row of the slice where it ends.",
        )
        .minor(),
    ],
    rows: Rows::Trace(flows),
};

fn flows(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (flows, chosen) = (&scope.loaded.trace.flows.rows, scope.chosen);
    let is_chosen = |id: &u32| {
        let flow = &flows[*id as usize];
        chosen.has_track_of(flow.from.thread)
            && chosen.has_track_of(flow.to.thread)
            && chosen.has_cpu_of(flow.from.event)
            && chosen.has_cpu_of(flow.to.event)
            && flow.has_end_in(chosen.span)
    };
    let ids = (0..flows.len() as u32).filter(is_chosen).collect();
    Box::new(RowsOfIds::new(ids, (), |loaded, (), &id: &u32, cells| {
        let trace = &loaded.trace;
        let flow = &trace.flows.rows[id as usize];
        cells.extend([
            id.into(),
            Cell::of_string(trace, flow.name),
            flow.from.time.into(),
            Owner::of(trace, flow.from.thread).tid,
            flow.to.time.into(),
            Owner::of(trace, flow.to.thread).tid,
            flow.key.into(),
            flow.from.slice.map(|slice| slice.0).into(),
            flow.to.slice.map(|slice| slice.0).into(),
        ]);
    }))
}
