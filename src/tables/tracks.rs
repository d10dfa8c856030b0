//! Tables of the content of tracks: slices, instants, counters, flows.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::batch::{Fill, Names};
use super::columns::{
    ARG_SET, CATEGORY, CPU, DUR, ID, NAME, PID, PROCESS, THREAD, TID, TS, UPID, UTID,
};
use super::def::{Stored, renamed, same};
use super::items::{Owners, cpu_of, track_name};
use super::recorded::{EventOfTable, EventTexts};
use super::rows::ColumnsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef, Unit};
use crate::base::TimeSpan;
use crate::base::{StringId, Timestamp};
use crate::load::LoadedTrace;
use crate::query::whole_samples::whole_value;
use crate::trace::counters::{CounterScope, CounterTrack};
use crate::trace::flows::Flow;
use crate::trace::slices::SliceRow;
use crate::trace::{
    CounterTrackId, EventId, ProcessId, SliceId, ThreadId, Trace, TrackId, TrackKind,
};

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
        ColumnDef::row("parent_id", "Parent", "The row of the slice around it."),
    ],
    stored: Some(Stored {
        name: "slice",
        more: &[
            ColumnDef::row("track_id", "Track row", "The row of the track in tracks."),
            UTID,
            UPID,
            CPU,
            ColumnDef::duration(
                "self_dur",
                "Self",
                "The duration without that of the slices directly below it; none if one of them is unknown.",
            ),
            ARG_SET,
        ],
        columns: &[
            same("id"),
            same("ts"),
            same("dur"),
            same("track_id"),
            same("utid"),
            same("upid"),
            same("cpu"),
            same("depth"),
            same("parent_id"),
            same("name"),
            same("category"),
            same("self_dur"),
            same("arg_set_id"),
        ],
    }),
    rows: Rows::Trace(slices),
};

/// A slice with the values by which the rows of the table are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    start: i64,
    begin: u32,
    depth: u32,
    id: u32,
    row: u32,
}

/// A slice with its row of slices, so that the row need not be searched.
struct OnRow {
    id: SliceId,
    row: u32,
}

/// Values that are the same in many rows of the table.
struct SliceTexts {
    depths: Vec<u32>,
    /// The name of each track.
    tracks: Vec<String>,
    owners: Owners,
    /// By slice: its duration without that of its direct children. Computed when it is first needed.
    own_ns: OnceLock<Vec<Option<i64>>>,
}

impl SliceTexts {
    fn own_ns(&self, trace: &Trace) -> &[Option<i64>] {
        self.own_ns.get_or_init(|| {
            let slices = &trace.slices;
            let duration = |row: usize| slices.duration(row).map(|length| length.0);
            let mut own: Vec<Option<i64>> = (0..slices.len()).map(duration).collect();
            for row in 0..slices.len() {
                let around = slices.parent(row).and_then(|id| own.get_mut(id.0 as usize));
                if let Some(around) = around {
                    let taken = duration(row).map(|ns| slices.taken(row, ns, TimeSpan::ALL));
                    let left = around.zip(taken);
                    *around = left.map(|(around, inner)| around.saturating_sub(inner).max(0));
                }
            }
            own
        })
    }
}

fn slices(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let trace = &scope.loaded.trace;
    let table = &trace.slices;
    let depths = table.depths();
    let chosen = scope.chosen;
    let of_row = |(row, number): (&SliceRow, u32)| {
        let slices = row.slices.clone().filter(|&id| {
            // A slice whose end was not seen ends at the time to which it is drawn.
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
    Box::new(ColumnsOfIds {
        ids: ids.collect::<Vec<OnRow>>(),
        known: SliceTexts {
            depths,
            tracks: (0..trace.tracks.len() as u32).map(name).collect(),
            owners: Owners::new(trace),
            own_ns: OnceLock::new(),
        },
        read: read_slice,
        columns: SLICE_COLUMNS,
    })
}

/// A slice as the columns of the table need it.
struct SliceOfTable {
    id: SliceId,
    start: i64,
    duration: Option<i64>,
    parent: Option<SliceId>,
    name: StringId,
    category: StringId,
    track: u32,
    /// The index of its thread in [`Owners`].
    owner: usize,
    pid: Option<u64>,
    /// The process of an asynchronous track; the thread of a slice does not determine it.
    process: Option<ProcessId>,
}

fn read_slice(loaded: &LoadedTrace, known: &SliceTexts, at: &OnRow) -> SliceOfTable {
    let trace = &loaded.trace;
    let table = &trace.slices;
    let row = at.id.0 as usize;
    let label = table.label(at.id);
    let track = table.rows[at.row as usize].track;
    let kind = trace.tracks.get(track.0 as usize).map(|track| track.kind);
    let thread = match kind {
        Some(TrackKind::Thread(thread)) => Some(thread),
        _ => trace.events.thread(table.begin(row)),
    };
    let owner = known.owners.index(thread);
    let process = match kind {
        Some(TrackKind::Async(process)) => process,
        _ => None,
    };
    SliceOfTable {
        id: at.id,
        start: table.starts.at(row),
        duration: table.duration(row).map(|length| length.0),
        parent: table.parent(row),
        name: label.name,
        category: label.category,
        track: track.0,
        owner,
        pid: match process {
            Some(process) => {
                let process = trace.processes.get(process.0 as usize);
                process.map(|process| process.pid)
            }
            None => known.owners.pids[owner],
        },
        process,
    }
}

/// Returns the number of a text, or none for the empty one.
fn or_none(text: StringId) -> Option<u32> {
    (text != StringId::EMPTY).then_some(text.0)
}

/// The columns of [`SLICES`].
const SLICE_COLUMNS: &[Fill<SliceOfTable, SliceTexts>] = &[
    |rows, out| out.ints(rows.iter().map(|row| Some(row.start))),
    |rows, out| out.ints(rows.iter().map(|row| row.duration)),
    |rows, out| {
        let depth = |id: SliceId| rows.known.depths[id.0 as usize];
        out.ints(rows.iter().map(|row| Some(depth(row.id).into())));
    },
    |rows, out| {
        let strings = Names::Strings(&rows.loaded.trace.strings);
        out.names(strings, rows.iter().map(|row| Some(row.name.0)));
    },
    |rows, out| {
        let strings = Names::Strings(&rows.loaded.trace.strings);
        out.names(strings, rows.iter().map(|row| or_none(row.category)));
    },
    |rows, out| out.keys(rows.iter().map(|row| row.pid)),
    |rows, out| {
        let tids = &rows.known.owners.tids;
        out.keys(rows.iter().map(|row| tids[row.owner]));
    },
    |rows, out| {
        let strings = Names::Strings(&rows.loaded.trace.strings);
        let processes = &rows.known.owners.processes;
        let names = rows.iter().map(|row| match row.process {
            Some(process) => {
                let all = &rows.loaded.trace.processes;
                all.get(process.0 as usize).map(|process| process.name.0)
            }
            None => processes[row.owner],
        });
        out.names(strings, names);
    },
    |rows, out| {
        let names = Names::Texts(&rows.known.owners.names);
        out.names(names, rows.iter().map(|row| Some(row.owner as u32)));
    },
    |rows, out| {
        let names = Names::Texts(&rows.known.tracks);
        out.names(names, rows.iter().map(|row| Some(row.track)));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.id.0.into()))),
    |rows, out| {
        let parent = |row: &SliceOfTable| row.parent.map(|parent| i64::from(parent.0));
        out.ints(rows.iter().map(parent));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.track.into()))),
    |rows, out| {
        let owners = &rows.known.owners;
        out.ints(rows.iter().map(|row| owners.utid(row.owner)));
    },
    |rows, out| {
        let owners = &rows.known.owners;
        out.ints(rows.iter().map(|row| match row.process {
            Some(process) => Some(process.0.into()),
            None => owners.upids[row.owner],
        }));
    },
    |rows, out| {
        let trace = &rows.loaded.trace;
        let begin = |row: &SliceOfTable| trace.slices.begin(row.id.0 as usize);
        let cpu = |row: &SliceOfTable| cpu_of(trace, trace.events.get(begin(row)).cpu);
        out.ints(rows.iter().map(cpu));
    },
    |rows, out| {
        let own = rows.known.own_ns(&rows.loaded.trace);
        out.ints(rows.iter().map(|row| own[row.id.0 as usize]));
    },
    |rows, out| {
        let begins = &rows.loaded.trace.slices.begins;
        let begin = |row: &SliceOfTable| Some(begins.at(row.id.0 as usize).into());
        out.ints(rows.iter().map(begin));
    },
];

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
    stored: Some(Stored {
        name: "instant",
        more: &[
            ColumnDef::row("track_id", "Track row", "The row of the track in tracks."),
            UTID,
            UPID,
            ARG_SET,
        ],
        columns: &[
            same("ts"),
            same("track_id"),
            same("utid"),
            same("upid"),
            same("cpu"),
            same("name"),
            same("category"),
            same("arg_set_id"),
        ],
    }),
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
    let events = trace.events.cursor();
    for (track, row) in (0_u32..).zip(&trace.tracks) {
        for event in trace.instants.of(&row.instants) {
            let (time, id) = (events.time(EventId(event)), EventId(event));
            if scope.chosen.span.contains(time) && scope.chosen.has_point(TrackId(track), id) {
                order.push((time, event, track));
            }
        }
    }
    // Each track is in order: this sort merges them.
    order.par_sort();
    let ids = order.into_iter().map(|(_, event, track)| OnTrack {
        event: EventId(event),
        track: TrackId(track),
    });
    let name = |track: u32| track_name(trace, TrackId(track)).into_owned();
    Box::new(ColumnsOfIds {
        ids: ids.collect::<Vec<OnTrack>>(),
        known: InstantTexts {
            tracks: (0..trace.tracks.len() as u32).map(name).collect(),
            events: EventTexts::new(trace),
        },
        read: |loaded, known: &InstantTexts, id: &OnTrack| InstantOfTable {
            event: EventOfTable::read(&loaded.trace, &known.events, id.event),
            track: id.track,
        },
        columns: INSTANT_COLUMNS,
    })
}

/// Values that are the same in many rows of the table.
struct InstantTexts {
    /// The name of each track.
    tracks: Vec<String>,
    events: EventTexts,
}

/// An instant as the columns of the table need it.
struct InstantOfTable {
    event: EventOfTable,
    track: TrackId,
}

/// The columns of [`INSTANTS`].
const INSTANT_COLUMNS: &[Fill<InstantOfTable, InstantTexts>] = &[
    |rows, out| out.ints(rows.iter().map(|row| Some(row.event.time.0))),
    |rows, out| {
        let kinds = Names::Texts(&rows.known.events.kinds);
        out.names(kinds, rows.iter().map(|row| Some(row.event.kind)));
    },
    |rows, out| {
        let strings = Names::Strings(&rows.loaded.trace.strings);
        out.names(strings, rows.iter().map(|row| row.event.category));
    },
    |rows, out| {
        let pids = &rows.known.events.owners.pids;
        out.keys(rows.iter().map(|row| pids[row.event.owner]));
    },
    |rows, out| {
        let tids = &rows.known.events.owners.tids;
        out.keys(rows.iter().map(|row| tids[row.event.owner]));
    },
    |rows, out| out.ints(rows.iter().map(|row| row.event.cpu)),
    |rows, out| {
        let names = Names::Texts(&rows.known.tracks);
        out.names(names, rows.iter().map(|row| Some(row.track.0)));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.track.0.into()))),
    |rows, out| {
        let owners = &rows.known.events.owners;
        out.ints(rows.iter().map(|row| owners.utid(row.event.owner)));
    },
    |rows, out| {
        let owners = &rows.known.events.owners;
        out.ints(rows.iter().map(|row| owners.upids[row.event.owner]));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.event.id.0.into()))),
];

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
        ColumnDef::text(
            "exact",
            "In full",
            "The value in full, if a floating point number cannot hold it.",
        )
        .minor(),
    ],
    stored: Some(Stored {
        name: "counter",
        more: &[
            ID,
            ColumnDef::row("track_id", "Track row", "The row of the counter in tracks."),
        ],
        columns: &[
            same("id"),
            same("ts"),
            same("track_id"),
            same("value"),
            same("exact"),
        ],
    }),
    rows: Rows::Trace(counters),
};

/// A sample of a counter.
#[derive(Clone, Copy)]
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
    Box::new(ColumnsOfIds {
        ids: ids.collect::<Vec<Sample>>(),
        known: (),
        read: |_, (), sample: &Sample| *sample,
        columns: SAMPLE_COLUMNS,
    })
}

/// The columns of [`COUNTERS`].
const SAMPLE_COLUMNS: &[Fill<Sample, ()>] = &[
    |rows, out| {
        let times = &rows.loaded.trace.counters.times;
        out.ints(rows.iter().map(|row| Some(times[row.row as usize])));
    },
    |rows, out| {
        let trace = &rows.loaded.trace;
        let name = |row: &Sample| Some(track_of(trace, row).name.0);
        out.names(Names::Strings(&trace.strings), rows.iter().map(name));
    },
    |rows, out| {
        let loaded = rows.loaded;
        out.cells(rows.iter().map(|row| value_of(loaded, row)));
    },
    |rows, out| {
        let trace = &rows.loaded.trace;
        let pid = |row: &Sample| match track_of(trace, row).scope {
            CounterScope::Process(process) => {
                let process = trace.processes.get(process.0 as usize);
                process.map(|process| process.pid)
            }
            CounterScope::Thread(ThreadId::IDLE) => None,
            CounterScope::Thread(thread) => trace.process_of(thread).map(|process| process.pid),
            CounterScope::Cpu(_) | CounterScope::Global => None,
        };
        out.keys(rows.iter().map(pid));
    },
    |rows, out| {
        let trace = &rows.loaded.trace;
        let cpu = |row: &Sample| match track_of(trace, row).scope {
            CounterScope::Cpu(cpu) => cpu_of(trace, Some(cpu.0)),
            _ => None,
        };
        out.ints(rows.iter().map(cpu));
    },
    |rows, out| {
        let loaded = rows.loaded;
        out.cells(rows.iter().map(|row| match value_of(loaded, row) {
            Cell::Int(whole) if (whole as f64) as i128 != whole => whole.to_string().into(),
            _ => Cell::None,
        }));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.row.into()))),
    |rows, out| {
        let first = rows.loaded.trace.tracks.len() as i64;
        let track = |row: &Sample| Some(first + i64::from(row.track.0));
        out.ints(rows.iter().map(track));
    },
];

fn track_of<'a>(trace: &'a Trace, sample: &Sample) -> &'a CounterTrack {
    &trace.counters.tracks[sample.track.0 as usize]
}

/// Returns the value of a sample: a whole number if a floating point number may not hold it.
fn value_of(loaded: &LoadedTrace, sample: &Sample) -> Cell<'static> {
    let trace = &loaded.trace;
    let track = trace.strings.bytes(track_of(trace, sample).name);
    let row = sample.row as usize;
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
        ColumnDef::code("key", "Key", "The number that the file has for it.").minor(),
        ColumnDef::row(
            "from_slice",
            "From slice",
            "The row of the slice where it begins.",
        ),
        ColumnDef::row(
            "to_slice",
            "To slice",
            "The row of the slice where it ends.",
        ),
    ],
    stored: Some(Stored {
        name: "flow",
        more: &[
            ColumnDef::row(
                "from_utid",
                "From row",
                "The row of the thread where it begins.",
            ),
            ColumnDef::row("to_utid", "To row", "The row of the thread where it ends."),
        ],
        columns: &[
            same("id"),
            renamed("slice_out", "from_slice"),
            renamed("slice_in", "to_slice"),
            same("name"),
            same("from_ts"),
            same("from_utid"),
            same("to_ts"),
            same("to_utid"),
            same("key"),
        ],
    }),
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
    let ids: Vec<u32> = (0..flows.len() as u32).filter(is_chosen).collect();
    Box::new(ColumnsOfIds {
        ids,
        known: Owners::new(&scope.loaded.trace),
        read: |loaded, _: &Owners, &id: &u32| FlowOfTable {
            id,
            flow: loaded.trace.flows.rows[id as usize],
        },
        columns: FLOW_COLUMNS,
    })
}

/// A flow with its number.
struct FlowOfTable {
    id: u32,
    flow: Flow,
}

/// The columns of [`FLOWS`].
const FLOW_COLUMNS: &[Fill<FlowOfTable, Owners>] = &[
    |rows, out| out.ints(rows.iter().map(|row| Some(row.id.into()))),
    |rows, out| {
        let strings = Names::Strings(&rows.loaded.trace.strings);
        out.names(strings, rows.iter().map(|row| Some(row.flow.name.0)));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.flow.from.time.0))),
    |rows, out| {
        let known = rows.known;
        let tid = |row: &FlowOfTable| known.tids[known.index(row.flow.from.thread)];
        out.keys(rows.iter().map(tid));
    },
    |rows, out| out.ints(rows.iter().map(|row| Some(row.flow.to.time.0))),
    |rows, out| {
        let known = rows.known;
        let tid = |row: &FlowOfTable| known.tids[known.index(row.flow.to.thread)];
        out.keys(rows.iter().map(tid));
    },
    |rows, out| out.keys(rows.iter().map(|row| Some(row.flow.key))),
    |rows, out| {
        let slice = |row: &FlowOfTable| row.flow.from.slice.map(|slice| i64::from(slice.0));
        out.ints(rows.iter().map(slice));
    },
    |rows, out| {
        let slice = |row: &FlowOfTable| row.flow.to.slice.map(|slice| i64::from(slice.0));
        out.ints(rows.iter().map(slice));
    },
    |rows, out| {
        let known = rows.known;
        let utid = |row: &FlowOfTable| known.utid(known.index(row.flow.from.thread));
        out.ints(rows.iter().map(utid));
    },
    |rows, out| {
        let known = rows.known;
        let utid = |row: &FlowOfTable| known.utid(known.index(row.flow.to.thread));
        out.ints(rows.iter().map(utid));
    },
];
