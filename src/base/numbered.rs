//! Distinct items with a name each, numbered in the order in which they came.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::Maybe;
use super::streaks::{Follows, Streaks};
use super::strings::StringId;

/// An item that is mostly the only one with its name. It follows from the one before if its name is the next string, and
/// all else is equal.
pub(crate) trait Named: Follows + Eq + Hash {
    /// The item's name.
    fn name(&self) -> StringId;
}

/// Distinct items and their numbers. Neighbouring items with neighbouring names take hardly any memory.
#[derive(Clone, Debug)]
pub(crate) struct Numbered<T> {
    all: Streaks<T>,
    /// By name: the number of the first item with it.
    first: Streaks<Maybe<u32>>,
    /// The numbers of other items with the same names.
    more: FxHashMap<T, u32>,
}

impl<T: Follows> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered {
            all: Streaks::default(),
            first: Streaks::default(),
            more: FxHashMap::default(),
        }
    }
}

impl<T: Named> Numbered<T> {
    /// Returns the number of an item; adds it if it is new. At most `most` items that follow from it may be added at
    /// once: also returns how many have numbers that follow each other, at least one.
    pub(crate) fn add(&mut self, item: T, most: usize) -> (u32, usize) {
        let name = item.name().0 as usize;
        let new = self.all.len() as u32;
        if let Some(unknown) = name.checked_sub(self.first.len()) {
            let count = most.max(1);
            self.first.push_streak(Maybe::NONE, unknown);
            self.first.push_streak(Maybe::new(new), count);
            self.all.push_streak(item, count);
            return (new, count);
        }
        let known = self.first.get(name).and_then(Maybe::get);
        let number = match known {
            None => {
                self.first.set(name, Maybe::new(new));
                new
            }
            Some(first) if self.all.get(first as usize) == Some(item) => first,
            Some(_) => *self.more.entry(item).or_insert(new),
        };
        if number == new {
            self.all.push(item);
        }
        (number, 1)
    }

    /// The items by their numbers.
    pub(crate) fn into_items(self) -> Streaks<T> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Item(StringId, u8);

    impl Follows for Item {
        fn after(self, steps: u32) -> Item {
            Item(self.0.after(steps), self.1)
        }
    }

    impl Named for Item {
        fn name(&self) -> StringId {
            self.0
        }
    }

    #[test]
    fn equal_items_get_equal_numbers() {
        let mut numbered = Numbered::default();
        let mut expected: Vec<Item> = Vec::new();
        for (name, rest, count) in [
            (5, 1, 3),
            (5, 2, 1),
            (9, 1, 200),
            (2, 1, 1),
            (6, 1, 2),
            (7, 2, 1),
            (5, 2, 1),
            (300, 1, 1),
        ] {
            let mut item = Item(StringId(name), rest);
            let mut left = count;
            while left > 0 {
                let (number, added) = numbered.add(item, left);
                assert!((1..=left).contains(&added));
                for at in 0..added as u32 {
                    let item = item.after(at);
                    let known = expected.iter().position(|known| *known == item);
                    let known = known.unwrap_or(expected.len());
                    if known == expected.len() {
                        expected.push(item);
                    }
                    assert_eq!(known as u32, number + at);
                }
                item = item.after(added as u32);
                left -= added;
            }
        }
        assert!(numbered.into_items().iter().eq(expected));
    }
}
