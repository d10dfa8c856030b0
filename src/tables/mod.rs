//! What a trace contains, as tables: one description of each, for the panes, the clipboard, files, and the terminal.
//!
//! ```text
//! TableDef (name, columns, rows) -> RowSource (cells on demand) -> gui/table, export/rows, export/aligned
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

pub(crate) mod builds;
pub mod cell;
pub mod columns;
pub(crate) mod compared;
mod def;
pub(crate) mod files;
pub(crate) mod flames;
pub(crate) mod groups;
pub(crate) mod items;
pub(crate) mod latency;
pub(crate) mod lives;
pub(crate) mod matches;
pub(crate) mod probes;
mod recorded;
pub mod rows;
mod scheduling;
pub(crate) mod tracks;
pub(crate) mod waits;

pub use cell::Cell;
pub(crate) use columns::{ColumnDef, ColumnKind, Unit};
pub(crate) use def::{Audience, Scope, TableDef};
pub(crate) use rows::{MadeRow, RowSource};

/// All tables of a trace, in the order of the help.
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
    lives::PROCESS_TIMES,
    files::FILE_USES,
    files::FILE_LIST,
    files::FILE_DEPENDENCIES,
    builds::PROGRAMS,
    builds::CRITICAL_CHAIN,
    builds::FAILED,
    builds::PARALLELISM,
    builds::SYSCALLS,
];

/// Returns the table of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static TableDef> {
    TABLES.iter().find(|table| table.name == name)
}
