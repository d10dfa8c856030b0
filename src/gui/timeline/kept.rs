//! Draw lists cached from frame to frame: at an unchanged zoom, panning and pointing reuse them.
//!
//! A list is made for columns of a power-of-two number of ns, at most the duration of a pixel, like the levels of the
//! pyramid. It can be used until the zoom has doubled; its finer blocks are merged while it is drawn.
//!
//! While the view moves, an approximate list is also used, and only a few lanes are remade per frame, in turns: a
//! frame then costs the same with full lanes as with empty ones.

use super::kept_strips::{Fit, KeptStrip, Look};
use super::open_ends::Fading;
use super::strips::{Columns, Room, Shown};
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::gui::pane::Scene;
use crate::load::TraceId;
use crate::query::search::Found;
use crate::query::visible::{Block, ProfileNames};
use crate::view::rows::LaneKind;
use crate::view::{ColorBy, Isolation};
use egui::{Color32, Context};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// At most this many lanes are cached; only long scrolling shows more.
const MOST_LANES: usize = 256;

/// The properties, besides lane and span, that lists depend on: the trace, and the column width in ns.
type Zoom = (TraceId, i64);

/// At most this many approximate strips are repainted per frame once the view rests.
const MOST_PAINTED: usize = 24;
/// Number of lanes that are remade per frame while the view moves.
const TURNS: usize = 3;

/// The cached lists of lanes at one zoom.
#[derive(Default)]
pub(super) struct KeptLists {
    zoom: Option<Zoom>,
    /// Whether the previous frame had the same zoom.
    is_steady: bool,
    lanes: FxHashMap<LaneKind, KeptList>,
    /// Visible span of the previous frame.
    seen: Option<TimeSpan>,
    is_moving: bool,
    /// The properties that determine the colours of strips, and a number that changes with them.
    colored_by: Option<ColoredBy>,
    look: Look,
    /// Number of approximate strips repainted in this frame, and whether some are still approximate.
    painted: usize,
    is_near: bool,
    /// Number of the first lane that is remade in this frame while the view moves.
    turn: usize,
}

/// The properties that determine the colours of bars, besides the bars themselves.
pub(super) struct ColoredBy {
    is_dark: bool,
    color_by: ColorBy,
    /// Matches that are not dimmed, if isolation is on. (The weak pointer keeps the allocation, so that no other one
    /// gets its address.)
    found: Option<Weak<Found>>,
}

impl ColoredBy {
    pub(super) fn new(scene: &Scene<'_>) -> ColoredBy {
        let isolates = scene.state.search.isolation == Isolation::On;
        ColoredBy {
            is_dark: scene.palette.is_dark,
            color_by: scene.state.settings.color_by,
            found: scene.found.filter(|_| isolates).map(Arc::downgrade),
        }
    }

    fn is_same(&self, other: &ColoredBy) -> bool {
        let place = |it: &ColoredBy| it.found.as_ref().map(Weak::as_ptr);
        (self.is_dark, self.color_by, place(self)) == (other.is_dark, other.color_by, place(other))
    }
}

struct KeptList {
    /// Number of the list in order of creation.
    number: usize,
    /// Column width in ns, and the span that the list covers.
    width: i64,
    span: TimeSpan,
    blocks: Vec<Block>,
    /// Names of the parts, if the lane is a profile.
    names: ProfileNames,
    strip: KeptStrip,
}

impl KeptLists {
    /// Starts a frame that shows `span` with pixels of `width` ns.
    pub(super) fn begin(
        &mut self,
        trace: TraceId,
        span: TimeSpan,
        width: i64,
        colored_by: ColoredBy,
    ) {
        let zoom = (trace, fine_width(width));
        self.is_steady = self.zoom.as_ref() == Some(&zoom);
        let is_same = self.zoom.as_ref().is_some_and(|it| it.0 == zoom.0);
        if !is_same || self.lanes.len() > MOST_LANES {
            self.lanes.clear();
        }
        self.zoom = Some(zoom);
        self.turn += TURNS;
        if self.turn >= self.lanes.len() {
            self.turn = 0;
        }
        self.is_moving = self.seen.replace(span).is_some_and(|seen| seen != span);
        let is_same = |before: &ColoredBy| before.is_same(&colored_by);
        if !self.colored_by.as_ref().is_some_and(is_same) {
            self.look += 1;
            self.colored_by = Some(colored_by);
        }
        (self.painted, self.is_near) = (0, false);
    }

    /// Returns whether the previous frame showed another span.
    pub(super) fn is_moving(&self) -> bool {
        self.is_moving
    }

    fn is_turn(&self, number: usize) -> bool {
        (self.turn..self.turn + TURNS).contains(&number)
    }

    /// Returns whether the view is moving and the lane's strip can be shown as it is, without its blocks.
    pub(super) fn serves(&mut self, kind: LaneKind, columns: &Columns, room: &Room) -> bool {
        let list = self.lanes.get(&kind).filter(|_| self.is_moving);
        let serves = list.is_some_and(|list| match list.strip.fit(columns, room, self.look) {
            Fit::Exact | Fit::Near => true,
            Fit::Stretched => !self.is_turn(list.number),
            Fit::Not => false,
        });
        self.is_near |= serves;
        serves
    }

    /// Returns whether something in this frame was shown approximately.
    pub(super) fn is_near(&self) -> bool {
        self.is_near
    }

    /// Returns the index range of a lane's blocks in `span`; blocks are made for columns at most as wide as the frame's
    /// pixels and at least half as wide (less exact while the view moves). `make` lists blocks for a span and a number
    /// of columns; it gets a larger span, so that a pan finds its blocks cached.
    pub(super) fn list(
        &mut self,
        kind: LaneKind,
        span: TimeSpan,
        make: impl FnOnce(TimeSpan, u32, &mut Vec<Block>) -> ProfileNames,
    ) -> Range<usize> {
        let number = self.lanes.len();
        let width = self.zoom.as_ref().map_or(1, |zoom| zoom.1);
        let turns = self.turn..self.turn + TURNS;
        let list = self.lanes.entry(kind).or_insert_with(|| KeptList {
            number,
            width,
            span: TimeSpan::new(span.start, span.start),
            blocks: Vec::new(),
            names: ProfileNames::default(),
            strip: KeptStrip::default(),
        });
        let is_there = span.start >= list.span.start && span.end <= list.span.end;
        // Finer lists are also exact; coarser lists are used until the lane's turn.
        let is_nearly = self.is_moving
            && match list.width < width {
                true => width / 4 <= list.width,
                false => list.width <= width.saturating_mul(2) && !turns.contains(&list.number),
            };
        if is_there && (list.width == width || is_nearly) {
            self.is_near |= list.width != width;
        } else {
            // While the zoom changes, lists are short-lived: a small margin is enough.
            let share = if self.is_steady { 2 } else { 8 };
            let asked = widened(span, Nanos(span.duration().0 / share), width);
            list.names = make(asked.span, asked.columns, &mut list.blocks);
            (list.span, list.width) = (asked.span, width);
            list.strip.forget();
        }
        range_within(&list.blocks, span)
    }

    /// Returns the names of a profile's parts.
    pub(super) fn names(&self, kind: LaneKind) -> ProfileNames {
        self.lanes
            .get(&kind)
            .map(|list| list.names)
            .unwrap_or_default()
    }

    /// Returns a lane's blocks in the range that [`KeptLists::list`] returned.
    pub(super) fn blocks(&self, kind: LaneKind, seen: Range<usize>) -> &[Block] {
        let list = self.lanes.get(&kind);
        let blocks = list.and_then(|list| list.blocks.get(seen));
        blocks.unwrap_or_default()
    }

    /// Repaints the strip of a lane listed in this frame, unless it is up to date.
    pub(super) fn paint(
        &mut self,
        kind: LaneKind,
        columns: &Columns,
        room: &Room,
        color: impl FnMut(&Block) -> Color32,
        fading: &Fading<'_>,
    ) {
        let number = self.lanes.get(&kind).map_or(0, |list| list.number);
        let is_turn = self.is_turn(number);
        let Some(list) = self.lanes.get_mut(&kind) else {
            return;
        };
        let fit = list.strip.fit(columns, room, self.look);
        let is_painted = match fit {
            Fit::Exact => false,
            Fit::Not => true,
            Fit::Stretched if self.is_moving => is_turn,
            Fit::Near if self.is_moving => false,
            Fit::Near | Fit::Stretched => self.painted < MOST_PAINTED,
        };
        if is_painted {
            self.painted += usize::from(fit != Fit::Not);
            let blocks = |span| within(&list.blocks, span);
            list.strip
                .paint(columns, room, self.look, list.span, blocks, color, fading);
        } else {
            self.is_near |= fit != Fit::Exact;
        }
    }

    /// Returns the visible part of a lane's strip; appends its wide blocks to `wide`.
    pub(super) fn shown(
        &mut self,
        ctx: &Context,
        kind: LaneKind,
        columns: &Columns,
        room: &Room,
        wide: &mut Vec<Block>,
    ) -> Option<Shown> {
        let list = self.lanes.get_mut(&kind)?;
        list.strip.shown(ctx, columns, room, wide)
    }
}

/// Returns the blocks, sorted by time, that overlap a span.
pub(super) fn within(blocks: &[Block], span: TimeSpan) -> &[Block] {
    blocks.get(range_within(blocks, span)).unwrap_or_default()
}

fn range_within(blocks: &[Block], span: TimeSpan) -> Range<usize> {
    let is_past = |block: &Block| {
        block.end <= span.start.0 && (block.start < block.end || block.start < span.start.0)
    };
    let first = blocks.partition_point(is_past);
    first..blocks.partition_point(|block| block.start < span.end.0)
}

/// Returns the largest power of two that is at most `width`.
fn fine_width(width: i64) -> i64 {
    1 << width.max(1).ilog2()
}

/// A span of whole columns.
struct Widened {
    span: TimeSpan,
    columns: u32,
}

/// Returns `span` with `margin` on both sides, extended to whole columns of `width` ns.
fn widened(span: TimeSpan, margin: Nanos, width: i64) -> Widened {
    let low = (i128::from(span.start.0) - i128::from(margin.0)).div_euclid(i128::from(width));
    let high = (i128::from(span.end.0) + i128::from(margin.0)).div_euclid(i128::from(width)) + 1;
    let time = |bucket: i128| {
        let time = bucket * i128::from(width);
        i64::try_from(time).ok().map(Timestamp)
    };
    match (time(low), time(high)) {
        (Some(start), Some(end)) => {
            let columns = u32::try_from(high - low).unwrap_or(u32::MAX);
            let span = TimeSpan::new(start, end);
            Widened { span, columns }
        }
        // At the ends of the representable time there is no margin.
        _ => {
            let columns = u32::try_from(span.duration().0 / width).unwrap_or(u32::MAX);
            Widened { span, columns }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::afar::Stacked;
    use super::*;
    use crate::base::Job;
    use crate::load::{LoadedTrace, open};
    use crate::query::visible;
    use crate::trace::{CpuId, TrackId};
    use std::sync::Arc;

    fn plain() -> ColoredBy {
        ColoredBy {
            is_dark: true,
            color_by: ColorBy::Kind,
            found: None,
        }
    }

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
            let width = length.0 / i64::from(pixels);
            kept.begin(loaded.id, span, width, plain());
            for kind in lanes {
                asked += 1;
                let seen = kept.list(kind, span, |span, pixels, out| {
                    made += 1;
                    listed(&loaded, kind, span, pixels, out);
                    ProfileNames::default()
                });
                let list = kept.blocks(kind, seen);
                let mut plain = Vec::new();
                let asked = widened(span, Nanos(0), fine_width(width));
                listed(&loaded, kind, asked.span, asked.columns, &mut plain);
                // At the edges, a cached block may include items just outside.
                let inner = |list: &[Block]| -> Vec<(i64, i64, u32, u32)> {
                    let facts = list.iter().map(|it| (it.start, it.end, it.first, it.count));
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

    /// Draws a frame of full lanes like the canvas; returns the number of lists made and of strips painted.
    fn frame(
        kept: &mut KeptLists,
        loaded: &Arc<LoadedTrace>,
        span: TimeSpan,
        shown: &mut Vec<Vec<Color32>>,
    ) -> (usize, usize) {
        let width = (span.duration().0 / 400).max(1);
        kept.begin(loaded.id, span, width, plain());
        let columns = Columns {
            start: span.start.0,
            columns_per_nano: 400.0 / span.duration().0 as f64,
            base: 0.0,
            gap_from: 3,
            wide_from: 4,
            stacked: Stacked::Names,
            rows: 12,
            point: Some(1),
        };
        let room = Room {
            left: 0,
            width: 400,
            margin: 100,
        };
        let (mut made, mut painted) = (0, std::collections::BTreeSet::new());
        shown.clear();
        for track in 0..loaded.trace.tracks.len() as u32 {
            let kind = LaneKind::Instants(TrackId(track));
            if !kept.serves(kind, &columns, &room) {
                kept.list(kind, span, |span, pixels, out| {
                    made += 1;
                    listed(loaded, kind, span, pixels, out);
                    ProfileNames::default()
                });
                let color = |block: &Block| {
                    painted.insert(track);
                    Color32::from_gray((block.label % 255) as u8)
                };
                kept.paint(kind, &columns, &room, color, &Fading::onto(Color32::BLACK));
            }
            let list = kept.lanes.get(&kind);
            shown.push(
                list.map(|it| it.strip.spread(&columns, &room))
                    .unwrap_or_default(),
            );
        }
        (made, painted.len())
    }

    #[test]
    fn lanes_take_turns_while_a_view_zooms_and_are_exact_when_it_rests() {
        let path = "sample-traces/sched-irq-syscalls.dat";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let loaded =
            Arc::new(open(&path, &Job::default()).unwrap_or_else(|error| panic!("{error}")));
        let lanes = loaded.trace.tracks.len();
        assert!(lanes > 5 * TURNS, "{lanes}");
        let whole = loaded.trace.span;
        let middle = whole.start + Nanos(whole.duration().0 / 2);
        let span = |step: i32| {
            let half = Nanos((whole.duration().0 as f64 / 3.0 * 0.99_f64.powi(step)) as i64);
            TimeSpan::new(middle - half, middle + half)
        };
        let (mut kept, mut shown) = (KeptLists::default(), Vec::new());
        frame(&mut kept, &loaded, span(0), &mut shown);
        for step in 1..60 {
            let (made, painted) = frame(&mut kept, &loaded, span(step), &mut shown);
            assert!(made <= TURNS && painted <= TURNS, "{made}, {painted}");
            assert!(kept.is_near());
        }
        let mut frames = 0;
        while frames == 0 || kept.is_near() {
            frame(&mut kept, &loaded, span(59), &mut shown);
            frames += 1;
        }
        assert!(frames <= 2 + lanes / MOST_PAINTED, "{frames}");
        let mut anew = Vec::new();
        frame(&mut KeptLists::default(), &loaded, span(59), &mut anew);
        assert_eq!(shown.len(), anew.len());
        for (track, (kept, anew)) in shown.iter().zip(&anew).enumerate() {
            // (Blocks are cut at the edges of the listed span.)
            assert_eq!(kept[2..398], anew[2..398], "track {track}");
        }
    }
}
