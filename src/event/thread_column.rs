//! Whose each event of a part is, 2 bytes an event: the number of its key in the part's own list of keys.
//!
//! A part with more keys than 2 bytes can number keeps the keys themselves.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::keys::ThreadKey;

/// A key for each event.
#[derive(Clone, Debug, Default)]
pub struct ThreadColumn {
    /// Numbers in `keys`; empty if there are too many keys for that.
    numbers: Vec<u16>,
    keys: Vec<u32>,
    /// The key of each event, if there are too many.
    wide: Vec<u32>,
    /// The number of each key, until all events are there.
    number_of: FxHashMap<u32, u16>,
    last: Option<(u32, u16)>,
}

impl ThreadColumn {
    /// Makes room for `count` more events.
    pub fn reserve(&mut self, count: usize) {
        match self.wide.is_empty() {
            true => self.numbers.reserve(count),
            false => self.wide.reserve(count),
        }
    }

    /// Gives back room that is not used, when all events are there.
    pub fn shrink(&mut self) {
        self.numbers.shrink_to_fit();
        self.keys.shrink_to_fit();
        self.wide.shrink_to_fit();
        self.number_of = FxHashMap::default();
        self.last = None;
    }

    /// Adds an event. Neighbours are mostly of one thread.
    #[inline]
    pub fn push(&mut self, key: ThreadKey) {
        match self.last {
            Some((last, number)) if last == key.0 => self.numbers.push(number),
            _ => self.push_other(key.0),
        }
    }

    fn push_other(&mut self, key: u32) {
        if !self.wide.is_empty() {
            self.wide.push(key);
            return;
        }
        if self.number_of.len() < self.keys.len() {
            let known = self.keys.iter().zip(0..);
            self.number_of = known.map(|(&key, number)| (key, number)).collect();
        }
        if let Some(&number) = self.number_of.get(&key) {
            self.last = Some((key, number));
            self.numbers.push(number);
        } else if let Ok(number) = u16::try_from(self.keys.len()) {
            self.keys.push(key);
            self.number_of.insert(key, number);
            self.last = Some((key, number));
            self.numbers.push(number);
        } else {
            let numbers = std::mem::take(&mut self.numbers);
            let keys = numbers.iter().map(|&number| self.keys[usize::from(number)]);
            self.wide.reserve(numbers.capacity() + 1);
            self.wide.extend(keys.chain([key]));
            self.keys = Vec::new();
            self.number_of = FxHashMap::default();
            self.last = None;
        }
    }

    /// Whose event `index` is. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> ThreadKey {
        match self.numbers.get(index) {
            Some(&number) => ThreadKey(self.keys[usize::from(number)]),
            None => ThreadKey(self.wide[index]),
        }
    }

    /// Stretches of neighbouring events of one thread, in order.
    pub fn runs(&self) -> impl Iterator<Item = (Range<usize>, ThreadKey)> {
        let mut end = 0;
        let narrow = self.numbers.chunk_by(|a, b| a == b);
        let narrow = narrow.map(|run| (run.len(), self.keys[usize::from(run[0])]));
        let wide = self.wide.chunk_by(|a, b| a == b);
        let wide = wide.map(|run| (run.len(), run[0]));
        narrow.chain(wide).map(move |(count, key)| {
            let start = end;
            end += count;
            (start..end, ThreadKey(key))
        })
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.numbers.capacity() * 2
            + (self.keys.capacity() + self.wide.capacity()) * 4
            + self.number_of.capacity() * 8) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_however_many_there_are() {
        let mut column = ThreadColumn::default();
        let key = |i: usize| {
            ThreadKey(if i < 1000 {
                i as u32 / 10
            } else {
                (i as u32).wrapping_mul(77)
            })
        };
        for (count, is_narrow) in [(1000, true), (70_000, true), (140_000, false)] {
            for i in column.numbers.len().max(column.wide.len())..count {
                column.push(if i < 66_000 { key(i / 2) } else { key(i) });
            }
            column.shrink();
            let expected = |i: usize| if i < 66_000 { key(i / 2) } else { key(i) };
            assert!((0..count).all(|i| column.get(i) == expected(i)));
            assert_eq!(!column.numbers.is_empty(), is_narrow);
            let runs: Vec<_> = column.runs().collect();
            assert_eq!(runs.first().map(|run| run.0.clone()), Some(0..20));
            assert!(
                runs.iter()
                    .all(|(range, key)| column.get(range.start) == *key)
            );
            assert_eq!(runs.last().map(|run| run.0.end), Some(count));
        }
    }
}
