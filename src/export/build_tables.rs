//! Tables of what the process tree, files and build panes work out: rows for `TABLES`.

use super::rows::{Cell, RowWriter, shell_bytes};
use super::tables::Table;
use super::{Chosen, table_rows};
use crate::base::{Job, Timestamp};
use crate::event::FileOp;
use crate::load::LoadedTrace;
use crate::query::build_chain::{Because, ChainRow, critical_chain};
use crate::query::call_totals::call_totals;
use crate::query::files::FileList;
use crate::query::process_times::{ProcessTimes, alive, parallelism, program_bytes, program_of};
use crate::query::programs;
use crate::trace::file_history::word_of;
use crate::trace::{FileHistory, FileId, ProcessId, Trace};

/// What each process took, parents before their children.
pub const PROCESS_TIMES: Table = Table {
    name: "process_times",
    columns: &[
        "id",
        "pid",
        "parent_id",
        "depth",
        "name",
        "start",
        "dur",
        "own",
        "subtree",
        "children",
        "below",
        "opens",
        "exit_status",
        "exit_signal",
        "before_trace",
        "after_trace",
        "may_be_thread",
        "args",
    ],
    write: process_times,
};

/// Every use of a file by path, with the file that the path meant.
pub const FILE_USES: Table = Table {
    name: "file_uses",
    columns: &[
        "ts",
        "file",
        "path",
        "use",
        "pid",
        "process",
        "done",
        "other_path",
    ],
    write: file_uses,
};

/// Every file with how it was used.
pub const FILE_LIST: Table = Table {
    name: "file_list",
    columns: &[
        "file",
        "path",
        "reads",
        "writes",
        "renames",
        "processes",
        "first",
        "last",
        "names",
        "gone",
    ],
    write: file_list,
};

/// Who read what somebody else had written.
pub const FILE_DEPENDENCIES: Table = Table {
    name: "file_dependencies",
    columns: &[
        "read",
        "file",
        "path",
        "reader_pid",
        "reader",
        "writer_pid",
        "writer",
        "written",
    ],
    write: file_dependencies,
};

/// Programs added up.
pub const PROGRAMS: Table = Table {
    name: "programs",
    columns: &[
        "name",
        "processes",
        "own",
        "total",
        "longest",
        "longest_pid",
        "failed",
    ],
    write: program_rows,
};

/// The steps of the critical chain.
pub const CRITICAL_CHAIN: Table = Table {
    name: "critical_chain",
    columns: &[
        "ts", "dur", "own", "pid", "process", "because", "path", "args", "share",
    ],
    write: chain_rows,
};

/// Processes that failed.
pub const FAILED: Table = Table {
    name: "failed",
    columns: &[
        "end",
        "pid",
        "process",
        "exit_status",
        "exit_signal",
        "dur",
        "args",
    ],
    write: failed_rows,
};

/// How many processes worked, and lived, at once.
pub const PARALLELISM: Table = Table {
    name: "parallelism",
    columns: &["ts", "working", "alive"],
    write: parallelism_rows,
};

/// System calls added up, as `strace -c` prints them.
pub const SYSCALLS: Table = Table {
    name: "syscalls",
    columns: &[
        "name",
        "calls",
        "errors",
        "time",
        "share",
        "mean",
        "longest",
        "unfinished",
        "returned",
        "by_error",
    ],
    write: call_rows,
};

fn call_rows(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let slices = &trace.slices;
    let is_chosen = |track, slice: u32| {
        let start = Timestamp(slices.starts.at(slice as usize));
        let end = Timestamp(slices.open_end(slice as usize));
        table_rows::meets(chosen.span, start, end) && chosen.has_slice(track, slice as usize)
    };
    // Nobody can cancel it here.
    let job = Job::default();
    let totals = call_totals(trace, loaded.reader.as_ref(), is_chosen, &job).unwrap_or_default();
    let all: i128 = totals.iter().map(|total| total.time_ns).sum();
    for total in totals {
        let by_error: Vec<String> = total
            .by_error
            .iter()
            .map(|(error, count)| format!("{error} {count}"))
            .collect();
        let share = 100.0 * total.time_ns as f64 / (all as f64).max(1.0);
        let mean = total.mean_ns();
        rows.row(&[
            Cell::of_bytes(total.name.as_bytes()),
            total.calls.into(),
            total.errors.into(),
            Cell::Int(total.time_ns),
            Cell::Float((share * 100.0).round() / 100.0),
            mean.into(),
            mean.map(|_| total.longest_ns).into(),
            total.unfinished.into(),
            total.returned.into(),
            Cell::of_bytes(by_error.join(", ").as_bytes()),
        ])?;
    }
    Ok(())
}

fn pid_of(trace: &Trace, id: ProcessId) -> Cell {
    trace.processes.get(id.0 as usize).map(|it| it.pid).into()
}

fn name_of(trace: &Trace, id: ProcessId) -> Cell {
    match program_bytes(trace, id) {
        [] => program_of(trace, id).into(),
        name => Cell::of_bytes(name),
    }
}

/// The arguments of the last program of a process.
pub fn arguments_cell(trace: &Trace, id: ProcessId) -> Cell {
    trace
        .processes
        .get(id.0 as usize)
        .and_then(|process| process.images.last())
        .filter(|image| !image.arguments.is_empty())
        .map_or(Cell::None, |image| {
            let words = image.arguments.iter().map(|&id| trace.strings.bytes(id));
            Cell::of_bytes(&shell_bytes(words))
        })
}

fn process_times(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let times = ProcessTimes::new(trace);
    for (id, depth) in times.tree.walk() {
        let time = times.of(id);
        if !chosen.has_process(id)
            || !table_rows::meets(chosen.span, time.span.start, time.span.end)
        {
            continue;
        }
        let Some(process) = trace.processes.get(id.0 as usize) else {
            continue;
        };
        rows.row(&[
            id.0.into(),
            process.pid.into(),
            process.parent.map(|parent| parent.0).into(),
            depth.into(),
            name_of(trace, id),
            process.start.map(|time| time.0).into(),
            time.span.duration().0.into(),
            time.own.0.into(),
            time.subtree.0.into(),
            time.children.into(),
            time.below.into(),
            process.opens.into(),
            process.exit_status.into(),
            process.exit_signal.into(),
            u32::from(process.start.is_none()).into(),
            u32::from(process.end.is_none()).into(),
            u32::from(process.may_be_thread()).into(),
            arguments_cell(trace, id),
        ])?;
    }
    Ok(())
}

fn file_uses(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let history = FileHistory::new(trace);
    for ((index, row), file) in (0_u32..).zip(&trace.files.rows).zip(&history.of_row) {
        if *file == FileId::NONE
            || !chosen.span.contains(row.time)
            || !chosen.has_thread(row.thread)
        {
            continue;
        }
        let process = trace.thread(row.thread).process;
        let done = history.ended_by.get(&index);
        let other = (row.op != FileOp::Open).then_some(row.other_path);
        rows.row(&[
            row.time.0.into(),
            file.0.into(),
            Cell::of_string(trace, row.path),
            word_of(row).into(),
            process.map_or(Cell::None, |id| pid_of(trace, id)),
            process.map_or(Cell::None, |id| name_of(trace, id)),
            done.map(|&event| trace.events.time(event).0).into(),
            other.map_or(Cell::None, |path| Cell::of_string(trace, path)),
        ])?;
    }
    Ok(())
}

fn file_list(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let list = FileList::new(trace);
    for (index, summary) in (0_u32..).zip(&list.summaries) {
        let id = FileId(index);
        let is_chosen = list.rows_of(id).iter().any(|&row| {
            let row = &trace.files.rows[row as usize];
            chosen.span.contains(row.time) && chosen.has_thread(row.thread)
        });
        if !is_chosen {
            continue;
        }
        let file = &list.history.files[index as usize];
        rows.row(&[
            index.into(),
            Cell::of_string(trace, list.history.name(id)),
            summary.reads.into(),
            summary.writes.into(),
            summary.renames.into(),
            summary.processes.into(),
            summary.first.0.into(),
            summary.last.0.into(),
            (file.names.len() as u32).into(),
            u32::from(file.is_gone).into(),
        ])?;
    }
    Ok(())
}

fn file_dependencies(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let history = FileHistory::new(trace);
    for row in &history.dependencies {
        if !chosen.span.contains(row.to.0) || !chosen.has_process(row.reader) {
            continue;
        }
        let path = trace.files.rows[row.read as usize].path;
        rows.row(&[
            row.to.0.0.into(),
            row.file.0.into(),
            Cell::of_string(trace, path),
            pid_of(trace, row.reader),
            name_of(trace, row.reader),
            pid_of(trace, row.writer),
            name_of(trace, row.writer),
            row.from.0.0.into(),
        ])?;
    }
    Ok(())
}

fn program_rows(
    loaded: &LoadedTrace,
    _: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    for total in programs::programs(trace, &ProcessTimes::new(trace)) {
        rows.row(&[
            name_of(trace, total.longest_process),
            total.count.into(),
            total.own.0.into(),
            total.total.0.into(),
            total.longest.0.into(),
            pid_of(trace, total.longest_process),
            total.failed.into(),
        ])?;
    }
    Ok(())
}

fn chain_rows(
    loaded: &LoadedTrace,
    _: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let times = ProcessTimes::new(trace);
    let chain = critical_chain(trace, &times, &FileHistory::new(trace));
    for (row, share) in chain.rows() {
        let (why, path) = match row {
            ChainRow::Wait(wait) => (wait.why.word(), Cell::None),
            ChainRow::Step(step) => match step.because {
                Because::File(path) => (step.because.word(), Cell::of_string(trace, path)),
                because => (because.word(), Cell::None),
            },
        };
        rows.row(&[
            row.span().start.0.into(),
            row.span().duration().0.into(),
            row.time().0.into(),
            pid_of(trace, row.process()),
            name_of(trace, row.process()),
            why.into(),
            path,
            arguments_cell(trace, row.process()),
            Cell::Float(f64::from(share) / 100.0),
        ])?;
    }
    Ok(())
}

fn failed_rows(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let times = ProcessTimes::new(trace);
    for id in programs::failed(trace) {
        let span = times.of(id).span;
        let Some(process) = trace.processes.get(id.0 as usize) else {
            continue;
        };
        if !chosen.has_process(id) || !table_rows::meets(chosen.span, span.start, span.end) {
            continue;
        }
        rows.row(&[
            process.end.map(|time| time.0).into(),
            process.pid.into(),
            name_of(trace, id),
            process.exit_status.into(),
            process.exit_signal.into(),
            span.duration().0.into(),
            arguments_cell(trace, id),
        ])?;
    }
    Ok(())
}

fn parallelism_rows(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let working = parallelism(trace, &ProcessTimes::new(trace));
    let alive = alive(trace);
    let mut times: Vec<Timestamp> = working.iter().chain(&alive).map(|step| step.0).collect();
    times.sort_unstable();
    times.dedup();
    let at = |steps: &[(Timestamp, u32)], time: Timestamp| {
        let after = steps.partition_point(|step| step.0 <= time);
        after.checked_sub(1).map_or(0, |index| steps[index].1)
    };
    for time in times.into_iter().filter(|&time| chosen.span.contains(time)) {
        rows.row(&[
            time.0.into(),
            at(&working, time).into(),
            at(&alive, time).into(),
        ])?;
    }
    Ok(())
}
