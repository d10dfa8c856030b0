//! Rows of many parts, sorted out by a small number (a track, a thread, a CPU), keeping their order.

use rustc_hash::FxHashMap;

/// Rows of one part while they are collected. The room is used again for the next part.
pub struct Groups<T> {
    slots: FxHashMap<u32, u32>,
    /// By slot: the number, and how many rows it has.
    counts: Vec<(u32, u32)>,
    rows: Vec<T>,
    /// The slot of each row.
    slot_of_row: Vec<u32>,
    /// Room for the order of the rows when they are sorted.
    order: Vec<u32>,
    /// The slots that were used last, by the number's low bits: (number, slot).
    recent: Vec<(u32, u32)>,
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
            recent: vec![(0, u32::MAX); RECENT],
        }
    }
}

impl<T: Copy> Groups<T> {
    /// With room for `count` rows.
    pub fn with_capacity(count: usize) -> Groups<T> {
        let mut groups = Groups::default();
        groups.reserve(count);
        groups
    }

    /// Makes room for `count` more rows.
    pub fn reserve(&mut self, count: usize) {
        self.rows.reserve(count);
        self.slot_of_row.reserve(count);
    }

    /// Adds a row to `number`'s list. Neighbouring rows mostly go to few lists, so these are remembered.
    #[inline]
    pub fn push(&mut self, number: u32, row: T) {
        let recent = &mut self.recent[number as usize % RECENT];
        if recent.0 != number || recent.1 == u32::MAX {
            let counts = &mut self.counts;
            let slot = *self.slots.entry(number).or_insert_with(|| {
                counts.push((number, 0));
                counts.len() as u32 - 1
            });
            *recent = (number, slot);
        }
        self.counts[recent.1 as usize].1 += 1;
        self.slot_of_row.push(recent.1);
        self.rows.push(row);
    }

    /// The rows by number: a counting sort. Nothing is left here but the room.
    pub fn sorted(&mut self) -> Sorted<T> {
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
        self.recent.fill((0, u32::MAX));
        Sorted { rows, lists }
    }
}

/// Rows of one part, those of each number side by side.
pub struct Sorted<T> {
    rows: Vec<T>,
    /// (number, where its rows are).
    lists: Vec<(u32, std::ops::Range<u32>)>,
}

/// One number's rows: a list from each part that had some, in part order.
pub type Pieces<'a, T> = Vec<&'a [T]>;

/// Gathers what the parts have: every number with its rows, sorted by number.
pub fn gather<'a, T>(parts: impl IntoIterator<Item = &'a Sorted<T>>) -> Vec<(u32, Pieces<'a, T>)> {
    let mut slots: FxHashMap<u32, u32> = FxHashMap::default();
    let mut all: Vec<(u32, Pieces<'a, T>)> = Vec::new();
    for part in parts {
        for (number, range) in &part.lists {
            let slot = *slots.entry(*number).or_insert_with(|| {
                all.push((*number, Vec::new()));
                all.len() as u32 - 1
            });
            let rows = &part.rows[range.start as usize..range.end as usize];
            all[slot as usize].1.push(rows);
        }
    }
    all.sort_unstable_by_key(|(number, _)| *number);
    all
}

/// All rows of the pieces in the order of `key`, into `rows`, which is emptied first; equal keys keep the order
/// of the pieces.
/// Pieces are sorted by themselves, or nearly, so that this mostly only joins them.
pub fn join_in_order<T: Copy, K: Ord>(pieces: &[&[T]], key: impl Fn(&T) -> K, rows: &mut Vec<T>) {
    rows.clear();
    rows.reserve_exact(pieces.iter().map(|piece| piece.len()).sum());
    for piece in pieces {
        rows.extend_from_slice(piece);
    }
    if !rows.is_sorted_by(|a, b| key(a) <= key(b)) {
        rows.sort_by_key(key);
    }
}

/// Two lists that are sorted by number as one: each number with what both have of it.
pub fn zip_by_number<A: Default, B: Default>(
    a: Vec<(u32, A)>,
    b: Vec<(u32, B)>,
) -> Vec<(u32, A, B)> {
    let mut all = Vec::with_capacity(a.len().max(b.len()));
    let mut a = a.into_iter().peekable();
    let mut b = b.into_iter().peekable();
    loop {
        let heads = [a.peek().map(|it| it.0), b.peek().map(|it| it.0)];
        let Some(number) = heads.into_iter().flatten().min() else {
            return all;
        };
        let left = a.next_if(|it| it.0 == number).map(|it| it.1);
        let right = b.next_if(|it| it.0 == number).map(|it| it.1);
        all.push((number, left.unwrap_or_default(), right.unwrap_or_default()));
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
            .map(|(number, pieces)| (number, in_order(&pieces)))
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
        let zipped = zip_by_number(vec![(1, 'a'), (4, 'd')], vec![(1, 10), (2, 20)]);
        assert_eq!(zipped, vec![(1, 'a', 10), (2, '\0', 20), (4, 'd', 0)]);
    }
}
