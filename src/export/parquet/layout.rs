//! The columns of a table as Parquet stores them: types that all engines share, and an encoding that suits the values.
//!
//! ```text
//! texts, numbers of 64 bits unsigned   BYTE_ARRAY (UTF8), dictionary
//! times, durations, numbers of rows    INT64, DELTA_BINARY_PACKED
//! other whole numbers                  INT64, dictionary
//! numbers with a fraction              DOUBLE
//! answers                              BOOLEAN
//! ```
//!
//! Any value may be NULL. Nothing is unsigned or nested: Spark turns unsigned numbers of 64 bits into decimals.

use std::sync::Arc;

use parquet::basic::{
    Compression, ConvertedType, Encoding, LogicalType, Repetition, Type, ZstdLevel,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::schema::types::{ColumnPath, Type as SchemaType, TypePtr};

use crate::tables::{ColumnDef, ColumnKind, Unit};

/// A column of a Parquet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredColumn {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub form: Form,
    /// How its values are distributed.
    pub spread: Spread,
    /// Whether the file has, for each row group, a bloom filter of the column's values.
    pub has_bloom_filter: bool,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whole numbers.
    Int,
    /// Floating point numbers.
    Float,
    /// Yes or no.
    Flag,
    /// Text.
    Text,
}

/// How the values of a column are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Most rows have a value of their own, near the one before.
    Near,
    /// Many rows share a value.
    Shared,
}

impl StoredColumn {
    /// Returns the column in which the values of a table's column are stored.
    pub(crate) fn of(column: &ColumnDef<'_>) -> StoredColumn {
        let form = match (column.kind, column.unit) {
            (ColumnKind::Text | ColumnKind::Path | ColumnKind::Code, _) => Form::Text,
            (ColumnKind::Flag, _) => Form::Flag,
            (ColumnKind::Number, Unit::Bytes | Unit::Nanoseconds) => Form::Int,
            (ColumnKind::Number, _) => Form::Float,
            (
                ColumnKind::Key
                | ColumnKind::Row
                | ColumnKind::Count
                | ColumnKind::Time
                | ColumnKind::Duration,
                _,
            ) => Form::Int,
        };
        let spread = match column.kind {
            ColumnKind::Time | ColumnKind::Duration | ColumnKind::Row => Spread::Near,
            _ => Spread::Shared,
        };
        StoredColumn {
            name: column.name.to_owned(),
            form,
            spread,
            has_bloom_filter: false,
        }
    }
}

/// Returns the schema of a file with these columns.
pub(super) fn schema(columns: &[StoredColumn]) -> Result<TypePtr, ParquetError> {
    let field = |column: &StoredColumn| {
        let (of, converted, logical) = match column.form {
            Form::Int => (Type::INT64, ConvertedType::NONE, None),
            Form::Float => (Type::DOUBLE, ConvertedType::NONE, None),
            Form::Flag => (Type::BOOLEAN, ConvertedType::NONE, None),
            Form::Text => (
                Type::BYTE_ARRAY,
                ConvertedType::UTF8,
                Some(LogicalType::String),
            ),
        };
        let field = SchemaType::primitive_type_builder(&column.name, of)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields: Result<Vec<TypePtr>, ParquetError> = columns.iter().map(field).collect();
    let schema = SchemaType::group_type_builder("table").with_fields(fields?);
    schema.build().map(Arc::new)
}

/// Returns how a file with these columns is written, if its rows are sorted by the columns with the indices `sorted`.
pub(super) fn properties(
    columns: &[StoredColumn],
    sorted: &[usize],
) -> Result<WriterPropertiesPtr, ParquetError> {
    let sorting = sorted.iter().map(|&column| SortingColumn {
        column_idx: column as i32,
        descending: false,
        nulls_first: false,
    });
    let sorting: Vec<SortingColumn> = sorting.collect();
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("threadline {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_sorting_columns((!sorting.is_empty()).then_some(sorting));
    for (at, column) in columns.iter().enumerate() {
        let path = || ColumnPath::from(column.name.as_str());
        if column.form == Form::Int {
            properties = properties
                .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
                .set_column_dictionary_enabled(path(), column.spread == Spread::Shared);
        }
        // Readers skip pages by the statistics of the columns that the rows are sorted by.
        if sorted.contains(&at) {
            properties = properties.set_column_statistics_enabled(path(), EnabledStatistics::Page);
        }
        if column.has_bloom_filter {
            properties = properties.set_column_bloom_filter_enabled(path(), true);
        }
    }
    Ok(Arc::new(properties.build()))
}
