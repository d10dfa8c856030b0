//! Merges many tables of strings into one.
//!
//! ```text
//! each list of texts     becomes a list of the joined table: no string is copied; its strings by hash, in shards    in parallel
//! each shard             a stretch of the hash table, small enough for the processor's cache, filled in order       in parallel
//! ```
//!
//! The first string with its bytes stands for all. If many strings are repeated, only the first ones are kept, with the
//! numbers that interning one string after the other would give; else the numbers of repeated strings stay unused.

use std::ops::Range;

use rayon::prelude::*;

use super::index::{Index, Slot, first_slot, look_up};
use super::texts::Texts;
use super::{StringId, Strings, hash_bytes};
use crate::base::streaks::Streaks;

/// Number of strings per shard, approximately, as a power of two.
const SHARD_BITS: u32 = 12;
/// Most shards, as a power of two.
const MOST_SHARDS: u32 = 10;
/// Repeated strings are removed if more than one in this many is repeated.
const MOST_REPEATED: usize = 8;
/// How many ids share an entry of `Lists::pages`, as a power of two.
const PAGE_SHIFT: u32 = 10;

/// A string that equals an earlier one.
#[derive(Clone, Copy)]
struct Repeated {
    id: StringId,
    first: StringId,
}

/// The strings of a list, grouped by shard, in order of their ids within each.
struct Sharded {
    slots: Vec<Slot>,
    /// Where each shard begins; at the end the number of strings.
    bounds: Vec<u32>,
}

/// The lists of a table; finds the list that contains an id in about constant time.
struct Lists<'a> {
    lists: Vec<&'a Texts>,
    /// For each 1,024 ids, the index of the list that contains the first of them; at the end the last list.
    pages: Vec<u32>,
}

/// What was found in a shard.
#[derive(Default)]
struct Shard {
    taken: usize,
    /// In order of their ids.
    repeated: Vec<Repeated>,
    /// The strings that the shard's stretch had no room for.
    left: Vec<Slot>,
}

impl Strings {
    /// Adds all strings of other tables, table after table. The returned lists map ids of each table (their index) to
    /// ids of this one; equal strings have equal ids.
    pub(crate) fn absorb_all(&mut self, others: Vec<Strings>) -> Vec<Streaks<StringId>> {
        let own = self.len();
        let count = others.iter().fold(own, |sum, table| sum + table.len());
        let bits = count.checked_ilog2().unwrap_or(0);
        let bits = bits.saturating_sub(SHARD_BITS).min(MOST_SHARDS);
        self.absorb_in_shards(others, bits, MOST_REPEATED)
    }

    /// Adds all strings of other tables with `1 << bits` shards.
    fn absorb_in_shards(
        &mut self,
        others: Vec<Strings>,
        bits: u32,
        most_repeated: usize,
    ) -> Vec<Streaks<StringId>> {
        let mut lengths = Vec::with_capacity(others.len());
        let own = self.len();
        for table in others {
            lengths.push(table.len());
            self.append(table);
        }
        let repeated = self.index_anew(bits);
        let count = repeated.iter().map(|shard| shard.repeated.len());
        if count.sum::<usize>() * most_repeated > self.len() {
            let new = self.without_repeated(&repeated);
            let mut new = new.into_iter().skip(own);
            return (lengths.into_iter())
                .map(|length| new.by_ref().take(length).collect())
                .collect();
        }
        self.full.par_iter_mut().for_each(Texts::shrink);
        self.last.drop_hashes();
        let mut start = own;
        let ranges = lengths.into_iter().map(|length| {
            start += length;
            start - length..start
        });
        let ranges: Vec<_> = ranges.collect();
        let map = |range: Range<usize>| {
            let mut map = Streaks::default();
            map.push_streak(StringId(range.start as u32), range.len());
            for shard in &repeated {
                for repeated in shard.in_range(&range) {
                    map.set(repeated.id.0 as usize - range.start, repeated.first);
                }
            }
            map
        };
        ranges.into_par_iter().map(map).collect()
    }

    /// Takes over the lists of another table, with ids after those of this one. They are not in the index yet.
    fn append(&mut self, table: Strings) {
        for mut texts in table.full.into_iter().chain([table.last]) {
            let last = std::mem::take(&mut self.last);
            texts.first = last.first + last.len() as u32;
            self.full.push(last);
            self.last = texts;
        }
    }

    /// Fills the index with all strings, each that is not repeated.
    fn index_anew(&mut self, bits: u32) -> Vec<Shard> {
        let shards = 1_usize << bits;
        let count = self.len();
        let lists = Lists::of(self);
        let sharded: Vec<Sharded> = (lists.lists.par_iter())
            .map(|texts| Sharded::of(texts, shards))
            .collect();
        // Two of three slots are taken, so that later strings have room.
        let stretch = (count + count / 2) / shards + 16;
        let total = stretch * shards;
        let mut slots = vec![Slot::FREE; total];
        let mut shards: Vec<Shard> = (slots.par_chunks_mut(stretch).enumerate())
            .map(|(shard, slots)| {
                let mut found = Shard::default();
                let stretch = &mut Stretch {
                    slots,
                    start: shard * stretch,
                    total,
                };
                for (list, sharded) in lists.lists.iter().zip(&sharded) {
                    found.fill(stretch, list, sharded.of_shard(shard), &lists);
                }
                found
            })
            .collect();
        let taken = shards.iter().map(|shard| shard.taken).sum();
        self.index = Index::of(slots, taken);
        for slot in shards.iter_mut().flat_map(|shard| shard.left.drain(..)) {
            self.index.insert(slot);
        }
        shards
    }

    /// Removes repeated strings; returns the new ids of all strings.
    fn without_repeated(&mut self, shards: &[Shard]) -> Vec<StringId> {
        let repeated = || shards.iter().flat_map(|shard| &shard.repeated);
        let mut is_first = vec![true; self.len()];
        for repeated in repeated() {
            is_first[repeated.id.0 as usize] = false;
        }
        let mut kept = Strings {
            full: Vec::new(),
            last: Texts::default(),
            index: Index::default(),
            recent: Vec::new(),
        };
        let firsts = || {
            self.iter()
                .zip(&is_first)
                .filter(|(_, is_first)| **is_first)
        };
        let bytes = firsts().map(|((_, bytes), _)| bytes.len()).sum::<usize>();
        kept.last
            .reserve(firsts().count(), bytes.min(u32::MAX as usize));
        let mut ids = vec![StringId::EMPTY; is_first.len()];
        for ((id, bytes), _) in firsts() {
            ids[id.0 as usize] = kept.push(bytes);
        }
        for repeated in repeated() {
            ids[repeated.id.0 as usize] = ids[repeated.first.0 as usize];
        }
        kept.index = self.index.renumbered(&ids);
        *self = kept;
        ids
    }
}

impl Sharded {
    fn of(texts: &Texts, shards: usize) -> Sharded {
        let hashed: Vec<u32>;
        let hashes = match texts.hashes() {
            Some(hashes) => hashes,
            None => {
                hashed = texts.iter().map(|(_, bytes)| hash_bytes(bytes)).collect();
                &hashed
            }
        };
        let mut bounds = vec![0; shards + 1];
        for &hash in hashes {
            bounds[first_slot(hash, shards) + 1] += 1;
        }
        for shard in 0..shards {
            bounds[shard + 1] += bounds[shard];
        }
        let mut next = bounds.clone();
        let mut slots = vec![Slot::FREE; hashes.len()];
        for (id, &hash) in (texts.first..).zip(hashes) {
            let at = &mut next[first_slot(hash, shards)];
            slots[*at as usize] = Slot::of(hash, StringId(id));
            *at += 1;
        }
        Sharded { slots, bounds }
    }

    /// The strings in a shard.
    fn of_shard(&self, shard: usize) -> &[Slot] {
        &self.slots[self.bounds[shard] as usize..self.bounds[shard + 1] as usize]
    }
}

impl<'a> Lists<'a> {
    fn of(table: &'a Strings) -> Lists<'a> {
        let lists: Vec<&Texts> = table.full.iter().chain([&table.last]).collect();
        let mut pages = Vec::with_capacity((table.len() >> PAGE_SHIFT) + 2);
        for (number, list) in (0..).zip(&lists) {
            let end = list.first as usize + list.len();
            while pages.len() << PAGE_SHIFT < end {
                pages.push(number);
            }
        }
        pages.push(lists.len().saturating_sub(1) as u32);
        Lists { lists, pages }
    }

    #[inline]
    fn bytes(&self, id: StringId) -> &'a [u8] {
        let page = (id.0 >> PAGE_SHIFT) as usize;
        let (from, to) = (self.pages[page] as usize, self.pages[page + 1] as usize);
        let lists = &self.lists[from..=to];
        let after = lists.partition_point(|list| list.first <= id.0);
        after.checked_sub(1).map_or(&[], |at| lists[at].bytes(id))
    }
}

/// A stretch of the slots of an index.
struct Stretch<'s> {
    slots: &'s mut [Slot],
    /// Index of its first slot.
    start: usize,
    /// The number of slots of the index.
    total: usize,
}

impl Shard {
    /// Adds the strings of a list whose hashes belong to a stretch, in order of their ids.
    fn fill(&mut self, stretch: &mut Stretch<'_>, list: &Texts, strings: &[Slot], all: &Lists<'_>) {
        for string in strings {
            let is_equal = |known: StringId| all.bytes(known) == list.bytes(string.id());
            let first = first_slot(string.hash, stretch.total).saturating_sub(stretch.start);
            let found = match look_up(stretch.slots, first, string.hash, is_equal) {
                Err(free) => {
                    stretch.slots[free] = *string;
                    self.taken += 1;
                    None
                }
                Ok(Some(known)) => Some(known),
                // Up to the end of the stretch, all slots are taken.
                Ok(None) => {
                    let mut left = self.left.iter();
                    let known = left.find(|left| left.hash == string.hash && is_equal(left.id()));
                    let known = known.map(|known| known.id());
                    if known.is_none() {
                        self.left.push(*string);
                    }
                    known
                }
            };
            if let Some(first) = found {
                let id = string.id();
                self.repeated.push(Repeated { id, first });
            }
        }
    }

    /// The repeated strings with these ids.
    fn in_range(&self, range: &Range<usize>) -> &[Repeated] {
        let before = |id: usize| {
            let is_before = |repeated: &Repeated| (repeated.id.0 as usize) < id;
            self.repeated.partition_point(is_before)
        };
        &self.repeated[before(range.start)..before(range.end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_joined_as_if_one_string_came_after_the_other() {
        let table = |first: u32, step: u32| {
            let mut table = Strings::default();
            for number in 0..700 {
                table.intern_text(&format!("name {}", first + number * step));
            }
            table
        };
        let others = [
            table(0, 1),
            table(300, 2),
            Strings::default(),
            table(0, 3),
            table(5000, 1),
        ];
        for own in [Strings::default(), table(650, 1)] {
            let mut expected = own.clone();
            let expected_ids: Vec<Vec<StringId>> =
                others.iter().map(|table| expected.absorb(table)).collect();
            for (bits, most_repeated) in [(0, 1000), (1, 1000), (5, 1000), (0, 0), (5, 0)] {
                let mut joined = own.clone();
                let ids = joined.absorb_in_shards(others.to_vec(), bits, most_repeated);
                // Repeated strings are removed: the numbers are those of interning.
                if most_repeated > 0 {
                    let ids: Vec<Vec<StringId>> =
                        ids.iter().map(|ids| ids.iter().collect()).collect();
                    assert_eq!(ids, expected_ids);
                    assert!(joined.iter().eq(expected.iter()));
                }
                for (table, ids) in others.iter().zip(&ids) {
                    assert_eq!(table.len(), ids.len());
                    for ((_, bytes), id) in table.iter().zip(ids.iter()) {
                        assert_eq!(joined.bytes(id), bytes);
                        assert_eq!(joined.find(bytes), Some(id));
                    }
                }
                for (id, bytes) in own.iter() {
                    assert_eq!(joined.find(bytes), Some(id));
                }
                assert_eq!(joined.find(b"absent"), None);
                let next = StringId(joined.len() as u32);
                assert_eq!(joined.intern(b"absent"), next);
                assert_eq!(joined.find(b"absent"), Some(next));
            }
            let mut joined = own.clone();
            let ids = joined.absorb_all(others.to_vec());
            assert!(
                ids.iter()
                    .zip(&expected_ids)
                    .all(|(a, b)| a.iter().eq(b.iter().copied()))
            );
            assert!(joined.absorb_all(Vec::new()).is_empty());
            assert!(joined.iter().eq(expected.iter()));
        }
    }
}
