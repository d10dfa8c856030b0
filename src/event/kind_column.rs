//! The kind of each event of a part: 2 bytes per event, or 4 in parts with a kind number that does not fit into 2
//! bytes.

use crate::base::column::Column;
use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::keys::KindId;
use crate::base::streaks::Streaks;

/// The kinds of a part's events, in their order; one of the two vectors is empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KindColumn {
    /// The numbers, if all fit into 2 bytes.
    words: Column<u16>,
    /// The numbers, if some need 4 bytes.
    wide: Column<u32>,
}

impl KindColumn {
    /// Reserves room for `count` more events.
    pub(crate) fn reserve(&mut self, count: usize) {
        if self.wide.is_empty() {
            self.words.reserve(count);
        } else {
            self.wide.reserve(count);
        }
    }

    /// Frees unused room.
    pub(crate) fn shrink(&mut self) {
        self.words.shrink_to_fit();
        self.wide.shrink_to_fit();
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, kind: KindId) {
        if self.wide.is_empty() {
            match u16::try_from(kind.0) {
                Ok(word) => return self.words.push(word),
                Err(_) => self.widen(),
            }
        }
        self.wide.push(kind.0);
    }

    /// Replaces the kind of event `index`; does nothing if there is no such event.
    pub(crate) fn set(&mut self, index: usize, kind: KindId) {
        match (self.words.get_mut(index), u16::try_from(kind.0)) {
            (Some(slot), Ok(word)) => return *slot = word,
            (Some(_), Err(_)) => self.widen(),
            (None, _) => {}
        }
        if let Some(slot) = self.wide.get_mut(index) {
            *slot = kind.0;
        }
    }

    /// Replaces every kind by `new[old]`; by kind 0 where there is no such kind.
    pub(crate) fn renumber(&mut self, new: &Streaks<KindId>) {
        if self.wide.is_empty() && new.iter().any(|kind| kind.0 > u16::MAX.into()) {
            self.widen();
        }
        let number = |old: usize| new.get(old).unwrap_or_default();
        for kind in &mut self.wide {
            *kind = number(*kind as usize).0;
        }
        for kind in &mut self.words {
            *kind = number(usize::from(*kind)).0 as u16;
        }
    }

    /// Stores all numbers in 4 bytes.
    #[cold]
    fn widen(&mut self) {
        let words = std::mem::take(&mut self.words);
        let words = words.into_vec();
        self.wide.reserve(words.capacity());
        self.wide.extend(words.into_iter().map(u32::from));
    }

    /// Returns the kind of event `index`. Panics if there is no such event.
    #[inline]
    #[must_use]
    pub(crate) fn get(&self, index: usize) -> KindId {
        KindId(match self.words.get(index) {
            Some(&word) => u32::from(word),
            None => self.wide[index],
        })
    }

    /// Returns the kinds of all events.
    #[inline]
    #[must_use]
    pub(crate) fn all(&self) -> KindSlice<'_> {
        if self.wide.is_empty() {
            KindSlice::Words(&self.words)
        } else {
            KindSlice::Wide(&self.wide)
        }
    }

    /// Returns the allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.words.memory_bytes() + self.wide.memory_bytes()
    }
}

/// The kinds of neighbouring events as their part stores them, so that a loop over many events checks the width once.
#[derive(Clone, Copy, Debug)]
pub enum KindSlice<'a> {
    /// All numbers in the part fit into 2 bytes.
    Words(&'a [u16]),
    /// Some numbers need 4 bytes.
    Wide(&'a [u32]),
}

impl Default for KindSlice<'_> {
    fn default() -> Self {
        KindSlice::Words(&[])
    }
}

impl<'a> KindSlice<'a> {
    /// Returns the kinds of a range of events. Panics if `range` ends after the last one.
    #[inline]
    #[must_use]
    pub(crate) fn range(self, range: Range<usize>) -> KindSlice<'a> {
        match self {
            KindSlice::Words(words) => KindSlice::Words(&words[range]),
            KindSlice::Wide(kinds) => KindSlice::Wide(&kinds[range]),
        }
    }

    /// Returns the kind of an event; `None` if there is no such event.
    #[inline]
    #[must_use]
    pub(crate) fn get(self, index: usize) -> Option<KindId> {
        match self {
            KindSlice::Words(words) => words.get(index).map(|&word| KindId(u32::from(word))),
            KindSlice::Wide(kinds) => kinds.get(index).map(|&kind| KindId(kind)),
        }
    }

    /// Calls `each` with the index and kind of each event, in order.
    #[inline]
    pub(crate) fn for_each(self, mut each: impl FnMut(u32, KindId)) {
        match self {
            KindSlice::Words(words) => {
                for (index, &word) in (0..).zip(words) {
                    each(index, KindId(u32::from(word)));
                }
            }
            KindSlice::Wide(kinds) => {
                for (index, &kind) in (0..).zip(kinds) {
                    each(index, KindId(kind));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_back_however_large_they_are() {
        let mut column = KindColumn::default();
        let kind = |i: u32| KindId(if i == 700 { u32::MAX } else { i * 97 });
        for i in 0..1000 {
            column.push(kind(i));
            assert_eq!(
                column.words.is_empty(),
                kind(i.max(675)).0 > 65_535 && i > 675
            );
        }
        assert!((0..1000).all(|i| column.get(i as usize) == kind(i)));
        let mut met = Vec::new();
        column
            .all()
            .range(600..1000)
            .for_each(|index, kind| met.push((index + 600, kind)));
        assert_eq!(met, (600..1000).map(|i| (i, kind(i))).collect::<Vec<_>>());
        assert_eq!(column.all().get(700), Some(KindId(u32::MAX)));
        assert_eq!(column.all().get(1000), None);
    }

    #[test]
    fn kinds_are_renumbered_at_any_width() {
        for (kinds, new) in [
            ([0, 1, 2, 1], [5, 70_000, 7]),
            ([0, 1, 2, 1], [2, 1, 0]),
            ([0, 65_536, 2, 1], [5, 6, 7]),
        ] {
            let mut column = KindColumn::default();
            kinds.iter().for_each(|&kind| column.push(KindId(kind)));
            column.renumber(&new.map(KindId).into_iter().collect());
            for (index, kind) in kinds.into_iter().enumerate() {
                let expected = new.get(kind as usize).copied().unwrap_or(0);
                assert_eq!(column.get(index), KindId(expected));
            }
        }
    }

    #[test]
    fn a_kind_that_is_set_later_widens_the_column_only_if_it_must() {
        let mut column = KindColumn::default();
        (0..5).for_each(|i| column.push(KindId(i)));
        column.set(1, KindId(65_535));
        column.shrink();
        assert_eq!(column.memory_bytes(), 10);
        column.set(3, KindId(65_536));
        let kinds: Vec<u32> = (0..5).map(|i| column.get(i).0).collect();
        assert_eq!(kinds, [0, 65_535, 2, 65_536, 4]);
        column.set(3, KindId(7));
        assert_eq!(column.get(3), KindId(7));
    }
}
