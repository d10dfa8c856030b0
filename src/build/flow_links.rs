//! Flow marks to arrows: each leg from a begin or step to the next step or end of the same flow.
//!
//! A mark is bound to the innermost slice around it on its thread (a slice that begins at the same time is
//! around it, one that ends then is not), or to none if it says so itself. Ids are looked for in the mark's own process first; a step or end
//! from elsewhere joins a flow if exactly one process has it open, else it is ambiguous and dropped.
//! Begins of an id that is open, and steps and ends of one that is not, are dropped and counted.

use std::hash::Hash;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::around::Around;
use super::group::{Groups, gather};
use super::merge::Merged;
use super::process_life::Link;
use crate::base::{Nanos, Severity, StringId, Timestamp};
use crate::event::{FlowBound, FlowOp};
use crate::trace::flows::FlowPoint;
use crate::trace::{EventId, Flow, Flows, ProcessId, SliceId, ThreadId, Trace};

/// A flow mark with common numbers.
#[derive(Clone, Copy, Debug)]
pub struct FlowPointMark {
    time: Timestamp,
    event: EventId,
    thread: ThreadId,
    op: FlowOp,
    bound: FlowBound,
    key: u64,
    name: StringId,
}

/// The marks of all parts, sorted by time. Threads must be known.
pub fn collect_marks(merged: &Merged) -> Vec<FlowPointMark> {
    let of_part = |part: &super::merge::MergedPart| {
        let columns = &merged.events.segments()[part.segment as usize].columns;
        let mark = |row: &crate::event::FlowMark| {
            let time = columns.time(row.event);
            FlowPointMark {
                time,
                event: part.event(row.event),
                thread: merged.events.threads.at(columns.thread(row.event), time),
                op: row.op,
                bound: row.bound,
                key: row.id,
                name: part.string(row.name),
            }
        };
        part.rows.flows.iter().map(mark).collect::<Vec<_>>()
    };
    let parts: Vec<Vec<FlowPointMark>> = merged.parts.par_iter().map(of_part).collect();
    let mut marks = parts.concat();
    if !marks.is_sorted_by_key(|mark| mark.time) {
        marks.par_sort_by_key(|mark| mark.time);
    }
    marks
}

/// An arrow whose ends are known, bound to the slices around them where there are some.
fn flow_of_link(link: &Link, trace: &Trace) -> Flow {
    let point = |event: EventId| {
        let (time, thread) = (trace.events.time(event), trace.events.thread(event));
        let just_before = time.saturating_add(Nanos(-1));
        FlowPoint {
            time,
            thread,
            // An exit ends its slice and is in it all the same.
            slice: trace
                .innermost_slice(thread, time)
                .or_else(|| trace.innermost_slice(thread, just_before)),
            event,
        }
    };
    Flow {
        key: link.key,
        name: link.name,
        from: point(link.from),
        to: point(link.to),
    }
}

/// For each mark, the innermost slice around it: thread by thread, in order of time.
fn slices_around(marks: &[FlowPointMark], trace: &Trace) -> Vec<Option<SliceId>> {
    let mut of_threads = Groups::with_capacity(marks.len());
    let bound = |mark: &FlowPointMark| mark.bound != FlowBound::Nowhere;
    for (mark, number) in marks.iter().zip(0_u32..).filter(|(mark, _)| bound(mark)) {
        of_threads.push(mark.thread.0, number);
    }
    let of_threads = of_threads.sorted();
    let found: Vec<Vec<(u32, SliceId)>> = gather([&of_threads])
        .into_par_iter()
        .map(|(thread, numbers)| {
            let mut around = Around::new(trace, ThreadId(thread));
            let numbers = numbers.into_iter().flatten();
            numbers
                .filter_map(|&number| {
                    let mark = &marks[number as usize];
                    let slice = match mark.bound {
                        // `Around` walks forward only, and other marks may lie at the end itself.
                        FlowBound::AtEnd => {
                            let before = mark.time.saturating_add(Nanos(-1));
                            trace.innermost_slice(mark.thread, before)?
                        }
                        _ => around.innermost(mark.time.0)?,
                    };
                    Some((number, slice))
                })
                .collect()
        })
        .collect();
    let mut slices = vec![None; marks.len()];
    for (number, slice) in found.into_iter().flatten() {
        slices[number as usize] = Some(slice);
    }
    slices
}

/// The legs of the flows with one id, while its marks are walked in order of time.
#[derive(Default)]
struct OneId {
    /// Where the flow of each process that has it open was last.
    open: FxHashMap<Option<ProcessId>, FlowPoint>,
    /// How many processes began it since nobody had it open, and the first of them.
    begin_count: u32,
    first: Option<ProcessId>,
    dropped: u64,
    /// (number of the mark that it ends at, leg).
    legs: Vec<(u32, Flow)>,
}

impl OneId {
    fn start(&mut self) {
        forget(&mut self.open);
        self.begin_count = 0;
    }

    /// The next mark; `point` is where it is, if there is a slice around it or it needs none.
    fn add(
        &mut self,
        number: u32,
        mark: &FlowPointMark,
        process: Option<ProcessId>,
        point: Option<FlowPoint>,
    ) {
        let is_own = self.open.contains_key(&process);
        let Some(point) = point else {
            self.dropped += 1;
            return;
        };
        if mark.op == FlowOp::Begin {
            if is_own {
                self.dropped += 1;
                return;
            }
            self.open.insert(process, point);
            if self.begin_count == 0 {
                self.first = process;
            }
            self.begin_count += 1;
            return;
        }
        // An id that several processes had open stays ambiguous for others until all have closed it.
        let owner = match self.begin_count {
            _ if is_own => process,
            1 => self.first,
            _ => {
                self.dropped += 1;
                return;
            }
        };
        if let Some(from) = self.open.get_mut(&owner) {
            let leg = Flow {
                key: mark.key,
                name: mark.name,
                from: *from,
                to: point,
            };
            self.legs.push((number, leg));
            *from = point;
        }
        if mark.op == FlowOp::End {
            self.open.remove(&owner);
            if self.open.is_empty() {
                self.begin_count = 0;
            }
        }
    }
}

/// Empties a map that is used again and again; a large one would take as long every time.
fn forget<K: Hash + Eq, V>(map: &mut FxHashMap<K, V>) {
    if map.capacity() > 64 {
        *map = FxHashMap::default();
    } else {
        map.clear();
    }
}

/// See the module's text. `links` are arrows that were found otherwise.
pub fn build_flows(marks: Vec<FlowPointMark>, links: &[Link], trace: &mut Trace) -> Flows {
    let slices = slices_around(&marks, trace);
    let mut by_key: Vec<(u64, u32)> = marks.iter().map(|mark| mark.key).zip(0..).collect();
    by_key.par_sort_unstable();
    let shared: &Trace = trace;
    let walk = |mut walked: OneId, marks_of_key: &[(u64, u32)]| {
        walked.start();
        for &(_, number) in marks_of_key {
            let mark = &marks[number as usize];
            let process = shared.thread(mark.thread).process;
            let slice = slices[number as usize];
            let is_bound = slice.is_some() || mark.bound == FlowBound::Nowhere;
            let point = is_bound.then_some(FlowPoint {
                time: mark.time,
                thread: mark.thread,
                slice,
                event: mark.event,
            });
            walked.add(number, mark, process, point);
        }
        walked
    };
    let walks: Vec<OneId> = by_key
        .par_chunk_by(|a, b| a.0 == b.0)
        .fold(OneId::default, walk)
        .collect();
    let dropped = walks.iter().map(|walk| walk.dropped).sum();
    let mut legs: Vec<(u32, Flow)> = walks.into_iter().flat_map(|walk| walk.legs).collect();
    legs.par_sort_unstable_by_key(|(number, leg)| (leg.from.time, *number));
    let mut rows: Vec<Flow> = legs.into_iter().map(|(_, leg)| leg).collect();
    if dropped > 0 {
        trace
            .diagnostics
            .note_many("flow_dropped", Severity::Info, None, dropped, || {
                "flow events without a slice around them, without a begin, or ambiguous".to_owned()
            });
    }
    let linked: Vec<Flow> = links
        .par_iter()
        .map(|link| flow_of_link(link, trace))
        .collect();
    rows.extend(linked);
    Flows::new(rows)
}
