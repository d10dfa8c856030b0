//! Lane strips cached from frame to frame: while the view moves, a strip painted before is shifted or stretched.
//!
//! Merging and colouring the bars of full lanes is most of a frame's cost. A strip painted a little wider than the view
//! is exact while the view pans by whole pixels, approximate (to the nearest pixel) while it pans by fractions, and
//! stretched while it zooms. While the view moves, lanes are repainted in turns; once it rests, strips that are not
//! exact are repainted, a few lanes per frame.

use super::open_ends::Fading;
use super::strips::{Columns, Picture, Room, Shown, Strip};
use crate::base::{TimeSpan, Timestamp};
use crate::query::visible::Block;
use egui::{Color32, Context};

/// A strip may be stretched or shrunk at most by this factor.
const MOST_STRETCH: f64 = 2.0;
/// Below this relative stretch a strip is not repainted while the view moves.
const LEAST_STRETCH: f64 = 0.08;
/// Fractions of a column below this count as zero.
const HARDLY: f64 = 1e-6;

/// A number that changes with everything, except their blocks, that the colours of all strips depend on.
pub(super) type Look = u64;

/// How well a cached strip matches the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// As if it were painted now.
    Exact,
    /// Shifted by less than a pixel, or stretched or shrunk imperceptibly.
    Near,
    /// Visibly stretched or shrunk.
    Stretched,
    /// The strip cannot be used.
    Not,
}

/// Maps times to columns: `base` + columns since `start`.
#[derive(Clone, Copy, Debug)]
struct Ruler {
    start: i64,
    columns_per_nano: f64,
    base: f64,
}

impl Ruler {
    /// Returns the mapping of `columns`, counted from the column `left`.
    fn new(columns: &Columns, left: i64) -> Ruler {
        Ruler {
            start: columns.start,
            columns_per_nano: columns.columns_per_nano,
            base: columns.base - left as f64,
        }
    }

    /// Returns how columns of `other` are placed here.
    fn from(&self, other: &Ruler) -> Moved {
        let stretch = self.columns_per_nano / other.columns_per_nano;
        let apart = other.start.saturating_sub(self.start) as f64 * self.columns_per_nano;
        let shift = other.base - (self.base + apart) / stretch;
        Moved { shift, stretch }
    }

    fn time(&self, column: f64) -> i64 {
        let nanos = (column - self.base) / self.columns_per_nano;
        self.start.saturating_add(nanos as i64)
    }
}

/// Maps the columns of one ruler to those of another: column `place` is column `(place - shift) * stretch` there.
struct Moved {
    shift: f64,
    stretch: f64,
}

/// The cached strip of a lane.
#[derive(Default)]
pub(super) struct KeptStrip {
    painted: Option<Painted>,
}

struct Painted {
    look: Look,
    columns: Columns,
    ruler: Ruler,
    picture: Picture,
    /// The blocks that are, or nearly are, wide enough to be reported individually.
    wide: Vec<Block>,
}

impl KeptStrip {
    /// Drops the strip, after its blocks have changed.
    pub(super) fn forget(&mut self) {
        self.painted = None;
    }

    /// Returns how well the strip matches a view of this room.
    pub(super) fn fit(&self, columns: &Columns, room: &Room, look: Look) -> Fit {
        let Some(painted) = &self.painted else {
            return Fit::Not;
        };
        if painted.look != look || !painted.columns.draws_like(columns) {
            return Fit::Not;
        }
        let Moved { shift, stretch } = painted.ruler.from(&Ruler::new(columns, room.left));
        let (first, last) = (-shift * stretch, (room.width as f64 - shift) * stretch);
        let is_there = first >= -0.5 && last <= painted.picture.columns() as f64 + 0.5;
        let is_bearable = (MOST_STRETCH.recip()..=MOST_STRETCH).contains(&stretch);
        if !is_there || !is_bearable {
            return Fit::Not;
        }
        let is_same = painted.columns.columns_per_nano == columns.columns_per_nano;
        match is_same {
            true if (shift - shift.round()).abs() < HARDLY => Fit::Exact,
            _ if (stretch - 1.0).abs() < LEAST_STRETCH => Fit::Near,
            _ => Fit::Stretched,
        }
    }

    /// Returns the visible part of the strip, which must fit; appends its wide blocks to `wide`.
    pub(super) fn shown(
        &mut self,
        ctx: &Context,
        columns: &Columns,
        room: &Room,
        wide: &mut Vec<Block>,
    ) -> Option<Shown> {
        let painted = self.painted.as_mut()?;
        wide.extend_from_slice(&painted.wide);
        let (from, until) = painted.seen(columns, room);
        let count = painted.picture.columns();
        Some(Shown {
            texture: painted.picture.texture(ctx),
            columns: count,
            from: from.clamp(0.0, count as f64),
            until: until.clamp(0.0, count as f64),
        })
    }

    #[expect(clippy::too_many_arguments, reason = "each is what a strip depends on")]
    /// Paints the strip for a view of this room and a margin around it, within `span` at most, for which `blocks`
    /// returns the blocks.
    pub(super) fn paint<'a>(
        &mut self,
        columns: &Columns,
        room: &Room,
        look: Look,
        span: TimeSpan,
        blocks: impl FnOnce(TimeSpan) -> &'a [Block],
        color: impl FnMut(&Block) -> Color32,
        fading: &Fading<'_>,
    ) {
        let view = Ruler::new(columns, room.left);
        let column = |time: Timestamp| {
            let nanos = time.0.saturating_sub(view.start) as f64;
            view.base + nanos * view.columns_per_nano
        };
        let (width, margin) = (room.width as f64, room.margin as f64);
        let first = column(span.start).floor().clamp(-margin, 0.0);
        let last = column(span.end).ceil().clamp(width, width + margin);
        let mut painted = self.painted.take().unwrap_or_else(|| Painted {
            look,
            columns: *columns,
            ruler: view,
            picture: Picture::default(),
            wide: Vec::new(),
        });
        let left = room.left + first as i64;
        painted.look = look;
        painted.columns = *columns;
        painted.ruler = Ruler::new(columns, left);
        painted.wide.clear();
        // One more column on both sides, since edges are rounded.
        let seen = TimeSpan::new(
            Timestamp(view.time(first - 1.0)),
            Timestamp(view.time(last + 1.0).saturating_add(1)),
        );
        let near = Columns {
            wide_from: columns.wide_from - columns.wide_from / 8,
            ..*columns
        };
        let (blocks, count) = (blocks(seen), (last - first) as usize);
        let rows = columns.rows_for(blocks);
        let pixels = painted.picture.clear(count, rows);
        Strip::new(pixels, count, left).paint(blocks, &near, color, fading, &mut painted.wide);
        self.painted = Some(painted);
    }

    /// Returns the lowest row of pixels as the window shows it.
    #[cfg(test)]
    pub(super) fn spread(&self, columns: &Columns, room: &Room) -> Vec<Color32> {
        let Some(painted) = &self.painted else {
            return Vec::new();
        };
        let count = painted.picture.columns();
        let (from, until) = painted.seen(columns, room);
        let (from, until) = (
            from.clamp(0.0, count as f64),
            until.clamp(0.0, count as f64),
        );
        let pixels = painted.picture.lowest_row();
        let place = |column: usize| {
            let share = (column as f64 + 0.5) / room.width as f64;
            from + share * (until - from)
        };
        let pixel = |column| pixels.get(place(column) as usize).copied();
        (0..room.width)
            .map(|it| pixel(it).unwrap_or_default())
            .collect()
    }
}

impl Painted {
    /// Returns which columns are at the edges of a view.
    fn seen(&self, columns: &Columns, room: &Room) -> (f64, f64) {
        let Moved { shift, stretch } = self.ruler.from(&Ruler::new(columns, room.left));
        match self.columns.columns_per_nano == columns.columns_per_nano {
            true => (-shift.round(), room.width as f64 - shift.round()),
            false => (-shift * stretch, (room.width as f64 - shift) * stretch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::afar::Stacked;
    use super::super::kept::within;
    use super::*;

    const WIDTH: usize = 400;

    /// Returns bars of `least` ns and up to forty ns more, with holes between them, each in its own colour.
    fn blocks(least: u64) -> Vec<Block> {
        let mut blocks = Vec::new();
        let (mut time, mut random) = (0, 7_u64);
        for label in 0..600 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let (length, hole) = (least + (random >> 33) % 40, (random >> 50) % 20);
            blocks.push(Block {
                start: time,
                end: time + length as i64,
                label,
                first: label,
                count: 1,
                times: [length as f32, 0.0, 0.0, 0.0, 0.0, 0.0],
            });
            time += (length + hole) as i64;
        }
        blocks
    }

    fn color(block: &Block) -> Color32 {
        let [a, b, ..] = block.label.to_le_bytes();
        Color32::from_rgb(200, a, b)
    }

    fn columns(start: i64, nanos_per_column: f64) -> Columns {
        Columns {
            start,
            columns_per_nano: nanos_per_column.recip(),
            base: 10.0,
            gap_from: 3,
            wide_from: 4,
            stacked: Stacked::Names,
            rows: 1,
            point: None,
        }
    }

    fn painted(blocks: &[Block], columns: &Columns) -> Vec<Color32> {
        let mut pixels = vec![Color32::TRANSPARENT; WIDTH];
        let end = columns.start + (WIDTH as f64 / columns.columns_per_nano) as i64 + 8;
        let seen = within(
            blocks,
            TimeSpan::new(Timestamp(columns.start - 8), Timestamp(end)),
        );
        let none = Fading::onto(Color32::BLACK);
        Strip::new(&mut pixels, WIDTH, 10).paint(seen, columns, color, &none, &mut Vec::new());
        pixels
    }

    const ROOM: Room = Room {
        left: 10,
        width: WIDTH,
        margin: WIDTH / 4,
    };

    fn shown(kept: &KeptStrip, columns: &Columns) -> Vec<Color32> {
        kept.spread(columns, &ROOM)
    }

    fn kept(blocks: &[Block], columns: &Columns) -> KeptStrip {
        let mut kept = KeptStrip::default();
        let span = TimeSpan::new(Timestamp(-1_000), Timestamp(1_000_000));
        let blocks = |span| within(blocks, span);
        kept.paint(
            columns,
            &ROOM,
            1,
            span,
            blocks,
            color,
            &Fading::onto(Color32::BLACK),
        );
        kept
    }

    #[test]
    fn a_strip_moves_along_by_whole_columns() {
        let blocks = blocks(1);
        let first = columns(2_000, 8.0);
        let kept = kept(&blocks, &first);
        for moved in [-100, -3, 0, 1, 99] {
            let now = columns(2_000 + moved * 8, 8.0);
            assert_eq!(kept.fit(&now, &ROOM, 1), Fit::Exact, "{moved}");
            // (Blocks outside are clamped to the edge columns.)
            let inner = |pixels: Vec<Color32>| pixels[1..WIDTH - 1].to_vec();
            let (now, then) = (painted(&blocks, &now), shown(&kept, &now));
            assert_eq!(inner(then), inner(now), "{moved}");
        }
        // Columns outside the painted part cannot be shown, and no strip in other colours.
        for far in [-102, 102] {
            let now = columns(2_000 + far * 8, 8.0);
            assert_eq!(kept.fit(&now, &ROOM, 1), Fit::Not, "{far}");
        }
        assert_eq!(kept.fit(&first, &ROOM, 2), Fit::Not);
    }

    #[test]
    fn a_strip_that_is_nearly_right_is_right_but_for_a_column() {
        let blocks = blocks(20);
        let kept = kept(&blocks, &columns(2_000, 8.0));
        for (start, nanos_per_column, fit) in [
            (2_003, 8.0, Fit::Near),
            (1_957, 8.0, Fit::Near),
            (2_010, 7.8, Fit::Near),
            (1_990, 8.2, Fit::Near),
            (2_200, 4.5, Fit::Stretched),
            (1_700, 10.0, Fit::Stretched),
        ] {
            let now = columns(start, nanos_per_column);
            assert_eq!(kept.fit(&now, &ROOM, 1), fit, "{start}");
            let (near, exact) = (shown(&kept, &now), painted(&blocks, &now));
            let inner = near.iter().enumerate().take(WIDTH - 2).skip(2);
            // A hole narrower than a column may appear or vanish.
            let bars = inner.filter(|(_, pixel)| pixel.a() > 0);
            assert!(bars.clone().count() > WIDTH / 2);
            for (at, pixel) in bars {
                let around = &exact[at - 2..=at + 2];
                assert!(
                    around.contains(pixel),
                    "{start}: {pixel:?} at {at} {around:?}"
                );
            }
        }
        for nanos_per_column in [3.9, 16.1] {
            let far = columns(2_500, nanos_per_column);
            assert_eq!(kept.fit(&far, &ROOM, 1), Fit::Not);
        }
    }
}
