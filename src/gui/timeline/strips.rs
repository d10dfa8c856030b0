//! Draws lanes full of thin bars as pictures one pixel high: a bar is then a few bytes instead of two triangles.
//!
//! Zoomed out, a large trace has up to one bar per pixel in each of 40 lanes. As triangles that is 100 bytes per bar,
//! written, copied into the frame and sent to the driver. All strips of a frame are rows of one texture, drawn as one
//! rectangle per lane, as high as the lane.

use super::open_ends::Fading;
use crate::query::visible::{Block, Piece};
use egui::layers::ShapeIdx;
use egui::{
    Color32, ColorImage, Context, Mesh, Painter, Rect, Shape, TextureHandle, TextureOptions, pos2,
};
use std::sync::Arc;

/// Lanes with fewer blocks are drawn as rectangles: limits for a resting and for a moving view.
pub(super) const FROM_BLOCKS: usize = 200;
pub(super) const FROM_BLOCKS_MOVING: usize = 32;

/// A strip is painted wider than the view on each side, by the view's width divided by this.
const MARGIN_SHARE: usize = 4;

/// The strips of a frame.
#[derive(Default)]
pub(super) struct Strips {
    /// Texture rows of the previous frame, to be overwritten.
    image: Arc<ColorImage>,
    texture: Option<TextureHandle>,
    /// Columns available in this frame.
    room: Room,
    pixels_per_point: f32,
    most_rows: usize,
    /// For each section: its placeholder shape, and its strips.
    places: Vec<Place>,
    rows: usize,
}

struct Place {
    painter: Painter,
    shape: ShapeIdx,
    /// Rectangle of each strip, its texture row, and the visible columns in it.
    strips: Vec<(Rect, usize, (f64, f64))>,
}

/// The columns available for a strip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// First column of the view, counted from the window's left edge.
    pub(super) left: i64,
    /// Number of columns of the view.
    pub(super) width: usize,
    /// Number of further columns on each side that may be painted, to be shifted into view later.
    pub(super) margin: usize,
}

impl Room {
    fn stride(&self) -> usize {
        self.width + 2 * self.margin
    }
}

/// The visible part of a painted strip.
pub(super) struct Shown<'a> {
    pixels: &'a [Color32],
    /// Positions in `pixels` that are at the view's edges.
    from: f64,
    until: f64,
}

impl<'a> Shown<'a> {
    /// Returns the part of `pixels` between two positions, to be spread over the view.
    pub(super) fn new(pixels: &'a [Color32], from: f64, until: f64) -> Shown<'a> {
        let most = pixels.len() as f64;
        let (from, until) = (from.clamp(0.0, most), until.clamp(0.0, most));
        let (first, last) = (from.floor(), until.ceil());
        Shown {
            pixels: pixels
                .get(first as usize..last as usize)
                .unwrap_or_default(),
            from: from - first,
            until: until - first,
        }
    }

    /// Returns the pixels as the window shows them in a view of `width` columns.
    #[cfg(test)]
    pub(super) fn spread(&self, width: usize) -> Vec<Color32> {
        let place = |column: usize| {
            let share = (column as f64 + 0.5) / width as f64;
            self.from + share * (self.until - self.from)
        };
        let pixel = |column| self.pixels.get(place(column) as usize).copied();
        (0..width).map(|it| pixel(it).unwrap_or_default()).collect()
    }
}

impl Strips {
    /// Starts a frame whose lanes are within `area`.
    pub(super) fn begin(&mut self, ctx: &Context, area: Rect) {
        self.pixels_per_point = ctx.pixels_per_point();
        let column = |x: f32| (f64::from(x) * f64::from(self.pixels_per_point)).round() as i64;
        let (left, right) = (column(area.left()), column(area.right()));
        self.most_rows = ctx.input(|input| input.max_texture_side);
        let width = usize::try_from(right - left).unwrap_or(0);
        let width = if width > self.most_rows { 0 } else { width };
        self.room = Room {
            left,
            width,
            margin: (width / MARGIN_SHARE).min((self.most_rows - width) / 2),
        };
        (self.rows, self.places) = (0, Vec::new());
        if Arc::get_mut(&mut self.image).is_none() {
            // The last frame's image is still in use: this frame needs a new one.
            self.image = Arc::default();
        }
        let image = Arc::make_mut(&mut self.image);
        image.pixels.clear();
    }

    /// Starts a section: its strips are drawn below what is painted after this.
    pub(super) fn begin_section(&mut self, painter: &Painter) {
        self.places.push(Place {
            painter: painter.clone(),
            shape: painter.add(Shape::Noop),
            strips: Vec::new(),
        });
    }

    /// Returns the columns for another strip, if the texture has space for it.
    pub(super) fn room(&self) -> Option<Room> {
        (self.room.width > 0 && self.rows < self.most_rows).then_some(self.room)
    }

    /// Shows a strip as a lane of the section started last.
    pub(super) fn add(&mut self, area: Rect, shown: &Shown<'_>) {
        let Some(place) = self.places.last_mut() else {
            return;
        };
        let stride = self.room.stride();
        let pixels = &mut Arc::make_mut(&mut self.image).pixels;
        let most = stride.min(shown.pixels.len());
        pixels.extend_from_slice(shown.pixels.get(..most).unwrap_or_default());
        self.rows += 1;
        pixels.resize(self.rows * stride, Color32::TRANSPARENT);
        let seen = (shown.from, shown.until);
        place.strips.push((area, self.rows - 1, seen));
    }

    /// Ends the frame: uploads the texture and draws the strips' rectangles.
    pub(super) fn end(&mut self, ctx: &Context) {
        if self.rows == 0 {
            return;
        }
        let image = Arc::make_mut(&mut self.image);
        let Room { left, width, .. } = self.room;
        let stride = self.room.stride();
        image.size = [stride, self.rows];
        let options = TextureOptions::NEAREST;
        let image = self.image.clone();
        let id = match &mut self.texture {
            Some(texture) => {
                texture.set(image, options);
                texture.id()
            }
            None => {
                let texture = ctx.load_texture("strips", image, options);
                self.texture.insert(texture).id()
            }
        };
        let point = |column: i64| column as f32 / self.pixels_per_point;
        let (left, right) = (point(left), point(left + width as i64));
        for place in self.places.drain(..) {
            let mut mesh = Mesh::with_texture(id);
            for (area, row, (from, until)) in place.strips {
                // The middle of the texture row at both edges: every pixel of the lane's height shows the same row.
                let v = (row as f32 + 0.5) / self.rows as f32;
                let u = |column: f64| (column / stride as f64) as f32;
                let rect = Rect::from_min_max(pos2(left, area.top()), pos2(right, area.bottom()));
                let part = Rect::from_min_max(pos2(u(from), v), pos2(u(until), v));
                mesh.add_rect_with_uv(rect, part, Color32::WHITE);
            }
            if !mesh.is_empty() {
                place.painter.set(place.shape, Shape::mesh(mesh));
            }
        }
    }
}

/// The pixels of a lane, from left to right.
pub(super) struct Strip<'a> {
    pixels: &'a mut [Color32],
    /// Column of the first pixel, counted from the window's left edge.
    left: i64,
}

/// Maps the blocks of a lane to columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    /// Time at `base`, in ns.
    pub(super) start: i64,
    pub(super) columns_per_nano: f64,
    /// Column of the lane's left edge, counted from the window's left edge.
    pub(super) base: f64,
    /// Bars with more columns than this leave one free, so that neighbours can be distinguished.
    pub(super) gap_from: usize,
    /// Bars with at least this many columns are reported individually.
    pub(super) wide_from: usize,
    /// For points: the number of columns of each, regardless of its block's duration.
    pub(super) point: Option<usize>,
}

impl Columns {
    /// Returns whether bars look the same in both except for their positions.
    pub(super) fn draws_like(&self, other: &Columns) -> bool {
        let looks = |it: &Columns| (it.gap_from, it.wide_from, it.point);
        looks(self) == looks(other)
    }
}

impl<'a> Strip<'a> {
    /// Returns a strip whose first pixel is the column `left`.
    pub(super) fn new(pixels: &'a mut [Color32], left: i64) -> Strip<'a> {
        Strip { pixels, left }
    }

    /// Paints blocks sorted by time; blocks narrower than a column are merged into one per column. Wide blocks are
    /// appended to `wide`.
    pub(super) fn paint(
        &mut self,
        blocks: &[Block],
        columns: &Columns,
        mut color: impl FnMut(&Block) -> Color32,
        fading: &Fading<'_>,
        wide: &mut Vec<Block>,
    ) {
        let count = self.pixels.len();
        let base = columns.base - self.left as f64 + 0.5;
        let column = |time: i64| {
            let nanos = time.saturating_sub(columns.start) as f64;
            // (Through integers: rounding a float is a slow function call.)
            ((base + nanos * columns.columns_per_nano) as i64).clamp(0, count as i64) as usize
        };
        let thin_below = match columns.point {
            Some(_) => i64::MAX,
            None => columns.columns_per_nano.recip() as i64,
        };
        let least = columns.point.unwrap_or(1);
        let mut open: Option<(usize, &Block, Option<Piece>)> = None;
        let mut close = |pixels: &mut [Color32], open: Option<(usize, &Block, Option<Piece>)>| {
            if let Some((at, first, joined)) = open
                && at < count
            {
                let fill = match joined {
                    Some(piece) => color(&piece.block(0)),
                    None => color(first),
                };
                for pixel in pixels.iter_mut().skip(at).take(least) {
                    *pixel = fill;
                }
            }
        };
        for block in blocks {
            let from = column(block.start);
            if block.end - block.start < thin_below {
                if let Some((at, first, joined)) = &mut open
                    && *at == from
                {
                    let piece = joined.get_or_insert_with(|| Piece::of(first));
                    piece.take_in(&Piece::of(block));
                } else {
                    close(self.pixels, open.replace((from, block, None)));
                }
                continue;
            }
            close(self.pixels, open.take());
            let to = column(block.end).max(from + 1);
            let gap = usize::from(to - from > columns.gap_from);
            close(self.pixels, Some((from, block, None)));
            if let Some([first, more @ ..]) = self.pixels.get_mut(from..(to - gap).min(count)) {
                more.fill(*first);
            }
            // An end past the edge is not visible: no fading there.
            if to < count && fading.is_open(block) {
                let end = to - gap;
                let steps = fading.steps(end - from, 1.0);
                for (at, share) in (end - steps.len()..end).zip(steps) {
                    if let Some(pixel) = self.pixels.get_mut(at) {
                        *pixel = fading.mixed(*pixel, share);
                    }
                }
            }
            if to - from >= columns.wide_from {
                wide.push(*block);
            }
        }
        close(self.pixels, open);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bars::Bars;
    use super::*;
    use crate::gui::soft::{Picture, Soft};
    use egui::vec2;

    const SPAN: i64 = 60;

    /// Returns a block from start (ns), length (ns) and label.
    fn block((start, length, label): (i64, i64, u32)) -> Block {
        Block {
            start,
            end: start + length,
            label,
            first: 0,
            count: 1,
            busy: 1.0,
        }
    }

    fn color(label: u32) -> Color32 {
        [
            Color32::from_rgb(200, 30, 77),
            Color32::from_rgb(1, 254, 90),
        ][label as usize]
    }

    /// Draws the picture of a lane of 60 points whose left edge is at `left`.
    fn picture(left: f32, scale: f32, paint: impl Fn(&mut egui::Ui, Rect)) -> Picture {
        let ctx = Context::default();
        let mut input = egui::RawInput::default();
        if let Some(viewport) = input.viewports.get_mut(&input.viewport_id) {
            viewport.native_pixels_per_point = Some(scale);
        }
        let area = Rect::from_min_size(pos2(left, 0.0), vec2(SPAN as f32, 4.0));
        let mut output = ctx.run_ui(input, |ui| paint(ui, area));
        let mut soft = Soft::default();
        soft.take_textures(&mut output.textures_delta);
        let primitives = ctx.tessellate(output.shapes, output.pixels_per_point);
        let (width, height) = ((80.0 * scale) as usize, (4.0 * scale) as usize);
        soft.draw(&primitives, width, height, scale)
    }

    /// Paints blocks as rectangles, one ns per point.
    fn paint_bars(ui: &egui::Ui, area: Rect, blocks: &[Block]) {
        let (left, point) = (area.left(), 1.0 / ui.pixels_per_point());
        let mut mesh = Mesh::default();
        let mut bars = Bars::new(&mut mesh, area);
        for block in blocks {
            let from = left + block.start.max(0) as f32;
            let to = left + block.end.min(SPAN) as f32;
            let to = if to - from > 3.0 { to - point } else { to };
            bars.add(from, to, color(block.label));
        }
        drop(bars);
        ui.painter_at(area).add(Shape::mesh(mesh));
    }

    /// Paints blocks as a strip, one ns per point.
    fn paint_strip(ui: &mut egui::Ui, area: Rect, blocks: &[Block]) {
        let scale = ui.pixels_per_point();
        let mut strips = Strips::default();
        strips.begin(ui.ctx(), area);
        strips.begin_section(&ui.painter_at(area));
        // A first strip, so that the tested lane is the second row of the texture.
        let room = strips.room().unwrap_or_else(|| panic!("there is room"));
        let width = room.width as f64;
        let mut pixels = vec![Color32::RED; room.width + 7];
        let red = Shown::new(&pixels, 0.0, width);
        strips.add(area.translate(vec2(0.0, 100.0)), &red);
        // The strip has five columns left of the view, and two right of it.
        pixels.fill(Color32::TRANSPARENT);
        let mut strip = Strip::new(&mut pixels, room.left - 5);
        let columns = Columns {
            start: 0,
            columns_per_nano: f64::from(scale),
            base: f64::from(area.left() * scale),
            gap_from: (3.0 * scale) as usize,
            wide_from: 4,
            point: None,
        };
        let mut wide = Vec::new();
        strip.paint(
            blocks,
            &columns,
            |block| color(block.label),
            &Fading::onto(Color32::BLACK),
            &mut wide,
        );
        let seen = |it: &Block| {
            let until = (it.end as f32).min(SPAN as f32 + 2.0 / scale);
            until - (it.start as f32).max(-5.0 / scale)
        };
        let long = blocks.iter().filter(|it| seen(it) * scale >= 4.0);
        assert!(wide.iter().eq(long));
        strips.add(area, &Shown::new(&pixels, 5.0, 5.0 + width));
        strips.end(ui.ctx());
        // The texture must outlive the frame.
        ui.data_mut(|data| data.insert_temp(egui::Id::NULL, strips.texture));
    }

    #[test]
    fn a_strip_shows_what_rectangles_show() {
        let blocks = [
            (-3, 7, 1),
            (4, 1, 0),
            (5, 1, 1),
            (6, 16, 1),
            (32, 2, 0),
            (40, 1, 1),
            (41, 1, 1),
            (59, 7, 0),
        ]
        .map(block);
        for scale in [1.0, 2.0] {
            for left in [10.0, 13.0] {
                let strip = picture(left, scale, |ui, area| paint_strip(ui, area, &blocks));
                let bars = picture(left, scale, |ui, area| paint_bars(ui, area, &blocks));
                assert_eq!(strip, bars, "{left} at {scale}");
                assert!(strip.rgba.chunks(4).any(|pixel| pixel[0] == 200));
            }
        }
    }

    #[test]
    fn what_is_thinner_than_a_column_is_joined_there() {
        let mut pixels = [Color32::TRANSPARENT; 4];
        let (mut strip, mut wide) = (
            Strip {
                pixels: &mut pixels,
                left: 0,
            },
            Vec::new(),
        );
        let columns = Columns {
            start: 1_000,
            columns_per_nano: 0.01,
            base: 0.0,
            gap_from: 3,
            wide_from: 4,
            point: None,
        };
        let blocks = [
            (1_010, 10, 0),
            (1_020, 30, 1),
            (1_110, 10, 0),
            (1_120, 10, 0),
            (1_310, 10, 1),
        ]
        .map(block);
        let mut seen = Vec::new();
        let note = |block: &Block| {
            seen.push((block.label, block.count, block.end - block.start));
            color(block.label)
        };
        strip.paint(
            &blocks,
            &columns,
            note,
            &Fading::onto(Color32::BLACK),
            &mut wide,
        );
        assert_eq!(seen, [(1, 2, 40), (0, 2, 20), (1, 1, 10)]);
        let none = Color32::TRANSPARENT;
        // Rounded like the edges of rectangles: half a column rounds up.
        assert_eq!(pixels, [color(1), color(0), none, color(1)]);
        assert!(wide.is_empty());
    }
}
