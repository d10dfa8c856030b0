//! Strings one after the other in a few buffers, with ids that follow each other.

use super::id::StringId;
use crate::base::column::Column;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Strings in order of their ids.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Texts {
    /// Id of the first string.
    pub(super) first: u32,
    buffer: Column<u8>,
    /// Where each string ends in the buffer.
    ends: Column<u32>,
    /// The hash of each string that was never in an ascending list, until the list becomes part of another table.
    #[serde(skip)]
    hashes: Vec<u32>,
}

/// All strings of a table, in lists of less than 4 GiB of text.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct AllTexts {
    /// The strings before those of `last`, in order of their ids.
    full: Vec<Texts>,
    /// The strings that were added last.
    last: Texts,
}

impl AllTexts {
    /// Number of strings.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.last.first as usize + self.last.len()
    }

    /// Adds a string.
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) -> StringId {
        if !self.last.has_room(bytes) {
            let next = Texts::from_id(self.len() as u32);
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.last.push(bytes)
    }

    /// Keeps the hash of the string that was added last.
    #[inline]
    pub(super) fn keep_hash(&mut self, hash: u32) {
        self.last.keep_hash(hash);
    }

    /// Takes over the lists of another table, with ids after those of this one.
    pub(super) fn append(&mut self, other: AllTexts) {
        for mut texts in other.full.into_iter().chain([other.last]) {
            texts.first = self.len() as u32;
            self.full.push(std::mem::replace(&mut self.last, texts));
        }
    }

    /// Adds the strings of another table for which `is_added` is true; returns the id of each string of that table, which
    /// is that of the empty string for those not added.
    pub(super) fn push_some(&mut self, other: &AllTexts, is_added: &[bool]) -> Vec<StringId> {
        let (mut count, mut size) = (0, 0);
        for texts in other.lists() {
            let flags = is_added.get(texts.first as usize..).unwrap_or(&[]);
            let added = texts.iter().zip(flags).filter(|(_, is_added)| **is_added);
            for ((_, bytes), _) in added {
                count += 1;
                size += bytes.len();
            }
        }
        self.last.reserve(count, size.min(u32::MAX as usize));
        let mut ids = vec![StringId::EMPTY; is_added.len()];
        for texts in other.lists() {
            let of_list = ids.iter_mut().zip(is_added).skip(texts.first as usize);
            for ((id, is_added), (_, bytes)) in of_list.zip(texts.iter()) {
                if *is_added {
                    *id = self.push(bytes);
                }
            }
        }
        ids
    }

    /// Frees the hashes, and unused room in all lists but the last one.
    pub(super) fn shrink(&mut self) {
        self.full.par_iter_mut().for_each(Texts::shrink);
        self.last.drop_hashes();
    }

    /// The bytes of a string; empty if there is none with this id.
    #[inline]
    pub(super) fn bytes(&self, id: StringId) -> &[u8] {
        match id.0 >= self.last.first {
            true => self.last.bytes(id),
            false => self.bytes_in_full(id),
        }
    }

    #[inline(never)]
    fn bytes_in_full(&self, id: StringId) -> &[u8] {
        let after = self.full.partition_point(|texts| texts.first <= id.0);
        let texts = after.checked_sub(1).and_then(|at| self.full.get(at));
        texts.map_or(&[], |texts| texts.bytes(id))
    }

    /// All lists, in order of the ids.
    pub(super) fn lists(&self) -> impl Iterator<Item = &Texts> {
        self.full.iter().chain([&self.last])
    }

    /// All ids with their bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StringId, &[u8])> {
        self.lists().flat_map(Texts::iter)
    }

    /// Allocated heap memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.lists().map(Texts::memory_bytes).sum()
    }
}

impl Texts {
    /// Returns an empty list whose first string will have this id.
    fn from_id(first: u32) -> Texts {
        Texts {
            first,
            ..Texts::default()
        }
    }

    /// Number of strings.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether offsets of 4 bytes suffice with one more string.
    #[inline]
    fn has_room(&self, bytes: &[u8]) -> bool {
        self.buffer.is_empty() || self.buffer.len() + bytes.len() <= u32::MAX as usize
    }

    /// Adds a string, which [`Texts::has_room`] for; of a string of more than 4 GiB only the start is kept.
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> StringId {
        let (buffer, ends) = (self.buffer.to_mut(), self.ends.to_mut());
        let id = StringId(self.first + ends.len() as u32);
        let most = u32::MAX as usize - buffer.len();
        buffer.extend_from_slice(bytes.get(..most).unwrap_or(bytes));
        ends.push(buffer.len() as u32);
        id
    }

    /// Keeps the hash of the string that was added last.
    #[inline]
    fn keep_hash(&mut self, hash: u32) {
        self.hashes.push(hash);
    }

    /// Drops the hashes.
    fn drop_hashes(&mut self) {
        self.hashes = Vec::new();
    }

    /// The hashes that were kept.
    pub(super) fn hashes(&self) -> &[u32] {
        &self.hashes
    }

    /// Makes room for strings of this many bytes.
    fn reserve(&mut self, count: usize, bytes: usize) {
        self.ends.reserve(count);
        self.buffer.reserve(bytes);
    }

    /// Frees unused room, and the hashes.
    fn shrink(&mut self) {
        self.drop_hashes();
        self.ends.shrink_to_fit();
        self.buffer.shrink_to_fit();
    }

    /// The bytes of a string; empty if it is not in this list.
    #[inline]
    pub(super) fn bytes(&self, id: StringId) -> &[u8] {
        let index = id.0.wrapping_sub(self.first) as usize;
        let Some(&end) = self.ends.get(index) else {
            return &[];
        };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.buffer[start as usize..end as usize]
    }

    /// All ids with their bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StringId, &[u8])> {
        let mut start = 0;
        (self.first..).zip(&self.ends).map(move |(id, &end)| {
            let bytes = &self.buffer[start..end as usize];
            start = end as usize;
            (StringId(id), bytes)
        })
    }

    /// Allocated heap memory in bytes.
    fn memory_bytes(&self) -> u64 {
        let hashes = (self.hashes.capacity() * size_of::<u32>()) as u64;
        self.buffer.memory_bytes() + self.ends.memory_bytes() + hashes
    }
}
