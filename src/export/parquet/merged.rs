//! Rows of several Parquet files put into one file, column by column, without making cells of them.

use std::fs::File;
use std::path::PathBuf;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rayon::prelude::*;

use super::encoder::Encoder;
use super::layout::{Form, Spread, StoredColumn};
use super::{GROUP_ROWS, ParquetFile, io_error};
use crate::base::Job;
use parquet::basic::{Encoding, Type};

/// Some rows of a file that follow each other.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// The file.
    pub path: PathBuf,
    /// The first row.
    pub first: u64,
    /// The number of rows.
    pub rows: u64,
}

/// Rows that are copied before the next ones are read.
const AT_ONCE: usize = 1 << 14;

/// Returns the columns of a file.
///
/// # Errors
/// Errors if the file cannot be read, or has a column of a type that we do not write.
pub(crate) fn columns_of(path: &std::path::Path) -> std::io::Result<Vec<StoredColumn>> {
    let reader = SerializedFileReader::new(File::open(path)?).map_err(io_error)?;
    let metadata = reader.metadata();
    let groups = metadata.row_groups();
    let columns = metadata.file_metadata().schema_descr().columns();
    let column = |(at, column): (usize, &parquet::schema::types::ColumnDescPtr)| {
        let form = match column.physical_type() {
            Type::INT64 => Form::Int,
            Type::DOUBLE => Form::Float,
            Type::BOOLEAN => Form::Flag,
            Type::BYTE_ARRAY => Form::Text,
            other => {
                let words = format!("a column of the type {other}");
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, words));
            }
        };
        let chunks = || groups.iter().map(|group| group.column(at));
        let has_dictionary = chunks().any(|chunk| chunk.dictionary_page_offset().is_some());
        let is_delta = chunks().any(|chunk| {
            let mut encodings = chunk.encodings();
            encodings.any(|it| it == Encoding::DELTA_BINARY_PACKED)
        });
        Ok(StoredColumn {
            name: column.name().to_owned(),
            form,
            spread: match is_delta && !has_dictionary {
                true => Spread::Near,
                false => Spread::Shared,
            },
            has_bloom_filter: chunks().any(|chunk| chunk.bloom_filter_offset().is_some()),
        })
    };
    columns.iter().enumerate().map(column).collect()
}

impl ParquetFile<'_> {
    /// Appends rows of other files, which have the columns of this one, in row groups of 1 M rows.
    ///
    /// # Errors
    /// Errors of the files; errors if they have fewer rows.
    pub(crate) fn append_stretches(
        &mut self,
        stretches: &[Stretch],
        job: &Job,
    ) -> std::io::Result<()> {
        for group in in_groups(stretches) {
            self.append_encoded(|encoders| {
                job.check()
                    .map_err(|_| std::io::Error::other("cancelled"))?;
                let columns = encoders.par_iter_mut().enumerate();
                let copied = columns.try_for_each(|(column, encoder)| {
                    let mut stretches = group.iter();
                    stretches.try_for_each(|stretch| encoder.copy(stretch, column))
                });
                copied.map_err(io_error)
            })?;
            self.rows += group.iter().map(|stretch| stretch.rows).sum::<u64>();
        }
        Ok(())
    }
}

/// Cuts stretches where a row group is full.
fn in_groups(stretches: &[Stretch]) -> Vec<Vec<Stretch>> {
    let most = GROUP_ROWS as u64;
    let (mut groups, mut group, mut filled) = (Vec::new(), Vec::new(), 0);
    for stretch in stretches {
        let mut rest = stretch.clone();
        while rest.rows > 0 {
            let rows = rest.rows.min(most - filled);
            group.push(Stretch {
                rows,
                ..rest.clone()
            });
            rest.first += rows;
            rest.rows -= rows;
            filled += rows;
            if filled == most {
                groups.push(std::mem::take(&mut group));
                filled = 0;
            }
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    groups
}

impl Encoder<'_> {
    /// Copies the values of a column.
    fn copy(&mut self, stretch: &Stretch, column: usize) -> Result<(), ParquetError> {
        let reader = SerializedFileReader::new(File::open(&stretch.path)?)?;
        let (mut before, mut rest) = (stretch.first, stretch.rows);
        for (at, group) in reader.metadata().row_groups().iter().enumerate() {
            let count = group.num_rows() as u64;
            if before >= count || rest == 0 {
                before = before.saturating_sub(count);
                continue;
            }
            let rows = rest.min(count - before);
            let from = reader.get_row_group(at)?.get_column_reader(column)?;
            copy_column(from, &mut self.writer, before as usize, rows as usize)?;
            (before, rest) = (0, rest - rows);
        }
        match rest {
            0 => Ok(()),
            _ => Err(too_short()),
        }
    }
}

fn too_short() -> ParquetError {
    ParquetError::EOF("the file has fewer rows than the manifest of its data set states".to_owned())
}

fn copy_column(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    skip: usize,
    rows: usize,
) -> Result<(), ParquetError> {
    match (from, to) {
        (ColumnReader::Int64ColumnReader(from), ColumnWriter::Int64ColumnWriter(to)) => {
            copy_values(from, to, skip, rows)
        }
        (ColumnReader::DoubleColumnReader(from), ColumnWriter::DoubleColumnWriter(to)) => {
            copy_values(from, to, skip, rows)
        }
        (ColumnReader::BoolColumnReader(from), ColumnWriter::BoolColumnWriter(to)) => {
            copy_values(from, to, skip, rows)
        }
        (ColumnReader::ByteArrayColumnReader(from), ColumnWriter::ByteArrayColumnWriter(to)) => {
            copy_values(from, to, skip, rows)
        }
        _ => Err(ParquetError::General("columns of two types".into())),
    }
}

fn copy_values<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    skip: usize,
    mut rows: usize,
) -> Result<(), ParquetError> {
    if skip > 0 && from.skip_records(skip)? < skip {
        return Err(too_short());
    }
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    while rows > 0 {
        values.clear();
        levels.clear();
        let most = rows.min(AT_ONCE);
        let (count, ..) = from.read_records(most, Some(&mut levels), None, &mut values)?;
        if count == 0 {
            return Err(too_short());
        }
        to.write_batch(&values, Some(&levels), None)?;
        rows -= count;
    }
    Ok(())
}
