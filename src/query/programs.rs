//! Programs added up over all processes that ran them, and the processes that failed.

use rustc_hash::FxHashMap;

use super::process_times::{ProcessTimes, program_bytes};
use crate::base::Nanos;
use crate::trace::{ProcessId, Trace};

/// The totals of all processes that ran one program; `longest_process` is one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramTotal {
    /// The number of processes that ran the program last.
    pub count: u32,
    /// The sum of their lives.
    pub total: Nanos,
    /// The sum of the time in which they had no living child.
    pub own: Nanos,
    /// The longest life.
    pub longest: Nanos,
    /// The process with the longest own time.
    pub longest_process: ProcessId,
    /// The number of processes that failed.
    pub failed: u32,
}

/// Returns all programs, the one with the most own time first. Processes from before the trace are left out.
#[must_use]
pub fn programs(trace: &Trace, times: &ProcessTimes) -> Vec<ProgramTotal> {
    let mut totals: FxHashMap<&[u8], ProgramTotal> = FxHashMap::default();
    for (index, process) in trace.processes.iter().enumerate() {
        if process.start.is_none() {
            continue;
        }
        let id = ProcessId(index as u32);
        let time = times.of(id);
        let life = time.span.duration();
        let entry = totals
            .entry(program_bytes(trace, id))
            .or_insert(ProgramTotal {
                count: 0,
                total: Nanos(0),
                own: Nanos(0),
                longest: Nanos(-1),
                longest_process: id,
                failed: 0,
            });
        entry.count += 1;
        entry.total = Nanos(entry.total.0.saturating_add(life.0));
        entry.own = Nanos(entry.own.0.saturating_add(time.own.0));
        entry.failed += u32::from(process.has_failed());
        if life > entry.longest {
            entry.longest = life;
            entry.longest_process = id;
        }
    }
    let mut all: Vec<ProgramTotal> = totals.into_values().collect();
    all.sort_by_key(|total| (std::cmp::Reverse(total.own), total.longest_process));
    all
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
        let all = programs(&trace, &times);
        let numbers: Vec<_> = all
            .iter()
            .map(|row| (row.count, row.total.0, row.own.0, row.longest.0, row.failed))
            .collect();
        assert_eq!(numbers, [(1, 50, 25, 50, 0), (2, 25, 25, 15, 1)]);
        assert_eq!(all[1].longest_process, ProcessId(2));
        assert_eq!(failed(&trace), [ProcessId(1)]);
    }
}
