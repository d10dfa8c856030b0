//! Decides which records of an FXT file are kept: those that are chosen and not cut by the range.
//!
//! An event wholly inside the range is exported as its original record, byte for byte. Instants, counter events, logs,
//! attachments and scheduling records inside the range are always kept. A begin and an end are kept if their slice is
//! written as a begin and an end. A whole slice is kept unless another slice starts with it on its track: the order in
//! the copy decides which of them is the outer one. Flows are kept if their record needs no change. Ends that match no
//! begin become points. Everything else is an item, which the encoder writes.
//!
//! If only some threads, tracks, counters or CPUs are chosen, only the records of their points, samples and logs are
//! kept. A counter event with some chosen values is an item for each of these values. Context switches and wakeups are
//! items, because each may name a thread that is left out.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::file::{FlowRecord, FxtFile};
use crate::base::Maybe;
use crate::event::Role;
use crate::export::fxt::forms::Form;
use crate::export::fxt::item::{Item, SliceAt, What};
use crate::export::fxt::items::Items;
use crate::export::fxt::lanes::{Lane, Stretch};
use crate::export::fxt::records::EventType;
use crate::export::fxt::slice_items::SliceLane;
use crate::fxt::layout::event;
use crate::trace::{
    CounterTrackId, EventCursor, EventId, ProcessId, ThreadId, Trace, TrackId, TrackKind,
};

/// A set of numbers that several threads fill.
#[derive(Debug)]
pub(super) struct Marks(Vec<AtomicU64>);

impl Marks {
    /// Returns an empty set for numbers below `count`.
    pub(super) fn new(count: usize) -> Marks {
        let words = count.div_ceil(64);
        Marks((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn add(&self, number: usize) {
        if let Some(word) = self.0.get(number / 64) {
            word.fetch_or(1 << (number % 64), Ordering::Relaxed);
        }
    }

    /// Removes a number.
    pub(crate) fn remove(&self, number: usize) {
        if let Some(word) = self.0.get(number / 64) {
            word.fetch_and(!(1 << (number % 64)), Ordering::Relaxed);
        }
    }

    /// Returns whether the set contains a number.
    #[inline]
    pub(super) fn has(&self, number: usize) -> bool {
        let word = self.0.get(number / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (number % 64) & 1 == 1)
    }
}

/// The records of a file that are kept, by event.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Begins, ends and whole slices, and marks of flows.
    of_slices: Marks,
    /// Ends that match no begin: they become points.
    points: Marks,
    /// Instants, counter events, logs and attachments that are kept if only some are chosen. `None`: all in the range
    /// are kept.
    chosen: Option<Marks>,
}

impl Kept {
    /// Keeps the record of an event that belongs to no slice and no flow.
    pub(crate) fn keep(&self, event: u32) {
        if let Some(chosen) = &self.chosen {
            chosen.add(event as usize);
        }
    }

    /// Returns whether the record of an event that belongs to no slice and no flow is kept.
    #[inline]
    pub(crate) fn has_record(&self, event: u32) -> bool {
        match &self.chosen {
            Some(chosen) => chosen.has(event as usize),
            None => true,
        }
    }

    /// Returns the type with which an event's record is kept; `None` if it is left out or an item replaces it.
    #[inline]
    pub(crate) fn becomes(&self, kind: u64, event: u32) -> Option<EventType> {
        let event = event as usize;
        let of_slice =
            |own: EventType, left_over: Option<EventType>| match self.of_slices.has(event) {
                true => Some(own),
                false => left_over.filter(|_| self.points.has(event)),
            };
        let of_record = |own: EventType| self.has_record(event as u32).then_some(own);
        match kind {
            event::INSTANT => of_record(EventType::Instant),
            event::COUNTER => of_record(EventType::Counter),
            event::BEGIN => of_slice(EventType::Begin, None),
            event::END => of_slice(EventType::End, Some(EventType::Instant)),
            event::COMPLETE => of_slice(EventType::Complete, None),
            event::ASYNC_BEGIN => of_slice(EventType::AsyncBegin, None),
            event::ASYNC_INSTANT => of_record(EventType::AsyncInstant),
            event::ASYNC_END => of_slice(EventType::AsyncEnd, Some(EventType::AsyncInstant)),
            event::FLOW_BEGIN => of_slice(EventType::FlowBegin, None),
            event::FLOW_STEP => of_slice(EventType::FlowStep, None),
            event::FLOW_END => of_slice(EventType::FlowEnd, None),
            _ => None,
        }
    }
}

/// The state of a walk over lanes that finds the kept records.
struct Sieve<'a> {
    kept: Kept,
    file: FxtFile<'a>,
    /// By kind: whether its events are points and their records instants.
    is_instant: Vec<bool>,
}

/// The kept records, and the items that are written besides them.
pub(in crate::export::fxt) struct Choice {
    /// The kept records.
    pub kept: Kept,
    /// Items of the lanes that were examined whose records are not kept.
    pub items: Vec<Item>,
    /// The lanes that were not examined.
    pub lanes: Vec<Lane>,
}

impl Items<'_> {
    /// Finds the kept records.
    pub(in crate::export::fxt) fn choose_kept(
        &self,
        file: FxtFile<'_>,
        lanes: Vec<Lane>,
    ) -> Choice {
        let trace = self.trace;
        let count = trace.events.len();
        let sieve = Sieve {
            kept: Kept {
                of_slices: Marks::new(count),
                points: Marks::new(count),
                chosen: self.chosen.is_narrowed().then(|| Marks::new(count)),
            },
            file,
            is_instant: (trace.kinds.iter())
                .map(|kind| matches!(kind.role, Role::Instant | Role::Log))
                .collect(),
        };
        let (sifted, others): (Vec<Lane>, Vec<Lane>) =
            lanes.into_iter().partition(|lane| match lane {
                Lane::Slices { form, .. } => *form != Form::Whole,
                Lane::Instants { .. } | Lane::Samples { .. } | Lane::Flows => true,
                _ => false,
            });
        if self.chosen.is_narrowed() {
            let (logs, span) = (&trace.logs.rows, self.chosen.span);
            let inside = logs.iter().filter(|log| span.contains(log.time));
            for log in inside.filter(|log| self.chosen.has_log(log)) {
                sieve.kept.keep(log.event.0);
            }
            self.keep_wakeups_of_ready(&sieve);
        }
        let found = sifted.par_iter().fold(Vec::new, |mut list, lane| {
            self.sift(*lane, &sieve, &mut list);
            list
        });
        Choice {
            items: found.flatten_iter().collect(),
            kept: sieve.kept,
            lanes: others,
        }
    }

    /// Keeps the chosen wakeups that changed nothing: no state begins with them, so they are not among the items.
    fn keep_wakeups_of_ready(&self, sieve: &Sieve<'_>) {
        let trace = self.trace;
        let kinds = trace.kinds.iter();
        let is_consumed: Vec<bool> = kinds.map(|kind| kind.role == Role::Consumed).collect();
        let begun = Marks::new(trace.events.len());
        for event in trace.states.events.iter().filter_map(|event| event.get()) {
            begun.add(event as usize);
        }
        // If several threads have one number, only one of them was scheduled: the wakeup belongs to it.
        let has_states = |id: &u32| !trace.states.of(ThreadId(*id)).is_empty();
        let ids = 1..trace.threads.len() as u32;
        let others = ids.clone().filter(|id| !has_states(id));
        let threads: FxHashMap<u64, ThreadId> = others
            .chain(ids.filter(has_states))
            .map(|id| (trace.thread(ThreadId(id)).tid, ThreadId(id)))
            .collect();
        let is_chosen = |id: u32, place: u64| {
            let thread = sieve.file.woken(place).and_then(|koid| threads.get(&koid));
            let is_here = || {
                let cpu = self.cpus.cpu(EventId(id));
                cpu.is_none_or(|cpu| self.chosen.has_runs_of(cpu))
            };
            thread.is_some_and(|&thread| self.chosen.has_states_of(thread))
                && (!self.chosen.limits_cpus() || is_here())
        };
        let span = self.chosen.span;
        trace.events.segments().par_iter().for_each(|segment| {
            let range = segment.lower_bound(span.start)..segment.lower_bound(span.end);
            segment.columns.visit(range, |index, _, place| {
                let kind = segment.kind(index).index();
                let id = segment.first + index;
                if is_consumed.get(kind) == Some(&true)
                    && !begun.has(id as usize)
                    && is_chosen(id, place)
                {
                    sieve.kept.keep(id);
                }
            });
        });
    }

    fn sift(&self, lane: Lane, sieve: &Sieve<'_>, list: &mut Vec<Item>) {
        let stretch = lane.stretch(&self.rows(), self.chosen.span);
        match lane {
            Lane::Slices { row, form } => self.sift_slices(row, form, &stretch, sieve, list),
            Lane::Instants { track } => self.sift_points(track, &stretch, sieve),
            Lane::Samples { track } => self.sift_samples(track, &stretch, sieve, list),
            Lane::Flows => self.sift_flows(sieve, list),
            _ => {}
        }
    }

    fn sift_slices(
        &self,
        row: u32,
        form: Form,
        stretch: &Stretch,
        sieve: &Sieve<'_>,
        list: &mut Vec<Item>,
    ) {
        let trace = self.trace;
        let lane = self.slice_lane(row, form);
        let (first, span) = (lane.first, self.chosen.span);
        let of_slices = &sieve.kept.of_slices;
        let threads = Threads::of(trace, lane.track);
        let may_die = threads.may_die(lane.track);
        let sieved = SievedTrack {
            threads: &threads,
            of_slices,
        };
        let mut before = i64::MIN;
        let is_chosen = self.chooses_slices(lane.track);
        for index in stretch.starts_from(first).filter(is_chosen) {
            let whole = match form == Form::AsCame && !may_die {
                true => Wholes::Copied,
                false => Wholes::Anew,
            };
            if let Some(plain) = self.plain_slice(index, before, whole)
                && threads.are(plain.begin)
                && plain.finish.is_none_or(|finish| threads.are(finish))
            {
                of_slices.add(plain.begin as usize);
                if let Some(finish) = plain.finish {
                    of_slices.add(finish as usize);
                }
                before = plain.start;
                continue;
            }
            let slice = SliceAt::of(trace, index);
            let facts = &slice.facts;
            let is_whole = form == Form::AsCame && self.begins.is_whole_as(trace, &slice, form);
            let is_cut = match facts.end.get() {
                None => self.chosen.ends_before_trace(),
                Some(end) => end > span.end.0,
            };
            let is_copied = !is_cut
                && (!is_whole || !may_die && self.is_whole_record(&slice, before))
                && threads.are(facts.begin);
            match is_copied {
                true => of_slices.add(facts.begin as usize),
                false => list.push(self.start_item(&lane, &slice)),
            }
            before = slice.start;
            if facts.end < span.end.0 && !is_whole {
                self.sift_end(&lane, &slice, &sieved, list);
            }
        }
        // A slice that began before the range is around all slices that start there, so it is the first that ends.
        let ends = stretch.ends_from(first);
        let starts = stretch.starts_from(first).start;
        for index in ends.take_while(|&index| index < starts).filter(is_chosen) {
            let slice = SliceAt::of(trace, index);
            if self.has_own_end(&slice, form) {
                self.sift_end(&lane, &slice, &sieved, list);
            }
        }
    }

    /// Returns the start and the events of a slice that begins and ends in the range by events of its own, or that is
    /// one whole record. `before`: see [`is_whole_record`](Self::is_whole_record).
    #[inline]
    fn plain_slice(&self, index: usize, before: i64, wholes: Wholes) -> Option<PlainSlice> {
        let slices = &self.trace.slices;
        let (start, begin) = (slices.starts.at(index), slices.begins.at(index));
        let end = slices.ends.get(index, start);
        let finish = slices.finishes.get(index, begin).get();
        let is_plain = match finish {
            None => {
                let is_alone = || self.is_alone(index, TimesOf { start, end, before });
                wholes == Wholes::Copied && (self.is_nested_as_read() || is_alone())
            }
            Some(_) => end != start && slices.measured(index).is_none(),
        };
        (is_plain && end < self.chosen.span.end.0).then_some(PlainSlice {
            start,
            begin,
            finish,
        })
    }

    fn sift_end(
        &self,
        lane: &SliceLane,
        slice: &SliceAt,
        sieved: &SievedTrack<'_>,
        list: &mut Vec<Item>,
    ) {
        let finish = slice.facts.finish.get();
        match finish.filter(|&finish| sieved.threads.are(finish)) {
            Some(finish) => sieved.of_slices.add(finish as usize),
            None => list.push(self.end_item(lane, slice)),
        }
    }

    /// Returns whether a whole slice is one record in its file, and either no other slice starts with it on its track,
    /// or the file has our order. `before` is the start of the previous slice of its row, in ns.
    fn is_whole_record(&self, slice: &SliceAt, before: i64) -> bool {
        let (start, end) = (slice.start, slice.facts.end);
        // A slice with a begin and an end of its own is written whole if it is nested in a slice that starts with it.
        let is_alone = || self.is_alone(slice.row, TimesOf { start, end, before });
        slice.facts.finish.is_none() && (self.is_nested_as_read() || is_alone())
    }

    /// Returns whether no other slice on its track starts at the same time.
    #[inline]
    fn is_alone(&self, index: usize, times: TimesOf) -> bool {
        let TimesOf { start, end, before } = times;
        let slices = &self.trace.slices;
        let starts_then = |other: usize| slices.starts.get(other) == Some(start);
        let parent = slices.parent(index);
        let is_tied = before == start
            || parent.is_some_and(|parent| starts_then(parent.0 as usize))
            || end == start && starts_then(index + 1)
            || self.begins.starts_with_another(index as u32);
        !is_tied
    }

    /// Returns whether an item is a whole slice, and no other slice on its track starts at the same time.
    pub(crate) fn is_alone_whole(&self, item: &Item) -> bool {
        if item.what != What::Whole || item.time <= self.chosen.span.start.0 {
            return false;
        }
        let starts = &self.trace.slices.starts;
        let index = item.row as usize;
        let before = index
            .checked_sub(1)
            .map_or(i64::MIN, |before| starts.at(before));
        let times = TimesOf {
            start: item.time,
            end: item.slice.end,
            before,
        };
        self.is_alone(index, times)
    }

    /// Adds items for the marks of flows that are not copied.
    fn sift_flows(&self, sieve: &Sieve<'_>, list: &mut Vec<Item>) {
        let trace = self.trace;
        let events = trace.events.cursor();
        // One event may be a mark of several flows.
        let (seen, several) = (
            Marks::new(trace.events.len()),
            Marks::new(trace.events.len()),
        );
        for mark in self.flows {
            match seen.has(mark.event.0 as usize) {
                true => several.add(mark.event.0 as usize),
                false => seen.add(mark.event.0 as usize),
            }
        }
        for (index, mark) in self.flows.iter().enumerate() {
            let event = mark.event.0;
            let stands = || {
                let record = sieve.file.flow(events.place(mark.event));
                let kind = trace.kinds.get(events.kind(mark.event).index());
                let is_named = |name| kind.is_some_and(|kind| kind.name == name);
                record.is_some_and(|FlowRecord { op, id }| mark.sort == op.into() && mark.id == id)
                    && mark.name.is_none_or(is_named)
                    && mark.thread == events.thread(mark.event)
            };
            let is_plain = !mark.is_moved
                && mark.really_in.is_none()
                && mark.order == event
                && !several.has(event as usize);
            match is_plain && stands() {
                true => sieve.kept.of_slices.add(event as usize),
                false => list.push(self.flow_item(index)),
            }
        }
    }

    fn sift_points(&self, track: u32, stretch: &Stretch, sieve: &Sieve<'_>) {
        let trace = self.trace;
        let kind_of = trace.events.cursor();
        let is_async = matches!(trace.tracks[track as usize].kind, TrackKind::Async(_));
        let first = trace.tracks[track as usize].instants.start as usize;
        for index in stretch.starts.clone() {
            let event = trace.instants.events.at(first + index);
            if let Some(chosen) = &sieve.kept.chosen {
                if !self.chosen.has_point(TrackId(track), EventId(event)) {
                    continue;
                }
                // A log is chosen with its thread, because it is also a point of that thread.
                chosen.add(event as usize);
            }
            let kind = kind_of.kind(EventId(event)).index();
            if sieve.is_instant.get(kind) == Some(&true) {
                continue;
            }
            match sieve.file.event_type(kind_of.place(EventId(event))) {
                Some(event::END) if !is_async => sieve.kept.points.add(event as usize),
                Some(event::ASYNC_END) if is_async => sieve.kept.points.add(event as usize),
                _ => {}
            }
        }
    }
}

impl Items<'_> {
    /// Sifts the samples of a counter if only some counters are chosen: a sample whose event has values that are left
    /// out becomes an item.
    fn sift_samples(&self, track: u32, stretch: &Stretch, sieve: &Sieve<'_>, list: &mut Vec<Item>) {
        let (trace, id) = (self.trace, CounterTrackId(track));
        let Some(kept) = &sieve.kept.chosen else {
            return;
        };
        let counters = &trace.counters;
        let first = counters.tracks[track as usize].samples.start as usize;
        let events = trace.events.cursor();
        for row in stretch.starts_from(first) {
            if !self.chosen.has_sample(id, row as u32) {
                continue;
            }
            let event = counters.events[row];
            let has_all_values = |event: u32| {
                self.has_all_counters || self.chosen.has_thread(events.thread(EventId(event)))
            };
            match has_all_values(event) {
                true => kept.add(event as usize),
                false => list.push(self.sample_item(track, row)),
            }
        }
    }
}

/// How slices that are a single record are exported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wholes {
    /// The slices' records are copied.
    Copied,
    /// The slices are written as new records.
    Anew,
}

/// A slice that is copied with its events.
struct PlainSlice {
    start: i64,
    begin: u32,
    finish: Option<u32>,
}

/// The times of a slice in ns.
#[derive(Clone, Copy)]
struct TimesOf {
    start: i64,
    end: Maybe<i64>,
    /// The start of the slice before it in its row.
    before: i64,
}

/// The data of a track that [`Items::sift_end`] needs.
struct SievedTrack<'a> {
    threads: &'a Threads<'a>,
    /// The events whose records begin or end slices, or are whole slices.
    of_slices: &'a Marks,
}

/// The threads whose events may be on a track: on the track of a process, the threads of the process.
struct Threads<'a> {
    events: EventCursor<'a>,
    trace: &'a Trace,
    process: Option<Option<ProcessId>>,
}

impl<'a> Threads<'a> {
    fn of(trace: &'a Trace, track: u32) -> Threads<'a> {
        let process = match trace.tracks.get(track as usize).map(|track| track.kind) {
            Some(TrackKind::Async(process)) => Some(process),
            _ => None,
        };
        Threads {
            events: trace.events.cursor(),
            trace,
            process,
        }
    }

    /// Returns whether slices of the track may end because their thread ends.
    fn may_die(&self, track: u32) -> bool {
        match self
            .trace
            .tracks
            .get(track as usize)
            .map(|track| track.kind)
        {
            Some(TrackKind::Thread(thread)) => self.trace.thread(thread).end.is_some(),
            _ => false,
        }
    }

    /// Returns whether one of the threads wrote an event. On a thread's own track it is always that thread.
    #[inline]
    fn are(&self, event: u32) -> bool {
        self.process.is_none_or(|process| {
            let thread = self.events.thread(EventId(event));
            self.trace.thread(thread).process == process
        })
    }
}
