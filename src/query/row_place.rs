//! The item that a row of numbers is about: a row of an answer to a question in SQL, whose columns have the names and
//! values of the tables in data sets.
//!
//! An id is the number of a row of some table, but the answer does not say of which one: it is the item with that number
//! that begins at the row's time.

use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::query::Item;
use crate::trace::{
    CounterTrackId, EventId, FlowId, RunId, SliceId, StateId, ThreadId, Trace, TrackId,
};

/// The time of a row, and what else it says about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// When it begins.
    pub time: Timestamp,
    /// How long it lasts.
    pub length: Option<Nanos>,
    /// The number of a row of some table.
    pub id: Option<u32>,
    /// The number of a track, as the table `tracks` counts them: counters come after the others.
    pub track: Option<u32>,
    /// The thread.
    pub thread: Option<ThreadId>,
}

impl RowPlace {
    /// Returns the time that the row is about: empty if the row has no length.
    #[must_use]
    pub fn span(&self) -> TimeSpan {
        let length = self.length.unwrap_or_default().0.max(0);
        TimeSpan::new(self.time, Timestamp(self.time.0.saturating_add(length)))
    }

    /// Returns the item; `None` if the trace has no item that begins at this time and agrees with the numbers.
    #[must_use]
    pub fn item(&self, trace: &Trace) -> Option<Item> {
        let by_id = self.id.and_then(|id| self.item_with_id(trace, id));
        by_id
            .or_else(|| self.item_on_track(trace, self.track?))
            .or_else(|| self.state_of(trace, self.thread?))
    }

    fn item_with_id(&self, trace: &Trace, id: u32) -> Option<Item> {
        let counter = self.track.and_then(|track| counter_of(trace, track));
        let sample = counter.map(|counter| Item::Sample(counter, id));
        let all = [
            Some(Item::Slice(SliceId(id))),
            Some(Item::Run(RunId(id))),
            Some(Item::State(StateId(id))),
            sample,
            Some(Item::Flow(FlowId(id))),
            Some(Item::Event(EventId(id))),
        ];
        let begins_here = |item: &Item| self.begins(trace, *item) && self.agrees(trace, *item);
        let found: Vec<Item> = all.into_iter().flatten().filter(begins_here).collect();
        self.best(trace, found.into_iter())
    }

    /// Returns whether the item begins at the row's time.
    fn begins(&self, trace: &Trace, item: Item) -> bool {
        item.span(trace).is_some_and(|span| span.start == self.time)
    }

    /// Returns whether the item is on the row's track and of its thread, as far as the row names them.
    fn agrees(&self, trace: &Trace, item: Item) -> bool {
        let is_on_track = match (item, self.track) {
            (Item::Slice(id), Some(track)) => trace.slices.row_of(id).track == TrackId(track),
            _ => true,
        };
        let thread = self.thread;
        is_on_track && (thread.is_none() || item.thread(trace).is_none_or(|of| Some(of) == thread))
    }

    /// Returns the first item as long as the row says, otherwise the first.
    fn best(&self, trace: &Trace, items: impl Iterator<Item = Item> + Clone) -> Option<Item> {
        let is_as_long = |item: &Item| {
            let span = item.span(trace);
            span.map(TimeSpan::duration) == self.length
        };
        let exact = items.clone().find(is_as_long);
        exact.or_else(|| items.clone().next())
    }

    fn item_on_track(&self, trace: &Trace, track: u32) -> Option<Item> {
        if let Some(counter) = counter_of(trace, track) {
            let samples = trace.counters.tracks.get(counter.0 as usize)?;
            let sample = trace.counters.sample_at(samples, self.time)?;
            let item = Item::Sample(counter, sample);
            return self.begins(trace, item).then_some(item);
        }
        let track = trace.tracks.get(track as usize)?;
        let instant = TimeSpan::new(self.time, Timestamp(self.time.0.saturating_add(1)));
        let rows = trace.slices.rows_of(track).iter();
        let slices = rows.flat_map(|row| trace.slices.overlapping(row, instant));
        let slices = slices.map(|id| Item::Slice(SliceId(id)));
        self.best(trace, slices.filter(|item| self.begins(trace, *item)))
    }

    fn state_of(&self, trace: &Trace, thread: ThreadId) -> Option<Item> {
        let states = trace.states.of(thread);
        let range = states.start as usize..states.end as usize;
        let starts = trace.states.starts.get(range)?;
        let first = starts.partition_point(|&start| start < self.time.0) as u32;
        let here = (states.start + first..states.end).map(|id| Item::State(StateId(id)));
        self.best(trace, here.take_while(|item| self.begins(trace, *item)))
    }
}

/// Returns the counter with this number of a track.
fn counter_of(trace: &Trace, track: u32) -> Option<CounterTrackId> {
    let number = track.checked_sub(trace.tracks.len() as u32)?;
    ((number as usize) < trace.counters.tracks.len()).then_some(CounterTrackId(number))
}
