//! Tables of a trace written to a file or a terminal: what `table` prints, and the exporters `csv` and `json`.
//!
//! If the user gave the date of a trace's times of day, the last column is the wall-clock time.

use std::io::Write;
use std::ops::Range;

use super::rows::{Formulas, RowFormat, RowWriter};
use super::{Chosen, ExportError, ExportedText, Exporter, Request, Summary, WriteFn};
use crate::base::Job;
use crate::base::calendar::wall_text;
use crate::load::LoadedTrace;
use crate::tables::batch::Batch;
use crate::tables::columns::{TS, WALL_CLOCK};
use crate::tables::{Audience, Cell, ColumnDef, RowSource, Rows, Scope, TABLES, TableDef};

/// Writes the rows of the selection, and reports progress to `job` if rows come in order of time. Returns the number
/// of rows.
///
/// # Errors
/// Errors of `out`; errors if the rows are not of a trace alone ([`TableDef::is_of_trace`]).
pub fn write(
    table: &TableDef,
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    format: RowFormat,
    out: &mut dyn Write,
    job: &Job,
) -> std::io::Result<u64> {
    let audience = match format {
        RowFormat::Aligned(_) => Audience::Person,
        _ => Audience::Program,
    };
    let TableRows {
        columns,
        source,
        time,
    } = TableRows::new(table, loaded, chosen, audience, job)?;
    let cancelled = |_| std::io::Error::other("cancelled");
    job.check().map_err(cancelled)?;
    let mut rows = RowWriter::new(out, format, &columns)?;
    if let Some(time) = time.filter(|&at| columns[at] == TS) {
        rows.report_progress(job, time, chosen.span.intersection(loaded.trace.span));
    }
    rows.write_all(source.as_ref(), loaded)?;
    rows.finish()
}

/// The rows of a table for a file or a terminal, with their columns.
pub(super) struct TableRows {
    /// The columns, with the wall clock if the user gave the date.
    pub columns: Vec<ColumnDef<'static>>,
    /// The rows.
    pub source: Box<dyn RowSource>,
    /// The index of the column whose wall clock is known.
    pub time: Option<usize>,
}

impl TableRows {
    /// Returns the rows of the selection.
    ///
    /// # Errors
    /// Errors if the rows are not of a trace alone ([`TableDef::is_of_trace`]). They are incomplete if the job is cancelled.
    pub(super) fn new(
        table: &TableDef,
        loaded: &LoadedTrace,
        chosen: &Chosen<'_>,
        audience: Audience,
        job: &Job,
    ) -> std::io::Result<TableRows> {
        let Rows::Trace(rows_for) = table.rows else {
            let words = format!(
                "the table '{}' is printed by a command of its own",
                table.name
            );
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, words));
        };
        let of_name = |column: &ColumnDef<'_>| TIME_COLUMNS.contains(&column.name);
        let time = table.columns.iter().position(of_name);
        let mut columns = table.columns.to_vec();
        let mut source = rows_for(&Scope {
            loaded,
            chosen,
            audience,
            job,
        });
        let zero = loaded.trace.info.wall_clock_zero_ns;
        if let Some((time, zero_ns)) = time.zip(zero).filter(|_| loaded.has_given_day()) {
            source = Box::new(WithWallClock {
                source,
                time,
                at: columns.len(),
                zero_ns,
            });
            columns.push(WALL_CLOCK);
        }
        Ok(TableRows {
            columns,
            source,
            time,
        })
    }
}

/// Rows with the wall clock of one of their columns as one more column.
struct WithWallClock {
    source: Box<dyn RowSource>,
    /// The index of the column with the times.
    time: usize,
    /// The index of the new column.
    at: usize,
    zero_ns: i64,
}

impl RowSource for WithWallClock {
    fn len(&self) -> usize {
        self.source.len()
    }

    fn row<'a>(&'a self, loaded: &'a LoadedTrace, at: usize, cells: &mut Vec<Cell<'a>>) {
        let mut batch = Batch::new(0..=self.at);
        self.batch(loaded, at..at + 1, &mut batch);
        batch.row(0, cells);
    }

    fn batch<'a>(&'a self, loaded: &'a LoadedTrace, range: Range<usize>, batch: &mut Batch<'a>) {
        self.source.batch(loaded, range.clone(), batch);
        let mut times = Batch::new([self.time]);
        self.source.batch(loaded, range.clone(), &mut times);
        let times = times.columns();
        let clock = |row: usize| match times.first().map(|times| times.cell(row)) {
            Some(Cell::Int(ns)) => wall_text(ns + i128::from(self.zero_ns)).into(),
            _ => Cell::None,
        };
        let places = batch.places().filter(|(index, _)| *index == self.at);
        places.for_each(|(_, values)| values.cells((0..range.len()).map(clock)));
    }

    fn depth(&self, at: usize) -> u32 {
        self.source.depth(at)
    }
}

/// Writes all rows of a source. Returns the number of rows.
///
/// # Errors
/// Errors of `out`.
pub(crate) fn write_rows(
    columns: &[ColumnDef<'_>],
    source: &dyn RowSource,
    loaded: &LoadedTrace,
    format: RowFormat,
    out: &mut dyn Write,
) -> std::io::Result<u64> {
    let mut rows = RowWriter::new(out, format, columns)?;
    rows.write_all(source, loaded)?;
    rows.finish()
}

/// The first of these columns in a table is the time whose wall clock is written, if the user gave the date.
const TIME_COLUMNS: &[&str] = &["ts", "start", "from_ts"];

/// One table as comma-separated values; the slices unless another table is chosen.
pub(crate) const CSV: Exporter = Exporter {
    name: "csv",
    title: "CSV",
    about: "One table as comma-separated values, for spreadsheets and scripts",
    extension: "csv",
    text: ExportedText::AsWritten,
    table: Some(&TABLES[0]),
    write: |request, out| write_table(RowFormat::Csv(Formulas::Kept), request, out),
};

/// The function of [`CSV`] if texts that look like formulas are quoted.
pub(crate) const QUOTED_CSV: WriteFn =
    |request, out| write_table(RowFormat::Csv(Formulas::Quoted), request, out);

/// One table as tab-separated values; only for `table`, as exports have CSV.
pub(crate) const TSV: Exporter = Exporter {
    name: "tsv",
    title: "TSV",
    about: "One table as tab-separated values",
    extension: "tsv",
    text: ExportedText::AsWritten,
    table: Some(&TABLES[0]),
    write: |request, out| write_table(RowFormat::Tsv, request, out),
};

/// One table as a JSON array of objects.
pub(crate) const JSON: Exporter = Exporter {
    name: "json",
    title: "JSON",
    about: "One table as JSON, an object a row",
    extension: "table.json",
    text: ExportedText::Json,
    table: Some(&TABLES[0]),
    write: |request, out| write_table(RowFormat::Json, request, out),
};

fn write_table(
    format: RowFormat,
    request: &Request<'_>,
    out: &mut dyn Write,
) -> Result<Summary, ExportError> {
    let job = request.job;
    let table = request.table.unwrap_or(&TABLES[0]);
    let mut out = Cancellable { out, job };
    let count =
        write(table, request.loaded, request.chosen, format, &mut out, job).map_err(|error| {
            match job.check() {
                Err(cancelled) => cancelled.into(),
                Ok(()) => ExportError::Io(error),
            }
        })?;
    let mut summary = Summary::default();
    summary.count("rows", count);
    Ok(summary)
}

/// A writer that errors once the job is cancelled.
struct Cancellable<'a> {
    out: &'a mut dyn Write,
    job: &'a Job,
}

impl Write for Cancellable<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.job.is_cancelled() {
            return Err(std::io::Error::other("cancelled"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
