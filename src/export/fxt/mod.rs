//! The FXT exporter: any trace, or a range of it, as a Fuchsia trace that Perfetto and others read.
//!
//! ```text
//! magic number | provider "threadline" | 1 tick = 1 ns
//! | names of processes and threads (kernel objects) | rows that cross the range's start
//! | windows in time order: events, context switches, wakeups, logs | ends of rows that cross the range's end
//! before each of these: strings and threads that it is the first to use, valid from there on
//! ```
//!
//! - **Records of an FXT file** that are chosen and not cut by the range are copied: see `filter`. The rest of this
//!   list is about all other rows.
//! - **Slices** are complete events (of slices of a track that start together, the outer one comes first), or begins
//!   and ends if the source has begins and ends that pair the same way when read back (`forms::Form`); unfinished ones
//!   are begins without an end, unless the range ends before the trace does: then they are cut there and have the
//!   argument `never_ended`. Other slices that the range cuts have their real times in `really_began_ns` and
//!   `really_ended_ns`.
//! - **Instants, slices, flows** have the fields of their events as typed arguments; see `args` for more than 15.
//! - **Counters** start with their value at the range's start. Those of FXT files keep their events, with all
//!   arguments; for other formats the track's name is `event:argument`.
//! - **Flows** are described in `shared::flow_marks`, **asynchronous slices** in `shared::async_ids`.
//! - **Runs** are context switches of the newer form with weights (idle: the smallest int32); a thread that runs
//!   when the range starts is switched to there, one that runs when it ends is switched from there: in an unknown
//!   state, if it continued to run.
//!   If all threads and CPUs of an FXT file are chosen, switches and wakeups are its original records.
//! - **States** follow from switches and wakeups. FXT numbers runnable, stopped, sleeping, zombie and dead: other
//!   states have the number of the nearest, and their letters in an argument `outgoing_state`. A thread that waits
//!   when the range starts is switched from there to idle, in its state.
//! - **CPUs, reused numbers** and events without an owner are described in `shared::koids`.
//! - **Logs** are log records; a severity comes before the message as `[severity]`. A message longer than a record
//!   (32,744 bytes) continues in the next record, names over 32 KB are cut, which the summary counts.
//! - **Userspace objects** and **counter events without a number** of FXT files become such records again.
//! - **Losses** are described in `losses`.
//! - Times are those of the trace; if any is below zero, all are shifted so that none is, and the provider's name
//!   contains the shift. Clocks that do not count nanoseconds are written in their own unit.
//!
//! Left out: wakeups of threads that were ready already (except in FXT files), arrows with both ends outside the
//! range, the arguments and images of processes, files, diagnostics.

mod args;
mod borders;
mod counters;
mod encode;
mod filter;
mod fixed_tables;
mod forms;
mod item;
mod items;
mod lanes;
mod limits;
mod lives;
mod lone_states;
mod losses;
mod names;
mod objects;
mod points;
mod providers;
pub(super) mod records;
mod references;
mod registered;
mod scheduling_items;
mod scheduling_records;
mod slice_items;
mod slice_records;
mod source_args;
mod switches;
mod values;
mod wakeups;
mod windows;
mod written;

use std::io::Write;

use rustc_hash::FxHashSet;

use super::shared::arguments::async_id;
use super::shared::async_ids::AsyncIds;
use super::shared::counter_names::counter_names;
use super::shared::flow_marks::FlowMarks;
use super::shared::koids::{Koids, Zero};
use super::{Chosen, ExportError, Exporter, Request, Summary};
use crate::base::{Big, Endian, Job, Little, StringId};
use crate::formats::{EventRef, Events};
use crate::load::LoadedTrace;
use crate::trace::{EventId, ThreadId, Trace, TrackId, TrackKind};
use encode::{Encoder, Source};
use forms::BeginsAround;
use items::{Items, Scheduling};
use lone_states::{LoneStates, TrueEnds};
use names::{Named, met_at_borders, write_names};
use objects::Objects;
use providers::Providers;
use records::{EventType, FixedTables, RecordCounts, ThreadKoids, Zones};
use windows::write_windows;
use written::Written;

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "fxt",
    about: "Fuchsia trace format: Threadline, Perfetto, magic-trace and Fuchsia's tools read it",
    extension: "fxt",
    table: None,
    write,
};

/// How an FXT file is exported.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "tests compare with the encoder")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By copying its records: see `filter`.
    Filter,
    /// By encoding the rows of the model.
    Encode,
}

/// The number of events that are sampled for the names of fields.
const NAME_SAMPLES: usize = 20_000;

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    write_with((Zones::FULL, Way::Filter), request, out)
}

fn write_with(
    (zones, way): (Zones, Way),
    request: &Request<'_>,
    out: &mut dyn Write,
) -> Result<Summary, ExportError> {
    let Request { loaded, job, .. } = *request;
    let trace = loaded.trace.as_ref();
    let mut chosen = request.chosen.clone();
    let is_outside = chosen.span.start > trace.span.end || chosen.span.end <= trace.span.start;
    if is_outside {
        // Whether an unfinished slice lasted longer than the trace is unknown.
        chosen.span.end = chosen.span.start;
    }
    let fxt = loaded.reader.fxt_source();
    let koids = Koids::of(
        trace,
        providers(trace, loaded.reader.as_ref()),
        fxt.map_or(Zero::IsIdle, |_| Zero::IsSomebody),
    );
    let keeps_numbers = {
        let threads = (0..trace.threads.len() as u32).skip(1).map(ThreadId);
        let mut scheduled = threads.zip(koids.scheduled.iter().skip(1).copied());
        scheduled.all(|(id, is_one)| !is_one || koids.thread(id).1 == trace.thread(id).tid)
    };
    let mut segments = trace.events.segments().iter();
    let is_of_one_file = segments.all(|segment| segment.origin.is_none());
    let scheduling = match fxt.is_some() && !chosen.is_narrowed() && keeps_numbers {
        true => Scheduling::AsItStands,
        false => Scheduling::OfRunsAndStates,
    };
    // Flows are walked on one core, while the other cores do the rest.
    let (flow_marks, (begins, (lone_states, true_ends))) = rayon::join(
        || FlowMarks::new(trace, &chosen, loaded.reader.as_ref()),
        || {
            let of_runs = || match scheduling {
                // Only runs without an end of their own are encoded again.
                Scheduling::AsItStands if lone_states::lacks_run_ends(trace, fxt) => {
                    (LoneStates::default(), TrueEnds::new(trace))
                }
                Scheduling::AsItStands => Default::default(),
                Scheduling::OfRunsAndStates => (LoneStates::new(trace), TrueEnds::new(trace)),
            };
            rayon::join(|| BeginsAround::new(trace), of_runs)
        },
    );
    job.check()?;
    let event_ref = |id: EventId| EventRef::from(trace.events.get(id));
    let cpu_of = |id: EventId| {
        trace.events.get(id).cpu.or_else(|| {
            let event = event_ref(id);
            let number = match fxt {
                Some(fxt) => fxt.cpu(event.place)?,
                None => loaded.reader.describe(event).cpu?,
            };
            // Each of several files has its own reader.
            let source = trace.source_of(id.0, |source| &source.events);
            let source = source.and_then(|id| trace.sources.get(id.0 as usize));
            let cpus = source.map_or(0..trace.cpus.len() as u32, |source| source.cpus.clone());
            let own = trace.cpus.get(cpus.start as usize..cpus.end as usize)?;
            let index = own.binary_search_by_key(&number, |cpu| cpu.number).ok()?;
            Some(cpus.start + index as u32)
        })
    };
    let without_numbers = fxt.map_or_else(Vec::new, |fxt| fxt.counters_without_numbers());
    let items = Items::new(
        trace,
        &chosen,
        &flow_marks.marks,
        (&lone_states, &true_ends, begins),
        (scheduling, &without_numbers),
        &cpu_of,
        (
            fxt,
            Objects::new(trace, &chosen, loaded.reader.as_ref(), fxt),
            fxt.filter(|_| way == Way::Filter && keeps_numbers && is_of_one_file),
        ),
    );
    job.check()?;
    job.set_total(items.count.max(1));
    let own_id = |id: EventId| async_id(loaded.reader.as_ref(), event_ref(id));
    let async_ids = AsyncIds::new(trace, &chosen, &own_id);
    let first = trace.span.start.max(chosen.span.start);
    let shift = first.0.saturating_neg().max(0);
    let cuts = items.cut_before_end();
    let counter_names = counter_names(trace);
    let thread_of_process = thread_of_process(trace);
    let tables = FixedTables::new(
        zones,
        &field_names(loaded, &event_ref),
        &frequent_names(trace),
        &trace.strings,
        &busy_threads(trace, &chosen, &koids),
    );
    let written_providers = match fxt.filter(|_| items.kept.is_some()) {
        Some(fxt) => Providers::beside(&fxt),
        None => Providers::of(loaded.reader.as_ref()),
    };
    let source = Source {
        trace,
        reader: loaded.reader.as_ref(),
        fxt,
        chosen: &chosen,
        koids: &koids,
        flows: &flow_marks.marks,
        lone_states: &lone_states,
        true_ends: &true_ends,
        async_ids: &async_ids,
        cuts: &cuts,
        shift,
        counter_names: &counter_names,
        has_all_counters: chosen.has_all_counters(),
        thread_of_process: &thread_of_process,
        providers: &written_providers,
        cpu_of: &cpu_of,
    };
    let mut written = Written::new(&tables);
    let met = met_at_borders(trace, &chosen, &items.across_start(), &flow_marks.marks);
    let named = Named::new(&source, &met);
    match (fxt, &items.kept) {
        (Some(fxt), Some(kept)) => {
            let input = filter::Input {
                bytes: fxt.bytes(),
                fxt,
                kept,
                items: &items,
                source: &source,
                tables: &tables,
                named: &named,
            };
            match fxt.endian() {
                Endian::Little => filter::write::<Little>(&input, &mut written, out, job)?,
                Endian::Big => filter::write::<Big>(&input, &mut written, out, job)?,
            }
        }
        _ => write_all(
            (&source, &tables),
            (&items, &named),
            (&mut written, out),
            job,
        )?,
    }
    out.flush()?;

    let mut summary = summary_of(&written.counts, flow_marks.lone_end_count);
    summary.count("processes", named.processes.len() as u64);
    summary.count("threads", named.threads.len() as u64);
    if shift > 0 {
        let note =
            format!("times below zero cannot be said in FXT: {shift} ns were added to all times");
        summary.notes.push(note);
    }
    summary.notes.extend(koids.notes());
    summary.notes.extend_from_slice(koids.renumbered_cpus());
    let mut note = |count: u64, one: &str, many: &str| match count {
        0 => {}
        1 => summary.notes.push(format!("1 {one}")),
        count => summary.notes.push(format!("{count} {many}")),
    };
    note(
        flow_marks.renamed_count,
        "flow has an artificial id",
        "flows have artificial ids",
    );
    note(
        flow_marks.lone_count,
        "flow event has no counterpart and makes no arrow: it is kept as it is",
        "flow events have no counterparts and make no arrows: they are kept as they are",
    );
    let unknown = trace.diagnostics.count_of("unknown_argument_type");
    note(
        if fxt.is_some() { unknown } else { 0 },
        "argument of the trace has a type that is not known: such are left out",
        "arguments of the trace have types that are not known: such are left out",
    );
    note(
        written.counts.packed,
        "event has more than 15 arguments: the others are in 'more', as JSON",
        "events have more than 15 arguments: the others are in 'more', as JSON",
    );
    note(
        written.counts.moved_blobs,
        "blob has no time of its own, and what it followed is left out: it is of what comes before it now",
        "blobs have no time of their own, and what they followed is left out: they are of what comes before them now",
    );
    note(
        written.counts.cut_scheduling,
        "argument of a switch or wakeup was too long for its record: it is cut there",
        "arguments of switches and wakeups were too long for their records: they are cut there",
    );
    note(
        written.counts.cut_commands,
        "program's command line was longer than a record: it is left out",
        "programs' command lines were longer than a record: they are left out",
    );
    note(
        written.counts.cut_names,
        "name was longer than the 32 KB that FXT has room for: it is cut there",
        "names (each time one was used) were longer than the 32 KB that FXT has room for: they are cut there",
    );
    note(
        written.cut_texts,
        "text was too long for its record: it is cut there and follows whole in a large record",
        "texts were too long for their record: they are cut there and follow whole in a large record",
    );
    Ok(summary)
}

/// Writes a file of encoded rows only.
fn write_all<'t>(
    (source, tables): (&Source<'_>, &'t FixedTables),
    (items, named): (&Items<'_>, &Named),
    (written, out): (&mut Written<'t>, &mut dyn Write),
    job: &Job,
) -> Result<(), ExportError> {
    let mut encoder = Encoder::new(source, tables);
    encoder.records.file_head(source.providers, source.shift);
    written.take(encoder, out)?;
    // Names come before the records of the thread table, so that readers meet threads in their order.
    let mut encoder = Encoder::new(source, tables);
    write_names(&mut encoder, named);
    written.take(encoder, out)?;
    let mut encoder = Encoder::new(source, tables);
    let mut told = FxHashSet::default();
    for fxt in source.reader.fxt_sources() {
        for (koid, object_type, name) in fxt.kernel_objects() {
            // If several files have it, the first one names it.
            if told.insert(koid) {
                encoder.kernel_object(Some(fxt), (object_type, koid), koid, name, &[]);
            }
        }
    }
    written.take_items(encoder, &items.across_start(), (source, tables, out))?;
    write_windows(source, items, tables, (out, written), job)?;
    let encoder = Encoder::new(source, tables);
    written.take_items(encoder, &items.across_end(), (source, tables, out))
}

/// Returns the summary for the user. `lone` is the number of flow steps and ends that end no arrow.
fn summary_of(counts: &RecordCounts, lone: u64) -> Summary {
    let mut summary = Summary::default();
    summary.count(
        "slices",
        counts.of(EventType::Complete) + counts.of(EventType::Begin),
    );
    summary.count("async slices", counts.of(EventType::AsyncBegin));
    summary.count(
        "instants",
        counts.of(EventType::Instant)
            + counts.of(EventType::AsyncInstant)
            + counts.large
            + counts.blobs
            + counts.userspace_objects
            - counts.described_losses,
    );
    summary.count("counter samples", counts.of(EventType::Counter));
    summary.count(
        "flow arrows",
        (counts.of(EventType::FlowStep) + counts.of(EventType::FlowEnd)).saturating_sub(lone),
    );
    summary.count("context switches", counts.switches);
    summary.count("wakeups", counts.wakeups);
    summary.count("logs", counts.logs);
    summary.count("losses", counts.losses);
    summary
}

/// Returns the names of fields, from one event of each kind that occurs in a sample of the events.
fn field_names(loaded: &LoadedTrace, event_ref: &dyn Fn(EventId) -> EventRef) -> Vec<String> {
    let trace = &loaded.trace;
    let mut is_seen = vec![false; trace.kinds.len()];
    let mut names = Vec::new();
    let mut fields = Vec::new();
    for id in (0..trace.events.len()).step_by((trace.events.len() / NAME_SAMPLES).max(1)) {
        let event = event_ref(EventId(id as u32));
        match is_seen.get_mut(usize::from(event.kind.0)) {
            Some(is_seen @ false) => *is_seen = true,
            _ => continue,
        }
        fields.clear();
        loaded.reader.fields_into(event, &mut fields);
        names.extend(fields.drain(..).map(|field| field.name.into_owned()));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns all names of kinds and slices, for the fixed table.
fn frequent_names(trace: &Trace) -> Vec<StringId> {
    let labels = trace.slices.labels.iter();
    let kinds = trace.kinds.iter();
    let mut names: Vec<StringId> = labels
        .flat_map(|label| [label.name, label.category])
        .chain(kinds.flat_map(|kind| [kind.name, kind.category]))
        .collect();
    let mut seen = FxHashSet::default();
    names.retain(|name| seen.insert(*name));
    names
}

/// Returns threads and CPUs, those with the most items on their tracks first.
fn busy_threads(trace: &Trace, chosen: &Chosen<'_>, koids: &Koids) -> Vec<ThreadKoids> {
    let mut counted: Vec<(usize, ThreadKoids)> = Vec::new();
    for (number, track) in trace.tracks.iter().enumerate() {
        let koids = match track.kind {
            TrackKind::Thread(thread) => koids.thread(thread),
            TrackKind::Cpu(cpu) => koids.cpu(cpu),
            TrackKind::Async(_) => continue,
        };
        if !chosen.has_track(TrackId(number as u32)) {
            continue;
        }
        let rows = trace
            .slices
            .rows
            .get(track.rows.start as usize..track.rows.end as usize);
        let slices: usize = rows.unwrap_or(&[]).iter().map(|row| row.slices.len()).sum();
        counted.push((slices + track.instants.len(), koids));
    }
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(_, koids)| koids).collect()
}

/// Returns the threads that stand for providers in the trace of an FXT file: threads without a number whose events
/// come only from records that contain neither a time nor a thread.
fn providers(trace: &Trace, reader: &dyn Events) -> FxHashSet<ThreadId> {
    let is_of_provider = |event: u32| {
        let event = trace.events.get(EventId(event));
        let place = event.row.place;
        let Some(fxt) = reader.fxt_source_of(event.into()) else {
            return false;
        };
        let object = fxt.object(place);
        fxt.is_blob(place) || object.is_some_and(|object| object.process.is_some())
    };
    let tracks = trace.tracks.iter().filter_map(|track| {
        let TrackKind::Thread(thread) = track.kind else {
            return None;
        };
        let first = trace.instants.of(&track.instants).next()?;
        let is_one = trace.thread(thread).tid == 0 && is_of_provider(first);
        is_one.then_some(thread)
    });
    tracks.collect()
}

fn thread_of_process(trace: &Trace) -> Vec<ThreadId> {
    let mut threads: Vec<ThreadId> = trace
        .processes
        .iter()
        .map(|process| process.main_thread.unwrap_or(ThreadId::NONE))
        .collect();
    for (index, thread) in trace.threads.iter().enumerate().skip(1) {
        let entry = thread.process.and_then(|id| threads.get_mut(id.0 as usize));
        if let Some(entry) = entry
            && *entry == ThreadId::NONE
        {
            *entry = ThreadId(index as u32);
        }
    }
    threads
}

#[cfg(test)]
pub(super) mod tests;
