//! Lists whose items mostly follow from the item before, so that a million of them take hardly any memory.
//!
//! ```text
//! block of 128 items: the first item | index in `listed`, if some item does not follow from the one before
//! ```
//!
//! A name with a number of its own ("frame 123456") becomes a string, a kind and a label of its own: the names of
//! neighbouring kinds are neighbouring strings. An item is found in constant time.

use super::Maybe;
use serde::{Deserialize, Serialize};

const BLOCK_SHIFT: u32 = 7;
const BLOCK_LEN: usize = 1 << BLOCK_SHIFT;
/// Value of `Block::at`: each item follows from the one before.
const STREAK: u32 = u32::MAX;

/// An item from which the next ones can mostly be computed.
pub trait Follows: Copy + PartialEq {
    /// Returns the item `steps` after this one, if all items follow from the one before.
    #[must_use]
    fn after(self, steps: u32) -> Self;
}

/// A list; the module's text shows its layout.
#[derive(Clone, Serialize, Deserialize)]
pub struct Streaks<T> {
    blocks: Vec<Block<T>>,
    /// The items of blocks that are no streak: 128 for each.
    listed: Vec<T>,
    count: usize,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Block<T> {
    first: T,
    /// Index of the block's first item in `listed`, or `STREAK`.
    at: u32,
}

impl<T> Default for Streaks<T> {
    fn default() -> Streaks<T> {
        Streaks {
            blocks: Vec::new(),
            listed: Vec::new(),
            count: 0,
        }
    }
}

impl<T> std::fmt::Debug for Streaks<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Streaks({})", self.count)
    }
}

impl<T: Follows> Streaks<T> {
    /// Number of items.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        let inside = self.count & (BLOCK_LEN - 1);
        let block = self.blocks.last().filter(|_| inside > 0);
        match block {
            Some(block) if block.at == STREAK && block.first.after(inside as u32) == item => {}
            Some(block) if block.at != STREAK => self.listed[block.at as usize + inside] = item,
            _ => return self.push_streak(item, 1),
        }
        self.count += 1;
    }

    /// Adds an item that follows from the last one; does nothing if there is none.
    #[inline]
    pub(crate) fn push_next(&mut self) {
        let inside = self.count & (BLOCK_LEN - 1);
        match self.blocks.last() {
            Some(block) if inside > 0 && block.at == STREAK => self.count += 1,
            _ => self.push_after_last(),
        }
    }

    #[cold]
    fn push_after_last(&mut self) {
        let last = self.count.checked_sub(1).and_then(|last| self.get(last));
        if let Some(last) = last {
            self.push(last.after(1));
        }
    }

    /// Adds `count` items, each of which follows from the one before.
    pub(crate) fn push_streak(&mut self, mut first: T, mut count: usize) {
        while count > 0 {
            let number = self.count >> BLOCK_SHIFT;
            let inside = self.count & (BLOCK_LEN - 1);
            let added = count.min(BLOCK_LEN - inside);
            if inside == 0 {
                self.blocks.push(Block { first, at: STREAK });
            } else {
                let block = self.blocks[number];
                if block.at != STREAK || block.first.after(inside as u32) != first {
                    let at = self.list(number) + inside;
                    for (steps, item) in (0..).zip(&mut self.listed[at..at + added]) {
                        *item = first.after(steps);
                    }
                }
            }
            self.count += added;
            count -= added;
            first = first.after(added as u32);
        }
    }

    /// Replaces an item; does nothing if there is none with this index.
    pub(crate) fn set(&mut self, index: usize, item: T) {
        if self.get(index).is_some_and(|known| known != item) {
            let at = self.list(index >> BLOCK_SHIFT);
            self.listed[at + (index & (BLOCK_LEN - 1))] = item;
        }
    }

    /// Lists the items of a block; returns the index of the first one in `listed`.
    fn list(&mut self, number: usize) -> usize {
        let block = &mut self.blocks[number];
        if block.at == STREAK {
            block.at = self.listed.len() as u32;
            let first = block.first;
            let items = (0..BLOCK_LEN as u32).map(|steps| first.after(steps));
            self.listed.extend(items);
        }
        block.at as usize
    }

    /// Returns an item; `None` if there is none with this index.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        if index >= self.count {
            return None;
        }
        let block = self.blocks[index >> BLOCK_SHIFT];
        let inside = index & (BLOCK_LEN - 1);
        Some(match block.at {
            STREAK => block.first.after(inside as u32),
            at => self.listed[at as usize + inside],
        })
    }

    /// Returns how many items from `index` on follow from the one before, but at most `most`, and those of one block.
    pub(crate) fn streak_from(&self, index: usize, most: usize) -> usize {
        let most = most.min(self.count.saturating_sub(index));
        let inside = index & (BLOCK_LEN - 1);
        match self.blocks.get(index >> BLOCK_SHIFT) {
            Some(block) if block.at == STREAK => most.min(BLOCK_LEN - inside),
            _ => most.min(1),
        }
    }

    /// Returns the streaks: the first item of each, and the number of items in it.
    pub(crate) fn streaks(&self) -> impl Iterator<Item = (T, usize)> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let first = self.get(at)?;
            let count = self.streak_from(at, usize::MAX);
            at += count;
            Some((first, count))
        })
    }

    /// Returns a value for each item. `value` must be the same for items that follow from each other.
    pub(crate) fn values<V: Clone>(&self, value: impl Fn(T) -> V) -> Vec<V> {
        let mut values = Vec::with_capacity(self.count);
        for (first, count) in self.streaks() {
            values.resize(values.len() + count, value(first));
        }
        values
    }

    /// Returns all items.
    #[must_use]
    pub fn iter(&self) -> Items<'_, T> {
        Items { list: self, at: 0 }
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.blocks.capacity() * size_of::<Block<T>>() + self.listed.capacity() * size_of::<T>())
            as u64
    }
}

/// The items of a list, in order.
#[derive(Clone, Debug)]
pub struct Items<'a, T> {
    list: &'a Streaks<T>,
    at: usize,
}

impl<T: Follows> Iterator for Items<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let item = self.list.get(self.at)?;
        self.at += 1;
        Some(item)
    }

    #[inline]
    fn nth(&mut self, count: usize) -> Option<T> {
        self.at = self.at.saturating_add(count);
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.list.count.saturating_sub(self.at);
        (left, Some(left))
    }
}

impl<T: Follows> ExactSizeIterator for Items<'_, T> {}

impl<T: Follows> FromIterator<T> for Streaks<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Streaks<T> {
        let mut streaks = Streaks::default();
        streaks.extend(items);
        streaks
    }
}

impl<T: Follows> Extend<T> for Streaks<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<'a, T: Follows> IntoIterator for &'a Streaks<T> {
    type Item = T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Items<'a, T> {
        self.iter()
    }
}

impl Follows for Maybe<u32> {
    #[inline]
    fn after(self, steps: u32) -> Maybe<u32> {
        self.get().map(|number| number.wrapping_add(steps)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::StringId;

    #[test]
    fn items_come_back_whether_they_follow_or_not() {
        let mut streaks = Streaks::default();
        let mut plain: Vec<StringId> = Vec::new();
        for round in 0..40_u32 {
            let first = StringId(round * 1000 % 777 * 50);
            let count = (round * 37 % 301) as usize;
            streaks.push_streak(first, count);
            plain.extend((0..count as u32).map(|steps| first.after(steps)));
            streaks.push(StringId(round));
            plain.push(StringId(round));
        }
        for index in [5, 127, 128, 1000, 2000, 1_000_000] {
            streaks.set(index, StringId(9));
            if let Some(item) = plain.get_mut(index) {
                *item = StringId(9);
            }
        }
        streaks.push_streak(StringId(3), 200);
        (0..200).for_each(|_| streaks.push_next());
        plain.extend((3..403).map(StringId));
        assert!(streaks.iter().eq(plain.iter().copied()));
        assert_eq!(streaks.len(), plain.len());
        for (index, item) in plain.iter().enumerate() {
            assert_eq!(streaks.get(index), Some(*item));
            let count = streaks.streak_from(index, 50);
            assert!((1..=50).contains(&count));
            let follow =
                |steps: usize| streaks.get(index + steps) == Some(item.after(steps as u32));
            assert!((0..count).all(follow));
        }
        assert_eq!(streaks.get(plain.len()), None);
        assert_eq!(streaks.streak_from(plain.len(), 50), 0);
    }

    #[test]
    fn items_that_follow_take_hardly_any_memory() {
        let streaks: Streaks<StringId> = (0..1_000_000).map(StringId).collect();
        assert!(streaks.memory_bytes() < 200_000);
    }
}
