//! Where exports cut slices that cross each other and reach over the end of the range.
//!
//! ```text
//!                     range's end
//! first    |===============|~~~|         cut at the range's end
//! second       |===========|=~~~~~|      cut 1 ns later: with a common end it would seem nested in the first
//! whole        |===========|             ends at the range's end, so it is not cut
//! ```
//!
//! Of slices that cross, each ends at least 1 ns after those that started before it. The last one is cut at the range's
//! end and the others before it; but if a slice that ends exactly there started before some of them, those are cut after
//! it. No slice is cut after its own end.

use rustc_hash::FxHashMap;

use crate::base::Maybe;
use crate::query::selection::Chosen;
use crate::trace::slices::SliceRow;
use crate::trace::{Trace, TrackId};

/// A slice that reaches the range's end.
#[derive(Clone, Copy)]
struct AtEnd {
    start: i64,
    /// None: it never ended.
    end: Maybe<i64>,
    slice: u32,
    /// How many slices, each crossing the one before, start after this one and end after it.
    later: i64,
}

/// Returns, by slice, the ends in ns at which slices of a track are cut, if that is not the range's end. `rows` are the
/// rows of the track.
pub(crate) fn crossing_cuts<'r>(
    trace: &Trace,
    chosen: &Chosen<'_>,
    track: TrackId,
    rows: impl Iterator<Item = &'r SliceRow>,
) -> FxHashMap<u32, i64> {
    let span = chosen.span;
    let mut cuts = FxHashMap::default();
    if span.start >= span.end || !chosen.ends_before_trace() {
        return cuts;
    }
    let last_of = |row: &SliceRow| {
        let found = trace.slices.overlapping(row, span);
        let slice = found.end.checked_sub(1).filter(|_| !found.is_empty())?;
        let at_end = AtEnd {
            start: trace.slices.starts.at(slice as usize),
            end: trace.slices.open_end(slice as usize),
            slice,
            later: 0,
        };
        let is_one = at_end.end >= span.end.0 && chosen.has_slice(track, slice as usize);
        is_one.then_some(at_end)
    };
    let mut all: Vec<AtEnd> = rows.filter_map(last_of).collect();
    if all.len() < 2 {
        return cuts;
    }
    // Outer slices come first; slices that start together keep the order of rows.
    all.sort_by_key(|slice| slice.start);
    // `ends_after[n]` is the latest end of a slice that `n` slices cross, each the one before.
    let mut ends_after: Vec<Maybe<i64>> = Vec::new();
    for slice in all.iter_mut().rev() {
        let later = ends_after.partition_point(|&after| after > slice.end);
        match ends_after.get_mut(later) {
            Some(latest) => *latest = slice.end,
            None => ends_after.push(slice.end),
        }
        slice.later = later as i64;
    }
    let whole = all.iter().filter(|slice| slice.end == span.end.0);
    let after = whole.map(|slice| slice.later).max().unwrap_or(0);
    for slice in all.iter().filter(|slice| slice.end > span.end.0) {
        let cut = span.end.0.saturating_add(after - slice.later);
        let cut = slice.end.get().map_or(cut, |end| cut.min(end));
        if cut != span.end.0 && cut > slice.start.max(span.start.0) {
            cuts.insert(slice.slice, cut);
        }
    }
    cuts
}
