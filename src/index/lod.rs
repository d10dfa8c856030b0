//! Pyramids over rows (levels of detail): a summary of the row for each zoom level, so that a frame does not read items
//! that are too small to see.
//!
//! A level with width `2^shift` ns divides a row into entries. Neighbouring items that are shorter than the width and
//! start in the same bucket of that width form one entry; a longer item is an entry by itself. Buckets start at
//! multiples of the width, so that entries stay the same when the view is moved. Each level is made of the next finer
//! one; the finest is the first with at most an eighth as many entries as the row has items.
//!
//! Each entry has the sum of its items' durations. Rows whose items belong to parts (thread states) have a sum for each
//! part. Sums of several items are exact in levels up to a width of one second; coarser levels count in larger units. An
//! item that is an entry by itself, however long, has the duration of its span.

use super::tally::Tally;
use crate::base::column::Column;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// Number of parts that the time of a row is divided into at most.
pub(crate) const PARTS: usize = 6;
/// Levels up to this shift have sums in ns: the durations in a bucket add up to less than two widths, which fit 32 bits.
/// Coarser levels have larger units.
const EXACT_SHIFT: u32 = 30;

/// Rows with fewer items than this have no pyramid: their items are read directly.
pub(crate) const SMALL_ROW: usize = 512;

/// Items of a row that do not overlap, sorted by start.
pub trait Row {
    /// Number of items.
    fn len(&self) -> u32;
    /// Returns whether there is no item.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// First nanosecond of item `i`.
    fn start(&self, i: u32) -> i64;
    /// First nanosecond after item `i`, not before its start.
    fn end(&self, i: u32) -> i64;
    /// The label of item `i`, by which it is named or coloured.
    fn label(&self, i: u32) -> u32;
    /// The extents of all items, in order.
    fn extents(&self) -> impl Iterator<Item = Extent> {
        (0..self.len()).map(|i| Extent {
            start: self.start(i),
            end: self.end(i),
        })
    }
    /// The labels of all items, in order.
    fn labels(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(|i| self.label(i))
    }
    /// Returns the part of the row's time that an item with this label counts for, below [`PARTS`].
    fn part(&self, _label: u32) -> usize {
        0
    }
    /// Returns whether items belong to different parts.
    fn has_parts(&self) -> bool {
        false
    }
    /// Returns whether all items have length 0: then the items of a pixel need not be read one by one.
    fn has_only_points(&self) -> bool {
        false
    }
}

/// A run of neighbouring items.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Entry {
    /// Index of the first item; the run ends at the `first` of the next entry.
    pub first: u32,
    /// The label with the largest share of the time, if that is more than a fifth (otherwise approximate).
    pub label: u32,
    /// Sum of the items' durations, in units of the level; not used if the entry is a single item.
    busy: u32,
}

/// Sums of durations by part, in units of a level, without the first part: it is the rest of the whole sum.
type Parts = [u32; PARTS - 1];

/// One level of a pyramid.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Level {
    /// Entries are at most `2^shift` ns wide (unless they are one item).
    pub shift: u32,
    /// The entries; the last is a sentinel that ends the one before.
    pub entries: Column<Entry>,
    /// Start of each entry, in ns. Empty in the finest level, where reading the items is cheap.
    starts: Column<i64>,
    /// Length of each entry in ns; `u32::MAX` if longer.
    lengths: Column<u32>,
    /// The sums of each entry's parts. Empty if the row has no parts.
    parts: Column<Parts>,
    /// The shares of each entry's labels. Empty if the row has parts.
    shares: Column<Shares>,
}

/// How much of an entry's time its labels take, at least.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Shares {
    /// The label with the second largest share.
    second: u32,
    /// The shares of the entry's label and of `second`, in parts of 255.
    parts: [u8; 2],
    unused: [u8; 2],
}

/// Returns the coarsest of the levels of a pyramid, finest first, whose entries are at most `width` ns wide: 2 to the power
/// of what `shift` returns. `None` if all are wider.
pub(super) fn coarsest_within<L>(
    levels: &[L],
    width: i64,
    shift: impl Fn(&L) -> u32,
) -> Option<&L> {
    let after = levels.partition_point(|level| 1_i64 << shift(level) <= width);
    levels.get(after.checked_sub(1)?)
}

/// Returns the unit of a level's sums: 2 to the power of this, in ns.
fn unit_of(shift: u32) -> u32 {
    shift.saturating_sub(EXACT_SHIFT)
}

/// Returns `nanos` in units of 2 to the power of `unit` ns, rounded.
fn in_units(nanos: i64, unit: u32) -> u32 {
    let half = (1_i64 << unit) >> 1;
    u32::try_from(nanos.saturating_add(half) >> unit).unwrap_or(u32::MAX)
}

/// The time from the start of an item, or of the first item of an entry, to the end of the last, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The start.
    pub start: i64,
    /// The end.
    pub end: i64,
}

impl Extent {
    /// Returns its duration in ns.
    #[inline]
    pub(crate) fn length(self) -> i64 {
        self.end.saturating_sub(self.start)
    }
}

impl Level {
    /// Returns the start of entry `at` of the row, in ns.
    #[inline]
    #[must_use]
    pub(crate) fn start(&self, row: &impl Row, at: usize) -> i64 {
        match self.starts.get(at) {
            Some(&start) => start,
            None => row.start(self.entries[at].first),
        }
    }

    /// Returns the start and end of entry `at` of the row.
    #[inline]
    #[must_use]
    pub(crate) fn extent(&self, row: &impl Row, at: usize) -> Extent {
        match (self.starts.get(at), self.lengths.get(at)) {
            (Some(&start), Some(&length)) if length < u32::MAX => Extent {
                start,
                end: start + i64::from(length),
            },
            _ => {
                let (entry, next) = (self.entries[at], self.entries[at + 1]);
                Extent {
                    start: row.start(entry.first),
                    end: row.end(next.first - 1),
                }
            }
        }
    }

    /// Returns the durations of entry `at` of the row by part, in ns; `extent` is what [`Level::extent`] returns for it.
    #[inline]
    #[must_use]
    pub(crate) fn times(&self, row: &impl Row, at: usize, extent: Extent) -> [i64; PARTS] {
        let unit = unit_of(self.shift);
        let nanos = |sum: u32| i64::from(sum) << unit;
        let mut times = [0; PARTS];
        let (entry, next) = (self.entries[at], self.entries[at + 1]);
        if next.first - entry.first == 1 {
            // It may be longer than 32 bits hold.
            if let Some(time) = times.get_mut(row.part(entry.label)) {
                *time = extent.length();
            }
            return times;
        }
        let mut rest = nanos(entry.busy);
        if let Some(parts) = self.parts.get(at) {
            for (time, &part) in times.iter_mut().skip(1).zip(parts) {
                *time = nanos(part);
                rest -= *time;
            }
        }
        times[0] = rest.max(0);
        times
    }

    /// Returns the tally of the two labels that take most of the time of entry `at`, which is `nanos` long.
    #[inline]
    #[must_use]
    pub(crate) fn tally(&self, at: usize, nanos: f32) -> Tally {
        let label = self.entries[at].label;
        let Some(shares) = self.shares.get(at) else {
            return Tally::of(label, nanos);
        };
        let [first, second] = shares
            .parts
            .map(|part| nanos * f32::from(part) / f32::from(u8::MAX));
        let mut tally = Tally::of(label, first);
        if second > 0.0 {
            tally.add(shares.second, second);
        }
        tally
    }

    fn memory_bytes(&self) -> u64 {
        self.shares.memory_bytes()
            + self.entries.memory_bytes()
            + self.starts.memory_bytes()
            + self.lengths.memory_bytes()
            + self.parts.memory_bytes()
    }
}

/// The levels of a row, finest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lod {
    levels: Vec<Level>,
}

impl Lod {
    /// Returns the pyramid of a row of `count` items; `None` below [`SMALL_ROW`] items.
    pub(crate) fn of_large<R: Row>(count: usize, row: impl FnOnce() -> R) -> Option<Lod> {
        (count >= SMALL_ROW).then(|| Lod::new(&row()))
    }

    /// Builds the pyramid of a row.
    #[must_use]
    pub fn new(row: &impl Row) -> Lod {
        let mut counter = EntryCounter::default();
        for extent in row.extents() {
            counter.add(extent.start, extent.length());
        }
        let Some(mut draft) = counter.base(row) else {
            return Lod::default();
        };
        for ((first, extent), label) in (0..).zip(row.extents()).zip(row.labels()) {
            draft.add(first, extent, label, row.part(label));
        }
        Lod::above(row, draft, &counter)
    }

    /// Builds the pyramid of a row of points, which were all added to `counter`: of their times in ns and their labels.
    pub(super) fn of_points(
        row: &impl Row,
        times: &[i64],
        labels: &[u32],
        counter: &EntryCounter,
    ) -> Lod {
        let Some(mut draft) = counter.base(row) else {
            return Lod::default();
        };
        draft.add_points(times, labels);
        Lod::above(row, draft, counter)
    }

    /// Builds the coarser levels above a complete finest level.
    fn above(row: &impl Row, base: DraftLevel, counter: &EntryCounter) -> Lod {
        let mut draft = base.close(row.len());
        let mut levels: Vec<Level> = Vec::new();
        // Entries with parts are large: every other level is left out.
        let step = if row.has_parts() { 2 } else { 1 };
        while draft.level.shift + step < 62 && draft.level.entries.len() > 64 {
            let shift = draft.level.shift + step;
            let next = coarser(row, &draft, shift, counter.entries(shift));
            levels.push(draft.level);
            draft = next;
        }
        levels.push(draft.level);
        if let Some(finest) = levels.first_mut() {
            finest.starts = Column::default();
            finest.lengths = Column::default();
        }
        Lod { levels }
    }

    /// Returns the coarsest level whose entries are at most `width` ns wide; `None`: read the row itself.
    #[must_use]
    pub(crate) fn level(&self, width: i64) -> Option<&Level> {
        coarsest_within(&self.levels, width, |level| level.shift)
    }

    /// The finest level, for skipping through a row.
    #[must_use]
    pub(crate) fn finest(&self) -> Option<&Level> {
        self.levels.first()
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.levels.iter().map(Level::memory_bytes).sum()
    }
}

/// Counts how many entries each level of a row will have, so that levels can be allocated exactly.
///
/// An item starts an entry unless it and the item before it are shorter than the width and start in the same bucket. So
/// it starts an entry at all widths up to the highest bit that is set in its length, in the length of the item before,
/// or in the difference of their starts.
pub(super) struct EntryCounter {
    /// By shift: how many items start an entry at all shifts below this one.
    begins_below: [u32; 65],
    first_start: i64,
    last_start: i64,
    last_length: i64,
}

impl Default for EntryCounter {
    fn default() -> EntryCounter {
        EntryCounter {
            begins_below: [0; 65],
            first_start: 0,
            last_start: 0,
            last_length: -1,
        }
    }
}

impl EntryCounter {
    /// Adds the next item, in ns.
    #[inline]
    pub(super) fn add(&mut self, start: i64, length: i64) {
        if self.last_length < 0 {
            self.first_start = start;
        }
        // `last_length` is -1 before the first item: all bits are set, so it starts an entry at all widths.
        let bits = 64 - ((start ^ self.last_start) | length | self.last_length).leading_zeros();
        self.begins_below[bits as usize] += 1;
        (self.last_start, self.last_length) = (start, length);
    }

    /// Returns the number of entries of the level with this shift.
    fn entries(&self, shift: u32) -> u32 {
        self.begins_below.iter().skip(shift as usize + 1).sum()
    }

    /// Returns an empty draft of the finest level that is worth its memory; `None` if no level is. Call it after all
    /// items were added.
    fn base(&self, row: &impl Row) -> Option<DraftLevel> {
        let count = row.len();
        let last = row.len().checked_sub(1)?;
        let end = (row.start(last).saturating_add(1 << 40)).min(row.end(last));
        let span = (i128::from(end) - i128::from(self.first_start)).max(1);
        let mean = (span / i128::from(count)).max(1) as u64;
        let is_worth = |&shift: &u32| {
            let entries = self.entries(shift);
            entries < 64 || entries < count / 8
        };
        let shift = (64 - mean.leading_zeros()..62).find(is_worth)?;
        Some(DraftLevel::new(row, shift, self.entries(shift)))
    }
}

/// Whether an item is shorter than a level's width, so that it may share an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Short,
    Long,
}

impl Size {
    fn of(length: i64, shift: u32) -> Size {
        match length < 1 << shift {
            true => Size::Short,
            false => Size::Long,
        }
    }
}

/// How long the labels of a new entry take.
enum Labels<'a> {
    /// The entry's label takes all of it.
    One,
    Several(&'a Tally),
}

/// An entry to add to a level.
struct New<'a> {
    entry: Entry,
    parts: Parts,
    labels: Labels<'a>,
    start: i64,
    length: i64,
    size: Size,
}

/// A level that is being built, or from which the next coarser one is built.
struct DraftLevel {
    level: Level,
    /// For each entry, how long its labels take.
    tallies: Vec<Tally>,
    /// The last entry, which more items may join.
    open: Option<Open>,
    has_parts: bool,
}

/// An entry that more items may join.
struct Open {
    entry: Entry,
    parts: Parts,
    tally: Tally,
    /// Whether the entry's labels are still to be taken from its tally.
    is_mixed: bool,
    start: i64,
    length: i64,
    /// The bucket whose items it takes; `None` for a long item, which has an entry of its own.
    bucket: Option<i64>,
}

impl DraftLevel {
    fn new(row: &impl Row, shift: u32, count: u32) -> DraftLevel {
        let (with_parts, with_shares) = match row.has_parts() {
            true => (count, 0),
            false => (0, count),
        };
        DraftLevel {
            level: Level {
                shift,
                entries: Vec::with_capacity(count as usize + 1).into(),
                starts: Vec::with_capacity(count as usize).into(),
                lengths: Vec::with_capacity(count as usize).into(),
                parts: Vec::with_capacity(with_parts as usize).into(),
                shares: Vec::with_capacity(with_shares as usize).into(),
            },
            tallies: Vec::with_capacity(count as usize),
            open: None,
            has_parts: row.has_parts(),
        }
    }

    /// Adds an entry; a short one is merged into the open entry of the same bucket.
    #[inline]
    fn push(&mut self, new: New<'_>) {
        let New {
            entry,
            parts,
            labels,
            start,
            length,
            size,
        } = new;
        let time = (length as f32).max(1.0);
        let bucket = (size == Size::Short).then_some(start >> self.level.shift);
        if let Some(open) = &mut self.open
            && bucket.is_some()
            && bucket == open.bucket
        {
            open.entry.busy = open.entry.busy.saturating_add(entry.busy);
            if self.has_parts {
                for (sum, more) in open.parts.iter_mut().zip(parts) {
                    *sum = sum.saturating_add(more);
                }
            }
            open.length = start.saturating_add(length).saturating_sub(open.start);
            match labels {
                Labels::One => open.tally.add(entry.label, time),
                Labels::Several(tally) => open.tally.add_all(tally),
            }
            open.is_mixed = true;
            return;
        }
        self.settle();
        self.open = Some(Open {
            entry,
            parts,
            is_mixed: matches!(labels, Labels::Several(_)),
            tally: match labels {
                Labels::One => Tally::of(entry.label, time),
                Labels::Several(tally) => *tally,
            },
            start,
            length,
            bucket,
        });
    }

    /// Adds the open entry to the level, with the labels that take most of it.
    fn settle(&mut self) {
        let Some(open) = self.open.take() else { return };
        let (mut entry, mut shares) = (open.entry, Shares::ONE);
        let level = &mut self.level;
        if open.is_mixed {
            let two = open.tally.first_two();
            entry.label = two[0].0;
            shares = Shares::of(two, entry.busy, level.shift);
        }
        level.entries.push(entry);
        level.starts.push(open.start);
        level.lengths.push(up_to_u32(open.length));
        match self.has_parts {
            true => level.parts.push(open.parts),
            false => level.shares.push(shares),
        }
        self.tallies.push(open.tally);
    }

    /// Adds the item `first` of the row, which counts for `part`.
    #[inline]
    fn add(&mut self, first: u32, extent: Extent, label: u32, part: usize) {
        let (start, length) = (extent.start, extent.length());
        let busy = in_units(length, unit_of(self.level.shift));
        let entry = Entry { first, label, busy };
        let size = Size::of(length, self.level.shift);
        self.push(New {
            entry,
            parts: parts_of(busy, part),
            labels: Labels::One,
            start,
            length,
            size,
        });
    }

    /// Adds all items of a row of points, with their times in ns and their labels, as [`DraftLevel::add`] adds one by
    /// one.
    fn add_points(&mut self, times: &[i64], labels: &[u32]) {
        let shift = self.level.shift;
        let buckets = times.chunk_by(|a, b| a >> shift == b >> shift);
        let (mut first, mut rest) = (0, labels);
        for times in buckets {
            let (labels, after) = rest.split_at(times.len().min(rest.len()));
            let mut runs = labels.chunk_by(|a, b| a == b);
            let (Some(run), [start, ..]) = (runs.next(), times) else {
                return;
            };
            let label = run[0];
            let mut tally = Tally::of(label, run.len() as f32);
            for run in runs {
                tally.add(run[0], run.len() as f32);
            }
            self.open = Some(Open {
                entry: Entry {
                    first,
                    label,
                    busy: 0,
                },
                parts: Parts::default(),
                tally,
                is_mixed: times.len() > 1,
                start: *start,
                length: times.last().map_or(0, |last| last.saturating_sub(*start)),
                bucket: None,
            });
            self.settle();
            first += times.len() as u32;
            rest = after;
        }
    }

    /// Adds the sentinel that ends the last entry.
    fn close(mut self, item_count: u32) -> DraftLevel {
        self.settle();
        self.level.entries.push(Entry {
            first: item_count,
            label: 0,
            busy: 0,
        });
        self
    }
}

impl Shares {
    /// An entry with one label.
    const ONE: Shares = Shares {
        second: 0,
        parts: [u8::MAX, 0],
        unused: [0; 2],
    };

    /// Returns the shares of two labels with their times in ns.
    #[inline]
    fn of(two: [(u32, f32); 2], busy: u32, shift: u32) -> Shares {
        let all = ((i64::from(busy) << unit_of(shift)) as f32).max(1.0);
        let [(_, first), (second, time)] = two;
        // (A conversion from float saturates.)
        let parts = [first, time].map(|time| (time / all * f32::from(u8::MAX)) as u8);
        Shares {
            second,
            parts,
            unused: [0; 2],
        }
    }
}

/// Returns the parts of an item that counts for one part.
#[inline]
fn parts_of(busy: u32, part: usize) -> Parts {
    let mut parts = Parts::default();
    if let Some(sum) = part.checked_sub(1).and_then(|at| parts.get_mut(at)) {
        *sum = busy;
    }
    parts
}

fn up_to_u32(length: i64) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn coarser(row: &impl Row, finer: &DraftLevel, shift: u32, count: u32) -> DraftLevel {
    let mut draft = DraftLevel::new(row, shift, count);
    let (fine, unit) = (unit_of(finer.level.shift), unit_of(shift));
    // In these units, no sum of a level overflows.
    let regrown = |sum: u32| match unit > fine {
        true => in_units(i64::from(sum), unit - fine),
        false => sum,
    };
    for (at, tally) in finer.tallies.iter().enumerate() {
        let Extent { start, end } = finer.level.extent(row, at);
        let length = end.saturating_sub(start);
        let pair = &finer.level.entries[at..at + 2];
        let is_one = pair[1].first - pair[0].first == 1;
        let Entry { first, label, busy } = pair[0];
        // The sum of a long item may have been too large for the finer level.
        let (size, busy, parts) = match is_one {
            true => {
                let busy = in_units(length, unit);
                (
                    Size::of(length, shift),
                    busy,
                    parts_of(busy, row.part(label)),
                )
            }
            false => {
                let parts = finer.level.parts.get(at).copied().unwrap_or_default();
                (Size::Short, regrown(busy), parts.map(regrown))
            }
        };
        draft.push(New {
            entry: Entry { first, label, busy },
            parts,
            labels: Labels::Several(tally),
            start,
            length,
            size,
        });
    }
    draft.close(row.len())
}

/// A row of (start, end, label) tuples, for tests.
#[cfg(test)]
pub(crate) struct Plain(pub Vec<(i64, i64, u32)>);

#[cfg(test)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_holds_every_item_once_and_all_their_time() {
        let mut items = Vec::new();
        let mut time = 1000;
        for i in 0..5000_u32 {
            let length = if i % 97 == 0 { 5000 } else { i64::from(i % 7) };
            items.push((time, time + length, i % 3));
            time += length + i64::from(i % 11) * if i % 500 < 250 { 1 } else { 400 };
        }
        let row = Plain(items);
        let busy: i64 = row.0.iter().map(|item| item.1 - item.0).sum();
        let lod = Lod::new(&row);
        assert!(lod.levels.len() > 3);
        for level in &lod.levels {
            assert!(
                level
                    .entries
                    .windows(2)
                    .all(|pair| pair[0].first < pair[1].first)
            );
            assert_eq!(level.entries.last().map(|entry| entry.first), Some(5000));
            let runs = 0..level.entries.len() - 1;
            let sum: i64 = runs
                .map(|at| level.times(&row, at, level.extent(&row, at))[0])
                .sum();
            assert_eq!(sum, busy);
            for pair in level.entries.windows(2) {
                if pair[1].first - pair[0].first > 1 {
                    let (start, end) = (row.start(pair[0].first), row.end(pair[1].first - 1));
                    assert!(
                        end - start <= 2 << level.shift,
                        "an entry is wider than it may be"
                    );
                }
            }
        }
        let widths: Vec<u32> = lod.levels.iter().map(|level| level.shift).collect();
        assert!(widths.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(lod.level(0).is_none());
    }

    /// A row whose items count for the part that their label names.
    struct Parted(Plain);

    impl Row for Parted {
        fn len(&self) -> u32 {
            self.0.len()
        }
        fn start(&self, i: u32) -> i64 {
            self.0.start(i)
        }
        fn end(&self, i: u32) -> i64 {
            self.0.end(i)
        }
        fn label(&self, i: u32) -> u32 {
            self.0.label(i)
        }
        fn part(&self, label: u32) -> usize {
            label as usize
        }
        fn has_parts(&self) -> bool {
            true
        }
    }

    #[test]
    fn sums_of_parts_are_exact_up_to_a_second_and_close_in_coarser_levels() {
        for scale in [1, 977, 40_000_001] {
            let mut items = Vec::new();
            let mut time = -3;
            for i in 0..9_000_i64 {
                let length = (i * i % 37 + if i % 501 == 0 { 900 } else { 0 }) * scale;
                items.push((time, time + length, (i % PARTS as i64) as u32));
                time += length;
            }
            let mut exact = [0_i64; PARTS];
            for &(start, end, part) in &items {
                exact[part as usize] += end - start;
            }
            let row = Parted(Plain(items));
            let lod = Lod::new(&row);
            assert!(lod.levels.len() > 2);
            for level in &lod.levels {
                let mut sums = [0_i64; PARTS];
                for at in 0..level.entries.len() - 1 {
                    for (sum, time) in
                        sums.iter_mut()
                            .zip(level.times(&row, at, level.extent(&row, at)))
                    {
                        *sum += time;
                    }
                }
                if level.shift <= EXACT_SHIFT && scale < 1_000_000 {
                    assert_eq!(sums, exact);
                }
                for (sum, exact) in sums.into_iter().zip(exact) {
                    assert!(
                        (sum - exact).abs() <= exact / 1_000_000,
                        "{sum} and {exact}"
                    );
                }
            }
        }
    }
}
