//! Detects events that several instances recorded: each instance's buffer contains its own record, a few ns apart.
//!
//! trace-cmd prints the buffers of several instances sorted by time, so such lines are close together, each starting
//! with the instance's name. Each event is counted once: the first line creates runs and slices, the other lines are
//! only events. If the instances use different clocks, duplicates cannot be detected. Files of several machines are not
//! instances.
//!
//! Of the 267 texts of the corpus, 13 contain lines of several instances.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::formats::ftrace_line::prefix::Prefix;

/// Number of recent events that are kept.
const MOST: usize = 128;
/// Maximum distance between records of one event, in ns or cycles.
const MOST_APART: i64 = 100_000;
/// Maximum number of instances that are distinguished; further instances count as the last one.
const MOST_INSTANCES: usize = 64;

/// A recent event and the instances that recorded it.
#[derive(Debug)]
struct Recent {
    hash: u64,
    time: i64,
    /// A bit for each instance, by its number.
    instances: u64,
}

/// The recent events; see the module's documentation.
#[derive(Debug, Default)]
pub(crate) struct Doubles<'a> {
    instances: Vec<&'a [u8]>,
    recent: VecDeque<Recent>,
}

impl<'a> Doubles<'a> {
    /// Returns whether another instance recorded this event before.
    pub(crate) fn is_double(&mut self, line: &Prefix<'a>) -> bool {
        let known = self
            .instances
            .iter()
            .position(|name| *name == line.instance);
        let number = known.unwrap_or_else(|| {
            if self.instances.len() < MOST_INSTANCES {
                self.instances.push(line.instance);
            }
            self.instances.len() - 1
        });
        let bit = 1_u64 << number.min(MOST_INSTANCES - 1);
        let mut hasher = FxHasher::default();
        (line.pid, line.cpu, line.body).hash(&mut hasher);
        let hash = hasher.finish();
        let is_near = |recent: &&mut Recent| {
            line.time.saturating_sub(recent.time).saturating_abs() <= MOST_APART
        };
        // The oldest record that this instance has not recorded yet: the same event may soon happen again.
        let same = self
            .recent
            .iter_mut()
            .filter(is_near)
            .find(|recent| recent.hash == hash && recent.instances & bit == 0);
        if let Some(same) = same {
            same.instances |= bit;
            return true;
        }
        if self.recent.len() >= MOST {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent {
            hash,
            time: line.time,
            instances: bit,
        });
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ftrace_line::prefix::split_prefix;

    #[test]
    fn what_two_instances_had_happened_once() {
        let mut doubles = Doubles::default();
        let mut doubles_of = |lines: &'static str| -> Vec<bool> {
            let split = |line: &'static str| split_prefix(line.as_bytes()).unwrap();
            let lines = lines.lines();
            lines.map(|line| doubles.is_double(&split(line))).collect()
        };
        let twice = "      irqs:             bash-96      [001]    69.626109234: a: x=1\n                       bash-96      [001]    69.626109534: a: x=1\n";
        assert_eq!(doubles_of(twice), [false, true]);
        // The same event twice in one instance, then in the other.
        let again = "      irqs:             bash-96      [001]    69.626110234: a: x=1\n      irqs:             bash-96      [001]    69.626111234: a: x=1\n                       bash-96      [001]    69.626111534: a: x=1\n                       bash-96      [001]    69.626111634: a: x=1\n";
        assert_eq!(doubles_of(again), [false, false, true, true]);
        // Different events: another CPU, another thread, much later.
        let others = "      irqs:             bash-96      [000]    69.626112234: a: x=1\n                       sh-97      [001]    69.626112534: a: x=1\n                       bash-96      [001]    69.726111634: a: x=1\n";
        assert_eq!(doubles_of(others), [false, false, false]);
    }
}
