//! What threads did on chosen CPUs: the runs of these CPUs in, the parts of slices that lie in them out.
//!
//! ```text
//! CPU 3      | a  |   b   |      | a |            runs
//! thread a   [ read ------------------ ]          its part on CPU 3: 4 + 3
//! ```
//!
//! The parts of nested slices are nested as the slices are, as both are cut at the same edges. A slice that lasts over
//! several runs comes in as many parts: who counts slices adds them up ([`Parts`]). Slices of CPUs' own tracks
//! (interrupts) and asynchronous ones are nobody's run; where no scheduling is known there is nothing here.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Area, Lane, Lanes};
use crate::base::{Job, TimeSpan, Timestamp};
use crate::query::seen::{Length, Seen};
use crate::trace::{CpuId, RunId, SliceId, ThreadId, Trace, TrackId, TrackKind};

/// Runs that a core takes at a time.
const CHUNK: u32 = 1 << 12;

/// Some CPUs, and the tracks of the threads that count there.
pub(crate) struct OnCpus<'a> {
    trace: &'a Trace,
    /// The runs of each.
    cpus: Vec<(CpuId, Range<u32>)>,
    /// By thread: the index of its first track in `tracks`; one more entry for the end.
    firsts: Vec<u32>,
    tracks: Vec<TrackId>,
    seen: Seen,
}

/// Some runs of a CPU that follow each other.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    cpu: CpuId,
    runs: Range<u32>,
}

/// A run of a thread on a CPU, cut at the borders of the span that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub run: RunId,
    pub cpu: CpuId,
    pub thread: ThreadId,
    pub span: TimeSpan,
}

/// The part of a slice that is in a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub slice: u32,
    pub track: TrackId,
    pub cpu: CpuId,
    /// The duration of the part; the least duration if the slice is unfinished.
    pub length: Length,
    /// Whether the part is the whole slice.
    pub is_whole: bool,
}

impl<'a> OnCpus<'a> {
    /// Returns the stretches on the CPUs of an area; `None` if it has none. Tracks that the area contains by themselves
    /// count whole, so they are left out here. Hidden threads do not count.
    pub fn of(trace: &'a Trace, area: &Area) -> Option<OnCpus<'a>> {
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
                        Lane::Runs(_) | Lane::States(_) | Lane::Counter(_) => {}
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
        cpus.sort_unstable();
        cpus.dedup();
        whole.sort_unstable();
        let mut found = OnCpus {
            trace,
            cpus: cpus
                .into_iter()
                .map(|cpu| (cpu, trace.runs.on(cpu)))
                .collect(),
            firsts: vec![0],
            tracks: Vec::new(),
            seen: Seen::new(trace),
        };
        // Tracks are sorted by what they belong to.
        let first = |kind| trace.tracks.partition_point(|track| track.kind < kind);
        let mut at = first(TrackKind::Thread(ThreadId(0)));
        for (thread, is_chosen) in (0..).map(ThreadId).zip(is_chosen) {
            let kind = TrackKind::Thread(thread);
            while trace.tracks.get(at).is_some_and(|it| it.kind == kind) {
                let track = TrackId(at as u32);
                if is_chosen && whole.binary_search(&track).is_err() {
                    found.tracks.push(track);
                }
                at += 1;
            }
            found.firsts.push(found.tracks.len() as u32);
        }
        Some(found)
    }

    fn tracks_of(&self, thread: ThreadId) -> &[TrackId] {
        let at = thread.0 as usize;
        let (first, end) = (self.firsts.get(at), self.firsts.get(at.saturating_add(1)));
        let (Some(&first), Some(&end)) = (first, end) else {
            return &[];
        };
        self.tracks
            .get(first as usize..end as usize)
            .unwrap_or_default()
    }

    /// The runs that meet `span`, in portions for all cores.
    pub(crate) fn stretches(&self, span: TimeSpan) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        for (cpu, runs) in &self.cpus {
            let inside = self.trace.runs.overlapping(runs.clone(), span);
            for first in inside.clone().step_by(CHUNK as usize) {
                let end = inside.end.min(first.saturating_add(CHUNK));
                stretches.push(Stretch {
                    cpu: *cpu,
                    runs: first..end,
                });
            }
        }
        stretches
    }

    /// The runs of a stretch, cut at the edges of `span`; those of no length are left out.
    pub(crate) fn windows(
        &self,
        stretch: &Stretch,
        span: TimeSpan,
    ) -> impl Iterator<Item = Window> {
        let (runs, last) = (&self.trace.runs, self.trace.span.end.0);
        let cpu = stretch.cpu;
        let windows = stretch.runs.clone().map(move |run| {
            let at = run as usize;
            let start = runs.starts[at].max(span.start.0);
            let end = runs.ends[at].at_most(span.end.0).min(last);
            Window {
                run: RunId(run),
                cpu,
                thread: ThreadId(runs.threads[at]),
                span: TimeSpan::new(Timestamp(start), Timestamp(end.max(start))),
            }
        });
        windows.filter(|window| !window.span.is_empty())
    }

    /// The tracks whose slices count in a window. What the idle thread does is on its CPU's own track.
    pub(crate) fn tracks_in(&self, window: &Window) -> &[TrackId] {
        match window.thread {
            ThreadId::IDLE => &[],
            thread => self.tracks_of(thread),
        }
    }

    /// Calls `each` with every part of a slice that is in a stretch.
    pub fn for_each(&self, stretch: &Stretch, span: TimeSpan, mut each: impl FnMut(&Part)) {
        let slices = &self.trace.slices;
        for window in self.windows(stretch, span) {
            for &track in self.tracks_in(&window) {
                let Some(rows) = self.trace.tracks.get(track.0 as usize) else {
                    continue;
                };
                let rows = rows.rows.start as usize..rows.rows.end as usize;
                for row in slices.rows.get(rows).unwrap_or_default() {
                    for slice in slices.overlapping(row, window.span) {
                        let id = SliceId(slice);
                        let part = self.seen.part_of_duration(self.trace, id, window.span);
                        each(&Part {
                            slice,
                            track,
                            cpu: window.cpu,
                            length: part.length,
                            is_whole: part.is_whole,
                        });
                    }
                }
            }
        }
    }

    /// Returns whether a slice of the window's thread has no part before the window: it is counted in this window.
    pub(crate) fn is_first(&self, window: &Window, slice: u32, span: TimeSpan) -> bool {
        let runs = &self.trace.runs;
        let since = self.trace.slices.starts.at(slice as usize);
        let since = since.max(span.start.0);
        if since >= window.span.start.0 {
            return true;
        }
        let of_thread = runs.of(window.thread);
        let start = runs.starts[window.run.0 as usize];
        let before = of_thread.partition_point(|&run| runs.starts[run as usize] < start);
        let earlier = of_thread.get(..before).unwrap_or_default().iter().rev();
        let mut earlier = earlier.take_while(|&&run| runs.ends[run as usize] > since);
        !earlier.any(|run| self.cpus.iter().any(|(_, of)| of.contains(run)))
    }
}

/// Slices that are in several runs, with the time of all their parts in ns: by slice and a number of the caller's.
pub(crate) type Parts = FxHashMap<(u32, u32), i64>;

/// Walks all stretches on all cores: `each` takes a part into the worker's own `T`, or gives the number by which it is
/// added up with the other parts of its slice.
pub(crate) fn gather<T: Send>(
    on: &OnCpus<'_>,
    span: TimeSpan,
    job: &Job,
    make: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, &Part) -> Option<u32> + Sync,
) -> (Vec<T>, Parts) {
    let stretches = on.stretches(span);
    job.add_total(stretches.len() as u64);
    let share = stretches
        .len()
        .div_ceil(rayon::current_num_threads().max(1));
    let gathered: Vec<(T, Parts)> = stretches
        .par_chunks(share.max(1))
        .map(|stretches| {
            let (mut own, mut parts) = (make(), Parts::default());
            for stretch in stretches {
                if !job.is_cancelled() {
                    on.for_each(stretch, span, |part| {
                        if let Some(number) = each(&mut own, part) {
                            *parts.entry((part.slice, number)).or_default() +=
                                part.length.certain();
                        }
                    });
                }
                job.advance(1);
            }
            (own, parts)
        })
        .collect();
    let mut owns = Vec::with_capacity(gathered.len());
    let mut all = Parts::default();
    for (own, parts) in gathered {
        owns.push(own);
        for (key, length) in parts {
            *all.entry(key).or_default() += length;
        }
    }
    (owns, all)
}
