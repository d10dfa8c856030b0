//! How the slices of a track are written: as begins and ends, whole, or asynchronous.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::item::SliceFacts;
use crate::event::pairs::{ASYNC, DURATIONS};
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

/// The slices that start with a begin around them, and those around others that start with them: hardly any trace has
/// some.
#[derive(Debug, Default)]
pub struct BeginsAround {
    begins: FxHashMap<u32, (u32, u32)>,
    around: FxHashSet<u32>,
    /// Whether all slices are durations, as those of FXT files.
    are_durations: bool,
}

impl BeginsAround {
    /// Finds them, outer slices before those in them: what is around an outer one is around the others.
    pub fn new(trace: &Trace) -> BeginsAround {
        let slices = &trace.slices;
        let of_track = |track: &Track| {
            let mut found: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
            let mut starting = Vec::new();
            let rows = track.rows.start as usize..track.rows.end as usize;
            let rows = slices.rows.get(rows).unwrap_or_default();
            for index in rows.iter().flat_map(|row| row.slices.clone()) {
                let parent = slices.parents.at(index as usize);
                let start = slices.starts.get(parent as usize);
                if start != Some(slices.starts.at(index as usize)) {
                    continue;
                }
                starting.push(parent);
                let around = parent as usize;
                let is_begin =
                    slices.finish(around) != u32::MAX || slices.open_end(around) == i64::MAX;
                let begin = match is_begin {
                    true => Some((slices.begins.at(around), 1)),
                    false => found
                        .get(&parent)
                        .map(|&(begin, distance)| (begin, distance.saturating_add(1))),
                };
                found.extend(begin.map(|begin| (index, begin)));
            }
            (found, starting)
        };
        let of_tracks = trace.tracks.par_iter().map(of_track);
        let of_tracks: Vec<_> = of_tracks.filter(|found| !found.1.is_empty()).collect();
        let mut begins = BeginsAround {
            are_durations: slices.labels.iter().all(|label| is_stated(label.family)),
            ..BeginsAround::default()
        };
        for (found, starting) in of_tracks {
            begins.begins.extend(found);
            begins.around.extend(starting);
        }
        begins
    }

    /// Whether another slice starts with this one, in it.
    #[inline]
    pub fn starts_with_another(&self, index: u32) -> bool {
        self.around.contains(&index)
    }

    /// The begin of the innermost slice around this one that starts with it and has an end of its own (or none), and
    /// how far out that is.
    #[inline]
    pub fn of(&self, trace: &Trace, index: usize) -> Option<(u32, u64)> {
        let slices = &trace.slices;
        let parent = slices.parents.get(index)? as usize;
        // Few start together: the others need not be looked up.
        if slices.starts.get(parent)? != slices.starts.at(index) {
            return None;
        }
        let &(begin, distance) = self.begins.get(&u32::try_from(index).ok()?)?;
        Some((begin, distance.into()))
    }

    /// Whether a slice is written as a complete event.
    #[inline]
    pub fn is_whole(&self, trace: &Trace, index: usize, form: Form) -> bool {
        self.is_whole_as(trace, (index, SliceFacts::of(trace, index)), form)
    }

    /// The same of one whose start and facts are known.
    #[inline]
    pub fn is_whole_as(
        &self,
        trace: &Trace,
        (index, (start, facts)): (usize, (i64, SliceFacts)),
        form: Form,
    ) -> bool {
        let is_pulled_in = || start == facts.end && self.is_pulled_in(trace, (index, facts.begin));
        // Only one record can say what was measured.
        let is_measured = || trace.slices.measured(index).is_some();
        let is_one = || facts.finish == u32::MAX || is_measured() || is_pulled_in();
        facts.end != i64::MAX && (form == Form::Whole || is_one())
    }

    /// Whether a slice of no length lies in one of the same time that began after it, as the longest is around others:
    /// its begin and end would be read before that one's begin.
    fn is_pulled_in(&self, trace: &Trace, (index, own_begin): (usize, u32)) -> bool {
        let around = self.of(trace, index);
        around.is_some_and(|(begin, _)| begin > own_begin)
    }
}

/// How a track's slices are written: see [`Form`].
pub fn form_of(trace: &Trace, begins: &BeginsAround, track: &Track) -> Form {
    if matches!(track.kind, TrackKind::Async(_)) {
        return Form::Async;
    }
    let slices = &trace.slices;
    if begins.are_durations {
        return Form::AsCame;
    }
    let rows = slices
        .rows
        .get(track.rows.start as usize..track.rows.end as usize)
        .unwrap_or(&[]);
    let is_duration = |index: u32| is_stated(slices.label(SliceId(index)).family);
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
            .all(|index| nests((trace, begins), index, &row.slices, above))
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
fn nests(
    (trace, begins): (&Trace, &BeginsAround),
    index: u32,
    row: &Range<u32>,
    above: &Range<u32>,
) -> bool {
    let slices = &trace.slices;
    let start = |index: u32| slices.starts.at(index as usize);
    let begin = |index: u32| (start(index), slices.begins.at(index as usize));
    let end = |index: u32| {
        (
            slices.open_end(index as usize),
            slices.finish(index as usize),
        )
    };
    let is_whole = |index: u32| begins.is_whole(trace, index as usize, Form::AsCame);
    let before = (index > row.start).then(|| index - 1);
    let parent = Some(slices.parents.at(index as usize)).filter(|&parent| parent != u32::MAX);
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

/// Whether a family is of slices that the file itself states, not made of pairs of events.
fn is_stated(family: u8) -> bool {
    matches!(family, DURATIONS | ASYNC)
}
