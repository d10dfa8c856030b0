//! The slices of threads on chosen CPUs: the runs of these CPUs in, the time of each slice on them out.
//!
//! ```text
//! CPU 3      | a  |   b   |      | a |            runs
//! thread a   [ read ------------------ ]          its time on CPU 3: 4 + 3
//! ```
//!
//! A slice comes once, however many runs it lasts over, or once for each CPU: the time until its end less the time
//! until its start, both from sums over the thread's runs ([`Ran`]). So the cost of a walk is the number of slices plus
//! the number of runs, not their product. The times of nested slices are nested as the slices are. Slices of CPUs' own
//! tracks (interrupts) and asynchronous slices are left out, because they belong to no run. Without recorded scheduling
//! there are no times.

use std::ops::Range;

use rayon::prelude::*;

use super::{Area, Lane, Lanes};
use crate::base::{Job, TimeSpan, Timestamp};
use crate::query::seen::{Length, Seen, drawn_span};
use crate::trace::{CpuId, RunId, SliceId, ThreadId, Trace, TrackId, TrackKind};

/// Slices that a core takes at a time.
const CHUNK: u32 = 1 << 15;

/// Some CPUs in a span, and the tracks of the threads that count there.
pub(crate) struct OnCpus<'a> {
    trace: &'a Trace,
    span: TimeSpan,
    /// The runs of each CPU that overlap the span, if there are any, in the order of the runs.
    cpus: Vec<RunsOf>,
    /// The runs that began before the span, by thread: at most one a CPU.
    begun_before: Vec<(ThreadId, u32)>,
    /// Sorted by thread.
    tracks: Vec<OnTrack>,
    seen: Seen,
}

struct RunsOf {
    cpu: CpuId,
    runs: Range<u32>,
}

/// A track of a thread that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnTrack {
    pub track: TrackId,
    pub thread: ThreadId,
}

/// How often a slice counts that was on several CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Once, with its time on all of them.
    Once,
    /// Once for each of them.
    OnEachCpu,
}

/// The time of a slice on chosen CPUs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub slice: u32,
    pub track: TrackId,
    /// The CPU; `None` for all of them together.
    pub cpu: Option<CpuId>,
    /// The time in ns; the least time if the slice is unfinished.
    pub length: Length,
}

/// The runs of a thread on one of the chosen CPUs or on all of them, cut at the borders of the span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ran {
    cpu: Option<CpuId>,
    starts: Edges,
    ends: Edges,
}

/// Starts or ends of runs.
#[derive(Clone, Debug, Default)]
struct Edges {
    /// In ns, sorted.
    times: Vec<i64>,
    /// The sum of each time and all times before it.
    sums: Vec<i128>,
}

impl Edges {
    fn new(mut times: Vec<i64>) -> Edges {
        times.sort_unstable();
        let sums = times.iter().scan(0, |sum, &time| {
            *sum += i128::from(time);
            Some(*sum)
        });
        Edges {
            sums: sums.collect(),
            times,
        }
    }

    /// Returns how many of the times are not after `time`.
    fn until(&self, time: i64) -> usize {
        self.times.partition_point(|&it| it <= time)
    }

    /// Returns, in ns, the sum of `time - t` over all times `t` before `time`.
    fn ago(&self, time: i64) -> i128 {
        let count = self.until(time);
        let sum = count.checked_sub(1).and_then(|last| self.sums.get(last));
        i128::from(time) * count as i128 - sum.copied().unwrap_or(0)
    }
}

impl Ran {
    /// Returns the time in ns for which the thread ran before `time`. Runs that overlap (of a damaged file) add up.
    fn before(&self, time: i64) -> i128 {
        self.starts.ago(time) - self.ends.ago(time)
    }

    /// Returns the time in ns for which the thread ran in `span`.
    fn inside(&self, span: TimeSpan) -> i64 {
        let time = self.before(span.end.0) - self.before(span.start.0);
        i64::try_from(time.max(0)).unwrap_or(i64::MAX)
    }

    /// Returns whether the thread ran at some time of `span`; of an empty span, at its start.
    fn has(&self, span: TimeSpan) -> bool {
        match span.is_empty() {
            true => self.starts.until(span.start.0) > self.ends.until(span.start.0),
            false => self.inside(span) > 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.starts.times.is_empty()
    }
}

impl<'a> OnCpus<'a> {
    /// Returns the CPUs of an area; `None` if it has none. Tracks that the area contains as lanes of their own are left
    /// out, because their slices count whole. Hidden threads do not count.
    pub(crate) fn of(trace: &'a Trace, area: &Area) -> Option<OnCpus<'a>> {
        let mut is_chosen = vec![false; trace.threads.len()];
        let mut whole: Vec<TrackId> = Vec::new();
        let mut cpus: Vec<CpuId> = Vec::new();
        match &area.lanes {
            Lanes::All => {}
            Lanes::Of(lanes) => {
                for lane in lanes {
                    match *lane {
                        Lane::OnCpu(cpu) => cpus.push(cpu),
                        Lane::Track(track) => whole.push(track),
                        Lane::Runs(_) | Lane::States(_) | Lane::Counter(_) | Lane::AsyncOf(_) => {}
                    }
                }
                is_chosen.fill(true);
            }
            Lanes::Both { threads, cpus: of } => {
                cpus.clone_from(of);
                for thread in threads {
                    if let Some(entry) = is_chosen.get_mut(thread.0 as usize) {
                        *entry = true;
                    }
                }
            }
        }
        if cpus.is_empty() || trace.runs.is_empty() {
            return None;
        }
        for thread in &area.hidden.threads {
            if let Some(entry) = is_chosen.get_mut(thread.0 as usize) {
                *entry = false;
            }
        }
        // The slices of the idle thread are on its CPU's own track.
        if let Some(entry) = is_chosen.get_mut(ThreadId::IDLE.0 as usize) {
            *entry = false;
        }
        cpus.sort_unstable();
        cpus.dedup();
        whole.sort_unstable();
        let overlapping = |cpu| {
            let runs = trace.runs.overlapping(trace.runs.on(cpu), area.span);
            (!runs.is_empty()).then_some(RunsOf { cpu, runs })
        };
        let mut found = OnCpus {
            trace,
            span: area.span,
            cpus: cpus.into_iter().filter_map(overlapping).collect(),
            begun_before: Vec::new(),
            tracks: Vec::new(),
            seen: Seen::new(trace),
        };
        for RunsOf { runs, .. } in &found.cpus {
            let first = runs.start as usize;
            if trace.runs.starts[first] < area.span.start.0 {
                let thread = ThreadId(trace.runs.threads[first]);
                found.begun_before.push((thread, runs.start));
            }
        }
        found.begun_before.sort_unstable();
        // Tracks are sorted by owner.
        let is_before = |kind| trace.tracks.partition_point(|track| track.kind < kind);
        let first = is_before(TrackKind::Thread(ThreadId(0)));
        for (at, track) in trace.tracks.iter().enumerate().skip(first) {
            let TrackKind::Thread(thread) = track.kind else {
                break;
            };
            let track = TrackId(at as u32);
            let is_chosen = is_chosen.get(thread.0 as usize).copied().unwrap_or(false);
            if is_chosen && whole.binary_search(&track).is_err() {
                found.tracks.push(OnTrack { track, thread });
            }
        }
        Some(found)
    }

    /// Returns the tracks that count, sorted by thread.
    pub(crate) fn tracks(&self) -> &[OnTrack] {
        &self.tracks
    }

    /// Returns when a thread ran: on all chosen CPUs together, or on each where it did.
    pub(crate) fn ran(&self, thread: ThreadId, counted: Counted) -> Vec<Ran> {
        let runs = &self.trace.runs;
        let of_thread = runs.of(thread);
        let starts_before =
            |time: i64| of_thread.partition_point(|&run| runs.starts[run as usize] < time);
        let (from, until) = (
            starts_before(self.span.start.0),
            starts_before(self.span.end.0),
        );
        let inside = of_thread.get(from..until).unwrap_or_default();
        let before = self.begun_before.partition_point(|(it, _)| *it < thread);
        let before = self.begun_before.get(before..).unwrap_or_default().iter();
        let before = before
            .take_while(|(it, _)| *it == thread)
            .map(|(_, run)| run);
        // By CPU, or all at index 0.
        let mut edges: Vec<(Vec<i64>, Vec<i64>)> = vec![Default::default(); self.cpus.len()];
        for &run in before.chain(inside) {
            let after = self.cpus.partition_point(|it| it.runs.start <= run);
            let of_cpu = after
                .checked_sub(1)
                .filter(|&at| self.cpus[at].runs.contains(&run));
            let Some(of_cpu) = of_cpu else { continue };
            let at = match counted {
                Counted::Once => 0,
                Counted::OnEachCpu => of_cpu,
            };
            let span = self.inside(RunId(run));
            if let Some((starts, ends)) = edges.get_mut(at).filter(|_| !span.is_empty()) {
                starts.push(span.start.0);
                ends.push(span.end.0);
            }
        }
        let ran = edges.into_iter().zip(&self.cpus);
        let ran = ran.map(|((starts, ends), of)| Ran {
            cpu: (counted == Counted::OnEachCpu).then_some(of.cpu),
            starts: Edges::new(starts),
            ends: Edges::new(ends),
        });
        ran.filter(|ran| !ran.is_empty()).collect()
    }

    /// Returns the part of a run that is in the span.
    fn inside(&self, run: RunId) -> TimeSpan {
        let (runs, at) = (&self.trace.runs, run.0 as usize);
        let whole = TimeSpan {
            start: Timestamp(runs.starts[at]),
            end: Timestamp(runs.ends[at].at_most(self.trace.span.end.0)),
        };
        whole.intersection(self.span)
    }

    /// Returns the time of a slice in `ran`; `None` if its thread did not run there during it.
    pub(crate) fn length(&self, ran: &Ran, slice: SliceId) -> Option<Length> {
        let drawn = drawn_span(self.trace, slice);
        let is_there = ran.has(drawn);
        is_there.then(|| {
            self.seen
                .part_of_duration(self.trace, slice, |span| ran.inside(span))
        })
    }
}

/// Some slices of a row of a thread's track.
struct Chunk {
    of: OnTrack,
    slices: Range<u32>,
}

/// Walks all slices that were on the CPUs, on all cores: `each` adds a slice's time to the value of the worker. Returns
/// the values of all workers.
pub(crate) fn gather<T: Send>(
    on: &OnCpus<'_>,
    counted: Counted,
    job: &Job,
    make: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, &Part) + Sync,
) -> Vec<T> {
    let chunks = chunks(on);
    job.add_total(chunks.len() as u64);
    let share = chunks.len().div_ceil(rayon::current_num_threads().max(1));
    let of_share = |chunks: &[Chunk]| {
        let mut own = make();
        for of_thread in chunks.chunk_by(|a, b| a.of.thread == b.of.thread) {
            let thread = of_thread.first().map(|chunk| chunk.of.thread);
            let ran = thread.filter(|_| !job.is_cancelled());
            let ran = ran.map_or_else(Vec::new, |thread| on.ran(thread, counted));
            for chunk in of_thread {
                for ran in ran.iter().filter(|_| !job.is_cancelled()) {
                    for slice in chunk.slices.clone() {
                        if let Some(length) = on.length(ran, SliceId(slice)) {
                            let (track, cpu) = (chunk.of.track, ran.cpu);
                            let part = Part {
                                slice,
                                track,
                                cpu,
                                length,
                            };
                            each(&mut own, &part);
                        }
                    }
                }
                job.advance(1);
            }
        }
        own
    };
    chunks.par_chunks(share.max(1)).map(of_share).collect()
}

fn chunks(on: &OnCpus<'_>) -> Vec<Chunk> {
    let slices = &on.trace.slices;
    let mut chunks = Vec::new();
    for &of in &on.tracks {
        let track = on.trace.tracks.get(of.track.0 as usize);
        for row in track.map_or(&[][..], |track| slices.rows_of(track)) {
            let inside = slices.overlapping(row, on.span);
            for first in inside.clone().step_by(CHUNK as usize) {
                let end = inside.end.min(first.saturating_add(CHUNK));
                let slices = first..end;
                chunks.push(Chunk { of, slices });
            }
        }
    }
    chunks
}
