//! The thread of each event of a part, 1 byte per event: an index into the part's own list of thread keys.
//!
//! A part with more keys than 1 byte can number uses 2 bytes per event; a part with more keys than 2 bytes can number
//! stores the keys themselves.

use crate::base::column::Column;
use serde::{Deserialize, Serialize};
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::keys::ThreadKey;
use crate::base::Maybe;

/// Keys below this are looked up in a vector instead of the hash map.
const SMALL: u32 = 4096;

/// The thread key of each event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ThreadColumn {
    events: Numbers,
    /// The distinct keys, in the order in which they first occurred; empty for `Numbers::Keys`.
    keys: Vec<u32>,
    /// The index in `keys` of each key. Freed once all events were added.
    #[serde(skip)]
    number_of: FxHashMap<u32, u16>,
    /// Index in `keys` plus 1, by key, for keys below [`SMALL`]; 0: not in the list yet.
    #[serde(skip)]
    number_of_small: Vec<u16>,
    #[serde(skip)]
    last: Option<(u32, u16)>,
}

/// The column's entry for each event; the width depends on the number of keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Numbers {
    /// Index in `keys`, 1 byte.
    Bytes(Column<u8>),
    /// Index in `keys`, 2 bytes.
    Words(Column<u16>),
    /// The key itself.
    Keys(Column<u32>),
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers::Bytes(Column::default())
    }
}

impl Numbers {
    /// Adds an index in `keys` that fits the current width. Does nothing for `Keys`.
    #[inline]
    fn push(&mut self, number: u16) {
        match self {
            Numbers::Bytes(numbers) => numbers.push(number as u8),
            Numbers::Words(numbers) => numbers.push(number),
            Numbers::Keys(_) => {}
        }
    }

    /// Widens the entries if the current width cannot number one more key than `keys` contains.
    fn widen(&mut self, keys: &[u32]) {
        match self {
            Numbers::Bytes(numbers) if keys.len() > usize::from(u8::MAX) => {
                let mut wider = Vec::with_capacity(numbers.len());
                wider.extend(numbers.iter().map(|&number| u16::from(number)));
                *self = Numbers::Words(wider.into());
            }
            Numbers::Words(numbers) if keys.len() > usize::from(u16::MAX) => {
                let mut wider = Vec::with_capacity(numbers.len());
                wider.extend(numbers.iter().map(|&number| keys[usize::from(number)]));
                *self = Numbers::Keys(wider.into());
            }
            _ => {}
        }
    }
}

/// A range of neighbouring events of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadRun {
    /// The indices of the events.
    pub events: Range<usize>,
    /// The thread, if it is known.
    pub thread: Option<ThreadKey>,
}

/// Returns the number by which the column stores a thread.
#[inline]
fn stored(key: Maybe<ThreadKey>) -> u32 {
    key.or_greatest().0
}

/// Returns the thread for a number in the column.
#[inline]
fn key_of(stored: u32) -> Option<ThreadKey> {
    Maybe::new(ThreadKey(stored)).get()
}

/// Returns the length and key of each run of equal neighbours.
fn equal_runs<'a, T: Copy + PartialEq>(
    numbers: &'a [T],
    key: impl Fn(T) -> u32 + 'a,
) -> impl Iterator<Item = (usize, u32)> + 'a {
    let runs = numbers.chunk_by(|a, b| a == b);
    runs.map(move |run| (run.len(), key(run[0])))
}

/// Returns the first and last position of each of `count` numbers, as `first..last`. Relies on numbers being assigned
/// in the order of their first occurrence.
fn spans_of<T: Copy + Into<usize>>(numbers: &[T], count: usize) -> Vec<Range<usize>> {
    let mut last = vec![0; count];
    let mut firsts = Vec::with_capacity(count);
    for (at, &number) in numbers.iter().enumerate() {
        last[number.into()] = at;
        if number.into() == firsts.len() {
            firsts.push(at);
        }
    }
    let spans = firsts.into_iter().zip(last);
    spans.map(|(first, last)| first..last).collect()
}

impl ThreadColumn {
    /// Reserves room for `count` more events.
    pub(crate) fn reserve(&mut self, count: usize) {
        match &mut self.events {
            Numbers::Bytes(numbers) => numbers.reserve(count),
            Numbers::Words(numbers) => numbers.reserve(count),
            Numbers::Keys(keys) => keys.reserve(count),
        }
    }

    /// Frees unused room, when all events were added.
    pub(crate) fn shrink(&mut self) {
        match &mut self.events {
            Numbers::Bytes(numbers) => numbers.shrink_to_fit(),
            Numbers::Words(numbers) => numbers.shrink_to_fit(),
            Numbers::Keys(keys) => keys.shrink_to_fit(),
        }
        self.keys.shrink_to_fit();
        self.forget_numbers();
    }

    fn forget_numbers(&mut self) {
        self.number_of = FxHashMap::default();
        self.number_of_small = Vec::new();
        self.last = None;
    }

    /// Replaces every key by `new(key)`. Nothing may be added afterwards.
    pub(crate) fn renumber(&mut self, new: &dyn Fn(ThreadKey) -> Option<ThreadKey>) {
        let of_events = match &mut self.events {
            Numbers::Keys(keys) => &mut **keys,
            _ => &mut [],
        };
        for key in self.keys.iter_mut().chain(of_events) {
            let now = key_of(*key).and_then(new);
            *key = stored(now.into());
        }
        self.forget_numbers();
    }

    /// Adds an event. Neighbouring events usually belong to one thread, so the last key is checked first.
    #[inline]
    pub(crate) fn push(&mut self, key: Maybe<ThreadKey>) {
        let key = stored(key);
        match self.last {
            Some((last, number)) if last == key => self.events.push(number),
            _ => match self.number_of_small.get(key as usize) {
                Some(&number) if number > 0 => {
                    self.last = Some((key, number - 1));
                    self.events.push(number - 1);
                }
                _ => self.push_other(key),
            },
        }
    }

    fn push_other(&mut self, key: u32) {
        if let Numbers::Keys(keys) = &mut self.events {
            keys.push(key);
            return;
        }
        if self.number_of.len() < self.keys.len() {
            let known = self.keys.iter().zip(0..);
            self.number_of = known.map(|(&key, number)| (key, number)).collect();
        }
        if let Some(&number) = self.number_of.get(&key) {
            self.remember(key, number);
            self.events.push(number);
            return;
        }
        self.events.widen(&self.keys);
        if let Numbers::Keys(keys) = &mut self.events {
            keys.push(key);
            self.keys = Vec::new();
            self.forget_numbers();
            return;
        }
        let number = self.keys.len() as u16;
        self.keys.push(key);
        self.number_of.insert(key, number);
        self.remember(key, number);
        self.events.push(number);
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

    /// Returns the thread of event `index`, if it is known. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub(crate) fn get(&self, index: usize) -> Option<ThreadKey> {
        key_of(match &self.events {
            Numbers::Bytes(numbers) => self.keys[usize::from(numbers[index])],
            Numbers::Words(numbers) => self.keys[usize::from(numbers[index])],
            Numbers::Keys(keys) => keys[index],
        })
    }

    /// Returns the ranges of neighbouring events of one thread, in order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = ThreadRun> {
        self.runs_in(0..usize::MAX)
    }

    /// Returns the ranges of neighbouring events of one thread within `range`, which may end after the last event.
    pub(crate) fn runs_in(&self, range: Range<usize>) -> impl Iterator<Item = ThreadRun> {
        fn part<'a, T>(all: &'a [T], range: &Range<usize>) -> &'a [T] {
            let end = range.end.min(all.len());
            all.get(range.start.min(end)..end).unwrap_or_default()
        }
        let (mut bytes, mut words, mut all) = (&[][..], &[][..], &[][..]);
        match &self.events {
            Numbers::Bytes(numbers) => bytes = part(numbers, &range),
            Numbers::Words(numbers) => words = part(numbers, &range),
            Numbers::Keys(keys) => all = part(keys, &range),
        }
        let mut end = range.start;
        equal_runs(bytes, |number| self.keys[usize::from(number)])
            .chain(equal_runs(words, |number| self.keys[usize::from(number)]))
            .chain(equal_runs(all, |key| key))
            .map(move |(count, key)| {
                let start = end;
                end += count;
                ThreadRun {
                    events: start..end,
                    thread: key_of(key),
                }
            })
    }

    /// Returns each key with the indices of its first and last event (as `first..last`), in the order of their first
    /// events.
    #[must_use]
    pub(crate) fn spans(&self) -> Vec<ThreadRun> {
        let span = |(key, events)| ThreadRun {
            events,
            thread: key_of(key),
        };
        let spans = match &self.events {
            Numbers::Bytes(numbers) => spans_of(numbers, self.keys.len()),
            Numbers::Words(numbers) => spans_of(numbers, self.keys.len()),
            Numbers::Keys(keys) => {
                let mut spans: FxHashMap<u32, Range<usize>> = FxHashMap::default();
                for (at, &key) in keys.iter().enumerate() {
                    spans.entry(key).or_insert(at..at).end = at;
                }
                let mut spans: Vec<_> = spans.into_iter().map(span).collect();
                spans.sort_unstable_by_key(|span| span.events.start);
                return spans;
            }
        };
        self.keys.iter().copied().zip(spans).map(span).collect()
    }

    /// Returns the allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let of_events = match &self.events {
            Numbers::Bytes(numbers) => numbers.memory_bytes(),
            Numbers::Words(numbers) => numbers.memory_bytes(),
            Numbers::Keys(keys) => keys.memory_bytes(),
        };
        let of_keys = self.keys.capacity() * 4
            + self.number_of.capacity() * 8
            + self.number_of_small.capacity() * 2;
        of_events + of_keys as u64
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
            } else if i < 2000 {
                i as u32 % 200
            } else {
                (i as u32).wrapping_mul(77)
            })
        };
        let mut known = 0;
        for (count, bytes) in [(1000, 1), (70_000, 2), (140_000, 4)] {
            for i in known..count {
                let key = if i < 66_000 { key(i / 2) } else { key(i) };
                column.push(key.into());
            }
            column.shrink();
            let expected = |i: usize| Some(if i < 66_000 { key(i / 2) } else { key(i) });
            assert!((0..count).all(|i| column.get(i) == expected(i)));
            known = count;
            let width = match &column.events {
                Numbers::Bytes(_) => 1,
                Numbers::Words(_) => 2,
                Numbers::Keys(_) => 4,
            };
            assert_eq!(width, bytes);
            let runs: Vec<_> = column.runs().collect();
            assert_eq!(runs.first().map(|run| run.events.clone()), Some(0..20));
            assert!(
                runs.iter()
                    .all(|run| column.get(run.events.start) == run.thread)
            );
            assert_eq!(runs.last().map(|run| run.events.end), Some(count));
            let mut spans: FxHashMap<u32, Range<usize>> = FxHashMap::default();
            for ThreadRun { events, thread } in runs {
                let last = events.end - 1;
                spans
                    .entry(thread.unwrap().0)
                    .or_insert(events.start..last)
                    .end = last;
            }
            let found = column.spans();
            assert!(found.is_sorted_by_key(|span| span.events.start));
            assert_eq!(found.len(), spans.len());
            assert!(
                found
                    .iter()
                    .all(|it| spans[&it.thread.unwrap().0] == it.events)
            );
        }
    }
}
