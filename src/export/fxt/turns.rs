//! The order of switches and wakeups that have one time: the states of each thread, and the runs of each CPU, must have
//! the same order as in the trace.
//!
//! A coarse clock gives one time to many events, and events of several CPUs have no common order in their file. Readers
//! derive states from the order of the records, so it must agree with the order of the states. Items keep their positions
//! where nothing contradicts them. If the states of several threads contradict each other, the earliest item comes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::item::{Item, What};
use super::items::Items;
use crate::base::Timestamp;
use crate::trace::{CpuId, StateId, ThreadId};

/// The thread or CPU whose states or runs an item belongs to, and its position among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    whose: Whose,
    /// The position among these states or runs: the begin of each comes before its end.
    place: Place,
    /// The number of the item among those that are sorted.
    number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Thread(u32),
    Cpu(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    row: u32,
    side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Begin,
    End,
}

impl Place {
    fn begin(row: u32) -> Place {
        let side = Side::Begin;
        Place { row, side }
    }

    fn end(row: u32) -> Place {
        let side = Side::End;
        Place { row, side }
    }
}

impl Items<'_> {
    /// Puts the switches and wakeups of each time into their order, at the positions that they have together; the items
    /// are sorted by time.
    pub(super) fn take_turns(&self, items: &mut [Item]) {
        let mut turns = Vec::new();
        let mut positions = Vec::new();
        for at_once in items.chunk_by_mut(|a, b| a.time == b.time) {
            if at_once.len() < 2 {
                continue;
            }
            positions.clear();
            let scheduling = at_once.iter().enumerate().filter(|(_, item)| is_one(item));
            positions.extend(scheduling.map(|(at, _)| at));
            if positions.len() < 2 {
                continue;
            }
            turns.clear();
            for (number, &at) in (0_u32..).zip(&positions) {
                self.add_turns(&at_once[at], number, &mut turns);
            }
            turns.sort_unstable();
            let order = order_of_turns(&turns, positions.len());
            let sorted: Vec<Item> = order.iter().map(|&at| at_once[positions[at]]).collect();
            for (&at, item) in positions.iter().zip(sorted) {
                at_once[at] = item;
            }
        }
    }

    fn add_turns(&self, item: &Item, number: u32, turns: &mut Vec<Turn>) {
        let (trace, row) = (self.trace, item.row);
        let mut add = |whose: Whose, place: Place| {
            turns.push(Turn {
                whose,
                place,
                number,
            });
        };
        let of_state = |id: StateId| Whose::Thread(trace.states.get(id).thread.0);
        let running = |run: usize| {
            let (thread, start) = (trace.runs.threads[run], trace.runs.starts[run]);
            let event = trace.runs.event(run);
            let (thread, start) = (ThreadId(thread), Timestamp(start));
            let state = trace.states.running_at(thread, start, event);
            state.map(|id| id.0)
        };
        let run = row as usize;
        match item.what {
            What::Wakeup | What::SwitchOff => add(of_state(StateId(row)), Place::begin(row)),
            What::SwitchTo => {
                add(Whose::Cpu(item.of), Place::begin(row));
                if let Some(state) = running(run).filter(|_| trace.runs.starts[run] == item.time) {
                    add(Whose::Thread(trace.runs.threads[run]), Place::begin(state));
                }
                let left = self.lone_states.of_event(trace.runs.events[run]);
                let before = || {
                    let before = run.checked_sub(1)?;
                    let is_next = trace.runs.ends[before] == trace.runs.starts[run]
                        && trace.runs.on(CpuId(item.of)).contains(&(row - 1))
                        && !self.true_ends.is_apart(before);
                    is_next.then(|| trace.states.behind_run(&trace.runs, before))?
                };
                if let Some(state) = left.or_else(before) {
                    add(of_state(state), Place::begin(state.0));
                }
            }
            What::SwitchToIdle | What::SwitchAtEnd => {
                add(Whose::Cpu(item.of), Place::end(row));
                let behind = match item.what {
                    What::SwitchToIdle => trace.states.behind_run(&trace.runs, run),
                    _ => None,
                };
                let thread = Whose::Thread(trace.runs.threads[run]);
                match (behind, running(run)) {
                    (Some(state), _) => add(thread, Place::begin(state.0)),
                    (None, Some(state)) => add(thread, Place::end(state)),
                    (None, None) => {}
                }
            }
            _ => {}
        }
    }
}

/// Returns whether an item is a switch or wakeup that follows from runs and states.
fn is_one(item: &Item) -> bool {
    matches!(
        item.what,
        What::SwitchTo | What::SwitchToIdle | What::SwitchAtEnd | What::SwitchOff | What::Wakeup
    )
}

/// Returns the numbers of `count` items in an order that agrees with their sorted turns: among the items that may come
/// next, the one with the least number comes first.
fn order_of_turns(turns: &[Turn], count: usize) -> Vec<usize> {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut waits_for = vec![0_u32; count];
    for pair in turns.windows(2) {
        if let [first, next] = pair
            && first.whose == next.whose
            && first.number != next.number
        {
            after[first.number as usize].push(next.number);
            waits_for[next.number as usize] += 1;
        }
    }
    let is_free = |number: &usize| waits_for[*number] == 0;
    let mut free: BinaryHeap<Reverse<usize>> = (0..count).filter(is_free).map(Reverse).collect();
    let mut is_placed = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut first_left = 0;
    while order.len() < count {
        let next = match free.pop() {
            Some(Reverse(next)) => next,
            None => {
                // The turns contradict each other.
                while is_placed[first_left] {
                    first_left += 1;
                }
                first_left
            }
        };
        if std::mem::replace(&mut is_placed[next], true) {
            continue;
        }
        order.push(next);
        for &other in &after[next] {
            let left = &mut waits_for[other as usize];
            *left = left.saturating_sub(1);
            if *left == 0 {
                free.push(Reverse(other as usize));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(whose: Whose, row: u32, number: u32) -> Turn {
        Turn {
            whose,
            place: Place::begin(row),
            number,
        }
    }

    #[test]
    fn items_keep_their_positions_unless_their_turns_disagree() {
        let (a, b) = (Whose::Thread(1), Whose::Thread(2));
        let order = |mut turns: Vec<Turn>, count| {
            turns.sort_unstable();
            order_of_turns(&turns, count)
        };
        assert_eq!(order(vec![turn(a, 5, 0), turn(b, 9, 1)], 3), [0, 1, 2]);
        let swapped = vec![turn(a, 5, 2), turn(a, 6, 0), turn(b, 9, 1)];
        assert_eq!(order(swapped, 3), [1, 2, 0]);
        let contradiction = vec![turn(a, 1, 0), turn(a, 2, 1), turn(b, 1, 1), turn(b, 2, 0)];
        assert_eq!(order(contradiction, 2), [0, 1]);
    }
}
