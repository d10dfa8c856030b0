//! The table of probes: their definitions, the kernel's counts, and the durations of calls between entry and return.

use std::sync::Arc;

use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource};
use crate::load::LoadedTrace;
use crate::query::probes::ProbeTable;

/// Columns of the probes.
pub(crate) const PROBES: &[ColumnDef<'static>] = &[
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
    ColumnDef::duration("mean", "Mean", "How long one lasted on average."),
    ColumnDef::duration("p50", "Median", "Half of them lasted at most this long."),
    ColumnDef::duration("p95", "95 %", "95 of 100 lasted at most this long.").minor(),
    ColumnDef::duration("p99", "99 %", "99 of 100 lasted at most this long."),
    ColumnDef::duration("max", "Longest", "How long the longest lasted."),
];

/// For panes only: the event, with its group unless that is the default.
pub(crate) const EVENT_IN_FULL: ColumnDef<'static> = ColumnDef::text(
    "event_in_full",
    "Event",
    "The group and the name of the event",
);

/// Appends the cells of a row of [`PROBES`], followed by a cell of [`EVENT_IN_FULL`].
pub(crate) fn probe_cells(all: &ProbeTable, at: usize, cells: &mut Vec<Cell>) {
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
        match row.group.as_str() {
            "kprobes" | "uprobes" => row.event.as_str().into(),
            group => format!("{group}/{}", row.event).into(),
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
