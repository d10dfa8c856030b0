//! Tables of processes and threads.

use std::sync::Arc;

use super::columns::{ID, NAME, PID, TID, UPID};
use super::def::{Stored, renamed, same};
use super::items::pid_of;
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::base::signals::exit_text;
use crate::base::strings::{exact_text, shell_bytes};
use crate::base::{TimeSpan, Timestamp};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::process_times::{ProcessTimes, program_bytes, program_of};
use crate::query::process_tree::Visited;
use crate::query::selection::Chosen;
use crate::trace::{Process, ProcessId, ThreadId, Trace};

const START: ColumnDef<'static> = ColumnDef::time(
    "start",
    "Start",
    "When it started; none if before the trace, or if its start was lost.",
);
/// The start of a process: see [`Process::start`].
const PROCESS_START: ColumnDef<'static> = START.about(
    "When it started, or was first known to live if its start was lost; none if before the trace.",
);
const END: ColumnDef<'static> =
    ColumnDef::time("end", "End", "When it ended; none if after the trace.");
/// How long a process lived; exports contain no value for a lower bound.
pub(super) const LIFETIME: ColumnDef<'static> = ColumnDef::duration(
    "dur",
    "Duration",
    "How long it lived; none if its start or end is not in the trace.",
);
const ARGUMENTS: ColumnDef<'static> = ColumnDef::text(
    "args",
    "Arguments",
    "The arguments of its last program, quoted for a shell.",
);

pub(super) const PROCESSES: TableDef = TableDef {
    name: "processes",
    title: "Processes",
    about: "Each process with its parent, life, exit and arguments.",
    columns: &[
        ID,
        ColumnDef::code("key", "Key", "The number that the file has for it.").minor(),
        PID,
        ColumnDef::row("parent_id", "Parent", "The parent's row."),
        NAME,
        PROCESS_START,
        END,
        ColumnDef::key("exit_status", "Exit", "The status with which it ended."),
        ColumnDef::count(
            "execs",
            "Execs",
            "How many programs it ran, one after the other.",
        )
        .minor(),
        ColumnDef::count(
            "opens",
            "Opens",
            "How often it opened a file or tried to; none if the trace has no files.",
        ),
        ARGUMENTS,
        ColumnDef::key("exit_signal", "Signal", "The signal that ended it.").minor(),
    ],
    stored: Some(Stored {
        name: "process",
        more: &[],
        columns: &[
            renamed("upid", "id"),
            same("pid"),
            same("name"),
            renamed("start_ts", "start"),
            renamed("end_ts", "end"),
            renamed("parent_upid", "parent_id"),
            renamed("cmdline", "args"),
            same("key"),
            same("exit_status"),
            same("exit_signal"),
            same("execs"),
            same("opens"),
        ],
    }),
    rows: Rows::Trace(processes),
};

/// Returns how many files a process opened; none if its file does not show which files were opened.
fn opens_cell<'a>(trace: &Trace, id: ProcessId, process: &Process) -> Cell<'a> {
    let file = trace.source_of(id.0, |source| &source.processes);
    let file = file.and_then(|file| trace.sources.get(file.0 as usize));
    let has_files = file.map_or(!trace.files.rows.is_empty(), |file| file.has_files);
    has_files.then_some(process.opens).into()
}

/// Returns whether a life overlaps the selected time; either end may be unknown.
fn lives_in(chosen: &Chosen<'_>, trace: &Trace, ends: [Option<Timestamp>; 2]) -> bool {
    let [start, end] = ends;
    chosen.meets(
        start.unwrap_or(trace.span.start),
        end.unwrap_or(TimeSpan::ALL.end),
    )
}

fn processes(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let processes = (0..).map(ProcessId).zip(&trace.processes);
    let ids = processes.filter(|(id, process)| {
        chosen.has_process(*id) && lives_in(chosen, trace, [process.start, process.end])
    });
    let ids = ids.map(|(id, _)| id).collect();
    Box::new(RowsOfIds::new(
        ids,
        (),
        |loaded, (), &id: &ProcessId, cells| {
            let trace = &loaded.trace;
            let process = &trace.processes[id.0 as usize];
            cells.extend([
                id.0.into(),
                process.key.into(),
                process.pid.into(),
                process.parent.map(|parent| parent.0).into(),
                Cell::of_string(trace, process.name),
                process.start.into(),
                process.end.into(),
                process.exit_status.into(),
                (process.images.len() as u32).into(),
                opens_cell(trace, id, process),
                arguments_cell(trace, id),
                process.exit_signal.into(),
            ]);
        },
    ))
}

pub(super) const THREADS: TableDef = TableDef {
    name: "threads",
    title: "Threads",
    about: "Each thread with its process and life.",
    columns: &[
        ID,
        ColumnDef::code("key", "Key", "The number that the file has for it.").minor(),
        TID,
        PID,
        NAME,
        START,
        END,
    ],
    stored: Some(Stored {
        name: "thread",
        more: &[
            UPID,
            ColumnDef::flag(
                "is_main_thread",
                "Main",
                "Whether it is the first thread of its process.",
            ),
        ],
        columns: &[
            renamed("utid", "id"),
            same("tid"),
            same("name"),
            renamed("start_ts", "start"),
            renamed("end_ts", "end"),
            same("upid"),
            same("is_main_thread"),
            same("key"),
        ],
    }),
    rows: Rows::Trace(threads),
};

fn threads(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    // The first row of the table represents an unknown thread.
    let threads = (0..).map(ThreadId).zip(&trace.threads).skip(1);
    let ids = threads.filter(|(id, thread)| {
        let over = trace.over_at(*id);
        chosen.has_thread(*id) && lives_in(chosen, trace, [thread.start, over])
    });
    let ids = ids.map(|(id, _)| id).collect();
    Box::new(RowsOfIds::new(
        ids,
        (),
        |loaded, (), &id: &ThreadId, cells| {
            let trace = &loaded.trace;
            let thread = &trace.threads[id.0 as usize];
            cells.extend([
                id.0.into(),
                thread.key.into(),
                thread.tid.into(),
                trace.process_of(id).map(|process| process.pid).into(),
                Cell::of_string(trace, thread.name),
                thread.start.into(),
                thread.end.into(),
                thread.process.map(|process| process.0).into(),
                trace
                    .process_of(id)
                    .map(|process| u32::from(process.main_thread == Some(id)))
                    .into(),
            ]);
        },
    ))
}

/// The times of each process, parents before their children.
pub(crate) const PROCESS_TIMES: TableDef = TableDef {
    name: "process_times",
    title: "Process tree",
    about: "Each process below its parent, with its own time and that of its subtree.",
    columns: &[
        ID,
        PID,
        ColumnDef::row("parent_id", "Parent", "The parent's row."),
        ColumnDef::count("depth", "Depth", "How many processes are above it.").minor(),
        NAME,
        PROCESS_START,
        LIFETIME,
        ColumnDef::duration(
            "own",
            "Own",
            "The time in which none of its children lived; none if its start or end is not in the trace, or that of a child which may have lived then.",
        ),
        ColumnDef::duration(
            "subtree",
            "Subtree",
            "Its own time with that of all processes below it; none if one of these times is not known.",
        ),
        ColumnDef::count("children", "Children", "How many processes it started.").minor(),
        ColumnDef::count("below", "Below", "How many processes are below it."),
        ColumnDef::count(
            "opens",
            "Opens",
            "How often it opened a file or tried to; none if the trace has no files.",
        )
        .minor(),
        ColumnDef::key("exit_status", "Exit", "The status with which it ended."),
        ColumnDef::key("exit_signal", "Signal", "The signal that ended it.").minor(),
        ColumnDef::flag(
            "before_trace",
            "Before",
            "Whether it started before the trace.",
        ),
        ColumnDef::flag("after_trace", "After", "Whether it ended after the trace."),
        ColumnDef::flag(
            "may_be_thread",
            "Thread?",
            "Whether it may be a thread of its parent.",
        ),
        ARGUMENTS,
    ],
    stored: Some(Stored {
        name: "build_process",
        more: &[],
        columns: &[
            renamed("upid", "id"),
            same("pid"),
            renamed("parent_upid", "parent_id"),
            same("depth"),
            same("name"),
            renamed("ts", "start"),
            same("dur"),
            renamed("self_dur", "own"),
            renamed("subtree_dur", "subtree"),
            same("children"),
            same("below"),
            same("opens"),
            same("exit_status"),
            same("exit_signal"),
            renamed("cmdline", "args"),
        ],
    }),
    rows: Rows::Trace(process_times),
};

/// For panes only: how the process ended, as text.
pub(crate) const EXIT: ColumnDef<'static> =
    ColumnDef::text("exit", "Exit", "Exit code, or the signal that killed it");

fn process_times(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let times = ProcessTimes::new(trace);
    let walk = times.tree.walk().into_iter();
    let nodes = walk.filter(|&Visited { id, .. }| {
        let span = times.of(id).span;
        chosen.has_process(id)
            && chosen.meets(span.start, span.end)
            && (id.0 as usize) < trace.processes.len()
    });
    Box::new(process_rows(nodes.collect(), Arc::new(times)))
}

/// Returns rows of [`PROCESS_TIMES`], followed by a cell of [`EXIT`]; the item of each is its process.
pub(crate) fn process_rows(nodes: Vec<Visited>, times: Arc<ProcessTimes>) -> impl RowSource {
    let rows = RowsOfIds::new(nodes, times, |loaded, times, node, cells| {
        node_cells(loaded, times, *node, cells);
    });
    rows.about(|_, node| Some(Item::Process(node.id)))
        .nested(|node| node.depth, |node| node.id.0)
}

fn node_cells<'a>(
    loaded: &'a LoadedTrace,
    times: &'a ProcessTimes,
    node: Visited,
    cells: &mut Vec<Cell<'a>>,
) {
    let trace = &loaded.trace;
    let Some(process) = trace.processes.get(node.id.0 as usize) else {
        return;
    };
    let time = times.of(node.id);
    cells.extend([
        node.id.0.into(),
        process.pid.into(),
        process.parent.map(|parent| parent.0).into(),
        node.depth.into(),
        program_cell(trace, node.id),
        process.start.into(),
        times.life(trace, node.id).into(),
        time.own.into(),
        time.subtree.into(),
        time.children.into(),
        time.below.into(),
        opens_cell(trace, node.id, process),
        process.exit_status.into(),
        process.exit_signal.into(),
        u32::from(process.start.is_none()).into(),
        u32::from(process.end.is_none()).into(),
        u32::from(process.may_be_thread()).into(),
        arguments_cell(trace, node.id),
        exit_text(process.exit_status, process.exit_signal).into(),
    ]);
}

/// Returns the name of the program that a process ran last.
pub(super) fn program_cell(trace: &Trace, id: ProcessId) -> Cell<'_> {
    match program_bytes(trace, id) {
        [] => program_of(trace, id).into(),
        name => Cell::of_bytes(name),
    }
}

/// Returns the arguments of the last program of a process, quoted for a shell.
pub(crate) fn arguments_cell(trace: &Trace, id: ProcessId) -> Cell<'_> {
    trace
        .processes
        .get(id.0 as usize)
        .and_then(|process| process.images.last())
        .filter(|image| !image.arguments.is_empty())
        .map_or(Cell::None, |image| {
            let words = image.arguments.iter().map(|&id| trace.strings.bytes(id));
            exact_text(&shell_bytes(words)).into_owned().into()
        })
}

/// Returns the program of a process and its number as one text: `make (166)`.
pub(super) fn process_in_full(trace: &Trace, id: ProcessId) -> Cell<'_> {
    let process = trace.processes.get(id.0 as usize);
    let pid = process.map_or(0, |process| process.pid);
    format!("{} ({pid})", program_of(trace, id)).into()
}

/// Returns the program of a process and its number; empty cells if there is no process.
pub(super) fn process_cells(trace: &Trace, id: Option<ProcessId>) -> [Cell<'_>; 2] {
    match id {
        Some(id) => [pid_of(trace, id), program_cell(trace, id)],
        None => [Cell::None, Cell::None],
    }
}
