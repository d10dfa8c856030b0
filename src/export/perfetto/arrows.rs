//! Flows: each arrow has a number of its own, on the begin or end of the slices at its two ends.
//!
//! trace_processor takes the ends of an arrow in order of time and draws it from slice to slice. So an arrow starts at
//! the begin of its slice, and points to the begin of the other one if that is later, else to its end. An end of an
//! arrow is a point of its own if its slice is not written, or if it would be on the end of a slice that never ends.

use rustc_hash::FxHashMap;

use super::context::Context;
use super::lanes::Side;
use super::marks::ArrowEnd;
use super::sources::Machine;
use crate::base::Timestamp;
use crate::export::shared::lone_flows::lone_flows;
use crate::trace::SliceId;
use crate::trace::flows::{Flow, FlowPoint, LoneFlow};

/// Where an arrow is attached to a slice.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    slice: SliceId,
    side: Side,
}

/// An end of an arrow on a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attached {
    /// The arrow's number, from 1.
    pub arrow: u64,
    pub end: ArrowEnd,
}

/// An end of an arrow that is a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrowPoint {
    /// The row of the arrow.
    pub arrow: u32,
    pub end: ArrowEnd,
    /// ns, inside the range.
    pub time: i64,
}

/// The chosen arrows.
#[derive(Default)]
pub(super) struct Arrows {
    attached: FxHashMap<Place, Vec<Attached>>,
    /// A bit for each slice: whether arrows are attached to it. Most slices have none.
    slices_with_any: Vec<u64>,
    /// The ends that are points, in the order in which they must be written.
    pub points: Vec<ArrowPoint>,
    /// The number of arrows.
    pub count: u64,
    /// The number of arrows between machines, which are left out.
    pub apart_count: u64,
    /// The chosen flow events that make no arrow.
    pub lone: Vec<LoneFlow>,
}

/// Returns the number of an arrow in the file.
pub(super) fn number_of(arrow: u32) -> u64 {
    u64::from(arrow) + 1
}

impl Arrows {
    /// Attaches the chosen arrows of a trace.
    pub(super) fn new(context: &Context<'_>) -> Arrows {
        let mut arrows = Arrows {
            slices_with_any: vec![0; context.trace.slices.len().div_ceil(64)],
            ..Arrows::default()
        };
        let chosen = context.chosen;
        for (row, flow) in (0_u32..).zip(&context.trace.flows.rows) {
            let is_chosen = chosen.has_track_of(flow.from.thread)
                && chosen.has_track_of(flow.to.thread)
                && (!chosen.limits_cpus()
                    || (chosen.has_cpu_of(flow.from.event) && chosen.has_cpu_of(flow.to.event)));
            if flow.has_end_in(chosen.span) && is_chosen {
                arrows.attach(context, row, flow);
            }
        }
        arrows.lone = lone_flows(context.trace, chosen);
        arrows
    }

    fn attach(&mut self, context: &Context<'_>, arrow: u32, flow: &Flow) {
        let machine = |point: &FlowPoint| {
            let thread = point.thread;
            thread.map_or(Machine::HOST, |thread| {
                context.people.machine_of_thread(thread)
            })
        };
        if machine(&flow.from) != machine(&flow.to) {
            self.apart_count += 1;
            return;
        }
        self.count += 1;
        let from = flow.from.slice.filter(|&slice| is_written(context, slice));
        let first = match from {
            Some(slice) => {
                self.add(slice, Side::Begin, arrow, ArrowEnd::From);
                context.trace.slices.starts.at(slice.0 as usize)
            }
            None => self.point(context, arrow, &flow.from, ArrowEnd::From, None),
        };
        let to = flow.to.slice.filter(|&slice| is_written(context, slice));
        let slices = &context.trace.slices;
        match to {
            Some(slice) if slices.starts.at(slice.0 as usize) > first => {
                self.add(slice, Side::Begin, arrow, ArrowEnd::To);
            }
            Some(slice)
                if slices
                    .open_end(slice.0 as usize)
                    .get()
                    .is_some_and(|end| end > first) =>
            {
                self.add(slice, Side::End, arrow, ArrowEnd::To);
            }
            _ => {
                self.point(context, arrow, &flow.to, ArrowEnd::To, Some(first));
            }
        }
    }

    fn add(&mut self, slice: SliceId, side: Side, arrow: u32, end: ArrowEnd) {
        let bits = self.slices_with_any.get_mut(slice.0 as usize / 64);
        if let Some(bits) = bits {
            *bits |= 1 << (slice.0 % 64);
        }
        let attached = Attached {
            arrow: number_of(arrow),
            end,
        };
        self.attached
            .entry(Place { slice, side })
            .or_default()
            .push(attached);
    }

    /// Adds a point, not before `first`; returns its time.
    fn point(
        &mut self,
        context: &Context<'_>,
        arrow: u32,
        at: &FlowPoint,
        end: ArrowEnd,
        first: Option<i64>,
    ) -> i64 {
        let span = context.span();
        let last = Timestamp(span.end.0.saturating_sub(1)).max(span.start);
        let inside = at.time.clamp(span.start, last).0;
        let time = first.map_or(inside, |first| inside.max(first));
        self.points.push(ArrowPoint { arrow, end, time });
        time
    }

    /// Returns whether arrows are at an end of a slice.
    #[inline]
    pub(crate) fn has_any(&self, slice: SliceId) -> bool {
        let bits = self.slices_with_any.get(slice.0 as usize / 64);
        bits.is_some_and(|bits| bits >> (slice.0 % 64) & 1 == 1)
    }

    /// Returns the ends of arrows at an end of a slice.
    pub(super) fn at(&self, slice: SliceId, side: Side) -> &[Attached] {
        let place = Place { slice, side };
        self.attached.get(&place).map_or(&[], Vec::as_slice)
    }
}

/// Returns whether a slice is written as a begin and end on a track.
fn is_written(context: &Context<'_>, slice: SliceId) -> bool {
    let track = context.trace.slices.row_of(slice).track;
    let row = slice.0 as usize;
    let start = context.trace.slices.starts.at(row);
    let end = context.trace.slices.open_end(row);
    let span = context.chosen.span;
    let is_in_range =
        start < span.end.0 && (end > span.start.0 || (end == start && start >= span.start.0));
    is_in_range && context.chosen.has_slice(track, row) && !context.is_derived_slice(slice)
}
