//! The FXT exporter: any trace, or a range of it, as a Fuchsia trace that Perfetto and others read.
//!
//! ```text
//! magic number | provider "threadline" | 1 tick = 1 ns
//! | names of processes and threads (kernel objects) | what lasts over the range's start
//! | windows in time order: events, context switches, wakeups, logs | ends of what lasts over the range's end
//! before each of these: strings and threads that it uses first and that hold from there on
//! ```
//!
//! - **Records of an FXT file** that neither the range nor a choice cuts are copied: see `copies`. What follows is told of all
//!   others.
//! - **Slices** are complete events (of those of a track that start together, the outer one comes first), or begins and ends where they came so and pair when read back (`items::Form`);
//!   unfinished ones are begins without an end, unless the range ends before the trace does: then they are cut there
//!   and say `never_ended`. Whatever else the range cuts says in `really_began_ns` and `really_ended_ns` when it did.
//! - **Instants, slices, flows** carry the fields of their events as typed arguments; see `args` for more than 15.
//! - **Counters** start with the value they have. Those of FXT files keep their events, with all arguments; of others
//!   the track's name is `event:argument`.
//! - **Flows** are told in `flows`, **asynchronous slices** in `asyncs`.
//! - **Runs** are context switches of the newer form with weights (idle: the smallest int32); a thread that runs
//!   when the range starts is switched to there, one that runs when it ends is switched from: in a state that is not
//!   known, if it ran on.
//!   Of an FXT file of which no thread or CPU is left out, switches and wakeups are the records that they were.
//! - **States** follow from switches and wakeups. FXT numbers runnable, stopped, sleeping, zombie and dead: other
//!   states have the number of the nearest, and their letters in an argument `outgoing_state`. Who waits
//!   when the range starts is switched from there to idle, in its state.
//! - **CPUs, reused numbers** and what belongs to nobody are told in `koids`.
//! - **Logs** are log records; a severity stands before the message as `[severity]`. Messages that no record can hold (32,744 bytes)
//!   go on in the next, names over 32 KB are cut, which the summary counts.
//! - **Userspace objects** and **counter events without a number** of FXT files are such records again.
//! - **Losses** are told in `losses`.
//! - Times are the trace's own; if any is below zero, all are shifted so that none is, and the provider's name says
//!   by how much. Clocks that do not count nanoseconds are written as they count.
//!
//! Left out: wakeups of threads that were ready already but for those of FXT files, arrows of which both ends lie outside of the range, the
//! arguments and images of processes, files, diagnostics.

pub(super) mod args;
pub(super) mod asyncs;
mod borders;
mod copier;
mod copies;
pub(super) mod counters;
pub(super) mod encode;
mod fixed_tables;
pub(super) mod flows;
mod forms;
mod indices;
mod item;
mod items;
pub(super) mod koids;
mod lanes;
mod lives;
mod lone_flows;
mod lone_states;
pub(super) mod losses;
mod names;
mod objects;
mod points;
mod providers;
pub(super) mod records;
mod references;
mod registered;
mod scheduling_records;
mod slice_items;
mod slice_records;
mod source_args;
mod switches;
mod values;
mod wakeups;

use std::io::Write;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Chosen, ExportError, Exporter, Request, Summary};
use crate::base::{Job, StringId, Timestamp};
use crate::event::ThreadKey;
use crate::formats::{EventRef, Reader};
use crate::load::LoadedTrace;
use crate::trace::{CounterTrackId, EventId, ThreadId, Trace, TrackId, TrackKind};
use asyncs::AsyncIds;
use copies::can_copy;
use counters::counter_names;
use encode::{Arguments, Encoder, Source};
use flows::FlowMarks;
use forms::BeginsAround;
use item::{Item, Window};
use items::{Items, Scheduling};
use koids::{Koids, Zero};
use lone_states::{LoneStates, TrueEnds};
use names::{met_at_borders, write_names};
use objects::Objects;
use providers::Providers;
use records::{EventType, FixedTables, RecordCounts, ThreadKoids, Zones};
use registered::Registered;
use source_args::SourceNames;

/// This exporter's row.
pub const EXPORTER: Exporter = Exporter {
    name: "fxt",
    about: "Fuchsia trace format: Threadline, Perfetto, magic-trace and Fuchsia's tools read it",
    extension: "fxt",
    table: None,
    write,
};

/// How many events are looked at for the names of fields.
const NAME_SAMPLES: usize = 20_000;
/// Behind so many bytes what is encoded at a border is written.
const MOST_BYTES_AT_ONCE: usize = 1 << 22;

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    write_with((Zones::FULL, Arguments::Copied), request, out)
}

fn write_with(
    (zones, arguments): (Zones, Arguments),
    request: &Request<'_>,
    out: &mut dyn Write,
) -> Result<Summary, ExportError> {
    let Request { loaded, job, .. } = *request;
    let trace = loaded.trace.as_ref();
    let mut chosen = request.chosen.clone();
    let is_outside = chosen.span.start > trace.span.end || chosen.span.end <= trace.span.start;
    if is_outside {
        // What is unfinished at the trace's end is not known to last any longer.
        chosen.span.end = chosen.span.start;
    }
    let fxt = loaded.reader.fxt_source();
    let koids = Koids::of(
        trace,
        providers(trace, loaded.reader.as_ref()),
        fxt.map_or(Zero::IsIdle, |_| Zero::IsSomebody),
    );
    let keep_numbers = || {
        let threads = (0..trace.threads.len() as u32).skip(1).map(ThreadId);
        let mut scheduled = threads.zip(koids.scheduled.iter().skip(1).copied());
        scheduled.all(|(id, is_one)| !is_one || koids.thread(id).1 == trace.thread(id).tid)
    };
    let scheduling = match fxt.is_some() && !chosen.is_narrowed() && keep_numbers() {
        true => Scheduling::AsItStands,
        false => Scheduling::OfRunsAndStates,
    };
    // Flows are gone through one by one, which one core does meanwhile.
    let (flow_marks, (begins, (lone_states, true_ends))) = rayon::join(
        || FlowMarks::new(trace, &chosen, loaded.reader.as_ref()),
        || {
            let of_runs = || match scheduling {
                // Only runs without an end of their own are written anew.
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
            // Of several files each has its own.
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
            fxt.filter(|fxt| {
                arguments == Arguments::Copied && !is_outside && can_copy(trace, &chosen, fxt)
            }),
        ),
    );
    job.check()?;
    job.set_total(items.count.max(1));
    let async_id = |id: EventId| args::async_id(loaded.reader.as_ref(), event_ref(id));
    let async_ids = AsyncIds::new(trace, &chosen, &async_id);
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
    let fixed_threads = fixed_threads(trace, &koids, &tables);
    let written_providers = Providers::of(loaded.reader.as_ref());
    let source = Source {
        trace,
        reader: loaded.reader.as_ref(),
        fxt,
        arguments,
        copies: items.copies.as_ref(),
        fixed_threads: &fixed_threads,
        chosen: &chosen,
        koids: &koids,
        flows: &flow_marks.marks,
        lone_states: &lone_states,
        true_ends: &true_ends,
        async_ids: &async_ids,
        cuts: &cuts,
        shift,
        counter_names: &counter_names,
        has_all_counters: (0..trace.counters.tracks.len() as u32)
            .all(|track| chosen.has_counter(CounterTrackId(track))),
        thread_of_process: &thread_of_process,
        providers: &written_providers,
        cpu_of: &cpu_of,
    };
    let mut written = Written::new(&tables);

    let mut encoder = Encoder::new(&source, &tables);
    encoder.records.file_head(&written_providers, shift);
    written.take(encoder, out)?;
    let at_start = items.across_start();
    let met = met_at_borders(trace, &chosen, &at_start, &flow_marks.marks);
    // Names come before the records of the thread table, so that threads are first met in their order.
    let mut encoder = Encoder::new(&source, &tables);
    let named = write_names(&mut encoder, &met);
    written.take(encoder, out)?;
    let mut encoder = Encoder::new(&source, &tables);
    let mut told = FxHashSet::default();
    for fxt in loaded.reader.fxt_sources() {
        for (koid, object_type, name) in fxt.kernel_objects() {
            // Of several files the first names it.
            if told.insert(koid) {
                encoder.kernel_object(Some(fxt), (object_type, koid), koid, name, &[]);
            }
        }
    }
    written.take_items(encoder, &at_start, (&source, &tables, out))?;

    write_windows(&source, &items, &tables, (out, &mut written), job)?;

    let encoder = Encoder::new(&source, &tables);
    written.take_items(encoder, &items.across_end(), (&source, &tables, out))?;
    out.flush()?;

    let mut summary = summary_of(&written.counts, flow_marks.lone_end_count);
    summary.count("processes", named.0);
    summary.count("threads", named.1);
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

/// Encodes windows on all cores while those before them are written, in their order. A window is encoded into the
/// room of one that was written, so that few are in memory.
fn write_windows(
    source: &Source<'_>,
    items: &Items<'_>,
    tables: &FixedTables,
    (out, written): (&mut dyn Write, &mut Written<'_>),
    job: &Job,
) -> Result<(), ExportError> {
    let worker_count = rayon::current_num_threads().max(1);
    let (give, take) = channel::<Vec<u8>>();
    for _ in 0..2 * worker_count + 2 {
        let _kept = give.send(Vec::new());
    }
    // Room comes first, a number then: the lowest number that is not written always has its room.
    let next = Mutex::new((take, 0_usize));
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..worker_count {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let mut window = Window::default();
                let mut names = SourceNames::default();
                loop {
                    let (buffer, number) = {
                        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                        if next.1 >= items.cuts.len() || job.is_cancelled() {
                            return;
                        }
                        // Nobody gives room back any more when writing failed.
                        let Ok(buffer) = next.0.recv() else { return };
                        next.1 += 1;
                        (buffer, next.1 - 1)
                    };
                    let encoded = match job.is_cancelled() {
                        true => (Encoder::new(source, tables), 0),
                        false => {
                            items.fill(&mut window, number);
                            encode_window(source, tables, (buffer, &mut names), &window)
                        }
                    };
                    if sender.send((number, encoded)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let give = give;
        let mut early = FxHashMap::default();
        let mut wanted = 0;
        for (number, window) in &receiver {
            early.insert(number, window);
            while let Some((encoder, count)) = early.remove(&wanted) {
                job.check()?;
                let buffer = written.take(encoder, out)?;
                let _nobody_needs_it = give.send(buffer);
                job.advance(count);
                wanted += 1;
            }
        }
        job.check()?;
        Ok(())
    })
}

fn encode_window<'a, 't>(
    source: &'a Source<'a>,
    tables: &'t FixedTables,
    (buffer, names): (Vec<u8>, &mut SourceNames<'a>),
    window: &Window,
) -> (Encoder<'a, 't>, u64) {
    let mut encoder = Encoder::with_buffer(source, tables, buffer);
    std::mem::swap(&mut encoder.source_names, names);
    encoder.window(window);
    std::mem::swap(&mut encoder.source_names, names);
    encoder.records.used.add(&names.indices.used);
    let count = window.items.len() + window.copies.list.len();
    (encoder, count as u64)
}

/// What is in the file so far.
struct Written<'t> {
    registered: Registered<'t>,
    counts: RecordCounts,
    cut_texts: u64,
}

impl<'t> Written<'t> {
    fn new(tables: &'t FixedTables) -> Written<'t> {
        Written {
            registered: Registered::new(tables),
            counts: RecordCounts::default(),
            cut_texts: 0,
        }
    }

    /// Encodes items behind what was encoded, and writes all of it, from time to time: what is cut at a border may say
    /// far more than its record did.
    fn take_items<'a>(
        &mut self,
        mut encoder: Encoder<'a, 't>,
        items: &[Item],
        (source, tables, out): (&'a Source<'a>, &'t FixedTables, &mut dyn Write),
    ) -> Result<(), ExportError> {
        for item in items {
            encoder.item(item);
            if encoder.records.out.len() > MOST_BYTES_AT_ONCE {
                let next = Encoder::behind(source, tables, &encoder);
                self.take(std::mem::replace(&mut encoder, next), out)?;
            }
        }
        self.take(encoder, out)?;
        Ok(())
    }

    /// Writes what was encoded, and gives its room back.
    fn take(
        &mut self,
        encoder: Encoder<'_, '_>,
        out: &mut dyn Write,
    ) -> Result<Vec<u8>, ExportError> {
        self.cut_texts += encoder.cut_texts;
        let (bytes, counts, used) = encoder.records.finish();
        self.counts.add(&counts);
        let (tables, counts, _) = self.registered.before(&used).finish();
        self.counts.add(&counts);
        out.write_all(&tables)?;
        out.write_all(&bytes)?;
        Ok(bytes)
    }
}

/// `lone` are flow records that end no arrow.
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

/// Names of fields, of one event of each kind that a sample of all meets.
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

/// Names that the fixed table should hold: of kinds and slices, all that there are.
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

/// Threads and CPUs with the most on their tracks first.
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

/// By the keys of an FXT file's threads: their indices in the fixed table, or 0.
fn fixed_threads(trace: &Trace, koids: &Koids, tables: &FixedTables) -> Vec<u8> {
    let threads = &trace.events.threads;
    let index_of = |key: u32| {
        let key = ThreadKey(key);
        if !threads.is_unique(key) {
            return 0;
        }
        let koids = koids.thread(threads.at(key, Timestamp(0)));
        tables.threads.get(&koids).copied().unwrap_or(0)
    };
    (0..threads.small_keys_end()).map(index_of).collect()
}

/// What stands for providers in the trace of an FXT file: threads without a number that have nothing but what says
/// neither time nor thread.
fn providers(trace: &Trace, reader: &dyn Reader) -> FxHashSet<ThreadId> {
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
