//! The sorted pieces of a trace's tables: a row of a track, the runs of a CPU, a counter.
//!
//! The rows of a lane in a window are between two [`Place`]s, which are found for all windows in one walk.

use std::ops::Range;

use super::forms::Form;
use crate::base::TimeSpan;
use crate::base::order;
use crate::export::shared::flow_marks::FlowMark;
use crate::trace::{CpuId, EventId, Trace};

/// A sorted piece of a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lane {
    /// A row of `slices.rows`.
    Slices {
        row: u32,
        form: Form,
    },
    /// The points of a track.
    Instants {
        track: u32,
    },
    /// The samples of a counter track.
    Samples {
        track: u32,
    },
    /// The runs of a CPU.
    Runs {
        cpu: u32,
    },
    /// The states of a thread.
    States {
        thread: u32,
    },
    Logs,
    Flows,
}

/// The tables to which lanes belong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The marks of flows.
    pub flows: &'a [FlowMark],
}

/// The position of a time in a lane: how many of its rows start before it, and how many end before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    starts: u32,
    ends: u32,
}

impl Place {
    /// Returns the rows between two places.
    pub(super) fn to(self, until: Place) -> Stretch {
        Stretch {
            starts: self.starts as usize..until.starts as usize,
            ends: self.ends as usize..until.ends as usize,
        }
    }
}

/// Rows of a lane, counted from its first.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// The rows that start in the span.
    pub starts: Range<usize>,
    /// The rows that end in the span.
    pub ends: Range<usize>,
}

impl Stretch {
    /// Returns the rows that start in the span, as indices of a table in which the lane's first row is `first`.
    pub(crate) fn starts_from(&self, first: usize) -> Range<usize> {
        first + self.starts.start..first + self.starts.end
    }

    /// Returns the rows that end in the span, as indices of a table in which the lane's first row is `first`.
    pub(crate) fn ends_from(&self, first: usize) -> Range<usize> {
        first + self.ends.start..first + self.ends.end
    }
}

impl Lane {
    /// Returns the number of rows of the lane.
    pub(crate) fn size(self, rows: &Rows<'_>) -> usize {
        let trace = rows.trace;
        match self {
            Lane::Slices { row, .. } => trace.slices.rows[row as usize].slices.len(),
            Lane::Instants { track } => trace.tracks[track as usize].instants.len(),
            Lane::Samples { track } => trace.counters.tracks[track as usize].samples.len(),
            Lane::Runs { cpu } => trace.runs.on(CpuId(cpu)).len(),
            Lane::States { thread } => trace.states.of_thread[thread as usize].len(),
            Lane::Logs => trace.logs.rows.len(),
            Lane::Flows => rows.flows.len(),
        }
    }

    /// Returns the start of a row, in ns.
    #[inline]
    pub(crate) fn time_at(self, rows: &Rows<'_>, index: usize) -> i64 {
        let trace = rows.trace;
        match self {
            Lane::Slices { row, .. } => trace
                .slices
                .starts
                .at(trace.slices.rows[row as usize].slices.start as usize + index),
            Lane::Instants { track } => {
                let at = trace.tracks[track as usize].instants.start as usize + index;
                trace.events.time(EventId(trace.instants.events.at(at))).0
            }
            Lane::Samples { track } => {
                let at = trace.counters.tracks[track as usize].samples.start as usize + index;
                trace.counters.times[at]
            }
            Lane::Runs { cpu } => {
                trace.runs.starts[trace.runs.on(CpuId(cpu)).start as usize + index]
            }
            Lane::States { thread } => {
                trace.states.starts[trace.states.of_thread[thread as usize].start as usize + index]
            }
            Lane::Logs => trace.logs.rows[index].time.0,
            Lane::Flows => rows.flows[index].time,
        }
    }

    /// Returns the place of a time in the lane, at `near` or after it.
    fn place(self, rows: &Rows<'_>, time: i64, near: Place) -> Place {
        let trace = rows.trace;
        let starts = first_not(self.size(rows), near.starts as usize, |index| {
            self.time_at(rows, index) < time
        });
        let ends = match self {
            Lane::Slices { row, .. } => {
                let slices = &trace.slices.rows[row as usize].slices;
                let first = slices.start as usize;
                first_not(slices.len(), near.ends as usize, |index| {
                    trace.slices.open_end(first + index) < time
                })
            }
            Lane::Runs { cpu } => {
                let runs = trace.runs.on(CpuId(cpu));
                let ends = &trace.runs.ends[runs.start as usize..runs.end as usize];
                first_not(ends.len(), near.ends as usize, |index| ends[index] < time)
            }
            // Points have no end, and nothing is written at the end of a state.
            _ => starts,
        };
        Place {
            starts: starts as u32,
            ends: ends as u32,
        }
    }

    /// Returns the places of `first` and of all `cuts`, which are sorted.
    pub(crate) fn places(self, rows: &Rows<'_>, first: i64, cuts: &[i64]) -> Vec<Place> {
        let mut near = Place::default();
        let times = std::iter::once(first).chain(cuts.iter().copied());
        let place = |time| {
            near = self.place(rows, time, near);
            near
        };
        times.map(place).collect()
    }

    /// Returns the rows of the lane in a span.
    pub(crate) fn stretch(self, rows: &Rows<'_>, span: TimeSpan) -> Stretch {
        let from = self.place(rows, span.start.0, Place::default());
        from.to(self.place(rows, span.end.0.max(span.start.0), from))
    }
}

/// Returns the first index of `near..count` for which `is_before` is false; fast if that is close to `near`.
fn first_not(count: usize, near: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (near.min(count), 1);
    let mut high = low;
    while high < count && is_before(high) {
        low = high + 1;
        high = (high + step).min(count);
        step *= 2;
    }
    order::first_not(low..high, is_before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_from_anywhere_before_end_at_the_same_place() {
        for count in 0..40 {
            for bound in 0..=count {
                for near in 0..=bound {
                    assert_eq!(first_not(count, near, |index| index < bound), bound);
                }
            }
        }
    }
}
