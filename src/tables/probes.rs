//! The table of probes: their definitions, the kernel's counts, and the durations of calls between entry and return.

use std::sync::Arc;

use super::columns::{THREAD_IN_FULL, TS};
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, TableDef};
use crate::event::FieldRole;
use crate::event::kernel::ProbeGroup;
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::details::describe;
use crate::query::probes::{ProbeTable, item_of, table};
use crate::trace::EventId;

/// The probes of a trace and of the definitions beside it.
pub(crate) const PROBES: TableDef = TableDef {
    name: "probes",
    title: "Probes",
    about: "kprobes and uprobes: definitions, hits, durations of calls.",
    columns: &[
        ColumnDef::text("group", "Group", "The group of the event."),
        ColumnDef::text("event", "Event", "The name of the event."),
        ColumnDef::text("sort", "Kind", "entry or return."),
        ColumnDef::text("place", "Place", "Where it is set."),
        ColumnDef::text("arguments", "Arguments", "What it records."),
        ColumnDef::count("hits", "Hits", "How often the kernel counted it."),
        ColumnDef::count("misses", "Misses", "How often the kernel missed it."),
        ColumnDef::count("events", "Events", "How many events the trace has of it."),
        ColumnDef::count(
            "calls",
            "Calls",
            "How many calls the pair of entry and return has.",
        ),
        ColumnDef::duration("mean", "Mean", "Their mean duration."),
        ColumnDef::duration("p50", "Median", "Half of them lasted at most this long."),
        ColumnDef::duration("p95", "95 %", "95 of 100 lasted at most this long.").minor(),
        ColumnDef::duration("p99", "99 %", "99 of 100 lasted at most this long."),
        ColumnDef::duration("max", "Longest", "The longest duration."),
    ],
    stored: None,
    rows: Rows::Trace(|scope| {
        let loaded = scope.loaded;
        let set = loaded.probes.as_ref().map(|it| it.set.as_ref());
        let all = table(&loaded.trace, Some(loaded.reader.as_ref()), set, scope.job);
        let all = all.unwrap_or_default();
        Box::new(probe_rows(Arc::new(all)))
    }),
};

/// For panes only: the event, with its group unless that is the default.
pub(crate) const EVENT_IN_FULL: ColumnDef<'static> = ColumnDef::text(
    "event_in_full",
    "Event",
    "The group and the name of the event",
);

/// Appends the cells of a row of [`PROBES`], followed by a cell of [`EVENT_IN_FULL`].
pub(crate) fn probe_cells<'a>(all: &'a ProbeTable, at: usize, cells: &mut Vec<Cell<'a>>) {
    let Some(row) = all.rows.get(at) else {
        return;
    };
    let pair = row.pair.and_then(|pair| all.pairs.get(pair));
    let arguments = row.definitions.first().map(|probe| {
        let texts = probe.arguments.iter();
        let texts = texts.map(|it| format!("{}={}", it.name, it.text));
        texts.collect::<Vec<_>>().join(" ")
    });
    cells.extend([
        row.group.as_str().into(),
        row.event.as_str().into(),
        row.sort(all).map(|sort| sort.word()).into(),
        row.place(all).into(),
        arguments.into(),
        row.hits.into(),
        row.misses.into(),
        row.events.into(),
        pair.map(|pair| pair.durations.len() as u64).into(),
        pair.map(|pair| pair.mean()).into(),
        pair.map(|pair| pair.quantile(0.5)).into(),
        pair.map(|pair| pair.quantile(0.95)).into(),
        pair.map(|pair| pair.quantile(0.99)).into(),
        pair.map(|pair| pair.quantile(1.0)).into(),
        match ProbeGroup::of(row.group.as_bytes()) {
            // The usual groups of probes: the name alone is enough.
            Some(ProbeGroup::Kprobes | ProbeGroup::Uprobes) => row.event.as_str().into(),
            _ => format!("{}/{}", row.group, row.event).into(),
        },
    ]);
}

/// Returns rows of [`PROBES`].
pub(crate) fn probe_rows(all: Arc<ProbeTable>) -> impl RowSource {
    let ids = (0..all.rows.len()).collect();
    RowsOfIds::new(ids, all, |_: &LoadedTrace, all, &at: &usize, cells| {
        probe_cells(all, at, cells);
    })
}

/// The events of one probe.
pub(crate) const PROBE_EVENTS: TableDef = TableDef {
    name: "probe_events",
    title: "Events of a probe",
    about: "The events of one probe with the arguments that it recorded.",
    columns: &[
        TS,
        THREAD_IN_FULL,
        ColumnDef::text("arguments", "Arguments", "What it recorded."),
    ],
    stored: None,
    rows: Rows::Answer("search EVENT: FILE --in events"),
};

/// The events of a probe as rows of [`PROBE_EVENTS`]; the item of each is the slice that the event begins or ends, or
/// the event. An event is decoded when its arguments are read.
pub(crate) struct ProbeEvents(pub Vec<EventId>);

impl RowSource for ProbeEvents {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        cells.extend((0..PROBE_EVENTS.columns.len()).map(|column| self.cell(loaded, at, column)));
    }

    fn cell<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, column: usize) -> Cell<'a> {
        let Some(&event) = self.0.get(at) else {
            return Cell::None;
        };
        let trace = &loaded.trace;
        match column {
            0 => trace.events.time(event).into(),
            1 => trace.thread_title(trace.events.thread(event)).into(),
            _ => arguments_of(loaded, event).into(),
        }
    }

    fn item(&self, loaded: &LoadedTrace, at: usize) -> Option<Item> {
        Some(item_of(&loaded.trace, *self.0.get(at)?))
    }
}

/// Returns the arguments that a probe recorded in an event, without the fields that all events have.
fn arguments_of(loaded: &LoadedTrace, event: EventId) -> String {
    let detail = describe(&loaded.trace, loaded.reader.as_ref(), event);
    let own = detail
        .fields
        .iter()
        .filter(|field| !matches!(field.role, FieldRole::Common | FieldRole::Probe));
    let texts = own.map(|field| format!("{}={}", field.name, field.text()));
    texts.collect::<Vec<_>>().join("  ")
}
