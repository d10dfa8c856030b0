//! Threads that are not chosen, but to which chosen items refer: an export that narrows the threads names these, too.

use rustc_hash::FxHashSet;

use super::koids::Koids;
use crate::query::selection::Chosen;
use crate::trace::counters::CounterScope;
use crate::trace::{
    CounterTrackId, CpuId, EventId, ProcessId, StateId, ThreadId, Trace, TrackId, TrackKind,
};

/// Returns the threads that woke chosen threads, ran on CPUs whose tracks are chosen, have events on tracks that are chosen
/// whole, or on which such events are written.
pub(crate) fn met(trace: &Trace, chosen: &Chosen<'_>, koids: &Koids) -> FxHashSet<ThreadId> {
    // Threads that are left out may still wake the chosen ones.
    let all = (0..trace.threads.len() as u32).map(ThreadId);
    let is_narrowed = !all.clone().all(|id| chosen.has_thread(id));
    let narrowed = all.filter(|&id| is_narrowed && chosen.has_thread(id));
    let narrowed =
        narrowed.flat_map(|id| trace.states.overlapping(trace.states.of(id), chosen.span));
    let wakers = narrowed.filter_map(|row| trace.states.get(StateId(row)).waker);
    let cpus = (0..trace.cpus.len() as u32).map(CpuId);
    let on_tracks = cpus.filter(|&cpu| chosen.has_cpu_track(cpu));
    let ran = on_tracks
        .flat_map(|cpu| trace.runs.overlapping(trace.runs.on(cpu), chosen.span))
        .map(|run| ThreadId(trace.runs.threads[run as usize]));
    let mut met: FxHashSet<ThreadId> = wakers.chain(ran).collect();
    if is_narrowed {
        met_on_tracks(trace, chosen, koids, &mut met);
    }
    met
}

/// Adds the threads that recorded slices, points and samples of processes, and those on which they are written.
fn met_on_tracks(trace: &Trace, chosen: &Chosen<'_>, koids: &Koids, met: &mut FxHashSet<ThreadId>) {
    let span = chosen.span;
    let mut meet = |event: EventId, process: Option<ProcessId>| {
        let thread = trace.events.thread(event);
        if !chosen.has_thread(thread) {
            met.extend(thread);
        }
        let elsewhere = process.filter(|_| trace.thread(thread).process != process);
        met.extend(elsewhere.and_then(|process| koids.first_thread(process)));
    };
    let slices = &trace.slices;
    for (number, track) in trace.tracks.iter().enumerate() {
        let TrackKind::Async(process) = track.kind else {
            continue;
        };
        if !chosen.has_track(TrackId(number as u32)) {
            continue;
        }
        let rows = slices.rows_of(track).iter();
        for slice in rows.flat_map(|row| slices.overlapping(row, span)) {
            if chosen.has_slice(TrackId(number as u32), slice as usize) {
                meet(slices.begin(slice as usize), process);
                let ends_inside = slices.open_end(slice as usize) < span.end.0;
                let finish = slices.finish(slice as usize).filter(|_| ends_inside);
                finish.into_iter().for_each(|event| meet(event, process));
            }
        }
        for event in trace.instants.of(&track.instants) {
            let id = EventId(event);
            if span.contains(trace.events.time(id)) && chosen.has_point(TrackId(number as u32), id)
            {
                meet(id, process);
            }
        }
    }
    for (number, track) in trace.counters.tracks.iter().enumerate() {
        let id = CounterTrackId(number as u32);
        // Counters of other scopes are written on their owner's thread, whichever thread took the sample.
        if let CounterScope::Process(process) = track.scope
            && chosen.has_counter(id)
        {
            let inside = trace.counters.in_force(track, span);
            let rows = inside.filter(|&row| chosen.has_sample(id, row));
            rows.for_each(|row| meet(EventId(trace.counters.events[row as usize]), Some(process)));
        }
    }
}
