//! The innermost slice of a thread's track at each of many times, in one walk along all rows of the track. The times
//! come in ascending order. Returns the same slices as [`Slices::innermost`], and if asked also slices of no length.
//!
//! A track of few rows has every row examined for every time. A track of many rows (deep nesting) has two queues: the
//! rows by the start of their next slice, and the slices that have begun, innermost first. A time then costs only the
//! slices that begin before it and were not taken from the queue yet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::slice_table::TrackTables;
use crate::base::Maybe;
use crate::trace::packed::Packed;
use crate::trace::slices::SliceRow;
use crate::trace::{SliceId, Slices, ThreadId, TrackKind, tracks};

/// Walk along the rows of one thread's track, for times in ascending order.
pub(crate) struct Around<'a> {
    slices: &'a Slices,
    rows: Vec<Row>,
    /// The queues of a track with more than [`MOST_ROWS`] rows.
    queues: Option<Queues>,
    empty: Empty,
}

/// Whether a slice of no length contains the time at which it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// It contains no time.
    ContainsNothing,
    /// It contains its start, as other slices do.
    ContainsItsStart,
}

impl Empty {
    /// Returns whether a slice that starts at `time` or before contains `time`.
    fn contains(self, start: i64, end: Maybe<i64>, time: i64) -> bool {
        end > time || (self == Empty::ContainsItsStart && start == time)
    }
}

/// A track with at most this many rows has each row examined for every time.
const MOST_ROWS: usize = 64;

/// The slices that have not begun at the walk's time, and those that have.
struct Queues {
    /// One entry for each row that has slices left: (start of its next slice, that slice's index, end of the row).
    next: BinaryHeap<Reverse<(i64, u32, u32)>>,
    /// Slices that have begun: (start, slice index).
    begun: BinaryHeap<(i64, u32)>,
}

impl Queues {
    fn new(slices: &Slices, rows: &[Row]) -> Queues {
        let first = |row: &Row| {
            let is_there = row.next < row.until;
            is_there.then(|| Reverse((slices.starts.at(row.next as usize), row.next, row.until)))
        };
        Queues {
            next: rows.iter().filter_map(first).collect(),
            begun: BinaryHeap::new(),
        }
    }

    fn innermost(&mut self, slices: &Slices, time: i64, empty: Empty) -> Option<SliceId> {
        while let Some(&Reverse((start, slice, until))) = self.next.peek()
            && start <= time
        {
            self.next.pop();
            if empty.contains(start, slices.end(slice as usize), time) {
                self.begun.push((start, slice));
            }
            if slice + 1 < until {
                let start = slices.starts.at(slice as usize + 1);
                self.next.push(Reverse((start, slice + 1, until)));
            }
        }
        while let Some(&(start, slice)) = self.begun.peek() {
            if empty.contains(start, slices.end(slice as usize), time) {
                return Some(SliceId(slice));
            }
            // Times ascend: a slice that is over now is over for all later times.
            self.begun.pop();
        }
        None
    }
}

/// A row of the track, and the position of the walk in it.
struct Row {
    /// Start of the last slice that begins at or before the last queried time; `i64::MAX` before the row's first slice.
    start: i64,
    /// End of the same slice; `i64::MIN` before the row's first slice.
    end: Maybe<i64>,
    /// Start of the slice after it.
    next_start: Maybe<i64>,
    /// Index of the slice after it.
    next: u32,
    /// Index of the first slice after the row.
    until: u32,
}

impl<'a> Around<'a> {
    /// Starts a walk at the beginning of a thread's track. Without such a track every query returns `None`.
    pub(super) fn new(tables: &'a TrackTables, thread: ThreadId, empty: Empty) -> Around<'a> {
        let slices = &tables.slices;
        let track = tracks::of_kind(&tables.tracks, TrackKind::Thread(thread));
        let track = track.and_then(|id| tables.tracks.get(id.0 as usize));
        let rows = track.map_or(&[][..], |track| slices.rows_of(track));
        let row = |row: &SliceRow| Row {
            start: i64::MAX,
            end: Maybe::new(i64::MIN),
            next_start: start_of(slices, row.slices.start, row.slices.end),
            next: row.slices.start,
            until: row.slices.end,
        };
        let rows: Vec<Row> = rows.iter().map(row).collect();
        let is_deep = rows.len() > MOST_ROWS;
        Around {
            slices,
            queues: is_deep.then(|| Queues::new(slices, &rows)),
            rows,
            empty,
        }
    }

    /// Returns the innermost slice that contains `time`; `time` must not be before the time of the previous call.
    pub(crate) fn innermost(&mut self, time: i64) -> Option<SliceId> {
        if let Some(queues) = &mut self.queues {
            return queues.innermost(self.slices, time, self.empty);
        }
        let mut best: Option<(i64, u32)> = None;
        for row in &mut self.rows {
            if row.next_start <= time {
                row.walk(self.slices, time);
            }
            let found = (row.start, row.next.wrapping_sub(1));
            if self.empty.contains(row.start, row.end, time) && best.is_none_or(|best| best < found)
            {
                best = Some(found);
            }
        }
        best.map(|(_, id)| SliceId(id))
    }
}

impl Row {
    /// Moves to the last slice that begins at or before `time`. Call only if `next_start` is at or before `time`.
    fn walk(&mut self, slices: &Slices, time: i64) {
        self.next = first_after(&slices.starts, self.next, self.until, time);
        let last = self.next.saturating_sub(1) as usize;
        (self.start, self.end) = (slices.starts.at(last), slices.end(last));
        self.next_start = start_of(slices, self.next, self.until);
    }
}

fn start_of(slices: &Slices, slice: u32, until: u32) -> Maybe<i64> {
    let start = (slice < until).then(|| slices.starts.at(slice as usize));
    start.into()
}

/// Returns the first slice in `from..until` that starts after `time`. Searches with doubling steps, because the slice is
/// usually near.
fn first_after(starts: &Packed<i64>, from: u32, until: u32, time: i64) -> u32 {
    let (mut low, mut step) = (from, 1);
    loop {
        let probe = low.saturating_add(step - 1);
        if probe >= until {
            break;
        }
        if starts.at(probe as usize) > time {
            let range = low as usize..probe as usize;
            return low + starts.partition_point(range, |start| start <= time) as u32;
        }
        low = probe + 1;
        step *= 2;
    }
    let range = low as usize..until as usize;
    low + starts.partition_point(range, |start| start <= time) as u32
}
