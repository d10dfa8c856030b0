//! Whose each event of a part is, 2 bytes an event: the number of its key in the part's own list of keys.
//!
//! A part with more keys than 2 bytes can number keeps the keys themselves.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::keys::ThreadKey;

/// Keys below this are small.
const SMALL: u32 = 4096;

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
    /// The same for small keys, plus 1; 0: not known.
    number_of_small: Vec<u16>,
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
        self.number_of_small = Vec::new();
        self.last = None;
    }

    /// Gives every key its new one; nothing is added any more.
    pub fn renumber(&mut self, new: &dyn Fn(ThreadKey) -> ThreadKey) {
        for key in self.keys.iter_mut().chain(&mut self.wide) {
            *key = new(ThreadKey(*key)).0;
        }
        self.number_of = FxHashMap::default();
        self.number_of_small = Vec::new();
        self.last = None;
    }

    /// Adds an event. Neighbours are mostly of one thread.
    #[inline]
    pub fn push(&mut self, key: ThreadKey) {
        match self.last {
            Some((last, number)) if last == key.0 => self.numbers.push(number),
            _ => match self.number_of_small.get(key.0 as usize) {
                Some(&number) if number > 0 => {
                    self.last = Some((key.0, number - 1));
                    self.numbers.push(number - 1);
                }
                _ => self.push_other(key.0),
            },
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
            self.remember(key, number);
            self.numbers.push(number);
        } else if let Ok(number) = u16::try_from(self.keys.len()) {
            self.keys.push(key);
            self.number_of.insert(key, number);
            self.remember(key, number);
            self.numbers.push(number);
        } else {
            let numbers = std::mem::take(&mut self.numbers);
            let keys = numbers.iter().map(|&number| self.keys[usize::from(number)]);
            self.wide.reserve(numbers.capacity() + 1);
            self.wide.extend(keys.chain([key]));
            self.keys = Vec::new();
            self.number_of = FxHashMap::default();
            self.number_of_small = Vec::new();
            self.last = None;
        }
    }

    fn remember(&mut self, key: u32, number: u16) {
        self.last = Some((key, number));
        if key < SMALL && number < u16::MAX {
            let index = key as usize;
            if self.number_of_small.len() <= index {
                self.number_of_small.resize(index + 1, 0);
            }
            self.number_of_small[index] = number + 1;
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

    /// Each key with its first and last event, keys in the order in which they came first.
    #[must_use]
    pub fn spans(&self) -> Vec<(ThreadKey, Range<usize>)> {
        if !self.wide.is_empty() {
            let mut spans: FxHashMap<u32, Range<usize>> = FxHashMap::default();
            for (at, &key) in self.wide.iter().enumerate() {
                spans.entry(key).or_insert(at..at).end = at;
            }
            let spans = spans.into_iter();
            let mut spans: Vec<_> = spans.map(|(key, span)| (ThreadKey(key), span)).collect();
            spans.sort_unstable_by_key(|(_, span)| span.start);
            return spans;
        }
        // Keys are numbered as they come.
        let mut last = vec![0; self.keys.len()];
        let mut firsts = Vec::with_capacity(self.keys.len());
        for (at, &number) in self.numbers.iter().enumerate() {
            last[usize::from(number)] = at;
            if usize::from(number) == firsts.len() {
                firsts.push(at);
            }
        }
        let spans = firsts
            .into_iter()
            .zip(last)
            .map(|(first, last)| first..last);
        let keys = self.keys.iter().map(|&key| ThreadKey(key));
        keys.zip(spans).collect()
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.numbers.capacity() * 2
            + (self.keys.capacity() + self.wide.capacity()) * 4
            + self.number_of.capacity() * 8
            + self.number_of_small.capacity() * 2) as u64
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
            let mut spans: FxHashMap<u32, Range<usize>> = FxHashMap::default();
            for (run, key) in runs {
                let last = run.end - 1;
                spans.entry(key.0).or_insert(run.start..last).end = last;
            }
            let found = column.spans();
            assert!(found.is_sorted_by_key(|(_, span)| span.start));
            assert_eq!(found.len(), spans.len());
            assert!(found.iter().all(|(key, span)| spans[&key.0] == *span));
        }
    }
}
