//! Which tracks are active in a span: they draw something there, and a thread does more than sleep.

use super::outline::Outline;
use super::rows::{LaneKind, RowKey};
use crate::base::{Maybe, TimeSpan};
use crate::trace::{ThreadState, Trace};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Returns the rows of `outline` with an active lane in `span`; the groups that contain them are not included.
#[must_use]
pub(crate) fn active_rows(outline: &Outline, trace: &Trace, span: TimeSpan) -> FxHashSet<RowKey> {
    let mut active = FxHashSet::default();
    outline.visit(&mut |_, node| {
        if node
            .lanes
            .iter()
            .any(|lane| is_active(trace, lane.kind, span))
        {
            active.insert(node.key);
        }
    });
    active
}

fn is_active(trace: &Trace, lane: LaneKind, span: TimeSpan) -> bool {
    match lane {
        LaneKind::Runs(cpu) => {
            let (starts, ends) = (&trace.runs.starts, &trace.runs.ends);
            !overlapping(starts, ends, trace.runs.on(cpu), span).is_empty()
        }
        // The lanes that they summarise decide.
        LaneKind::Profile { .. } | LaneKind::Summary(..) => false,
        // A lane of jobs always counts as active.
        LaneKind::Jobs(_) => true,
        LaneKind::States(thread) => {
            let (starts, ends) = (&trace.states.starts, &trace.states.ends);
            let states = overlapping(starts, ends, trace.states.of(thread), span);
            let is_busy = |at: u32| {
                let state = trace.states.get(crate::trace::StateId(at)).state;
                matches!(
                    state,
                    ThreadState::Running | ThreadState::Runnable | ThreadState::Preempted
                )
            };
            // A single state over the whole span counts only if it is a busy one; several states mean that the thread
            // did something.
            states.len() > 1 || (states.len() == 1 && is_busy(states.start))
        }
        LaneKind::Slices(row) => trace
            .slices
            .rows
            .get(row as usize)
            .is_some_and(|row| !trace.slices.overlapping(row, span).is_empty()),
        LaneKind::Instants(track) => trace.tracks.get(track.0 as usize).is_some_and(|track| {
            let rows = track.instants.start as usize..track.instants.end as usize;
            let events = &trace.instants.events;
            let time = |event: u32| trace.events.time(crate::trace::EventId(event));
            let at = events.partition_point(rows.clone(), |event| time(event) < span.start);
            let next = rows.clone().nth(at);
            next.is_some_and(|row| time(events.at(row)) < span.end)
        }),
        LaneKind::Counter(id) => trace
            .counters
            .tracks
            .get(id.0 as usize)
            .is_some_and(|track| {
                let times =
                    &trace.counters.times[track.samples.start as usize..track.samples.end as usize];
                let at = times.partition_point(|time| *time < span.start.0);
                times.get(at).is_some_and(|time| *time < span.end.0)
            }),
    }
}

/// Returns the rows (of rows that do not overlap) that share time with `span`.
fn overlapping(
    starts: &[i64],
    ends: &[Maybe<i64>],
    rows: Range<u32>,
    span: TimeSpan,
) -> Range<u32> {
    let range = rows.start as usize..rows.end as usize;
    let (Some(starts), Some(ends)) = (starts.get(range.clone()), ends.get(range)) else {
        return rows.start..rows.start;
    };
    let first = ends.partition_point(|end| *end <= span.start.0);
    let after = starts.partition_point(|start| *start < span.end.0);
    rows.start + first as u32..rows.start + after as u32
}
