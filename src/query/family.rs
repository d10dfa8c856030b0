//! The relatives of a slice: its children, its own time, and the next slices with its name.

use crate::base::order::first_not;
use crate::base::{Nanos, TimeSpan};
use crate::query::seen::Seen;
use crate::trace::{RunId, SliceId, State, StateId, Trace};

/// The number of slices that are searched for the next slice of the same name.
const FAR: usize = 1_000_000;

/// The slices right inside a slice, in order of time; those that cross others come last.
pub(crate) fn children(trace: &Trace, id: SliceId) -> impl Iterator<Item = SliceId> {
    let slice = trace.slices.get(id);
    let end = trace.slice_end(id);
    let row = trace
        .slices
        .rows
        .partition_point(|row| row.slices.start <= id.0);
    // The next row of the same track contains the slices that are one level deeper, but for those that cross others.
    let track = trace.slices.row_of(id).track;
    let most = match trace.slices.beside.has_no_far_children() {
        true => 1,
        false => usize::MAX,
    };
    let below = trace.slices.rows.get(row..).unwrap_or(&[]).iter();
    let below = below.take_while(move |row| row.track == track).take(most);
    below.flat_map(move |below| {
        let range = below.slices.clone();
        let rows = range.start as usize..range.end as usize;
        let starts = &trace.slices.starts;
        let first = starts.partition_point(rows, |start| start < slice.start.0) as u32;
        (range.start + first..range.end)
            .map(SliceId)
            .take_while(move |&child| trace.slices.get(child).start < end)
            .filter(move |&child| trace.slices.get(child).parent == Some(id))
    })
}

/// The part of a slice outside of its children, and the number of its children.
pub(crate) struct Own {
    /// The time outside of all slices directly inside it (an unfinished slice counts with the time that it certainly lasted);
    /// `None` if the end of the slice was not seen.
    pub(crate) time: Option<Nanos>,
    /// The number of slices directly inside it.
    pub(crate) children: usize,
}

/// Returns the own time and the number of children of a slice.
#[must_use]
pub(crate) fn own_of(trace: &Trace, seen: &Seen, id: SliceId) -> Own {
    let (mut inside, mut count) = (0_i64, 0);
    for child in children(trace, id) {
        let certain = seen.measure(trace, child).certain();
        let taken = (trace.slices).taken(child.0 as usize, certain, TimeSpan::ALL);
        inside = inside.saturating_add(taken);
        count += 1;
    }
    let own = |length: i64| Nanos(length.saturating_sub(inside).max(0));
    Own {
        time: seen.measure(trace, id).known().map(own),
        children: count,
    }
}

/// Returns the previous and the next slice of the same name on the same track, by their starts, if they are not too far
/// away. Among slices that start together, the outer one comes first.
#[must_use]
pub fn same_name(trace: &Trace, id: SliceId) -> [Option<SliceId>; 2] {
    let slices = &trace.slices;
    let name = slices.label(id).name;
    let track = slices.row_of(id).track;
    let place = (slices.starts.at(id.0 as usize), id.0);
    let place_of = |id: u32| (slices.starts.at(id as usize), id);
    let is_same = |other: &u32| slices.label(SliceId(*other)).name == name;
    let rows = slices.rows.iter().filter(|row| row.track == track);
    let (mut before, mut after) = (None, None);
    for row in rows {
        let range = row.slices.clone();
        let places = range.start as usize..range.end as usize;
        let low = first_not(places, |id| place_of(id as u32) <= place) as u32;
        let last = (range.start..low).rev();
        let last = last.filter(|other| *other != id.0).take(FAR).find(is_same);
        before = before.max(last.map(place_of));
        let next = (low..range.end).take(FAR).find(is_same).map(place_of);
        after = match (after, next) {
            (Some(after), Some(next)) => Some(std::cmp::min(after, next)),
            (after, next) => after.or(next),
        };
    }
    [before, after].map(|found| found.map(|(_, id)| SliceId(id)))
}

/// Returns the state of a run's thread that ended when the run began.
#[must_use]
pub fn wait_before(trace: &Trace, id: RunId) -> Option<State> {
    let run = trace.runs.get(id);
    let states = &trace.states;
    let before = match states.running_at(run.thread, run.start, run.event) {
        Some(running) => running.0,
        None => {
            let range = states.of(run.thread);
            let starts = states
                .starts
                .get(range.start as usize..range.end as usize)?;
            range.start + starts.partition_point(|start| *start < run.start.0) as u32
        }
    };
    let at = before.checked_sub(1)?;
    let is_of_thread = states.of(run.thread).contains(&at);
    is_of_thread.then(|| states.get(StateId(at)))
}
