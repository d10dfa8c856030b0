//! The marks of the slices of a track, in the order in which readers nest them as the trace does.
//!
//! The slices of a thread or CPU are on its own track, but those that cross others (see `shared::layers`). The slices
//! of an asynchronous track are on as many tracks of its name as there are outermost slices at a time; viewers draw
//! them together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::base::Maybe;
use crate::export::shared::layers::{FoundSlice, Layer, Layers, PlacedSlice, found_slices};
use crate::query::selection::Chosen;
use crate::trace::{SliceId, Trace, TrackId};

/// The begin or end of a slice on a layer of its track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LayerMark {
    pub layer: Layer,
    pub time: i64,
    pub slice: SliceId,
    pub side: Side,
}

/// An end of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Begin,
    End,
}

/// An open slice.
#[derive(Clone, Copy)]
struct OpenSlice {
    end: Maybe<i64>,
    slice: SliceId,
}

/// Calls `each` with the marks of placed slices; those of a layer are in order of time.
pub(super) fn for_each_mark<E>(
    trace: &Trace,
    placed: &[PlacedSlice],
    mut each: impl FnMut(LayerMark) -> Result<(), E>,
) -> Result<(), E> {
    // Invariant: the ends of a layer's open slices decrease, so that the last one is the innermost.
    let mut open: Layers<Vec<OpenSlice>> = Layers::default();
    for placed in placed {
        let &PlacedSlice {
            slice,
            layer,
            start,
            end,
        } = placed;
        let slices = open.of(layer);
        // A slice of no length at the very end of its parent is in it.
        let is_over = |last: &OpenSlice| {
            last.end < start
                || (last.end <= start && trace.slices.parent(slice.0 as usize) != Some(last.slice))
        };
        while let Some(last) = slices.pop_if(|last| is_over(last)) {
            each_end(layer, last, &mut each)?;
        }
        slices.push(OpenSlice { end, slice });
        each(LayerMark {
            layer,
            time: start,
            slice,
            side: Side::Begin,
        })?;
    }
    for (layer, slices) in open.into_all() {
        for slice in slices.into_iter().rev() {
            each_end(layer, slice, &mut each)?;
        }
    }
    Ok(())
}

/// Calls `each` with the end of a slice; not for a slice that never ends.
fn each_end<E>(
    layer: Layer,
    slice: OpenSlice,
    each: &mut impl FnMut(LayerMark) -> Result<(), E>,
) -> Result<(), E> {
    match slice.end.get() {
        None => Ok(()),
        Some(time) => each(LayerMark {
            layer,
            time,
            slice: slice.slice,
            side: Side::End,
        }),
    }
}

/// Puts slices that start together into the order in which they nest: each is followed by those inside it. Slices that
/// have no parent among them are sorted by depth, the deepest first: it may have no length, and the slice around it may
/// end at its time. Slices with one parent keep their order.
pub(super) fn sort_by_nesting(trace: &Trace, placed: &mut [PlacedSlice]) {
    for group in placed.chunk_by_mut(|a, b| a.start == b.start) {
        let parent = |placed: &PlacedSlice| trace.slices.parent(placed.slice.0 as usize);
        let is_sorted = match &*group {
            [_] => true,
            [first, second] => parent(second) == Some(first.slice),
            _ => false,
        };
        if is_sorted {
            continue;
        }
        let index_of = (0..).zip(group.iter().map(|placed| placed.slice));
        let index_of: FxHashMap<SliceId, usize> = index_of.map(|(at, slice)| (slice, at)).collect();
        // In reverse, so that the first one is on top of the stack.
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); group.len()];
        let mut stack = Vec::new();
        for (at, placed) in group.iter().enumerate().rev() {
            match parent(placed).and_then(|parent| index_of.get(&parent)) {
                Some(&parent) if parent < at => children[parent].push(at),
                _ => stack.push(at),
            }
        }
        stack.sort_by_key(|&at: &usize| trace.slices.depth(group[at].slice));
        let old = group.to_vec();
        let mut next = group.iter_mut();
        while let Some(at) = stack.pop() {
            stack.append(&mut children[at]);
            if let Some(next) = next.next() {
                *next = old[at];
            }
        }
    }
}

/// Returns the chosen slices of an asynchronous track in order of time, each with its layer.
pub(super) fn placed_asyncs(
    trace: &Trace,
    chosen: &Chosen<'_>,
    track: TrackId,
) -> Vec<PlacedSlice> {
    let slices = &trace.slices;
    let mut layers = AsyncLayers::default();
    found_slices(trace, chosen, track)
        .into_iter()
        .map(|FoundSlice { start, slice, .. }| {
            let row = slice as usize;
            let own = OwnTimes {
                start,
                end: slices.open_end(row),
                is_unended: slices.is_unended(row),
            };
            let parent = slices.parent(row).map(|parent| parent.0);
            let layer = layers.place(slice, own, parent);
            PlacedSlice {
                slice: SliceId(slice),
                layer: match layer {
                    0 => Layer::Own,
                    other => Layer::Crossing(other - 1),
                },
                start,
                end: own.end,
            }
        })
        .collect()
}

#[derive(Clone, Copy)]
struct OwnTimes {
    start: i64,
    end: Maybe<i64>,
    is_unended: bool,
}

/// The layers of an asynchronous track, by number.
#[derive(Default)]
struct AsyncLayers {
    /// The layer of each slice.
    of_slices: FxHashMap<u32, u32>,
    /// The ends of the open slices of each layer; they decrease.
    open: Vec<Vec<Maybe<i64>>>,
    /// When the outermost slice of each busy layer ends, with the layer.
    busy: BinaryHeap<Reverse<(i64, u32)>>,
    free: BinaryHeap<Reverse<u32>>,
}

impl AsyncLayers {
    /// Returns the layer of the next slice: that of its parent, unless the slice reaches past the end of its parent.
    fn place(&mut self, slice: u32, own: OwnTimes, parent: Option<u32>) -> u32 {
        let around = parent
            .and_then(|parent| self.of_slices.get(&parent))
            .copied();
        let fits = around.filter(|&layer| self.fits(layer, own));
        let layer = fits.unwrap_or_else(|| self.free_layer(own));
        if let Some(ends) = self.open.get_mut(layer as usize) {
            ends.push(own.end);
        }
        self.of_slices.insert(slice, layer);
        layer
    }

    /// Returns whether a slice is inside the open slices of a layer.
    fn fits(&mut self, layer: u32, own: OwnTimes) -> bool {
        let Some(ends) = self.open.get_mut(layer as usize) else {
            return false;
        };
        // The outermost slice stays, as its child may have no length at its very end.
        while ends.len() > 1 && ends.last().is_some_and(|end| *end <= own.start) {
            ends.pop();
        }
        ends.last()
            .is_some_and(|around| *around >= own.end && *around >= own.start)
    }

    fn free_layer(&mut self, own: OwnTimes) -> u32 {
        while let Some(&Reverse((end, layer))) = self.busy.peek()
            && end <= own.start
        {
            self.busy.pop();
            self.free.push(Reverse(layer));
        }
        let layer = match self.free.pop() {
            Some(Reverse(layer)) => layer,
            None => {
                self.open.push(Vec::new());
                self.open.len() as u32 - 1
            }
        };
        if let Some(ends) = self.open.get_mut(layer as usize) {
            ends.clear();
        }
        // The end of an unfinished slice has no order among the events of its time.
        let after = i64::from(own.is_unended);
        let end = own.end.or_greatest().saturating_add(after);
        self.busy.push(Reverse((end, layer)));
        layer
    }
}
