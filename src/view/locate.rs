//! Locates an item: its time, its lane, its neighbours.

use super::action::Level;
use super::direction::Direction;
use super::rows::LaneKind;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::query::Item;
use crate::query::family::{children, wait_before};
use crate::query::gaps;
use crate::query::waker::Waker;
use crate::trace::{
    EventId, FlowId, InstantId, RunId, SliceId, StateId, ThreadId, Trace, TrackId, TrackKind,
};

/// Returns the time range of an item; a point is one nanosecond long. `None` for items without a time of their own.
#[must_use]
pub fn span_of(trace: &Trace, item: Item) -> Option<TimeSpan> {
    let until = |start: Timestamp, end: Option<Timestamp>| {
        TimeSpan::new(start, end.unwrap_or(trace.span.end).max(start))
    };
    let point = |time: Timestamp| TimeSpan::new(time, time + Nanos(1));
    match item {
        Item::Slice(id) if (id.0 as usize) < trace.slices.len() => {
            let slice = trace.slices.get(id);
            Some(until(slice.start, Some(trace.slice_end(id))))
        }
        Item::Run(id) if (id.0 as usize) < trace.runs.len() => {
            let run = trace.runs.get(id);
            Some(until(run.start, run.end))
        }
        Item::State(id) if (id.0 as usize) < trace.states.len() => {
            let state = trace.states.get(id);
            Some(until(state.start, state.end))
        }
        Item::Instant(id) if (id.0 as usize) < trace.instants.len() => {
            Some(point(trace.events.time(trace.instants.event(id))))
        }
        Item::Event(id) if (id.0 as usize) < trace.events.len() => {
            Some(point(trace.events.time(id)))
        }
        Item::Flow(id) => {
            let flow = trace.flows.rows.get(id.0 as usize)?;
            Some(TimeSpan::new(flow.from.time, flow.to.time + Nanos(1)))
        }
        Item::Sample(..) => item.span(trace),
        Item::Gap(id) => {
            let span = trace.gap_span(id)?;
            Some(until(span.start, Some(span.end.max(span.start + Nanos(1)))))
        }
        Item::Thread(id) => {
            let thread = trace.threads.get(id.0 as usize)?;
            // If its start or end was not recorded: the time when it was first or last seen.
            let start = thread.start.unwrap_or(thread.seen.first);
            let end = thread.end.unwrap_or(thread.seen.last);
            (end > start).then(|| TimeSpan::new(start, end))
        }
        Item::Process(id) => {
            let process = trace.processes.get(id.0 as usize)?;
            let seen = trace.file_span(id.0, |source| &source.processes);
            Some(TimeSpan::new(
                process.start.unwrap_or(seen.start),
                process.end.unwrap_or(seen.end),
            ))
        }
        _ => None,
    }
}

/// Returns the lane that draws an item.
#[must_use]
pub fn lane_of(trace: &Trace, item: Item) -> Option<LaneKind> {
    match item {
        Item::Slice(id) if (id.0 as usize) < trace.slices.len() => {
            let after = trace
                .slices
                .rows
                .partition_point(|row| row.slices.start <= id.0);
            Some(LaneKind::Slices(after.checked_sub(1)? as u32))
        }
        Item::Run(id) if (id.0 as usize) < trace.runs.len() => {
            Some(LaneKind::Runs(trace.runs.get(id).cpu))
        }
        Item::State(id) if (id.0 as usize) < trace.states.len() => {
            Some(LaneKind::States(trace.states.get(id).thread))
        }
        Item::Instant(id) => track_of_instant(trace, id).map(LaneKind::Instants),
        Item::Event(id) => lane_of_event(trace, id),
        Item::Flow(id) => {
            let flow = trace.flows.rows.get(id.0 as usize)?;
            lane_of(trace, Item::Slice(flow.from.slice?))
        }
        Item::Thread(id) => lane_of_thread(trace, id),
        Item::Process(id) => {
            let process = trace.processes.get(id.0 as usize)?;
            lane_of_thread(trace, process.main_thread?)
        }
        Item::Cpu(id) => Some(LaneKind::Runs(id)),
        Item::Gap(id) => trace.gap_cpu(id).map(LaneKind::Runs),
        Item::Sample(id, _) => Some(LaneKind::Counter(id)),
        _ => None,
    }
}

/// Returns the lane that shows most of a thread: its states, else its slices, else its points, else the asynchronous
/// slice that shows its life.
fn lane_of_thread(trace: &Trace, id: ThreadId) -> Option<LaneKind> {
    if !trace.states.of(id).is_empty() {
        return Some(LaneKind::States(id));
    }
    let Some(track) = trace.track_of(TrackKind::Thread(id)) else {
        return lane_of(trace, Item::Slice(trace.life_slice_of(id)?));
    };
    match trace.tracks.get(track.0 as usize)?.rows.clone().next() {
        Some(row) => Some(LaneKind::Slices(row)),
        None => Some(LaneKind::Instants(track)),
    }
}

/// Returns the track that contains the point `id`.
fn track_of_instant(trace: &Trace, id: InstantId) -> Option<TrackId> {
    let index = trace
        .tracks
        .iter()
        .position(|track| track.instants.contains(&id.0))?;
    Some(TrackId(index as u32))
}

/// Returns the lane nearest to an event: the states of its thread, or the runs of its CPU.
fn lane_of_event(trace: &Trace, id: EventId) -> Option<LaneKind> {
    if id.0 as usize >= trace.events.len() {
        return None;
    }
    let thread = trace.events.thread(id);
    if let Some(thread) = thread.filter(|&thread| thread != ThreadId::IDLE)
        && !trace.states.of(thread).is_empty()
    {
        return Some(LaneKind::States(thread));
    }
    let own = thread.map_or(TrackKind::Nobody, TrackKind::Thread);
    let of_thread = trace.tracks.iter().position(|track| track.kind == own);
    if let Some(track) = of_thread {
        let track = TrackId(track as u32);
        return match trace.tracks[track.0 as usize].rows.clone().next() {
            Some(row) => Some(LaneKind::Slices(row)),
            None => Some(LaneKind::Instants(track)),
        };
    }
    let cpu = trace.events.get(id).cpu?;
    Some(LaneKind::Runs(crate::trace::CpuId(cpu)))
}

/// Returns the item before or after `item` on its lane.
#[must_use]
pub fn neighbour(trace: &Trace, item: Item, direction: Direction) -> Option<Item> {
    if let Item::Event(id) = item {
        return event_neighbour(trace, id, direction).map(Item::Event);
    }
    if let Item::Gap(id) = item {
        return gaps::beside(trace, id, toward(direction), gaps::Among::ItsCpu).map(Item::Gap);
    }
    let (id, range, make) = on_lane(trace, item)?;
    let other = match direction {
        Direction::Previous => id.checked_sub(1),
        Direction::Next => id.checked_add(1),
    };
    other.filter(|id| range.contains(id)).map(make)
}

/// The place of an item among those of its lane.
pub(crate) struct PlaceOnLane {
    /// The number of the item, from 1.
    pub(crate) number: u32,
    /// The number of items on the lane.
    pub(crate) count: u32,
}

/// Returns the place of an item among those of its lane; `None` if it is on no lane.
#[must_use]
pub(crate) fn place_on_lane(trace: &Trace, item: Item) -> Option<PlaceOnLane> {
    let (id, range, _) = on_lane(trace, item)?;
    let number = id.checked_sub(range.start)? + 1;
    range.contains(&id).then_some(PlaceOnLane {
        number,
        count: range.end - range.start,
    })
}

/// Returns the gap to step to: beside the selected one, else beside time `from`; wraps around at the end.
#[must_use]
pub(crate) fn gap_beside(
    trace: &Trace,
    selected: Option<Item>,
    from: Timestamp,
    direction: Direction,
) -> Option<Item> {
    let toward = toward(direction);
    let found = match selected {
        Some(Item::Gap(id)) => gaps::beside(trace, id, toward, gaps::Among::All),
        _ => gaps::near_time(trace, from, toward),
    };
    let start_over = || {
        let far = match direction {
            Direction::Next => Timestamp::MIN,
            Direction::Previous => Timestamp::MAX,
        };
        gaps::near_time(trace, far, toward)
    };
    found.or_else(start_over).map(Item::Gap)
}

fn toward(direction: Direction) -> gaps::Toward {
    match direction {
        Direction::Next => gaps::Toward::Later,
        Direction::Previous => gaps::Toward::Earlier,
    }
}

/// Returns the event before or after `id` in time order over all lanes.
fn event_neighbour(trace: &Trace, id: EventId, direction: Direction) -> Option<EventId> {
    let rank = rank_of_event(trace, id)?;
    let rank = match direction {
        Direction::Previous => rank.checked_sub(1)?,
        Direction::Next => rank.checked_add(1)?,
    };
    trace.events.from_rank(rank).next()
}

/// Returns the index of an event in time order over all lanes.
#[must_use]
pub(crate) fn rank_of_event(trace: &Trace, id: EventId) -> Option<u32> {
    if id.0 as usize >= trace.events.len() {
        return None;
    }
    let time = trace.events.time(id);
    let first = trace.events.rank(time);
    // Usually few events share a nanosecond. The limit keeps the window responsive if a coarse clock gives one time to
    // many events.
    let among = trace
        .events
        .from_time(time)
        .take(100_000)
        .position(|other| other == id)?;
    Some(first + among as u32)
}

/// At most this many flows of one slice can be chosen from.
const MOST_CHOSEN: usize = 1_000;

/// Returns the flows that leave a slice (`Next`) or enter it (`Previous`); for a flow, the flow itself.
#[must_use]
pub fn flows_of(trace: &Trace, item: Item, direction: Direction) -> Vec<FlowId> {
    let slice = match item {
        Item::Slice(slice) => slice,
        Item::Flow(id) => return vec![id],
        _ => return Vec::new(),
    };
    let leads = |id: &FlowId| {
        let flow = trace.flows.rows.get(id.0 as usize);
        flow.is_some_and(|flow| match direction {
            Direction::Next => flow.from.slice == Some(slice) && flow.to.slice.is_some(),
            Direction::Previous => flow.to.slice == Some(slice) && flow.from.slice.is_some(),
        })
    };
    let all = trace.flows.of_slice(slice).filter(leads);
    all.take(MOST_CHOSEN).collect()
}

/// Returns the slice at the far end of a flow of `item`: of the `choice`-th flow that leaves it, or enters it.
#[must_use]
pub(crate) fn followed(
    trace: &Trace,
    item: Item,
    direction: Direction,
    choice: u32,
) -> Option<Item> {
    if matches!(item, Item::State(_) | Item::Run(_)) {
        // From a wait, `Previous` leads to the thread or interrupt that ended the wait.
        return (direction == Direction::Previous)
            .then(|| waker_of(trace, item))
            .flatten();
    }
    let flows = flows_of(trace, item, direction);
    let id = flows.get(choice as usize % flows.len().max(1))?;
    let flow = trace.flows.rows.get(id.0 as usize)?;
    let end = match direction {
        Direction::Next => flow.to,
        Direction::Previous => flow.from,
    };
    end.slice.map(Item::Slice)
}

/// Returns the run of the thread that woke a wait or run, else that thread.
fn waker_of(trace: &Trace, item: Item) -> Option<Item> {
    let wait = match item {
        Item::State(id) if (id.0 as usize) < trace.states.len() => trace.states.get(id),
        Item::Run(id) if (id.0 as usize) < trace.runs.len() => wait_before(trace, id)?,
        _ => return None,
    };
    let waker = match crate::query::waker::waker_of(trace, &wait)? {
        Waker::Thread(waker) => waker,
        Waker::Interrupt(interrupt) => {
            let slice = interrupt.slices.first().copied().map(Item::Slice);
            return slice.or(interrupt.cpu.map(Item::Cpu));
        }
    };
    let runs = trace.runs.of(waker);
    let after = runs.partition_point(|&run| trace.runs.starts[run as usize] <= wait.start.0);
    let run = after.checked_sub(1).and_then(|at| runs.get(at));
    Some(run.map_or(Item::Thread(waker), |&run| Item::Run(RunId(run))))
}

/// At most this many items are searched for the next one of the same name.
const FAR: usize = 5_000_000;

/// Returns the next or previous item of the same name on the same track.
#[must_use]
pub fn same_name(trace: &Trace, item: Item, direction: Direction) -> Option<Item> {
    let name = |item: Item| -> Option<u64> {
        Some(match item {
            Item::Slice(id) => u64::from(trace.slices.label(id).name.0),
            Item::Run(id) => u64::from(trace.runs.get(id).thread.0),
            Item::State(id) => trace.states.get(id).state as u64,
            Item::Instant(id) => u64::from(trace.events.get(trace.instants.event(id)).row.kind.0),
            Item::Event(id) => u64::from(trace.events.get(id).row.kind.0),
            // All samples of a track share its name.
            Item::Sample(id, _) => u64::from(id.0),
            _ => return None,
        })
    };
    if let Item::Event(id) = item {
        return same_event(trace, id, direction).map(Item::Event);
    }
    if let Item::Gap(id) = item {
        return gaps::beside(trace, id, toward(direction), gaps::Among::All).map(Item::Gap);
    }
    if let Item::Slice(id) = item {
        let [before, after] = crate::query::family::same_name(trace, id);
        let next = match direction {
            Direction::Next => after,
            Direction::Previous => before,
        };
        return next.map(Item::Slice);
    }
    let wanted = name(item)?;
    let (id, range, make) = on_lane(trace, item)?;
    let mut others: Box<dyn Iterator<Item = u32>> = match direction {
        Direction::Next => Box::new(id.saturating_add(1)..range.end),
        Direction::Previous => Box::new((range.start..id).rev()),
    };
    others
        .by_ref()
        .take(FAR)
        .map(make)
        .find(|other| name(*other) == Some(wanted))
}

/// The index of an item, the index range of all items on its lane, and a function from index to item.
type OnLane = (u32, std::ops::Range<u32>, Box<dyn Fn(u32) -> Item>);

fn on_lane(trace: &Trace, item: Item) -> Option<OnLane> {
    Some(match (item, lane_of(trace, item)?) {
        (Item::Slice(id), LaneKind::Slices(row)) => {
            let range = trace.slices.rows.get(row as usize)?.slices.clone();
            (id.0, range, Box::new(|id| Item::Slice(SliceId(id))))
        }
        (Item::Run(id), LaneKind::Runs(cpu)) => {
            let make = |id| Item::Run(RunId(id));
            (id.0, trace.runs.on(cpu), Box::new(make))
        }
        (Item::State(id), LaneKind::States(thread)) => {
            let make = |id| Item::State(StateId(id));
            (id.0, trace.states.of(thread), Box::new(make))
        }
        (Item::Instant(id), LaneKind::Instants(track)) => {
            let range = trace.tracks.get(track.0 as usize)?.instants.clone();
            (id.0, range, Box::new(|id| Item::Instant(InstantId(id))))
        }
        (Item::Sample(id, row), _) => {
            let range = trace.counters.tracks.get(id.0 as usize)?.samples.clone();
            (row, range, Box::new(move |row| Item::Sample(id, row)))
        }
        _ => return None,
    })
}

/// Returns the next or previous event of the same kind, over all lanes.
fn same_event(trace: &Trace, id: EventId, direction: Direction) -> Option<EventId> {
    let kind = trace.events.get(id).row.kind;
    let mut rank = rank_of_event(trace, id)?;
    match direction {
        Direction::Next => trace
            .events
            .from_rank(rank.checked_add(1)?)
            .take(FAR)
            .find(|&id| trace.events.get(id).row.kind == kind),
        Direction::Previous => {
            // Events can only be iterated forwards in time: walking back takes blocks of `STEP` events.
            const STEP: u32 = 4_096;
            let lowest = rank.saturating_sub(FAR as u32);
            while rank > lowest {
                let from = rank.saturating_sub(STEP);
                let found = trace
                    .events
                    .from_rank(from)
                    .take((rank - from) as usize)
                    .filter(|&id| trace.events.get(id).row.kind == kind)
                    .last();
                if found.is_some() {
                    return found;
                }
                rank = from;
            }
            None
        }
    }
}

/// Returns the slice that contains a slice, or the first slice nested in it.
#[must_use]
pub(crate) fn around(trace: &Trace, item: Item, level: Level) -> Option<Item> {
    let Item::Slice(id) = item else { return None };
    if id.0 as usize >= trace.slices.len() {
        return None;
    }
    match level {
        Level::Parent => trace.slices.get(id).parent.map(Item::Slice),
        Level::FirstChild => children(trace, id).next().map(Item::Slice),
    }
}
