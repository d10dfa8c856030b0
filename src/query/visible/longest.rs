//! The item that a block of several points at: the longest of those with the label that names the block.

use super::first_where;
use crate::base::TimeSpan;
use crate::index::lod::Row;
use crate::index::lod_rows::{run_row, slice_row, state_row};
use crate::trace::{CpuId, RunId, SliceId, StateId, ThreadId, Trace};
use std::ops::Range;

/// At most this many items are compared, the first of each row in the span: the pointer asks in each frame.
const MOST: u32 = 20_000;

/// Returns the slice of neighbouring rows with a label that takes most time in `span`.
#[must_use]
pub(crate) fn longest_slice(
    trace: &Trace,
    rows: Range<u32>,
    label: u32,
    span: TimeSpan,
) -> Option<SliceId> {
    let count = rows.len();
    let rows = trace
        .slices
        .rows
        .iter()
        .skip(rows.start as usize)
        .take(count);
    let of_row = |row| {
        let most = (MOST as usize / count.max(1)).max(1) as u32;
        let (time, at) = longest(&slice_row(trace, row), label, span, most)?;
        Some((time, row.slices.start + at))
    };
    let (_, id) = rows.filter_map(of_row).max_by_key(|(time, _)| *time)?;
    Some(SliceId(id))
}

/// Returns the run of a thread on a CPU that takes most time in `span`.
#[must_use]
pub(crate) fn longest_run(
    trace: &Trace,
    cpu: CpuId,
    thread: ThreadId,
    span: TimeSpan,
) -> Option<RunId> {
    let (_, at) = longest(&run_row(trace, cpu), thread.0, span, MOST)?;
    Some(RunId(trace.runs.on(cpu).start + at))
}

/// Returns the longest state of a kind (its number) of a thread in `span`.
#[must_use]
pub(crate) fn longest_state(
    trace: &Trace,
    thread: ThreadId,
    state: u32,
    span: TimeSpan,
) -> Option<StateId> {
    let (_, at) = longest(&state_row(trace, thread), state, span, MOST)?;
    Some(StateId(trace.states.of(thread).start + at))
}

/// Returns the time in `span` and the number of the first item that takes most of it.
fn longest<R: Row>(row: &R, label: u32, span: TimeSpan, most: u32) -> Option<(i64, u32)> {
    let low = first_where(row.len() as usize, |at| {
        row.end(at as u32) > span.start.0 || row.start(at as u32) >= span.start.0
    }) as u32;
    (low..row.len().min(low.saturating_add(most)))
        .take_while(|&at| row.start(at) < span.end.0)
        .filter(|&at| row.label(at) == label)
        .map(|at| {
            let (start, end) = (row.start(at).max(span.start.0), row.end(at).min(span.end.0));
            (end.saturating_sub(start), at)
        })
        .max_by_key(|&(time, at)| (time, std::cmp::Reverse(at)))
}
