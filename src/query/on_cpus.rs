//! The part of a trace that belongs to some of its CPUs.
//!
//! An event belongs to the CPU that it names. An event that names none (as all events of FXT) belongs to the CPU on
//! which its thread ran: in the run around it, else in the last run before it, else in the first run. A slice of a
//! thread belongs to every CPU on which the thread ran during it, and to the CPUs of its begin and end. Anything without a
//! known CPU belongs to all.

use std::ops::Range;

use crate::base::{TimeSpan, Timestamp};
use crate::trace::{CpuId, EventId, RunId, ThreadId, Trace};

/// The CPUs, and the times at which each thread ran there.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnCpus {
    /// The CPUs; empty: all CPUs.
    cpus: Vec<CpuId>,
    /// Start and end of each stretch; those of a thread are sorted and do not overlap.
    stretches: Vec<(i64, i64)>,
    of_thread: Vec<Range<u32>>,
}

impl OnCpus {
    /// Finds the times at which threads ran on `cpus`.
    #[must_use]
    pub(crate) fn new(trace: &Trace, cpus: &[CpuId]) -> OnCpus {
        let mut found = OnCpus {
            cpus: cpus.to_vec(),
            ..OnCpus::default()
        };
        if cpus.is_empty() {
            return found;
        }
        for thread in 0..trace.threads.len() as u32 {
            let first = found.stretches.len();
            for &row in trace.runs.of(ThreadId(thread)) {
                let run = trace.runs.get(RunId(row));
                if !cpus.contains(&run.cpu) {
                    continue;
                }
                let end = run.end.map_or(i64::MAX, |end| end.0);
                match found.stretches.get_mut(first..).and_then(<[_]>::last_mut) {
                    // Runs of a thread may overlap where switches were lost.
                    Some(last) if run.start.0 <= last.1 => last.1 = last.1.max(end),
                    _ => found.stretches.push((run.start.0, end)),
                }
            }
            found
                .of_thread
                .push(first as u32..found.stretches.len() as u32);
        }
        found
    }

    /// Returns whether some CPUs are left out.
    #[must_use]
    pub(crate) fn is_limit(&self) -> bool {
        !self.cpus.is_empty()
    }

    /// Returns whether a CPU is one of these CPUs; true for all CPUs if there is no choice.
    #[must_use]
    pub(crate) fn has(&self, cpu: CpuId) -> bool {
        self.cpus.is_empty() || self.cpus.contains(&cpu)
    }

    /// Returns whether a thread ran on these CPUs at any time of `span`, including its end.
    #[must_use]
    pub(crate) fn has_run_in(&self, thread: ThreadId, span: TimeSpan) -> bool {
        let range = self.of_thread.get(thread.0 as usize).cloned();
        let range = range.unwrap_or(0..0);
        let stretches = self
            .stretches
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default();
        let first = stretches.partition_point(|stretch| stretch.1 < span.start.0);
        stretches
            .get(first)
            .is_some_and(|stretch| stretch.0 <= span.end.0)
    }

    /// Returns whether an event belongs to these CPUs.
    #[must_use]
    pub(crate) fn has_event(&self, trace: &Trace, id: EventId) -> bool {
        if !self.is_limit() {
            return true;
        }
        let event = trace.events.get(id);
        let thread = trace.events.thread(id);
        let cpu = event.cpu.map(CpuId);
        let cpu = cpu.or_else(|| trace.runs.cpu_at(thread, event.row.time));
        cpu.is_none_or(|cpu| self.cpus.contains(&cpu))
    }

    /// Returns whether the part of a thread's slice in `span` belongs to these CPUs.
    #[must_use]
    pub(crate) fn has_slice(
        &self,
        trace: &Trace,
        thread: ThreadId,
        slice: usize,
        span: TimeSpan,
    ) -> bool {
        let slices = &trace.slices;
        if !self.is_limit() {
            return true;
        }
        if trace.runs.of(thread).is_empty() {
            return self.has_slice_by_ends(trace, slice);
        }
        let start = Timestamp(slices.starts.at(slice)).max(span.start);
        let end = Timestamp(slices.end(slice).at_most(span.end.0));
        // A run that ends at the start or starts at the end of the slice overlaps it for no time, unless the slice has
        // no length.
        let inside = match end.0.saturating_sub(start.0) {
            0 | 1 => TimeSpan::new(start, start),
            _ => TimeSpan::new(Timestamp(start.0 + 1), Timestamp(end.0 - 1)),
        };
        self.has_run_in(thread, inside)
    }

    /// Returns whether a slice that does not depend on a running thread began or ended on a chosen CPU.
    #[must_use]
    pub(crate) fn has_slice_by_ends(&self, trace: &Trace, slice: usize) -> bool {
        let finish = trace.slices.finish(slice);
        self.has_event(trace, trace.slices.begin(slice))
            || finish.is_some_and(|finish| self.has_event(trace, finish))
    }
}
