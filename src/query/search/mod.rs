//! Search over a whole trace: finds the items that match an expression, in time order and in steps, so that the first
//! hits appear at once.
//!
//! Threads, processes, tracks and slices are searched first, by their few names; then raw events, in windows of time that
//! all cores share. A raw event that begins or ends a slice that was found is not found again. At most
//! [`Query::limit`] hits are kept as a list, the earliest; all are counted and marked.

mod background;
mod bit_set;
mod filter;
mod found;
mod places;
mod query;
mod scan;
mod whole;

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

pub use background::{SearchedTrace, start_filter, start_search};
pub(crate) use bit_set::BitSet;
pub(crate) use filter::FilteredEvents;
pub use filter::{EventFilter, filter_events};
pub use found::Marks;
pub(crate) use found::{Found, Hit};
pub use places::{Place, Places};
pub use query::Query;
pub(crate) use whole::WholeMarks;

use scan::{CHUNK, Picked, Scan, windows};

use super::Item;
use super::expression::{ExpressionError, Matcher, unknown_event, unknown_field};
use super::latency::Among;
use crate::base::Job;
use crate::formats::Events;
use crate::trace::{
    CounterTrackId, FlowId, GapId, InstantId, ProcessId, RunId, SliceId, StateId, ThreadId, Trace,
    TrackId,
};

/// The time between two publications of incomplete results.
const PUBLISH_EVERY: Duration = Duration::from_millis(120);

/// Searches; calls `publish` with the results whenever there are more. The job's progress counts rows; if the job is
/// cancelled, the answer contains the results until then and is not `is_complete`.
///
/// # Errors
/// Errors if the expression contains a field that the trace cannot have.
pub fn search(
    trace: &Trace,
    reader: &dyn Events,
    query: &Query,
    job: &Job,
    publish: &mut dyn FnMut(Found),
) -> Result<Found, ExpressionError> {
    let matcher = Matcher::new(&query.expression, trace, reader)?;
    let marks = Arc::new(Marks::new(trace));
    let mut search = Search {
        scan: Scan {
            trace,
            matcher: &matcher,
            query,
            job,
            marks: marks.clone(),
            covered: BitSet::default(),
            among: &Among::All,
        },
        found: Found::empty(trace.span, marks),
        rows: Vec::new(),
        publish,
        published: None,
    };
    search.scan.set_total();
    search.names();
    search.tables();
    search.rows.sort_by_key(|hit| hit.time);
    search.rows.truncate(query.limit);
    search.events();
    search.found.is_complete = !job.is_cancelled();
    if search.found.is_complete {
        search.scan.mark_what_they_made();
        if search.found.total() == 0 {
            search.found.unknown = unknown_event(&query.expression, trace)
                .or_else(|| unknown_field(&query.expression, trace, reader));
        }
    }
    Ok(search.snapshot())
}

struct Search<'a> {
    scan: Scan<'a>,
    /// The counts and marks of all results; its hits are those of raw events only.
    found: Found,
    /// Hits that are not raw events.
    rows: Vec<Hit>,
    publish: &'a mut dyn FnMut(Found),
    published: Option<Instant>,
}

impl Search<'_> {
    /// Searches processes, threads and tracks.
    fn names(&mut self) {
        let trace = self.scan.trace;
        let processes = (0..trace.processes.len() as u32).map(|id| Item::Process(ProcessId(id)));
        self.few(Place::Processes, processes);
        // Thread 0 is the idle thread of all CPUs and is not searched.
        let threads = (1..trace.threads.len() as u32).map(|id| Item::Thread(ThreadId(id)));
        self.few(Place::Threads, threads);
        // Tracks without a name of their own are found through their threads.
        let tracks = (0..trace.tracks.len() as u32)
            .filter(|&id| trace.tracks[id as usize].name != crate::base::StringId::EMPTY)
            .map(|id| Item::Track(TrackId(id)));
        let counters = trace.counters.tracks.iter().zip(0..);
        let counters = counters
            .filter(|(track, _)| !track.samples.is_empty())
            .map(|(track, id)| Item::Sample(CounterTrackId(id), track.samples.start));
        self.few(Place::Tracks, tracks.chain(counters));
        let gaps = (0..trace.gaps.len() as u32).map(|id| Item::Gap(GapId(id)));
        self.few(Place::Gaps, gaps);
        if Places::means_whole(&self.scan.query.expression) {
            let whole = WholeMarks::of(trace, self.rows.iter().map(|hit| hit.item));
            let _is_first = self.scan.marks.whole.set(whole);
        }
    }

    fn few(&mut self, place: Place, items: impl Iterator<Item = Item>) {
        if !self.scan.query.places.has(place) {
            return;
        }
        let mut probe = self.scan.matcher.probe();
        let hits: Vec<Hit> = items
            .filter(|item| self.scan.is_in_span(*item) && probe.is_match(*item))
            .map(|item| self.scan.hit(item))
            .collect();
        self.keep(place, hits);
    }

    /// Searches slices, states, runs, instants, flows and logs.
    fn tables(&mut self) {
        let trace = self.scan.trace;
        if self.scan.query.places.has(Place::Slices) && self.scan.query.places.has(Place::Events) {
            self.scan.covered = BitSet::new(trace.events.len());
        }
        self.table(Place::Slices, trace.slices.len(), |id| {
            Item::Slice(SliceId(id))
        });
        self.table(Place::States, trace.states.len(), |id| {
            Item::State(StateId(id))
        });
        self.table(Place::Runs, trace.runs.len(), |id| Item::Run(RunId(id)));
        self.table(Place::Instants, trace.instants.len(), |id| {
            Item::Instant(InstantId(id))
        });
        self.table(Place::Flows, trace.flows.rows.len(), |id| {
            Item::Flow(FlowId(id))
        });
        let logs = |id: u32| Item::Event(trace.logs.rows[id as usize].event);
        self.table(Place::Logs, trace.logs.rows.len(), logs);
    }

    fn table(&mut self, place: Place, count: usize, item: impl Fn(u32) -> Item + Sync) {
        if !self.scan.query.places.has(place) {
            return;
        }
        let count = count as u32;
        // Several steps, so that a long search shows results early.
        let step = CHUNK * 64;
        for from in (0..count.div_ceil(step)).map(|step_number| step_number * step) {
            let until = count.min(from.saturating_add(step));
            if self.scan.job.is_cancelled() {
                return;
            }
            let chunks = (from..until).step_by(CHUNK as usize).collect::<Vec<_>>();
            let scan = &self.scan;
            let hits: Vec<Vec<Hit>> = chunks
                .into_par_iter()
                .map(|first| scan.chunk(first..until.min(first + CHUNK), &item))
                .collect();
            self.keep(place, hits.concat());
            self.scan.job.advance(u64::from(until - from));
            self.publish_some();
        }
    }

    /// Searches raw events, window by window.
    fn events(&mut self) {
        if !self.scan.query.places.has(Place::Events) {
            return;
        }
        let windows = windows(self.scan.trace, self.scan.query.span);
        let mut hits: Vec<Hit> = Vec::new();
        // The first steps contain few windows, so that their hits appear soon.
        let mut step = rayon::current_num_threads().max(1);
        let mut done = 0;
        while let Some(some) = windows.get(done..).filter(|rest| !rest.is_empty()) {
            let some = some.get(..step).unwrap_or(some);
            if self.scan.job.is_cancelled() {
                break;
            }
            let scan = &self.scan;
            let scanned: Vec<Picked<Hit>> =
                some.par_iter().map(|window| scan.window(*window)).collect();
            for more in scanned {
                self.found.count(Place::Events, &more.found);
                let room = self.scan.query.limit.saturating_sub(hits.len());
                hits.extend(more.found.into_iter().take(room));
                self.scan.job.advance(more.of);
            }
            done += some.len();
            step = (step * 2).min(rayon::current_num_threads() * 4);
            std::mem::swap(&mut self.found.hits, &mut hits);
            self.publish_some();
            std::mem::swap(&mut self.found.hits, &mut hits);
        }
        self.found.hits = hits;
    }

    fn keep(&mut self, place: Place, hits: Vec<Hit>) {
        self.found.count(place, &hits);
        self.rows.extend(hits);
        // Memory stays bounded: the latest hits are dropped when the list is too long.
        if self.rows.len() > self.scan.query.limit.saturating_mul(2) {
            self.rows.sort_by_key(|hit| hit.time);
            self.rows.truncate(self.scan.query.limit);
        }
    }

    fn publish_some(&mut self) {
        let is_time = self
            .published
            .is_none_or(|last| last.elapsed() >= PUBLISH_EVERY);
        if is_time && self.found.total() > 0 {
            let snapshot = self.snapshot();
            (self.publish)(snapshot);
            self.published = Some(Instant::now());
        }
    }

    /// Returns the hits of rows and events together, sorted by time.
    fn snapshot(&self) -> Found {
        let mut all = self.found.clone();
        all.hits.extend_from_slice(&self.rows);
        // The list consists of two sorted parts, which the sort detects and merges.
        all.hits.sort_by_key(|hit| hit.time);
        all.hits.truncate(self.scan.query.limit);
        all
    }
}
