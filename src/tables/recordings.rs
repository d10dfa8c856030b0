//! Tables about whole recordings, which only data sets have: the recordings themselves, and their labels.

use super::def::{Stored, same};
use super::rows::MadeRow;
use super::{Cell, ColumnDef, Rows, TableDef, Unit};
use crate::base::strings::exact_text;
use crate::load::LoadedTrace;

/// The recordings.
pub(crate) const RECORDING: TableDef = TableDef {
    name: "recordings",
    title: "Recordings",
    about: "Each trace of a data set, with its span and counts.",
    columns: &[
        ColumnDef::path("path", "Path", "The path from which it was read."),
        ColumnDef::text("format", "Format", "Its format."),
        ColumnDef::text(
            "clock",
            "Clock",
            "The name of its clock, if the file has it.",
        ),
        ColumnDef::time("start_ts", "Start", "Its first time."),
        ColumnDef::time("end_ts", "End", "The time after its last."),
        ColumnDef::number(
            "wall_start_ns",
            "Wall start",
            Unit::Nanoseconds,
            "Its start in ns since 1970 (UTC); none if it is not recorded.",
        ),
        ColumnDef::number("size_bytes", "Size", Unit::Bytes, "The size of its file."),
        ColumnDef::count("events", "Events", "How many events it has."),
        ColumnDef::count("slices", "Slices", "How many slices it has."),
        ColumnDef::count("cpus", "CPUs", "How many CPUs it shows."),
    ],
    stored: Some(Stored {
        name: "trace",
        more: &[],
        columns: &[
            same("path"),
            same("format"),
            same("clock"),
            same("start_ts"),
            same("end_ts"),
            same("wall_start_ns"),
            same("size_bytes"),
            same("events"),
            same("slices"),
            same("cpus"),
        ],
    }),
    rows: Rows::Answer("dataset list DIR"),
};

/// Returns the start of a trace in ns since 1970 (UTC), if it is recorded.
pub(crate) fn wall_start_ns(loaded: &LoadedTrace) -> Option<i64> {
    let zero = loaded.trace.info.wall_clock_zero_ns?;
    zero.checked_add(loaded.trace.span.start.0)
}

/// Returns the row of [`RECORDING`] for a trace.
pub(crate) fn recording_rows(loaded: &LoadedTrace, size_bytes: u64) -> Vec<MadeRow> {
    let trace = &loaded.trace;
    let clock = Some(trace.info.clock.as_str()).filter(|clock| !clock.is_empty());
    vec![MadeRow::new([
        exact_text(loaded.path.as_os_str().as_encoded_bytes()).into(),
        trace.info.format.as_str().into(),
        clock.into(),
        trace.span.start.into(),
        trace.span.end.into(),
        wall_start_ns(loaded).into(),
        size_bytes.into(),
        (trace.events.len() as u64).into(),
        (trace.slices.len() as u64).into(),
        (trace.cpus.len() as u64).into(),
    ])]
}

/// Named properties of a recording.
pub(crate) const RECORDING_LABEL: TableDef = TableDef {
    name: "recording_labels",
    title: "Labels",
    about: "What the user and the file say of each trace of a data set, by keys.",
    columns: &[
        ColumnDef::text("key", "Key", "The key."),
        ColumnDef::text("value", "Value", "The value."),
        ColumnDef::text(
            "source",
            "Source",
            "user: given with --label; trace: a fact in the file, such as uname.",
        ),
    ],
    stored: Some(Stored {
        name: "trace_label",
        more: &[],
        columns: &[same("key"), same("value"), same("source")],
    }),
    rows: Rows::Answer("dataset list DIR"),
};

/// Returns the rows of [`RECORDING_LABEL`] for a trace with these labels of the user.
pub(crate) fn label_rows<'a>(
    loaded: &LoadedTrace,
    labels: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<MadeRow> {
    let row = |key: &str, value: &str, source: &'static str| {
        MadeRow::new([Cell::from(key), value.into(), source.into()])
    };
    let user = labels
        .into_iter()
        .map(|(key, value)| row(key, value, "user"));
    let facts = loaded.trace.info.facts.iter();
    user.chain(facts.map(|fact| row(&fact.name, &fact.value, "trace")))
        .collect()
}
