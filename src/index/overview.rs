//! The overview of a whole trace: the number of events and the CPU use in each of 2048 steps of time.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::order::first_not;
use crate::base::{TimeSpan, Timestamp};
use crate::event::DensitySample;
use crate::trace::{CpuId, Trace};

/// Number of steps of equal length that the trace is divided into.
pub(crate) const STEPS: usize = 2048;

/// Density by step; empty for an empty trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Number of events in each step.
    pub events: Vec<u32>,
    /// Share of the CPU time used in each step, 0 to 1 over all CPUs; empty if the trace has no runs.
    pub cpu_use: Vec<f32>,
}

impl Overview {
    /// Counts the events and sums the runs of a trace.
    #[must_use]
    pub fn new(trace: &Trace) -> Overview {
        let span = trace.span;
        if span.is_empty() {
            return Overview::default();
        }
        let length = i128::from(span.end.0) - i128::from(span.start.0);
        let edge = |step: usize| {
            Timestamp((i128::from(span.start.0) + length * step as i128 / STEPS as i128) as i64)
        };
        let mut events = vec![0_u32; STEPS];
        for segment in trace.events.segments() {
            let columns = &segment.columns;
            let (first, last) = (segment.first_time(), segment.last_time());
            let step_of = |time: Timestamp| {
                let step = (i128::from(time.0) - i128::from(span.start.0)) * STEPS as i128 / length;
                (step.max(0) as usize).min(STEPS - 1)
            };
            let mut before = 0;
            for (step, count) in events
                .iter_mut()
                .enumerate()
                .take(step_of(last) + 1)
                .skip(step_of(first))
            {
                let until = if step + 1 == STEPS {
                    columns.len() as u32
                } else {
                    segment.lower_bound(edge(step + 1))
                };
                *count += until - before;
                before = until;
            }
        }
        Overview {
            events,
            cpu_use: cpu_use(trace, &edge),
        }
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.events.capacity() * 4 + self.cpu_use.capacity() * 4) as u64
    }
}

fn cpu_use(trace: &Trace, edge: &(dyn Fn(usize) -> Timestamp + Sync)) -> Vec<f32> {
    if trace.runs.is_empty() {
        return Vec::new();
    }
    let cpu_count = trace.cpus.len().max(1);
    let none = || vec![0_i64; STEPS];
    // CPUs that are handled by one job add to the same vector: there may be thousands of CPUs with a run or two each,
    // and a vector for each CPU would be expensive.
    let sums: Vec<i64> = (0..trace.cpus.len() as u32)
        .into_par_iter()
        .fold(none, |mut busy, cpu| {
            add_runs(trace, CpuId(cpu), edge, &mut busy);
            busy
        })
        .reduce(none, |mut all, more| {
            for (sum, busy) in all.iter_mut().zip(more) {
                *sum = sum.saturating_add(busy);
            }
            all
        });
    (0..STEPS)
        .zip(sums)
        .map(|(step, busy)| {
            let width = (edge(step + 1).0 - edge(step).0).max(1);
            (busy as f64 / (width as f64 * cpu_count as f64)).min(1.0) as f32
        })
        .collect()
}

/// Adds the time that a CPU's runs last within each step, in ns.
fn add_runs(
    trace: &Trace,
    cpu: CpuId,
    edge: &(dyn Fn(usize) -> Timestamp + Sync),
    busy: &mut [i64],
) {
    let runs = trace.runs.on(cpu);
    let first = trace.runs.starts.get(runs.start as usize);
    let Some(first) = first.filter(|_| !runs.is_empty()) else {
        return;
    };
    // The first step that ends after the first run's start.
    let mut step = first_step(|step| edge(step + 1).0 <= *first);
    for run in runs {
        let mut start = trace.runs.starts[run as usize];
        let end = trace.runs.ends[run as usize].at_most(trace.span.end.0);
        while start < end && step < STEPS {
            let limit = if step + 1 == STEPS {
                i64::MAX
            } else {
                edge(step + 1).0
            };
            if limit <= start {
                step += 1;
                continue;
            }
            busy[step] = busy[step].saturating_add(end.min(limit) - start);
            start = end.min(limit);
        }
    }
}

/// Returns the first step for which `is_before` is false, or the last step.
fn first_step(is_before: impl Fn(usize) -> bool) -> usize {
    first_not(0..STEPS - 1, is_before)
}

/// Returns bytes of events by step, from samples that are sorted by lane, then time.
#[must_use]
pub(crate) fn steps_of_density(span: TimeSpan, density: &[DensitySample]) -> Vec<u32> {
    let length = (i128::from(span.end.0) - i128::from(span.start.0)).max(1);
    let mut steps = vec![0_u32; if density.is_empty() { 0 } else { STEPS }];
    let step_of = |time: Timestamp| {
        let step = (i128::from(time.0) - i128::from(span.start.0)) * STEPS as i128 / length;
        (step.max(0) as usize).min(STEPS - 1)
    };
    for (at, sample) in density.iter().enumerate() {
        let first = step_of(sample.time);
        let next = density
            .get(at + 1)
            .filter(|next| next.lane == sample.lane)
            .map_or(span.end, |next| next.time);
        let last = step_of(next).max(first);
        let share = sample.bytes / (last - first + 1) as u32;
        for step in &mut steps[first..=last] {
            *step = step.saturating_add(share);
        }
    }
    steps
}
