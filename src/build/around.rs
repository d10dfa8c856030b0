//! Slices of a track around times that come in order: a walk along all rows at once, for many times one after
//! the other. Answers what [`Trace::innermost_slice`] answers.

use crate::trace::slices::SliceRow;
use crate::trace::{SliceId, Slices, ThreadId, Trace, TrackKind};

/// See the module's text.
pub struct Around<'a> {
    slices: &'a Slices,
    rows: &'a [SliceRow],
    /// By row: the first slice that begins after the time that was asked last.
    next: Vec<u32>,
}

impl<'a> Around<'a> {
    /// At the beginning of a thread's track; nothing is around anything where it has none.
    pub fn new(trace: &'a Trace, thread: ThreadId) -> Around<'a> {
        let track = trace.track_of(TrackKind::Thread(thread));
        let track = track.and_then(|id| trace.tracks.get(id.0 as usize));
        let rows = track.map_or(&[][..], |track| {
            &trace.slices.rows[track.rows.start as usize..track.rows.end as usize]
        });
        Around {
            slices: &trace.slices,
            rows,
            next: rows.iter().map(|row| row.slices.start).collect(),
        }
    }

    /// The innermost slice around `time`, which is not before the one that was asked last.
    pub fn innermost(&mut self, time: i64) -> Option<SliceId> {
        let (starts, ends) = (&self.slices.starts, &self.slices.ends);
        let mut best: Option<(i64, u32)> = None;
        for (row, next) in self.rows.iter().zip(&mut self.next) {
            *next = first_after(starts, *next, row.slices.end, time);
            if *next == row.slices.start {
                continue;
            }
            let last = *next - 1;
            let found = (starts[last as usize], last);
            if ends[last as usize] > time && best.is_none_or(|best| best < found) {
                best = Some(found);
            }
        }
        best.map(|(_, id)| SliceId(id))
    }
}

/// The first from `from` on that starts after `time`: in steps that double, as it is mostly near.
fn first_after(starts: &[i64], from: u32, until: u32, time: i64) -> u32 {
    let (mut low, mut step) = (from, 1);
    loop {
        let probe = low.saturating_add(step - 1);
        if probe >= until {
            break;
        }
        if starts[probe as usize] > time {
            let range = &starts[low as usize..probe as usize];
            return low + range.partition_point(|&start| start <= time) as u32;
        }
        low = probe + 1;
        step *= 2;
    }
    let range = &starts[low as usize..until as usize];
    low + range.partition_point(|&start| start <= time) as u32
}
