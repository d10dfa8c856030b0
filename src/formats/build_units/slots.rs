//! Assigns targets to job slots: each target gets the lowest slot that is free when it starts.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::Unit;
use crate::base::Maybe;

/// The slot of each target, and the number of slots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Slots {
    /// The slot of each target, by the target's index.
    pub of_unit: Vec<u32>,
    /// Number of slots.
    pub count: u32,
}

impl Slots {
    /// Assigns a slot to each target. A target without an end keeps its slot.
    pub(super) fn new(units: &[Unit]) -> Slots {
        let mut slots = Slots {
            of_unit: vec![0; units.len()],
            count: 0,
        };
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|&index| units.get(index).map(|unit| unit.begin.time));
        // Slots in use, sorted by their end times; free slots, sorted by number.
        let mut used: BinaryHeap<Reverse<(Maybe<i64>, u32)>> = BinaryHeap::new();
        let mut free: BTreeSet<u32> = BTreeSet::new();
        for index in order {
            let Some(unit) = units.get(index) else {
                continue;
            };
            while let Some(&Reverse((end, slot))) = used.peek()
                && end <= unit.begin.time
            {
                used.pop();
                free.insert(slot);
            }
            let slot = free.pop_first().unwrap_or_else(|| {
                slots.count = slots.count.saturating_add(1);
                slots.count.saturating_sub(1)
            });
            if let Some(entry) = slots.of_unit.get_mut(index) {
                *entry = slot;
            }
            // A target without duration keeps its slot for 1 ns: another target that starts at that time gets another
            // slot.
            let least = unit.begin.time.saturating_add(1);
            let end = unit.end.map(|end| end.time.max(least));
            used.push(Reverse((end.into(), slot)));
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Moment, Unit};
    use super::*;

    fn slots(spans: &[(i64, i64)]) -> Vec<u32> {
        let moment = |time| Moment { time, place: 0 };
        let unit = |&(begin, end): &(i64, i64)| Unit {
            name: Vec::new(),
            category: Vec::new(),
            number: 0,
            begin: moment(begin),
            end: (end != i64::MAX).then(|| moment(end)),
            sections: Vec::new(),
        };
        let units: Vec<Unit> = spans.iter().map(unit).collect();
        let slots = Slots::new(&units);
        assert_eq!(
            slots.count,
            slots.of_unit.iter().max().map_or(0, |slot| slot + 1)
        );
        slots.of_unit
    }

    #[test]
    fn a_target_takes_the_lowest_slot_that_is_free() {
        assert_eq!(
            slots(&[(0, 10), (0, 5), (5, 20), (10, 12), (12, 13)]),
            [0, 1, 1, 0, 0]
        );
        assert_eq!(slots(&[(5, 9), (0, 5), (2, 3)]), [0, 0, 1]);
        assert_eq!(slots(&[(0, i64::MAX), (7, 8), (9, 10)]), [0, 1, 1]);
        assert_eq!(slots(&[(3, 3), (3, 3), (3, 4)]), [0, 1, 2]);
        assert!(slots(&[]).is_empty());
    }
}
