//! The threads that events name on a CPU without recorded switches: stretches of neighbouring events of one thread.
//!
//! ```text
//! events of CPU 0   a a   a b b    a
//! stretches        [=======][======][]
//! ```
//!
//! A stretch lasts until the next event of another thread, as in KernelShark, or until events of its CPU were lost. It does
//! not claim that its thread ran all the time: after any of its events another thread may have run.

use super::lod::{Lod, Row};
use super::lod_rows::Label;
use crate::base::TimeSpan;
use crate::base::column::Column;
use crate::trace::{CpuId, ThreadId, Trace};
use bytemuck::Pod;
use serde::{Deserialize, Serialize};

/// The stretches of all CPUs without runs, by CPU.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SeenThreads {
    cpus: Vec<SeenOnCpu>,
}

/// The stretches of a CPU in time order, as a row; the label is the thread.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SeenOnCpu {
    starts: Column<i64>,
    ends: Column<i64>,
    threads: Column<u32>,
    lod: Option<Lod>,
}

impl SeenThreads {
    /// Collects the stretches of a trace.
    #[must_use]
    pub(crate) fn new(trace: &Trace) -> SeenThreads {
        let mut cpus: Vec<SeenOnCpu> = vec![SeenOnCpu::default(); trace.cpus.len()];
        let is_wanted: Vec<bool> = (0..trace.cpus.len() as u32)
            .map(|cpu| trace.runs.on(CpuId(cpu)).is_empty())
            .collect();
        if !is_wanted.contains(&true) {
            return SeenThreads::default();
        }
        for segment in trace.events.segments() {
            if let Some(cpu) = segment.cpu
                && is_wanted.get(cpu as usize) != Some(&true)
            {
                continue;
            }
            let whole = 0..segment.columns.len() as u32;
            let mut add = |first: u32, last: u32, thread: Option<ThreadId>| {
                let cpu = segment.cpu(first).map(|cpu| cpu as usize);
                let Some(cpu) = cpu.filter(|cpu| is_wanted.get(*cpu) == Some(&true)) else {
                    return;
                };
                if let Some(row) = cpus.get_mut(cpu) {
                    row.add(segment.time(first).0, segment.time(last).0, thread);
                }
            };
            trace
                .events
                .for_each_stretch(segment, whole, |events, thread| {
                    if segment.cpu.is_some() {
                        add(events.start, events.end - 1, thread);
                    } else {
                        events.for_each(|event| add(event, event, thread));
                    }
                });
        }
        let gaps = trace.gaps_by_cpu();
        for (row, gaps) in cpus.iter_mut().zip(&gaps) {
            row.finish(gaps);
        }
        SeenThreads { cpus }
    }

    /// Returns the stretches of a CPU; `None` if its runs were recorded or no event names a thread on it.
    #[must_use]
    pub(crate) fn on(&self, cpu: CpuId) -> Option<&SeenOnCpu> {
        self.cpus
            .get(cpu.0 as usize)
            .filter(|row| !row.starts.is_empty())
    }

    /// Allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let rows = self.cpus.iter().map(|row| {
            let columns =
                row.starts.memory_bytes() + row.ends.memory_bytes() + row.threads.memory_bytes();
            columns + row.lod.as_ref().map_or(0, Lod::memory_bytes)
        });
        rows.sum::<u64>() + (self.cpus.capacity() * size_of::<SeenOnCpu>()) as u64
    }
}

impl SeenOnCpu {
    pub(crate) fn lod(&self) -> Option<&Lod> {
        self.lod.as_ref()
    }

    /// Adds a stretch; one of the same thread as the last is joined to it.
    fn add(&mut self, start: i64, end: i64, thread: Option<ThreadId>) {
        let thread = thread.unwrap_or(ThreadId::IDLE).0;
        if let (Some(last), Some(last_end)) = (self.threads.last(), self.ends.last_mut())
            && *last == thread
            && start >= *last_end
        {
            *last_end = end;
            return;
        }
        self.push(start, end, thread);
    }

    /// Sorts the stretches by time, cuts them at the gaps, extends each to the next one, drops those of no thread, and
    /// builds the pyramid.
    fn finish(&mut self, gaps: &[TimeSpan]) {
        let mut order: Vec<u32> = (0..self.starts.len() as u32).collect();
        order.sort_by_key(|&at| self.starts[at as usize]);
        let sorted =
            |column: &[i64]| -> Vec<i64> { order.iter().map(|&at| column[at as usize]).collect() };
        let (starts, mut ends) = (sorted(&self.starts), sorted(&self.ends));
        // Parts of a file may overlap; stretches may not.
        for (end, next) in ends.iter_mut().zip(starts.iter().skip(1)) {
            *end = (*end).min(*next);
        }
        self.threads = order.iter().map(|&at| self.threads[at as usize]).collect();
        (self.starts, self.ends) = (starts.into(), ends.into());
        if !gaps.is_empty() {
            self.cut(gaps);
        }
        for (end, next) in self.ends.iter_mut().zip(self.starts.iter().skip(1)) {
            let gap = gaps.get(gaps.partition_point(|gap| gap.start.0 < *end));
            *end = gap.map_or(*next, |gap| gap.start.0.min(*next));
        }
        let is_thread = |thread: &u32| *thread != ThreadId::IDLE.0;
        let keeps: Vec<bool> = self.threads.iter().map(is_thread).collect();
        keep(&mut self.starts, &keeps);
        keep(&mut self.ends, &keeps);
        keep(&mut self.threads, &keeps);
        self.lod = Lod::of_large(self.starts.len(), || &*self);
    }
}

impl SeenOnCpu {
    /// Cuts the stretches at gaps, which are sorted by time.
    fn cut(&mut self, gaps: &[TimeSpan]) {
        let whole = std::mem::take(self);
        let stretches = whole.starts.iter().zip(&whole.ends).zip(&whole.threads);
        for ((&start, &end), &thread) in stretches {
            let mut from = start;
            let first = gaps.partition_point(|gap| gap.end.0 <= start);
            let inside = gaps.iter().skip(first).take_while(|gap| gap.start.0 < end);
            for gap in inside {
                if gap.start.0 >= from {
                    self.push(from, gap.start.0, thread);
                }
                from = gap.end.0.clamp(from, end);
            }
            self.push(from, end, thread);
        }
    }

    fn push(&mut self, start: i64, end: i64, thread: u32) {
        self.starts.push(start);
        self.ends.push(end);
        self.threads.push(thread);
    }
}

/// Leaves the values for which `keeps` has true.
fn keep<T: Pod>(values: &mut Column<T>, keeps: &[bool]) {
    let mut keeps = keeps.iter();
    values
        .to_mut()
        .retain(|_| keeps.next().copied().unwrap_or(true));
}

impl Row for &SeenOnCpu {
    fn len(&self) -> u32 {
        self.starts.len() as u32
    }
    fn start(&self, i: u32) -> i64 {
        self.starts[i as usize]
    }
    fn end(&self, i: u32) -> i64 {
        self.ends[i as usize]
    }
    fn label(&self, i: u32) -> u32 {
        self.threads[i as usize].number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_events_of_a_thread_are_one_stretch_and_idle_ends_it() {
        let mut row = SeenOnCpu::default();
        let events = [(5, 1), (6, 1), (9, 2), (11, 0), (12, 2), (20, 2), (22, 1)];
        for (time, thread) in events {
            row.add(time, time, Some(ThreadId(thread)));
        }
        row.finish(&[]);
        assert_eq!(row.starts, [5, 9, 12, 22]);
        assert_eq!(row.ends, [9, 11, 22, 22]);
        assert_eq!(row.threads, [1, 2, 2, 1]);
    }

    #[test]
    fn a_stretch_ends_where_events_were_lost() {
        use crate::base::Timestamp;
        let mut row = SeenOnCpu::default();
        row.add(10, 40, Some(ThreadId(1)));
        row.add(70, 70, Some(ThreadId(2)));
        let gap = |from, until| TimeSpan::new(Timestamp(from), Timestamp(until));
        row.finish(&[gap(20, 30), gap(50, 60)]);
        assert_eq!(row.starts, [10, 30, 70]);
        assert_eq!(row.ends, [20, 50, 70]);
        assert_eq!(row.threads, [1, 1, 2]);
    }

    #[test]
    fn parts_that_overlap_do_not_make_rows_that_do() {
        let mut row = SeenOnCpu::default();
        row.add(10, 30, Some(ThreadId(1)));
        row.add(5, 12, Some(ThreadId(2)));
        row.finish(&[]);
        assert_eq!((&*row.starts, &*row.ends), (&[5, 10][..], &[10, 30][..]));
    }
}
