//! The tables of a data set: projections of the tables of a trace, with the trace's id as their first column.

use std::ops::Range;

use crate::export::parquet::layout::StoredColumn;
use crate::load::LoadedTrace;
use crate::tables::batch::{BATCH_ROWS, Batch, Names};
use crate::tables::recordings::{RECORDING, RECORDING_LABEL};
use crate::tables::{Cell, ColumnDef, RowSource, Rows, Scope, TABLES, TableDef};

/// The first column of every table.
pub(crate) const TRACE_ID: ColumnDef<'static> = ColumnDef::text(
    "trace_id",
    "Trace",
    "The trace: a fingerprint of its contents.",
);

/// Tables that are left out unless the user requests them: they are most of the data of a trace.
const ON_REQUEST: &[&str] = &["ftrace_event", "args"];

/// A table of data sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetTable {
    /// Its name.
    pub name: &'static str,
    /// The table of a trace from which it is made.
    pub def: &'static TableDef,
}

impl SetTable {
    /// Returns whether the table is stored by default.
    pub(crate) fn is_usual(&self) -> bool {
        !ON_REQUEST.contains(&self.name)
    }

    /// Returns its columns, the first of which is [`TRACE_ID`].
    pub(crate) fn columns(&self) -> Vec<ColumnDef<'static>> {
        let columns = self.def.stored_columns().map(|(_, column)| column);
        [TRACE_ID].into_iter().chain(columns).collect()
    }
}

/// Returns all tables of data sets but those of single kinds of events.
pub(crate) fn tables() -> impl Iterator<Item = SetTable> {
    let all = [&RECORDING, &RECORDING_LABEL].into_iter().chain(TABLES);
    all.filter_map(|def| {
        let name = def.stored?.name;
        Some(SetTable { name, def })
    })
}

/// Rows for a data set.
pub(super) struct StoredRows {
    /// The table's name.
    pub table: String,
    /// The columns.
    pub columns: Vec<StoredColumn>,
    /// The indices of the columns by which the rows are sorted.
    pub sorted: Vec<usize>,
    /// The rows.
    pub source: Box<dyn RowSource>,
    /// A sentence for the user about what is left out.
    pub note: Option<String>,
}

impl StoredRows {
    /// Returns the rows of a table; `None` if the rows do not come from a trace alone.
    pub(super) fn of(table: SetTable, scope: &Scope<'_>, trace: &str) -> Option<StoredRows> {
        let Rows::Trace(rows) = table.def.rows else {
            return None;
        };
        Some(StoredRows::new(table, rows(scope), trace))
    }

    /// Returns rows of a table; `source` contains the rows.
    pub(super) fn new(table: SetTable, source: Box<dyn RowSource>, trace: &str) -> StoredRows {
        let indices = table.def.stored_columns().map(|(index, _)| index).collect();
        let source = Projected {
            source,
            indices,
            trace: [trace.to_owned()],
        };
        let defs = table.columns();
        let columns: Vec<StoredColumn> = defs.iter().map(stored).collect();
        StoredRows {
            table: table.name.to_owned(),
            sorted: sorted_by(&columns),
            columns,
            source: Box::new(source),
            note: None,
        }
    }

    /// Returns the rows in order of time; those without a time are last. (Rows of `build_process` are in the order of the
    /// process tree.)
    pub(super) fn in_order_of_time(self, loaded: &LoadedTrace) -> StoredRows {
        let Some(ts) = self.columns.iter().position(|it| it.name == "ts") else {
            return self;
        };
        let count = self.source.len();
        let mut last = i128::MIN;
        let is_sorted = (0..count).step_by(BATCH_ROWS).all(|first| {
            let times = times(
                &*self.source,
                loaded,
                ts,
                first..count.min(first + BATCH_ROWS),
            );
            let is_sorted = times.is_sorted() && times.first().is_none_or(|&time| time >= last);
            last = times.last().copied().unwrap_or(last);
            is_sorted
        });
        if is_sorted {
            return self;
        }
        let times = times(&*self.source, loaded, ts, 0..count);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&row| times.get(row));
        let source = self.source;
        StoredRows {
            source: Box::new(Ordered { source, order }),
            ..self
        }
    }
}

/// Returns the times of rows, from the column with index `ts`; the maximum for those without a time.
fn times(source: &dyn RowSource, loaded: &LoadedTrace, ts: usize, rows: Range<usize>) -> Vec<i128> {
    let mut batch = Batch::new(ts..=ts);
    source.batch(loaded, rows, &mut batch);
    let column = batch.columns().first();
    let cells = (0..batch.len()).filter_map(|row| Some(column?.cell(row)));
    let times = cells.map(|cell| match cell {
        Cell::Int(time) => time,
        _ => i128::MAX,
    });
    times.collect()
}

/// The rows of a source in another order.
struct Ordered {
    source: Box<dyn RowSource>,
    order: Vec<usize>,
}

impl RowSource for Ordered {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        if let Some(&row) = self.order.get(at) {
            self.source.row(loaded, row, cells);
        }
    }
}

/// Returns how a column is stored: engines look for traces and names in bloom filters.
pub(super) fn stored(column: &ColumnDef<'_>) -> StoredColumn {
    let mut stored = StoredColumn::of(column);
    stored.has_bloom_filter = matches!(column.name, "trace_id" | "name");
    stored
}

/// Returns the SQL type of a column.
pub(crate) fn stored_type(column: &ColumnDef<'_>) -> &'static str {
    super::views::sql_type(StoredColumn::of(column).form)
}

/// Returns the indices of the columns by which rows are sorted: the trace, then the time.
pub(super) fn sorted_by(columns: &[StoredColumn]) -> Vec<usize> {
    let of = |name: &str| columns.iter().position(|column| column.name == name);
    [of("trace_id"), of("ts")].into_iter().flatten().collect()
}

/// Some columns of a source, after the trace's id.
pub(super) struct Projected {
    /// The rows.
    pub source: Box<dyn RowSource>,
    /// The indices of the columns in the source.
    pub indices: Vec<usize>,
    /// The id.
    pub trace: [String; 1],
}

impl RowSource for Projected {
    fn len(&self) -> usize {
        self.source.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        let mut batch = Batch::new(0..=self.indices.len());
        self.batch(loaded, at..at + 1, &mut batch);
        batch.row(0, cells);
    }

    fn batch<'a>(&'a self, loaded: &'a LoadedTrace, range: Range<usize>, batch: &mut Batch<'a>) {
        let of_source = |(index, _): (usize, _)| self.indices.get(index.checked_sub(1)?).copied();
        let mut inner = Batch::new(batch.places().filter_map(of_source));
        self.source.batch(loaded, range.clone(), &mut inner);
        let mut inner = inner.into_columns().into_iter();
        for (index, values) in batch.places() {
            if index == 0 {
                let ids = std::iter::repeat_n(Some(0), range.len());
                values.names(Names::Texts(&self.trace), ids);
            } else if let Some(column) = inner.next() {
                *values = column;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stored_column_is_one_of_its_table_and_every_name_is_one_folder() {
        let mut names = std::collections::BTreeSet::new();
        for table in tables() {
            assert!(super::super::manifest::is_table(table.name), "{table:?}");
            assert!(names.insert(table.name), "{table:?}");
            let stored = table.def.stored.unwrap();
            assert_eq!(table.columns().len(), stored.columns.len() + 1, "{table:?}");
            let mut columns = std::collections::BTreeSet::new();
            for column in table.columns() {
                assert!(columns.insert(column.name), "{table:?} {column:?}");
            }
        }
        for name in [
            "trace",
            "trace_label",
            "process",
            "thread",
            "track",
            "slice",
            "sched",
            "thread_state",
            "counter",
            "flow",
            "args",
            "ftrace_event",
            "build_process",
            "file_use",
            "file_dependency",
            "critical_chain",
            "stats",
        ] {
            assert!(names.contains(name), "{name}");
        }
        assert!(ON_REQUEST.iter().all(|name| names.contains(name)));
    }
}
