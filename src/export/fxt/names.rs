//! The names of processes, threads and CPUs as kernel objects: of all that live in the range, and of those who are met
//! there from outside.

use rustc_hash::FxHashSet;

use super::args::{self, Fitted, MOST_ARG_WORDS};
use super::encode::{Encoder, Source};
use super::flows::FlowMark;
use super::item::{Item, What};
use super::koids::Koids;
use super::records::{Arg, ArgValue, PROCESS, THREAD};
use super::source_args::SourceNames;
use super::{lives, losses};
use crate::base::Timestamp;
use crate::event::Ties;
use crate::export::Chosen;
use crate::formats::fxt::{DROPPED, FxtSource, LIFE_ARGUMENTS, OVERWRITTEN};
use crate::trace::counters::CounterScope;
use crate::trace::{
    CounterTrackId, CpuId, EventId, ProcessId, StateId, ThreadId, Trace, TrackId, TrackKind,
};

/// Threads of which an arrow or a wakeup speaks, whether they live in the range and are chosen or not.
pub fn met_at_borders(
    trace: &Trace,
    chosen: &Chosen<'_>,
    at_start: &[Item],
    marks: &[FlowMark],
) -> FxHashSet<ThreadId> {
    let is_wakeup = |item: &&Item| item.what == What::Wakeup;
    let wakeups = at_start.iter().filter(is_wakeup).map(|item| item.row);
    // Where some threads are left out, they may wake the others all the same.
    let all = (0..trace.threads.len() as u32).map(ThreadId);
    let is_narrowed = !all.clone().all(|id| chosen.has_thread(id));
    let narrowed = all.filter(|&id| is_narrowed && chosen.has_thread(id));
    let narrowed =
        narrowed.flat_map(|id| trace.states.overlapping(trace.states.of(id), chosen.span));
    let wakers = wakeups
        .chain(narrowed)
        .filter_map(|row| trace.states.get(StateId(row)).waker);
    let cpus = (0..trace.cpus.len() as u32).map(CpuId);
    let on_tracks = cpus.filter(|&cpu| chosen.has_cpu_track(cpu));
    let ran = on_tracks
        .flat_map(|cpu| trace.runs.overlapping(trace.runs.on(cpu), chosen.span))
        .map(|run| ThreadId(trace.runs.threads[run as usize]));
    let moved = marks.iter().filter(|mark| mark.is_moved);
    let mut met: FxHashSet<ThreadId> = wakers
        .chain(ran)
        .chain(moved.map(|mark| mark.thread))
        .collect();
    if is_narrowed {
        met_on_tracks(trace, chosen, &mut met);
    }
    met
}

/// Whose slices, points and samples lie on tracks that were chosen whole, whoever did it.
fn met_on_tracks(trace: &Trace, chosen: &Chosen<'_>, met: &mut FxHashSet<ThreadId>) {
    let span = chosen.span;
    let mut meet = |event: u32| {
        if event != u32::MAX && !chosen.has_thread(trace.events.thread(EventId(event))) {
            met.insert(trace.events.thread(EventId(event)));
        }
    };
    let slices = &trace.slices;
    for (number, track) in trace.tracks.iter().enumerate() {
        let is_async = matches!(track.kind, TrackKind::Async(_));
        if !is_async || !chosen.has_track(TrackId(number as u32)) {
            continue;
        }
        let rows = slices
            .rows
            .get(track.rows.start as usize..track.rows.end as usize);
        let rows = rows.unwrap_or_default().iter();
        for slice in rows.flat_map(|row| slices.overlapping_on(row, span)) {
            if chosen.has_slice(TrackId(number as u32), slice as usize) {
                meet(slices.begins.at(slice as usize));
                let ends_inside = slices.open_end(slice as usize) < span.end.0;
                meet(if ends_inside {
                    slices.finish(slice as usize)
                } else {
                    u32::MAX
                });
            }
        }
        for event in trace.instants.of(&track.instants) {
            let id = EventId(event);
            if span.contains(trace.events.time(id)) && chosen.has_point(TrackId(number as u32), id)
            {
                meet(event);
            }
        }
    }
    for (number, track) in trace.counters.tracks.iter().enumerate() {
        let id = CounterTrackId(number as u32);
        // Of other scopes the owner says them, whoever took the sample.
        if matches!(track.scope, CounterScope::Process(_)) && chosen.has_counter(id) {
            let inside = trace.counters.in_force(track, span);
            let rows = inside.filter(|&row| chosen.has_sample(id, row));
            rows.for_each(|row| meet(trace.counters.events[row as usize]));
        }
    }
}

/// Writes the names of all that live in the range or are `met` there; how many processes and threads.
pub fn write_names(encoder: &mut Encoder<'_, '_>, met: &FxHashSet<ThreadId>) -> (u64, u64) {
    let Source {
        trace,
        chosen,
        koids,
        ..
    } = *encoder.source;
    let (mut processes, mut threads) = (0, 0);
    let is_alive = |start: Option<Timestamp>, end: Option<Timestamp>| {
        chosen.meets(
            start.unwrap_or(trace.span.start),
            // Nobody is known to live before the trace or behind it.
            end.unwrap_or(Timestamp(trace.span.end.0.saturating_add(1))),
        )
    };
    let mut wanted: Vec<bool> = (0..trace.processes.len())
        .map(|index| chosen.has_process(ProcessId(index as u32)))
        .collect();
    let owners = Owners::new(trace, chosen);
    for (index, thread) in trace.threads.iter().enumerate().skip(1) {
        let entry = thread.process.and_then(|id| wanted.get_mut(id.0 as usize));
        if let Some(entry) = entry {
            let id = ThreadId(index as u32);
            *entry |= chosen.has_thread(id) || owners.threads.contains(&id);
        }
    }
    for id in &owners.processes {
        if let Some(entry) = wanted.get_mut(id.0 as usize) {
            *entry = true;
        }
    }
    let is_met = |id: ThreadId| met.contains(&id) && id != ThreadId::NONE && id != ThreadId::IDLE;
    let name_thread = |encoder: &mut Encoder<'_, '_>, id: ThreadId| {
        let thread = trace.thread(id);
        let (process, koid) = koids.thread(id);
        let mut args = vec![Arg::new("process", ArgValue::Koid(process))];
        args.extend(lives::of_thread(encoder.source, id));
        let name = trace.strings.bytes(thread.name);
        let fxt = encoder.source.fxt;
        encoder.kernel_object(fxt, (THREAD, koid), thread.tid, name, &args);
    };
    let met_processes: FxHashSet<ProcessId> = met
        .iter()
        .filter(|&&id| is_met(id))
        .filter_map(|&id| trace.thread(id).process)
        .collect();
    for (index, process) in trace.processes.iter().enumerate() {
        let is_met = met_processes.contains(&ProcessId(index as u32));
        if koids.is_of_provider(ProcessId(index as u32)) {
            continue;
        }
        if is_met || wanted[index] && is_alive(process.start, process.end) {
            let koid = koids.process(ProcessId(index as u32));
            let name = trace.strings.bytes(process.name);
            let fxt = encoder.source.fxt;
            let id = ProcessId(index as u32);
            let args = lives::of_process(encoder.source, id);
            encoder.kernel_object(fxt, (PROCESS, koid), process.pid, name, &args);
            encoder.images(id);
            processes += 1;
        }
    }
    for (index, thread) in trace.threads.iter().enumerate().skip(1) {
        let id = ThreadId(index as u32);
        if koids.is_provider(id) {
            continue;
        }
        let is_wanted = chosen.has_thread(id) || owners.threads.contains(&id);
        if is_met(id) || is_wanted && is_alive(thread.start, trace.over_at(id)) {
            name_thread(encoder, id);
            threads += 1;
        }
    }
    for &id in &koids.named_last {
        let thread = trace.thread(id);
        if is_met(id) || chosen.has_thread(id) && is_alive(thread.start, trace.over_at(id)) {
            name_thread(encoder, id);
        }
    }
    let counted = losses::Counted::of(trace, chosen);
    for id in (0..trace.cpus.len() as u32).map(CpuId) {
        if owners.cpus.contains(&id) {
            let name = koids.cpu_name(trace, id);
            let (process, thread) = koids.cpu(id);
            encoder.records.process_object(process, name.as_bytes());
            let mut args = vec![Arg::new("process", ArgValue::Koid(process))];
            args.extend(counted.arguments(id));
            let object = (THREAD, thread);
            encoder.records.object(object, name.as_bytes(), &args);
        }
    }
    if owners.is_machine_needed {
        let machine = Koids::MACHINE.0;
        encoder.records.process_object(machine, b"machine");
    }
    (processes, threads)
}

impl Encoder<'_, '_> {
    /// The name of a kernel object, with `args` and those that its record has in its file, where it is known as `number`.
    pub(super) fn kernel_object(
        &mut self,
        fxt: Option<FxtSource<'_>>,
        (object_type, koid): (u64, u64),
        number: u64,
        name: &[u8],
        args: &[Arg<'_>],
    ) {
        let mut args = args.to_vec();
        if let Some(fxt) = fxt
            && let Some(own) = fxt.object_with_arguments(number, object_type)
        {
            let own = SourceNames::default().list(&fxt, &own, &self.records);
            // What our own files say is written anew.
            let is_ours = fxt.ties() == Ties::First;
            let ours = LIFE_ARGUMENTS.iter().chain(&[OVERWRITTEN, DROPPED]);
            let is_agreed = |name: &[u8]| is_ours && ours.clone().any(|it| it.as_bytes() == name);
            let is_told =
                |name: &[u8]| is_agreed(name) || args.iter().any(|arg| *arg.name == *name);
            let others: Vec<_> = own.into_iter().filter(|arg| !is_told(&arg.name)).collect();
            args.extend(others);
            let Fitted { is_packed, cut } = args::fit(&mut args, MOST_ARG_WORDS);
            self.records.counts.packed += u64::from(is_packed);
            self.cut_texts += cut.len() as u64;
        }
        self.records.object((object_type, koid), name, &args);
    }
}

/// Whose tracks and counters were chosen.
#[derive(Default)]
struct Owners {
    threads: FxHashSet<ThreadId>,
    processes: FxHashSet<ProcessId>,
    cpus: FxHashSet<CpuId>,
    is_machine_needed: bool,
}

impl Owners {
    fn new(trace: &Trace, chosen: &Chosen<'_>) -> Owners {
        let mut owners = Owners::default();
        owners.cpus.extend(losses::cpus(trace, chosen));
        for (number, track) in trace.tracks.iter().enumerate() {
            let is_empty = track.rows.is_empty() && track.instants.is_empty();
            if is_empty || !chosen.has_track(TrackId(number as u32)) {
                continue;
            }
            match track.kind {
                TrackKind::Thread(thread) => _ = owners.threads.insert(thread),
                TrackKind::Cpu(cpu) => _ = owners.cpus.insert(cpu),
                TrackKind::Async(Some(process)) => _ = owners.processes.insert(process),
                TrackKind::Async(None) => {}
            }
        }
        for (number, track) in trace.counters.tracks.iter().enumerate() {
            if !chosen.has_counter(CounterTrackId(number as u32)) {
                continue;
            }
            match track.scope {
                CounterScope::Thread(thread) => _ = owners.threads.insert(thread),
                CounterScope::Cpu(cpu) => _ = owners.cpus.insert(cpu),
                CounterScope::Process(process) => _ = owners.processes.insert(process),
                CounterScope::Global => owners.is_machine_needed = true,
            }
        }
        owners
    }
}
