//! Merges many tables of strings into one.
//!
//! ```text
//! each table     strings grouped by hash in shards           in parallel
//! each shard     the first string of all equal ones: a hash table that fits into the processor's cache
//! each table     new ids for its first strings, in order
//! ```
//!
//! The new ids are those that interning one string after the other would give.

use rayon::prelude::*;

use super::{FREE, Slot, StringId, Strings, first_slot, hash_bytes, insert};

/// Number of strings per shard, approximately, as a power of two.
const SHARD_BITS: u32 = 12;
/// Maximum number of shards, as a power of two.
const MOST_SHARDS: u32 = 8;

/// The strings of one table, grouped by shard, in the order of their ids in each shard.
struct Sharded {
    ids: Vec<u32>,
    hashes: Vec<u32>,
    /// The index at which each shard starts; the last element is the number of strings.
    bounds: Vec<usize>,
}

/// The first string of several equal ones.
#[derive(Clone, Copy)]
struct First {
    hash: u32,
    /// Index of the table.
    table: u32,
    /// The string's id in that table.
    id: u32,
}

/// A string that equals an earlier one.
#[derive(Clone, Copy)]
struct Repeated {
    /// The string's id in its table.
    id: u32,
    /// Index of the first equal string.
    first: u32,
}

/// The strings of a shard. Both lists are in the order of the tables.
struct Shard {
    firsts: Vec<First>,
    repeated: Vec<Repeated>,
    /// The indices at which each table starts in `firsts` and in `repeated`; the last element contains their lengths.
    bounds: Vec<Bounds>,
}

#[derive(Clone, Copy)]
struct Bounds {
    firsts: usize,
    repeated: usize,
}

impl Strings {
    /// Adds all strings of other tables, table after table. The vector of each table maps the table's ids (its index)
    /// to ids of this table.
    pub(crate) fn absorb_all(&mut self, others: &[&Strings]) -> Vec<Vec<StringId>> {
        let count: usize = others.iter().map(|table| table.len()).sum();
        let bits = count
            .checked_ilog2()
            .unwrap_or(0)
            .saturating_sub(SHARD_BITS);
        self.absorb_in_shards(others, bits.min(MOST_SHARDS))
    }

    /// Adds all strings of other tables, with `1 << bits` shards.
    fn absorb_in_shards(&mut self, others: &[&Strings], bits: u32) -> Vec<Vec<StringId>> {
        let own = std::mem::take(self);
        let tables: Vec<&Strings> = std::iter::once(&own)
            .chain(others.iter().copied())
            .collect();
        let sharded: Vec<Sharded> = (tables.par_iter())
            .map(|table| table.sharded(bits))
            .collect();
        let shards: Vec<Shard> = (0..1_usize << bits)
            .into_par_iter()
            .map(|shard| Shard::of(shard, &tables, &sharded))
            .collect();

        let first_ids: Vec<Vec<bool>> = (tables.par_iter().enumerate())
            .map(|(number, table)| first_ids(number, table.len(), &shards))
            .collect();
        let mut ids = Vec::with_capacity(tables.len());
        let mut next = 0;
        for is_first in &first_ids {
            let mut own = vec![StringId::EMPTY; is_first.len()];
            for (id, _) in own
                .iter_mut()
                .zip(is_first)
                .filter(|(_, is_first)| **is_first)
            {
                *id = StringId(next);
                next += 1;
            }
            ids.push(own);
        }
        let repeated: Vec<Vec<(u32, StringId)>> = (0..tables.len())
            .into_par_iter()
            .map(|table| repeated_ids(table, &shards, &ids))
            .collect();

        let (joined, slots) = rayon::join(
            || joined(&tables, &first_ids),
            || slots_of(&shards, &ids, next as usize),
        );
        *self = Strings {
            slots,
            listed: next as usize,
            ..joined
        };
        for (own, repeated) in ids.iter_mut().zip(repeated) {
            for (id, first) in repeated {
                own[id as usize] = first;
            }
        }
        ids.split_off(1)
    }

    fn sharded(&self, bits: u32) -> Sharded {
        let shards = 1_usize << bits;
        let hashes: Vec<u32> = self.iter().map(|(_, bytes)| hash_bytes(bytes)).collect();
        let mut bounds = vec![0; shards + 1];
        for &hash in &hashes {
            bounds[first_slot(hash, shards) + 1] += 1;
        }
        for shard in 0..shards {
            bounds[shard + 1] += bounds[shard];
        }
        let mut next = bounds.clone();
        let mut sorted = Sharded {
            ids: vec![0; hashes.len()],
            hashes: vec![0; hashes.len()],
            bounds,
        };
        for (id, &hash) in (0..).zip(&hashes) {
            let at = &mut next[first_slot(hash, shards)];
            sorted.ids[*at] = id;
            sorted.hashes[*at] = hash;
            *at += 1;
        }
        sorted
    }
}

impl Sharded {
    /// Returns the ids and hashes of the strings in a shard.
    fn of(&self, shard: usize) -> impl Iterator<Item = (u32, u32)> {
        let range = self.bounds[shard]..self.bounds[shard + 1];
        let ids = self.ids[range.clone()].iter().copied();
        ids.zip(self.hashes[range].iter().copied())
    }
}

impl Shard {
    fn of(shard: usize, tables: &[&Strings], sharded: &[Sharded]) -> Shard {
        let mut own = Shard {
            firsts: Vec::new(),
            repeated: Vec::new(),
            bounds: Vec::with_capacity(tables.len() + 1),
        };
        let mut slots = vec![0_u32; 64];
        for (number, (table, sharded)) in (0..).zip(tables.iter().zip(sharded)) {
            own.end_table();
            for (id, hash) in sharded.of(shard) {
                if (own.firsts.len() + 1) * 2 > slots.len() {
                    slots = own.slots(slots.len() * 2);
                }
                let is_same = |first: &First| {
                    let other = tables[first.table as usize];
                    first.hash == hash
                        && other.bytes(StringId(first.id)) == table.bytes(StringId(id))
                };
                let mut at = hash as usize & (slots.len() - 1);
                let found = loop {
                    match slots[at].checked_sub(1) {
                        None => break None,
                        Some(found) if is_same(&own.firsts[found as usize]) => break Some(found),
                        Some(_) => at = (at + 1) & (slots.len() - 1),
                    }
                };
                if let Some(first) = found {
                    own.repeated.push(Repeated { id, first });
                    continue;
                }
                own.firsts.push(First {
                    hash,
                    table: number,
                    id,
                });
                slots[at] = own.firsts.len() as u32;
            }
        }
        own.end_table();
        own
    }

    fn end_table(&mut self) {
        self.bounds.push(Bounds {
            firsts: self.firsts.len(),
            repeated: self.repeated.len(),
        });
    }

    /// Returns the strings of a table that are the first of several equal ones.
    fn firsts_of(&self, table: usize) -> &[First] {
        &self.firsts[self.bounds[table].firsts..self.bounds[table + 1].firsts]
    }

    /// Returns the other strings of a table.
    fn repeated_of(&self, table: usize) -> &[Repeated] {
        &self.repeated[self.bounds[table].repeated..self.bounds[table + 1].repeated]
    }

    /// Returns a hash table of `count` slots, by the low bits of the hashes, because the high bits are equal within a
    /// shard. A slot contains the index of a first string + 1.
    fn slots(&self, count: usize) -> Vec<u32> {
        let mut slots = vec![0; count];
        for (number, first) in (1..).zip(&self.firsts) {
            let mut at = first.hash as usize & (count - 1);
            while slots[at] != 0 {
                at = (at + 1) & (count - 1);
            }
            slots[at] = number;
        }
        slots
    }
}

/// Returns, for each of the `count` strings of a table, whether it is the first of several equal ones.
fn first_ids(table: usize, count: usize, shards: &[Shard]) -> Vec<bool> {
    let mut are_first = vec![false; count];
    for first in shards.iter().flat_map(|shard| shard.firsts_of(table)) {
        are_first[first.id as usize] = true;
    }
    are_first
}

/// Returns the other strings of a table, each with the new id of the first equal string.
fn repeated_ids(table: usize, shards: &[Shard], ids: &[Vec<StringId>]) -> Vec<(u32, StringId)> {
    let of_shard = |shard| {
        Shard::repeated_of(shard, table)
            .iter()
            .map(move |it| (shard, it))
    };
    let repeated = shards.iter().flat_map(of_shard);
    let with_new = repeated.map(|(shard, repeated)| {
        let first = shard.firsts[repeated.first as usize];
        (repeated.id, ids[first.table as usize][first.id as usize])
    });
    with_new.collect()
}

/// Returns the hash table of `count` strings. The high bits of a hash choose both the shard and the position, so that
/// each shard fills its own range of slots; strings that do not fit there are inserted afterwards.
fn slots_of(shards: &[Shard], ids: &[Vec<StringId>], count: usize) -> Vec<Slot> {
    let mut slots = vec![FREE; ((count + 1) * 2).next_power_of_two().max(16)];
    let total = slots.len();
    let stretch = (total / shards.len()).max(1);
    let fill = |(own, shard): (&mut [Slot], &Shard)| {
        let mut left = Vec::new();
        for first in &shard.firsts {
            let id = ids[first.table as usize][first.id as usize];
            let entry = Slot {
                hash: first.hash,
                taken: id.0 + 1,
            };
            let from = first_slot(first.hash, total) % stretch;
            let free = own[from..].iter_mut().find(|slot| slot.taken == 0);
            match free {
                Some(slot) => *slot = entry,
                None => left.push(entry),
            }
        }
        left
    };
    let stretches = slots.par_chunks_mut(stretch).zip(shards);
    let left: Vec<Vec<Slot>> = stretches.map(fill).collect();
    for entry in left.into_iter().flatten() {
        insert(&mut slots, entry);
    }
    slots
}

/// Returns a table of the first strings, table after table, without slots.
fn joined(tables: &[&Strings], first_ids: &[Vec<bool>]) -> Strings {
    let mut joined = Strings {
        buffer: Vec::new(),
        ends: Vec::new(),
        listed: 0,
        slots: Vec::new(),
    };
    for (table, are_first) in tables.iter().zip(first_ids) {
        let mut id = 0;
        for run in are_first.chunk_by(|a, b| a == b) {
            let ids = id..id + run.len();
            id = ids.end;
            if run.first() == Some(&true) {
                let start = ids
                    .start
                    .checked_sub(1)
                    .map_or(0, |before| table.ends[before]);
                let shift = joined.buffer.len();
                let ends = &table.ends[ids];
                let end = ends.last().copied().unwrap_or(start);
                joined.buffer.extend_from_slice(&table.buffer[start..end]);
                joined
                    .ends
                    .extend(ends.iter().map(|end| end - start + shift));
            }
        }
    }
    joined
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
        let others: Vec<&Strings> = others.iter().collect();
        for own in [Strings::default(), table(650, 1)] {
            let mut expected = own.clone();
            let expected_ids: Vec<Vec<StringId>> =
                others.iter().map(|table| expected.absorb(table)).collect();
            for bits in [0, 1, 5] {
                let mut joined = own.clone();
                assert_eq!(joined.absorb_in_shards(&others, bits), expected_ids);
                assert!(joined.iter().eq(expected.iter()));
                assert!(
                    joined
                        .iter()
                        .all(|(id, bytes)| joined.find(bytes) == Some(id))
                );
                assert_eq!(joined.find(b"absent"), None);
                let next = StringId(joined.len() as u32);
                assert_eq!(joined.intern(b"absent"), next);
            }
            let mut joined = own.clone();
            assert_eq!(joined.absorb_all(&others), expected_ids);
            assert!(joined.absorb_all(&[]).is_empty());
            assert!(joined.iter().eq(expected.iter()));
        }
    }
}
