//! Items: what is written at a time, its order among items of the same time, and the sorted items of a window.
//!
//! Items of one time have the order of their events in the source, with ends before begins; whole slices come first,
//! outer ones before inner ones.

use super::forms::BeginsAround;
use crate::base::Maybe;
use crate::base::time_order::Sorter;
use crate::trace::{EventId, Events, Trace, TrackId};

/// Something that is written at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Time, in ns on the trace's clock.
    pub time: i64,
    /// The order among items of one time: the order of their events in the source (see `order_of`).
    pub order: u64,
    /// The kind of item.
    pub what: What,
    /// The row in the table that the kind refers to.
    pub row: u32,
    /// The index of the track, counter track, CPU or thread to which the row belongs.
    pub of: u32,
    /// The slice, for items of slices. It is read while a lane is gathered, where neighbouring rows are adjacent in
    /// memory: in order of time, rows of all lanes alternate.
    pub slice: SliceFacts,
}

/// [`Item::of`] of a point that is on no track.
const NO_TRACK: u32 = u32::MAX;

/// The columns of a slice besides its start: see [`Slices`](crate::trace::Slices).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceFacts {
    /// End, in ns; none if it was still open at the end of its file.
    pub end: Maybe<i64>,
    /// Whether the slice's end was not recorded: `end` is then only the time to which the slice is drawn.
    pub is_unended: bool,
    /// The event that began the slice.
    pub begin: u32,
    /// The event that ended the slice.
    pub finish: Maybe<u32>,
    /// The slice's label.
    pub label: u32,
}

/// A slice of the table: its row, its start in ns, and its other columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceAt {
    pub row: usize,
    pub start: i64,
    pub facts: SliceFacts,
}

/// When an item is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ItemTime {
    /// Time, in ns on the trace's clock.
    pub time: i64,
    /// The order among items of one time (see `order_of`).
    pub order: u64,
}

impl ItemTime {
    /// Returns the time before all other items of the same time.
    pub(crate) fn first_at(time: i64) -> ItemTime {
        ItemTime { time, order: 0 }
    }
}

impl SliceAt {
    /// Returns a slice. Panics if there is no such slice.
    #[inline]
    pub(super) fn of(trace: &Trace, index: usize) -> SliceAt {
        let slices = &*trace.slices;
        let start = slices.starts.at(index);
        let begin = slices.begins.at(index);
        let end = match slices.lasting.is_empty() {
            true => slices.ends.get(index, start),
            false => slices.open_end(index),
        };
        let facts = SliceFacts {
            end,
            is_unended: slices.is_unended(index),
            begin,
            finish: slices.finishes.get(index, begin),
            label: slices.label_ids.at(index),
        };
        SliceAt {
            row: index,
            start,
            facts,
        }
    }
}

impl Item {
    /// Returns the position, counted from 1, of the item's event among the events of the same rounded time; 0 for an
    /// item before all events or without an event at its time, `u64::MAX` for an item after all events.
    fn order_in_time(&self, events: &Events) -> u64 {
        let Some(BesideEvent { event, .. }) = event_of(self.order) else {
            return if self.order < LAST_ORDER { 0 } else { u64::MAX };
        };
        // An end that is written before the ends of its outer slices may have the order of the event before its own.
        let mut near = [event, event.saturating_add(1)].into_iter().map(EventId);
        let own = near.find(|id| (id.0 as usize) < events.len() && events.time(*id).0 == self.time);
        own.map_or(0, |id| events.order_in_time(id).saturating_add(1))
    }

    /// Returns an item that does not belong to a slice.
    pub(super) fn new(what: What, at: ItemTime, row: u32, of: u32) -> Item {
        Item {
            time: at.time,
            order: at.order,
            what,
            row,
            of,
            slice: SliceFacts::default(),
        }
    }

    /// Returns an item that belongs to no row of another table.
    pub(super) fn alone(what: What, at: ItemTime, row: u32) -> Item {
        Item::new(what, at, row, NO_TRACK)
    }

    /// Returns the item of an instant that is on no track.
    pub(crate) fn trackless(at: ItemTime, event: u32) -> Item {
        Item::new(What::Instant, at, event, NO_TRACK)
    }

    /// Returns the track of an item of a slice or instant, if it is on one.
    pub(crate) fn track(&self) -> Option<TrackId> {
        (self.of != NO_TRACK).then_some(TrackId(self.of))
    }

    /// Returns an item of a slice.
    #[inline]
    pub(crate) fn of_slice(what: What, at: ItemTime, slice: SliceAt, of: u32) -> Item {
        Item {
            slice: slice.facts,
            ..Item::new(what, at, slice.row as u32, of)
        }
    }
}

/// The order after all others.
pub(super) const LAST_ORDER: u64 = (1 << 36) - 1;
/// Orders below this belong to losses (0) and to whole slices, by their depth.
const WHOLE_ORDERS: u64 = 1024;
/// The orders within an event: its end, its begin, the end of the slice that it also began, whole slices that begin
/// with it.
pub(super) const END_ORDER: u64 = 0;
const BEGIN_ORDER: u64 = 1;
const END_AT_ONCE_ORDER: u64 = 2;
const INSIDE_ORDERS: std::ops::RangeInclusive<u64> = 3..=15;

/// The sorted items of a window, and buffers to gather and sort the items of the next window.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(super) gathered: Vec<Item>,
    times: Vec<i64>,
    sorter: Sorter,
    /// The items of the window, in order.
    pub items: Vec<Item>,
}

impl Window {
    /// Returns a window of all items that were gathered, of a trace with these events.
    pub(super) fn of(gathered: Vec<Item>, events: &Events) -> Window {
        let mut window = Window {
            gathered,
            ..Window::default()
        };
        window.sort(events);
        window
    }

    pub(super) fn sort(&mut self, events: &Events) {
        self.times.clear();
        self.times
            .extend(self.gathered.iter().map(|item| item.time));
        self.items.clear();
        self.items.reserve(self.gathered.len());
        let times = || self.times.iter().copied();
        let (Some(first), Some(last)) = (times().min(), times().max()) else {
            return;
        };
        // The items are scattered in memory: copying them in a tight loop is faster than fetching each while encoding.
        let (gathered, items) = (&self.gathered, &mut self.items);
        let sorter = &mut self.sorter;
        sorter.visit_in_order(&self.times, first..=last, |number, _| {
            if let Some(item) = gathered.get(number) {
                items.push(*item);
            }
        });
        let is_rounded = events.is_rounded();
        // Few items have the same time.
        for of_one_time in self.items.chunk_by_mut(|a, b| a.time == b.time) {
            // The sort is stable: items of equal order stay as they were gathered.
            match (of_one_time.len(), is_rounded) {
                (0..=1, _) => {}
                (_, false) => of_one_time.sort_by_key(|item| item.order),
                (_, true) => {
                    of_one_time.sort_by_key(|item| (item.order_in_time(events), item.order))
                }
            }
        }
    }
}

/// Returns the order of the item that an event begins: an event may end one slice and begin the next.
pub(super) fn order_of(event: u32) -> u64 {
    order_among(event, BEGIN_ORDER)
}

pub(super) fn order_among(event: u32, which: u64) -> u64 {
    ((u64::from(event) << 4 | which) + WHOLE_ORDERS).min(LAST_ORDER)
}

/// Returns the order of a whole slice, and of an unfinished slice among whole ones: before all others of its time,
/// outer slices first. So they nest when they are read back by [`Ties::First`](crate::event::Ties), whether or not
/// they nest in time.
pub(super) fn order_of_whole(depth: u32) -> u64 {
    (u64::from(depth) + 1).min(WHOLE_ORDERS - 1)
}

/// Returns the order of a whole slice that may be inside slices with a begin of their own at its time: it comes after
/// that begin.
pub(super) fn order_of_whole_in(
    trace: &Trace,
    begins: &BeginsAround,
    slice: usize,
    depth: u32,
) -> u64 {
    match begins.of(trace, slice) {
        Some(begin) => {
            let inside = (INSIDE_ORDERS.start() - 1).saturating_add(begin.distance);
            order_among(begin.event, inside.min(*INSIDE_ORDERS.end()))
        }
        None => order_of_whole(depth),
    }
}

/// Returns the event to which an order belongs, and whether the item comes after the event's own record; `None` if it
/// comes before all others of its time.
pub(super) fn event_of(order: u64) -> Option<BesideEvent> {
    let number = order
        .checked_sub(WHOLE_ORDERS)
        .filter(|_| order < LAST_ORDER)?;
    let side = match number & 0xf {
        0..=BEGIN_ORDER => Side::Before,
        _ => Side::After,
    };
    Some(BesideEvent {
        event: u32::try_from(number >> 4).ok()?,
        side,
    })
}

/// Where an item is written among the records of events.
pub(crate) struct BesideEvent {
    pub event: u32,
    pub side: Side,
}

/// The side of a record on which an item is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before the record, or instead of it.
    Before,
    /// After the record.
    After,
}

/// Returns the order of a slice's end: before the other items of its event, but after the slice's begin.
pub(super) fn order_of_end(slice: &SliceAt) -> u64 {
    let facts = &slice.facts;
    let is_at_once = facts.end == slice.start && facts.finish == facts.begin;
    let which = if is_at_once {
        END_AT_ONCE_ORDER
    } else {
        END_ORDER
    };
    order_among(facts.finish.or_greatest(), which)
}

/// Returns the order of a slice's end if slices around it may end at the same time by an earlier event: readers end
/// the innermost slice first, so this end comes before theirs.
pub(super) fn order_of_inner_end(trace: &Trace, slice: &SliceAt) -> u64 {
    let slices = &trace.slices;
    let mut order = order_of_end(slice);
    let end = slice.facts.end;
    let (mut at, mut distance) = (slice.row, 0);
    if end == slice.start {
        return order;
    }
    while let Some(around) = slices.parent(at).map(|parent| parent.0 as usize)
        && slices.open_end(around) == end
    {
        distance += 1;
        if let Some(finish) = slices.finish(around) {
            let before = order_among(finish.0, END_ORDER).saturating_sub(distance);
            order = order.min(before);
        }
        at = around;
    }
    order
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A whole slice.
    Whole,
    /// A slice's begin.
    Begin,
    /// A slice's end.
    End,
    /// An asynchronous slice's begin.
    AsyncBegin,
    /// An asynchronous slice's end.
    AsyncEnd,
    /// A point (`row` is the event).
    Instant,
    /// A counter's sample.
    Sample,
    /// A CPU's switch to a run (`row`), from the run before it or from idle.
    SwitchTo,
    /// A CPU's switch from a run to idle.
    SwitchToIdle,
    /// A CPU's switch to idle at the range's end, from a run (`row`) that lasts until then or longer.
    SwitchAtEnd,
    /// A CPU's switch to idle from a thread without a known run: `row` is the state that follows.
    SwitchOff,
    /// A wakeup of a thread: `row` is the state that it began, which contains the waker.
    Wakeup,
    /// A switch that ends a run (`row`) for which the FXT file contains no end that names the thread.
    UnseenEnd,
    /// A log message.
    Log,
    /// A flow mark (`row` is its index).
    Flow,
    /// A gap: events were lost before it.
    Loss,
    /// A userspace object (`row` is the event) that is not a point of the selection.
    Object,
}
