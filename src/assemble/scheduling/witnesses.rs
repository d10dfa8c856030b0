//! Evidence from the events of a CPU about its threads, where a switch is missing: the running thread records events.
//!
//! Of the 77 ftrace recordings with switches of the corpus and the samples, 7 lack switches: 5 lack some outside of
//! losses, 3 in losses.

use std::ops::Range;

use super::super::people::TakenOver;
use super::super::recorded::Recorded;
use super::breaks::Filter;
use super::changes::SwitchRow;
use crate::base::streaks::Streaks;
use crate::base::{TimeSpan, Timestamp, order};
use crate::event::{EventKind, KindId, LaneClock, Role};
use crate::trace::{EventCursor, EventId, ThreadId};
use rustc_hash::FxHashSet;

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

/// A thread that recorded an event on a CPU, the first after events of another thread or of another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub thread: ThreadId,
    /// The event's time, ns; at most that of the next switch.
    pub time: i64,
    pub event: EventId,
}

/// The threads that were seen on a CPU where switches may be missing, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    all: Vec<Sighting>,
    /// The thread and lane of the last event.
    last: Option<(Option<ThreadId>, u32)>,
    /// Whether the times of the events can be compared.
    are_certain: bool,
}

impl Sightings {
    /// Begins with the events after another switch: a thread that was seen before it may be seen again. With several
    /// clocks an event may have been long before or after its time: it is not added.
    fn begin(&mut self, clock: LaneClock) {
        self.last = None;
        self.are_certain = clock != LaneClock::OfSeveralBuffers;
    }

    /// Adds the thread of an event at `time` (ns).
    fn add(&mut self, event: &Seen, time: i64) {
        let last = Some((event.thread, event.lane));
        if last == self.last || !self.are_certain {
            return;
        }
        self.last = last;
        let thread = event.thread.filter(|&thread| thread != ThreadId::IDLE);
        self.all.extend(thread.map(|thread| Sighting {
            thread,
            time,
            event: event.id,
        }));
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

    /// Returns the evidence about the time from a switch until `before`, from where on events were lost.
    fn until(&self, last: &SwitchRow, before: Timestamp, seen: &mut Sightings) -> Witnessed;

    /// Adds the threads that were seen in a span without switches, between two losses; `row` is the next switch.
    fn see(&self, row: &SwitchRow, span: TimeSpan, seen: &mut Sightings);

    /// Returns the evidence about the time after the CPU's last switch.
    fn after(&self, last: &SwitchRow, seen: &mut Sightings) -> Witnessed;

    /// Returns whether two switches were recorded in two buffers of the CPU.
    fn are_of_two_buffers(&self, _first: &SwitchRow, _second: &SwitchRow) -> bool {
        false
    }

    /// Returns whether `ran` continued under the number of `thread`, without a switch between them: it called `execve`,
    /// and `thread` was the main thread.
    fn took_over(&self, _ran: ThreadId, _thread: ThreadId) -> bool {
        false
    }
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

    fn until(&self, _: &SwitchRow, _: Timestamp, _: &mut Sightings) -> Witnessed {
        Witnessed::default()
    }

    fn see(&self, _: &SwitchRow, _: TimeSpan, _: &mut Sightings) {}

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
    /// The kinds of system calls.
    pub calls: &'a CallKinds,
    /// The threads that took the number of another by `execve`.
    pub taken_over: &'a TakenNumbers,
    /// The threads by which the recording was filtered, if it was.
    pub filter: Option<&'a Filter>,
}

/// The pairs of a thread that called `execve` and the leader of its process, whose number it has since.
#[derive(Default)]
pub(crate) struct TakenNumbers(FxHashSet<(ThreadId, ThreadId)>);

impl TakenNumbers {
    pub(crate) fn new(taken_over: &[TakenOver]) -> TakenNumbers {
        let pairs = taken_over.iter().map(|it| (it.caller, it.leader));
        TakenNumbers(pairs.collect())
    }
}

/// Which kinds of events are begins and ends of system calls.
pub(crate) struct CallKinds(Vec<bool>);

impl CallKinds {
    pub(crate) fn of(kinds: &Streaks<EventKind>) -> CallKinds {
        let is_call = |kind: EventKind| kind.role == Role::SystemCall;
        CallKinds(kinds.values(is_call))
    }

    fn contain(&self, kind: KindId) -> bool {
        self.0.get(kind.0 as usize).copied().unwrap_or(false)
    }
}

/// The lanes of a CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct LanesOfCpu(Vec<LaneOfCpu>);

/// A lane of a CPU.
#[derive(Clone, Debug)]
struct LaneOfCpu {
    /// Its events.
    events: Range<u32>,
    clock: LaneClock,
}

impl LanesOfCpu {
    /// Returns the lane of a switch's event.
    fn of(&self, row: &SwitchRow) -> Option<&LaneOfCpu> {
        let event = row.event.get()?;
        self.0.iter().find(|lane| lane.events.contains(&event))
    }
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
        match own.0.last_mut() {
            Some(lane) if last_lane == Some(segment.lane) => {
                lane.events.end = end;
                if part.clock == LaneClock::OfSeveralBuffers {
                    lane.clock = part.clock;
                }
            }
            _ => own.0.push(LaneOfCpu {
                events: segment.first..end,
                clock: part.clock,
            }),
        }
        last_lane = Some(segment.lane);
    }
    lanes
}

/// An event that shows which thread was on the CPU.
struct Seen {
    id: EventId,
    lane: u32,
    time: Timestamp,
    thread: Option<ThreadId>,
}

/// A part of each of a CPU's lanes, whose events are taken in order of time.
struct Stretch<'a> {
    events: EventCursor<'a>,
    lanes: Vec<Range<u32>>,
    clock: LaneClock,
}

impl<'a> CpuEvents<'a> {
    /// Returns the events after `first` (or from the recording's begin) and before `second` (or to its end), from lanes
    /// with the clock of these switches; `None` if the switches are not in the CPU's lanes or their clocks differ.
    fn between(
        &self,
        first: Option<&SwitchRow>,
        second: Option<&SwitchRow>,
    ) -> Option<Stretch<'a>> {
        let events = self.cursor.clone();
        let clock_of = |row: &SwitchRow| self.lanes.of(row).map(|lane| lane.clock);
        let mut rows = first.into_iter().chain(second);
        let clock = rows.next().and_then(clock_of)?;
        if rows.any(|row| clock_of(row) != Some(clock)) {
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
        let lanes = self.lanes.0.iter().filter(|lane| lane.clock == clock);
        let lanes = lanes.map(|lane| part(&lane.events)).collect();
        Some(Stretch {
            events,
            lanes,
            clock,
        })
    }

    /// Returns whether an event after a switch may be part of it: the thread that the switch takes off the CPU records
    /// the rest of it, during which it neither enters nor leaves a system call. Not if the other thread has its number
    /// later: the event may be of that one.
    fn is_rest_of(&self, switch: &SwitchRow, event: EventId) -> bool {
        self.cursor.thread(event) == switch.prev
            && !self.is_call(event)
            && !(switch.next.zip(switch.prev))
                .is_some_and(|(next, prev)| self.took_over(next, prev))
    }

    fn leaves_out(&self, thread: Option<ThreadId>) -> bool {
        let thread = thread.filter(|&thread| thread != ThreadId::IDLE);
        (self.filter.zip(thread)).is_some_and(|(filter, thread)| !filter.has_chosen(thread))
    }

    fn is_call(&self, event: EventId) -> bool {
        self.calls.contain(self.cursor.kind(event))
    }

    /// Returns the events of a stretch in order of time, without the rest of `switch`.
    fn once_left(&self, switch: &SwitchRow, events: Stretch<'a>) -> impl Iterator<Item = Seen> {
        let events = events.in_order();
        events.skip_while(move |seen| self.is_rest_of(switch, seen.id))
    }

    /// Returns the events between two successive switches of a lane, if another thread than the two switches state
    /// recorded some of them. The clocks of other buffers may differ by more than a run lasts: these are no evidence
    /// here.
    fn of_others(&self, first: &SwitchRow, second: &SwitchRow) -> Option<Stretch<'a>> {
        let (begin, end) = (first.event.get()?, second.event.get()?);
        let LaneOfCpu { events, clock } = self.lanes.of(first)?;
        if *clock == LaneClock::OfSeveralBuffers || !events.contains(&end) {
            return None;
        }
        let between = begin.saturating_add(1)..end;
        // As in `CpuEvents::once_left`, but for stretches of events of one thread: most pairs of switches have one.
        let (mut is_rest, mut has_others) = (true, false);
        self.cursor
            .for_each_stretch(between.clone(), |mut ids, thread| {
                is_rest =
                    is_rest && thread == first.prev && !ids.any(|id| self.is_call(EventId(id)));
                has_others |= !is_rest && thread.is_some() && thread != first.next;
            });
        has_others.then(|| Stretch {
            events: self.cursor.clone(),
            lanes: vec![between],
            clock: *clock,
        })
    }

    /// Returns what the events after a switch show of the run that it began.
    fn seen_after(
        &self,
        last: &SwitchRow,
        events: Option<Stretch<'a>>,
        seen: &mut Sightings,
    ) -> Witnessed {
        let mut witnessed = Witnessed::default();
        let Some(events) = events else {
            return witnessed;
        };
        seen.begin(events.clock);
        for event in self.once_left(last, events) {
            let time = event.time.0.max(last.time);
            seen.add(&event, time);
            witnessed.add(last.next, event.thread, time);
        }
        witnessed
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
            id: EventId(id),
            lane: self.events.lane(EventId(id)),
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

    /// Returns the stretch without the events from `until` on.
    fn before(mut self, until: Timestamp) -> Self {
        for lane in &mut self.lanes {
            lane.end = first_that(lane, |id| self.events.time(id) >= until);
        }
        self
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
}

impl Witness for CpuEvents<'_> {
    fn sees(&self) -> bool {
        !self.lanes.0.is_empty()
    }

    fn between(&self, first: &SwitchRow, second: &SwitchRow, seen: &mut Sightings) -> Witnessed {
        let mut witnessed = Witnessed::default();
        let stays = first.next == second.prev;
        // Others may have run between the two switches of a thread that a filter left out.
        if stays && self.leaves_out(first.next) {
            let seen = self.seen_after(first, self.between(Some(first), Some(second)), seen);
            return Witnessed {
                left_by: seen.left_by.or(seen.seen_until).or(Some(first.time)),
                ..seen
            };
        }
        let events = match stays {
            true => self.of_others(first, second),
            false => self.between(Some(first), Some(second)),
        };
        let Some(events) = events else {
            return witnessed;
        };
        seen.begin(events.clock);
        for event in self.once_left(first, events) {
            let thread = event.thread;
            let time = event.time.0.clamp(first.time, second.time);
            seen.add(&event, time);
            witnessed.add(first.next, thread, time);
            match thread == second.prev {
                true => _ = witnessed.prev_since.get_or_insert(time),
                false => witnessed.prev_since = None,
            }
        }
        witnessed
    }

    fn until(&self, last: &SwitchRow, before: Timestamp, seen: &mut Sightings) -> Witnessed {
        let events = self.between(Some(last), None);
        let events = events.map(|events| events.before(before));
        self.seen_after(last, events, seen)
    }

    fn see(&self, row: &SwitchRow, span: TimeSpan, seen: &mut Sightings) {
        let Some(events) = self.between(None, Some(row)) else {
            return;
        };
        seen.begin(events.clock);
        for event in events.not_before(span.start).before(span.end).in_order() {
            seen.add(&event, event.time.0);
        }
    }

    fn prev_since(&self, row: &SwitchRow, from: Timestamp, seen: &mut Sightings) -> Timestamp {
        let Some(events) = self.between(None, Some(row)) else {
            return from;
        };
        seen.begin(events.clock);
        let mut since = None;
        for event in events.not_before(from).in_order() {
            let time = event.time.min(Timestamp(row.time));
            seen.add(&event, time.0);
            match event.thread {
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
        self.seen_after(last, self.between(Some(last), None), seen)
    }

    fn are_of_two_buffers(&self, first: &SwitchRow, second: &SwitchRow) -> bool {
        let lane = |row: &SwitchRow| Some(self.cursor.lane(EventId(row.event.get()?)));
        lane(first) != lane(second)
    }

    fn took_over(&self, ran: ThreadId, thread: ThreadId) -> bool {
        self.taken_over.0.contains(&(ran, thread))
    }
}
