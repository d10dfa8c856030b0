//! Scripts that register the tables of a data set with an engine: DuckDB, Spark, Polars or Trino.
//!
//! Scripts name the live parts, so a reader sees each row once, whatever a job does meanwhile; after a change of the data
//! set the script is printed again. Trino reads whole folders.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::event_table::EVENT_TABLE;
use super::manifest::Manifest;
use super::stored::{stored, tables};
use super::{DataSet, SetError, at};
use crate::export::parquet::layout::{Form, StoredColumn};
use crate::export::parquet::merged::columns_of;

/// An engine for which there is a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// SQL statements.
    DuckDb,
    /// A Python function for PySpark.
    Spark,
    /// SQL statements for the Hive connector.
    Trino,
    /// A Python function that returns an SQL context.
    Polars,
}

impl Dialect {
    /// The names of all engines, as users type them.
    pub(crate) const NAMES: &[&str] = &["duckdb", "spark", "trino", "polars"];

    /// Returns the engine of that name.
    pub(crate) fn named(name: &str) -> Option<Dialect> {
        match name {
            "duckdb" => Some(Dialect::DuckDb),
            "spark" => Some(Dialect::Spark),
            "trino" => Some(Dialect::Trino),
            "polars" => Some(Dialect::Polars),
            _ => None,
        }
    }
}

/// A table with its live parts.
struct LiveTable {
    columns: Vec<StoredColumn>,
    /// Absolute paths.
    paths: Vec<String>,
}

impl DataSet {
    /// Returns the script for an engine.
    ///
    /// # Errors
    /// Errors of the system; errors if the folder's path is not UTF-8.
    pub(crate) fn views(&self, dialect: Dialect) -> Result<String, SetError> {
        let tables = self.live_tables(&self.manifest()?)?;
        let folder = self.text_path(self.folder())?;
        Ok(match dialect {
            Dialect::DuckDb => duckdb(&tables),
            Dialect::Spark => spark(&tables),
            Dialect::Trino => trino(&tables, &folder),
            Dialect::Polars => polars(&tables),
        })
    }

    pub(super) fn text_path(&self, path: &std::path::Path) -> Result<String, SetError> {
        let whole = path.canonicalize().map_err(at(path))?;
        let words = "engines need a path that is UTF-8";
        let error = || at(path)(std::io::Error::new(std::io::ErrorKind::InvalidInput, words));
        whole.to_str().map(str::to_owned).ok_or_else(error)
    }

    fn live_tables(&self, manifest: &Manifest) -> Result<BTreeMap<String, LiveTable>, SetError> {
        let mut all: BTreeMap<String, LiveTable> = BTreeMap::new();
        for table in tables() {
            let columns = table.columns().iter().map(stored).collect();
            let paths = Vec::new();
            all.insert(table.name.to_owned(), LiveTable { columns, paths });
        }
        for part in &manifest.parts {
            let path = self.path_of(part);
            let text = self.text_path(&path)?;
            match all.get_mut(&part.table) {
                Some(table) => table.paths.push(text),
                None => {
                    let columns = columns_of(&path).map_err(at(&path))?;
                    let paths = vec![text];
                    all.insert(part.table.clone(), LiveTable { columns, paths });
                }
            }
        }
        Ok(all)
    }
}

pub(super) fn sql_type(form: Form) -> &'static str {
    match form {
        Form::Int => "BIGINT",
        Form::Float => "DOUBLE",
        Form::Flag => "BOOLEAN",
        Form::Text => "VARCHAR",
    }
}

/// Returns a text as an SQL string.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns a text as a Python string: JSON's escapes are also Python's.
fn python(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn listed(paths: &[String], quote: fn(&str) -> String) -> String {
    let paths: Vec<String> = paths.iter().map(|path| quote(path)).collect();
    paths.join(", ")
}

fn duckdb(tables: &BTreeMap<String, LiveTable>) -> String {
    let mut script = String::new();
    for (name, table) in tables {
        let rows = match table.paths.is_empty() {
            false => format!(
                "* FROM read_parquet([{}], hive_partitioning = false, union_by_name = {})",
                listed(&table.paths, quoted),
                name.starts_with(EVENT_TABLE)
            ),
            true => {
                let columns = table.columns.iter();
                let columns =
                    columns.map(|it| format!("NULL::{} AS \"{}\"", sql_type(it.form), it.name));
                let columns: Vec<String> = columns.collect();
                format!("{} WHERE false", columns.join(", "))
            }
        };
        // Writing to a text does not fail.
        let _fine = writeln!(
            script,
            "CREATE OR REPLACE TEMP VIEW \"{name}\" AS SELECT {rows};"
        );
    }
    script
}

fn spark(tables: &BTreeMap<String, LiveTable>) -> String {
    let mut script = "\
def create_views(spark):
    \"\"\"Makes the tables of the data set known to a SparkSession.\"\"\"
"
    .to_owned();
    for (name, table) in tables {
        let fields = table.columns.iter();
        let fields = fields.map(|it| {
            let of = match it.form {
                Form::Text => "STRING",
                form => sql_type(form),
            };
            format!("`{}` {of}", it.name)
        });
        let fields: Vec<String> = fields.collect();
        let schema = python(&fields.join(", "));
        let rows = match table.paths.is_empty() {
            false => format!(
                "spark.read.schema({schema}).parquet({})",
                listed(&table.paths, python)
            ),
            true => format!("spark.createDataFrame([], {schema})"),
        };
        let _fine = writeln!(
            script,
            "    {rows}.createOrReplaceTempView({})",
            python(name)
        );
    }
    script
}

fn polars(tables: &BTreeMap<String, LiveTable>) -> String {
    let mut script = "\
import polars as pl


def context():
    \"\"\"Returns an SQL context with the tables of the data set.\"\"\"
    tables = {}
"
    .to_owned();
    for (name, table) in tables {
        let rows = match table.paths.is_empty() {
            // Kinds of events may have other fields in other traces.
            false if name.starts_with(EVENT_TABLE) => {
                let parts = table.paths.iter().map(|path| {
                    let path = python(path);
                    format!("pl.scan_parquet({path}, hive_partitioning=False, glob=False)")
                });
                let parts: Vec<String> = parts.collect();
                format!(
                    "pl.concat([{}], how=\"diagonal_relaxed\")",
                    parts.join(", ")
                )
            }
            false => format!(
                "pl.scan_parquet([{}], hive_partitioning=False, glob=False)",
                listed(&table.paths, python)
            ),
            true => {
                let columns = table.columns.iter();
                let columns = columns.map(|it| {
                    let of = match it.form {
                        Form::Int => "Int64",
                        Form::Float => "Float64",
                        Form::Flag => "Boolean",
                        Form::Text => "String",
                    };
                    format!("{}: pl.{of}", python(&it.name))
                });
                let columns: Vec<String> = columns.collect();
                format!("pl.LazyFrame(schema={{{}}})", columns.join(", "))
            }
        };
        let _fine = writeln!(script, "    tables[{}] = {rows}", python(name));
    }
    script.push_str("    return pl.SQLContext(tables)\n");
    script
}

fn trino(tables: &BTreeMap<String, LiveTable>, folder: &str) -> String {
    let mut script = "\
-- For a catalog `hive` of Trino's Hive connector. Trino reads all parts in the folders: compact while no query runs.
CREATE SCHEMA IF NOT EXISTS hive.threadline;
"
    .to_owned();
    for (name, table) in tables.iter().filter(|(_, table)| !table.paths.is_empty()) {
        let columns = table.columns.iter();
        let columns = columns.map(|it| format!("\"{}\" {}", it.name, sql_type(it.form)));
        let columns: Vec<String> = columns.collect();
        let columns = columns.join(", ");
        let place = quoted(&format!("file://{folder}/{name}"));
        let _fine = writeln!(
            script,
            "CREATE TABLE IF NOT EXISTS hive.threadline.\"{name}\" ({columns}, \"date\" VARCHAR, \
             \"bucket\" VARCHAR)\n    WITH (external_location = {place}, format = 'PARQUET', \
             partitioned_by = ARRAY['date', 'bucket']);\nCALL \
             hive.system.sync_partition_metadata('threadline', {}, 'FULL');",
            quoted(name)
        );
    }
    script
}
