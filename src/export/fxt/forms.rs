//! How the slices of a track are written: as begins and ends, whole, or asynchronous.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::item::SliceFacts;
use crate::trace::{SliceId, Trace, Track, TrackKind};

/// How the slices of a track are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As the begins and ends of the source: read back, they pair as they did here.
    AsCame,
    /// Finished slices as complete events, because their ends would pair differently when read back.
    Whole,
    /// Asynchronous begins and ends.
    Async,
}

/// Slices that start at the same time as a begin around them or as a slice inside them. Hardly any trace contains
/// some.
#[derive(Debug, Default)]
pub(crate) struct BeginsAround {
    begins: FxHashMap<u32, (u32, u32)>,
    around: FxHashSet<u32>,
    /// Whether all slices are durations, as in FXT files.
    are_durations: bool,
}

impl BeginsAround {
    /// Finds them, outer slices before inner ones: the begins around a slice are also around the slices inside it.
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
                    slices.finish(around).is_some() || slices.open_end(around) == i64::MAX;
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
            are_durations: slices.labels.iter().all(|label| label.family.is_stated()),
            ..BeginsAround::default()
        };
        for (found, starting) in of_tracks {
            begins.begins.extend(found);
            begins.around.extend(starting);
        }
        begins
    }

    /// Returns whether a slice inside this one starts at the same time.
    #[inline]
    pub(crate) fn starts_with_another(&self, index: u32) -> bool {
        self.around.contains(&index)
    }

    /// Returns the begin event of the innermost slice around this one that starts at the same time and has an end of
    /// its own (or none), and the number of levels to that slice.
    #[inline]
    pub fn of(&self, trace: &Trace, index: usize) -> Option<(u32, u64)> {
        let slices = &trace.slices;
        let parent = slices.parents.get(index)? as usize;
        // Few slices start together: the others need no lookup.
        if slices.starts.get(parent)? != slices.starts.at(index) {
            return None;
        }
        let &(begin, distance) = self.begins.get(&u32::try_from(index).ok()?)?;
        Some((begin, distance.into()))
    }

    /// Returns whether a slice is written as a complete event.
    #[inline]
    pub(crate) fn is_whole(&self, trace: &Trace, index: usize, form: Form) -> bool {
        self.is_whole_as(trace, (index, SliceFacts::of(trace, index)), form)
    }

    /// As `is_whole`, with the slice's start and facts.
    #[inline]
    pub(crate) fn is_whole_as(
        &self,
        trace: &Trace,
        (index, (start, facts)): (usize, (i64, SliceFacts)),
        form: Form,
    ) -> bool {
        let is_pulled_in = || start == facts.end && self.is_pulled_in(trace, (index, facts.begin));
        // Only a complete event has room for a measured duration.
        let is_measured = || trace.slices.measured(index).is_some();
        let is_one = || facts.finish == u32::MAX || is_measured() || is_pulled_in();
        facts.end != i64::MAX && (form == Form::Whole || is_one())
    }

    /// Returns whether a slice of no length is inside a slice of the same time that began after it (the longest is the
    /// outer one): its begin and end would be read before the outer begin.
    fn is_pulled_in(&self, trace: &Trace, (index, own_begin): (usize, u32)) -> bool {
        let around = self.of(trace, index);
        around.is_some_and(|(begin, _)| begin > own_begin)
    }
}

/// Decides how a track's slices are written: see [`Form`].
pub(crate) fn form_of(trace: &Trace, begins: &BeginsAround, track: &Track) -> Form {
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
    let is_duration = |index: u32| slices.label(SliceId(index)).family.is_stated();
    // Durations pair the same way when they are read back.
    if rows.iter().all(|row| row.slices.clone().all(is_duration)) {
        return Form::AsCame;
    }
    // Ends of other families matched their begins by name, but FXT's ends do not: begins and ends are possible only
    // where nothing overlaps and no slice is whole.
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

/// Returns whether a slice is inside its parent and after the slice before it in the order of events, too. A slice
/// that its parent's end closed is written whole; readers sort whole slices before begins of the same time, so there
/// must be no such begin.
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
            slices.finish(index as usize).map_or(u32::MAX, |id| id.0),
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
