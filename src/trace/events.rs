//! All raw events: segments of columns as the lanes gave them, and their common order in time.
//!
//! An [`EventId`] numbers events segment by segment, so it stays small and needs no table. The order in
//! time over all lanes is never stored: the n-th event is found by a search over the lanes' own orders.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use super::entities::{ThreadId, ThreadMap};
use crate::base::{Nanos, Timestamp};
use crate::event::KindId;
use crate::event::columns::{EventBlock, EventColumns, EventRow};

/// Number of an event in one `Trace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

/// The events of one part of the file.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// The reader's part.
    pub part: u32,
    /// The reader's lane.
    pub lane: u32,
    /// The index of the lane's CPU in the trace, if it has one.
    pub cpu: Option<u32>,
    /// The id of its first event.
    pub first: u32,
    /// What turns the columns' times, kinds and keys into the trace's, where several files share one axis.
    pub origin: Option<Arc<Origin>>,
    /// The events, sorted by time; shared by all traces that they are part of.
    pub columns: Arc<EventColumns>,
}

/// How the columns of one of several files are read in the trace that joins them.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Added to the columns' times.
    pub shift: Nanos,
    /// Added to the CPU indices of events that have one of their own.
    pub first_cpu: u32,
    /// The trace's kind for each of the file's.
    pub kinds: Vec<KindId>,
    /// The trace's threads by the file's keys.
    pub threads: ThreadMap,
}

impl Segment {
    /// When event `index` of this segment happened. Panics if there is no such event, as slices do.
    #[inline]
    #[must_use]
    pub fn time(&self, index: u32) -> Timestamp {
        let time = self.columns.time(index);
        match &self.origin {
            None => time,
            Some(origin) => time.saturating_add(origin.shift),
        }
    }

    /// What event `index` of this segment is.
    #[inline]
    #[must_use]
    pub fn kind(&self, index: u32) -> KindId {
        let kind = self.columns.kind(index);
        match &self.origin {
            None => kind,
            Some(origin) => origin
                .kinds
                .get(usize::from(kind.0))
                .copied()
                .unwrap_or(kind),
        }
    }

    /// The index of the CPU of event `index`, if its lane has one or it has one of its own.
    #[must_use]
    pub fn cpu(&self, index: u32) -> Option<u32> {
        let first = self.origin.as_ref().map_or(0, |origin| origin.first_cpu);
        self.cpu.or_else(|| Some(self.columns.cpu(index)? + first))
    }

    /// The first event at or after `time`.
    #[must_use]
    pub fn lower_bound(&self, time: Timestamp) -> u32 {
        match &self.origin {
            None => self.columns.lower_bound(time),
            Some(origin) => self
                .columns
                .lower_bound(time.saturating_add(Nanos(origin.shift.0.saturating_neg()))),
        }
    }

    /// When its first and its last event happened.
    #[must_use]
    pub fn ends(&self) -> (Timestamp, Timestamp) {
        (self.time(0), self.time(self.columns.len() as u32 - 1))
    }

    /// All of event `index`.
    fn event(&self, index: u32) -> Event {
        Event {
            id: EventId(self.first + index),
            part: self.part,
            cpu: self.cpu(index),
            row: EventRow {
                time: self.time(index),
                kind: self.kind(index),
                ..self.columns.row(index)
            },
        }
    }
}

/// All events of a trace.
#[derive(Clone, Debug, Default)]
pub struct Events {
    segments: Vec<Segment>,
    /// Segments that follow each other in time; within a chain, events are in order.
    chains: Vec<Vec<u32>>,
    count: u32,
    /// Which thread a key means.
    pub threads: ThreadMap,
}

/// One event as the columns have it, with its segment's part and CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number.
    pub id: EventId,
    /// The reader's part.
    pub part: u32,
    /// The index of the CPU, if its lane has one or it has one of its own.
    pub cpu: Option<u32>,
    /// Time, place, kind and key.
    pub row: EventRow,
}

impl Events {
    /// Puts segments together; each must be sorted by time. Segments of one lane that follow each other in
    /// time become one chain.
    #[must_use]
    pub fn new(mut segments: Vec<Segment>) -> Events {
        segments.retain(|segment| !segment.columns.is_empty());
        let mut first = 0_u32;
        let mut chains: Vec<Vec<u32>> = Vec::new();
        let mut tail: Option<(u32, Timestamp)> = None;
        for (index, segment) in segments.iter_mut().enumerate() {
            segment.first = first;
            first += segment.columns.len() as u32;
            let (starts, ends) = segment.ends();
            match (tail, chains.last_mut()) {
                (Some((lane, end)), Some(chain)) if lane == segment.lane && end <= starts => {
                    chain.push(index as u32)
                }
                _ => chains.push(vec![index as u32]),
            }
            tail = Some((segment.lane, ends));
        }
        Events {
            segments,
            chains,
            count: first,
            threads: ThreadMap::default(),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The segments, in lane and file order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    #[inline]
    fn segment_of(&self, id: EventId) -> &Segment {
        let after = self
            .segments
            .partition_point(|segment| segment.first <= id.0);
        &self.segments[after - 1]
    }

    /// One event. Panics if there is no such event, as slices do.
    #[must_use]
    pub fn get(&self, id: EventId) -> Event {
        let segment = self.segment_of(id);
        segment.event(id.0 - segment.first)
    }

    /// The lane of an event. Panics if there is no such event, as slices do.
    #[must_use]
    pub fn lane_of(&self, id: EventId) -> u32 {
        self.segment_of(id).lane
    }

    /// When an event happened.
    #[inline]
    #[must_use]
    pub fn time(&self, id: EventId) -> Timestamp {
        let segment = self.segment_of(id);
        segment.time(id.0 - segment.first)
    }

    /// What an event is.
    #[inline]
    #[must_use]
    pub fn kind(&self, id: EventId) -> KindId {
        let segment = self.segment_of(id);
        segment.kind(id.0 - segment.first)
    }

    /// Whose an event is.
    #[inline]
    #[must_use]
    pub fn thread(&self, id: EventId) -> ThreadId {
        let segment = self.segment_of(id);
        self.thread_in(segment, id.0 - segment.first)
    }

    fn thread_in(&self, segment: &Segment, index: u32) -> ThreadId {
        let key = segment.columns.thread(index);
        let threads = match &segment.origin {
            None => &self.threads,
            Some(origin) => &origin.threads,
        };
        if threads.is_unique(key) {
            threads.at(key, Timestamp(0))
        } else {
            threads.at(key, segment.columns.time(index))
        }
    }

    /// Neighbouring events of one thread among those in `range` of a segment, in order: which, and whose.
    pub fn for_each_stretch(
        &self,
        segment: &Segment,
        range: Range<u32>,
        mut each: impl FnMut(Range<u32>, ThreadId),
    ) {
        let threads = match &segment.origin {
            None => &self.threads,
            Some(origin) => &origin.threads,
        };
        let range = range.start as usize..range.end as usize;
        for (events, key) in segment.columns.thread_runs_in(range) {
            let (start, end) = (events.start as u32, events.end as u32);
            if threads.is_unique(key) {
                each(start..end, threads.at(key, Timestamp(0)));
                continue;
            }
            for index in start..end {
                each(index..index + 1, self.thread_in(segment, index));
            }
        }
    }

    /// For walks over many events: remembers the block of the last one, so that neighbours cost little.
    #[must_use]
    pub fn cursor(&self) -> EventCursor<'_> {
        EventCursor {
            events: self,
            segment: Cell::new(0),
            near: Cell::new(EventBlock::default()),
        }
    }

    fn chain_len(&self, chain: &[u32]) -> u32 {
        chain
            .iter()
            .map(|&s| self.segments[s as usize].columns.len() as u32)
            .sum()
    }

    /// How many events of `chain` lie before `time`.
    fn chain_rank(&self, chain: &[u32], time: Timestamp) -> u32 {
        let after = chain.partition_point(|&s| self.segments[s as usize].time(0) < time);
        let Some(&at) = chain.get(after.wrapping_sub(1)) else {
            return 0;
        };
        let segment = &self.segments[at as usize];
        // Ids of a chain's segments follow each other, as do the segments.
        segment.first - self.segments[chain[0] as usize].first + segment.lower_bound(time)
    }

    /// How many events happened before `time`, over all lanes.
    #[must_use]
    pub fn rank(&self, time: Timestamp) -> u32 {
        self.chains
            .iter()
            .map(|chain| self.chain_rank(chain, time))
            .sum()
    }

    /// A walk over all events in time order (ties: the earlier lane first), from the first at or after `time`.
    #[must_use]
    pub fn from_time(&self, time: Timestamp) -> InTimeOrder<'_> {
        let heads = self
            .chains
            .iter()
            .map(|chain| {
                let first = self.segments[chain[0] as usize].first;
                Head::new(
                    self,
                    first + self.chain_rank(chain, time),
                    first + self.chain_len(chain),
                )
            })
            .collect();
        InTimeOrder {
            events: self,
            heads,
        }
    }

    /// A walk over all events in time order, from the `rank`-th (0 is the first).
    #[must_use]
    pub fn from_rank(&self, rank: u32) -> InTimeOrder<'_> {
        // The latest time with no more than `rank` events before it.
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        while low < high {
            let middle = low.midpoint(high) + 1;
            let middle = if middle > high { high } else { middle };
            if self.rank(Timestamp(middle)) <= rank {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let mut walk = self.from_time(Timestamp(low));
        for _ in self.rank(Timestamp(low))..rank {
            walk.next();
        }
        walk
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| segment.columns.memory_bytes())
            .sum()
    }
}

/// See [`Events::cursor`].
#[derive(Clone, Debug)]
pub struct EventCursor<'a> {
    events: &'a Events,
    segment: Cell<usize>,
    /// The block that was asked last; it counts from the trace's first event.
    near: Cell<EventBlock<'a>>,
}

impl<'a> EventCursor<'a> {
    /// The segment of an event.
    #[inline]
    fn segment_of(&self, id: EventId) -> &'a Segment {
        let segments = &self.events.segments;
        let is_here = segments
            .get(self.segment.get())
            .is_some_and(|at| at.first <= id.0 && id.0 - at.first < at.columns.len() as u32);
        if !is_here {
            self.segment
                .set(segments.partition_point(|at| at.first <= id.0) - 1);
        }
        &segments[self.segment.get()]
    }

    /// The segment of an event, and its index there. Remembers its block.
    #[inline(never)]
    fn locate(&self, id: EventId) -> (&'a Segment, u32) {
        let segment = self.segment_of(id);
        if segment.origin.is_none() {
            let mut block = segment.columns.block_around(id.0 - segment.first);
            block.first += segment.first;
            self.near.set(block);
        }
        (segment, id.0 - segment.first)
    }

    /// Where an event lies in its lane. Panics if there is no such event.
    #[must_use]
    pub fn place(&self, id: EventId) -> u64 {
        let segment = self.segment_of(id);
        segment.columns.place(id.0 - segment.first)
    }

    /// When an event happened. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub fn time(&self, id: EventId) -> Timestamp {
        let near = self.near.get();
        match near.times.get(id.0.wrapping_sub(near.first) as usize) {
            Some(&after) => Timestamp(near.base_time.wrapping_add(i64::from(after))),
            None => {
                let (segment, index) = self.locate(id);
                segment.time(index)
            }
        }
    }

    /// When an event happened and what it is. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub fn time_and_kind(&self, id: EventId) -> (Timestamp, KindId) {
        let near = self.near.get();
        let at = id.0.wrapping_sub(near.first) as usize;
        match (near.times.get(at), near.kinds.get(at)) {
            (Some(&after), Some(&kind)) => {
                let time = near.base_time.wrapping_add(i64::from(after));
                (Timestamp(time), KindId(kind))
            }
            _ => {
                let (segment, index) = self.locate(id);
                (segment.time(index), segment.kind(index))
            }
        }
    }

    /// What an event is. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub fn kind(&self, id: EventId) -> KindId {
        let near = self.near.get();
        match near.kinds.get(id.0.wrapping_sub(near.first) as usize) {
            Some(&kind) => KindId(kind),
            None => {
                let (segment, index) = self.locate(id);
                segment.kind(index)
            }
        }
    }

    /// One event. Panics if there is no such event.
    #[must_use]
    pub fn get(&self, id: EventId) -> Event {
        let (segment, index) = self.locate(id);
        segment.event(index)
    }

    /// Whose an event is. Panics if there is no such event.
    #[must_use]
    pub fn thread(&self, id: EventId) -> ThreadId {
        let (segment, index) = self.locate(id);
        self.events.thread_in(segment, index)
    }
}

#[derive(Clone, Copy, Debug)]
struct Head {
    time: Timestamp,
    next: u32,
    end: u32,
}

impl Head {
    fn new(events: &Events, next: u32, end: u32) -> Head {
        Head {
            time: if next < end {
                events.time(EventId(next))
            } else {
                Timestamp::MAX
            },
            next,
            end,
        }
    }
}

/// All events in time order; see [`Events::from_time`].
#[derive(Clone, Debug)]
pub struct InTimeOrder<'a> {
    events: &'a Events,
    heads: Vec<Head>,
}

impl Iterator for InTimeOrder<'_> {
    type Item = EventId;

    fn next(&mut self) -> Option<EventId> {
        let best = self
            .heads
            .iter_mut()
            .filter(|head| head.next < head.end)
            .min_by_key(|head| head.time)?;
        let id = EventId(best.next);
        *best = Head::new(self.events, best.next + 1, best.end);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ThreadKey;

    fn segment(part: u32, lane: u32, times: &[i64]) -> Segment {
        let mut columns = EventColumns::new(0);
        for (i, &time) in times.iter().enumerate() {
            columns.push(time, i as u64, KindId(0), ThreadKey(part));
        }
        Segment {
            part,
            lane,
            cpu: None,
            first: 0,
            origin: None,
            columns: Arc::new(columns),
        }
    }

    #[test]
    fn the_common_order_is_found_without_being_stored() {
        let segments = vec![
            segment(0, 0, &[1, 5, 5]),
            segment(1, 0, &[5, 9]),
            segment(2, 1, &[2, 5]),
            segment(3, 1, &[3, 4, 20]),
        ];
        let events = Events::new(segments);
        assert_eq!(events.chains.len(), 3);
        let all: Vec<_> = events
            .from_time(Timestamp::MIN)
            .map(|id| (events.time(id).0, id.0))
            .collect();
        assert_eq!(
            all,
            vec![
                (1, 0),
                (2, 5),
                (3, 7),
                (4, 8),
                (5, 1),
                (5, 2),
                (5, 3),
                (5, 6),
                (9, 4),
                (20, 9)
            ]
        );
        for (rank, &(time, id)) in all.iter().enumerate() {
            assert_eq!(
                events.from_rank(rank as u32).next(),
                Some(EventId(id)),
                "rank {rank}"
            );
            assert!(events.rank(Timestamp(time)) <= rank as u32);
        }
        assert_eq!(events.from_rank(10).next(), None);
        assert_eq!(events.get(EventId(6)).part, 2);
    }
}
