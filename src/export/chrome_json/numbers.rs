//! Koids as the numbers of processes and threads in JSON: each its own, exactly.
//!
//! Readers hold numbers as doubles, which are exact below 2^53, and Perfetto knows processes and threads by 32 bits.
//! So artificial and other larger koids get stand-ins of 31 bits that nobody else has; the name's record says the
//! real number.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

/// Numbers below are exact in every reader.
const EXACT: u64 = 1 << 53;
/// Stand-ins are looked for from here on, above any pid that systems give out.
const FIRST: u64 = 0x4000_0000;

/// The numbers of those that cannot have their koid.
#[derive(Debug, Default)]
pub struct Numbers(FxHashMap<u64, u64>);

impl Numbers {
    /// Numbers for all of these koids.
    pub fn new(koids: impl Iterator<Item = u64> + Clone) -> Numbers {
        let is_exact = |koid: &u64| *koid < EXACT;
        let used: FxHashSet<u64> = koids.clone().filter(is_exact).collect();
        let mut numbers = FxHashMap::default();
        let mut free = (FIRST..).filter(|number| !used.contains(number));
        for koid in koids.filter(|koid| !is_exact(koid)) {
            if !numbers.contains_key(&koid)
                && let Some(number) = free.next()
            {
                numbers.insert(koid, number);
            }
        }
        Numbers(numbers)
    }

    /// A koid's number.
    pub fn of(&self, koid: u64) -> u64 {
        self.0.get(&koid).copied().unwrap_or(koid)
    }

    /// Whether a koid has a stand-in.
    pub fn is_other(&self, koid: u64) -> bool {
        self.0.contains_key(&koid)
    }
}

/// A number that keeps its value in every reader: large ones as texts.
pub fn exact_number(number: u64) -> Json {
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
            (1 << 53) + 1,
            1 << 53,
            1,
            FIRST,
            (1 << 53) - 1,
            77,
            (1 << 62) + 1,
        ];
        let numbers = Numbers::new(koids.iter().copied());
        let own: FxHashSet<u64> = koids.iter().map(|&koid| numbers.of(koid)).collect();
        assert_eq!(own.len(), 8);
        assert!(own.iter().all(|&number| number < EXACT));
        for koid in [77, 1, FIRST, (1 << 53) - 1] {
            assert_eq!(numbers.of(koid), koid);
        }
        assert_eq!(numbers.of((1 << 62) + 1), FIRST + 1);
    }
}
