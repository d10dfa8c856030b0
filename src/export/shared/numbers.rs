//! Koids and ids as JSON numbers: each has a unique number of at most 32 bits.
//!
//! Perfetto identifies processes and threads by 32 bits. So artificial koids and others above 32 bits get unused
//! stand-ins of 31 bits; the real number is in the name's record. The same holds for ids of asynchronous slices. Other
//! numbers are doubles in most readers, which are exact below 2^53.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

/// Numbers below this are exact in every reader.
const EXACT: u64 = 1 << 53;
/// Koids and ids below this are written as they are.
const SMALL: u64 = 1 << 32;
/// Stand-ins start here, above any pid that systems give out.
const FIRST: u64 = 0x4000_0000;

/// The stand-ins of koids that cannot be written as they are.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    stand_ins: FxHashMap<u64, u64>,
    used: FxHashSet<u64>,
    next: u64,
}

impl Numbers {
    /// Returns numbers for all of these koids.
    pub(crate) fn new(koids: impl Iterator<Item = u64> + Clone) -> Numbers {
        let is_small = |koid: &u64| *koid < SMALL;
        let used: FxHashSet<u64> = koids.clone().filter(is_small).collect();
        let mut numbers = Numbers {
            stand_ins: FxHashMap::default(),
            used,
            next: FIRST,
        };
        for koid in koids.filter(|koid| !is_small(koid)) {
            numbers.add(koid);
        }
        numbers
    }

    /// Gives a koid a stand-in, if it has none yet.
    pub(crate) fn add(&mut self, koid: u64) {
        if self.stand_ins.contains_key(&koid) {
            return;
        }
        while self.used.contains(&self.next) {
            self.next += 1;
        }
        self.stand_ins.insert(koid, self.next);
        self.next += 1;
    }

    /// Returns the number of a koid.
    pub(crate) fn of(&self, koid: u64) -> u64 {
        self.stand_ins.get(&koid).copied().unwrap_or(koid)
    }

    /// Returns whether a stand-in replaces a koid.
    pub(crate) fn is_other(&self, koid: u64) -> bool {
        self.stand_ins.contains_key(&koid)
    }
}

/// The id of an asynchronous slice in one of the files on the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AsyncId {
    /// The number of the file.
    pub file: u32,
    pub id: u64,
}

/// The numbers of asynchronous slices: ids of 31 bits of the first file are written as they are, the others get stand-ins
/// above them.
#[derive(Debug, Default)]
pub(crate) struct AsyncNumbers(FxHashMap<AsyncId, u64>);

impl AsyncNumbers {
    /// Returns the number of an id.
    pub(crate) fn of(&mut self, id: AsyncId) -> u64 {
        const OWN: u64 = SMALL / 2;
        if id.file == 0 && id.id < OWN {
            return id.id;
        }
        let next = OWN + self.0.len() as u64;
        *self.0.entry(id).or_insert(next)
    }
}

/// Returns a number as JSON that every reader reads exactly: large numbers as texts.
pub(crate) fn exact_number(number: u64) -> Json {
    match number < EXACT {
        true => json!(number),
        false => json!(number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_number_of_their_own() {
        let koids = [
            77,
            (1 << 62) + 1,
            (1 << 63) + 1,
            (1 << 32) + 1,
            1 << 32,
            1,
            FIRST,
            (1 << 32) - 1,
            77,
            (1 << 62) + 1,
        ];
        let numbers = Numbers::new(koids.iter().copied());
        let own: FxHashSet<u64> = koids.iter().map(|&koid| numbers.of(koid)).collect();
        assert_eq!(own.len(), 8);
        assert!(own.iter().all(|&number| number < SMALL));
        for koid in [77, 1, FIRST, (1 << 32) - 1] {
            assert_eq!(numbers.of(koid), koid);
        }
        assert_eq!(numbers.of((1 << 62) + 1), FIRST + 1);
    }
}
