//! Lanes to [`Trace`]: what the readers said becomes rows that can be drawn and asked, one file per concept.
//!
//! ```text
//! merge         strings, labels and kinds of all parts become common ones; parts become event segments
//! identities    keys become threads and processes, reused keys become several
//! scheduling    switches and wakeups become runs per CPU and states per thread
//! process_ends  processes end with the last of their threads
//! calls         marks of system calls: which are the same call, which never return, whose numbers they have
//! pairing       begins and ends of a track become slices; what finds no partner is counted
//! measured      slices whose duration the recorder measured are placed, with that duration
//! nesting       slices of a track get parents, and rows in which nothing overlaps
//! free_rows     the topmost free row, for `nesting` and `async_tracks`
//! open_asyncs   which open asynchronous slice an end closes
//! requests      events of the block layer become asynchronous begins and ends
//! async_tracks  asynchronous begins and ends become slices on tracks of their groups
//! points        events that nothing else shows become instants; samples become counter tracks
//! around        the slices around many times, for `flow_links`
//! flow_links    flow marks become arrows between slices
//! file_activity file marks become rows, and are counted for their processes
//! directories   paths that were said relative to a known directory become whole
//! file_flows    from writers of files to their later readers, as arrows
//! cpu_activity  where a format asks for it: lines that name a CPU become runs
//! process_life  where a format asks for it: programs become slices, forks arrows
//! join          several traces, each with an offset, become one on a common axis
//! descriptors   where a format asks for it: open files become slices, pipes arrows
//! ```
//!
//! All of it is pure and runs on rayon: in parallel over parts where rows are collected, over tracks,
//! threads and CPUs where they are made.

mod around;
mod async_tracks;
mod calls;
mod cpu_activity;
mod descriptors;
mod directories;
mod fd_table;
mod file_activity;
mod file_flows;
mod flow_links;
mod free_rows;
mod group;
mod identities;
pub mod join;
mod lost_forks;
mod measured;
mod merge;
mod nesting;
mod open_asyncs;
mod pairing;
mod points;
pub mod preview;
mod process_ends;
mod process_life;
mod requests;
mod reused_pids;
mod said_lives;
mod scheduling;
mod slice_table;

use crate::base::{Job, TimeSpan, Timestamp};
use crate::event::keys::Derive;
use crate::event::pairs::SYSCALLS;
use crate::event::{Directory, Lane, LaneColumns, TraceInfo};
use crate::trace::file_history::FileSource;
use crate::trace::{Cpu, CpuId, Files, ThreadId, Trace, TrackKind};

/// The columns of one part, as its reader gave them.
#[derive(Debug)]
pub struct PartColumns {
    /// The reader's number of the part.
    pub part: u32,
    /// Index of its lane.
    pub lane: u32,
    /// What was read.
    pub columns: LaneColumns,
}

/// Makes a [`Trace`] of all parts (in lane order, and file order inside a lane).
///
/// A cancelled job stops the work early; the answer is then of no use.
#[must_use]
pub fn build(
    parts: Vec<PartColumns>,
    lanes: &[Lane],
    directory: &Directory,
    info: TraceInfo,
    job: &Job,
) -> Trace {
    let mut merged = merge::merge(parts, lanes, directory, info.clock_unit);
    let mut trace = Trace {
        info,
        ..Trace::default()
    };
    trace.cpus = merged.cpus.iter().map(|&number| Cpu { number }).collect();
    trace.gaps = std::mem::take(&mut merged.gaps);
    trace.diagnostics = std::mem::take(&mut merged.diagnostics);
    trace.span = span_of(&merged, &trace);

    let people = identities::build_identities(&merged, directory, trace.span);
    merged.events.threads = people.map;
    trace.threads = people.threads;
    trace.processes = people.processes.into();
    if job.is_cancelled() {
        return trace;
    }

    let (runs, states) = scheduling::build_scheduling(&mut merged, &mut trace);
    trace.runs = runs.into();
    trace.states = states.into();
    process_ends::end_lives(&mut trace);
    said_lives::apply(directory, &merged, &people.process_of_key, &mut trace);

    let (files, paths) =
        file_activity::build_files(&mut merged, &mut trace.processes, &trace.threads);
    trace.files = Files {
        opens: directory.opens,
        ..files
    }
    .into();
    directories::resolve_paths(&mut merged, &people.births, &mut trace, paths);
    let mut paired = pairing::build_slices(&mut merged, &trace, directory.syscall_abi);
    trace.diagnostics.merge(paired.diagnostics);
    let mut asyncs = async_tracks::build_async(&mut merged, &people.process_of_key, &mut trace);
    let mut leftovers = paired.leftover_instants;
    let mut links = Vec::new();
    let file_names = file_flows::names(&mut merged, &trace);
    let file_links;
    if directory.derive == Derive::Programs {
        let (births, acts) = (&people.births, &people.acts);
        let programs =
            process_life::build_programs(&mut merged, directory, births, acts, &mut trace);
        process_life::join_tracks(&mut paired.tracks, programs.0);
        links = programs.1;
        let (names, files) = (descriptors::names(&mut merged), files_of(&merged, &trace));
        let labels = merged.labels.len();
        let (cpus, threads) = (trace.cpus.len(), trace.threads.len());
        let runs = || {
            let is_known = !trace.runs.is_empty();
            (!is_known).then(|| cpu_activity::build_cpu_activity(&merged, cpus, threads))
        };
        // Each of these is a walk of one thread through all of the trace.
        let (open, (arrows, runs)) = rayon::join(
            || descriptors::build_descriptors(names, labels, births, acts, &trace),
            || (file_flows::build_file_links(file_names, files), runs()),
        );
        file_links = arrows;
        if let Some(runs) = runs {
            trace.runs = runs.into();
        }
        merged.labels.extend_from_slice(&open.labels);
        descriptors::note_cut(&open, &mut trace.diagnostics);
        asyncs.tracks.extend(open.tracks);
        async_tracks::sort_tracks(&mut asyncs.tracks, &merged);
        // Where every call is a slice, those that failed are to be seen already.
        let is_call = |label: &crate::trace::SliceLabel| label.family == SYSCALLS;
        if !merged.labels.iter().any(is_call) {
            leftovers.extend(open.leftovers);
        }
        links.extend(open.links);
    } else {
        file_links = file_flows::build_file_links(file_names, files_of(&merged, &trace));
    }
    file_flows::note_cuts(file_links.1, &mut trace.diagnostics);
    links.extend(file_links.0);
    let points = points::build_instants(&merged, &trace, leftovers, &asyncs.instants);
    slice_table::assemble(&mut trace, paired.tracks, asyncs.tracks, points);
    trace.slices.labels = std::mem::take(&mut merged.labels);
    if job.is_cancelled() {
        return trace;
    }

    trace.counters = points::build_counters(&mut merged, &people.process_of_key, &trace);
    trace.logs = points::build_logs(&merged).into();
    trace.kinds = std::mem::take(&mut merged.kinds);
    trace.strings = std::mem::take(&mut merged.strings).into();
    let flow_marks = flow_links::collect_marks(&merged);
    trace.events = std::mem::take(&mut merged.events).into();
    trace.flows = flow_links::build_flows(flow_marks, &links, &mut trace).into();
    trace
}

/// What is known of files, before the trace is whole.
fn files_of<'a>(merged: &'a merge::Merged, trace: &'a Trace) -> FileSource<'a> {
    FileSource {
        strings: &merged.strings,
        events: &merged.events,
        rows: &trace.files.rows,
        opens: trace.files.opens,
        threads: &trace.threads,
        processes: &trace.processes,
    }
}

fn span_of(merged: &merge::Merged, trace: &Trace) -> TimeSpan {
    let mut span: Option<TimeSpan> = None;
    let mut include = |start: Timestamp, end: Timestamp| {
        let more = TimeSpan::new(start, end);
        span = Some(span.map_or(more, |span| span.union(more)));
    };
    for segment in merged.events.segments() {
        let last = segment.columns.time(segment.columns.len() as u32 - 1);
        include(
            segment.columns.time(0),
            last.saturating_add(crate::base::Nanos(1)),
        );
    }
    for complete in &merged.complete_ends {
        include(Timestamp(*complete), Timestamp(*complete));
    }
    if let Some(start) = &merged.measured.first_start {
        include(Timestamp(*start), Timestamp(*start));
    }
    for gap in &trace.gaps {
        if gap.start > Timestamp::MIN && gap.end < Timestamp::MAX {
            include(gap.start, gap.end);
        }
    }
    span.unwrap_or_default()
}

/// A track's number while tracks are made: CPUs first, then threads; what belongs to nobody comes last.
fn track_number(kind: TrackKind, cpu_count: usize) -> u32 {
    match kind {
        TrackKind::Cpu(cpu) => cpu.0,
        TrackKind::Thread(ThreadId::NONE) | TrackKind::Async(_) => u32::MAX,
        TrackKind::Thread(thread) => cpu_count as u32 + thread.0,
    }
}

fn track_kind(number: u32, cpu_count: usize) -> TrackKind {
    if number == u32::MAX {
        return TrackKind::Thread(ThreadId::NONE);
    }
    match number.checked_sub(cpu_count as u32) {
        None => TrackKind::Cpu(CpuId(number)),
        Some(thread) => TrackKind::Thread(ThreadId(thread)),
    }
}
