//! Tables of a whole build: programs, the critical chain, failures, parallelism; and the table of system calls.

use super::columns::{AT_LEAST, DUR, NAME, PID, PROCESS, TS, UNFINISHED, UPID};
use super::def::{Stored, renamed, same};
use super::items::pid_of;
use super::lives::{LIFETIME, arguments_cell, process_in_full, program_cell};
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef, Unit};
use crate::assemble::file_history::FileHistory;
use crate::base::strings::exact_text;
use crate::base::{TimeSpan, Timestamp};
use crate::query::Item;
use crate::query::build_chain::{Because, ChainRow, SharedRow, critical_chain};
use crate::query::call_totals::{CallTotal, call_totals};
use crate::query::process_times::{CountFrom, ProcessTimes, alive, parallelism};
use crate::query::programs::{self, ProgramTotal, programs};
use crate::trace::{ProcessId, Trace};

/// Totals of each program.
pub(crate) const PROGRAMS: TableDef = TableDef {
    name: "programs",
    title: "Programs",
    about: "Each program of a build with the times of its processes.",
    columns: &[
        NAME,
        ColumnDef::count("processes", "Processes", "How many processes ran it."),
        ColumnDef::duration(
            "own",
            "Own",
            "Total own time of those of which it is known.",
        ),
        ColumnDef::duration(
            "total",
            "Total",
            "Total lifetime of those of which it is known.",
        ),
        ColumnDef::duration("longest", "Longest", "The longest known lifetime."),
        ColumnDef::key(
            "longest_pid",
            "Longest PID",
            "The process with the longest lifetime.",
        )
        .minor(),
        ColumnDef::count(
            "failed",
            "Failed",
            "How many failed, of those whose exit is known; null if it is known of none.",
        ),
        UNFINISHED,
        AT_LEAST.kept(),
    ],
    stored: None,
    rows: Rows::Trace(|scope| {
        let trace = &scope.loaded.trace;
        let times = ProcessTimes::new(trace);
        let lives_in = |id| is_in(scope, id, times.of(id).span);
        Box::new(program_rows(programs(trace, &times, lives_in)))
    }),
};

/// Returns whether a process is chosen, and what it does over `span` meets the chosen time.
fn is_in(scope: &Scope<'_>, id: ProcessId, span: TimeSpan) -> bool {
    scope.chosen.has_process(id) && scope.chosen.meets(span.start, span.end)
}

/// Returns rows of [`PROGRAMS`]; the item of each is the process of its program that lived longest.
pub(crate) fn program_rows(totals: Vec<ProgramTotal>) -> impl RowSource {
    let rows = RowsOfIds::new(totals, (), |loaded, (), total: &ProgramTotal, cells| {
        let trace = &loaded.trace;
        let longest = total.longest.known();
        cells.extend([
            program_cell(trace, total.longest_process),
            total.count.into(),
            total.own.0.into(),
            total.total.0.into(),
            longest.into(),
            longest.map_or(Cell::None, |_| pid_of(trace, total.longest_process)),
            total.failed.into(),
            total.unfinished.into(),
            total.at_least.0.into(),
        ]);
    });
    rows.about(|(), total| Some(Item::Process(total.longest_process)))
}

/// The steps of the critical chain.
pub(crate) const CRITICAL_CHAIN: TableDef = TableDef {
    name: "critical_chain",
    title: "Critical chain",
    about: "The longest chain of processes that had to wait for each other, as far as the trace shows.",
    columns: &[
        TS,
        DUR.minor(),
        ColumnDef::duration("own", "Own", "How much of the chain's time is in it."),
        PID,
        PROCESS,
        ColumnDef::text("because", "Because", "Why the chain leads through it."),
        ColumnDef::path("path", "Path", "The file for which a process waited."),
        ColumnDef::text(
            "args",
            "Arguments",
            "The arguments of its program, quoted for a shell.",
        ),
        ColumnDef::number(
            "share",
            "Share",
            Unit::Percent,
            "Its share of the chain's time.",
        )
        .kept(),
    ],
    stored: Some(Stored {
        name: "critical_chain",
        more: &[UPID],
        columns: &[
            same("ts"),
            same("dur"),
            renamed("self_dur", "own"),
            same("upid"),
            same("process"),
            same("because"),
            same("path"),
            renamed("cmdline", "args"),
            same("share"),
        ],
    }),
    rows: Rows::Trace(|scope| {
        let trace = &scope.loaded.trace;
        let times = ProcessTimes::new(trace);
        let chain = critical_chain(trace, &times, &FileHistory::new(trace));
        let mut rows = chain.rows();
        rows.retain(|SharedRow { row, .. }| is_in(scope, row.process(), row.span()));
        Box::new(chain_rows(rows))
    }),
};

/// For panes only: the reason why a step follows the one before, or of a wait, as text.
pub(crate) const WHY: ColumnDef<'static> = ColumnDef::text(
    "why",
    "Why after the one above",
    "Why the chain leads from the process above to this one",
);

fn why_words(trace: &Trace, row: &ChainRow) -> String {
    let step = match row {
        ChainRow::Step(step) => step,
        ChainRow::Wait(wait) => return format!("({})", wait.why.word()),
    };
    match step.because {
        Because::First => "it is the first".to_owned(),
        Because::Fork => "started by it".to_owned(),
        Because::Child => "waited for its end".to_owned(),
        Because::Pipe => "reads its pipe".to_owned(),
        Because::Unblocked => "unblocked by it".to_owned(),
        Because::File(path) => {
            let path = trace.text(path);
            let name = path.rsplit('/').next().unwrap_or(&path);
            format!("reads its {name}")
        }
    }
}

/// Returns rows of [`CRITICAL_CHAIN`]: steps and waits with their shares in hundredths of a percent, followed by the row
/// of the process and cells of [`PROCESS_IN_FULL`](super::columns::PROCESS_IN_FULL) and [`WHY`].
pub(crate) fn chain_rows(rows: Vec<SharedRow>) -> impl RowSource {
    let rows = RowsOfIds::new(rows, (), |loaded, (), shared: &SharedRow, cells| {
        let (trace, SharedRow { row, share }) = (&loaded.trace, shared);
        let (why, path) = match row {
            ChainRow::Wait(wait) => (wait.why.word(), Cell::None),
            ChainRow::Step(step) => match step.because {
                Because::File(path) => (step.because.word(), Cell::of_string(trace, path)),
                because => (because.word(), Cell::None),
            },
        };
        cells.extend([
            row.span().start.into(),
            row.span().duration().0.into(),
            row.time().0.into(),
            pid_of(trace, row.process()),
            program_cell(trace, row.process()),
            why.into(),
            path,
            arguments_cell(trace, row.process()),
            Cell::Float(f64::from(*share) / 100.0),
            row.process().0.into(),
            process_in_full(trace, row.process()),
            why_words(trace, row).into(),
        ]);
    });
    rows.about(|(), shared| Some(Item::Process(shared.row.process())))
}

/// Processes that failed.
pub(super) const FAILED: TableDef = TableDef {
    name: "failed",
    title: "Failed processes",
    about: "Processes that ended with an error or by a signal.",
    columns: &[
        ColumnDef::time("end", "End", "When it ended."),
        PID,
        PROCESS,
        ColumnDef::key("exit_status", "Exit", "The status with which it ended."),
        ColumnDef::key("exit_signal", "Signal", "The signal that ended it."),
        LIFETIME,
        ColumnDef::text(
            "args",
            "Arguments",
            "The arguments of its last program, quoted for a shell.",
        ),
    ],
    stored: None,
    rows: Rows::Trace(failed_rows),
};

fn failed_rows(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let trace = &scope.loaded.trace;
    let times = ProcessTimes::new(trace);
    let mut ids = programs::failed(trace);
    ids.retain(|&id| is_in(scope, id, times.of(id).span));
    Box::new(RowsOfIds::new(
        ids,
        times,
        |loaded, times, &id: &ProcessId, cells| {
            let trace = &loaded.trace;
            let process = trace.processes.get(id.0 as usize);
            cells.extend([
                process.and_then(|it| it.end).into(),
                pid_of(trace, id),
                program_cell(trace, id),
                process.and_then(|it| it.exit_status).into(),
                process.and_then(|it| it.exit_signal).into(),
                times.life(trace, id).into(),
                arguments_cell(trace, id),
            ]);
        },
    ))
}

/// The numbers of processes that worked, and that lived, at the same time.
pub(super) const PARALLELISM: TableDef = TableDef {
    name: "parallelism",
    title: "Parallelism",
    about: "How many processes worked, and lived, at the same time.",
    columns: &[
        TS,
        ColumnDef::count(
            "working",
            "Working",
            "How many processes work from then on.",
        ),
        ColumnDef::count("alive", "Alive", "How many processes live from then on."),
    ],
    stored: None,
    rows: Rows::Trace(parallelism_rows),
};

/// The numbers of working and living processes from a point in time on.
struct AtOnce {
    time: Timestamp,
    working: u32,
    alive: u32,
}

fn parallelism_rows(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let trace = &scope.loaded.trace;
    let lives = ProcessTimes::new(trace);
    let (working, alive) = (parallelism(trace, &lives), alive(&lives));
    let changes = working.iter().chain(&alive);
    let mut times: Vec<Timestamp> = changes.map(|step| step.time).collect();
    // What holds from before the chosen time on, holds at its start.
    let chosen = scope.chosen.span.start;
    if times.iter().any(|&time| time < chosen) {
        times.push(chosen);
    }
    times.sort_unstable();
    times.dedup();
    let at = |steps: &[CountFrom], time: Timestamp| {
        let after = steps.partition_point(|step| step.time <= time);
        after.checked_sub(1).map_or(0, |index| steps[index].count)
    };
    let times = times.into_iter();
    let steps = times.filter(|&time| scope.chosen.span.contains(time));
    let steps = steps.map(|time| AtOnce {
        time,
        working: at(&working, time),
        alive: at(&alive, time),
    });
    Box::new(RowsOfIds::new(
        steps.collect(),
        (),
        |_, (), step: &AtOnce, cells| {
            cells.extend([step.time.into(), step.working.into(), step.alive.into()]);
        },
    ))
}

/// Totals of each system call, like the table of `strace -c`.
pub(crate) const SYSCALLS: TableDef = TableDef {
    name: "syscalls",
    title: "System calls",
    about: "Each system call with its calls, errors and times.",
    columns: &[
        NAME,
        ColumnDef::count("calls", "Calls", "How many calls there were."),
        ColumnDef::count("errors", "Errors", "How many failed."),
        ColumnDef::duration("time", "Time", "Their total duration."),
        ColumnDef::number(
            "share",
            "Share",
            Unit::Percent,
            "Its share of the time of all calls.",
        ),
        ColumnDef::duration("mean", "Mean", "Their mean duration."),
        ColumnDef::duration("longest", "Longest", "The longest duration."),
        UNFINISHED.kept(),
        AT_LEAST.kept(),
        ColumnDef::count("returned", "Returned", "How many returned.").minor(),
        ColumnDef::text("by_error", "By error", "The errors with their counts."),
    ],
    stored: None,
    rows: Rows::Trace(call_rows),
};

fn call_rows(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let loaded = scope.loaded;
    let is_chosen = |track, slice| scope.has_slice(track, slice);
    let totals = call_totals(&loaded.trace, loaded.reader.as_ref(), is_chosen, scope.job);
    let totals = totals.unwrap_or_default();
    let all_ns: i128 = totals.iter().map(|total| total.time_ns).sum();
    Box::new(RowsOfIds::new(
        totals,
        all_ns,
        |_, all_ns, total: &CallTotal, cells| {
            let errors = total.by_error.iter();
            let by_error: Vec<String> = errors
                .map(|(error, count)| format!("{error} {count}"))
                .collect();
            let share = total.time_ns as f64 / (*all_ns as f64).max(1.0);
            let mean = total.mean_ns();
            cells.extend([
                exact_text(total.name.as_bytes()).into_owned().into(),
                total.calls.into(),
                total.errors.into(),
                total.time_ns.into(),
                Cell::percent(share),
                mean.into(),
                mean.map(|_| total.longest_ns).into(),
                total.unfinished.into(),
                total.unfinished_ns.into(),
                total.returned.into(),
                by_error.join(", ").into(),
            ]);
        },
    ))
}
