//! Ids of asynchronous slices.
//!
//! A reader finds the slice that an end closes by process and id, and names its track after the first slice it saw
//! under the id. So ids of the source are kept where it has some. Elsewhere every outermost slice takes an id of its
//! group that is free, or a new one, and what lies in it the same: tracks are as many as slices overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::export::Chosen;
use crate::trace::{EventId, SliceId, Trace, TrackId, TrackKind};

/// The ids.
#[derive(Debug, Default)]
pub struct AsyncIds {
    slices: FxHashMap<u32, u64>,
    instants: FxHashMap<u32, u64>,
}

impl AsyncIds {
    /// Chooses them; `own_id` says the id that an event has in the source.
    pub fn new(
        trace: &Trace,
        chosen: &Chosen<'_>,
        own_id: &(dyn Fn(EventId) -> Option<u64> + Sync),
    ) -> AsyncIds {
        let mut ids = AsyncIds::default();
        let mut next = 1_u64;
        for (number, track) in trace.tracks.iter().enumerate() {
            if !matches!(track.kind, TrackKind::Async(_))
                || !chosen.has_track(TrackId(number as u32))
            {
                continue;
            }
            ids.choose(trace, track, own_id, &mut next);
        }
        ids
    }

    fn choose(
        &mut self,
        trace: &Trace,
        track: &crate::trace::Track,
        own_id: &(dyn Fn(EventId) -> Option<u64> + Sync),
        next: &mut u64,
    ) {
        let slices = &trace.slices;
        let mut order: Vec<u32> = slices
            .rows
            .get(track.rows.start as usize..track.rows.end as usize)
            .unwrap_or(&[])
            .iter()
            .flat_map(|row| row.slices.clone())
            .collect();
        order.sort_by_key(|&slice| (slices.starts[slice as usize], slices.begins[slice as usize]));
        let own_ids: Vec<Option<u64>> = order
            .par_iter()
            .map(|&slice| own_id(EventId(slices.begins[slice as usize])))
            .collect();
        let mut busy: BinaryHeap<Reverse<(i64, u64)>> = BinaryHeap::new();
        let mut free: Vec<u64> = Vec::new();
        for (slice, own) in order.into_iter().zip(own_ids) {
            let index = slice as usize;
            if let Some(id) = own {
                self.slices.insert(slice, id);
                continue;
            }
            while let Some(&Reverse((end, id))) = busy.peek() {
                if end > slices.starts[index] {
                    break;
                }
                busy.pop();
                free.push(id);
            }
            let id = match self.slices.get(&slices.parents[index]) {
                Some(&around) => around,
                None => {
                    let id = free.pop().unwrap_or_else(|| {
                        *next += 1;
                        *next - 1
                    });
                    busy.push(Reverse((slices.ends[index], id)));
                    id
                }
            };
            self.slices.insert(slice, id);
        }
        let events = trace
            .instants
            .events
            .get(track.instants.start as usize..track.instants.end as usize)
            .unwrap_or(&[]);
        let own_ids: Vec<Option<u64>> = events
            .par_iter()
            .map(|&event| own_id(EventId(event)))
            .collect();
        for (&event, own) in events.iter().zip(own_ids) {
            let id = own.unwrap_or_else(|| {
                *next += 1;
                *next - 1
            });
            self.instants.insert(event, id);
        }
    }

    /// The id of a slice.
    pub fn of_slice(&self, id: SliceId) -> u64 {
        self.slices.get(&id.0).copied().unwrap_or(0)
    }

    /// The id of an instant on an asynchronous track.
    pub fn of_instant(&self, id: EventId) -> u64 {
        self.instants.get(&id.0).copied().unwrap_or(0)
    }
}
