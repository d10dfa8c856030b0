//! Slices of a track onto threads of the file, so that those of each thread nest: readers refuse others.
//!
//! A slice that reaches past the end of one around it leaves the track's own thread for one that has its row's number,
//! with what lies in it. Slices of a row do not overlap, so that the thread of a row has room for every such slice of it.
//! A slice whose end was not seen ends where it is drawn up to.

use rustc_hash::FxHashMap;

use crate::export::Chosen;
use crate::trace::{SliceId, Trace, TrackId};

/// On which thread of its track a slice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The track's own.
    Own,
    /// That of slices of the row of that depth, which cross others.
    Crossing(u32),
}

impl Layer {
    /// What the thread is called, of a track of that name.
    pub fn name(self, track: &str) -> String {
        match self {
            Layer::Own => track.to_owned(),
            Layer::Crossing(depth) => format!("{track} (crossing slices, row {})", depth + 1),
        }
    }
}

/// The chosen slices of a track in order of time, those around others first, and on which thread each is.
pub fn placed_slices(trace: &Trace, chosen: &Chosen<'_>, track: TrackId) -> Vec<(SliceId, Layer)> {
    let slices = &trace.slices;
    let Some(row) = trace.tracks.get(track.0 as usize) else {
        return Vec::new();
    };
    let rows = row.rows.start as usize..row.rows.end as usize;
    let rows = slices.rows.get(rows).unwrap_or(&[]);
    let mut found: Vec<(i64, u32, u32)> = Vec::new();
    for (depth, row) in (0_u32..).zip(rows) {
        let inside = slices.overlapping_on(row, chosen.span);
        let inside = inside.filter(|&slice| chosen.has_slice(track, slice as usize));
        found.extend(inside.map(|slice| (slices.starts.at(slice as usize), depth, slice)));
    }
    found.sort_unstable();
    // By thread: the ends of its slices that are open. Invariant: they decrease towards the last.
    let mut open: FxHashMap<Layer, Vec<i64>> = FxHashMap::default();
    // Where slices are that have left the track's own thread.
    let mut moved: FxHashMap<u32, Layer> = FxHashMap::default();
    let mut placed = Vec::with_capacity(found.len());
    for (start, depth, slice) in found {
        let end = slices.open_end(slice as usize);
        let parent = slices.parents.at(slice as usize);
        let mut layer = moved.get(&parent).copied().unwrap_or(Layer::Own);
        let ends = open.entry(layer).or_default();
        while ends.pop_if(|end| *end <= start).is_some() {}
        if ends.last().is_some_and(|around| *around < end) {
            layer = Layer::Crossing(depth);
        }
        let ends = open.entry(layer).or_default();
        while ends.pop_if(|end| *end <= start).is_some() {}
        ends.push(end);
        if layer != Layer::Own {
            moved.insert(slice, layer);
        }
        placed.push((SliceId(slice), layer));
    }
    placed
}
