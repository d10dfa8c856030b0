//! Ids of asynchronous slices.
//!
//! A reader finds the slice that an end closes by process and id, and names its track after the first slice it saw
//! under the id. So ids of the source are kept where it has some: the encoder finds them among the fields. Elsewhere
//! every outermost slice takes an id of its group that is free, or a new one, and what lies in it the same: tracks
//! are as many as slices overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::export::Chosen;
use crate::trace::{EventId, SliceId, Trace, Track, TrackId, TrackKind};

/// The ids that were chosen, for slices and points without one of their own.
#[derive(Debug, Default)]
pub struct AsyncIds {
    slices: FxHashMap<u32, u64>,
    instants: FxHashMap<u32, u64>,
}

impl AsyncIds {
    /// Chooses them; `own_id` says the id that an event has in the source. Formats have ids or they have none: what
    /// holds for the first event of a track holds for the others.
    pub fn new(
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
            .rows
            .get(track.rows.start as usize..track.rows.end as usize)
            .unwrap_or(&[])
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
            let id = match self.slices.get(&slices.parents.at(index)) {
                Some(&around) => around,
                None => {
                    let id = free.pop().unwrap_or_else(|| take(next));
                    busy.push(Reverse((slices.open_end(index), id)));
                    id
                }
            };
            self.slices.insert(slice, id);
        }
        for event in trace.instants.of(&track.instants) {
            self.instants.insert(event, take(next));
        }
    }

    /// The id that was chosen for a slice.
    pub fn of_slice(&self, id: SliceId) -> u64 {
        self.slices.get(&id.0).copied().unwrap_or(0)
    }

    /// The id that was chosen for an instant on an asynchronous track.
    pub fn of_instant(&self, id: EventId) -> u64 {
        self.instants.get(&id.0).copied().unwrap_or(0)
    }
}

fn take(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}

/// The event of a track's first slice, or of its first point.
fn first_event(trace: &Trace, track: &Track) -> Option<EventId> {
    let rows = trace
        .slices
        .rows
        .get(track.rows.start as usize..track.rows.end as usize);
    let slice = rows
        .unwrap_or(&[])
        .iter()
        .find_map(|row| row.slices.clone().next());
    let event = match slice {
        Some(slice) => trace.slices.begins.get(slice as usize),
        None => trace.instants.of(&track.instants).next(),
    };
    event.map(EventId)
}
