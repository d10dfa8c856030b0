//! Rows of tables, as `threadline table --format json` writes them.

use std::collections::BTreeMap;

use threadline::base::Job;
use threadline::export::rows::RowFormat;
use threadline::export::tables::write as write_table;
use threadline::export::{Chosen, Selection};
use threadline::load::LoadedTrace;

/// Rows of a table: each cell as text under the name of its column; an empty text if it has no value.
pub type Rows = Vec<BTreeMap<String, String>>;

/// The rows of a table of the whole trace.
pub fn rows(loaded: &LoadedTrace, name: &str) -> Rows {
    let selection = Selection::all();
    let chosen = Chosen::new(&loaded.trace, &selection);
    let table = threadline::tables::find(name).unwrap();
    let mut out = Vec::new();
    write_table(
        table,
        loaded,
        &chosen,
        RowFormat::Json,
        &mut out,
        &Job::default(),
    )
    .unwrap();
    let rows: Vec<BTreeMap<String, serde_json::Value>> = serde_json::from_slice(&out).unwrap();
    let text = |value: serde_json::Value| match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text,
        value => value.to_string(),
    };
    let cells = |row: BTreeMap<String, serde_json::Value>| {
        let cells = row.into_iter().map(|(name, value)| (name, text(value)));
        cells.collect()
    };
    rows.into_iter().map(cells).collect()
}
