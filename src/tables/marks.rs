//! The table of markers, kept places and flags of a view.

use super::rows::MadeRow;
use super::{ColumnDef, Rows, TableDef};
use crate::base::{Nanos, Timestamp};

/// The marks of a view.
pub(crate) const MARKS: TableDef = TableDef {
    name: "marks",
    title: "Marks",
    about: "Markers, kept places and flags with their notes.",
    columns: &[
        ColumnDef::text("mark", "Mark", "A, B, the number of a place, or flag."),
        ColumnDef::time("ts", "Time", "Its time, or its start."),
        ColumnDef::duration("dur", "Duration", "Its length."),
        ColumnDef::text("note", "Note", "The flag's note."),
    ],
    stored: None,
    rows: Rows::Window,
};

/// A mark.
pub(crate) struct MarkRow<'a> {
    pub name: String,
    pub time: Timestamp,
    pub length: Option<Nanos>,
    pub note: &'a str,
}

/// Returns rows of [`MARKS`].
pub(crate) fn mark_rows<'a>(marks: impl IntoIterator<Item = MarkRow<'a>>) -> Vec<MadeRow> {
    let row = |mark: MarkRow<'a>| {
        MadeRow::new([
            mark.name.into(),
            mark.time.into(),
            mark.length.map(|length| length.0).into(),
            mark.note.into(),
        ])
    };
    marks.into_iter().map(row).collect()
}
