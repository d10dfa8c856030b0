//! Many tables of strings in, one table of all their strings out.
//!
//! ```text
//! each table     its strings by hash, in shards          in parallel
//! each shard     which strings are the first with their bytes: a table small enough for the processor's cache
//! each table     numbers for its first strings, in order
//! ```
//!
//! The numbers are those that interning one string after the other would give.

use rayon::prelude::*;

use super::{FREE, Slot, StringId, Strings, first_slot, hash_bytes, insert};

/// About how many strings a shard has, as a power of two.
const SHARD_BITS: u32 = 12;
/// Most shards, as a power of two.
const MOST_SHARDS: u32 = 8;

/// The strings of one table, grouped by shard, in order of their ids within each.
struct Sharded {
    ids: Vec<u32>,
    hashes: Vec<u32>,
    /// Where each shard begins; at the end the number of strings.
    bounds: Vec<usize>,
}

/// A string that no string before it equals.
#[derive(Clone, Copy)]
struct First {
    hash: u32,
    /// Index of the table.
    table: u32,
    /// Its id there.
    id: u32,
}

/// What was found in a shard.
struct Shard {
    firsts: Vec<First>,
    /// For each string of the shard, table after table: the index of the first string with its bytes.
    found: Vec<u32>,
    /// Where each table begins in `found`.
    tables: Vec<usize>,
}

impl Strings {
    /// Adds all strings of other tables, table after table. The returned vectors map ids of each table (their index) to
    /// ids of this one.
    pub(crate) fn absorb_all(&mut self, others: &[&Strings]) -> Vec<Vec<StringId>> {
        let count: usize = others.iter().map(|table| table.len()).sum();
        let bits = count
            .checked_ilog2()
            .unwrap_or(0)
            .saturating_sub(SHARD_BITS);
        self.absorb_in_shards(others, bits.min(MOST_SHARDS))
    }

    /// Adds all strings of other tables with `1 << bits` shards.
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

        let first_ids: Vec<Vec<bool>> = (0..tables.len())
            .into_par_iter()
            .map(|table| first_ids(table, &sharded[table], &shards))
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
            .map(|table| repeated_ids(table, &sharded[table], &shards, &ids))
            .collect();

        let joined = joined(&tables, &first_ids);
        let mut slots = vec![FREE; ((next as usize + 1) * 2).next_power_of_two().max(16)];
        for first in shards.iter().flat_map(|shard| &shard.firsts) {
            let id = ids[first.table as usize][first.id as usize];
            insert(
                &mut slots,
                Slot {
                    hash: first.hash,
                    taken: id.0 + 1,
                },
            );
        }
        *self = Strings { slots, ..joined };
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
    /// Ids and hashes of the strings in a shard.
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
            found: Vec::new(),
            tables: Vec::with_capacity(tables.len()),
        };
        let mut slots = vec![0_u32; 64];
        for (number, (table, sharded)) in (0..).zip(tables.iter().zip(sharded)) {
            own.tables.push(own.found.len());
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
                let found = found.unwrap_or_else(|| {
                    own.firsts.push(First {
                        hash,
                        table: number,
                        id,
                    });
                    slots[at] = own.firsts.len() as u32;
                    slots[at] - 1
                });
                own.found.push(found);
            }
        }
        own
    }

    /// Returns a table of `count` slots: numbers of the first strings + 1 by the low bits of their hashes, as the high
    /// bits are the same in a shard.
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

/// Returns the strings of a table, each with the first string that equals it.
fn with_firsts(
    table: usize,
    sharded: &Sharded,
    shards: &[Shard],
) -> impl Iterator<Item = (u32, First)> {
    shards.iter().enumerate().flat_map(move |(number, shard)| {
        let found = &shard.found[shard.tables[table]..];
        let ids = sharded.of(number).map(|(id, _)| id);
        ids.zip(found.iter().map(|&found| shard.firsts[found as usize]))
    })
}

/// Returns which strings of a table are the first with their bytes.
fn first_ids(table: usize, sharded: &Sharded, shards: &[Shard]) -> Vec<bool> {
    let mut are_first = vec![false; sharded.ids.len()];
    for (id, first) in with_firsts(table, sharded, shards) {
        are_first[id as usize] = (first.table as usize, first.id) == (table, id);
    }
    are_first
}

/// Returns the strings of a table that are not the first with their bytes, with the new ids of the first ones.
fn repeated_ids(
    table: usize,
    sharded: &Sharded,
    shards: &[Shard],
    ids: &[Vec<StringId>],
) -> Vec<(u32, StringId)> {
    with_firsts(table, sharded, shards)
        .filter(|(id, first)| (first.table as usize, first.id) != (table, *id))
        .map(|(id, first)| (id, ids[first.table as usize][first.id as usize]))
        .collect()
}

/// Returns the strings that are the first with their bytes, table after table, without slots.
fn joined(tables: &[&Strings], first_ids: &[Vec<bool>]) -> Strings {
    let mut joined = Strings {
        buffer: Vec::new(),
        ends: Vec::new(),
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
