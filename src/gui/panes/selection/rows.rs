//! The totals of an area, as tables of the pane.

use super::area::{Whole, whole_of};
use crate::base::TimeSpan;
use crate::gui::table::{PaneColumn, TableData};
use crate::gui::tint::Tint;
use crate::query::area::counters::CounterSummary;
use crate::query::area::events::EventGroup;
use crate::query::area::{Area, Group, GroupBy, What};
use crate::tables::TableDef;
use crate::tables::groups::{
    COUNTER_CHANGE, COUNTER_SUMS, EVENT_GROUPS, EVENT_RATES, GROUPS, OF_SOME, counter_rows,
    event_rows, group_row,
};
use crate::trace::Trace;

/// Returns the column of shares; its title names the reference of the shares. The certain part
/// of the time of unfinished rows counts in each share.
fn share_column(what: What, whole: Whole) -> PaneColumn {
    let (title, width, about) = match (what, whole) {
        (What::Slices, Whole::Range) => (
            "Of range",
            74.0,
            "Their time inside the range, as a share of the part of the range that was recorded; unfinished \
             slices count with their least duration; more than 100 % where several overlap",
        ),
        (What::Slices, Whole::CpuTime(_)) => (
            "Of CPU time",
            88.0,
            "Their time inside the range, as a share of the CPU time of the part of the range that was \
             recorded: its length times the number of the selected CPUs; unfinished slices count with their \
             least duration",
        ),
        (What::Runs, _) => (
            "Of one CPU",
            84.0,
            "Total with the least duration of unfinished runs, as a share of the time of one CPU in the \
             range: 100 % is one CPU busy all the time",
        ),
        (What::States, _) => (
            "Of thread time",
            100.0,
            "Total with the least duration of unfinished states, as a share of the time of all states in the \
             area",
        ),
    };
    let [share, _, _] = OF_SOME;
    let column = PaneColumn::after(&GROUPS, 0, share, width);
    column.titled(title).about(about)
}

/// Returns the column of the group's name.
fn first_column(table: &TableDef, what: What, by: GroupBy) -> PaneColumn {
    let (title, width, about) = match (what, by) {
        (What::Slices, GroupBy::Name) => ("Name", 190.0, "What the slices are called"),
        (What::States, GroupBy::Name) => ("State", 200.0, "What threads were doing"),
        (_, GroupBy::Name | GroupBy::Thread) => ("Thread", 200.0, "Name and number"),
        (_, GroupBy::ThreadName) => ("Thread", 200.0, "The name of threads"),
        (_, GroupBy::Process) => ("Process", 200.0, "Name and number"),
        (_, GroupBy::Cpu) => ("CPU", 120.0, "The number of the CPU"),
    };
    let column = PaneColumn::of(table, "group", width);
    column.titled(title).about(about)
}

/// Returns the columns of groups, after the first.
fn measures(what: What, whole: Whole, groups: &[Group]) -> Vec<PaneColumn> {
    let of = |name: &str, title: &'static str, about: &'static str| {
        PaneColumn::of(&GROUPS, name, 78.0)
            .titled(title)
            .about(about)
    };
    let [_, sum, own] = OF_SOME;
    let sum = PaneColumn::after(&GROUPS, 1, sum, 86.0);
    // The longest and the mean come early, because a narrow pane shows only the first columns.
    let mut columns = Vec::new();
    if groups.iter().any(|group| group.unfinished > 0) {
        columns.extend([
            PaneColumn::of(&GROUPS, "count", 62.0).about("How many that ended"),
            of(
                "unfinished",
                "Unfinished",
                "How many never ended. Durations leave them out; Of range counts what is in the range",
            ),
            PaneColumn::of(&GROUPS, "at_least", 86.0)
                .about("The least total duration of the unfinished items"),
        ]);
    } else {
        columns.push(PaneColumn::of(&GROUPS, "count", 62.0).about("How many"));
    }
    columns.extend([
        match what {
            What::Slices => sum,
            What::Runs | What::States => sum.about("Their total time inside the area"),
        },
        share_column(what, whole),
        of("max", "Max", "The longest"),
        of("mean", "Mean", "Total divided by count"),
    ]);
    if what == What::Slices {
        columns.push(PaneColumn::after(&GROUPS, 2, own, 82.0));
    }
    columns.extend([
        of("p50", "p50", "Half are at most this long"),
        of("p95", "p95", "95 of 100 are at most this long"),
        of("p99", "p99", "99 of 100 are at most this long"),
        of("min", "Min", "The shortest"),
    ]);
    columns
}

/// Returns groups as a table.
#[must_use]
pub(crate) fn of_groups(
    trace: &Trace,
    groups: &[Group],
    what: What,
    by: GroupBy,
    area: &Area,
) -> TableData {
    let share_of = whole_of(area, trace);
    let mut columns = vec![first_column(&GROUPS, what, by)];
    columns.extend(measures(what, share_of, groups));
    if what == What::Slices && by == GroupBy::Name {
        columns.push(PaneColumn::of(&GROUPS, "category", 100.0));
    }
    let length = area.span.intersection(trace.span).duration().0.max(1) as f64;
    let all: i128 = groups.iter().map(|group| group.inside_ns).sum();
    let whole_ns = match (what, share_of) {
        (What::Slices, Whole::CpuTime(count)) => length * count as f64,
        (What::Slices | What::Runs, _) => length,
        (What::States, _) => (all as f64).max(1.0),
    };
    let tint = |group: &Group| {
        let key = &group.key;
        match (key.state, key.name, key.thread) {
            (Some(state), _, _) => Some(Tint::State(state)),
            (None, Some((name, _)), _) => Some(Tint::of_name(trace.strings.bytes(name))),
            (None, None, Some(thread)) => Some(Tint::of_thread(trace, thread)),
            _ => (key.cpu.map(Tint::of_cpu)).or_else(|| Tint::of_process(trace, key.process?)),
        }
    };
    let tints = groups.iter().map(tint).collect();
    let row = |group: &Group| group_row(trace, group, whole_ns);
    let rows: Vec<_> = groups.iter().map(row).collect();
    TableData::new(columns, rows).tinted(tints)
}

/// Returns counted events as a table.
#[must_use]
pub(crate) fn of_events(
    trace: &Trace,
    groups: &[EventGroup],
    by: GroupBy,
    span: TimeSpan,
) -> TableData {
    let first = first_column(&EVENT_GROUPS, What::Slices, by);
    let [rate, share] = EVENT_RATES;
    let mut columns = vec![
        match by {
            GroupBy::Name => first.about("What the events are called"),
            _ => first,
        },
        PaneColumn::of(&EVENT_GROUPS, "count", 86.0).about("How many"),
        PaneColumn::after(&EVENT_GROUPS, 0, rate, 92.0),
        PaneColumn::after(&EVENT_GROUPS, 1, share, 80.0),
    ];
    if by == GroupBy::Name {
        columns.push(PaneColumn::of(&EVENT_GROUPS, "category", 100.0));
    }
    // All events have one colour: only threads get a mark, names do not.
    let tint = |group: &EventGroup| Some(Tint::of_thread(trace, group.key.thread?));
    let tints = groups.iter().map(tint).collect();
    TableData::new(columns, event_rows(trace, groups, by, span)).tinted(tints)
}

/// Returns counters as a table.
#[must_use]
pub(crate) fn of_counters(trace: &Trace, counters: &[CounterSummary]) -> TableData {
    let of = |name: &str, title: &'static str, about: &'static str| {
        let column = PaneColumn::of(&COUNTER_SUMS, name, 90.0);
        column.titled(title).about(about)
    };
    let columns = vec![
        PaneColumn::of(&COUNTER_SUMS, "track", 220.0),
        PaneColumn::of(&COUNTER_SUMS, "of", 140.0),
        PaneColumn::of(&COUNTER_SUMS, "count", 72.0).about("Samples inside the area"),
        of(
            "mean",
            "Mean",
            "Mean over time: each value counts for as long as it held",
        ),
        of("min", "Min", "The smallest value"),
        of("max", "Max", "The largest value"),
        of("first", "First", "The value at the start"),
        of("last", "Last", "The value at the end"),
        PaneColumn::after(&COUNTER_SUMS, 0, COUNTER_CHANGE, 90.0),
    ];
    TableData::new(columns, counter_rows(trace, counters))
}
