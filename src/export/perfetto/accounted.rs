//! Accounted block requests: whether trace_processor makes the same slices of `block_io_start` and `block_io_done` that
//! the trace has.
//!
//! trace_processor ends the request of a device that started last, whichever is done, and never ends the requests that
//! were merged into others. So it makes the same slices only if no request starts or ends during another one.

use rustc_hash::FxHashMap;

use super::event_types::{IO_DONE, IO_START, event_type};
use super::sources::{KernelSources, Machine};
use crate::base::strings::exact_text;
use crate::event::KindId;
use crate::trace::{EventId, Trace};

/// An event of an accounted request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    Done,
}

/// Returns whether the accounted requests of a machine never overlap, so that trace_processor makes the slices of the
/// trace.
pub(super) fn are_separate(trace: &Trace, sources: &KernelSources<'_>, machine: Machine) -> bool {
    let ends: Vec<Option<End>> = trace
        .kinds
        .iter()
        .map(|kind| {
            let (system, name) = trace.recorded_as(&kind);
            let own = event_type(&exact_text(system), &exact_text(name))?;
            match own.event {
                IO_START => Some(End::Start),
                IO_DONE => Some(End::Done),
                _ => None,
            }
        })
        .collect();
    if ends.iter().all(Option::is_none) {
        return true;
    }
    let end_of = |kind: KindId| ends.get(kind.index()).copied().flatten();
    let rows = 0..trace.slices.len();
    let slices = rows.map(|row| (trace.slices.begin(row), trace.slices.finish(row)));
    let finishes: FxHashMap<EventId, Option<EventId>> = slices
        .filter(|&(begin, _)| end_of(trace.events.kind(begin)) == Some(End::Start))
        .collect();
    let mut events = Vec::new();
    for segment in trace.events.segments() {
        if sources.of_segment(segment) != Some(machine) {
            continue;
        }
        for index in 0..segment.columns.len() as u32 {
            if let Some(end) = end_of(segment.kind(index)) {
                let id = EventId(segment.first + index);
                events.push((segment.order(index), id, end));
            }
        }
    }
    events.sort_unstable_by_key(|&(time, id, _)| (time, id));
    let mut open: Option<EventId> = None;
    let are_alone = events.into_iter().all(|(_, id, end)| match (end, open) {
        (End::Start, None) => {
            open = Some(id);
            true
        }
        (End::Start, Some(_)) => false,
        (End::Done, None) => true,
        (End::Done, Some(begin)) => {
            open = None;
            finishes.get(&begin) == Some(&Some(id))
        }
    });
    are_alone && open.is_none()
}
