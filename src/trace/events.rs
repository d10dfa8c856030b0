//! All events: segments of columns as the readers made them, and their common time order.
//!
//! An [`EventId`] numbers events segment by segment, so it needs 4 bytes and no table. The time order over all lanes is
//! not stored: the n-th event is found by a search over the orders of the lanes.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::ops::Range;

use super::entities::{ThreadId, ThreadMap};
use super::segments::{Event, EventId, Segment};
use crate::base::Timestamp;
use crate::event::KindId;
use crate::event::columns::EventBlock;

/// All events of a trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Events {
    segments: Vec<Segment>,
    /// Lists of segments that follow each other in time; the events of a chain are in time order.
    chains: Vec<Vec<u32>>,
    count: u32,
    /// Maps thread keys to threads.
    pub threads: ThreadMap,
}

impl Events {
    /// Joins segments, each of which must be sorted by time. Segments of one lane that follow each other in time become
    /// one chain.
    #[must_use]
    pub fn new(mut segments: Vec<Segment>) -> Events {
        segments.retain(|segment| !segment.columns.is_empty());
        let mut first = 0_u32;
        let mut chains: Vec<Vec<u32>> = Vec::new();
        let mut tail: Option<(u32, Timestamp)> = None;
        for (index, segment) in segments.iter_mut().enumerate() {
            segment.first = first;
            first += segment.columns.len() as u32;
            let (starts, ends) = (segment.first_time(), segment.last_time());
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

    /// Makes all times multiples of `resolution_ns`; events of one time keep their order.
    pub(crate) fn round_down(&mut self, resolution_ns: i64) {
        for segment in &mut self.segments {
            segment.resolution_ns = resolution_ns;
        }
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether there is no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The segments, in lane and file order.
    #[must_use]
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    #[inline]
    fn segment_of(&self, id: EventId) -> &Segment {
        let after = self
            .segments
            .partition_point(|segment| segment.first <= id.0);
        &self.segments[after - 1]
    }

    /// Returns an event. Panics if there is no such event.
    #[must_use]
    pub fn get(&self, id: EventId) -> Event {
        let segment = self.segment_of(id);
        segment.event(id.0 - segment.first)
    }

    /// Returns the lane of an event. Panics if there is no such event.
    #[must_use]
    pub fn lane_of(&self, id: EventId) -> u32 {
        self.segment_of(id).lane
    }

    /// Returns whether an event is in the lane of a CPU. Panics if there is no such event.
    #[must_use]
    pub(crate) fn is_in_lane_of_cpu(&self, id: EventId) -> bool {
        self.segment_of(id).cpu.is_some()
    }

    /// Returns the time of an event.
    #[inline]
    #[must_use]
    pub fn time(&self, id: EventId) -> Timestamp {
        let segment = self.segment_of(id);
        segment.time(id.0 - segment.first)
    }

    /// Returns an event's position, counted from 0, among the events of all lanes that have its rounded time; 0 if
    /// times are not rounded.
    #[must_use]
    pub(crate) fn order_in_time(&self, id: EventId) -> u64 {
        let segment = self.segment_of(id);
        let index = id.0 - segment.first;
        let after = segment.order(index) - segment.time(index);
        after.0.cast_unsigned()
    }

    /// Returns whether times are rounded, so that events of one time have an order over all lanes.
    #[must_use]
    pub(crate) fn is_rounded(&self) -> bool {
        let mut segments = self.segments.iter();
        segments.any(|segment| segment.resolution_ns > 1)
    }

    /// Returns the kind of an event.
    #[inline]
    #[must_use]
    pub fn kind(&self, id: EventId) -> KindId {
        let segment = self.segment_of(id);
        segment.kind(id.0 - segment.first)
    }

    /// Returns the thread of an event, if it has one.
    #[inline]
    #[must_use]
    pub fn thread(&self, id: EventId) -> Option<ThreadId> {
        let segment = self.segment_of(id);
        self.thread_in(segment, id.0 - segment.first)
    }

    fn thread_in(&self, segment: &Segment, index: u32) -> Option<ThreadId> {
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

    /// Calls `each` with every range of neighbouring events of one thread within `range` of a segment, in order, and
    /// with the thread.
    pub(crate) fn for_each_stretch(
        &self,
        segment: &Segment,
        range: Range<u32>,
        mut each: impl FnMut(Range<u32>, Option<ThreadId>),
    ) {
        let threads = match &segment.origin {
            None => &self.threads,
            Some(origin) => &origin.threads,
        };
        let range = range.start as usize..range.end as usize;
        for run in segment.columns.thread_runs_in(range) {
            let (start, end) = (run.events.start as u32, run.events.end as u32);
            if threads.is_unique(run.thread) {
                each(start..end, threads.at(run.thread, Timestamp(0)));
                continue;
            }
            for index in start..end {
                each(index..index + 1, self.thread_in(segment, index));
            }
        }
    }

    /// Returns a cursor for reading many events: it keeps the block of the last event, so that its neighbours are fast
    /// to read.
    #[must_use]
    pub(crate) fn cursor(&self) -> EventCursor<'_> {
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

    /// Returns how many events of `chain` are before `time`.
    fn chain_rank(&self, chain: &[u32], time: Timestamp) -> u32 {
        let after = chain.partition_point(|&s| self.segments[s as usize].time(0) < time);
        let Some(&at) = chain.get(after.wrapping_sub(1)) else {
            return 0;
        };
        let segment = &self.segments[at as usize];
        // The segments of a chain are adjacent, and so are the ids of their events.
        segment.first - self.segments[chain[0] as usize].first + segment.lower_bound(time)
    }

    /// Returns how many events happened before `time`, over all lanes.
    #[must_use]
    pub fn rank(&self, time: Timestamp) -> u32 {
        self.chains
            .iter()
            .map(|chain| self.chain_rank(chain, time))
            .sum()
    }

    /// Iterates over all events in time order (ties: the earlier lane first).
    #[must_use]
    pub(crate) fn in_order(&self) -> InTimeOrder<'_> {
        self.from_time(Timestamp::MIN)
    }

    /// Iterates over the events in time order (ties: the earlier lane first), from the first at or after `time`.
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

    /// Iterates over all events in time order, from the `rank`-th (0 is the first).
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

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| segment.columns.memory_bytes())
            .sum()
    }
}

/// An event in its segment.
struct Located<'a> {
    segment: &'a Segment,
    /// The event's index in the segment.
    index: u32,
}

/// The time and kind of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeAndKind {
    pub time: Timestamp,
    pub kind: KindId,
}

/// A cursor for reading many events; see [`Events::cursor`].
#[derive(Clone, Debug)]
pub(crate) struct EventCursor<'a> {
    events: &'a Events,
    segment: Cell<usize>,
    /// The block of the last event; its `first` is an event id.
    near: Cell<EventBlock<'a>>,
}

impl<'a> EventCursor<'a> {
    /// Returns the segment of an event.
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

    /// Returns the segment of an event and its index there, and keeps its block. Segments with an origin or with rounded
    /// times are not kept: their times and kinds need converting.
    #[inline(never)]
    fn locate(&self, id: EventId) -> Located<'a> {
        let segment = self.segment_of(id);
        if segment.origin.is_none() && segment.resolution_ns <= 1 {
            let mut block = segment.columns.block_around(id.0 - segment.first);
            block.first += segment.first;
            self.near.set(block);
        }
        Located {
            segment,
            index: id.0 - segment.first,
        }
    }

    /// Calls `each` with every range of neighbouring events of one thread among `ids`, in order, and with the thread.
    /// Faster than asking for each event. Panics if there are no such events.
    pub(crate) fn for_each_stretch(
        &self,
        ids: Range<u32>,
        mut each: impl FnMut(Range<u32>, Option<ThreadId>),
    ) {
        let mut at = ids.start;
        while at < ids.end {
            let segment = self.segment_of(EventId(at));
            let first = segment.first;
            let end = ids.end.min(first + segment.columns.len() as u32);
            let within = at - first..end - first;
            self.events
                .for_each_stretch(segment, within, |own, thread| {
                    each(own.start + first..own.end + first, thread);
                });
            at = end;
        }
    }

    /// Returns the part of an event. Panics if there is no such event.
    #[must_use]
    pub(crate) fn part(&self, id: EventId) -> u32 {
        self.segment_of(id).part
    }

    /// Returns the place of an event in its lane. Panics if there is no such event.
    #[must_use]
    pub(crate) fn place(&self, id: EventId) -> u64 {
        let segment = self.segment_of(id);
        segment.columns.place(id.0 - segment.first)
    }

    /// Returns the time of an event. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub(crate) fn time(&self, id: EventId) -> Timestamp {
        let near = self.near.get();
        match near.times.get(id.0.wrapping_sub(near.first) as usize) {
            Some(&after) => Timestamp(near.base_time.wrapping_add(i64::from(after))),
            None => {
                let Located { segment, index } = self.locate(id);
                segment.time(index)
            }
        }
    }

    /// Returns the time and kind of an event. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub(crate) fn time_and_kind(&self, id: EventId) -> TimeAndKind {
        let near = self.near.get();
        let at = id.0.wrapping_sub(near.first) as usize;
        match (near.times.get(at), near.kinds.get(at)) {
            (Some(&after), Some(kind)) => {
                let time = near.base_time.wrapping_add(i64::from(after));
                TimeAndKind {
                    time: Timestamp(time),
                    kind,
                }
            }
            _ => {
                let Located { segment, index } = self.locate(id);
                TimeAndKind {
                    time: segment.time(index),
                    kind: segment.kind(index),
                }
            }
        }
    }

    /// Returns the kind of an event. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub(crate) fn kind(&self, id: EventId) -> KindId {
        let near = self.near.get();
        match near.kinds.get(id.0.wrapping_sub(near.first) as usize) {
            Some(kind) => kind,
            None => {
                let Located { segment, index } = self.locate(id);
                segment.kind(index)
            }
        }
    }

    /// Returns an event. Panics if there is no such event.
    #[must_use]
    pub(crate) fn get(&self, id: EventId) -> Event {
        let Located { segment, index } = self.locate(id);
        segment.event(index)
    }

    /// Returns the lane of an event. Panics if there is no such event.
    #[must_use]
    pub(crate) fn lane(&self, id: EventId) -> u32 {
        self.segment_of(id).lane
    }

    /// Returns the thread of an event. Panics if there is no such event.
    #[must_use]
    pub(crate) fn thread(&self, id: EventId) -> Option<ThreadId> {
        let Located { segment, index } = self.locate(id);
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
                let segment = events.segment_of(EventId(next));
                segment.order(next - segment.first)
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
    use std::sync::Arc;

    use super::*;
    use crate::event::ThreadKey;
    use crate::event::columns::EventColumns;

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
            resolution_ns: 1,
            columns: Arc::new(columns),
        }
    }

    #[test]
    fn rounded_times_keep_the_order_of_those_before() {
        let segments = vec![
            segment(0, 0, &[1000, 1002, 5001]),
            segment(1, 1, &[1001, 5000]),
        ];
        let mut events = Events::new(segments);
        events.round_down(1000);
        let all = |from: i64| -> Vec<(i64, u32)> {
            let ids = events.from_time(Timestamp(from));
            ids.map(|id| (events.time(id).0, id.0)).collect()
        };
        let whole = [(1000, 0), (1000, 3), (1000, 1), (5000, 4), (5000, 2)];
        assert_eq!(all(i64::MIN), whole);
        assert_eq!(all(1000), whole);
        assert_eq!(all(1001), whole[3..]);
        assert_eq!(all(5000), whole[3..]);
        assert!(all(5001).is_empty());
        for rank in 0..5 {
            let id = events.from_rank(rank).next().unwrap();
            assert_eq!(id.0, whole[rank as usize].1, "{rank}");
        }
        let cursor = events.cursor();
        assert!(
            whole
                .iter()
                .all(|&(time, id)| cursor.time(EventId(id)).0 == time)
        );
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
