//! How the slices of a track are written: as begins and ends, whole, or asynchronous.

use std::ops::Range;

use crate::event::pairs::DURATIONS;
use crate::trace::{SliceId, Trace, Track, TrackKind};

/// How the slices of a track are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Begins and ends as they came: read back, they pair as they did here.
    AsCame,
    /// Finished ones as complete events: ends that name no begin could not be told apart.
    Whole,
    /// Asynchronous begins and ends.
    Async,
}

/// Whether a slice is written as a complete event.
pub fn is_whole(trace: &Trace, index: usize, form: Form) -> bool {
    let slices = &trace.slices;
    slices.end(index) != i64::MAX
        && (form == Form::Whole || slices.finish(index) == u32::MAX || is_pulled_in(trace, index))
}

/// Whether a slice of no length lies in one of the same time that began after it, as the longest is around others:
/// its begin and end would be read before that one's begin.
fn is_pulled_in(trace: &Trace, index: usize) -> bool {
    let slices = &trace.slices;
    slices.starts[index] == slices.end(index)
        && begin_around(trace, index).is_some_and(|(begin, _)| begin > slices.begins[index])
}

/// The begin of the innermost slice around this one that starts with it and has an end of its own (or none), and how
/// far out that is.
pub fn begin_around(trace: &Trace, index: usize) -> Option<(u32, u64)> {
    let slices = &trace.slices;
    let start = slices.starts[index];
    let mut at = *slices.parents.get(index)? as usize;
    let mut distance = 1;
    while *slices.starts.get(at)? == start {
        if slices.finish(at) != u32::MAX || slices.end(at) == i64::MAX {
            return Some((slices.begins[at], distance));
        }
        at = slices.parents[at] as usize;
        distance += 1;
    }
    None
}

/// How a track's slices are written: see [`Form`].
pub fn form_of(trace: &Trace, track: &Track) -> Form {
    if matches!(track.kind, TrackKind::Async(_)) {
        return Form::Async;
    }
    let slices = &trace.slices;
    let rows = slices
        .rows
        .get(track.rows.start as usize..track.rows.end as usize)
        .unwrap_or(&[]);
    let is_duration = |index: u32| slices.label(SliceId(index)).family == DURATIONS;
    // Durations were paired here as they are when read back.
    if rows.iter().all(|row| row.slices.clone().all(is_duration)) {
        return Form::AsCame;
    }
    // Of other families the ends found their begins by name, which FXT's ends do not: begins and ends will do
    // only where nothing overlaps, and nothing whole is among them.
    let mut above: &Range<u32> = &(0..0);
    for row in rows {
        if !row
            .slices
            .clone()
            .all(|index| nests(trace, index, &row.slices, above))
        {
            return Form::Whole;
        }
        above = &row.slices;
    }
    Form::AsCame
}

/// Whether a slice lies in its parent and after the one before it also in the order of their events. One that was
/// closed with the one around it is written whole, which readers sort before begins of the same time: it may be
/// only where there is none.
fn nests(trace: &Trace, index: u32, row: &Range<u32>, above: &Range<u32>) -> bool {
    let slices = &trace.slices;
    let start = |index: u32| slices.starts[index as usize];
    let begin = |index: u32| (start(index), slices.begins[index as usize]);
    let end = |index: u32| (slices.end(index as usize), slices.finish(index as usize));
    let is_whole = |index: u32| is_whole(trace, index as usize, Form::AsCame);
    let before = (index > row.start).then(|| index - 1);
    let parent = Some(slices.parents[index as usize]).filter(|&parent| parent != u32::MAX);
    if parent.is_none() != above.is_empty() {
        return false;
    }
    if let Some(parent) = parent {
        let ends_inside = if is_whole(index) || is_whole(parent) {
            end(index).0 <= end(parent).0
        } else {
            end(index) <= end(parent)
        };
        let begins_inside = begin(parent) < begin(index);
        if !(above.contains(&parent) && begins_inside && ends_inside) {
            return false;
        }
    }
    if is_whole(index) {
        let is_first = [before, parent]
            .into_iter()
            .flatten()
            .all(|other| start(other) < start(index));
        return is_first && before.is_none_or(|before| end(before).0 <= start(index));
    }
    let follows = before.is_none_or(|before| match is_whole(before) {
        true => end(before).0 <= start(index),
        false => end(before) <= begin(index),
    });
    follows && begin(index) <= end(index)
}
