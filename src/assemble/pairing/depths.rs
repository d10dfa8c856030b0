//! The depths of the calls of traced functions. An entry at a depth proves that all calls of its thread that were open
//! at this depth or deeper are over, also if events were lost; a return proves this for calls that are deeper than
//! itself.

use super::super::recorded::Recorded;
use super::super::rows::PerPart;
use crate::base::order::find_near;
use crate::event::CallDepth;

/// The depths that readers stored, sorted by event. The depth of another event follows from the event before it on its
/// thread.
#[derive(Debug, Default)]
pub(super) struct Depths {
    rows: Vec<CallDepth>,
}

impl Depths {
    pub(super) fn new(rows: PerPart<CallDepth>, recorded: &Recorded) -> Depths {
        let mut all = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        for (part, rows) in recorded.parts.iter().zip(rows) {
            all.extend(rows.into_iter().map(|row| CallDepth {
                event: row.event + part.first_event,
                ..row
            }));
        }
        Depths { rows: all }
    }
}

/// The current depth of a thread in its calls.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// The depth that the thread's next entry has if nothing is lost; `None` before its first call.
    next: Option<u32>,
    /// Position of the last row that was found.
    hint: usize,
}

impl Inside {
    /// Returns the depth of an entry, if it is known.
    pub(super) fn enter(&mut self, depths: &Depths, event: u32) -> Option<u32> {
        let depth = self.noted(depths, event).or(self.next);
        self.next = depth.and_then(|depth| depth.checked_add(1));
        depth
    }

    /// Returns the depth of a return, if it is known.
    pub(super) fn leave(&mut self, depths: &Depths, event: u32) -> Option<u32> {
        let implied = self.next.and_then(|next| next.checked_sub(1));
        let depth = self.noted(depths, event).or(implied);
        self.next = depth;
        depth
    }

    fn noted(&mut self, depths: &Depths, event: u32) -> Option<u32> {
        let row = find_near(&depths.rows, event, |row| row.event, &mut self.hint);
        row.map(|row| row.depth)
    }
}
