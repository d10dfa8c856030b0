//! Raw events of an area: how many there are, by name, thread, process or CPU.
//!
//! An event is in an area if a lane of its thread or of its CPU is; lanes of asynchronous slices and counters bring no
//! events. An event that names no CPU counts on the CPU where its thread ran at that time.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::label_groups::namesakes;
use super::{Area, GroupBy, Key};
use crate::base::{Cancelled, Job, StringId, TimeSpan};
use crate::query::latency::Among;
use crate::trace::Segment;
use crate::trace::{CpuId, EventId, ProcessId, ThreadId, Trace};

/// How many events a core counts at a time.
const CHUNK: u32 = 1 << 18;

/// A group of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventGroup {
    /// The common properties of the events; its fields are empty for events whose thread, process or CPU is unknown.
    pub key: Key,
    /// The number of events.
    pub count: u64,
}

impl EventGroup {
    /// Returns the group's name, for people.
    #[must_use]
    pub fn label(&self, trace: &Trace, by: GroupBy) -> String {
        match by {
            GroupBy::Thread | GroupBy::ThreadName if self.key.thread.is_none() => {
                "no known thread".to_owned()
            }
            GroupBy::Cpu if self.key.cpu.is_none() => "no known CPU".to_owned(),
            _ => self.key.label(trace),
        }
    }
}

/// Returns the number of events per second of the part of a span that is inside the trace; `None` if that part is
/// empty.
#[must_use]
pub fn per_second(trace: &Trace, span: TimeSpan, count: u64) -> Option<f64> {
    let length = span.intersection(trace.span).duration().0;
    (length > 0).then(|| count as f64 * 1e9 / length as f64)
}

/// The events of an area, the most frequent first. The job's progress counts events.
///
/// # Errors
/// Errors if the job is cancelled.
pub fn event_counts(
    trace: &Trace,
    area: &Area,
    by: GroupBy,
    job: &Job,
) -> Result<Vec<EventGroup>, Cancelled> {
    let among = Among::area(trace, area);
    let chunks = chunks(trace, area.span);
    job.add_total(chunks.iter().map(|it| it.events.len() as u64).sum());
    let counter = Counter {
        trace,
        among: &among,
        by,
        namesakes: match by {
            GroupBy::ThreadName => namesakes(trace),
            _ => Vec::new(),
        },
    };
    let count = counter.group_count();
    let share = chunks.len().div_ceil(rayon::current_num_threads().max(1));
    let lists: Vec<Vec<u64>> = chunks
        .par_chunks(share.max(1))
        .map(|chunks| {
            let mut counts = vec![0; count];
            for Portion { segment, events } in chunks {
                if job.is_cancelled() {
                    break;
                }
                counter.add(segment, events.clone(), &mut counts);
                job.advance(events.len() as u64);
            }
            counts
        })
        .collect();
    job.check()?;
    let mut counts = vec![0; count];
    for list in lists {
        for (sum, more) in counts.iter_mut().zip(list) {
            *sum += more;
        }
    }
    Ok(counter.groups(&counts))
}

/// Some events of a segment.
struct Portion<'a> {
    segment: &'a Segment,
    /// The indices of the events in the segment.
    events: Range<u32>,
}

/// The events of `span` in portions.
fn chunks(trace: &Trace, span: TimeSpan) -> Vec<Portion<'_>> {
    let mut chunks = Vec::new();
    for segment in trace.events.segments() {
        let range = segment.lower_bound(span.start)..segment.lower_bound(span.end);
        for first in range.clone().step_by(CHUNK as usize) {
            let end = range.end.min(first.saturating_add(CHUNK));
            chunks.push(Portion {
                segment,
                events: first..end,
            });
        }
    }
    chunks
}

/// Calls `each`, in order, with the indices of neighbouring events of one thread that count, and with that thread.
pub(crate) fn for_each_chosen(
    trace: &Trace,
    among: &Among,
    segment: &Segment,
    range: Range<u32>,
    mut each: impl FnMut(Range<u32>, Option<ThreadId>),
) {
    trace
        .events
        .for_each_stretch(segment, range, |stretch, thread| {
            let cpu = segment.cpu.map(CpuId);
            if !among.may_have(thread) {
                return;
            }
            // If the CPU does not matter or is the same, one event decides for all events of the thread.
            if cpu.is_some() || among.has_anywhere(thread) {
                if among.has(thread, cpu) {
                    each(stretch, thread);
                }
                return;
            }
            for index in stretch {
                if among.has(thread, trace.cpu_of(EventId(segment.first + index))) {
                    each(index..index + 1, thread);
                }
            }
        });
}

struct Counter<'a> {
    trace: &'a Trace,
    among: &'a Among,
    by: GroupBy,
    /// See [`namesakes`].
    namesakes: Vec<u32>,
}

impl Counter<'_> {
    /// Returns the number of groups: one for each thread, process, CPU or kind, and a last one for the unknown.
    fn group_count(&self) -> usize {
        1 + match self.by {
            GroupBy::Name => self.trace.kinds.len(),
            GroupBy::Thread | GroupBy::ThreadName => self.trace.threads.len(),
            GroupBy::Process => self.trace.processes.len(),
            GroupBy::Cpu => self.trace.cpus.len(),
        }
    }

    fn add(&self, segment: &Segment, range: Range<u32>, counts: &mut [u64]) {
        let last = counts.len() - 1;
        let mut count = |group: usize, more: u64| counts[group.min(last)] += more;
        if self.by == GroupBy::Name && *self.among == Among::All {
            for index in range {
                count(segment.kind(index).index(), 1);
            }
            return;
        }
        if let (GroupBy::Cpu, Among::All, Some(cpu)) = (self.by, self.among, segment.cpu) {
            return count(cpu as usize, range.len() as u64);
        }
        let trace = self.trace;
        for_each_chosen(trace, self.among, segment, range, |events, thread| {
            let number = events.len() as u64;
            match self.by {
                GroupBy::Name => {
                    for index in events {
                        count(segment.kind(index).index(), 1);
                    }
                }
                GroupBy::Thread => count(thread.map_or(last, |id| id.0 as usize), number),
                GroupBy::ThreadName => {
                    let first = thread.and_then(|id| self.namesakes.get(id.0 as usize));
                    count(first.map_or(last, |first| *first as usize), number);
                }
                GroupBy::Process => {
                    let thread = thread.and_then(|id| trace.threads.get(id.0 as usize));
                    let process = thread.and_then(|it| it.process);
                    count(process.map_or(last, |id| id.0 as usize), number);
                }
                GroupBy::Cpu => match segment.cpu {
                    Some(cpu) => count(cpu as usize, number),
                    None => {
                        for index in events {
                            let cpu = trace.cpu_of(EventId(segment.first + index));
                            count(cpu.map_or(last, |cpu| cpu.0 as usize), 1);
                        }
                    }
                },
            }
        });
    }

    /// Returns the groups that contain events.
    fn groups(&self, counts: &[u64]) -> Vec<EventGroup> {
        let known = counts.len() - 1;
        let mut groups: Vec<EventGroup> = Vec::new();
        // Kinds that differ only in their layout share a name.
        let mut by_name: FxHashMap<(StringId, StringId), usize> = FxHashMap::default();
        for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let mut key = Key::default();
            let id = at as u32;
            match self.by {
                _ if at == known => {}
                GroupBy::Thread | GroupBy::ThreadName => {
                    key.thread = Some(ThreadId(id));
                    key.is_any_of_name = self.by == GroupBy::ThreadName;
                }
                GroupBy::Process => key.process = Some(ProcessId(id)),
                GroupBy::Cpu => key.cpu = Some(CpuId(id)),
                GroupBy::Name => {
                    let kind = self.trace.kinds.get(at);
                    key.name = kind.map(|kind| (kind.name, kind.category));
                }
            }
            if let Some(name) = key.name {
                let place = *by_name.entry(name).or_insert(groups.len());
                if let Some(group) = groups.get_mut(place) {
                    group.count += count;
                    continue;
                }
            }
            groups.push(EventGroup { key, count });
        }
        groups.sort_by(|a, b| {
            let words = |group: &EventGroup| group.key.label(self.trace);
            (b.count.cmp(&a.count)).then_with(|| words(a).cmp(&words(b)))
        });
        groups
    }
}
