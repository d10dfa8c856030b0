//! Strings that were added in ascending order ("frame 1", "frame 2", ...): they are found by binary search, so they need
//! no hash and no slot.
//!
//! ```text
//! new string --> its key: a hash of what is no digit --> the list with this key: after its last string? --> append
//!                                                                                before it? search, or the hash table
//! ```
//!
//! The order is that of lengths, then of bytes: numbers at one place of otherwise equal strings ascend as the numbers do.
//! What makes strings with one key similar does not matter: a list is correct if its strings ascend, and complete if all
//! of its strings have its key. How often recordings have them: 1 of 66 files of Chrome JSON in `tests`, made for that;
//! it is for games and services that number every frame or request.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::id::StringId;
use crate::base::streaks::{Follows, Streaks};

/// How many new strings with one key must ascend before those that follow become a list.
const ASCENDS_FROM: u32 = 32;
/// How many may come that do not ascend, before strings with this key are watched no longer.
const MOST_BREAKS: u32 = 32;
/// After so many new strings without a new list, no more lists are begun.
const MOST_FRUITLESS: u32 = 1 << 12;
/// How many keys are watched at a time, as a power of two.
const WATCHED_BITS: u32 = 6;
/// A string this far before a list's last one is repeated soon, as the name of a slice's end is.
const SOON: usize = 64;

/// All lists of a table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ascending {
    lists: Vec<List>,
    /// By key, the list that is searched.
    by_key: FxHashMap<u32, u32>,
}

/// Distinct strings in ascending order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct List {
    pub(super) key: u32,
    pub(super) strings: Streaks<StringId>,
}

/// Where a string is in the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    list: u32,
    index: u32,
    pub(super) id: StringId,
}

/// What is known of a string that is about to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is in a list.
    Known(StringId),
    /// It is now the last one of a list. (It is new, or was added before the list was begun.)
    Next,
    /// No list can say.
    Elsewhere,
}

/// Watches the new strings of a table that is still to be joined with others, and makes lists of them. Several lists may
/// have one key.
#[derive(Clone, Default)]
pub(super) struct Watch {
    /// Empty, or an entry for each value of the key's lowest [`WATCHED_BITS`].
    keys: Vec<Watched>,
    /// How many of the keys have a list.
    listed: usize,
    lists: Vec<List>,
    /// How many strings were added since the last list was begun.
    fruitless: u32,
}

#[derive(Clone, Copy, Default)]
struct Watched {
    key: u32,
    /// The string with this key that was added last; of a list its last string.
    last: StringId,
    /// How often a new string did not come after the one before.
    breaks: u32,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// So many new strings have ascended.
    Ascends(u32),
    /// A list, and how many strings came that were before its end.
    Listed { list: u32, before: u32 },
    /// Its strings do not ascend.
    Mixed,
}

impl Default for State {
    fn default() -> State {
        State::Ascends(0)
    }
}

/// Returns a hash of all bytes that are not digits; `None` if there are no digits.
#[inline]
pub(super) fn key_of(bytes: &[u8]) -> Option<u32> {
    const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;
    let mut hash = 0_u64;
    let mut has_digits = false;
    let mut add = |word: u64| {
        let digits = digits_in(word);
        has_digits |= digits != 0;
        let others = word & !digits;
        // So that a longer number does not change the key.
        if others != 0 {
            hash = (hash.rotate_left(5) ^ others).wrapping_mul(MULTIPLIER);
        }
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        add(u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        add(short_word(rest));
    }
    has_digits.then_some((hash >> 32) as u32)
}

/// Returns less than 8 bytes as a word, with zeros after them. (A copy of any length costs more than the rest of a key.)
#[inline]
fn short_word(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            let shift = 8 * (bytes.len() as u32 - 4);
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift
        }
        _ => {
            let add = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
            bytes.iter().rev().fold(0, add)
        }
    }
}

/// Returns 0xff for each byte of a word that is a digit.
#[inline]
fn digits_in(word: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // 0 to 9 for digits, more for all other bytes.
    let values = word ^ 0x3030_3030_3030_3030;
    let above_nine = ((values & !HIGH) + 0x7676_7676_7676_7676) | values;
    ((!above_nine & HIGH) >> 7) * 0xff
}

/// The order of strings in a list.
#[inline]
fn order(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl List {
    fn of(key: u32) -> List {
        let strings = Streaks::default();
        List { key, strings }
    }

    /// Returns the index of a string and its id; looks near the end first.
    fn find<'s>(
        &self,
        bytes: &[u8],
        text: impl Fn(StringId) -> &'s [u8],
    ) -> Option<(usize, StringId)> {
        let count = self.strings.len();
        let compare = |index: usize| {
            let id = self.strings.get(index).unwrap_or_default();
            (order(text(id), bytes), id)
        };
        let mut steps = 1;
        let mut to = count;
        let mut from = loop {
            let Some(at) = count.checked_sub(steps) else {
                break 0;
            };
            match compare(at) {
                (Ordering::Equal, id) => return Some((at, id)),
                (Ordering::Less, _) => break at + 1,
                (Ordering::Greater, _) => to = at,
            }
            steps *= 2;
        };
        while from < to {
            let middle = from.midpoint(to);
            match compare(middle) {
                (Ordering::Equal, id) => return Some((middle, id)),
                (Ordering::Less, _) => from = middle + 1,
                (Ordering::Greater, _) => to = middle,
            }
        }
        None
    }

    /// Returns the first and the last string.
    fn ends(&self) -> Option<[StringId; 2]> {
        let last = self.strings.len().checked_sub(1)?;
        Some([self.strings.get(0)?, self.strings.get(last)?])
    }
}

impl Ascending {
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Returns a string's place in the lists, if it is in one.
    #[inline]
    pub(super) fn find<'s>(
        &self,
        bytes: &[u8],
        text: impl Fn(StringId) -> &'s [u8],
    ) -> Option<Member> {
        if self.lists.is_empty() {
            return None;
        }
        let list = *self.by_key.get(&key_of(bytes)?)?;
        let (index, id) = self.lists.get(list as usize)?.find(bytes, text)?;
        Some(Member {
            list,
            index: index as u32,
            id,
        })
    }

    /// Appends a list of another table whose ids are `offset` higher here. If not all of its strings come after those
    /// of the list with its key, they stay out of the lists.
    pub(super) fn append<'s>(
        &mut self,
        other: &List,
        offset: u32,
        text: impl Fn(StringId) -> &'s [u8],
    ) {
        let Some([first, _]) = other.ends() else {
            return;
        };
        let here = |id: StringId| StringId(id.0 + offset);
        let next = self.lists.len() as u32;
        let list = *self.by_key.entry(other.key).or_insert(next);
        if list == next {
            self.lists.push(List::of(other.key));
        }
        let Some(list) = self.lists.get_mut(list as usize) else {
            return;
        };
        let last = list.ends().map(|[_, last]| last);
        if last.is_none_or(|last| order(text(last), text(here(first))) == Ordering::Less) {
            for (id, count) in other.strings.streaks() {
                match count {
                    1 => list.strings.push(here(id)),
                    _ => list.strings.push_streak(here(id), count),
                }
            }
        }
    }

    pub(super) fn into_lists(self) -> Vec<List> {
        self.lists
    }

    /// Gives a string another id.
    pub(super) fn set(&mut self, member: Member, id: StringId) {
        if let Some(list) = self.lists.get_mut(member.list as usize) {
            list.strings.set(member.index as usize, id);
        }
    }

    /// Gives all strings other ids: `new[old]`.
    pub(super) fn renumber(&mut self, new: &[StringId]) {
        for list in &mut self.lists {
            let ids = list.strings.iter();
            let ids = ids.map(|id| new.get(id.0 as usize).copied().unwrap_or_default());
            list.strings = ids.collect();
        }
    }

    /// All strings of all lists, as streaks: the first id of each and the number of ids in it.
    pub(super) fn streaks(&self) -> impl Iterator<Item = (StringId, usize)> + '_ {
        self.lists.iter().flat_map(|list| list.strings.streaks())
    }

    /// Allocated heap memory in bytes, approximately.
    pub(super) fn memory_bytes(&self) -> u64 {
        memory_of(&self.lists)
    }
}

impl Watch {
    /// Returns where a string is or belongs; `next`: its id, if it becomes the next string of the table.
    #[inline]
    pub(super) fn place<'s>(
        &mut self,
        bytes: &[u8],
        next: StringId,
        text: impl Fn(StringId) -> &'s [u8],
    ) -> Place {
        if self.listed == 0 {
            return Place::Elsewhere;
        }
        let Some(key) = key_of(bytes) else {
            return Place::Elsewhere;
        };
        let Some(watched) = self.keys.get_mut(key as usize % (1 << WATCHED_BITS)) else {
            return Place::Elsewhere;
        };
        let State::Listed { list, before } = &mut watched.state else {
            return Place::Elsewhere;
        };
        if watched.key != key {
            return Place::Elsewhere;
        }
        let number = *list;
        let Some(list) = self.lists.get_mut(number as usize) else {
            return Place::Elsewhere;
        };
        match order(bytes, text(watched.last)) {
            Ordering::Greater => {
                match watched.last.after(1) == next && !list.strings.is_empty() {
                    true => list.strings.push_next(),
                    false => list.strings.push(next),
                }
                watched.last = next;
                return Place::Next;
            }
            Ordering::Equal => return Place::Known(watched.last),
            Ordering::Less => {}
        }
        let found = list.find(bytes, text);
        if let Some((index, id)) = found
            && list.strings.len() - index <= SOON
        {
            return Place::Known(id);
        }
        *before += 1;
        if *before as usize > list.strings.len() + SOON {
            // Its strings stay in the table, but nothing finds them.
            list.strings = Streaks::default();
            watched.state = State::Mixed;
            self.listed -= 1;
            return Place::Elsewhere;
        }
        found.map_or(Place::Elsewhere, |(_, id)| Place::Known(id))
    }

    /// Notes a string that was added, but to no list.
    pub(super) fn added<'s>(
        &mut self,
        bytes: &[u8],
        id: StringId,
        text: impl Fn(StringId) -> &'s [u8],
    ) {
        if self.fruitless > MOST_FRUITLESS {
            return;
        }
        self.fruitless += 1;
        let Some(key) = key_of(bytes) else {
            return;
        };
        if self.keys.is_empty() {
            self.keys = vec![Watched::default(); 1 << WATCHED_BITS];
        }
        let Some(watched) = self.keys.get_mut(key as usize % (1 << WATCHED_BITS)) else {
            return;
        };
        if watched.key != key {
            self.listed -= usize::from(matches!(watched.state, State::Listed { .. }));
            *watched = Watched {
                key,
                ..Watched::default()
            };
        }
        let State::Ascends(count) = watched.state else {
            return;
        };
        let ascends = order(bytes, text(watched.last)) == Ordering::Greater;
        watched.last = id;
        watched.breaks += u32::from(!ascends);
        watched.state = match ascends {
            _ if watched.breaks > MOST_BREAKS => State::Mixed,
            true => State::Ascends(count + 1),
            false => State::Ascends(0),
        };
        if let State::Ascends(ASCENDS_FROM..) = watched.state {
            let list = self.lists.len() as u32;
            self.lists.push(List::of(key));
            watched.state = State::Listed { list, before: 0 };
            self.listed += 1;
            self.fruitless = 0;
        }
    }

    pub(super) fn into_lists(self) -> Vec<List> {
        self.lists
    }

    /// Allocated heap memory in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.keys.capacity() * size_of::<Watched>()) as u64 + memory_of(&self.lists)
    }
}

/// Allocated heap memory of lists, in bytes.
fn memory_of(lists: &Vec<List>) -> u64 {
    let strings = lists.iter().map(|list| list.strings.memory_bytes());
    strings.sum::<u64>() + (lists.capacity() * size_of::<List>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_that_of_all_that_is_no_digit() {
        assert_eq!(key_of(b"frame"), None);
        assert_eq!(key_of("\u{b0}\u{ff}".as_bytes()), None);
        assert_eq!(key_of(b"frame 1"), key_of(b"frame 98765432109876543210"));
        assert_ne!(key_of(b"frame 1"), key_of(b"trame 1"));
        assert_ne!(key_of(b"frame 1/"), key_of(b"frame 1:"));
        for byte in 0..=u8::MAX {
            let word = u64::from_le_bytes([byte; 8]);
            let expected = if byte.is_ascii_digit() { u64::MAX } else { 0 };
            assert_eq!(digits_in(word), expected, "{byte}");
        }
    }
}
