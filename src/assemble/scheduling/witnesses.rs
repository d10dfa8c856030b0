//! What the events of a CPU show of its threads where a switch is missing: they are recorded by the thread that runs.

use std::ops::Range;

use super::super::recorded::Recorded;
use super::changes::SwitchRow;
use crate::base::Timestamp;
use crate::trace::{CpuId, EventCursor, EventId, Events, ThreadId};

/// What the events between two switches of a CPU show, if a switch is missing between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Witnessed {
    /// The first event of another thread than the first switch's next, ns: that thread had left by then.
    pub left_by: Option<i64>,
    /// Since when all events are of the thread that the second switch takes off, ns.
    pub prev_since: Option<i64>,
}

/// Who knows which threads were on a CPU beside its switches.
pub(crate) trait Witness {
    /// Returns what is known of the time between two successive switches between which one is missing.
    fn between(&self, first: &SwitchRow, second: &SwitchRow) -> Witnessed;

    /// Returns since when the thread that `row` takes off the CPU may have run there: not before `from`, and not before
    /// the last event of another thread.
    fn prev_since(&self, row: &SwitchRow, from: Timestamp) -> Timestamp;

    /// Returns when another thread than the one that the CPU's last switch brings was there for the first time; `None`
    /// if no other thread is known of.
    fn left_by(&self, last: &SwitchRow) -> Option<Timestamp>;
}

/// Knows of nobody.
pub(crate) struct NoWitness;

impl Witness for NoWitness {
    fn between(&self, _: &SwitchRow, _: &SwitchRow) -> Witnessed {
        Witnessed::default()
    }

    fn prev_since(&self, _: &SwitchRow, from: Timestamp) -> Timestamp {
        from
    }

    fn left_by(&self, _: &SwitchRow) -> Option<Timestamp> {
        None
    }
}

/// The events in the lanes of a CPU: each recording and each instance of a kernel has one. Other lanes, such as those of
/// FXT providers, are no witness: their events name the thread that they are about.
pub(crate) struct CpuEvents<'a> {
    pub events: &'a Events,
    /// The events of each of the CPU's lanes.
    pub lanes: &'a [Range<u32>],
}

/// Returns the events of each lane of each CPU, by the CPU's id.
#[must_use]
pub(crate) fn lanes_of_cpus(recorded: &Recorded) -> Vec<Vec<Range<u32>>> {
    let mut lanes: Vec<Vec<Range<u32>>> = vec![Vec::new(); recorded.cpus.len()];
    let mut last_lane = None;
    for part in &recorded.parts {
        let Some(own) = part.cpu.and_then(|cpu| lanes.get_mut(cpu.0 as usize)) else {
            continue;
        };
        let segment = &recorded.events.segments()[part.segment as usize];
        let end = segment.first + segment.columns.len() as u32;
        match own.last_mut() {
            Some(range) if last_lane == Some(segment.lane) => range.end = end,
            _ => own.push(segment.first..end),
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

/// A part of each of a CPU's lanes, whose events are taken from both ends in order of time.
struct Stretch<'a> {
    events: EventCursor<'a>,
    lanes: Vec<Range<u32>>,
}

impl<'a> CpuEvents<'a> {
    /// Returns the events behind `first`, or from the recording's begin, and before `second`, or to its end; `None` if
    /// one of the switches is not in the CPU's lanes.
    fn between(
        &self,
        first: Option<&SwitchRow>,
        second: Option<&SwitchRow>,
    ) -> Option<Stretch<'a>> {
        let events = self.events.cursor();
        let is_own = |row: &&SwitchRow| {
            let has = |event| self.lanes.iter().any(|lane| lane.contains(&event));
            row.event.get().is_some_and(has)
        };
        if ![first, second]
            .into_iter()
            .flatten()
            .all(|row| is_own(&row))
        {
            return None;
        }
        // Events of other lanes that have a switch's time may be before it or behind it.
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
        let lanes = self.lanes.iter().map(part).collect();
        Some(Stretch { events, lanes })
    }
}

/// Returns the first event of a lane for which `is_later` holds; its end if there is none.
fn first_that(lane: &Range<u32>, is_later: impl Fn(EventId) -> bool) -> u32 {
    let (mut low, mut high) = (lane.start, lane.end);
    while low < high {
        let middle = low.midpoint(high);
        match is_later(EventId(middle)) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
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

    /// Returns the events in order of time, without those at the begin of the thread that `switch` takes off the CPU:
    /// that thread records the rest of the switch.
    fn once_left(mut self, switch: &SwitchRow) -> impl Iterator<Item = Seen> {
        let leaving = switch.prev;
        std::iter::from_fn(move || self.first()).skip_while(move |seen| seen.thread == leaving)
    }

    /// Takes the latest event.
    fn last(&mut self) -> Option<Seen> {
        let tails = self.lanes.iter().enumerate();
        let tails = tails.filter(|(_, lane)| !lane.is_empty());
        let latest = tails.max_by_key(|(_, lane)| self.events.time(EventId(lane.end - 1)));
        let at = latest?.0;
        let id = self.lanes[at].next_back()?;
        Some(self.seen(id))
    }
}

impl Witness for CpuEvents<'_> {
    fn between(&self, first: &SwitchRow, second: &SwitchRow) -> Witnessed {
        let mut witnessed = Witnessed::default();
        let Some(events) = self.between(Some(first), Some(second)) else {
            return witnessed;
        };
        for Seen { time, thread } in events.once_left(first) {
            let time = time.0.clamp(first.time, second.time);
            if thread != first.next {
                witnessed.left_by.get_or_insert(time);
            }
            match thread == second.prev {
                true => _ = witnessed.prev_since.get_or_insert(time),
                false => witnessed.prev_since = None,
            }
        }
        witnessed
    }

    fn prev_since(&self, row: &SwitchRow, from: Timestamp) -> Timestamp {
        let Some(mut events) = self.between(None, Some(row)) else {
            return from;
        };
        let mut since = Timestamp(row.time);
        while let Some(seen) = events.last().filter(|seen| seen.time >= from) {
            match seen.thread {
                thread if thread == row.prev => since = seen.time.min(Timestamp(row.time)),
                None => {}
                Some(_) => return since,
            }
        }
        from
    }

    fn left_by(&self, last: &SwitchRow) -> Option<Timestamp> {
        let events = self.between(Some(last), None)?;
        let mut events = events.once_left(last);
        let other = events.find(|seen| seen.thread.is_some() && seen.thread != last.next)?;
        Some(other.time.max(Timestamp(last.time)))
    }
}
