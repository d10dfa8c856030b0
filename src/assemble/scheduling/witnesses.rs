//! Evidence from the events of a CPU about its threads, where a switch is missing: the running thread records events.

use std::ops::Range;

use super::super::recorded::Recorded;
use super::changes::SwitchRow;
use crate::base::{Timestamp, order};
use crate::trace::{EventCursor, EventId, ThreadId};

/// Evidence from the events between two switches of a CPU, if a switch is missing between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Witnessed {
    /// Time in ns of the last event of the thread that the first switch brought, before any other thread's event: that
    /// thread ran at least until then.
    pub seen_until: Option<i64>,
    /// Time in ns of the first event of another thread: the thread that the first switch brought had left by then.
    pub left_by: Option<i64>,
    /// Time in ns since which all events belong to the thread that the second switch takes off.
    pub prev_since: Option<i64>,
}

impl Witnessed {
    /// Adds an event that `thread` recorded at `time` (ns), after the switch that brought `brought`.
    fn add(&mut self, brought: Option<ThreadId>, thread: Option<ThreadId>, time: i64) {
        if self.left_by.is_some() || thread.is_none() {
            return;
        }
        match thread == brought {
            true => self.seen_until = Some(time),
            false => self.left_by = Some(time),
        }
    }
}

/// A thread that recorded an event on a CPU, the first after events of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub thread: ThreadId,
    /// The event's time, ns.
    pub time: i64,
}

/// The threads that were seen on a CPU where switches may be missing, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    all: Vec<Sighting>,
    last: Option<ThreadId>,
}

impl Sightings {
    fn add(&mut self, thread: Option<ThreadId>, time: i64) {
        if thread != self.last {
            self.last = thread;
            let thread = thread.filter(|&thread| thread != ThreadId::IDLE);
            (self.all).extend(thread.map(|thread| Sighting { thread, time }));
        }
    }

    /// Returns the sightings: one for each thread that was seen after another thread.
    pub(crate) fn into_all(self) -> Vec<Sighting> {
        self.all
    }
}

/// A source of information about the threads on a CPU besides its switches. Each function adds the threads that were
/// seen there to `seen`.
pub(crate) trait Witness {
    /// Returns whether events show which thread was on the CPU.
    fn sees(&self) -> bool;

    /// Returns the evidence about the time between two successive switches. If the second takes off the thread that the
    /// first brought, switches are only missing where another thread recorded an event between them.
    fn between(&self, first: &SwitchRow, second: &SwitchRow, seen: &mut Sightings) -> Witnessed;

    /// Returns the time since which the thread that `row` takes off the CPU may have run there: at least `from`, and at
    /// least the time of the last event of another thread.
    fn prev_since(&self, row: &SwitchRow, from: Timestamp, seen: &mut Sightings) -> Timestamp;

    /// Returns the evidence about the time after the CPU's last switch.
    fn after(&self, last: &SwitchRow, seen: &mut Sightings) -> Witnessed;
}

/// A witness without information.
pub(crate) struct NoWitness;

impl Witness for NoWitness {
    fn sees(&self) -> bool {
        false
    }

    fn between(&self, _: &SwitchRow, _: &SwitchRow, _: &mut Sightings) -> Witnessed {
        Witnessed::default()
    }

    fn prev_since(&self, _: &SwitchRow, from: Timestamp, _: &mut Sightings) -> Timestamp {
        from
    }

    fn after(&self, _: &SwitchRow, _: &mut Sightings) -> Witnessed {
        Witnessed::default()
    }
}

/// The events in the lanes of a CPU: each recording and each instance of a kernel has one. Other lanes, such as those of
/// FXT providers, are no witness: their events name the thread that they are about.
pub(crate) struct CpuEvents<'a> {
    pub cursor: EventCursor<'a>,
    /// The CPU's lanes.
    pub lanes: &'a LanesOfCpu,
}

/// The lanes of a CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct LanesOfCpu {
    /// The events of each lane.
    events: Vec<Range<u32>>,
    /// Whether a lane has the events of several buffers, whose clocks may differ.
    mix_buffers: bool,
}

/// Returns the lanes of each CPU, by the CPU's id.
#[must_use]
pub(crate) fn lanes_of_cpus(recorded: &Recorded) -> Vec<LanesOfCpu> {
    let mut lanes = vec![LanesOfCpu::default(); recorded.cpus.len()];
    let mut last_lane = None;
    for part in &recorded.parts {
        let Some(own) = part.cpu.and_then(|cpu| lanes.get_mut(cpu.0 as usize)) else {
            continue;
        };
        let segment = &recorded.events.segments()[part.segment as usize];
        let end = segment.first + segment.columns.len() as u32;
        own.mix_buffers |= part.is_of_several_buffers;
        match own.events.last_mut() {
            Some(range) if last_lane == Some(segment.lane) => range.end = end,
            _ => own.events.push(segment.first..end),
        }
        last_lane = Some(segment.lane);
    }
    lanes
}

/// An event that shows which thread was on the CPU.
struct Seen {
    time: Timestamp,
    thread: Option<ThreadId>,
}

/// A part of each of a CPU's lanes, whose events are taken in order of time.
struct Stretch<'a> {
    events: EventCursor<'a>,
    lanes: Vec<Range<u32>>,
}

impl<'a> CpuEvents<'a> {
    /// Returns the events after `first` (or from the recording's begin) and before `second` (or to its end); `None` if
    /// one of the switches is not in the CPU's lanes.
    fn between(
        &self,
        first: Option<&SwitchRow>,
        second: Option<&SwitchRow>,
    ) -> Option<Stretch<'a>> {
        let events = self.cursor.clone();
        let is_own = |row: &&SwitchRow| {
            let has = |event| self.lanes.events.iter().any(|lane| lane.contains(&event));
            row.event.get().is_some_and(has)
        };
        if ![first, second]
            .into_iter()
            .flatten()
            .all(|row| is_own(&row))
        {
            return None;
        }
        // In other lanes, events that have the same time as a switch may be before or after it.
        let behind = |lane: &Range<u32>, row: &SwitchRow| match row.event.get() {
            Some(event) if lane.contains(&event) => event + 1,
            _ => first_that(lane, |id| events.time(id).0 > row.time),
        };
        let before = |lane: &Range<u32>, row: &SwitchRow| match row.event.get() {
            Some(event) if lane.contains(&event) => event,
            _ => first_that(lane, |id| events.time(id).0 >= row.time),
        };
        let part = |lane: &Range<u32>| {
            let start = first.map_or(lane.start, |row| behind(lane, row));
            start..second.map_or(lane.end, |row| before(lane, row))
        };
        let lanes = self.lanes.events.iter().map(part).collect();
        Some(Stretch { events, lanes })
    }

    /// Returns the events between two successive switches of a lane, if another thread than the two switches state
    /// recorded some of them. The clocks of other buffers may differ by more than a run lasts: these are no evidence
    /// here.
    fn of_others(&self, first: &SwitchRow, second: &SwitchRow) -> Option<Stretch<'a>> {
        let (begin, end) = (first.event.get()?, second.event.get()?);
        let has_both = |lane: &Range<u32>| lane.contains(&begin) && lane.contains(&end);
        if self.lanes.mix_buffers || !self.lanes.events.iter().any(has_both) {
            return None;
        }
        let between = begin.saturating_add(1)..end;
        // As in `Stretch::once_left`, without a list of lanes for each pair of switches.
        let threads = between.clone().map(|id| self.cursor.thread(EventId(id)));
        let mut threads = threads.skip_while(|thread| *thread == first.prev);
        let has_others = threads.any(|thread| thread.is_some() && thread != first.next);
        has_others.then(|| Stretch {
            events: self.cursor.clone(),
            lanes: vec![between],
        })
    }
}

/// Returns the first event of a lane for which `is_later` holds; its end if there is none.
fn first_that(lane: &Range<u32>, is_later: impl Fn(EventId) -> bool) -> u32 {
    let events = lane.start as usize..lane.end as usize;
    order::first_not(events, |event| !is_later(EventId(event as u32))) as u32
}

impl Stretch<'_> {
    fn seen(&self, id: u32) -> Seen {
        Seen {
            time: self.events.time(EventId(id)),
            thread: self.events.thread(EventId(id)),
        }
    }

    /// Takes the earliest event.
    fn first(&mut self) -> Option<Seen> {
        let heads = self.lanes.iter().enumerate();
        let heads = heads.filter(|(_, lane)| !lane.is_empty());
        let earliest = heads.min_by_key(|(_, lane)| self.events.time(EventId(lane.start)));
        let at = earliest?.0;
        let id = self.lanes[at].next()?;
        Some(self.seen(id))
    }

    /// Returns the stretch without the events before `from`.
    fn not_before(mut self, from: Timestamp) -> Self {
        for lane in &mut self.lanes {
            lane.start = first_that(lane, |id| self.events.time(id) >= from);
        }
        self
    }

    /// Returns the events in order of time.
    fn in_order(mut self) -> impl Iterator<Item = Seen> {
        std::iter::from_fn(move || self.first())
    }

    /// Returns the events in order of time, without the first ones of the thread that `switch` takes off the CPU: that
    /// thread records the rest of the switch.
    fn once_left(self, switch: &SwitchRow) -> impl Iterator<Item = Seen> {
        let leaving = switch.prev;
        self.in_order()
            .skip_while(move |seen| seen.thread == leaving)
    }
}

impl Witness for CpuEvents<'_> {
    fn sees(&self) -> bool {
        !self.lanes.events.is_empty()
    }

    fn between(&self, first: &SwitchRow, second: &SwitchRow, seen: &mut Sightings) -> Witnessed {
        let mut witnessed = Witnessed::default();
        let events = match first.next == second.prev {
            true => self.of_others(first, second),
            false => self.between(Some(first), Some(second)),
        };
        let Some(events) = events else {
            return witnessed;
        };
        for Seen { time, thread } in events.once_left(first) {
            let time = time.0.clamp(first.time, second.time);
            seen.add(thread, time);
            witnessed.add(first.next, thread, time);
            match thread == second.prev {
                true => _ = witnessed.prev_since.get_or_insert(time),
                false => witnessed.prev_since = None,
            }
        }
        witnessed
    }

    fn prev_since(&self, row: &SwitchRow, from: Timestamp, seen: &mut Sightings) -> Timestamp {
        let Some(events) = self.between(None, Some(row)) else {
            return from;
        };
        let mut since = None;
        for Seen { time, thread } in events.not_before(from).in_order() {
            let time = time.min(Timestamp(row.time));
            seen.add(thread, time.0);
            match thread {
                None => {}
                thread if thread == row.prev => {
                    since = since.map(|since: Timestamp| since.min(time))
                }
                Some(_) => since = Some(Timestamp(row.time)),
            }
        }
        since.unwrap_or(from)
    }

    fn after(&self, last: &SwitchRow, seen: &mut Sightings) -> Witnessed {
        let mut witnessed = Witnessed::default();
        let Some(events) = self.between(Some(last), None) else {
            return witnessed;
        };
        for Seen { time, thread } in events.once_left(last) {
            let time = time.0.max(last.time);
            seen.add(thread, time);
            witnessed.add(last.next, thread, time);
        }
        witnessed
    }
}
