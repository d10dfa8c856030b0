//! The draw lists of the timeline: the blocks of a row in a span that is drawn with a number of pixels.
//!
//! An item that is at least a pixel wide is a block by itself. Thinner neighbours that start in the same pixel-wide
//! bucket are one block with their count and their share of its time. Nothing vanishes, and a list has at most a few
//! blocks per pixel. Buckets start at multiples of the pixel's width in time, so that blocks keep their places when the
//! view moves.

mod block;
mod buckets;
mod counter;
mod joining;
mod longest;
mod profile;
mod summary;

use crate::base::TimeSpan;
use crate::base::order::first_not;
use crate::index::Index;
use crate::index::lod::{Extent, Level, Lod, PARTS, Row};
use crate::index::lod_rows::{InstantRow, run_row, slice_row, state_row};
use crate::index::tally::Tally;
use crate::query::jobs::Job;
use crate::trace::slices::SliceRow;
use crate::trace::{CpuId, ThreadId, Trace, TrackId};

pub(crate) use block::Block;
pub(crate) use counter::CounterStep;
pub use counter::counter;
pub(crate) use joining::Piece;
pub use joining::joined;
use joining::{Joiner, bucket_end};
pub(crate) use longest::{longest_run, longest_slice, longest_state};
pub use profile::{ProfileNames, profile};
pub use summary::summary;

/// The least number of entries of a pyramid for a pixel, unless they are items. Of an entry only the two labels that took
/// most of its time are known, and it is divided by length where it crosses the border of a pixel: with one entry a pixel,
/// the colour of every tenth pixel is wrong where labels alternate.
const ENTRIES_PER_PIXEL: i64 = 8;

/// Writes the blocks of a row of slices to `out`, which is emptied first.
pub fn slices(
    trace: &Trace,
    index: &Index,
    row: &SliceRow,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<Block>,
) {
    let number = trace
        .slices
        .rows
        .partition_point(|other| other.slices.start < row.slices.start);
    let lod = index.slice_rows.get(number).and_then(Option::as_ref);
    blocks(
        &slice_row(trace, row),
        lod,
        row.slices.start,
        span,
        pixels,
        out,
    );
}

/// Returns whether a slice of a row that is at least `least` ns long meets `span`.
#[must_use]
pub(crate) fn has_long_slice(
    trace: &Trace,
    index: &Index,
    row: &SliceRow,
    span: TimeSpan,
    least: i64,
) -> bool {
    let number = trace
        .slices
        .rows
        .partition_point(|other| other.slices.start < row.slices.start);
    let lod = index.slice_rows.get(number).and_then(Option::as_ref);
    has_long(&slice_row(trace, row), lod, span, least)
}

/// Returns whether an item that is at least `least` ns long overlaps `span`. Such an item is an entry of its own in all
/// levels up to that width.
fn has_long<R: Row>(row: &R, lod: Option<&Lod>, span: TimeSpan, least: i64) -> bool {
    let is_long = |start: i64, end: i64| {
        end.saturating_sub(start) >= least && start < span.end.0 && end > span.start.0
    };
    let Some(level) = lod.and_then(|lod| lod.level(least.max(1))) else {
        let first = first_where(row.len() as usize, |at| row.end(at as u32) > span.start.0);
        return (first as u32..row.len())
            .take_while(|&at| row.start(at) < span.end.0)
            .any(|at| is_long(row.start(at), row.end(at)));
    };
    let runs = level.entries.len().saturating_sub(1);
    let after = first_where(runs, |at| level.start(row, at) > span.start.0);
    (after.saturating_sub(1)..runs)
        .take_while(|&at| level.start(row, at) < span.end.0)
        .any(|at| {
            let is_one = level.entries[at + 1].first - level.entries[at].first == 1;
            let Extent { start, end } = level.extent(row, at);
            is_one && is_long(start, end)
        })
}

/// Writes the blocks of the runs of a CPU to `out`, which is emptied first.
pub fn runs(
    trace: &Trace,
    index: &Index,
    cpu: CpuId,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<Block>,
) {
    let lod = index.runs.get(cpu.0 as usize).and_then(Option::as_ref);
    blocks(
        &run_row(trace, cpu),
        lod,
        trace.runs.on(cpu).start,
        span,
        pixels,
        out,
    );
}

/// Writes the blocks of a CPU whose runs were not recorded to `out`: the threads that its events name. `out` is emptied
/// first.
pub fn seen(index: &Index, cpu: CpuId, span: TimeSpan, pixels: u32, out: &mut Vec<Block>) {
    match index.seen.on(cpu) {
        Some(row) => blocks(&row, row.lod(), 0, span, pixels, out),
        None => out.clear(),
    }
}

/// Writes the blocks of the jobs of a lane to `out`, which is emptied first. The label is the process; the item number
/// is the index of the job in its lane.
pub fn jobs(jobs: &[Job], span: TimeSpan, pixels: u32, out: &mut Vec<Block>) {
    blocks(&JobRow(jobs), None, 0, span, pixels, out);
}

struct JobRow<'a>(&'a [Job]);

impl Row for JobRow<'_> {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }
    fn start(&self, i: u32) -> i64 {
        self.0[i as usize].span.start.0
    }
    fn end(&self, i: u32) -> i64 {
        self.0[i as usize].span.end.0
    }
    fn label(&self, i: u32) -> u32 {
        self.0[i as usize].process.0
    }
}

/// Writes the blocks of the states of a thread to `out`, which is emptied first.
pub fn states(
    trace: &Trace,
    index: &Index,
    thread: ThreadId,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<Block>,
) {
    let lod = index.states.get(thread.0 as usize).and_then(Option::as_ref);
    blocks(
        &state_row(trace, thread),
        lod,
        trace.states.of(thread).start,
        span,
        pixels,
        out,
    );
}

/// Writes the blocks of the instants of a track to `out`, which is emptied first.
pub fn instants(
    trace: &Trace,
    index: &Index,
    track: TrackId,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<Block>,
) {
    let lod = index
        .instants
        .get(track.0 as usize)
        .and_then(Option::as_ref);
    let first = trace
        .tracks
        .get(track.0 as usize)
        .map_or(0, |track| track.instants.start);
    blocks(
        &InstantRow::new(trace, track),
        lod,
        first,
        span,
        pixels,
        out,
    );
}

fn blocks<R: Row>(
    row: &R,
    lod: Option<&Lod>,
    base: u32,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<Block>,
) {
    out.clear();
    if span.is_empty() || row.is_empty() {
        return;
    }
    let width = (span.duration().0 / i64::from(pixels.max(1))).max(1);
    let mut joiner = Joiner::new(width, base, out);
    match lod.and_then(|lod| lod.level(width / ENTRIES_PER_PIXEL)) {
        Some(level) => {
            let entries = &level.entries;
            let runs = &entries[..entries.len().saturating_sub(1)];
            // Only the last entry that starts before the span can reach into it.
            let after = first_where(runs.len(), |at| level.start(row, at) > span.start.0);
            for at in after.saturating_sub(1)..runs.len() {
                let (entry, next) = (entries[at], entries[at + 1]);
                let extent @ Extent { start, end } = level.extent(row, at);
                if start >= span.end.0 {
                    break;
                }
                if end <= span.start.0 && !(start == end && start == span.start.0) {
                    continue;
                }
                let count = next.first - entry.first;
                joiner.push(entry_piece(row, level, at, count, extent));
            }
        }
        None if row.has_only_points() => walk_points(row, span, &mut joiner),
        None => walk_items(row, lod, span, &mut joiner),
    }
    joiner.flush();
}

/// Returns the first number below `count` for which `is_past` holds, or `count`; `is_past` must also hold for all
/// larger numbers.
fn first_where(count: usize, is_past: impl Fn(usize) -> bool) -> usize {
    first_not(0..count, |at| !is_past(at))
}

/// Adds items one by one, except where a finest entry of the pyramid is inside one bucket: it is added whole.
fn walk_items<R: Row>(row: &R, lod: Option<&Lod>, span: TimeSpan, joiner: &mut Joiner<'_>) {
    let low = first_where(row.len() as usize, |at| {
        row.end(at as u32) > span.start.0 || row.start(at as u32) >= span.start.0
    }) as u32;
    let finest = lod.and_then(Lod::finest);
    let entries = finest.map_or(&[][..], |level| &level.entries);
    let mut next_entry = entries.partition_point(|entry| entry.first < low);
    let mut at = low;
    while at < row.len() {
        let start = row.start(at);
        if start >= span.end.0 {
            break;
        }
        while entries
            .get(next_entry)
            .is_some_and(|entry| entry.first < at)
        {
            next_entry += 1;
        }
        if let (Some(level), Some(entry), Some(after)) =
            (finest, entries.get(next_entry), entries.get(next_entry + 1))
            && entry.first == at
            && after.first - at > 1
        {
            let end = row.end(after.first - 1);
            if start.div_euclid(joiner.width) == end.div_euclid(joiner.width) {
                let count = after.first - at;
                let extent = Extent { start, end };
                joiner.push(entry_piece(row, level, next_entry, count, extent));
                at = after.first;
                continue;
            }
        }
        let end = row.end(at);
        joiner.push(one_item(row, at, row.label(at), Extent { start, end }));
        at += 1;
    }
}

/// Returns an item as a piece.
#[inline]
fn one_item<R: Row>(row: &R, item: u32, label: u32, extent: Extent) -> Piece {
    let busy = extent.length() as f32;
    let mut times = [0.0; PARTS];
    if let Some(time) = times.get_mut(row.part(label)) {
        *time = busy;
    }
    Piece {
        first: item,
        count: 1,
        start: extent.start,
        end: extent.end,
        times,
        tally: Tally::of(label, busy.max(1.0)),
    }
}

/// Returns the `count` items of an entry as a piece.
#[inline]
fn entry_piece<R: Row>(row: &R, level: &Level, at: usize, count: u32, extent: Extent) -> Piece {
    let entry = level.entries[at];
    let times = level.times(row, at, extent).map(|time| time as f32);
    Piece {
        first: entry.first,
        count,
        start: extent.start,
        end: extent.end,
        times,
        tally: level.tally(at, times.iter().sum::<f32>().max(1.0)),
    }
}

/// Adds points, the points of a bucket at once; the label is that of the first point.
///
/// A row without a pyramid has about ten points per bucket, and a search for one of them misses the cache.
fn walk_points<R: Row>(row: &R, span: TimeSpan, joiner: &mut Joiner<'_>) {
    let count = row.len();
    let mut at = first_where(count as usize, |at| row.start(at as u32) >= span.start.0) as u32;
    while at < count {
        let start = row.start(at);
        if start >= span.end.0 {
            break;
        }
        let until = bucket_end(start, joiner.width)
            .min(span.end.0)
            .max(start.saturating_add(1));
        // Doubles the step until it is past the bucket, then searches back for the bucket's last point.
        let (mut inside, mut step) = (at, 1_u32);
        let past = loop {
            let next = inside.saturating_add(step).min(count);
            if next == count || row.start(next) >= until {
                break next;
            }
            inside = next;
            step = step.saturating_mul(2);
        };
        let between = (past - inside - 1) as usize;
        let more = first_where(between, |next| row.start(inside + 1 + next as u32) >= until);
        let after = inside + 1 + more as u32;
        joiner.emit(Piece {
            first: at,
            count: after - at,
            start,
            end: row.end(after - 1),
            times: [0.0; PARTS],
            tally: Tally::of(row.label(at), 0.0),
        });
        at = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;
    use crate::index::lod::Plain;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_vanishes_at_any_zoom(
            steps in prop::collection::vec((0_i64..50, 0_i64..40, 0_u32..4), 600..1500),
            from in 0_i64..20_000, length in 1_i64..60_000, pixels in 1_u32..900,
        ) {
            let mut time = 0;
            let items: Vec<_> = steps.into_iter().map(|(gap, length, label)| {
                let start = time + gap;
                time = start + length;
                (start, time, label)
            }).collect();
            let row = Plain(items);
            let lod = Lod::new(&row);
            let span = TimeSpan::new(Timestamp(from), Timestamp(from + length));
            let mut out = Vec::new();
            blocks(&row, Some(&lod), 0, span, pixels, &mut out);
            // Every item that overlaps the span is in exactly one block, and blocks are in order.
            let mut covered = vec![0; row.0.len()];
            for block in &out {
                for item in block.first..block.first + block.count {
                    covered[item as usize] += 1;
                }
                if block.count == 1 {
                    prop_assert_eq!((block.start, block.end), (row.start(block.first), row.end(block.first)));
                }
                prop_assert!(block.busy() >= 0.0 && block.busy() <= 1.0);
            }
            prop_assert!(out.windows(2).all(|pair| pair[0].first + pair[0].count <= pair[1].first));
            for (item, &(start, end, _)) in row.0.iter().enumerate() {
                let is_inside = start < from + length && (end > from || (start == end && start >= from));
                prop_assert!(covered[item] <= 1);
                if is_inside {
                    prop_assert_eq!(covered[item], 1, "item {} {}..{}", item, start, end);
                }
            }
            let width = (length / i64::from(pixels)).max(1);
            prop_assert!(out.len() as i64 <= 3 * (length / width + 2), "{} blocks", out.len());
        }

        #[test]
        fn a_long_item_is_found_with_and_without_a_pyramid(
            steps in prop::collection::vec((0_i64..50, 0_i64..400), 600..1500),
            from in 0_i64..200_000, length in 1_i64..60_000, least in 1_i64..500,
        ) {
            let mut time = 0;
            let items: Vec<_> = steps.into_iter().map(|(gap, length)| {
                let start = time + gap;
                time = start + length;
                (start, time, 0)
            }).collect();
            let row = Plain(items);
            let span = TimeSpan::new(Timestamp(from), Timestamp(from + length));
            let expected = row.0.iter().any(|&(start, end, _)| {
                end - start >= least && start < span.end.0 && end > span.start.0
            });
            prop_assert_eq!(has_long(&row, None, span, least), expected);
            prop_assert_eq!(has_long(&row, Some(&Lod::new(&row)), span, least), expected);
        }

        #[test]
        fn what_was_listed_finer_joins_to_the_same(
            steps in prop::collection::vec((0_i64..50, 0_i64..40, 0_u32..4), 1..900),
            fine in 0_u32..8, more in 1_i64..4,
        ) {
            let mut time = 0;
            let items: Vec<_> = steps.into_iter().map(|(gap, length, label)| {
                let start = time + gap;
                time = start + length;
                (start, time, label)
            }).collect();
            let end = time + 1;
            let row = Plain(items);
            let (fine, width) = (1_i64 << fine, (1_i64 << fine) * more);
            let list = |width: i64| {
                let length = (end / width + 1) * width;
                let span = TimeSpan::new(Timestamp(0), Timestamp(length));
                let mut out = Vec::new();
                blocks(&row, None, 0, span, (length / width) as u32, &mut out);
                out
            };
            let finer = list(fine);
            let facts = |it: &Block| (it.first, it.count, it.start, it.end);
            let from_finer: Vec<_> = joined(&finer, width).collect();
            let plain = list(width);
            prop_assert_eq!(
                from_finer.iter().map(facts).collect::<Vec<_>>(),
                plain.iter().map(facts).collect::<Vec<_>>()
            );
            for (a, b) in from_finer.iter().zip(&plain) {
                prop_assert!((a.busy() - b.busy()).abs() < 1e-3, "{:?} and {:?}", a, b);
            }
        }

        #[test]
        fn points_are_taken_by_the_pixel_as_if_one_by_one(
            gaps in prop::collection::vec(0_i64..60, 1..900),
            from in -50_i64..20_000, length in 1_i64..30_000, pixels in 1_u32..900,
        ) {
            let mut time = 0;
            let items: Vec<_> = gaps.into_iter().map(|gap| {
                time += gap;
                (time, time, 7)
            }).collect();
            let row = Plain(items);
            let span = TimeSpan::new(Timestamp(from), Timestamp(from + length));
            let width = (length / i64::from(pixels)).max(1);
            let (mut at_once, mut singly) = (Vec::new(), Vec::new());
            walk_points(&row, span, &mut Joiner::new(width, 3, &mut at_once));
            let mut joiner = Joiner::new(width, 3, &mut singly);
            walk_items(&row, None, span, &mut joiner);
            joiner.flush();
            let facts = |blocks: &[Block]| -> Vec<_> {
                blocks.iter().map(|it| (it.first, it.count, it.start, it.end, it.label)).collect()
            };
            prop_assert_eq!(facts(&at_once), facts(&singly));
        }
    }
}
