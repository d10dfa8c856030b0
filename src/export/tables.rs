//! The trace's tables as rows of cells: what `table` prints, and what the exporters `csv` and `json` write.
//!
//! Names and leading columns are a contract that scripts rely on; columns are only ever added at the end. Times are
//! in ns on the trace's own clock, things that reach out of the range are told whole. Where the user gave times of
//! day their date, a last column says what a wall clock showed.

use std::io::Write;

use super::build_tables;
use super::rows::{Formulas, RowFormat, RowWriter};
use super::table_rows::{
    blobs, counters, diagnostics, events, files, flows, instants, logs, processes, runs, slices,
    states, threads,
};
use super::{Chosen, ExportError, Exporter, Request, Summary, WriteFn};
use crate::base::Job;
use crate::load::LoadedTrace;

/// A table: its name, its columns, and what writes its rows.
#[derive(Clone, Copy)]
pub struct Table {
    /// What it is called.
    pub name: &'static str,
    /// The names of its columns.
    pub columns: &'static [&'static str],
    pub(super) write: fn(&LoadedTrace, &Chosen<'_>, &mut RowWriter<'_>) -> std::io::Result<()>,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Table {
    /// Writes the rows of what is chosen; how many there were.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        &self,
        loaded: &LoadedTrace,
        chosen: &Chosen<'_>,
        format: RowFormat,
        out: &mut dyn Write,
    ) -> std::io::Result<u64> {
        let time = self
            .columns
            .iter()
            .position(|name| TIME_COLUMNS.contains(name));
        let info = &loaded.trace.info;
        let (Some(time), Some(zero_ns), true) =
            (time, info.wall_clock_zero_ns, loaded.has_given_day())
        else {
            let mut rows = RowWriter::new(out, format, self.columns)?;
            (self.write)(loaded, chosen, &mut rows)?;
            return rows.finish();
        };
        let columns: Vec<&str> = self.columns.iter().copied().chain(["wall_clock"]).collect();
        let mut rows = RowWriter::new(out, format, &columns)?;
        rows.add_wall_clock(time, zero_ns);
        (self.write)(loaded, chosen, &mut rows)?;
        rows.finish()
    }
}

/// The first of these is what the wall clock is told of, where the user gave times of day their date.
const TIME_COLUMNS: &[&str] = &["ts", "start", "from_ts"];

/// The table of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// One table as comma-separated values; the slices unless another is asked for.
pub const CSV: Exporter = Exporter {
    name: "csv",
    about: "One table as comma-separated values, for spreadsheets and scripts",
    extension: "csv",
    table: Some(&TABLES[0]),
    write: |request, out| write_table(RowFormat::Csv(Formulas::Kept), request, out),
};

/// What [`CSV`] does where formulas are to be texts.
pub const QUOTED_CSV: WriteFn =
    |request, out| write_table(RowFormat::Csv(Formulas::Quoted), request, out);

/// One table as a JSON array of objects.
pub const JSON: Exporter = Exporter {
    name: "json",
    about: "One table as JSON, an object a row",
    extension: "table.json",
    table: Some(&TABLES[0]),
    write: |request, out| write_table(RowFormat::Json, request, out),
};

fn write_table(
    format: RowFormat,
    request: &Request<'_>,
    out: &mut dyn Write,
) -> Result<Summary, ExportError> {
    let job = request.job;
    let table = request.table.unwrap_or(&TABLES[0]);
    let mut out = Cancellable { out, job };
    let count = table
        .write(request.loaded, request.chosen, format, &mut out)
        .map_err(|error| match job.check() {
            Err(cancelled) => cancelled.into(),
            Ok(()) => ExportError::Io(error),
        })?;
    let mut summary = Summary::default();
    summary.count("rows", count);
    Ok(summary)
}

/// Stops with an error when the job is cancelled.
struct Cancellable<'a> {
    out: &'a mut dyn Write,
    job: &'a Job,
}

impl Write for Cancellable<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.job.is_cancelled() {
            return Err(std::io::Error::other("cancelled"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// All tables, in the order of the help.
pub const TABLES: &[Table] = &[
    Table {
        name: "slices",
        columns: &[
            "ts",
            "dur",
            "depth",
            "name",
            "category",
            "pid",
            "tid",
            "process",
            "thread",
            "track",
            "id",
            "parent_id",
        ],
        write: slices,
    },
    Table {
        name: "instants",
        columns: &["ts", "name", "category", "pid", "tid", "cpu", "track"],
        write: instants,
    },
    Table {
        name: "counters",
        columns: &["ts", "track", "value", "pid", "cpu"],
        write: counters,
    },
    Table {
        name: "flows",
        columns: &[
            "id",
            "name",
            "from_ts",
            "from_tid",
            "to_ts",
            "to_tid",
            "key",
            "from_slice",
            "to_slice",
        ],
        write: flows,
    },
    Table {
        name: "runs",
        columns: &[
            "ts",
            "dur",
            "cpu",
            "pid",
            "tid",
            "thread",
            "priority",
            "end_state",
        ],
        write: runs,
    },
    Table {
        name: "states",
        columns: &[
            "ts",
            "dur",
            "state",
            "tid",
            "thread",
            "waker_tid",
            "cpu",
            "waker",
            "woken_in",
            "spans_loss",
        ],
        write: states,
    },
    Table {
        name: "processes",
        columns: &[
            "id",
            "key",
            "pid",
            "parent_id",
            "name",
            "start",
            "end",
            "exit_status",
            "execs",
            "opens",
            "args",
            "exit_signal",
        ],
        write: processes,
    },
    Table {
        name: "threads",
        columns: &["id", "key", "tid", "pid", "name", "start", "end"],
        write: threads,
    },
    Table {
        name: "files",
        columns: &[
            "ts",
            "pid",
            "path",
            "mode",
            "fd",
            "result",
            "op",
            "other_path",
            "flags",
        ],
        write: files,
    },
    Table {
        name: "events",
        columns: &["ts", "cpu", "tid", "name", "category", "id"],
        write: events,
    },
    Table {
        name: "logs",
        columns: &["ts", "severity", "pid", "tid", "message"],
        write: logs,
    },
    Table {
        name: "diagnostics",
        columns: &["severity", "code", "count", "place", "message"],
        write: diagnostics,
    },
    Table {
        name: "blobs",
        columns: &["number", "ts", "name", "category", "type", "bytes"],
        write: blobs,
    },
    build_tables::PROCESS_TIMES,
    build_tables::FILE_USES,
    build_tables::FILE_LIST,
    build_tables::FILE_DEPENDENCIES,
    build_tables::PROGRAMS,
    build_tables::CRITICAL_CHAIN,
    build_tables::FAILED,
    build_tables::PARALLELISM,
    build_tables::SYSCALLS,
];
