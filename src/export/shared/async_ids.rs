//! Ids of asynchronous slices.
//!
//! A reader matches an asynchronous end to its slice by process and id, and names the track after the outermost slice.
//! So ids of the source are kept: the encoder finds them among the fields. If the source has none, every
//! outermost slice takes a free id of its group, or a new one, and its children take the same id: there are as many
//! tracks as slices overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::query::selection::Chosen;
use crate::trace::{EventId, SliceId, Trace, Track, TrackId, TrackKind};

/// The chosen ids, for slices and points that have none in the source.
#[derive(Debug, Default)]
pub(crate) struct AsyncIds {
    slices: FxHashMap<u32, u64>,
    instants: FxHashMap<u32, u64>,
}

impl AsyncIds {
    /// Chooses the ids; `own_id` returns the id that an event has in the source. Only the first event of each track is
    /// examined: all events of a format have ids, or none have.
    pub(crate) fn new(
        trace: &Trace,
        chosen: &Chosen<'_>,
        own_id: &dyn Fn(EventId) -> Option<u64>,
    ) -> AsyncIds {
        let mut ids = AsyncIds::default();
        let mut next = 1_u64;
        for (number, track) in trace.tracks.iter().enumerate() {
            let is_async = matches!(track.kind, TrackKind::Async(_));
            if !is_async || !chosen.has_track(TrackId(number as u32)) {
                continue;
            }
            let has_own = first_event(trace, track).is_some_and(|first| own_id(first).is_some());
            if !has_own {
                ids.choose(trace, track, &mut next);
            }
        }
        ids
    }

    fn choose(&mut self, trace: &Trace, track: &Track, next: &mut u64) {
        let slices = &trace.slices;
        let mut order: Vec<u32> = slices
            .rows_of(track)
            .iter()
            .flat_map(|row| row.slices.clone())
            .collect();
        order.sort_by_key(|&slice| {
            (
                slices.starts.at(slice as usize),
                slices.begins.at(slice as usize),
            )
        });
        let mut busy: BinaryHeap<Reverse<(i64, u64)>> = BinaryHeap::new();
        let mut free: Vec<u64> = Vec::new();
        for slice in order {
            let index = slice as usize;
            while let Some(&Reverse((end, id))) = busy.peek() {
                if end > slices.starts.at(index) {
                    break;
                }
                busy.pop();
                free.push(id);
            }
            let id = match slices
                .parent(index)
                .and_then(|around| self.slices.get(&around.0))
            {
                Some(&around) => around,
                None => {
                    let id = free.pop().unwrap_or_else(|| take(next));
                    // An end without an event has no order among the events of its time: the id stays in use for 1 ns more.
                    let after = i64::from(slices.is_unended(index));
                    let end = slices.open_end(index).or_greatest().saturating_add(after);
                    busy.push(Reverse((end, id)));
                    id
                }
            };
            self.slices.insert(slice, id);
        }
        for event in trace.instants.of(&track.instants) {
            self.instants.insert(event, take(next));
        }
    }

    /// Returns the id that was chosen for a slice.
    pub(crate) fn of_slice(&self, id: SliceId) -> u64 {
        self.slices.get(&id.0).copied().unwrap_or(0)
    }

    /// Returns the id that was chosen for an instant on an asynchronous track.
    pub(crate) fn of_instant(&self, id: EventId) -> u64 {
        self.instants.get(&id.0).copied().unwrap_or(0)
    }
}

fn take(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}

/// Returns the event of a track's first slice, or else of its first point.
fn first_event(trace: &Trace, track: &Track) -> Option<EventId> {
    let slice = trace
        .slices
        .rows_of(track)
        .iter()
        .find_map(|row| row.slices.clone().next());
    let event = match slice {
        Some(slice) => trace.slices.begins.get(slice as usize),
        None => trace.instants.of(&track.instants).next(),
    };
    event.map(EventId)
}
