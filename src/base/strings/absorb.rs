//! Merges many tables of strings into one.
//!
//! ```text
//! each list of texts     becomes a list of the joined table: no string is copied
//! ascending strings      lists of tables whose strings follow each other are appended
//! all other strings      by hash, in shards                                                                        in parallel
//! each shard             a stretch of the hash table, small enough for the processor's cache, filled in order      in parallel
//! ```
//!
//! The first string with its bytes stands for all. If many strings are repeated, only the first ones are kept, with the
//! numbers that interning one string after the other would give; else the numbers of repeated strings stay unused.

use std::ops::Range;

use rayon::prelude::*;

use super::ascending::{Ascending, List, Member};
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

/// The strings of a list that are not among the ascending ones, grouped by shard, in order of their ids within each.
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

/// A set of ids.
struct IdSet {
    words: Vec<u64>,
}

/// A string that equals an ascending one with a greater id.
struct Earlier {
    id: StringId,
    member: Member,
}

/// What was found in a shard.
#[derive(Default)]
struct Shard {
    taken: usize,
    /// In order of their ids.
    repeated: Vec<Repeated>,
    earlier: Vec<Earlier>,
    /// The strings that the shard's stretch had no room for.
    left: Vec<Slot>,
}

impl Strings {
    /// Adds all strings of other tables, table after table. The returned lists map ids of each table (their index) to
    /// ids of this one; equal strings have equal ids. The strings of this table keep their ids, because none of them are
    /// equal (only [`Strings::intern`] added them).
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
        let own = self.len();
        let mut lists = std::mem::take(&mut self.ascending).into_lists();
        let mut offsets = vec![(lists.len(), 0)];
        let lengths: Vec<usize> = others.iter().map(Strings::len).collect();
        for table in others {
            let offset = self.len() as u32;
            self.texts.append(table.texts);
            lists.extend(table.ascending.into_lists());
            lists.extend(table.watch.into_lists());
            offsets.push((lists.len(), offset));
        }
        self.ascending = self.joined_lists(&lists, &offsets);
        drop(lists);
        let repeated = self.index_anew(bits);
        let count = repeated.iter().map(|shard| shard.repeated.len());
        if count.sum::<usize>() * most_repeated > self.len() {
            let new = self.without_repeated(&repeated);
            let mut new = new.into_iter().skip(own);
            return (lengths.into_iter())
                .map(|length| new.by_ref().take(length).collect())
                .collect();
        }
        self.texts.shrink();
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

    /// Returns the ascending lists of all tables, joined. `tables` has, for each table, where its lists end, and how much
    /// greater its ids became.
    fn joined_lists(&self, lists: &[List], tables: &[(usize, u32)]) -> Ascending {
        let mut joined = Ascending::default();
        let mut from = 0;
        for &(to, offset) in tables {
            for list in lists.get(from..to).unwrap_or_default() {
                joined.append(list, offset, |id| self.bytes(id));
            }
            from = to;
        }
        joined
    }

    /// Fills the index with all strings that are not among the ascending ones, each that is not repeated.
    fn index_anew(&mut self, bits: u32) -> Vec<Shard> {
        let shards = 1_usize << bits;
        let ascending = IdSet::of(self.len(), self.ascending.streaks());
        let lists = Lists::of(self);
        let sharded: Vec<Sharded> = (lists.lists.par_iter())
            .map(|texts| Sharded::of(texts, &ascending, shards))
            .collect();
        let count = sharded.iter().map(|list| list.slots.len()).sum::<usize>();
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
                    let strings = sharded.of_shard(shard);
                    found.fill(stretch, list, strings, &lists, &self.ascending);
                }
                // Strings that equal an ascending one came in another order.
                found.repeated.sort_unstable_by_key(|repeated| repeated.id);
                found
            })
            .collect();
        for earlier in shards.iter().flat_map(|shard| &shard.earlier) {
            self.ascending.set(earlier.member, earlier.id);
        }
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
        let mut kept = Strings::without_strings();
        let mut ids = kept.texts.push_some(&self.texts, &is_first);
        for repeated in repeated() {
            ids[repeated.id.0 as usize] = ids[repeated.first.0 as usize];
        }
        kept.index = self.index.renumbered(&ids);
        kept.ascending = std::mem::take(&mut self.ascending);
        kept.ascending.renumber(&ids);
        *self = kept;
        ids
    }
}

impl IdSet {
    /// Returns the set of the ids in streaks; all are less than `end`.
    fn of(end: usize, streaks: impl Iterator<Item = (StringId, usize)>) -> IdSet {
        let mut words = Vec::new();
        for (first, count) in streaks {
            if words.is_empty() {
                words = vec![0; end.div_ceil(64)];
            }
            let ids = first.0 as usize..first.0 as usize + count;
            let mut at = ids.start;
            while at < ids.end {
                let inside = at % 64;
                let count = (64 - inside).min(ids.end - at);
                words[at / 64] |= (u64::MAX >> (64 - count)) << inside;
                at += count;
            }
        }
        IdSet { words }
    }

    /// Returns the `count` ids from `first` on that are not in the set.
    fn others(&self, first: u32, count: usize) -> impl Iterator<Item = StringId> {
        let end = first + count as u32;
        let words = (first / 64..end.div_ceil(64)).filter_map(move |word| {
            let mut others = !self.words.get(word as usize).copied().unwrap_or(0);
            let start = word * 64;
            if start < first {
                others &= u64::MAX << (first - start);
            }
            if end - start < 64 {
                others &= (1 << (end - start)) - 1;
            }
            (others != 0).then_some((start, others))
        });
        words.flat_map(|(start, others)| {
            let mut left = others;
            std::iter::from_fn(move || {
                let next = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (next < 64).then_some(StringId(start + next))
            })
        })
    }
}

impl Sharded {
    fn of(texts: &Texts, ascending: &IdSet, shards: usize) -> Sharded {
        let others = || ascending.others(texts.first, texts.len());
        let count = others().count();
        let hashed: Vec<u32>;
        let mut hashes = texts.hashes();
        if hashes.len() != count {
            hashed = others().map(|id| hash_bytes(texts.bytes(id))).collect();
            hashes = &hashed;
        }
        let mut bounds = vec![0; shards + 1];
        for &hash in hashes {
            bounds[first_slot(hash, shards) + 1] += 1;
        }
        for shard in 0..shards {
            bounds[shard + 1] += bounds[shard];
        }
        let mut next = bounds.clone();
        let mut slots = vec![Slot::FREE; hashes.len()];
        for (id, &hash) in others().zip(hashes) {
            let at = &mut next[first_slot(hash, shards)];
            slots[*at as usize] = Slot::of(hash, id);
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
        let lists: Vec<&Texts> = table.texts.lists().collect();
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
    fn fill(
        &mut self,
        stretch: &mut Stretch<'_>,
        list: &Texts,
        strings: &[Slot],
        all: &Lists<'_>,
        ascending: &Ascending,
    ) {
        for string in strings {
            let is_equal = |known: StringId| all.bytes(known) == list.bytes(string.id());
            let first = first_slot(string.hash, stretch.total).saturating_sub(stretch.start);
            let found = match look_up(stretch.slots, first, string.hash, is_equal) {
                Err(free) => {
                    stretch.slots[free] = self.first_of(*string, list, all, ascending);
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
                        let first = self.first_of(*string, list, all, ascending);
                        self.left.push(first);
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

    /// Returns the slot of the first string that equals one that is not in the index yet: itself, or an ascending one.
    #[inline]
    fn first_of(
        &mut self,
        string: Slot,
        list: &Texts,
        all: &Lists<'_>,
        ascending: &Ascending,
    ) -> Slot {
        if ascending.is_empty() {
            return string;
        }
        let id = string.id();
        let Some(member) = ascending.find(list.bytes(id), |id| all.bytes(id)) else {
            return string;
        };
        let first = id.min(member.id);
        self.repeated.push(Repeated {
            id: id.max(member.id),
            first,
        });
        if first == id {
            self.earlier.push(Earlier { id, member });
        }
        Slot::of(string.hash, first)
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

    /// Names of a part: those with numbers from `first` on, in steps of `step`; between them others and repeated ones.
    fn numbered(first: u32, step: u32, count: u32) -> Vec<String> {
        let names = (0..count).flat_map(|at| {
            let number = first + at * step;
            let mut names = vec![format!("frame {number}"), format!("draw {number} of 3")];
            match at % 7 {
                0 => names.push(format!("frame {}", number.saturating_sub(step))),
                1 => names.push("constant".to_owned()),
                2 => names.push(format!(
                    "hashed {}",
                    number.wrapping_mul(0x9e37_79b1) % 5000
                )),
                3 => names.push(format!("frame {}", number.wrapping_mul(0x9e37_79b1) % 3000)),
                _ => {}
            }
            names
        });
        names.collect()
    }

    #[test]
    fn ascending_strings_are_one_whatever_parts_they_are_in() {
        let parts = [
            numbered(0, 1, 400),
            numbered(400, 1, 400),
            // Overlaps the one before, with other numbers between them.
            numbered(700, 3, 300),
            // Too few for a list.
            numbered(100, 1, 20),
            numbered(90_000, 1, 300),
            // Back to the start.
            numbered(0, 2, 300),
        ];
        for most in [1, 50, 1 << 13] {
            for (bits, most_repeated) in [(0, 1000), (5, 1000), (0, 0), (5, 0)] {
                let mut tables = Vec::new();
                let mut ids = Vec::new();
                for names in &parts {
                    let mut table = Strings::default();
                    table.growth.limit = most;
                    let intern = |name: &String| table.intern_first(name.as_bytes());
                    ids.push(names.iter().map(intern).collect::<Vec<_>>());
                    for (id, name) in ids.last().unwrap().iter().zip(names) {
                        assert_eq!(table.bytes(*id), name.as_bytes());
                    }
                    tables.push(table);
                }
                let mut own = Strings::default();
                for name in ["frame 17", "draw 90001 of 3", "directory"] {
                    own.intern_text(name);
                }
                let mut joined = own.clone();
                let maps = joined.absorb_in_shards(tables.clone(), bits, most_repeated);
                let again = joined.clone();
                // A second time: into a table that has lists.
                let maps_again = joined.absorb_in_shards(tables, bits, most_repeated);
                for (maps, joined) in [(&maps, &again), (&maps_again, &joined)] {
                    for ((names, ids), map) in parts.iter().zip(&ids).zip(maps) {
                        for (name, id) in names.iter().zip(ids) {
                            let id = map.get(id.0 as usize).unwrap();
                            assert_eq!(joined.text(id), *name);
                            assert_eq!(joined.find(name.as_bytes()), Some(id), "{name}");
                        }
                    }
                    for (id, bytes) in own.iter() {
                        assert_eq!(joined.find(bytes), Some(id));
                    }
                }
                for (id, bytes) in again.iter() {
                    assert_eq!(joined.bytes(id), bytes);
                    assert_eq!(joined.find(bytes), again.find(bytes));
                }
                assert_eq!(joined.find(b"frame 89998"), None);
                let next = StringId(joined.len() as u32);
                assert_eq!(joined.intern(b"frame 89998"), next);
                assert_eq!(joined.find(b"frame 89998"), Some(next));
            }
        }
    }

    #[test]
    fn ascending_strings_fill_no_hash_table() {
        let mut table = Strings::default();
        for number in 0..10_000 {
            table.intern_first(format!("frame {number}").as_bytes());
        }
        let text = table.texts.memory_bytes();
        let mut joined = Strings::default();
        joined.absorb_all(vec![table]);
        let beside = joined.memory_bytes() - joined.texts.memory_bytes();
        let mut mixed = Strings::default();
        for number in 0..10_000_u32 {
            let number = number.wrapping_mul(0x9e37_79b1);
            mixed.intern_first(format!("frame {number}").as_bytes());
        }
        let mut joined_mixed = Strings::default();
        joined_mixed.absorb_all(vec![mixed]);
        assert!(joined_mixed.ascending.is_empty());
        assert!(beside < 10_000, "{beside} bytes beside {text} of text");
        assert!(joined.find(b"frame 9999").is_some());
    }
}
