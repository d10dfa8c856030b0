//! The FXT exporter: any trace, or a range of it, as a Fuchsia trace that Perfetto and others read.
//!
//! ```text
//! magic number | provider "threadline" | 1 tick = 1 ns
//! | names of processes and threads (kernel objects) | rows that cross the range's start
//! | windows in time order: events, context switches, wakeups, logs | ends of rows that cross the range's end
//! each of these comes after the strings and threads that it uses first, valid from there on
//! ```
//!
//! - **Records of an FXT file** that are chosen and not cut by the range are copied: see `filter`. The rest of this
//!   list is about all other rows.
//! - **Slices** are complete events (of slices of a track that start together, the outer one comes first), or begins
//!   and ends if the source has begins and ends that pair the same way when read back (`forms::Form`); unfinished ones
//!   are begins without an end, unless the range or their file ends before the trace does: then they are cut there and
//!   have the argument `never_ended`. Other slices that the range cuts have their real times in `really_began_ns` and
//!   `really_ended_ns`. An artificial kernel object contains the last moment of the recording (`seen_until_ns`).
//! - **Instants, slices, flows** have the fields of their events as typed arguments; see `args` for more than 15.
//! - **Counters** start with their value at the range's start. Counter events with names of their own (`Role::Named`)
//!   are written with all arguments; for others the track's name is `event:argument`.
//! - **Flows** are described in `shared::flow_marks`, **asynchronous slices** in `shared::async_ids`.
//! - **Runs** are context switches of the newer form with weights (idle: the smallest int32); a thread that runs when
//!   the range starts gets a switch to it at the range's start; one that still runs at the range's end gets a switch
//!   from it there, with unknown state.
//! - **States** follow from switches and wakeups. FXT numbers runnable, stopped, sleeping, zombie and dead: other
//!   states have the number of the nearest, and their letters in an argument `outgoing_state`. A thread that waits
//!   when the range starts is switched from there to idle, in its state.
//! - **CPUs, reused numbers** and events without an owner are described in `shared::koids`.
//! - **Logs** are log records; a severity comes before the message as `[severity]`. A message longer than a record
//!   (32,744 bytes) continues in the next record, names over 32 KB are cut, which the summary counts.
//! - **Userspace objects** become userspace object records again.
//! - **Losses** are described in `losses`.
//! - Times are those of the trace; if any is below zero, all are shifted so that none is, and the provider's name
//!   contains the shift. Clocks that do not count nanoseconds are written in their own unit.
//!
//! Left out: wakeups of threads that were ready already, counter events without a number, arrows with both ends outside
//! the range, the arguments and images of processes, files, diagnostics.

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
mod record_words;
pub(super) mod records;
mod references;
mod registered;
mod scheduling_args;
mod scheduling_items;
mod scheduling_records;
mod slice_items;
mod slice_records;
mod summary;
mod switches;
mod turns;
mod values;
mod wakeups;
mod windows;
mod written;

use std::io::Write;

use rustc_hash::FxHashSet;

use super::shared::arguments::async_id;
use super::shared::async_groups::AsyncGroups;
use super::shared::async_ids::AsyncIds;
use super::shared::borders::Borders;
use super::shared::counter_names::counter_names;
use super::shared::flow_marks::FlowMarks;
use super::shared::koids::{Koids, Zero};
use super::{Chosen, ExportError, ExportedText, Exporter, Request, Summary};
use crate::base::{Job, StringId};
use crate::event::Ties;
use crate::event::family::Family;
use crate::event::slice_kind::{Nesting, SliceKind};
use crate::formats::EventRef;
use crate::load::LoadedTrace;
use crate::query::event_cpus::EventCpus;
use crate::trace::{EventId, ThreadId, Trace, TrackId, TrackKind};
use encode::{Encoder, KeptRecords, Source};
use filter::{FxtFile, scheduling_args};
use forms::BeginsAround;
use items::{Ground, Items, KeptOfFile, touched};
use lone_states::{LoneStates, TrueEnds};
use names::{Named, met_at_borders, write_names, write_other_objects};
use objects::Objects;
use providers::{Providers, stand_ins};
use records::{FixedTables, ThreadKoids, Zones};
use summary::summary;
use windows::write_windows;
use written::Written;

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "fxt",
    title: "FXT",
    about: "Fuchsia trace format: for Threadline itself, magic-trace's viewer and Fuchsia's tools; Perfetto reads it as well",
    extension: "fxt",
    text: ExportedText::AsWritten,
    table: None,
    write,
};

/// The number of events that are sampled for the names of fields.
const NAME_SAMPLES: usize = 20_000;

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    write_as(Zones::FULL, FxtFile::of(request.loaded), request, out)
}

/// Writes the selection: by copying the records of `file`, if that is possible, otherwise by encoding the rows of the
/// model.
fn write_as(
    zones: Zones,
    file: Option<FxtFile<'_>>,
    request: &Request<'_>,
    out: &mut dyn Write,
) -> Result<Summary, ExportError> {
    let Request { loaded, job, .. } = *request;
    let trace = loaded.trace.as_ref();
    let reader = loaded.reader.as_ref();
    let mut chosen = request.chosen.clone();
    let is_outside = chosen.span.start > trace.span.end || chosen.span.end <= trace.span.start;
    if is_outside {
        // Whether an unfinished slice lasted longer than the trace is unknown.
        chosen.span.end = chosen.span.start;
    }
    let zero = file.map_or(Zero::IsIdle, |_| Zero::IsSomebody);
    let stand_ins = stand_ins(trace);
    let koids = Koids::of(trace, stand_ins.clone(), zero);
    // The encoder could not name a scheduled thread whose number belongs to another thread in the way that the kept
    // records do.
    let file = file.filter(|_| keeps_numbers(trace, &koids));
    let is_ours = trace.info.ties == Ties::First;
    let kept_of_file = file.map(|_| KeptOfFile {
        is_nested_as_read: is_ours,
        scheduling: !chosen.is_narrowed(),
        // Files of this program contain an end for every run.
        lacks_run_ends: !is_ours && trace.diagnostics.count_of("switch_mismatch") > 0,
    });
    let span = touched(chosen.span);
    // Flows are walked on one core, while the other cores do the rest.
    let (flow_marks, (begins, (lone_states, true_ends))) = rayon::join(
        || FlowMarks::new(trace, &chosen, reader),
        || {
            let of_runs = || match kept_of_file {
                // Only runs without an end of their own are encoded again.
                Some(kept) if kept.scheduling && kept.lacks_run_ends => {
                    (LoneStates::default(), TrueEnds::new(trace, span))
                }
                Some(kept) if kept.scheduling => Default::default(),
                _ => (LoneStates::new(trace, span), TrueEnds::new(trace, span)),
            };
            rayon::join(|| BeginsAround::new(trace, span), of_runs)
        },
    );
    job.check()?;
    let event_ref = |id: EventId| EventRef::from(trace.events.get(id));
    let cpus = EventCpus::new(trace, reader);
    let borders = Borders::new(trace, &chosen);
    let ground = Ground {
        trace,
        chosen: &chosen,
        borders: &borders,
        flows: &flow_marks.marks,
        lone_states: &lone_states,
        true_ends: &true_ends,
        begins,
        cpus: &cpus,
        objects: Objects::new(trace, &chosen, reader),
    };
    let mut items = Items::new(ground, kept_of_file);
    let lanes = items.lanes_of_tracks();
    let kept = match file.map(|file| items.choose_kept(file, lanes.clone())) {
        Some(choice) => {
            items.take_lanes(choice.lanes, choice.items);
            Some(choice.kept)
        }
        None => {
            items.take_lanes(lanes, Vec::new());
            None
        }
    };
    job.check()?;
    job.set_total(items.count.max(1));
    let own_id = |id: EventId| async_id(reader, event_ref(id));
    let async_ids = AsyncIds::new(trace, &chosen, &own_id);
    // Parts of FXT files name their tracks as the format does: their records are copied.
    let async_groups = match FxtFile::of(loaded) {
        Some(_) => AsyncGroups::default(),
        None => AsyncGroups::new(trace, &chosen),
    };
    let first = trace.span.start.max(chosen.span.start);
    let shift = first.0.saturating_neg().max(0);
    let cuts = items.crossing_cuts();
    let counter_names = counter_names(trace);
    let tables = FixedTables::new(
        zones,
        &field_names(loaded, &event_ref),
        &frequent_names(trace),
        &trace.strings,
        &busy_threads(trace, &chosen, &koids),
    );
    let providers = match file {
        Some(_) => Providers::beside(trace, &stand_ins),
        None => Providers::of(trace, &stand_ins),
    };
    let args_of = file.map(|file| move |id| scheduling_args(file, trace, reader, id));
    let kinds_to_write = kinds_to_write(trace, file);
    let source = Source {
        trace,
        reader,
        kept: args_of.as_ref().map(|args_of| KeptRecords {
            has_lives: is_ours,
            scheduling_args: args_of,
        }),
        chosen: &chosen,
        borders: &borders,
        koids: &koids,
        flows: &flow_marks.marks,
        lone_states: &lone_states,
        true_ends: &true_ends,
        async_ids: &async_ids,
        async_groups: &async_groups,
        cuts: &cuts,
        shift,
        counter_names: &counter_names,
        has_all_counters: chosen.has_all_counters(),
        providers: &providers,
        cpus: &cpus,
        kinds_to_write: &kinds_to_write,
    };
    let mut written = Written::new(&tables);
    let met = met_at_borders(
        trace,
        &chosen,
        &koids,
        &items.across_start(),
        &flow_marks.marks,
    );
    let named = Named::new(&source, &met);
    match (file, &kept) {
        (Some(file), Some(kept)) => {
            let input = filter::Input {
                file,
                kept,
                items: &items,
                source: &source,
                tables: &tables,
                named: &named,
            };
            filter::write(&input, &mut written, out, job)?;
        }
        _ => write_all(
            &mut Output {
                source: &source,
                tables: &tables,
                written: &mut written,
                out,
            },
            &items,
            &named,
            job,
        )?,
    }
    out.flush()?;
    Ok(summary(&source, &written, &named, &flow_marks))
}

/// Returns by label the kind of its slices where their category does not imply it. Among the `kept` records of another
/// program no category implies a kind.
fn kinds_to_write(trace: &Trace, kept: Option<FxtFile<'_>>) -> Vec<Option<SliceKind>> {
    let labels = trace.slices.labels.iter();
    let to_write = labels.map(|label| {
        let (nesting, plain) = match label.family {
            Family::Async => (Nesting::Async, SliceKind::Async),
            _ => (Nesting::Nested, SliceKind::Durations),
        };
        let category = trace.strings.bytes(label.category);
        let is_plain = kept.is_none() || label.kind == plain;
        let is_implied = is_plain && label.kind == SliceKind::implied(category, nesting);
        (!is_implied).then_some(label.kind)
    });
    to_write.collect()
}

/// Returns whether every thread that switches and wakeups name has its own number in the output.
fn keeps_numbers(trace: &Trace, koids: &Koids) -> bool {
    let threads = (0..trace.threads.len() as u32).skip(1).map(ThreadId);
    let mut scheduled = threads.zip(koids.scheduled.iter().skip(1).copied());
    scheduled.all(|(id, is_one)| !is_one || koids.thread(id).thread == trace.thread(id).tid)
}

/// The encoder's input and the output.
struct Output<'a, 't> {
    source: &'a Source<'a>,
    tables: &'t FixedTables,
    written: &'a mut Written<'t>,
    out: &'a mut dyn Write,
}

/// Writes a file of encoded rows only.
fn write_all(
    output: &mut Output<'_, '_>,
    items: &Items<'_>,
    named: &Named,
    job: &Job,
) -> Result<(), ExportError> {
    let Output {
        source,
        tables,
        written,
        out,
    } = output;
    let mut encoder = Encoder::new(source, tables);
    let zero = source.trace.info.wall_clock_zero_ns;
    encoder
        .records
        .file_head(source.providers, source.shift, zero);
    written.take(encoder, *out)?;
    // Names come before the records of the thread table, so that readers meet threads in their order.
    let mut encoder = Encoder::new(source, tables);
    encoder.last_moment();
    write_names(&mut encoder, named);
    written.take(encoder, *out)?;
    let mut encoder = Encoder::new(source, tables);
    write_other_objects(&mut encoder);
    written.take_items(encoder, &items.across_start(), *out)?;
    write_windows(source, items, tables, written, *out, job)?;
    let encoder = Encoder::new(source, tables);
    written.take_items(encoder, &items.across_end(), *out)
}

/// Returns the names of fields, from one event of each kind that occurs in a sample of the events.
fn field_names(loaded: &LoadedTrace, event_ref: &dyn Fn(EventId) -> EventRef) -> Vec<String> {
    let trace = &loaded.trace;
    let mut is_seen = vec![false; trace.kinds.len()];
    let mut names = Vec::new();
    let mut fields = Vec::new();
    for id in (0..trace.events.len()).step_by((trace.events.len() / NAME_SAMPLES).max(1)) {
        let event = event_ref(EventId(id as u32));
        match is_seen.get_mut(event.kind.index()) {
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
            TrackKind::Nobody => Koids::MACHINE,
            TrackKind::Async(_) => continue,
        };
        if !chosen.has_track(TrackId(number as u32)) {
            continue;
        }
        let rows = trace.slices.rows_of(track);
        let slices: usize = rows.iter().map(|row| row.slices.len()).sum();
        counted.push((slices + track.instants.len(), koids));
    }
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(_, koids)| koids).collect()
}

#[cfg(test)]
pub(super) mod tests;
