//! What is to be written at a time, its place among what has the same time, and the items of a window in their order.
//!
//! The order among items of one time is that of their events in the source, with ends before begins; whole slices come
//! first, those around others before them.

use super::copies::CopyList;
use super::forms::BeginsAround;
use crate::base::time_order::Sorter;
use crate::trace::Trace;

/// Something to be written at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// When, on the trace's clock.
    pub time: i64,
    /// The order among items of one time: that of their events in the source (see `order_of`).
    pub order: u64,
    /// What.
    pub what: What,
    /// The row.
    pub row: u32,
    /// The track, counter track, CPU or thread that the row is of.
    pub of: u32,
    /// The slice, where it is of one. It is read with its neighbours of the row, which lie together: in the order of
    /// time those of all rows alternate.
    pub slice: SliceFacts,
}

/// What an item says of its slice beside its start: see [`Slices`](crate::trace::Slices).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceFacts {
    /// First nanosecond after; `i64::MAX` if it was still open at the end of its file.
    pub end: i64,
    /// Whether its end was not seen, and `end` is where it is drawn up to.
    pub is_unended: bool,
    /// The event that began it.
    pub begin: u32,
    /// The event that ended it.
    pub finish: u32,
    /// Its label.
    pub label: u32,
}

impl SliceFacts {
    /// When a slice starts, and what an item says of it. Panics if there is no such slice, as slices do.
    #[inline]
    pub fn of(trace: &Trace, index: usize) -> (i64, SliceFacts) {
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
        (start, facts)
    }
}

impl Item {
    /// An item that is not of a slice.
    pub fn new(what: What, (time, order): (i64, u64), row: u32, of: u32) -> Item {
        Item {
            time,
            order,
            what,
            row,
            of,
            slice: SliceFacts::default(),
        }
    }

    /// An item of a slice.
    #[inline]
    pub fn of_slice(
        what: What,
        (time, order): (i64, u64),
        (slice, facts): (usize, SliceFacts),
        of: u32,
    ) -> Item {
        Item {
            slice: facts,
            ..Item::new(what, (time, order), slice as u32, of)
        }
    }
}

/// The order behind all others.
pub(super) const LAST_ORDER: u64 = (1 << 36) - 1;
/// The orders below are those of losses (0) and whole slices, by their depth.
const WHOLE_ORDERS: u64 = 1024;
/// The orders of an event: its end, its begin, the end of what it also began, what is whole and begins with it.
pub(super) const END_ORDER: u64 = 0;
const BEGIN_ORDER: u64 = 1;
const END_AT_ONCE_ORDER: u64 = 2;
const INSIDE_ORDERS: std::ops::RangeInclusive<u64> = 3..=15;

/// The items of a window in their order, and the room to gather and sort the next one's.
#[derive(Debug, Default)]
pub struct Window {
    pub(super) gathered: Vec<Item>,
    times: Vec<i64>,
    sorter: Sorter,
    /// What it holds, in order.
    pub items: Vec<Item>,
    /// The events whose records are copied among them.
    pub copies: CopyList,
}

impl Window {
    /// One that holds all that was gathered.
    pub fn of(gathered: Vec<Item>) -> Window {
        let mut window = Window {
            gathered,
            ..Window::default()
        };
        window.sort();
        window
    }

    pub(super) fn sort(&mut self) {
        self.times.clear();
        self.times
            .extend(self.gathered.iter().map(|item| item.time));
        self.items.clear();
        self.items.reserve(self.gathered.len());
        let times = || self.times.iter().copied();
        let (Some(first), Some(last)) = (times().min(), times().max()) else {
            return;
        };
        // They lie all over the caches: fetched one after the other in a tight loop they come quicker than one by
        // one while encoding.
        let (gathered, items) = (&self.gathered, &mut self.items);
        let sorter = &mut self.sorter;
        sorter.visit_in_order(&self.times, (first, last), |number, _| {
            if let Some(item) = gathered.get(number) {
                items.push(*item);
            }
        });
        // Few items have the same time.
        for of_one_time in self.items.chunk_by_mut(|a, b| a.time == b.time) {
            // Stable: of equal ones the one that was gathered first stays first.
            if of_one_time.len() > 1 {
                of_one_time.sort_by_key(|item| item.order);
            }
        }
    }
}

/// The place of what an event does: one event may end a slice and begin the next.
pub(super) fn order_of(event: u32) -> u64 {
    order_among(event, BEGIN_ORDER)
}

pub(super) fn order_among(event: u32, which: u64) -> u64 {
    ((u64::from(event) << 4 | which) + WHOLE_ORDERS).min(LAST_ORDER)
}

/// The place of a whole slice, and of an unfinished one among such: before all else of its time, and those around
/// it first. So they nest when read back by [`Ties::First`](crate::event::Ties); whether they nest in time does not
/// matter.
pub(super) fn order_of_whole(depth: u32) -> u64 {
    (u64::from(depth) + 1).min(WHOLE_ORDERS - 1)
}

/// The same of one that may lie in slices that begin at its time by a begin of their own: it comes behind that.
pub(super) fn order_of_whole_in(
    trace: &Trace,
    begins: &BeginsAround,
    slice: usize,
    depth: u32,
) -> u64 {
    match begins.of(trace, slice) {
        Some((begin, distance)) => {
            let inside = (INSIDE_ORDERS.start() - 1).saturating_add(distance);
            order_among(begin, inside.min(*INSIDE_ORDERS.end()))
        }
        None => order_of_whole(depth),
    }
}

/// The place of a slice's end: before what else its event does, but after the slice's begin.
pub(super) fn order_of_end(start: i64, facts: &SliceFacts) -> u64 {
    let is_at_once = start == facts.end && facts.begin == facts.finish;
    let which = if is_at_once {
        END_AT_ONCE_ORDER
    } else {
        END_ORDER
    };
    order_among(facts.finish, which)
}

/// The same where those around it may end with it by an event before its own: readers end the innermost first, so it
/// comes before them.
pub(super) fn order_of_inner_end(
    trace: &Trace,
    (slice, (start, facts)): (usize, (i64, SliceFacts)),
) -> u64 {
    let slices = &trace.slices;
    let mut order = order_of_end(start, &facts);
    let end = facts.end;
    let (mut at, mut distance) = (slice, 0);
    if start == end {
        return order;
    }
    while let Some(around) = slices.parents.get(at).map(|parent| parent as usize)
        && around < slices.len()
        && slices.open_end(around) == end
    {
        distance += 1;
        let finish = slices.finish(around);
        if finish != u32::MAX {
            let before = order_among(finish, END_ORDER).saturating_sub(distance);
            order = order.min(before);
        }
        at = around;
    }
    order
}

/// What a row becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A slice, whole.
    Whole,
    /// A slice's begin.
    Begin,
    /// A slice's end.
    End,
    /// An asynchronous slice's begin.
    AsyncBegin,
    /// Its end.
    AsyncEnd,
    /// A point (`row` is the event).
    Instant,
    /// A counter's sample.
    Sample,
    /// A counter event that is no counter's sample (`row` is the event).
    CounterWithoutNumber,
    /// A CPU's switch to a run (`row`), from the run before it or from idle.
    SwitchTo,
    /// A CPU's switch from a run to idle.
    SwitchToIdle,
    /// A CPU's switch to idle where the range ends, from a run (`row`) that lasts until there or longer.
    SwitchAtEnd,
    /// A CPU's switch to idle from a thread of which no run is known: its state (`row`) says what it does then.
    SwitchOff,
    /// A thread was woken: its state (`row`) says by whom.
    Wakeup,
    /// A wakeup (`row` is the event) of a thread that was up already.
    WakeupOfReady,
    /// A scheduling record of an FXT file (`row` is the event), as it stands there.
    Scheduling,
    /// A switch that takes a run off its CPU (`row` is the run) of which the FXT file it came from has no end that
    /// names the thread.
    UnseenEnd,
    /// A log message.
    Log,
    /// A mark of the list of flow marks.
    Flow,
    /// Events were lost before it.
    Loss,
    /// A userspace object (`row` is the event) that is no point of the selection.
    Object,
}
