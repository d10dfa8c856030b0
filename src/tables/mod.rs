//! The contents of a trace as tables: one description of each table, for the panes, the clipboard, files, and the
//! terminal.
//!
//! ```text
//! TableDef (name, title, columns, rows) -> RowSource (cells on demand) -> gui/table, export/rows, export/aligned
//! ```
//!
//! Names and leading columns are a contract that scripts rely on; columns are only added at the end. Times are in ns
//! on the trace's own clock; a row that crosses the border of the selected range keeps its whole duration.
//!
//! Does not decide how cells look or are escaped.

#![cfg_attr(
    not(feature = "gui"),
    allow(
        dead_code,
        reason = "cells after those of the columns are for panes only"
    )
)]

pub(crate) mod arguments;
pub(crate) mod batch;
pub(crate) mod builds;
pub(crate) mod cell;
pub mod columns;
pub(crate) mod compared;
pub(crate) mod compiler_costs;
mod def;
pub(crate) mod files;
pub(crate) mod flames;
pub(crate) mod gaps;
pub(crate) mod groups;
pub(crate) mod items;
pub(crate) mod latency;
pub(crate) mod lives;
pub(crate) mod marks;
pub(crate) mod matches;
pub(crate) mod probes;
pub(crate) mod recorded;
pub(crate) mod recordings;
pub mod rows;
mod scheduling;
pub(crate) mod sources;
mod track_list;
pub(crate) mod tracks;
pub(crate) mod waits;

pub use cell::Cell;
pub(crate) use columns::{ColumnDef, ColumnKind, Unit};
pub(crate) use def::{Audience, Rows, Scope, TableDef};
pub(crate) use rows::{MadeRow, RowSource};

/// All tables that a command prints, in the order of the help: first those of a trace, then those that answer a question.
pub const TABLES: &[TableDef] = &[
    tracks::SLICES,
    tracks::INSTANTS,
    tracks::COUNTERS,
    tracks::FLOWS,
    scheduling::RUNS,
    scheduling::STATES,
    lives::PROCESSES,
    lives::THREADS,
    files::FILES,
    recorded::EVENTS,
    recorded::LOGS,
    recorded::DIAGNOSTICS,
    recorded::BLOBS,
    track_list::TRACKS,
    arguments::ARGUMENTS,
    lives::PROCESS_TIMES,
    files::FILE_USES,
    files::FILE_LIST,
    files::FILE_DEPENDENCIES,
    builds::PROGRAMS,
    builds::CRITICAL_CHAIN,
    compiler_costs::COMPILER_COSTS,
    compiler_costs::COMPILER_TOTALS,
    builds::FAILED,
    builds::PARALLELISM,
    builds::SYSCALLS,
    probes::PROBES,
    gaps::GAPS,
    sources::SOURCES,
    sources::FACTS,
    matches::MATCHES,
    groups::GROUPS,
    groups::EVENT_GROUPS,
    groups::COUNTER_SUMS,
    latency::SUMS,
    latency::WORST,
    waits::HOPS,
    flames::TREE,
    flames::NAMES,
    compared::COMPARED,
    files::USES_OF_FILE,
    files::RELATIVES,
    probes::PROBE_EVENTS,
];

/// Returns the table of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static TableDef> {
    TABLES.iter().find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_titles_are_unique_and_every_table_is_explained() {
        for (at, table) in TABLES.iter().enumerate() {
            let others = || TABLES.iter().skip(at + 1);
            assert!(others().all(|other| other.name != table.name), "{table:?}");
            assert!(
                others().all(|other| other.title != table.title),
                "{table:?}"
            );
            assert!(table.about.ends_with('.'), "{table:?}");
            assert!(table.command().is_some(), "{table:?}");
            for (at, column) in table.columns.iter().enumerate() {
                let mut others = table.columns.iter().skip(at + 1);
                assert!(
                    others.all(|other| other.name != column.name),
                    "{table:?} {column:?}"
                );
            }
        }
    }
}
