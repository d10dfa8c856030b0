//! Draw lists kept from frame to frame: while the zoom stays, panning and pointing take them as they are.

use crate::base::{Nanos, TimeSpan};
use crate::gui::pane::TraceKey;
use crate::query::visible::Block;
use crate::view::rows::LaneKind;
use rustc_hash::FxHashMap;

/// So many lanes are kept; more are only seen after long scrolling.
const MOST_LANES: usize = 512;

/// What lists depend on, besides lane and place: the trace, the length of the visible span, the pixels.
type Zoom = (TraceKey, Nanos, u32);

/// The lists of lanes at one zoom.
#[derive(Default)]
pub(super) struct KeptLists {
    zoom: Option<Zoom>,
    /// Whether the frame before had this zoom too.
    is_steady: bool,
    lanes: FxHashMap<LaneKind, KeptList>,
}

struct KeptList {
    span: TimeSpan,
    blocks: Vec<Block>,
}

impl KeptLists {
    /// Begins a frame: lists of another zoom are of no use any more.
    pub(super) fn begin(&mut self, zoom: Zoom) {
        self.is_steady = self.zoom == Some(zoom);
        if !self.is_steady || self.lanes.len() > MOST_LANES {
            self.lanes.clear();
        }
        self.zoom = Some(zoom);
    }

    /// The blocks of a lane in `span`. `make` lists them for a span and its pixels; while the zoom is steady it is asked
    /// for as much again around the span, so that a pan finds them here.
    pub(super) fn list(
        &mut self,
        kind: LaneKind,
        span: TimeSpan,
        pixels: u32,
        make: impl FnOnce(TimeSpan, u32, &mut Vec<Block>),
    ) -> &[Block] {
        let list = self.lanes.entry(kind).or_insert_with(|| KeptList {
            span: TimeSpan::new(span.start, span.start),
            blocks: Vec::new(),
        });
        if span.start < list.span.start || span.end > list.span.end {
            let half = Nanos(span.duration().0 / 2);
            let wide = TimeSpan::new(span.start - half, span.end + half);
            // Both halves are whole ones: the bucket of a pixel stays as wide.
            let can_widen = self.is_steady && wide.duration().0 == span.duration().0 * 2;
            let (asked, asked_pixels) = if can_widen {
                (wide, pixels * 2)
            } else {
                (span, pixels)
            };
            make(asked, asked_pixels, &mut list.blocks);
            list.span = asked;
        }
        let is_past = |block: &Block| {
            block.end <= span.start.0 && (block.start < block.end || block.start < span.start.0)
        };
        let first = list.blocks.partition_point(is_past);
        let last = list
            .blocks
            .partition_point(|block| block.start < span.end.0);
        list.blocks.get(first..last).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Job;
    use crate::load::{LoadedTrace, open};
    use crate::query::visible;
    use crate::trace::{CpuId, TrackId};
    use std::sync::Arc;

    fn listed(
        loaded: &LoadedTrace,
        kind: LaneKind,
        span: TimeSpan,
        pixels: u32,
        out: &mut Vec<Block>,
    ) {
        let (trace, index) = (&loaded.trace, &loaded.index);
        match kind {
            LaneKind::Runs(cpu) => visible::runs(trace, index, cpu, span, pixels, out),
            LaneKind::Instants(track) => visible::instants(trace, index, track, span, pixels, out),
            _ => unreachable!("only these are asked for"),
        }
    }

    #[test]
    fn a_pan_finds_what_it_would_have_listed() {
        let path = "sample-traces/sched-irq-syscalls.dat";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let loaded =
            Arc::new(open(&path, &Job::default()).unwrap_or_else(|error| panic!("{error}")));
        let whole = loaded.trace.span;
        let length = Nanos(whole.duration().0 / 8 / 2 * 2);
        let (pixels, mut made, mut asked) = (400, 0, 0);
        let mut kept = KeptLists::default();
        let lanes = [
            LaneKind::Runs(CpuId(0)),
            LaneKind::Instants(TrackId(0)),
            LaneKind::Runs(CpuId(1)),
        ];
        for step in 0..120 {
            let start = whole.start + Nanos(length.0 / 40 * step);
            let span = TimeSpan::new(start, start + length);
            kept.begin((TraceKey::of(&loaded), length, pixels));
            for kind in lanes {
                asked += 1;
                let list = kept.list(kind, span, pixels, |span, pixels, out| {
                    made += 1;
                    listed(&loaded, kind, span, pixels, out);
                });
                let mut plain = Vec::new();
                listed(&loaded, kind, span, pixels, &mut plain);
                // At the edges a kept block may hold what lies just outside.
                let inner = |list: &[Block]| -> Vec<(i64, i64, u32, u32)> {
                    let facts = list.iter().map(|it| (it.start, it.end, it.first, it.count));
                    let width = length.0 / i64::from(pixels);
                    let is_inner = |it: &(i64, i64, u32, u32)| {
                        it.0 >= span.start.0 + width && it.1 < span.end.0 - width
                    };
                    facts.filter(is_inner).collect()
                };
                assert_eq!(inner(list), inner(&plain), "{kind:?} at step {step}");
                assert_eq!(list.is_empty(), plain.is_empty());
            }
        }
        assert!(made * 10 < asked, "{made} lists for {asked} frames");
    }
}
