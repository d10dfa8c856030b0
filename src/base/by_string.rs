//! A map by string id and a second key. Most strings have only one second key: these entries need no hashing.

use rustc_hash::FxHashMap;
use std::hash::Hash;

use super::strings::StringId;

/// Values by string and second key. Allocates an entry for every string up to the highest id that was set.
#[derive(Clone, Debug)]
pub(crate) struct ByString<K, V> {
    /// By string id: the second key that was set first, and its value.
    first: Vec<Option<(K, V)>>,
    more: FxHashMap<(StringId, K), V>,
}

impl<K, V> Default for ByString<K, V> {
    fn default() -> ByString<K, V> {
        ByString {
            first: Vec::new(),
            more: FxHashMap::default(),
        }
    }
}

impl<K: Copy + Eq + Hash, V: Copy> ByString<K, V> {
    /// Returns the value of a string and a second key.
    #[inline]
    pub(crate) fn get(&self, string: StringId, key: K) -> Option<V> {
        match self.first.get(string.0 as usize)? {
            Some((own, value)) if *own == key => Some(*value),
            Some(_) => self.more.get(&(string, key)).copied(),
            None => None,
        }
    }

    /// Sets the value of a string and a second key.
    #[inline]
    pub(crate) fn set(&mut self, string: StringId, key: K, value: V) {
        match self.first.len() == string.0 as usize {
            true => self.first.push(Some((key, value))),
            false => self.set_inside(string, key, value),
        }
    }

    fn set_inside(&mut self, string: StringId, key: K, value: V) {
        let index = string.0 as usize;
        if self.first.len() <= index {
            self.first.resize(index + 1, None);
        }
        match &mut self.first[index] {
            Some((own, _)) if *own != key => _ = self.more.insert((string, key), value),
            slot => *slot = Some((key, value)),
        }
    }

    /// Returns the allocated heap memory in bytes, approximately.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let of_first = self.first.capacity() * size_of::<Option<(K, V)>>();
        let of_more = self.more.capacity() * size_of::<((StringId, K), V)>();
        (of_first + of_more) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_both_keys() {
        let mut map = ByString::default();
        for round in 0..2 {
            for (string, key) in [(5, 1), (5, 2), (0, 1), (9, 2), (5, 3)] {
                map.set(StringId(string), key, string * 10 + key + round);
                assert_eq!(
                    map.get(StringId(string), key),
                    Some(string * 10 + key + round)
                );
            }
        }
        assert_eq!(map.get(StringId(5), 1), Some(52));
        for (string, key) in [(5, 4), (0, 2), (4, 1), (100, 1)] {
            assert_eq!(map.get(StringId(string), key), None);
        }
    }
}
