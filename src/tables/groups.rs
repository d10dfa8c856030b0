//! Sums over the slices, runs, states, events and counters of an area.

use super::columns::{AT_LEAST, CATEGORY, UNFINISHED};
use super::rows::MadeRow;
use super::{Cell, ColumnDef, Rows, TableDef, Unit};
use crate::base::TimeSpan;
use crate::event::SliceKind;
use crate::query::Item;
use crate::query::area::counters::CounterSummary;
use crate::query::area::events::{EventGroup, per_second};
use crate::query::area::{Group, GroupBy};
use crate::query::item::title;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, Trace};

/// Groups of slices, runs or states.
pub(crate) const GROUPS: TableDef = TableDef {
    name: "sums",
    title: "Sums",
    about: "Slices, runs or states added up by name, thread, process or CPU.",
    columns: &[
        ColumnDef::text(
            "group",
            "Group",
            "The name, thread, process or CPU that they have in common.",
        )
        .kept(),
        CATEGORY,
        ColumnDef::count("count", "Count", "How many there are."),
        ColumnDef::duration("sum", "Sum", "Their total duration.").kept(),
        ColumnDef::duration(
            "self",
            "Self",
            "Their total duration without what is nested in them.",
        )
        .minor(),
        ColumnDef::duration("mean", "Mean", "Their mean duration."),
        ColumnDef::duration("min", "Shortest", "The shortest duration.").minor(),
        ColumnDef::duration("p50", "Median", "Half of them lasted at most this long.").minor(),
        ColumnDef::duration("p95", "95 %", "95 of 100 lasted at most this long.").minor(),
        ColumnDef::duration("p99", "99 %", "99 of 100 lasted at most this long.").minor(),
        ColumnDef::duration("max", "Longest", "The longest duration."),
        ColumnDef::text("kind", "Kind", "The kind of slices.").minor(),
        UNFINISHED,
        AT_LEAST.kept(),
    ],
    stored: None,
    rows: Rows::Answer("stats FILE --of slices|runs|states"),
};

/// For panes only: cells after those of [`GROUPS`]. The lengths of an empty group are empty, not 0.
pub(crate) const OF_SOME: [ColumnDef<'static>; 3] = [
    ColumnDef::number(
        "share",
        "Share",
        Unit::Percent,
        "Their share of the whole area",
    ),
    ColumnDef::duration(
        "sum_of_some",
        "Total",
        "Their total duration, each slice whole",
    ),
    ColumnDef::duration("self_of_some", "Self", "Total without nested slices"),
];

/// Returns a row of [`GROUPS`], followed by cells of [`OF_SOME`]; shares are relative to `whole_ns`, in ns.
pub(crate) fn group_row(trace: &Trace, group: &Group, whole_ns: f64) -> MadeRow {
    let key = &group.key;
    let category = key
        .name
        .map(|(_, category)| Cell::of_string(trace, category));
    let known = |ns: i64| Cell::from(group.known(ns));
    let some = |cell: Cell<'static>| match group.count {
        0 => Cell::None,
        _ => cell,
    };
    let share = Cell::percent(group.inside_ns as f64 / whole_ns);
    let cells = vec![
        key.label(trace).into(),
        category.into(),
        group.count.into(),
        group.sum_ns.into(),
        group.own_ns.into(),
        known(group.mean_ns()),
        known(group.min_ns),
        known(group.p50_ns),
        known(group.p95_ns),
        known(group.p99_ns),
        known(group.max_ns),
        key.kind.map(SliceKind::word).into(),
        group.unfinished.into(),
        group.unfinished_ns.into(),
        share,
        some(group.sum_ns.into()),
        some(group.own_ns.into()),
    ];
    let item = key
        .name
        .and(group.longest.map(Item::Slice))
        .or(key.thread.map(Item::Thread))
        .or(key.cpu.map(Item::Cpu))
        .or(key.process.map(Item::Process));
    MadeRow::new(cells).about(item)
}

/// Groups of events.
pub(crate) const EVENT_GROUPS: TableDef = TableDef {
    name: "event_counts",
    title: "Event counts",
    about: "Events counted by name, thread, process or CPU.",
    columns: &[
        ColumnDef::text(
            "group",
            "Group",
            "The name, thread, process or CPU that they have in common.",
        ),
        CATEGORY,
        ColumnDef::count("count", "Count", "How many there are."),
        ColumnDef::number(
            "per_second",
            "Rate",
            Unit::PerSecond,
            "How many there are per second.",
        ),
    ],
    stored: None,
    rows: Rows::Answer("stats FILE --of events"),
};

/// For panes only: cells after those of [`EVENT_GROUPS`].
pub(crate) const EVENT_RATES: [ColumnDef<'static>; 2] = [
    ColumnDef::number(
        "rate",
        "Per second",
        Unit::None,
        "How many per second of the area, on average",
    ),
    ColumnDef::number(
        "share",
        "Of events",
        Unit::Percent,
        "Count, as a share of all events of the area",
    ),
];

/// Returns rows of [`EVENT_GROUPS`], followed by cells of [`EVENT_RATES`].
pub(crate) fn event_rows(
    trace: &Trace,
    groups: &[EventGroup],
    by: GroupBy,
    span: TimeSpan,
) -> Vec<MadeRow> {
    let all: u64 = groups.iter().map(|group| group.count).sum();
    let row = |group: &EventGroup| {
        let key = &group.key;
        let category = key
            .name
            .map(|(_, category)| Cell::of_string(trace, category));
        let rate = per_second(trace, span, group.count);
        let item = key.thread.map(Item::Thread);
        let item = item.or(key.cpu.map(Item::Cpu));
        MadeRow::new([
            group.label(trace, by).into(),
            category.into(),
            group.count.into(),
            rate.map(|rate| (rate * 1000.0).round() / 1000.0).into(),
            rate.map(rounded).into(),
            Cell::percent(group.count as f64 / all.max(1) as f64),
        ])
        .about(item.or(key.process.map(Item::Process)))
    };
    groups.iter().map(row).collect()
}

/// Rounds a rate to the digits that people compare: no decimals above a hundred.
fn rounded(rate: f64) -> f64 {
    match rate {
        100.0.. => rate.round(),
        1.0.. => (rate * 10.0).round() / 10.0,
        _ => (rate * 1000.0).round() / 1000.0,
    }
}

/// The values of counters.
pub(crate) const COUNTER_SUMS: TableDef = TableDef {
    name: "counter_sums",
    title: "Counter sums",
    about: "The mean, least and greatest value of each counter.",
    columns: &[
        ColumnDef::text("track", "Counter", "The counter's name.").kept(),
        ColumnDef::text(
            "of",
            "Of",
            "The thread, process or CPU that it belongs to; empty if it is the whole machine's.",
        )
        .kept(),
        ColumnDef::count("count", "Samples", "How many samples there are."),
        ColumnDef::number(
            "mean",
            "Mean",
            Unit::None,
            "The mean over time: each value for as long as it held.",
        ),
        ColumnDef::number("min", "Least", Unit::None, "The least value."),
        ColumnDef::number("max", "Most", Unit::None, "The greatest value."),
        ColumnDef::number("first", "First", Unit::None, "The first value."),
        ColumnDef::number("last", "Last", Unit::None, "The last value."),
        ColumnDef::number(
            "sample_mean",
            "Mean of samples",
            Unit::None,
            "The mean of the samples inside, each counted once: for latencies and other measurements.",
        ),
    ],
    stored: None,
    rows: Rows::Answer("stats FILE --of counters"),
};

/// For panes only: the cell after those of [`COUNTER_SUMS`].
pub(crate) const COUNTER_CHANGE: ColumnDef<'static> =
    ColumnDef::number("change", "Change", Unit::None, "Last minus first");

/// Returns rows of [`COUNTER_SUMS`], followed by the cell of [`COUNTER_CHANGE`]; the item of each is the counter's first
/// sample.
pub(crate) fn counter_rows(trace: &Trace, counters: &[CounterSummary]) -> Vec<MadeRow> {
    let row = |counter: &CounterSummary| {
        let track = trace.counters.tracks.get(counter.track.0 as usize);
        MadeRow::new([
            name_of_counter(trace, counter.track).into(),
            owner_of_counter(trace, counter.track, Numbered::Yes).into(),
            counter.count.into(),
            counter.mean.into(),
            counter.min.into(),
            counter.max.into(),
            counter.first.into(),
            counter.last.into(),
            counter.sample_mean.into(),
            (counter.last - counter.first).into(),
        ])
        .about(track.map(|track| Item::Sample(counter.track, track.samples.start)))
    };
    counters.iter().map(row).collect()
}

/// Returns the name of a counter.
pub(crate) fn name_of_counter(trace: &Trace, id: CounterTrackId) -> String {
    let track = trace.counters.tracks.get(id.0 as usize);
    track.map_or_else(String::new, |track| trace.text(track.name).into_owned())
}

/// Whether the name of an owner has its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbered {
    /// `make (123)`.
    Yes,
    /// `make`.
    No,
}

/// Returns the name of the owner of a counter; empty for the whole machine.
pub(crate) fn owner_of_counter(trace: &Trace, id: CounterTrackId, numbered: Numbered) -> String {
    let track = trace.counters.tracks.get(id.0 as usize);
    match (track.map(|track| track.scope), numbered) {
        (Some(CounterScope::Cpu(cpu)), _) => trace.cpu_title(cpu),
        (Some(CounterScope::Thread(thread)), Numbered::Yes) => trace.thread_title(thread),
        (Some(CounterScope::Thread(thread)), Numbered::No) => {
            trace.thread_name(thread).into_owned()
        }
        (Some(CounterScope::Process(process)), Numbered::Yes) => trace.process_title(process),
        (Some(CounterScope::Process(process)), Numbered::No) => {
            title(trace, Item::Process(process))
        }
        (Some(CounterScope::Global) | None, _) => String::new(),
    }
}
