//! Slices of a track around times that come in order: a walk along all rows at once, for many times one after
//! the other. Answers what [`Trace::innermost_slice`] answers.
//!
//! Of few rows each is looked at for every time. Of many (deep nesting) the rows wait in a queue for the start of their
//! next slice, and slices that have begun in another, innermost first, so that a time costs only what began before it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::trace::packed::Packed;
use crate::trace::slices::SliceRow;
use crate::trace::{SliceId, Slices, ThreadId, Trace, TrackKind};

/// See the module's text.
pub struct Around<'a> {
    slices: &'a Slices,
    rows: Vec<Row>,
    /// Where there are many rows.
    queues: Option<Queues>,
}

/// So many rows are looked at one by one.
const MOST_ROWS: usize = 64;

/// What is to come, and what has begun.
struct Queues {
    /// When the next slice of each row begins, which that is, and the end of its row.
    next: BinaryHeap<Reverse<(i64, u32, u32)>>,
    /// Slices that have begun: start and number.
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

    fn innermost(&mut self, slices: &Slices, time: i64) -> Option<SliceId> {
        while let Some(&Reverse((start, slice, until))) = self.next.peek()
            && start <= time
        {
            self.next.pop();
            if slices.end(slice as usize) > time {
                self.begun.push((start, slice));
            }
            if slice + 1 < until {
                let start = slices.starts.at(slice as usize + 1);
                self.next.push(Reverse((start, slice + 1, until)));
            }
        }
        while let Some(&(_, slice)) = self.begun.peek() {
            if slices.end(slice as usize) > time {
                return Some(SliceId(slice));
            }
            // It is over for all later times, too.
            self.begun.pop();
        }
        None
    }
}

/// A row, and how far it was walked.
struct Row {
    /// The last slice that began by the time that was asked last; one that has ended if there is none.
    start: i64,
    end: i64,
    /// When the next one begins, and which that is.
    next_start: i64,
    next: u32,
    /// The end of the row.
    until: u32,
}

impl<'a> Around<'a> {
    /// At the beginning of a thread's track; nothing is around anything where it has none.
    pub fn new(trace: &'a Trace, thread: ThreadId) -> Around<'a> {
        let track = trace.track_of(TrackKind::Thread(thread));
        let track = track.and_then(|id| trace.tracks.get(id.0 as usize));
        let rows = track.map_or(&[][..], |track| {
            &trace.slices.rows[track.rows.start as usize..track.rows.end as usize]
        });
        let row = |row: &SliceRow| Row {
            start: i64::MIN,
            end: i64::MIN,
            next_start: start_of(&trace.slices, row.slices.start, row.slices.end),
            next: row.slices.start,
            until: row.slices.end,
        };
        let rows: Vec<Row> = rows.iter().map(row).collect();
        let is_deep = rows.len() > MOST_ROWS;
        Around {
            slices: &trace.slices,
            queues: is_deep.then(|| Queues::new(&trace.slices, &rows)),
            rows,
        }
    }

    /// The innermost slice around `time`, which is not before the one that was asked last.
    pub fn innermost(&mut self, time: i64) -> Option<SliceId> {
        if let Some(queues) = &mut self.queues {
            return queues.innermost(self.slices, time);
        }
        let mut best: Option<(i64, u32)> = None;
        for row in &mut self.rows {
            if row.next_start <= time {
                row.walk(self.slices, time);
            }
            let found = (row.start, row.next.wrapping_sub(1));
            if row.end > time && best.is_none_or(|best| best < found) {
                best = Some(found);
            }
        }
        best.map(|(_, id)| SliceId(id))
    }
}

impl Row {
    /// On to the last slice that begins by `time`; the next one does.
    fn walk(&mut self, slices: &Slices, time: i64) {
        self.next = first_after(&slices.starts, self.next, self.until, time);
        let last = self.next.saturating_sub(1) as usize;
        (self.start, self.end) = (slices.starts.at(last), slices.end(last));
        self.next_start = start_of(slices, self.next, self.until);
    }
}

fn start_of(slices: &Slices, slice: u32, until: u32) -> i64 {
    match slice < until {
        true => slices.starts.at(slice as usize),
        false => i64::MAX,
    }
}

/// The first from `from` on that starts after `time`: in steps that double, as it is mostly near.
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
