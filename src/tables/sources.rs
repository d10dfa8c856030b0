//! Tables of the files of a trace: the files that share its axis, and facts about them.

use super::rows::{MadeRow, RowsOfIds};
use super::{ColumnDef, RowSource, Rows, TableDef};
use crate::event::Fact;
use crate::load::LoadedTrace;
use crate::trace::sources::PlacedBy;

/// The files on the axis; no rows if there is one file only.
pub(crate) const SOURCES: TableDef = TableDef {
    name: "sources",
    title: "Files on this axis",
    about: "The files that share one time axis, and why each has its offset.",
    columns: &[
        ColumnDef::text("file", "File", "The file's name."),
        ColumnDef::text("format", "Format", "The file's format."),
        ColumnDef::duration("offset", "Offset", "What is added to the file's own times."),
        ColumnDef::text(
            "placed_by",
            "Placed by",
            "user; evidence: what the files contain; or alignment: it starts with the process that wrote it.",
        ),
        ColumnDef::text("why", "Why", "The reason for the offset."),
    ],
    stored: None,
    rows: Rows::Trace(|scope| Box::new(source_rows(scope.loaded.trace.sources.len()))),
};

/// Returns rows of [`SOURCES`] for the first `count` files.
pub(crate) fn source_rows(count: usize) -> impl RowSource {
    RowsOfIds::new(
        (0..count).collect(),
        (),
        |loaded: &LoadedTrace, (), &at: &usize, cells| {
            let Some(source) = loaded.trace.sources.get(at) else {
                return;
            };
            let placed_by = match source.placed_by {
                PlacedBy::Evidence => "evidence",
                PlacedBy::Alignment => "alignment",
                PlacedBy::User => "user",
            };
            cells.extend([
                source.name.as_str().into(),
                source.info.format.as_str().into(),
                source.offset().0.into(),
                placed_by.into(),
                source.evidence.as_str().into(),
            ]);
        },
    )
}

/// Facts about a file: names with values.
pub(crate) const FACTS: TableDef = TableDef {
    name: "facts",
    title: "File",
    about: "The file's facts about itself, and its counts.",
    columns: &[
        ColumnDef::text("fact", "Fact", "The name of the fact."),
        ColumnDef::text("value", "Value", "Its value."),
    ],
    stored: None,
    rows: Rows::Answer("info FILE"),
};

/// Returns rows of [`FACTS`].
pub(crate) fn fact_rows(facts: Vec<Fact>) -> Vec<MadeRow> {
    let row = |fact: Fact| MadeRow::new([fact.name.into(), fact.value.into()]);
    facts.into_iter().map(row).collect()
}
