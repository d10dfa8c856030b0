//! What a row shows in a span at so many pixels: the draw lists of the timeline.
//!
//! An item at least a pixel wide is a block by itself; neighbours that are thinner and start in the same
//! pixel-wide bucket are one block that knows how many they are and how much of its time they take. Nothing
//! vanishes, and a list is never longer than a few blocks a pixel. Buckets lie at multiples of the pixel's
//! width in time, so that blocks keep their places when the view is moved.

use crate::base::TimeSpan;
use crate::index::Index;
use crate::index::lod::{InstantRow, Lod, Row, run_row, slice_row, state_row};
use crate::trace::slices::SliceRow;
use crate::trace::{CounterTrackId, CpuId, ThreadId, Trace, TrackId};

/// One or several neighbouring items of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// First nanosecond; may lie before the span asked for.
    pub start: i64,
    /// First nanosecond after; may lie after the span asked for.
    pub end: i64,
    /// What it is called or coloured by: slices: [`LabelId`](crate::trace::LabelId), runs:
    /// [`ThreadId`], states: the number of the [`ThreadState`](crate::trace::ThreadState), instants:
    /// [`KindId`](crate::event::KindId). Of several, the one that takes most of the time.
    pub label: u32,
    /// Row number of the (first) item: [`SliceId`](crate::trace::SliceId) and so on.
    pub first: u32,
    /// How many items it stands for.
    pub count: u32,
    /// The share of its time that the items take, 0 to 1; of one item always 1.
    pub busy: f32,
}

/// A counter's values over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterStep {
    /// First nanosecond.
    pub start: i64,
    /// First nanosecond after: the next step's start.
    pub end: i64,
    /// When its last sample was taken: `last` holds from there to the end.
    pub settled: i64,
    /// The smallest value in it.
    pub min: f64,
    /// The largest value in it.
    pub max: f64,
    /// The value at its end.
    pub last: f64,
    /// Row number of its first sample.
    pub first: u32,
    /// How many samples it stands for.
    pub count: u32,
}

/// The slices of a row. `out` is emptied first.
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

/// The runs of a CPU. `out` is emptied first.
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

/// The states of a thread. `out` is emptied first.
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

/// The instants of a track. `out` is emptied first.
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

/// A stretch of neighbouring items while they are joined.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    first: u32,
    count: u32,
    start: i64,
    end: i64,
    busy: f32,
    label: u32,
    lead: f32,
}

impl Piece {
    /// A block as a piece, numbered as the block is.
    #[inline]
    pub(crate) fn of(block: &Block) -> Piece {
        let busy = block.busy * (block.end - block.start) as f32;
        Piece {
            first: block.first,
            count: block.count,
            start: block.start,
            end: block.end,
            busy,
            label: block.label,
            lead: busy.max(1.0),
        }
    }

    /// Takes in the piece after it. What it is called is voted for by time.
    #[inline]
    pub(crate) fn take_in(&mut self, next: &Piece) {
        self.count += next.count;
        self.end = self.end.max(next.end);
        self.busy += next.busy;
        if self.label == next.label {
            self.lead += next.lead;
        } else if self.lead >= next.lead {
            self.lead -= next.lead;
        } else {
            self.label = next.label;
            self.lead = next.lead - self.lead;
        }
    }

    /// The block that it becomes in a row whose items begin at `base`.
    #[inline]
    pub(crate) fn block(&self, base: u32) -> Block {
        let length = (self.end - self.start) as f32;
        let busy = if self.count == 1 || length <= 0.0 {
            1.0
        } else {
            (self.busy / length).clamp(0.0, 1.0)
        };
        Block {
            start: self.start,
            end: self.end,
            label: self.label,
            first: base + self.first,
            count: self.count,
            busy,
        }
    }
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
    let mut joiner = Joiner {
        width,
        open: None,
        base,
        out,
    };
    match lod.and_then(|lod| lod.level(width)) {
        Some(level) => {
            let entries = &level.entries;
            let runs = &entries[..entries.len().saturating_sub(1)];
            // Only the last entry that starts before the span can reach into it.
            let after = first_where(runs.len(), |at| level.start(row, at) > span.start.0);
            for at in after.saturating_sub(1)..runs.len() {
                let (entry, next) = (entries[at], entries[at + 1]);
                let (start, end) = level.span(row, at);
                if start >= span.end.0 {
                    break;
                }
                if end <= span.start.0 && !(start == end && start == span.start.0) {
                    continue;
                }
                let count = next.first - entry.first;
                let (busy, label) = (entry.busy, entry.label);
                joiner.push(Piece {
                    first: entry.first,
                    count,
                    start,
                    end,
                    busy,
                    label,
                    lead: busy.max(1.0),
                });
            }
        }
        None if row.has_only_points() => walk_points(row, span, &mut joiner),
        None => walk_items(row, lod, span, &mut joiner),
    }
    joiner.flush();
}

/// The first number below `count` for which `is_past` holds, or `count`; from there on it holds for all.
fn first_where(count: usize, is_past: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if is_past(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Items one by one; where a finest entry of the pyramid lies within one bucket, it is taken whole.
fn walk_items<R: Row>(row: &R, lod: Option<&Lod>, span: TimeSpan, joiner: &mut Joiner<'_>) {
    let low = first_where(row.len() as usize, |at| {
        row.end(at as u32) > span.start.0 || row.start(at as u32) >= span.start.0
    }) as u32;
    let entries = lod
        .and_then(Lod::finest)
        .map_or(&[][..], |level| &level.entries);
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
        if let (Some(entry), Some(after)) = (entries.get(next_entry), entries.get(next_entry + 1))
            && entry.first == at
            && after.first - at > 1
        {
            let end = row.end(after.first - 1);
            if start.div_euclid(joiner.width) == end.div_euclid(joiner.width) {
                let (count, busy, label) = (after.first - at, entry.busy, entry.label);
                joiner.push(Piece {
                    first: at,
                    count,
                    start,
                    end,
                    busy,
                    label,
                    lead: busy.max(1.0),
                });
                at = after.first;
                continue;
            }
        }
        let end = row.end(at);
        let busy = (end - start) as f32;
        joiner.push(Piece {
            first: at,
            count: 1,
            start,
            end,
            busy,
            label: row.label(at),
            lead: busy.max(1.0),
        });
        at += 1;
    }
}

/// Points, those of a bucket at once; the label is the first one's.
///
/// A row that no level serves has up to some ten points a bucket, and to look where one lies misses the cache.
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
        // In steps twice as long each until past the bucket, then back to its last point.
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
            busy: 0.0,
            label: row.label(at),
            lead: 0.0,
        });
        at = after;
    }
}

/// Joins thin neighbours of one bucket.
struct Joiner<'a> {
    width: i64,
    /// The open piece, and where its bucket ends: dividing is slow, and most pieces come into an open bucket.
    open: Option<(i64, Piece)>,
    base: u32,
    out: &'a mut Vec<Block>,
}

impl Joiner<'_> {
    fn push(&mut self, piece: Piece) {
        let is_thin = piece.end.saturating_sub(piece.start) < self.width;
        if let Some((bucket_end, open)) = &mut self.open
            && is_thin
            && piece.start < *bucket_end
        {
            open.take_in(&piece);
            return;
        }
        self.flush();
        if is_thin {
            self.open = Some((bucket_end(piece.start, self.width), piece));
        } else {
            self.emit(piece);
        }
    }

    fn flush(&mut self) {
        if let Some((_, piece)) = self.open.take() {
            self.emit(piece);
        }
    }

    fn emit(&mut self, piece: Piece) {
        self.out.push(piece.block(self.base));
    }
}

/// Where the bucket of `time` ends, of buckets `width` ns wide.
fn bucket_end(time: i64, width: i64) -> i64 {
    let bucket = time.div_euclid(width);
    bucket.saturating_add(1).saturating_mul(width)
}

/// The blocks of a list that was made for finer pixels, as they are at `width` ns a pixel: thin neighbours of one bucket
/// are joined once more.
pub fn joined(blocks: &[Block], width: i64) -> Joined<'_> {
    Joined {
        blocks,
        width: width.max(1),
        bucket_end: i64::MIN,
    }
}

/// See [`joined`].
pub struct Joined<'a> {
    blocks: &'a [Block],
    width: i64,
    /// Where the bucket of the block before ended.
    bucket_end: i64,
}

impl Joined<'_> {
    /// Where the bucket of a time ends, of times that only grow. Dividing is slow, and it is mostly the next bucket.
    #[inline]
    fn bucket_end_of(&mut self, time: i64) -> i64 {
        if time >= self.bucket_end {
            let next = self.bucket_end.saturating_add(self.width);
            self.bucket_end = match time < next {
                true => next,
                false => bucket_end(time, self.width),
            };
        }
        self.bucket_end
    }
}

impl Iterator for Joined<'_> {
    type Item = Block;

    #[inline]
    fn next(&mut self) -> Option<Block> {
        let (first, mut rest) = self.blocks.split_first()?;
        let width = self.width;
        let is_thin = |it: &Block| it.end.saturating_sub(it.start) < width;
        let end = match is_thin(first) {
            true => self.bucket_end_of(first.start),
            false => i64::MIN,
        };
        let mut open: Option<Piece> = None;
        while let Some((next, after)) = rest.split_first()
            && next.start < end
            && is_thin(next)
        {
            let piece = open.get_or_insert_with(|| Piece::of(first));
            piece.take_in(&Piece::of(next));
            rest = after;
        }
        self.blocks = rest;
        Some(open.map_or(*first, |piece| piece.block(0)))
    }
}

/// The values of a counter. `out` is emptied first.
pub fn counter(
    trace: &Trace,
    index: &Index,
    track: CounterTrackId,
    span: TimeSpan,
    pixels: u32,
    out: &mut Vec<CounterStep>,
) {
    out.clear();
    let number = track.0 as usize;
    let Some(track) = trace.counters.tracks.get(number) else {
        return;
    };
    if span.is_empty() || track.samples.is_empty() {
        return;
    }
    let width = (span.duration().0 / i64::from(pixels.max(1))).max(1);
    let (times, values) = (&trace.counters.times, &trace.counters.values);
    let base = track.samples.start;
    let level = index
        .counters
        .get(number)
        .and_then(Option::as_ref)
        .and_then(|lod| lod.level(width));
    let mut push = |first: u32, until: u32, min: f64, max: f64| {
        let start = times[(base + first) as usize];
        let end = if base + until < track.samples.end {
            times[(base + until) as usize]
        } else {
            trace.span.end.0
        };
        let last = values[(base + until - 1) as usize];
        let settled = times[(base + until - 1) as usize];
        if let Some(open) = out.last_mut()
            && open.start.div_euclid(width) == start.div_euclid(width)
        {
            open.end = end;
            open.settled = settled;
            open.min = open.min.min(min);
            open.max = open.max.max(max);
            open.last = last;
            open.count += until - first;
            return;
        }
        out.push(CounterStep {
            start,
            end,
            settled,
            min,
            max,
            last,
            first: base + first,
            count: until - first,
        });
    };
    if let Some(level) = level {
        let entries = &level.entries;
        let runs = &entries[..entries.len().saturating_sub(1)];
        let after =
            runs.partition_point(|entry| times[(base + entry.first) as usize] <= span.start.0);
        for at in after.saturating_sub(1)..runs.len() {
            let (entry, next) = (entries[at], entries[at + 1]);
            if times[(base + entry.first) as usize] >= span.end.0 {
                break;
            }
            push(entry.first, next.first, entry.min, entry.max);
        }
    } else {
        for row in trace.counters.in_force(track, span) {
            let value = values[row as usize];
            push(row - base, row - base + 1, value, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;
    use proptest::prelude::*;

    struct Plain(Vec<(i64, i64, u32)>);

    impl Row for Plain {
        fn len(&self) -> u32 {
            self.0.len() as u32
        }
        fn start(&self, i: u32) -> i64 {
            self.0[i as usize].0
        }
        fn end(&self, i: u32) -> i64 {
            self.0[i as usize].1
        }
        fn label(&self, i: u32) -> u32 {
            self.0[i as usize].2
        }
    }

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
            // Every item that meets the span is in exactly one block, and blocks stand in order.
            let mut covered = vec![0; row.0.len()];
            for block in &out {
                for item in block.first..block.first + block.count {
                    covered[item as usize] += 1;
                }
                if block.count == 1 {
                    prop_assert_eq!((block.start, block.end), (row.start(block.first), row.end(block.first)));
                }
                prop_assert!(block.busy >= 0.0 && block.busy <= 1.0);
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
                prop_assert!((a.busy - b.busy).abs() < 1e-3, "{:?} and {:?}", a, b);
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
            walk_points(&row, span, &mut Joiner { width, open: None, base: 3, out: &mut at_once });
            let mut joiner = Joiner { width, open: None, base: 3, out: &mut singly };
            walk_items(&row, None, span, &mut joiner);
            joiner.flush();
            let facts = |blocks: &[Block]| -> Vec<_> {
                blocks.iter().map(|it| (it.first, it.count, it.start, it.end, it.label)).collect()
            };
            prop_assert_eq!(facts(&at_once), facts(&singly));
        }
    }
}
