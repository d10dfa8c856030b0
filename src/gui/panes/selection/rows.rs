//! What an area adds up to, as rows of a table.

use super::area::{Whole, whole_of};
use crate::base::TimeSpan;
use crate::gui::table::{Cell, TableColumn, TableData, TableRow, column};
use crate::gui::tint::Tint;
use crate::query::Item;
use crate::query::area::counters::CounterSummary;
use crate::query::area::events::{EventGroup, per_second};
use crate::query::area::{Area, Group, GroupBy, What};
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, Trace};

/// Whether a table has columns for slices that never ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unfinished {
    None,
    Some,
}

/// The columns of groups, after the first.
fn measures(what: What, whole: Whole, unfinished: Unfinished) -> Vec<TableColumn> {
    let sum = match what {
        What::Slices => column("Total", 86.0, "Their whole durations together"),
        What::Runs | What::States => column("Total", 86.0, "Their time inside the area together"),
    };
    let share = match (what, whole) {
        (What::Slices, Whole::Range) => column(
            "Of range",
            74.0,
            "What of them lies inside the range, as a share of the range's length; more than 100 % where several lie \
             side by side",
        ),
        (What::Slices, Whole::CpuTime(_)) => column(
            "Of CPU time",
            88.0,
            "What of them lies inside the range, as a share of the CPU time of the range: its length times the number \
             of the selected CPUs",
        ),
        (What::Runs, _) => column(
            "Of one CPU",
            84.0,
            "Share of the time of one CPU in the range: 100 % is one CPU busy all the time",
        ),
        (What::States, _) => column(
            "Of thread time",
            100.0,
            "Total, as a share of the time of all states in the area",
        ),
    };
    // The longest and the mean stand before what fewer look at: a narrow pane shows them.
    let mut columns = match unfinished {
        Unfinished::None => vec![column("Count", 62.0, "How many")],
        Unfinished::Some => vec![
            column("Count", 62.0, "How many that ended"),
            column(
                "Unfinished",
                78.0,
                "How many never ended: they are in no other number of the row but the next",
            ),
            column(
                "At least",
                86.0,
                "How long the unfinished ones certainly lasted, together",
            ),
        ],
    };
    columns.extend([
        sum,
        share,
        column("Max", 78.0, "The longest"),
        column("Mean", 78.0, "Total divided by count"),
    ]);
    if what == What::Slices {
        columns.push(column(
            "Self",
            82.0,
            "Total without what lies inside other slices of theirs",
        ));
    }
    columns.extend([
        column("p50", 78.0, "Half are not longer"),
        column("p95", 78.0, "95 of 100 are not longer"),
        column("p99", 78.0, "99 of 100 are not longer"),
        column("Min", 78.0, "The shortest"),
    ]);
    columns
}

fn first_column(what: What, by: GroupBy) -> TableColumn {
    match (what, by) {
        (What::Slices, GroupBy::Name) => column("Name", 190.0, "What the slices are called"),
        (What::States, GroupBy::Name) => column("State", 200.0, "What threads were doing"),
        (_, GroupBy::Name | GroupBy::Thread) => column("Thread", 200.0, "Name and number"),
        (_, GroupBy::ThreadName) => column("Thread", 200.0, "The name of threads"),
        (_, GroupBy::Process) => column("Process", 200.0, "Name and number"),
        (_, GroupBy::Cpu) => column("CPU", 120.0, "The number of the CPU"),
    }
}

/// Groups as a table.
#[must_use]
pub fn of_groups(
    trace: &Trace,
    groups: &[Group],
    what: What,
    by: GroupBy,
    area: &Area,
) -> TableData {
    let mut columns = vec![first_column(what, by)];
    let has_category = what == What::Slices && by == GroupBy::Name;
    let share_of = whole_of(area, trace);
    let unfinished = match groups.iter().any(|group| group.unfinished > 0) {
        true => Unfinished::Some,
        false => Unfinished::None,
    };
    columns.extend(measures(what, share_of, unfinished));
    if has_category {
        columns.push(column("Category", 100.0, "The category or system"));
    }
    let length = area.span.intersection(trace.span).duration().0.max(1) as f64;
    let all: i128 = groups.iter().map(|group| group.sum_ns).sum();
    let whole = match (what, share_of) {
        (What::Slices, Whole::CpuTime(count)) => length * count as f64,
        (What::Slices | What::Runs, _) => length,
        (What::States, _) => (all as f64).max(1.0),
    };
    let row = |group: &Group| {
        let label = group.key.label(trace);
        let mut cells = vec![Cell::Text(label.clone())];
        // Of nothing there is no length, not even 0.
        let some = |cell: Cell| match group.count {
            0 => Cell::None,
            _ => cell,
        };
        let length = |ns: i64| some(Cell::Length(i128::from(ns)));
        cells.push(Cell::Count(group.count));
        if unfinished == Unfinished::Some {
            cells.extend(match group.unfinished {
                0 => [Cell::None, Cell::None],
                count => [Cell::Count(count), Cell::Length(group.unfinished_ns)],
            });
        }
        cells.extend([
            some(Cell::Length(group.sum_ns)),
            some(Cell::Share(group.inside_ns as f64 / whole)),
        ]);
        cells.extend([length(group.max_ns), length(group.mean_ns())]);
        if what == What::Slices {
            cells.push(some(Cell::Length(group.own_ns)));
        }
        let lengths = [group.p50_ns, group.p95_ns, group.p99_ns, group.min_ns];
        cells.extend(lengths.map(length));
        if has_category {
            let category = group
                .key
                .name
                .map(|(_, category)| trace.text(category).into_owned());
            cells.push(Cell::Text(category.unwrap_or_default()));
        }
        let key = &group.key;
        let item = key
            .name
            .and(group.longest.map(Item::Slice))
            .or(key.thread.map(Item::Thread))
            .or(key.cpu.map(Item::Cpu))
            .or(key.process.map(Item::Process));
        let tint = match (key.state, key.name, key.thread) {
            (Some(state), _, _) => Some(Tint::State(state)),
            (None, Some((name, _)), _) => Some(Tint::of_name(trace.strings.bytes(name))),
            (None, None, Some(thread)) => Some(Tint::of_thread(trace, thread)),
            _ => (key.cpu.map(Tint::of_cpu)).or_else(|| Tint::of_process(trace, key.process?)),
        };
        TableRow { cells, item, tint }
    };
    TableData {
        columns,
        rows: groups.iter().map(row).collect(),
    }
}

/// Counted events as a table.
#[must_use]
pub fn of_events(trace: &Trace, groups: &[EventGroup], by: GroupBy, span: TimeSpan) -> TableData {
    let first = match by {
        GroupBy::Name => column("Name", 190.0, "What the events are called"),
        _ => first_column(What::Slices, by),
    };
    let mut columns = vec![
        first,
        column("Count", 86.0, "How many"),
        column(
            "Per second",
            92.0,
            "How many in a second of the area, on average",
        ),
        column(
            "Of events",
            80.0,
            "Count, as a share of all events of the area",
        ),
    ];
    if by == GroupBy::Name {
        columns.push(column("Category", 100.0, "The category or system"));
    }
    let all: u64 = groups.iter().map(|group| group.count).sum();
    let row = |group: &EventGroup| {
        let label = group.label(trace, by);
        let key = &group.key;
        // Points are all of one colour: a name has none.
        let tint = key.thread.map(|thread| Tint::of_thread(trace, thread));
        let rate = per_second(trace, span, group.count);
        let mut cells = vec![
            Cell::Text(label),
            Cell::Count(group.count),
            rate.map_or(Cell::None, |rate| Cell::Value(rounded(rate))),
            Cell::Share(group.count as f64 / all.max(1) as f64),
        ];
        if let Some((_, category)) = key.name {
            cells.push(Cell::Text(trace.text(category).into_owned()));
        } else if by == GroupBy::Name {
            cells.push(Cell::Text(String::new()));
        }
        let item = key.thread.map(Item::Thread);
        let item = item.or(key.cpu.map(Item::Cpu));
        TableRow {
            cells,
            item: item.or(key.process.map(Item::Process)),
            tint,
        }
    };
    TableData {
        columns,
        rows: groups.iter().map(row).collect(),
    }
}

/// As many digits as one compares: no fractions of what is more than a hundred.
fn rounded(rate: f64) -> f64 {
    match rate {
        100.0.. => rate.round(),
        1.0.. => (rate * 10.0).round() / 10.0,
        _ => (rate * 1000.0).round() / 1000.0,
    }
}

/// Counters as a table.
#[must_use]
pub fn of_counters(trace: &Trace, counters: &[CounterSummary]) -> TableData {
    let columns = vec![
        column("Counter", 220.0, "What is counted"),
        column("Of", 140.0, "What it belongs to"),
        column("Samples", 72.0, "Samples inside the area"),
        column("Mean", 90.0, "Over time: each value for as long as it held"),
        column("Min", 90.0, "The smallest value"),
        column("Max", 90.0, "The largest value"),
        column("First", 90.0, "The value at the start"),
        column("Last", 90.0, "The value at the end"),
        column("Change", 90.0, "Last less first"),
    ];
    let row = |counter: &CounterSummary| {
        let name = name_of_counter(trace, counter.track);
        let first_row = trace.counters.tracks.get(counter.track.0 as usize);
        let item = first_row.map(|track| Item::Sample(counter.track, track.samples.start));
        TableRow {
            tint: None,
            cells: vec![
                Cell::Text(name),
                Cell::Text(owner_of_counter(trace, counter.track)),
                Cell::Count(counter.count),
                Cell::Value(counter.mean),
                Cell::Value(counter.min),
                Cell::Value(counter.max),
                Cell::Value(counter.first),
                Cell::Value(counter.last),
                Cell::Value(counter.last - counter.first),
            ],
            item,
        }
    };
    TableData {
        columns,
        rows: counters.iter().map(row).collect(),
    }
}

/// What is counted.
#[must_use]
pub fn name_of_counter(trace: &Trace, id: CounterTrackId) -> String {
    let track = trace.counters.tracks.get(id.0 as usize);
    track.map_or_else(String::new, |track| trace.text(track.name).into_owned())
}

/// What a counter belongs to; empty for the whole machine.
#[must_use]
pub fn owner_of_counter(trace: &Trace, id: CounterTrackId) -> String {
    let track = trace.counters.tracks.get(id.0 as usize);
    match track.map(|track| track.scope) {
        Some(CounterScope::Cpu(cpu)) => {
            let number = trace
                .cpus
                .get(cpu.0 as usize)
                .map_or(cpu.0, |cpu| cpu.number);
            format!("CPU {number}")
        }
        Some(CounterScope::Thread(thread)) => trace.thread_name(thread),
        Some(CounterScope::Process(process)) => {
            let process = trace.processes.get(process.0 as usize);
            process.map_or_else(String::new, |process| trace.text(process.name).into_owned())
        }
        _ => String::new(),
    }
}
