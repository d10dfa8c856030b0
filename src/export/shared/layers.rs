//! Distributes the slices of a track over threads of the file so that the slices of each thread nest: readers refuse
//! slices that cross.
//!
//! A slice that reaches past the end of the slice around it moves, with its children, from the track's own thread to a
//! thread that has the number of the slice's row. Slices of a row do not overlap, so one thread for each row has room
//! for every such slice. A slice whose end was not recorded ends at the time to which it is drawn.

use rustc_hash::FxHashMap;

use crate::base::Maybe;
use crate::export::Chosen;
use crate::trace::{SliceId, Slices, Trace, TrackId};

/// The thread of its track on which a slice is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Layer {
    /// The track's own thread.
    Own,
    /// The extra thread for slices of the row of this depth that cross others.
    Crossing(u32),
}

impl Layer {
    /// The name of the thread, for a track called `track`.
    pub(crate) fn name(self, track: &str) -> String {
        match self {
            Layer::Own => track.to_owned(),
            Layer::Crossing(depth) => format!("{track} (crossing slices, row {})", depth + 1),
        }
    }
}

/// Values by layer.
#[derive(Debug, Default)]
pub(crate) struct Layers<T> {
    own: T,
    crossing: Vec<T>,
}

impl<T: Default> Layers<T> {
    /// Returns the value of a layer.
    #[inline]
    pub(crate) fn of(&mut self, layer: Layer) -> &mut T {
        match layer {
            Layer::Own => &mut self.own,
            Layer::Crossing(depth) => {
                let depth = depth as usize;
                if self.crossing.len() <= depth {
                    self.crossing.resize_with(depth + 1, T::default);
                }
                &mut self.crossing[depth]
            }
        }
    }

    /// Returns all values, with their layers in order.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = (Layer, &mut T)> {
        let crossing = (0..).map(Layer::Crossing).zip(&mut self.crossing);
        std::iter::once((Layer::Own, &mut self.own)).chain(crossing)
    }
}

/// A slice and the thread that it is written on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedSlice {
    pub slice: SliceId,
    pub layer: Layer,
    /// Its start, ns on the trace's clock.
    pub start: i64,
    /// Where it ends, as it is drawn.
    pub end: Maybe<i64>,
}

/// A slice of a track; such slices are sorted by start, outer slices first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundSlice {
    /// Its start, ns on the trace's clock.
    pub start: i64,
    /// The number of its row in the track, counted from 0.
    pub depth: u32,
    pub slice: u32,
}

/// Returns the chosen slices of a track in order of time, outer ones first.
pub(crate) fn found_slices(trace: &Trace, chosen: &Chosen<'_>, track: TrackId) -> Vec<FoundSlice> {
    let slices = &trace.slices;
    let Some(row) = trace.tracks.get(track.0 as usize) else {
        return Vec::new();
    };
    let rows = slices.rows_of(row);
    let mut found = Vec::new();
    for (depth, row) in (0_u32..).zip(rows) {
        let inside = slices.overlapping(row, chosen.span);
        let is_all = chosen.has_all_slices_of(track);
        let inside = inside.filter(|&slice| is_all || chosen.has_slice(track, slice as usize));
        found.extend(inside.map(|slice| FoundSlice {
            start: slices.starts.at(slice as usize),
            depth,
            slice,
        }));
    }
    // Rows are sorted, which a stable sort uses.
    found.sort();
    found
}

/// Returns the chosen slices of a track in order of time, outer ones first, each with its thread.
pub(crate) fn placed_slices(
    trace: &Trace,
    chosen: &Chosen<'_>,
    track: TrackId,
) -> Vec<PlacedSlice> {
    let mut placer = LayerPlacer::default();
    found_slices(trace, chosen, track)
        .into_iter()
        .map(|found| placer.place(&trace.slices, found))
        .collect()
}

/// Places the slices of a track, which come in order of time, outer ones first.
#[derive(Default)]
pub(crate) struct LayerPlacer {
    /// By layer: the ends of its open slices, in ns. Invariant: they decrease, so that the last is the innermost.
    open: Layers<Vec<Maybe<i64>>>,
    /// The threads of the slices that moved off the track's own thread: their children follow them.
    moved: FxHashMap<u32, Layer>,
}

impl LayerPlacer {
    /// Returns the next slice with its thread.
    pub(crate) fn place(&mut self, slices: &Slices, found: FoundSlice) -> PlacedSlice {
        let FoundSlice {
            start,
            depth,
            slice,
        } = found;
        let end = slices.open_end(slice as usize);
        let layer_around = match self.moved.is_empty() {
            true => None,
            false => (slices.parent(slice as usize)).and_then(|parent| self.moved.get(&parent.0)),
        };
        let mut layer = layer_around.copied().unwrap_or(Layer::Own);
        let ends = self.open.of(layer);
        while ends.pop_if(|end| *end <= start).is_some() {}
        if ends.last().is_some_and(|around| *around < end) {
            layer = Layer::Crossing(depth);
            let ends = self.open.of(layer);
            while ends.pop_if(|end| *end <= start).is_some() {}
        }
        self.open.of(layer).push(end);
        if layer != Layer::Own {
            self.moved.insert(slice, layer);
        }
        PlacedSlice {
            slice: SliceId(slice),
            layer,
            start,
            end,
        }
    }
}
