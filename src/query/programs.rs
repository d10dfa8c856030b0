//! Programs added up over all processes that ran them, and the processes that failed.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::process_times::{ProcessTimes, program_bytes};
use super::seen::Length;
use crate::base::Nanos;
use crate::trace::{ProcessId, Trace};

/// The totals of all processes that ran one program; `longest_process` is one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramTotal {
    /// The number of processes that ran the program last.
    pub count: u32,
    /// The number of these processes whose start or end is not in the trace.
    pub unfinished: u32,
    /// The sum of the lower bounds of their lifetimes.
    pub at_least: Nanos,
    /// The sum of the known lifetimes.
    pub total: Nanos,
    /// The sum of the known times in which the processes had no living child.
    pub own: Nanos,
    /// The longest known lifetime; without one, the largest lower bound.
    pub longest: Length,
    /// The process with this lifetime.
    pub longest_process: ProcessId,
    /// The number of processes that failed, of those of which the exit is known; `None` if it is known of none.
    pub failed: Option<u32>,
}

/// Returns the programs of the processes that `is_chosen` accepts, the one with the most own time first. Processes from
/// before the trace are left out. Processes whose start was lost, or that have no end, are counted, and their lives are
/// summed separately.
#[must_use]
pub fn programs(
    trace: &Trace,
    times: &ProcessTimes,
    is_chosen: impl Fn(ProcessId) -> bool,
) -> Vec<ProgramTotal> {
    let mut totals: FxHashMap<&[u8], ProgramTotal> = FxHashMap::default();
    for (index, process) in trace.processes.iter().enumerate() {
        let id = ProcessId(index as u32);
        if process.start.is_none() || !is_chosen(id) {
            continue;
        }
        let life = times.life(trace, id);
        let entry = totals
            .entry(program_bytes(trace, id))
            .or_insert(ProgramTotal {
                count: 0,
                unfinished: 0,
                at_least: Nanos(0),
                total: Nanos(0),
                own: Nanos(0),
                longest: Length::AtLeast(-1),
                longest_process: id,
                failed: None,
            });
        entry.count += 1;
        if process.has_known_exit() {
            let failed = entry.failed.unwrap_or(0) + u32::from(process.has_failed());
            entry.failed = Some(failed);
        }
        match life {
            Length::Known(ns) => {
                entry.total = Nanos(entry.total.0.saturating_add(ns));
                let own = times.of(id).own.known().unwrap_or(0);
                entry.own = Nanos(entry.own.0.saturating_add(own));
            }
            Length::AtLeast(ns) => {
                entry.unfinished += 1;
                entry.at_least = Nanos(entry.at_least.0.saturating_add(ns));
            }
        }
        if rank(life) > rank(entry.longest) {
            entry.longest = life;
            entry.longest_process = id;
        }
    }
    let mut all: Vec<ProgramTotal> = totals.into_values().collect();
    let size = |total: &ProgramTotal| Reverse((total.own, total.at_least));
    all.sort_by_key(|total| (size(total), total.longest_process));
    all
}

/// Returns the rank of a lifetime: every known lifetime is greater than all lower bounds.
fn rank(life: Length) -> (bool, i64) {
    (life.known().is_some(), life.certain())
}

/// The processes that failed, by the time they ended.
#[must_use]
pub(crate) fn failed(trace: &Trace) -> Vec<ProcessId> {
    let mut all: Vec<ProcessId> = (0..trace.processes.len() as u32)
        .map(ProcessId)
        .filter(|id| trace.processes[id.0 as usize].has_failed())
        .collect();
    all.sort_by_key(|id| trace.processes[id.0 as usize].end);
    all
}

#[cfg(test)]
mod tests {
    use super::super::process_times::tests::trace_of;
    use super::*;

    #[test]
    fn programs_add_up_and_failures_are_listed() {
        let mut trace = trace_of(&[(None, 0, 50), (Some(0), 1, 11), (Some(0), 20, 35)]);
        for (process, name) in trace.processes.iter_mut().zip(["make", "gcc", "gcc"]) {
            process.name = trace.strings.intern_text(name);
        }
        trace.processes[1].exit_status = Some(1);
        trace.processes[2].exit_status = Some(0);
        let times = ProcessTimes::new(&trace);
        let all = programs(&trace, &times, |_| true);
        let numbers: Vec<_> = all
            .iter()
            .map(|row| (row.count, row.total.0, row.own.0, row.longest, row.failed))
            .collect();
        let longest = [50, 15].map(Length::Known);
        assert_eq!(
            numbers,
            [
                (1, 50, 25, longest[0], None),
                (2, 25, 25, longest[1], Some(1))
            ]
        );
        assert_eq!(all[1].longest_process, ProcessId(2));
        assert_eq!(failed(&trace), [ProcessId(1)]);
        // The second gcc still runs when the trace ends: its least life is longer than the other's life.
        trace.processes[2].end = None;
        let all = programs(&trace, &ProcessTimes::new(&trace), |_| true);
        let gcc = all.iter().find(|row| row.count == 2).unwrap();
        assert_eq!((gcc.total.0, gcc.longest), (10, Length::Known(10)));
        assert_eq!((gcc.unfinished, gcc.at_least.0), (1, 99 - 20));
        assert_eq!(gcc.longest_process, ProcessId(1));
    }
}
