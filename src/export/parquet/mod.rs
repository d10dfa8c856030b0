//! One table as a Parquet file, which DuckDB, Spark, Polars, pandas and Trino read in place.
//!
//! ```text
//! RowSource -> batches of 1,024 rows (rayon) -> one encoder a column (rayon) -> pages -> row groups of 1 M rows -> file
//! ```
//!
//! Values are those of `threadline table`, exactly; texts are not escaped. A value that the column's type cannot hold is
//! NULL, and a note reports it.

mod encoder;
pub(crate) mod layout;
pub(crate) mod merged;

use std::io::Write;
use std::ops::Range;

use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, TrackedWrite};
use rayon::prelude::*;

use super::tables::TableRows;
use super::{ExportError, ExportedText, Exporter, Request, Summary};
use crate::base::Job;
use crate::load::LoadedTrace;
use crate::tables::batch::{BATCH_ROWS, Batch};
use crate::tables::columns::TS;
use crate::tables::{Audience, RowSource, TABLES};
use encoder::{Encoder, Pages, bytes_of};
use layout::StoredColumn;

/// One table as Parquet; the slices unless another table is chosen.
pub(crate) const PARQUET: Exporter = Exporter {
    name: "parquet",
    title: "Parquet",
    about: "One table as Parquet, for DuckDB, Spark, Polars and other engines",
    extension: "parquet",
    text: ExportedText::AsWritten,
    table: Some(&TABLES[0]),
    write: write_table,
};

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 20;

/// Rows whose columns are in memory at once.
const PORTION_ROWS: usize = 32 * BATCH_ROWS;

fn write_table(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    let table = request.table.unwrap_or(&TABLES[0]);
    let (loaded, job) = (request.loaded, request.job);
    let rows = TableRows::new(table, loaded, request.chosen, Audience::Program, job)?;
    job.check()?;
    let columns: Vec<StoredColumn> = rows.columns.iter().map(StoredColumn::of).collect();
    let sorted: &[usize] = match rows.columns.first() {
        Some(first) if *first == TS => &[0],
        _ => &[],
    };
    let mut file = ParquetFile::new(out, &columns, sorted)?;
    job.add_total(rows.source.len() as u64);
    file.append(rows.source.as_ref(), loaded, job)?;
    let written = file.finish()?;
    let mut summary = Summary::default();
    summary.count("rows", written.rows);
    let unfit = columns.iter().zip(written.unfit);
    let unfit = unfit.filter(|(_, count)| *count > 0);
    summary.notes.extend(unfit.map(|(column, count)| {
        let name = &column.name;
        format!("{count} values of the column {name} do not fit into its type: they are NULL")
    }));
    Ok(summary)
}

/// A Parquet file that is being written.
pub(crate) struct ParquetFile<'o> {
    out: &'o mut dyn Write,
    /// Collects a row group, which is then moved to `out`.
    file: SerializedFileWriter<Vec<u8>>,
    rows: u64,
    /// By column: values that its type could not hold.
    unfit: Vec<u64>,
}

/// The counts of a finished file.
#[derive(Debug)]
pub(crate) struct Written {
    /// Number of rows.
    pub rows: u64,
    /// By column: values that its type could not hold; they are NULL.
    pub unfit: Vec<u64>,
}

impl<'o> ParquetFile<'o> {
    /// Begins a file whose rows are sorted by the columns with the indices `sorted`.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn new(
        out: &'o mut dyn Write,
        columns: &[StoredColumn],
        sorted: &[usize],
    ) -> std::io::Result<ParquetFile<'o>> {
        let schema = layout::schema(columns).map_err(io_error)?;
        let properties = layout::properties(columns, sorted).map_err(io_error)?;
        let file = SerializedFileWriter::new(Vec::new(), schema, properties).map_err(io_error)?;
        Ok(ParquetFile {
            out,
            file,
            rows: 0,
            unfit: vec![0; columns.len()],
        })
    }

    /// Appends all rows of a source; its first columns are those of the file.
    ///
    /// # Errors
    /// Errors of `out`; errors if the job is cancelled.
    pub(crate) fn append(
        &mut self,
        source: &dyn RowSource,
        loaded: &LoadedTrace,
        job: &Job,
    ) -> std::io::Result<()> {
        let all = source.len();
        for first in (0..all).step_by(GROUP_ROWS) {
            let rows = first..all.min(first + GROUP_ROWS);
            self.append_group(source, loaded, rows, job)?;
        }
        self.rows += all as u64;
        Ok(())
    }

    /// Appends a row group of rows of a source.
    fn append_group(
        &mut self,
        source: &dyn RowSource,
        loaded: &LoadedTrace,
        rows: Range<usize>,
        job: &Job,
    ) -> std::io::Result<()> {
        self.append_encoded(|encoders| {
            let count = encoders.len();
            for first in rows.clone().step_by(PORTION_ROWS) {
                job.check()
                    .map_err(|_| std::io::Error::other("cancelled"))?;
                let portion = first..rows.end.min(first + PORTION_ROWS);
                let batch = |first: usize| {
                    let mut batch = Batch::new(0..count);
                    let end = portion.end.min(first + BATCH_ROWS);
                    source.batch(loaded, first..end, &mut batch);
                    batch
                };
                let firsts = portion.clone().into_par_iter().step_by(BATCH_ROWS);
                let batches: Vec<Batch<'_>> = firsts.map(batch).collect();
                let encode = |(at, encoder): (usize, &mut Encoder<'_>)| {
                    let mut values = batches.iter().filter_map(|batch| batch.columns().get(at));
                    values.try_for_each(|values| encoder.append(values))
                };
                let encoders = encoders.par_iter_mut().enumerate();
                encoders.try_for_each(encode).map_err(io_error)?;
                job.advance(portion.len() as u64);
            }
            Ok(())
        })
    }

    /// Appends a row group whose columns `encode` fills.
    fn append_encoded(
        &mut self,
        encode: impl FnOnce(&mut [Encoder<'_>]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let descriptions = self.file.schema_descr().columns().to_vec();
        let properties = self.file.properties().clone();
        let mut pages: Vec<Pages> = Vec::new();
        pages.resize_with(descriptions.len(), || TrackedWrite::new(Vec::new()));
        let places = descriptions.into_iter().zip(&mut pages);
        let encoders =
            places.map(|(column, pages)| Encoder::new(column, properties.clone(), pages));
        let mut encoders: Vec<Encoder<'_>> = encoders.collect();
        encode(&mut encoders)?;
        let unfit = self.unfit.iter_mut().zip(&encoders);
        unfit.for_each(|(sum, encoder)| *sum += encoder.unfit);
        let closed = encoders.into_par_iter().map(Encoder::close);
        let closed: Vec<_> = closed.collect::<Result<_, _>>().map_err(io_error)?;
        let mut group = self.file.next_row_group().map_err(io_error)?;
        for (pages, closed) in pages.into_iter().zip(closed) {
            let bytes = bytes_of(pages).map_err(io_error)?;
            group.append_column(&bytes, closed).map_err(io_error)?;
        }
        group.close().map_err(io_error)?;
        self.pass_on()
    }

    /// Writes the collected row group.
    fn pass_on(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        let bytes = self.file.inner_mut();
        self.out.write_all(bytes)?;
        bytes.clear();
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(crate) fn finish(mut self) -> std::io::Result<Written> {
        self.file.finish().map_err(io_error)?;
        self.pass_on()?;
        Ok(Written {
            rows: self.rows,
            unfit: self.unfit,
        })
    }
}

fn io_error(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(error) => std::io::Error::other(error),
        error => std::io::Error::other(error),
    }
}
