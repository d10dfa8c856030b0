//! The part of a search that all cores share: rows of a table in, the matching rows out.

use std::sync::Arc;

use rayon::prelude::*;

use super::bit_set::BitSet;
use super::found::{Hit, Marks};
use super::places::Place;
use super::query::Query;
use crate::base::{Job, TimeSpan, Timestamp};
use crate::query::Item;
use crate::query::expression::{Matcher, Verdict};
use crate::query::latency::Among;
use crate::trace::Segment;
use crate::trace::{EventId, Trace};

/// Number of rows that a thread examines at a time.
pub(super) const CHUNK: u32 = 1 << 14;
/// The greatest number of windows of time.
const MAX_WINDOWS: usize = 2048;

/// The input that all threads of a search share.
pub(super) struct Scan<'a> {
    pub trace: &'a Trace,
    pub matcher: &'a Matcher<'a>,
    pub query: &'a Query,
    pub job: &'a Job,
    pub marks: Arc<Marks>,
    /// The events that belong to found slices.
    pub covered: BitSet,
    /// The threads and CPUs whose events count.
    pub among: &'a Among,
}

/// The results among the events of a window.
pub(super) struct Picked<T> {
    pub found: Vec<T>,
    /// The number of events that were examined.
    pub of: u64,
}

impl<T> Default for Picked<T> {
    fn default() -> Picked<T> {
        Picked {
            found: Vec::new(),
            of: 0,
        }
    }
}

impl Scan<'_> {
    pub(crate) fn set_total(&self) {
        let trace = self.trace;
        let sizes = [
            (Place::Slices, trace.slices.len()),
            (Place::Instants, trace.instants.len()),
            (Place::Flows, trace.flows.rows.len()),
            (Place::Logs, trace.logs.rows.len()),
            (Place::States, trace.states.len()),
            (Place::Runs, trace.runs.len()),
            (Place::Events, trace.events.len()),
        ];
        let wanted = sizes
            .iter()
            .filter(|(place, _)| self.query.places.has(*place));
        self.job
            .set_total(wanted.map(|(_, count)| *count as u64).sum());
    }

    pub(crate) fn chunk(
        &self,
        rows: std::ops::Range<u32>,
        item: &(impl Fn(u32) -> Item + Sync),
    ) -> Vec<Hit> {
        let mut probe = self.matcher.probe();
        let mut hits = Vec::new();
        if self.job.is_cancelled() {
            return hits;
        }
        let slices = &self.trace.slices;
        for row in rows {
            let item = item(row);
            if let Item::Slice(_) = item
                && self.matcher.of_label(slices.label_ids.at(row as usize)) == Verdict::No
            {
                continue;
            }
            if !self.is_in_span(item) || !probe.is_match(item) {
                continue;
            }
            self.marks.set(item);
            if let Item::Slice(id) = item {
                self.covered.set(slices.begins.at(id.0 as usize));
                if let Some(finish) = slices.finish(id.0 as usize) {
                    self.covered.set(finish.0);
                }
            }
            hits.push(self.hit(item));
        }
        hits
    }

    pub(super) fn window(&self, span: TimeSpan) -> Picked<Hit> {
        let mut hits = Vec::new();
        let mut count = 0;
        if self.job.is_cancelled() {
            return Picked::default();
        }
        let mut probe = self.matcher.probe();
        for segment in self.trace.events.segments() {
            let Some(range) = range_of(segment, span) else {
                continue;
            };
            count += range.len() as u64;
            for index in range {
                let id = segment.first + index;
                let item = Item::Event(EventId(id));
                let is_match = match self.matcher.of_kind(segment.kind(index)) {
                    Verdict::No => false,
                    _ if self.covered.has(id) || !self.is_among(EventId(id)) => false,
                    Verdict::Yes => true,
                    Verdict::Ask => probe.is_match(item),
                };
                if is_match {
                    self.marks.events.set(id);
                    let time = segment.time(index);
                    hits.push((segment.order(index), Hit { time, item }));
                }
            }
        }
        hits.sort_by_key(|(order, _)| *order);
        Picked {
            found: hits.into_iter().map(|(_, hit)| hit).collect(),
            of: count,
        }
    }

    fn is_among(&self, id: EventId) -> bool {
        *self.among == Among::All
            || self
                .among
                .has(self.trace.events.thread(id), self.trace.cpu_of(id))
    }

    /// Marks the rows (runs, states, instants, slices) that were made from found events, because lanes draw these rows
    /// and not events.
    pub(crate) fn mark_what_they_made(&self) {
        let (trace, marks) = (self.trace, &self.marks);
        let made = [
            (&trace.runs.events, &marks.runs),
            (&trace.states.events, &marks.states),
        ];
        for (events, of_rows) in made {
            events.par_iter().enumerate().for_each(|(row, event)| {
                if event.get().is_some_and(|event| marks.events.has(event)) {
                    of_rows.set(row as u32);
                }
            });
        }
        let made = [
            (&trace.instants.events, &marks.instants),
            (&trace.slices.begins, &marks.slices),
        ];
        for (events, of_rows) in made {
            (0..events.len()).into_par_iter().for_each(|row| {
                if marks.events.has(events.at(row)) {
                    of_rows.set(row as u32);
                }
            });
        }
    }

    pub(crate) fn is_in_span(&self, item: Item) -> bool {
        let asked = self.query.span;
        if asked == TimeSpan::ALL {
            return true;
        }
        item.span(self.trace)
            .is_none_or(|span| asked.overlaps(span))
    }

    pub(crate) fn hit(&self, item: Item) -> Hit {
        let span = item.span(self.trace);
        Hit {
            time: span.map_or_else(|| self.first_time(item), |span| span.start),
            item,
        }
    }

    /// Returns the time of the first item on a track.
    fn first_time(&self, item: Item) -> Timestamp {
        let trace = self.trace;
        let Item::Track(id) = item else {
            return trace.span.start;
        };
        let track = &trace.tracks[id.0 as usize];
        let slices = trace.slices.rows_of(track).iter();
        let slices = slices.filter_map(|row| trace.slices.starts.get(row.slices.start as usize));
        let first = slices.min().map(Timestamp);
        first.unwrap_or(trace.span.start)
    }
}

/// Returns the events of a segment in a span; `None` if there can be none.
pub(super) fn range_of(segment: &Segment, span: TimeSpan) -> Option<std::ops::Range<u32>> {
    let (first, last) = (segment.first_time(), segment.last_time());
    if last < span.start || first >= span.end {
        return None;
    }
    Some(segment.lower_bound(span.start)..segment.lower_bound(span.end))
}

/// Returns time spans with about equally many events that cover `span`. The number of spans is small, because each span
/// is searched in all segments.
pub(super) fn windows(trace: &Trace, span: TimeSpan) -> Vec<TimeSpan> {
    let stride = (trace.events.len() / MAX_WINDOWS).max(CHUNK as usize);
    let mut marks: Vec<(Timestamp, usize)> = trace
        .events
        .segments()
        .iter()
        .flat_map(|segment| {
            let count = segment.columns.len();
            (0..count)
                .step_by(stride)
                .map(move |at| (segment.time(at as u32), stride.min(count - at)))
        })
        .filter(|(time, _)| *time > span.start && *time < span.end)
        .collect();
    marks.sort_unstable();
    let mut edges = vec![span.start];
    let mut since = 0;
    for (time, count) in marks {
        since += count;
        if since >= stride {
            edges.push(time);
            since = 0;
        }
    }
    edges.push(span.end);
    edges.dedup();
    edges
        .windows(2)
        .map(|pair| TimeSpan::new(pair[0], pair[1]))
        .collect()
}
