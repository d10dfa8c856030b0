//! Tables of latencies: sums, and the longest ones.

use super::columns::{AT_LEAST, CPU, DUR, THREAD, TID, TS, UNFINISHED};
use super::rows::{MadeRow, RowsOfIds};
use super::{Cell, ColumnDef, RowSource, Rows, TableDef};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::distribution::Distribution;
use crate::query::item::{cpu_number, title};
use crate::query::latency::{EventPairs, Sample, WakeupLatency};
use crate::trace::Trace;

/// Sums of latencies.
pub(crate) const SUMS: TableDef = TableDef {
    name: "latencies",
    title: "Latencies",
    about: "Durations from wakeup to run, or from one event to another, added up.",
    columns: &[
        ColumnDef::text(
            "name",
            "Name",
            "The thread that was woken, or the pair of events.",
        )
        .kept(),
        TID,
        ColumnDef::count("count", "Count", "How many there are."),
        ColumnDef::duration("sum", "Sum", "Their total duration.").minor(),
        ColumnDef::duration("mean", "Mean", "Their mean duration."),
        ColumnDef::duration("min", "Shortest", "The shortest duration.").minor(),
        ColumnDef::duration("p50", "Median", "Half of them lasted at most this long."),
        ColumnDef::duration("p90", "90 %", "90 of 100 lasted at most this long.").minor(),
        ColumnDef::duration("p95", "95 %", "95 of 100 lasted at most this long.").minor(),
        ColumnDef::duration("p99", "99 %", "99 of 100 lasted at most this long."),
        ColumnDef::duration("p999", "99.9 %", "999 of 1000 lasted at most this long.").minor(),
        ColumnDef::duration("max", "Longest", "The longest duration.").kept(),
        ColumnDef::count("unmatched", "Unmatched", "How many have no second event.").minor(),
        UNFINISHED,
        AT_LEAST,
    ],
    stored: None,
    rows: Rows::Answer("latency FILE [--begin EXPR --end EXPR]"),
};

/// Begins without an end.
struct Unmatched {
    all: u64,
    /// The number of begins that were still open when the recording ended, and the least sum of their durations, in
    /// ns.
    unfinished: u64,
    unfinished_ns: i128,
}

fn sums<'a>(
    name: Cell<'a>,
    tid: Cell<'a>,
    lengths: &Distribution,
    unmatched: &Unmatched,
) -> Vec<Cell<'a>> {
    // The lengths of no latencies are empty, not 0.
    let length = |ns: i64| Cell::from((lengths.count() > 0).then_some(ns));
    vec![
        name,
        tid,
        lengths.count().into(),
        lengths.sum_ns().into(),
        length(lengths.mean_ns()),
        length(lengths.min_ns()),
        length(lengths.per_mille(500)),
        length(lengths.per_mille(900)),
        length(lengths.per_mille(950)),
        length(lengths.per_mille(990)),
        length(lengths.per_mille(999)),
        length(lengths.max_ns()),
        unmatched.all.into(),
        unmatched.unfinished.into(),
        unmatched.unfinished_ns.into(),
    ]
}

/// Returns the row of [`SUMS`] for pairs of events.
pub(crate) fn pair_sums(name: &str, pairs: &EventPairs) -> MadeRow {
    let unmatched = Unmatched {
        all: pairs.unmatched_from + pairs.unmatched_to,
        unfinished: pairs.unfinished,
        unfinished_ns: pairs.unfinished_ns,
    };
    MadeRow::new(sums(name.into(), Cell::None, &pairs.lengths, &unmatched))
}

/// Returns the row of [`SUMS`] for the wakeups of a thread, followed by a cell of
/// [`THREAD_IN_FULL`](super::columns::THREAD_IN_FULL).
pub(crate) fn wakeup_sums(trace: &Trace, row: &WakeupLatency) -> MadeRow {
    let unmatched = Unmatched {
        all: row.unmatched,
        unfinished: row.unfinished,
        unfinished_ns: row.unfinished_ns,
    };
    let (name, tid) = (trace.thread_name(row.thread), trace.thread(row.thread).tid);
    let in_full = format!("{name} {tid}");
    let mut cells = sums(name.into(), tid.into(), &row.lengths, &unmatched);
    cells.push(in_full.into());
    MadeRow::new(cells).about(Some(Item::Thread(row.thread)))
}

/// Single latencies.
pub(crate) const WORST: TableDef = TableDef {
    name: "longest_latencies",
    title: "Longest latencies",
    about: "The longest single latencies.",
    columns: &[
        TS,
        DUR,
        ColumnDef::text("from", "From", "Where it begins."),
        ColumnDef::text("to", "To", "Where it ends."),
        CPU.about("The CPU where it ends."),
        TID.about("The thread where it ends."),
        THREAD.about("The name of the thread where it ends."),
    ],
    stored: None,
    rows: Rows::Answer("latency FILE --worst N"),
};

/// Returns rows of [`WORST`], followed by a cell of [`THREAD_IN_FULL`](super::columns::THREAD_IN_FULL) for the thread
/// where the latency begins; the item of each is its begin.
pub(crate) fn sample_rows(samples: Vec<Sample>) -> impl RowSource {
    let rows = RowsOfIds::new(samples, (), |loaded: &LoadedTrace, (), sample, cells| {
        let trace = loaded.trace.as_ref();
        let sample: &Sample = sample;
        let thread = sample.to.thread(trace);
        let begins = sample.from.thread(trace);
        cells.extend([
            sample.start.into(),
            sample.length_ns.into(),
            title(trace, sample.from).into(),
            title(trace, sample.to).into(),
            cpu_number(trace, sample.to).into(),
            thread.map(|id| trace.thread(id).tid).into(),
            thread.map(|id| trace.thread_name(id)).into(),
            begins.map(|id| trace.thread_title(id)).into(),
        ]);
    });
    rows.about(|(), sample| Some(sample.from))
}
