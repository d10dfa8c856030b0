//! Rows of many parts, sorted out by a small number (a track, a thread, a CPU), keeping their order.

use rustc_hash::FxHashMap;

/// Rows of one part by number.
pub struct Groups<T> {
    slots: FxHashMap<u32, u32>,
    lists: Vec<(u32, Vec<T>)>,
    /// The lists that were used last, by the number's low bits: (number, slot).
    recent: [(u32, u32); RECENT],
}

const RECENT: usize = 64;

impl<T> Default for Groups<T> {
    fn default() -> Groups<T> {
        Groups {
            slots: FxHashMap::default(),
            lists: Vec::new(),
            recent: [(0, u32::MAX); RECENT],
        }
    }
}

impl<T> Groups<T> {
    /// Adds a row to `number`'s list. Neighbouring rows mostly go to few lists, so these are remembered.
    #[inline]
    pub fn push(&mut self, number: u32, row: T) {
        let recent = &mut self.recent[number as usize % RECENT];
        if recent.0 != number || recent.1 == u32::MAX {
            let lists = &mut self.lists;
            let slot = *self.slots.entry(number).or_insert_with(|| {
                lists.push((number, Vec::new()));
                lists.len() as u32 - 1
            });
            *recent = (number, slot);
        }
        self.lists[recent.1 as usize].1.push(row);
    }
}

/// One number's rows: a list from each part that had some, in part order.
pub type Pieces<T> = Vec<Vec<T>>;

/// Gathers the parts' groups: every number with its rows, sorted by number.
pub fn gather<T>(parts: Vec<Groups<T>>) -> Vec<(u32, Pieces<T>)> {
    let mut slots: FxHashMap<u32, u32> = FxHashMap::default();
    let mut all: Vec<(u32, Pieces<T>)> = Vec::new();
    for part in parts {
        for (number, rows) in part.lists {
            let slot = *slots.entry(number).or_insert_with(|| {
                all.push((number, Vec::new()));
                all.len() as u32 - 1
            });
            all[slot as usize].1.push(rows);
        }
    }
    all.sort_unstable_by_key(|(number, _)| *number);
    all
}

/// All rows of the pieces in the order of `key`; equal keys keep the order of the pieces.
/// Pieces are sorted by themselves, or nearly, so that this mostly only joins them.
pub fn in_order<T: Copy, K: Ord>(pieces: Pieces<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut rows = match <[Vec<T>; 1]>::try_from(pieces) {
        Ok([only]) => only,
        Err(pieces) => {
            let mut rows = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
            for piece in pieces {
                rows.extend(piece);
            }
            rows
        }
    };
    if !rows.is_sorted_by(|a, b| key(a) <= key(b)) {
        rows.sort_by_key(key);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_out_and_keep_their_order() {
        let mut first = Groups::default();
        let mut second = Groups::default();
        for (track, row) in [(7, 1), (7, 2), (3, 9), (7, 5)] {
            first.push(track, row);
        }
        second.push(7, 4);
        second.push(u32::MAX, 0);
        let all = gather(vec![first, second]);
        let flat: Vec<_> = all
            .into_iter()
            .map(|(number, pieces)| (number, in_order(pieces, |&row| row)))
            .collect();
        assert_eq!(
            flat,
            vec![(3, vec![9]), (7, vec![1, 2, 4, 5]), (u32::MAX, vec![0])]
        );
    }
}
