//! Strings one after the other in one buffer, with ids that follow each other.

use super::StringId;
use crate::base::column::Column;
use serde::{Deserialize, Serialize};

/// Strings in order of their ids.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Texts {
    /// Id of the first string.
    pub(super) first: u32,
    buffer: Column<u8>,
    /// Where each string ends in the buffer.
    ends: Column<u32>,
    /// The hash of each string, until the list becomes part of another table.
    #[serde(skip)]
    hashes: Vec<u32>,
}

impl Texts {
    /// Returns an empty list whose first string will have this id.
    pub(super) fn from_id(first: u32) -> Texts {
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
    pub(super) fn has_room(&self, bytes: &[u8]) -> bool {
        self.buffer.is_empty() || self.buffer.len() + bytes.len() <= u32::MAX as usize
    }

    /// Adds a string, which [`Texts::has_room`] for; of a string of more than 4 GiB only the start is kept.
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) -> StringId {
        let id = StringId(self.first + self.ends.len() as u32);
        let most = u32::MAX as usize - self.buffer.len();
        let kept = bytes.get(..most).unwrap_or(bytes);
        self.buffer.extend_from_slice(kept);
        self.ends.push(self.buffer.len() as u32);
        id
    }

    /// Keeps the hash of the string that was added last.
    #[inline]
    pub(super) fn keep_hash(&mut self, hash: u32) {
        self.hashes.push(hash);
    }

    /// Drops the hashes.
    pub(super) fn drop_hashes(&mut self) {
        self.hashes = Vec::new();
    }

    /// The hash of each string, if all are known.
    pub(super) fn hashes(&self) -> Option<&[u32]> {
        (self.hashes.len() == self.len()).then_some(&*self.hashes)
    }

    /// Makes room for strings of this many bytes.
    pub(super) fn reserve(&mut self, count: usize, bytes: usize) {
        self.ends.reserve(count);
        self.buffer.reserve(bytes);
    }

    /// Frees unused room, and the hashes.
    pub(super) fn shrink(&mut self) {
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
    pub(super) fn memory_bytes(&self) -> u64 {
        let hashes = (self.hashes.capacity() * size_of::<u32>()) as u64;
        self.buffer.memory_bytes() + self.ends.memory_bytes() + hashes
    }
}
