//! A column of one row group: values of batches in, compressed pages out.

use bytes::Bytes;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use rustc_hash::FxHashMap;

use crate::tables::Cell;
use crate::tables::batch::{Names, Values};

/// The buffer in which the pages of a column of one row group are collected.
pub(super) type Pages = TrackedWrite<Vec<u8>>;

/// Encodes a column of one row group.
pub(super) struct Encoder<'p> {
    pub writer: ColumnWriter<'p>,
    /// By row: 1 if there is a value, else 0.
    levels: Vec<i16>,
    /// By number, the texts of [`Values::Names`] that were encoded.
    texts: FxHashMap<u32, ByteArray>,
    /// Values that the type of the column cannot hold: they are NULL.
    pub unfit: u64,
}

/// Number of texts that are remembered by their number.
const MOST_TEXTS: usize = 1 << 16;

impl<'p> Encoder<'p> {
    pub(super) fn new(
        column: ColumnDescPtr,
        properties: WriterPropertiesPtr,
        pages: &'p mut Pages,
    ) -> Encoder<'p> {
        let pages = Box::new(SerializedPageWriter::new(pages));
        Encoder {
            writer: get_column_writer(column, properties, pages),
            levels: Vec::new(),
            texts: FxHashMap::default(),
            unfit: 0,
        }
    }

    /// Appends the values of a batch.
    pub(super) fn append(&mut self, values: &Values<'_>) -> Result<(), ParquetError> {
        let Encoder {
            writer,
            levels,
            texts,
            unfit,
        } = self;
        levels.clear();
        match writer {
            ColumnWriter::Int64ColumnWriter(writer) => {
                let values = collect(levels, values, |value| int_of(value, unfit));
                writer.write_batch(&values, Some(levels), None)?;
            }
            ColumnWriter::DoubleColumnWriter(writer) => {
                let values = collect(levels, values, |value| float_of(value, unfit));
                writer.write_batch(&values, Some(levels), None)?;
            }
            ColumnWriter::BoolColumnWriter(writer) => {
                let values = collect(levels, values, |value| {
                    int_of(value, unfit).map(|flag| flag != 0)
                });
                writer.write_batch(&values, Some(levels), None)?;
            }
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let values = collect(levels, values, |value| text_of(value, texts));
                writer.write_batch(&values, Some(levels), None)?;
            }
            // No column has one of the other types.
            _ => return Err(ParquetError::General("unknown type of column".into())),
        }
        Ok(())
    }

    /// Ends the column; the pages are complete.
    pub(super) fn close(self) -> Result<ColumnCloseResult, ParquetError> {
        self.writer.close()
    }
}

/// Returns the bytes of a column's pages from the buffer in which they were collected.
pub(super) fn bytes_of(pages: Pages) -> Result<Bytes, ParquetError> {
    Ok(Bytes::from(pages.into_inner()?))
}

/// A value of a batch.
enum Value<'v, 'a> {
    Int(i64),
    Name(Names<'a>, u32),
    Cell(&'v Cell<'a>),
}

/// Returns the values that are not NULL, and appends the levels of all.
fn collect<'v, 'a, T>(
    levels: &mut Vec<i16>,
    values: &'v Values<'a>,
    mut value: impl FnMut(Value<'v, 'a>) -> Option<T>,
) -> Vec<T> {
    let mut present = Vec::with_capacity(values.len());
    let mut add = |value: Option<T>| {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    };
    match values {
        Values::Ints(column) => column
            .iter()
            .for_each(|it| add(it.and_then(|it| value(Value::Int(it))))),
        Values::Names(names, column) => column
            .iter()
            .for_each(|it| add(it.and_then(|it| value(Value::Name(*names, it))))),
        Values::Cells(cells) => cells.iter().for_each(|it| add(value(Value::Cell(it)))),
    }
    present
}

fn int_of(value: Value<'_, '_>, unfit: &mut u64) -> Option<i64> {
    let fitting = match value {
        Value::Int(value) => Some(value),
        Value::Cell(Cell::None | Cell::AtLeast(_)) => return None,
        Value::Cell(Cell::Int(value)) => i64::try_from(*value).ok(),
        Value::Cell(Cell::Float(_) | Cell::Text(_)) | Value::Name(..) => None,
    };
    *unfit += u64::from(fitting.is_none());
    fitting
}

fn float_of(value: Value<'_, '_>, unfit: &mut u64) -> Option<f64> {
    let fitting = match value {
        Value::Int(value) => Some(value as f64),
        Value::Cell(Cell::None | Cell::AtLeast(_)) => return None,
        Value::Cell(Cell::Int(value)) => Some(*value as f64),
        Value::Cell(Cell::Float(value)) => Some(*value),
        Value::Cell(Cell::Text(_)) | Value::Name(..) => None,
    };
    *unfit += u64::from(fitting.is_none());
    fitting
}

fn text_of(value: Value<'_, '_>, texts: &mut FxHashMap<u32, ByteArray>) -> Option<ByteArray> {
    match value {
        Value::Name(names, number) => {
            if texts.len() > MOST_TEXTS {
                texts.clear();
            }
            let text = || ByteArray::from(&*names.text(number));
            Some(texts.entry(number).or_insert_with(text).clone())
        }
        Value::Int(value) => Some(ByteArray::from(value.to_string().as_str())),
        Value::Cell(cell) => match cell {
            Cell::None | Cell::AtLeast(_) => None,
            Cell::Int(value) => Some(ByteArray::from(value.to_string().as_str())),
            Cell::Float(value) => Some(ByteArray::from(value.to_string().as_str())),
            Cell::Text(text) => Some(ByteArray::from(&**text)),
        },
    }
}
