//! The marks of the slices of a track, in the order in which readers nest them as the trace does.
//!
//! The slices of a thread or CPU are on its own track, but those that cross others (see `shared::layers`). The slices
//! of an asynchronous track are on as many tracks of its name as there are outermost slices at a time; viewers draw
//! them together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::context::Context;
use crate::base::Maybe;
use crate::export::shared::layers::{FoundSlice, Layer, LayerPlacer, Layers, PlacedSlice};
use crate::query::selection::Chosen;
use crate::trace::slices::SliceRow;
use crate::trace::{SliceId, Slices, Trace, TrackId, TrackKind};

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

/// The slices of a track, marked from one window of time to the next.
pub(super) struct Lane {
    track: TrackId,
    /// The rows with slices that are not yet marked.
    rows: Vec<RowLeft>,
    placer: Placer,
    /// Invariant: the ends of a layer's open slices decrease, so that the last one is the innermost.
    open: Layers<Vec<OpenSlice>>,
    /// Slices that were marked.
    pub count: u64,
}

/// What is left of a row.
struct RowLeft {
    depth: u32,
    slices: Range<u32>,
    /// When its first slice starts.
    next: Maybe<i64>,
}

enum Placer {
    Nested(LayerPlacer),
    Async(AsyncLayers),
}

impl Placer {
    fn place(&mut self, slices: &Slices, found: FoundSlice) -> PlacedSlice {
        match self {
            Placer::Nested(layers) => layers.place(slices, found),
            Placer::Async(layers) => layers.placed(slices, found),
        }
    }
}

/// Returns when the first of these slices of a row starts.
fn first_start(slices: &Slices, rows: &Range<u32>) -> Maybe<i64> {
    match rows.is_empty() {
        true => Maybe::NONE,
        false => Maybe::new(slices.starts.at(rows.start as usize)),
    }
}

impl Lane {
    /// Returns when the first slice of a track starts that may be chosen.
    pub(crate) fn first_start(trace: &Trace, chosen: &Chosen<'_>, track: TrackId) -> Maybe<i64> {
        let rows = Lane::rows(trace, track).iter();
        let starts =
            rows.map(|row| first_start(&trace.slices, &trace.slices.overlapping(row, chosen.span)));
        starts.min().unwrap_or(Maybe::NONE)
    }

    fn rows(trace: &Trace, track: TrackId) -> &[SliceRow] {
        let track = trace.tracks.get(track.0 as usize);
        track.map_or(&[], |track| trace.slices.rows_of(track))
    }

    /// Returns the slices of a track, of which none is marked.
    pub(super) fn new(trace: &Trace, chosen: &Chosen<'_>, track: TrackId) -> Lane {
        let rows = (0_u32..).zip(Lane::rows(trace, track)).map(|(depth, row)| {
            let slices = trace.slices.overlapping(row, chosen.span);
            RowLeft {
                depth,
                next: first_start(&trace.slices, &slices),
                slices,
            }
        });
        let kind = trace.tracks.get(track.0 as usize).map(|track| track.kind);
        Lane {
            track,
            rows: rows.collect(),
            placer: match kind {
                Some(TrackKind::Async(_)) => Placer::Async(AsyncLayers::default()),
                _ => Placer::Nested(LayerPlacer::default()),
            },
            open: Layers::default(),
            count: 0,
        }
    }

    /// Returns when the next mark is, if there is one.
    pub(super) fn next(&mut self) -> Maybe<i64> {
        let starts = self.rows.iter().map(|row| row.next).min();
        let ends = self.open.all_mut();
        let ends = ends.filter_map(|(_, slices)| slices.last().map(|slice| slice.end));
        starts.into_iter().chain(ends).min().unwrap_or(Maybe::NONE)
    }

    /// Calls `each` with all marks before `until`; those of a layer are in order of time.
    pub(crate) fn marks_until(
        &mut self,
        context: &Context<'_>,
        until: i64,
        mut each: impl FnMut(LayerMark),
    ) {
        let trace = context.trace;
        for placed in self.placed_until(context, until) {
            let PlacedSlice {
                slice,
                layer,
                start,
                end,
            } = placed;
            let slices = self.open.of(layer);
            // A slice of no length at the very end of its parent is in it.
            let is_over = |last: &OpenSlice| {
                last.end < start
                    || (last.end <= start
                        && trace.slices.parent(slice.0 as usize) != Some(last.slice))
            };
            while let Some(last) = slices.pop_if(|last| is_over(last)) {
                each_end(layer, last, &mut each);
            }
            slices.push(OpenSlice { end, slice });
            each(LayerMark {
                layer,
                time: start,
                slice,
                side: Side::Begin,
            });
        }
        for (layer, slices) in self.open.all_mut() {
            while let Some(last) = slices.pop_if(|last| last.end < until) {
                each_end(layer, last, &mut each);
            }
        }
    }

    /// Returns the chosen slices that start before `until` and are marked by us, in the order in which they nest.
    fn placed_until(&mut self, context: &Context<'_>, until: i64) -> Vec<PlacedSlice> {
        let (trace, chosen) = (context.trace, context.chosen);
        let is_all = chosen.has_all_slices_of(self.track);
        let mut found = Vec::new();
        for row in &mut self.rows {
            while let Some(start) = row.next.get().filter(|&start| start < until) {
                let slice = row.slices.start;
                if is_all || chosen.has_slice(self.track, slice as usize) {
                    found.push(FoundSlice {
                        start,
                        depth: row.depth,
                        slice,
                    });
                }
                row.slices.start += 1;
                row.next = first_start(&trace.slices, &row.slices);
            }
        }
        // Rows are sorted, which a stable sort uses.
        found.sort();
        let placed = found.into_iter();
        let placed = placed.map(|found| self.placer.place(&trace.slices, found));
        let mut placed: Vec<PlacedSlice> = placed.collect();
        sort_by_nesting(trace, &mut placed);
        placed.retain(|placed| !context.is_derived_slice(placed.slice));
        self.count += placed.len() as u64;
        placed
    }
}

/// Calls `each` with the end of a slice; not for a slice that never ends.
fn each_end(layer: Layer, slice: OpenSlice, each: &mut impl FnMut(LayerMark)) {
    if let Some(time) = slice.end.get() {
        each(LayerMark {
            layer,
            time,
            slice: slice.slice,
            side: Side::End,
        });
    }
}

/// Puts slices of one start into the order in which they nest: each is followed by those inside it. By depth, all
/// slices of a row come before their children, which matters where slices have no length. Of those inside slices that
/// started before, the deepest comes first: it may have no length, and the slice around it may end there.
fn sort_by_nesting(trace: &Trace, placed: &mut [PlacedSlice]) {
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
    fn placed(&mut self, slices: &Slices, found: FoundSlice) -> PlacedSlice {
        let FoundSlice { start, slice, .. } = found;
        let row = slice as usize;
        let own = OwnTimes {
            start,
            end: slices.open_end(row),
            is_unended: slices.is_unended(row),
        };
        let parent = slices.parent(row).map(|parent| parent.0);
        PlacedSlice {
            slice: SliceId(slice),
            layer: match self.place(slice, own, parent) {
                0 => Layer::Own,
                other => Layer::Crossing(other - 1),
            },
            start,
            end: own.end,
        }
    }

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
