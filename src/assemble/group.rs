//! Rows of many parts, grouped by a small number (a track, a thread, a CPU); the order inside a group is kept.

use crate::base::Maybe;
use rustc_hash::FxHashMap;

/// Collects the rows of one part. Its memory is reused for the next part.
pub(crate) struct Groups<T> {
    slots: FxHashMap<u32, u32>,
    /// For each slot: its number, and the count of its rows.
    counts: Vec<(u32, u32)>,
    rows: Vec<T>,
    /// The slot of each row.
    slot_of_row: Vec<u32>,
    /// Reused by `sorted`: the row indices, sorted by slot.
    order: Vec<u32>,
    /// Cache of the slots used last, indexed by the low bits of the number.
    recent: Vec<Recent>,
}

/// The slot of a recently used number.
#[derive(Clone, Copy, Default)]
struct Recent {
    number: u32,
    slot: Maybe<u32>,
}

const RECENT: usize = 256;

impl<T> Default for Groups<T> {
    fn default() -> Groups<T> {
        Groups {
            slots: FxHashMap::default(),
            counts: Vec::new(),
            rows: Vec::new(),
            slot_of_row: Vec::new(),
            order: Vec::new(),
            recent: vec![Recent::default(); RECENT],
        }
    }
}

impl<T: Copy> Groups<T> {
    /// Returns an empty collection with memory for `count` rows.
    pub(crate) fn with_capacity(count: usize) -> Groups<T> {
        let mut groups = Groups::default();
        groups.reserve(count);
        groups
    }

    /// Allocates memory for `count` more rows.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.rows.reserve(count);
        self.slot_of_row.reserve(count);
    }

    /// Adds a row to the group `number`. Neighbouring rows mostly go to few groups, so their slots are cached.
    #[inline]
    pub(crate) fn push(&mut self, number: u32, row: T) {
        let recent = &mut self.recent[number as usize % RECENT];
        let known = recent.slot.get().filter(|_| recent.number == number);
        let slot = match known {
            Some(slot) => slot,
            None => {
                let counts = &mut self.counts;
                let slot = *self.slots.entry(number).or_insert_with(|| {
                    counts.push((number, 0));
                    counts.len() as u32 - 1
                });
                *recent = Recent {
                    number,
                    slot: Maybe::new(slot),
                };
                slot
            }
        };
        self.counts[slot as usize].1 += 1;
        self.slot_of_row.push(slot);
        self.rows.push(row);
    }

    /// Returns the rows grouped by number (a counting sort). Empties this collection, but keeps its memory.
    pub(super) fn sorted(&mut self) -> Sorted<T> {
        let mut next = Vec::with_capacity(self.counts.len());
        let mut lists = Vec::with_capacity(self.counts.len());
        let mut first = 0;
        for &(number, count) in &self.counts {
            next.push(first);
            lists.push((number, first..first + count));
            first += count;
        }
        let rows = if lists.len() <= 1 {
            self.rows.clone()
        } else {
            self.order.clear();
            self.order.resize(self.rows.len(), 0);
            for (&slot, row) in self.slot_of_row.iter().zip(0..) {
                let place = &mut next[slot as usize];
                self.order[*place as usize] = row;
                *place += 1;
            }
            let order = self.order.iter();
            order.map(|&row| self.rows[row as usize]).collect()
        };
        self.slots.clear();
        self.counts.clear();
        self.rows.clear();
        self.slot_of_row.clear();
        self.recent.fill(Recent::default());
        Sorted { rows, lists }
    }
}

/// Rows of one part; the rows of each number are adjacent.
pub(crate) struct Sorted<T> {
    rows: Vec<T>,
    /// (number, range of its rows).
    lists: Vec<(u32, std::ops::Range<u32>)>,
}

/// The rows of one number: a piece for each part that has any, in part order.
pub(crate) type Pieces<'a, T> = Vec<&'a [T]>;

/// A value that belongs to a track, thread or CPU with this number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Numbered<T> {
    /// The number.
    pub number: u32,
    /// The value.
    pub own: T,
}

/// The values that two lists have for one number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Zipped<A, B> {
    /// The number.
    pub number: u32,
    /// The first list's value.
    pub left: A,
    /// The second list's value.
    pub right: B,
}

/// Returns the groups of all parts, sorted by number.
pub(crate) fn gather<'a, T>(
    parts: impl IntoIterator<Item = &'a Sorted<T>>,
) -> Vec<Numbered<Pieces<'a, T>>> {
    let mut slots: FxHashMap<u32, u32> = FxHashMap::default();
    let mut all: Vec<Numbered<Pieces<'a, T>>> = Vec::new();
    for part in parts {
        for (number, range) in &part.lists {
            let slot = *slots.entry(*number).or_insert_with(|| {
                all.push(Numbered {
                    number: *number,
                    own: Vec::new(),
                });
                all.len() as u32 - 1
            });
            let rows = &part.rows[range.start as usize..range.end as usize];
            all[slot as usize].own.push(rows);
        }
    }
    all.sort_unstable_by_key(|of| of.number);
    all
}

/// Puts all rows of `pieces` into `rows`, sorted by `key`; `rows` is emptied first. Equal keys keep the order of the
/// pieces. Pieces are mostly sorted and in order, so this mostly only joins them.
pub(crate) fn join_in_order<T: Copy, K: Ord>(
    pieces: &[&[T]],
    key: impl Fn(&T) -> K,
    rows: &mut Vec<T>,
) {
    rows.clear();
    rows.reserve_exact(pieces.iter().map(|piece| piece.len()).sum());
    for piece in pieces {
        rows.extend_from_slice(piece);
    }
    if !rows.is_sorted_by(|a, b| key(a) <= key(b)) {
        rows.sort_by_key(key);
    }
}

/// Joins two lists that are sorted by number; a number that only one list has gets the default for the other.
pub(crate) fn zip_by_number<A: Default, B: Default>(
    left: Vec<Numbered<A>>,
    right: Vec<Numbered<B>>,
) -> Vec<Zipped<A, B>> {
    let mut all = Vec::with_capacity(left.len().max(right.len()));
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    loop {
        let heads = [
            left.peek().map(|of| of.number),
            right.peek().map(|of| of.number),
        ];
        let Some(number) = heads.into_iter().flatten().min() else {
            return all;
        };
        let of_left = left.next_if(|of| of.number == number);
        let of_right = right.next_if(|of| of.number == number);
        all.push(Zipped {
            number,
            left: of_left.map(|of| of.own).unwrap_or_default(),
            right: of_right.map(|of| of.own).unwrap_or_default(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_out_and_keep_their_order() {
        let mut first = Groups::with_capacity(4);
        let mut second = Groups::default();
        for (track, row) in [(7, 1), (7, 2), (3, 9), (7 + RECENT as u32, 8), (7, 5)] {
            first.push(track, row);
        }
        second.push(7, 4);
        second.push(u32::MAX, 0);
        let parts = [first.sorted(), second.sorted()];
        let mut rows = Vec::new();
        let mut in_order = |pieces: &[&[i32]]| {
            join_in_order(pieces, |&row| row, &mut rows);
            rows.clone()
        };
        let flat: Vec<_> = gather(&parts)
            .into_iter()
            .map(|of| (of.number, in_order(&of.own)))
            .collect();
        assert_eq!(
            flat,
            vec![
                (3, vec![9]),
                (7, vec![1, 2, 4, 5]),
                (7 + RECENT as u32, vec![8]),
                (u32::MAX, vec![0])
            ]
        );
    }

    #[test]
    fn lists_by_number_are_zipped() {
        fn numbered<T>(list: impl IntoIterator<Item = (u32, T)>) -> Vec<Numbered<T>> {
            let list = list.into_iter();
            list.map(|(number, own)| Numbered { number, own }).collect()
        }
        let zipped = zip_by_number(numbered([(1, 'a'), (4, 'd')]), numbered([(1, 10), (2, 20)]));
        let zipped: Vec<_> = zipped
            .into_iter()
            .map(|of| (of.number, of.left, of.right))
            .collect();
        assert_eq!(zipped, vec![(1, 'a', 10), (2, '\0', 20), (4, 'd', 0)]);
    }
}
