//! Which records of an FXT file are copied: those that nothing cuts, in the order of the events' table.
//!
//! What a whole selection in time says of an event is what its record says, as long as it lies inside of the range:
//! then no row of the model is gathered, sorted and encoded again. Instants, counter events and scheduling records are
//! copied wherever they are. Begins and ends are copied if their slice is written as a begin and an end, and
//! whole ones unless one starts with them on their track: which of those is around the others is told by the order
//! here, in files of ours as well. Flows are copied if nothing else is to be said of them. What was left over by pairing becomes a point. All
//! else (what the range cuts, blobs, objects, logs) is written from the model's rows, at its place among the copies.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::forms::Form;
use super::indices::MOST_BYTES;
use super::item::{Item, SliceFacts};
use super::items::{Items, Scheduling};
use super::lanes::{Lane, Stretch};
use super::slice_items::SliceLane;
use crate::base::TimeSpan;
use crate::base::time_order::Sorter;
use crate::event::{Role, ThreadKey};
use crate::export::Chosen;
use crate::formats::fxt::FxtSource;
use crate::trace::{EventCursor, EventId, ProcessId, Trace, TrackKind};

/// Types of event records, as the format numbers them.
mod event_type {
    pub const INSTANT: u64 = 0;
    pub const END: u64 = 3;
    pub const ASYNC_INSTANT: u64 = 6;
    pub const ASYNC_END: u64 = 7;
}

/// If more than one of so many events is not copied, none is.
const LEAST_SHARE: usize = 8;
/// So many may be written otherwise in any case.
const FEW: usize = 4096;

/// A set of events that is made by several threads.
#[derive(Debug)]
struct Events(Vec<AtomicU64>);

impl Events {
    fn new(count: usize) -> Events {
        let words = count.div_ceil(64);
        Events((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    fn add(&self, event: u32) {
        if let Some(word) = self.0.get(event as usize / 64) {
            word.fetch_or(1 << (event % 64), Ordering::Relaxed);
        }
    }

    #[inline]
    fn has(&self, event: u32) -> bool {
        let word = self.0.get(event as usize / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (event % 64) & 1 == 1)
    }
}

/// What of a file is copied.
#[derive(Debug)]
pub struct Copies {
    /// Begins, ends and whole slices that are copied, and marks of flows.
    told: Events,
    /// Ends that end nothing: points.
    points: Events,
    /// Whether switches and wakeups are copied.
    pub has_scheduling: bool,
}

/// An event whose record may be copied.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// When.
    pub time: i64,
    /// Where its record is.
    pub place: u64,
    /// It.
    pub event: u32,
    /// Whose.
    pub key: ThreadKey,
}

/// The events of a window in their order, and the room to gather and sort the next one's.
#[derive(Debug, Default)]
pub struct CopyList {
    gathered: Vec<Copy>,
    times: Vec<i64>,
    sorter: Sorter,
    /// They.
    pub list: Vec<Copy>,
}

/// Whether records of a trace can be copied for a selection.
pub fn can_copy(trace: &Trace, chosen: &Chosen<'_>, fxt: &FxtSource<'_>) -> bool {
    let is_own = |segment: &crate::trace::Segment| segment.origin.is_none();
    fxt.has_records()
        && fxt.size_bytes() <= MOST_BYTES
        && !chosen.is_narrowed()
        && trace.events.segments().iter().all(is_own)
}

impl Copies {
    /// Whether the record of a slice or flow is copied.
    #[inline]
    pub fn has(&self, event: u32) -> bool {
        self.told.has(event)
    }

    /// Whether an end becomes a point.
    #[inline]
    pub fn has_point(&self, event: u32) -> bool {
        self.points.has(event)
    }

    /// The events of a time span.
    pub fn fill(trace: &Trace, span: TimeSpan, room: &mut CopyList) {
        let list = &mut room.list;
        list.clear();
        let (mut is_sorted, mut last) = (true, i64::MIN);
        for segment in trace.events.segments() {
            let (first_time, last_time) = segment.ends();
            if last_time < span.start || first_time >= span.end {
                continue;
            }
            let columns = &*segment.columns;
            let range = segment.lower_bound(span.start)..segment.lower_bound(span.end);
            list.reserve(range.len());
            let from = list.len();
            columns.visit(range, |index, time, place| {
                list.push(Copy {
                    time,
                    place,
                    event: segment.first + index,
                    key: columns.thread(index),
                });
            });
            is_sorted &= list.get(from).is_none_or(|copy| copy.time >= last);
            last = list.last().map_or(last, |copy| copy.time.max(last));
        }
        if !is_sorted {
            room.sort();
        }
    }

    /// About how many events a time span has, and every so many-th of their times.
    pub fn sample(trace: &Trace, span: TimeSpan, every: usize) -> (u64, Vec<i64>) {
        let (mut count, mut times) = (0, Vec::new());
        for segment in trace.events.segments() {
            let range = segment.lower_bound(span.start)..segment.lower_bound(span.end);
            count += range.len() as u64;
            times.extend(range.step_by(every).map(|index| segment.time(index).0));
        }
        (count, times)
    }
}

impl CopyList {
    /// Puts events of several parts of the file into one order; of one time the earlier part's come first.
    fn sort(&mut self) {
        std::mem::swap(&mut self.list, &mut self.gathered);
        self.times.clear();
        self.times
            .extend(self.gathered.iter().map(|copy| copy.time));
        self.list.clear();
        let times = || self.times.iter().copied();
        let (Some(first), Some(last)) = (times().min(), times().max()) else {
            return;
        };
        let (gathered, list) = (&self.gathered, &mut self.list);
        let sorter = &mut self.sorter;
        sorter.visit_in_order(&self.times, (first, last), |number, _| {
            list.extend(gathered.get(number));
        });
    }
}

/// How lanes are gone through for what is copied.
struct Sieve<'a> {
    copies: Copies,
    fxt: FxtSource<'a>,
    /// By kind: whether its events are points and their records instants.
    is_instant: Vec<bool>,
    /// How many items were found that are not copied, and how many may be.
    others: AtomicUsize,
    most: usize,
}

impl Sieve<'_> {
    fn is_full(&self, list: &[Item]) -> bool {
        list.len() > self.most
    }
}

impl Items<'_> {
    /// Finds what is copied. `lanes` keeps what is not; answers the items of the others that are not copied.
    pub(super) fn choose_copies(
        &mut self,
        fxt: FxtSource<'_>,
        scheduling: Scheduling,
        lanes: &mut Vec<Lane>,
    ) -> Vec<Item> {
        let trace = self.trace;
        let count = trace.events.len();
        let copies = Copies {
            told: Events::new(count),
            points: Events::new(count),
            has_scheduling: scheduling == Scheduling::AsItStands,
        };
        // Kinds of what has an own sort of record, unless somebody called instants so.
        let others = ["log", "module", "mmap", "backtrace"];
        let is_instant = |(number, kind): (usize, &crate::event::EventKind)| {
            let name = trace.kind_name(crate::event::KindId(number as u16));
            kind.role == Role::Instant && !fxt.has_odd_points() && !others.contains(&&*name)
        };
        let sieve = Sieve {
            copies,
            fxt,
            is_instant: trace.kinds.iter().enumerate().map(is_instant).collect(),
            others: AtomicUsize::new(0),
            most: FEW + count / LEAST_SHARE,
        };
        let (copied, kept): (Vec<Lane>, Vec<Lane>) = lanes.iter().partition(|lane| match lane {
            Lane::Slices { form, .. } => *form != Form::Whole,
            Lane::Instants { .. } | Lane::Samples { .. } | Lane::Flows => true,
            _ => false,
        });
        let found: Vec<Item> = copied
            .par_iter()
            .fold(Vec::new, |mut list, lane| {
                self.sift(*lane, &sieve, &mut list);
                list
            })
            .flatten_iter()
            .collect();
        if sieve.others.into_inner() > sieve.most {
            return Vec::new();
        }
        *lanes = kept;
        self.copies = Some(sieve.copies);
        found
    }

    fn sift(&self, lane: Lane, sieve: &Sieve<'_>, list: &mut Vec<Item>) {
        if sieve.others.load(Ordering::Relaxed) > sieve.most {
            return;
        }
        let before = list.len();
        let stretch = lane.stretch(&self.rows(), self.chosen.span);
        match lane {
            Lane::Slices { row, form } => self.sift_slices((row, form), &stretch, sieve, list),
            Lane::Instants { track } => self.sift_points(track, &stretch, sieve, list),
            Lane::Flows => self.sift_flows(sieve, list),
            _ => {}
        }
        let found = list.len() - before;
        sieve.others.fetch_add(found, Ordering::Relaxed);
    }

    fn sift_slices(
        &self,
        (row, form): (u32, Form),
        stretch: &Stretch,
        sieve: &Sieve<'_>,
        list: &mut Vec<Item>,
    ) {
        let trace = self.trace;
        let lane = self.slice_lane(row, form);
        let (first, span) = (lane.first, self.chosen.span);
        let told = &sieve.copies.told;
        let threads = Threads::of(trace, lane.track);
        let may_die = threads.may_die(lane.track);
        let mut before = i64::MIN;
        for index in stretch.starts_from(first) {
            if sieve.is_full(list) {
                return;
            }
            if let Some((start, begin, finish)) = self.plain_slice(index, before, (form, may_die))
                && threads.are(begin)
                && (finish == u32::MAX || threads.are(finish))
            {
                told.add(begin);
                if finish != u32::MAX {
                    told.add(finish);
                }
                before = start;
                continue;
            }
            let (start, facts) = SliceFacts::of(trace, index);
            let slice = (index, (start, facts));
            let is_whole = form == Form::AsCame && self.begins.is_whole_as(trace, slice, form);
            let is_cut = match facts.end {
                i64::MAX => self.chosen.ends_before_trace(),
                end => end > span.end.0,
            };
            let is_copied = !is_cut
                && (!is_whole || !may_die && self.is_whole_record(slice, before))
                && threads.are(facts.begin);
            match is_copied {
                true => told.add(facts.begin),
                false => list.push(self.start_item(&lane, slice)),
            }
            before = start;
            if facts.end < span.end.0 && !is_whole {
                self.sift_end(&lane, slice, (&threads, told), list);
            }
        }
        // What began before the range: it is around all that starts there, so it is the first that ends.
        let ends = stretch.ends_from(first);
        let starts = stretch.starts_from(first).start;
        for index in ends.take_while(|&index| index < starts) {
            let slice = (index, SliceFacts::of(trace, index));
            if self.has_own_end(slice, form) {
                self.sift_end(&lane, slice, (&threads, told), list);
            }
        }
    }

    /// A slice that begins and ends in the range by events of its own, or arrived whole: when it starts, and the events.
    /// See [`is_whole_record`](Self::is_whole_record) for `before`.
    #[inline]
    fn plain_slice(
        &self,
        index: usize,
        before: i64,
        (form, may_die): (Form, bool),
    ) -> Option<(i64, u32, u32)> {
        let slices = &self.trace.slices;
        let (start, begin) = (slices.starts.at(index), slices.begins.at(index));
        let end = slices.ends.get(index, start);
        let finish = slices.finishes.get(index, begin);
        let is_plain = match finish {
            u32::MAX => {
                let is_alone = || self.is_alone((index, start), end, before);
                form == Form::AsCame && !may_die && (self.is_nested_as_read || is_alone())
            }
            _ => start != end && slices.measured(index).is_none(),
        };
        (is_plain && end < self.chosen.span.end.0).then_some((start, begin, finish))
    }

    fn sift_end(
        &self,
        lane: &SliceLane,
        slice: (usize, (i64, SliceFacts)),
        (threads, told): (&Threads<'_>, &Events),
        list: &mut Vec<Item>,
    ) {
        let finish = slice.1.1.finish;
        match finish != u32::MAX && threads.are(finish) {
            true => told.add(finish),
            false => list.push(self.end_item(lane, slice)),
        }
    }

    /// Whether a slice that is written whole is so in its file, and nothing starts with it on its track, unless the order
    /// of the file is ours. `before` is when the one before it started in its row.
    fn is_whole_record(
        &self,
        (index, (start, facts)): (usize, (i64, SliceFacts)),
        before: i64,
    ) -> bool {
        // What began and ended by events of its own is written whole to lie in another one that starts with it.
        let is_alone = || self.is_alone((index, start), facts.end, before);
        facts.finish == u32::MAX && (self.is_nested_as_read || is_alone())
    }

    /// Whether nothing starts with a slice on its track.
    #[inline]
    fn is_alone(&self, (index, start): (usize, i64), end: i64, before: i64) -> bool {
        let slices = &self.trace.slices;
        let starts_then = |other: usize| slices.starts.get(other) == Some(start);
        let parent = slices.parents.at(index) as usize;
        let is_tied = before == start
            || starts_then(parent)
            || end == start && starts_then(index + 1)
            || self.begins.starts_with_another(index as u32);
        !is_tied
    }

    /// The marks of flows: those that are not copied.
    fn sift_flows(&self, sieve: &Sieve<'_>, list: &mut Vec<Item>) {
        let trace = self.trace;
        let events = trace.events.cursor();
        // One event may be a mark of several flows.
        let (seen, several) = (
            Events::new(trace.events.len()),
            Events::new(trace.events.len()),
        );
        for mark in self.flows {
            match seen.has(mark.event.0) {
                true => several.add(mark.event.0),
                false => seen.add(mark.event.0),
            }
        }
        for (index, mark) in self.flows.iter().enumerate() {
            let event = mark.event.0;
            let stands = || {
                let record = sieve.fxt.flow(events.place(mark.event));
                let kind = trace.kinds.get(usize::from(events.kind(mark.event).0));
                let is_named = |name| kind.is_some_and(|kind| kind.name == name);
                record.is_some_and(|(op, id)| mark.sort == op.into() && mark.id == id)
                    && mark.name.is_none_or(is_named)
                    && mark.thread == events.thread(mark.event)
            };
            let is_plain = !mark.is_moved
                && mark.really_in.is_none()
                && mark.order == event
                && !several.has(event);
            match is_plain && stands() {
                true => sieve.copies.told.add(event),
                false => list.push(self.flow_item(index)),
            }
        }
    }

    fn sift_points(&self, track: u32, stretch: &Stretch, sieve: &Sieve<'_>, list: &mut Vec<Item>) {
        let trace = self.trace;
        let kind_of = trace.events.cursor();
        let is_async = matches!(trace.tracks[track as usize].kind, TrackKind::Async(_));
        let first = trace.tracks[track as usize].instants.start as usize;
        for index in stretch.starts.clone() {
            if sieve.is_full(list) {
                return;
            }
            let event = trace.instants.events.at(first + index);
            let kind = usize::from(kind_of.kind(EventId(event)).0);
            if sieve.is_instant.get(kind) == Some(&true) {
                continue;
            }
            match sieve.fxt.event_type(kind_of.place(EventId(event))) {
                Some(event_type::INSTANT | event_type::ASYNC_INSTANT) => {}
                Some(event_type::END) if !is_async => sieve.copies.points.add(event),
                Some(event_type::ASYNC_END) if is_async => sieve.copies.points.add(event),
                _ => list.extend(self.point_item(track, event)),
            }
        }
    }
}

/// Which threads may have done what lies on a track: on those of processes, threads of the process.
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

    /// Whether the end of their life ends their slices.
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

    /// Whether one of them did this. On a thread's own track it is always that thread.
    #[inline]
    fn are(&self, event: u32) -> bool {
        self.process.is_none_or(|process| {
            let thread = self.events.thread(EventId(event));
            self.trace.thread(thread).process == process
        })
    }
}
