//! Pyramids over rows: what a row looks like at each zoom, so that a frame never walks what it cannot show.
//!
//! A level with width `2^shift` ns cuts a row into entries: a run of neighbouring items that are shorter than
//! the width and start in the same bucket of that width is one entry; a longer item is an entry by itself.
//! Buckets lie at multiples of the width, so entries do not dance when the view is moved. Each level is made
//! of the one below; the lowest is the first that has at most an eighth as many entries as the row has items.

/// Rows shorter than this are walked as they are.
pub const SMALL_ROW: usize = 512;

/// Items of a row that do not overlap, sorted by start.
pub trait Row {
    /// How many there are.
    fn len(&self) -> u32;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// First nanosecond of item `i`.
    fn start(&self, i: u32) -> i64;
    /// First nanosecond after item `i`, not before its start.
    fn end(&self, i: u32) -> i64;
    /// How long item `i` is, in ns.
    fn length(&self, i: u32) -> i64 {
        self.end(i).saturating_sub(self.start(i))
    }
    /// What it is called or coloured by.
    fn label(&self, i: u32) -> u32;
    /// Whether no item is longer than nothing: then those of a pixel need not be looked at one by one.
    fn has_only_points(&self) -> bool {
        false
    }
}

/// A run of neighbouring items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The first item; the run goes on to the next entry's first.
    pub first: u32,
    /// The label that takes most of the time, found by a weighted vote.
    pub label: u32,
    /// Time that the items take together, in ns.
    pub busy: f32,
}

/// One level.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Entries are at most `2^shift` ns wide (unless they are one item).
    pub shift: u32,
    /// The entries, the last is a sentinel that ends the one before.
    pub entries: Vec<Entry>,
    /// When each entry starts. Empty in the finest level, whose entries lie close to their items.
    starts: Vec<i64>,
    /// How long each is, in ns; longer ones are `u32::MAX`.
    lengths: Vec<u32>,
}

impl Level {
    /// When entry `at` of a row starts.
    #[inline]
    #[must_use]
    pub fn start(&self, row: &impl Row, at: usize) -> i64 {
        match self.starts.get(at) {
            Some(&start) => start,
            None => row.start(self.entries[at].first),
        }
    }

    /// When entry `at` of a row starts and ends.
    #[inline]
    #[must_use]
    pub fn span(&self, row: &impl Row, at: usize) -> (i64, i64) {
        match (self.starts.get(at), self.lengths.get(at)) {
            (Some(&start), Some(&length)) if length < u32::MAX => {
                (start, start + i64::from(length))
            }
            _ => {
                let (entry, next) = (self.entries[at], self.entries[at + 1]);
                (row.start(entry.first), row.end(next.first - 1))
            }
        }
    }

    fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.starts.capacity() * 8
            + self.lengths.capacity() * 4
    }
}

/// The levels of a row, finest first.
#[derive(Clone, Debug, Default)]
pub struct Lod {
    levels: Vec<Level>,
}

impl Lod {
    /// The pyramid of a row of `count` items, where they are worth one.
    pub fn of_large<R: Row>(count: usize, row: impl FnOnce() -> R) -> Option<Lod> {
        (count >= SMALL_ROW).then(|| Lod::new(&row()))
    }

    /// The pyramid of a row.
    #[must_use]
    pub fn new(row: &impl Row) -> Lod {
        let mut counter = EntryCounter::default();
        for i in 0..row.len() {
            counter.add(row.start(i), row.length(i));
        }
        Lod::counted(row, &counter)
    }

    /// The pyramid of a row whose items were all counted.
    pub(super) fn counted(row: &impl Row, counter: &EntryCounter) -> Lod {
        let Some(mut draft) = counter.base(row) else {
            return Lod::default();
        };
        for i in 0..row.len() {
            draft.add(i, row.start(i), row.length(i), row.label(i));
        }
        Lod::above(row, draft, counter)
    }

    /// A finished base level and all coarser ones.
    fn above(row: &impl Row, base: DraftLevel, counter: &EntryCounter) -> Lod {
        let mut draft = base.close(row.len());
        let mut levels: Vec<Level> = Vec::new();
        while draft.level.shift < 61 && draft.level.entries.len() > 64 {
            let count = counter.entries(draft.level.shift + 1);
            let next = coarser(row, &draft, count);
            levels.push(draft.level);
            draft = next;
        }
        levels.push(draft.level);
        if let Some(finest) = levels.first_mut() {
            finest.starts = Vec::new();
            finest.lengths = Vec::new();
        }
        Lod { levels }
    }

    /// The coarsest level whose entries are at most `width` ns wide; `None`: walk the row itself.
    #[must_use]
    pub fn level(&self, width: i64) -> Option<&Level> {
        let after = self
            .levels
            .partition_point(|level| 1_i64 << level.shift <= width);
        self.levels.get(after.checked_sub(1)?)
    }

    /// The finest level, to skip along with.
    #[must_use]
    pub fn finest(&self) -> Option<&Level> {
        self.levels.first()
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.levels
            .iter()
            .map(|level| level.memory_bytes() as u64)
            .sum()
    }
}

/// How many entries each level of a row will have.
///
/// An item begins an entry unless it and the one before it are shorter than the width and start in the same
/// bucket; so it does at all widths up to that of its length, of the length of the one before, and of the
/// highest bit in which their starts differ.
pub(super) struct EntryCounter {
    /// How many items begin an entry at all shifts below a number.
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
    /// The next item.
    #[inline]
    pub(super) fn add(&mut self, start: i64, length: i64) {
        if self.last_length < 0 {
            self.first_start = start;
        }
        // The first item finds a length with all bits set.
        let bits = 64 - ((start ^ self.last_start) | length | self.last_length).leading_zeros();
        self.begins_below[bits as usize] += 1;
        (self.last_start, self.last_length) = (start, length);
    }

    /// How many entries there are in a level.
    fn entries(&self, shift: u32) -> u32 {
        self.begins_below.iter().skip(shift as usize + 1).sum()
    }

    /// The lowest level that is worth its room, to be filled; the row's items were all added.
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
        Some(DraftLevel::new(shift, self.entries(shift)))
    }
}

/// Whether an item is shorter than a level is wide, so that it may share an entry.
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

/// A level while coarser ones are made of it.
struct DraftLevel {
    level: Level,
    /// How much the vote for each entry's label was won by, in ns.
    leads: Vec<f32>,
    open_bucket: Option<i64>,
}

impl DraftLevel {
    fn new(shift: u32, count: u32) -> DraftLevel {
        DraftLevel {
            level: Level {
                shift,
                entries: Vec::with_capacity(count as usize + 1),
                starts: Vec::with_capacity(count as usize),
                lengths: Vec::with_capacity(count as usize),
            },
            leads: Vec::with_capacity(count as usize),
            open_bucket: None,
        }
    }

    /// Adds an entry of a `length`; if it is short, to the one that is open in its bucket.
    #[inline]
    fn push(&mut self, entry: Entry, lead: f32, (start, length): (i64, i64), size: Size) {
        let is_short = size == Size::Short;
        let level = &mut self.level;
        let bucket = is_short.then_some(start >> level.shift);
        if is_short
            && bucket == self.open_bucket
            && let (Some(open), Some(open_lead)) = (level.entries.last_mut(), self.leads.last_mut())
            && let (Some(open_start), Some(open_length)) =
                (level.starts.last(), level.lengths.last_mut())
        {
            open.busy += entry.busy;
            *open_length = up_to_u32(start.saturating_add(length).saturating_sub(*open_start));
            vote((&mut open.label, open_lead), entry.label, lead);
            return;
        }
        self.open_bucket = bucket;
        level.entries.push(entry);
        level.starts.push(start);
        level.lengths.push(up_to_u32(length));
        self.leads.push(lead);
    }

    /// Adds an item.
    #[inline]
    fn add(&mut self, first: u32, start: i64, length: i64, label: u32) {
        let busy = length as f32;
        let entry = Entry { first, label, busy };
        let size = Size::of(length, self.level.shift);
        self.push(entry, busy.max(1.0), (start, length), size);
    }

    /// Ends the last entry.
    fn close(mut self, item_count: u32) -> DraftLevel {
        self.level.entries.push(Entry {
            first: item_count,
            label: 0,
            busy: 0.0,
        });
        self
    }
}

fn up_to_u32(length: i64) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[inline]
fn vote(winner: (&mut u32, &mut f32), label: u32, weight: f32) {
    let (winner, lead) = winner;
    let weight = weight.max(1.0);
    if *winner == label {
        *lead += weight;
    } else if *lead >= weight {
        *lead -= weight;
    } else {
        *winner = label;
        *lead = weight - *lead;
    }
}

fn coarser(row: &impl Row, finer: &DraftLevel, count: u32) -> DraftLevel {
    let shift = finer.level.shift + 1;
    let mut draft = DraftLevel::new(shift, count);
    for (at, &lead) in finer.leads.iter().enumerate() {
        let (start, end) = finer.level.span(row, at);
        let length = end.saturating_sub(start);
        let pair = &finer.level.entries[at..at + 2];
        let is_one = pair[1].first - pair[0].first == 1;
        draft.push(
            pair[0],
            lead,
            (start, length),
            if is_one {
                Size::of(length, shift)
            } else {
                Size::Short
            },
        );
    }
    draft.close(row.len())
}

/// A row of (start, end, label), for tests.
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
            let sum: f64 = level
                .entries
                .iter()
                .map(|entry| f64::from(entry.busy))
                .sum();
            assert!((sum - busy as f64).abs() < busy as f64 * 1e-4);
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
}
