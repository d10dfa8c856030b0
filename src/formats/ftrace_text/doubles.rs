//! Events that more than one instance recorded: each of their buffers has its own record, a few ns apart.
//!
//! trace-cmd prints the buffers of several instances by time, so that such lines stand together, with the instance's
//! name in front. What happened once is told once: the first line makes runs and slices, the others are only events.
//! Instances whose clocks differ cannot be told apart so; files of several machines are no instances.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::prefix::Prefix;

/// So many lines are remembered.
const MOST: usize = 128;
/// Records of one event are at most so far apart, in ns or cycles.
const MOST_APART: i64 = 100_000;
/// Instances beyond these are taken for the last.
const MOST_INSTANCES: usize = 64;

/// An event, and who had it.
#[derive(Debug)]
struct Recent {
    hash: u64,
    time: i64,
    /// By number of the instance.
    instances: u64,
}

/// See the module's text.
#[derive(Debug, Default)]
pub struct Doubles<'a> {
    instances: Vec<&'a [u8]>,
    recent: VecDeque<Recent>,
}

impl<'a> Doubles<'a> {
    /// Whether another instance had this event before.
    pub fn is_double(&mut self, line: &Prefix<'a>) -> bool {
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
        // The oldest that this instance did not have yet: the same can happen again soon.
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
    use super::super::prefix::split_prefix;
    use super::*;

    #[test]
    fn what_two_instances_had_happened_once() {
        let mut doubles = Doubles::default();
        let mut told = |lines: &'static str| -> Vec<bool> {
            let split = |line: &'static str| split_prefix(line.as_bytes()).unwrap();
            let lines = lines.lines();
            lines.map(|line| doubles.is_double(&split(line))).collect()
        };
        let twice = "      irqs:             bash-96      [001]    69.626109234: a: x=1\n                       bash-96      [001]    69.626109534: a: x=1\n";
        assert_eq!(told(twice), [false, true]);
        // The same again, twice in one and then in the other.
        let again = "      irqs:             bash-96      [001]    69.626110234: a: x=1\n      irqs:             bash-96      [001]    69.626111234: a: x=1\n                       bash-96      [001]    69.626111534: a: x=1\n                       bash-96      [001]    69.626111634: a: x=1\n";
        assert_eq!(told(again), [false, false, true, true]);
        // Others: another CPU, another thread, much later.
        let others = "      irqs:             bash-96      [000]    69.626112234: a: x=1\n                       sh-97      [001]    69.626112534: a: x=1\n                       bash-96      [001]    69.726111634: a: x=1\n";
        assert_eq!(told(others), [false, false, false]);
    }
}
