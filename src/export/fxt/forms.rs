//! How the slices of a track are written: as begins and ends, whole, or asynchronous.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::item::SliceAt;
use crate::base::{Maybe, TimeSpan};
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

/// The begin around a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BeginAround {
    /// The event of the begin.
    pub event: u32,
    /// The number of levels from the slice to the slice that begins there.
    pub distance: u64,
}

/// Slices that start at the same time as a begin around them or as a slice inside them. Hardly any trace contains such
/// slices.
#[derive(Debug, Default)]
pub(crate) struct BeginsAround {
    begins: FxHashMap<u32, BeginAround>,
    around: FxHashSet<u32>,
    /// Whether all slices were closed as FXT's are.
    are_innermost: bool,
}

impl BeginsAround {
    /// Finds these slices, outer slices before inner ones: the begins around a slice are also around the slices inside
    /// it. Only slices that touch `span` are examined.
    pub(super) fn new(trace: &Trace, span: TimeSpan) -> BeginsAround {
        let slices = &trace.slices;
        let of_track = |track: &Track| {
            let mut found: FxHashMap<u32, BeginAround> = FxHashMap::default();
            let mut starting = Vec::new();
            let rows = slices.rows_of(track);
            for index in rows.iter().flat_map(|row| slices.overlapping(row, span)) {
                let start = slices.starts.at(index as usize);
                let parent = slices.parent(index as usize);
                let starts_too = |parent: &SliceId| slices.starts.at(parent.0 as usize) == start;
                let Some(SliceId(parent)) = parent.filter(starts_too) else {
                    continue;
                };
                starting.push(parent);
                let around = parent as usize;
                let is_begin = slices.finish(around).is_some() || slices.open_end(around).is_none();
                let begin = match is_begin {
                    true => Some(BeginAround {
                        event: slices.begins.at(around),
                        distance: 1,
                    }),
                    false => found.get(&parent).map(|begin| BeginAround {
                        distance: begin.distance.saturating_add(1),
                        ..*begin
                    }),
                };
                found.extend(begin.map(|begin| (index, begin)));
            }
            (found, starting)
        };
        let of_tracks = trace.tracks.par_iter().map(of_track);
        let of_tracks: Vec<_> = of_tracks.filter(|found| !found.1.is_empty()).collect();
        let mut begins = BeginsAround {
            are_innermost: slices
                .labels
                .iter()
                .all(|label| label.family.closes_innermost()),
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
    /// its own (or none).
    #[inline]
    pub(super) fn of(&self, trace: &Trace, index: usize) -> Option<BeginAround> {
        let slices = &trace.slices;
        let parent = slices.parent(index)?;
        // Few slices start together: the others need no lookup.
        if slices.starts.at(parent.0 as usize) != slices.starts.at(index) {
            return None;
        }
        self.begins.get(&u32::try_from(index).ok()?).copied()
    }

    /// Returns whether a slice is written as a complete event.
    #[inline]
    pub(crate) fn is_whole(&self, trace: &Trace, index: usize, form: Form) -> bool {
        self.is_whole_as(trace, &SliceAt::of(trace, index), form)
    }

    /// As `is_whole`, for a slice whose columns were read already.
    #[inline]
    pub(crate) fn is_whole_as(&self, trace: &Trace, slice: &SliceAt, form: Form) -> bool {
        let facts = &slice.facts;
        let is_pulled_in = || facts.end == slice.start && self.is_pulled_in(trace, slice);
        // Only a complete event has room for a measured duration, or for the fields of an end that may belong to
        // another begin: an end record with `end_not_seen` ends nothing when it is read.
        let is_measured = || trace.slices.measured(slice.row).is_some();
        let is_one =
            || facts.finish.is_none() || facts.is_unended || is_measured() || is_pulled_in();
        facts.end.is_some() && (form == Form::Whole || is_one())
    }

    /// Returns whether a slice of no length is inside a slice of the same time that began after it (the longest is the
    /// outer one): its begin and end would be read before the outer begin.
    fn is_pulled_in(&self, trace: &Trace, slice: &SliceAt) -> bool {
        let around = self.of(trace, slice.row);
        around.is_some_and(|around| around.event > slice.facts.begin)
    }
}

/// Decides how a track's slices are written that touch `span`: see [`Form`].
pub(crate) fn form_of(trace: &Trace, begins: &BeginsAround, track: &Track, span: TimeSpan) -> Form {
    if matches!(track.kind, TrackKind::Async(_)) {
        return Form::Async;
    }
    let slices = &trace.slices;
    if begins.are_innermost {
        return Form::AsCame;
    }
    let rows = slices.rows_of(track).iter();
    let rows: Vec<Range<u32>> = rows.map(|row| slices.overlapping(row, span)).collect();
    let is_innermost = |index: u32| slices.label(SliceId(index)).family.closes_innermost();
    // These pair the same way when they are read back.
    if rows.iter().all(|row| row.clone().all(is_innermost)) {
        return Form::AsCame;
    }
    // Ends of other families matched their begins by name or key, but FXT's ends do not: begins and ends are possible only
    // where nothing overlaps and no slice is whole.
    let mut above: &Range<u32> = &(0..0);
    for row in &rows {
        if !row
            .clone()
            .all(|index| nests(trace, begins, index, &Rows { own: row, above }))
        {
            return Form::Whole;
        }
        above = row;
    }
    Form::AsCame
}

/// The slices of a row, and those of the row above it.
struct Rows<'a> {
    own: &'a Range<u32>,
    above: &'a Range<u32>,
}

/// Returns whether a slice is inside its parent and after the slice before it in the order of events, too. A slice
/// that its parent's end closed is written whole; readers sort whole slices before begins of the same time, so there
/// must be no such begin.
fn nests(trace: &Trace, begins: &BeginsAround, index: u32, rows: &Rows<'_>) -> bool {
    let slices = &trace.slices;
    let start = |index: u32| slices.starts.at(index as usize);
    let begin = |index: u32| (start(index), slices.begins.at(index as usize));
    let ends_at = |index: u32| slices.open_end(index as usize);
    let end = |index: u32| {
        let finish = slices.finish(index as usize).map(|id| id.0);
        (ends_at(index), Maybe::from(finish))
    };
    let known = |(time, event)| (Maybe::new(time), Maybe::new(event));
    let is_whole = |index: u32| begins.is_whole(trace, index as usize, Form::AsCame);
    let before = (index > rows.own.start).then(|| index - 1);
    let parent = slices.parent(index as usize).map(|parent| parent.0);
    if parent.is_none() != rows.above.is_empty() {
        return false;
    }
    if let Some(parent) = parent {
        let ends_inside = if is_whole(index) || is_whole(parent) {
            ends_at(index) <= ends_at(parent)
        } else {
            end(index) <= end(parent)
        };
        let begins_inside = begin(parent) < begin(index);
        if !(rows.above.contains(&parent) && begins_inside && ends_inside) {
            return false;
        }
    }
    if is_whole(index) {
        let is_first = [before, parent]
            .into_iter()
            .flatten()
            .all(|other| start(other) < start(index));
        return is_first && before.is_none_or(|before| ends_at(before) <= start(index));
    }
    let follows = before.is_none_or(|before| match is_whole(before) {
        true => ends_at(before) <= start(index),
        false => end(before) <= known(begin(index)),
    });
    follows && known(begin(index)) <= end(index)
}
