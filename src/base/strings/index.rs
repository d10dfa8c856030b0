//! The hash table of a table of strings: ids by the hashes of their bytes.
//!
//! Open addressing and linear probing, in the order of the hashes: a larger table is filled from its start to its end,
//! and hashes that are close to each other have a stretch of the table of their own.

use super::id::StringId;
use crate::base::column::Column;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// Ids by hash.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Index {
    /// How many slots are taken.
    taken: usize,
    slots: Column<Slot>,
}

/// A slot. Comparing the hash first avoids most comparisons of bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Slot {
    pub(super) hash: u32,
    /// String id + 1; 0: the slot is free.
    taken: u32,
}

impl Slot {
    /// No string.
    pub(super) const FREE: Slot = Slot { hash: 0, taken: 0 };

    /// Returns the slot of a string.
    #[inline]
    pub(super) fn of(hash: u32, id: StringId) -> Slot {
        Slot {
            hash,
            taken: id.0.wrapping_add(1),
        }
    }

    /// Returns the string of a slot that is taken.
    #[inline]
    pub(super) fn id(self) -> StringId {
        StringId(self.taken.wrapping_sub(1))
    }

    /// Returns the string, if the slot is taken by one with this hash.
    #[inline]
    pub(super) fn id_of(self, hash: u32) -> Option<StringId> {
        (!self.is_free() && self.hash == hash).then(|| self.id())
    }

    #[inline]
    fn is_free(self) -> bool {
        self.taken == 0
    }
}

impl Default for Index {
    fn default() -> Index {
        Index::with_slots(16)
    }
}

/// Returns the index of the slot at which a hash is looked for first, in a table of `count` slots.
#[inline]
pub(super) fn first_slot(hash: u32, count: usize) -> usize {
    ((u64::from(hash) * count as u64) >> u32::BITS) as usize
}

/// Looks in slots from `first` on for a string with this hash for which `is_equal`. Returns the string; `None` if no slot
/// up to the last one is free; or as error the index of the free slot at which the search ended.
#[inline]
pub(super) fn look_up(
    slots: &[Slot],
    first: usize,
    hash: u32,
    is_equal: impl Fn(StringId) -> bool,
) -> Result<Option<StringId>, usize> {
    let mut at = first;
    while let Some(slot) = slots.get(at) {
        if slot.is_free() {
            return Err(at);
        }
        if slot.hash == hash && is_equal(slot.id()) {
            return Ok(Some(slot.id()));
        }
        at += 1;
    }
    Ok(None)
}

impl Index {
    /// Returns a table of `slots`; `taken` of them are in use.
    pub(super) fn of(slots: Vec<Slot>, taken: usize) -> Index {
        Index {
            taken,
            slots: slots.into(),
        }
    }

    /// Returns an empty table.
    fn with_slots(count: usize) -> Index {
        Index::of(vec![Slot::FREE; count], 0)
    }

    /// Makes room for one more string: at most three of four slots are taken.
    #[inline]
    pub(super) fn make_room(&mut self) {
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut grown = Index::with_slots(self.slots.len() * 2);
        for slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            grown.insert(*slot);
        }
        *self = grown;
    }

    /// Returns a table of the same strings with other ids, `new[old]`, which is no larger than it needs to be.
    pub(super) fn renumbered(&self, new: &[StringId]) -> Index {
        let mut renumbered = Index::with_slots(self.taken + self.taken / 2 + 16);
        for slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            if let Some(id) = new.get(slot.id().0 as usize) {
                renumbered.insert(Slot::of(slot.hash, *id));
            }
        }
        renumbered
    }

    /// Returns the string with this hash for which `is_equal`, or as error the index of the free slot for it.
    #[inline]
    pub(super) fn look_up(
        &self,
        hash: u32,
        is_equal: impl Fn(StringId) -> bool,
    ) -> Result<StringId, usize> {
        let first = first_slot(hash, self.slots.len());
        match look_up(&self.slots, first, hash, &is_equal)? {
            Some(known) => Ok(known),
            // A slot is always free.
            None => look_up(&self.slots, 0, hash, is_equal).map(Option::unwrap_or_default),
        }
    }

    /// Puts a string into a free slot that [`Index::look_up`] returned.
    #[inline]
    pub(super) fn fill(&mut self, free: usize, string: Slot) {
        self.slots[free] = string;
        self.taken += 1;
    }

    /// Adds a string that is not in the table, which must have room.
    pub(super) fn insert(&mut self, string: Slot) {
        if let Err(free) = self.look_up(string.hash, |_| false) {
            self.fill(free, string);
        }
    }

    /// Allocated heap memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.slots.memory_bytes()
    }
}
