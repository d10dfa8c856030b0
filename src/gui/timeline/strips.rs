//! Draws lanes full of thin bars as pictures: a bar is then a few bytes instead of two triangles, and a column of pixels
//! that is coarser than the data shows shares by height.
//!
//! Zoomed out, a large trace has up to one bar per pixel in each of 40 lanes. As triangles that is 100 bytes per bar,
//! written, copied into the frame and sent to the driver. A strip is a texture of its own, uploaded when it was painted
//! anew, and drawn as one rectangle.

use super::afar::{Afar, Column, Stacked};
use super::open_ends::Fading;
use crate::query::visible::Block;
use egui::layers::ShapeIdx;
use egui::{
    Color32, ColorImage, Context, Mesh, Painter, Rect, Shape, TextureHandle, TextureId,
    TextureOptions, pos2,
};
use std::sync::Arc;

/// Lanes with fewer blocks are drawn as rectangles if all are bars: limits for a resting and for a moving view.
pub(super) const FROM_BLOCKS: usize = 200;
pub(super) const FROM_BLOCKS_MOVING: usize = 32;

/// A strip is painted wider than the view on each side, by the view's width divided by this.
const MARGIN_SHARE: usize = 4;
/// Most rows of a strip: one a pixel in most lanes, and in higher ones a share is shown to a twentieth of the height.
const MOST_ROWS: usize = 20;

/// The strips of a frame.
#[derive(Default)]
pub(super) struct Strips {
    /// Columns available in this frame.
    room: Room,
    pixels_per_point: f32,
    /// For each section: its placeholder shape, and its strips.
    places: Vec<Place>,
}

struct Place {
    painter: Painter,
    shape: ShapeIdx,
    strips: Vec<Shape>,
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

/// The visible part of a painted strip: columns of its texture.
pub(super) struct Shown {
    pub(super) texture: TextureId,
    /// Number of columns of the texture.
    pub(super) columns: usize,
    /// Columns that are at the view's edges.
    pub(super) from: f64,
    pub(super) until: f64,
}

impl Strips {
    /// Starts a frame whose lanes are within `area`.
    pub(super) fn begin(&mut self, ctx: &Context, area: Rect) {
        self.pixels_per_point = ctx.pixels_per_point();
        let column = |x: f32| (f64::from(x) * f64::from(self.pixels_per_point)).round() as i64;
        let (left, right) = (column(area.left()), column(area.right()));
        let most = ctx.input(|input| input.max_texture_side);
        let width = usize::try_from(right - left).unwrap_or(0);
        let width = if width > most { 0 } else { width };
        self.room = Room {
            left,
            width,
            margin: (width / MARGIN_SHARE).min((most - width) / 2),
        };
        self.places = Vec::new();
    }

    /// Starts a section: its strips are drawn below what is painted after this.
    pub(super) fn begin_section(&mut self, painter: &Painter) {
        self.places.push(Place {
            painter: painter.clone(),
            shape: painter.add(Shape::Noop),
            strips: Vec::new(),
        });
    }

    /// Returns the columns for a strip; `None` if the view is wider than a texture may be.
    pub(super) fn room(&self) -> Option<Room> {
        (self.room.width > 0).then_some(self.room)
    }

    /// Returns the number of rows of a strip in a lane of this height in points.
    pub(super) fn rows_of(&self, height: f32) -> usize {
        ((height * self.pixels_per_point).round() as usize).clamp(1, MOST_ROWS)
    }

    /// Shows a strip as a lane of the section started last.
    pub(super) fn add(&mut self, area: Rect, shown: &Shown) {
        let Some(place) = self.places.last_mut() else {
            return;
        };
        let point = |column: i64| column as f32 / self.pixels_per_point;
        let Room { left, width, .. } = self.room;
        let across = point(left)..=point(left + width as i64);
        let u = |column: f64| (column / shown.columns as f64) as f32;
        let rect = Rect::from_x_y_ranges(across, area.y_range());
        let part = Rect::from_min_max(pos2(u(shown.from), 0.0), pos2(u(shown.until), 1.0));
        let mut mesh = Mesh::with_texture(shown.texture);
        mesh.add_rect_with_uv(rect, part, Color32::WHITE);
        place.strips.push(Shape::mesh(mesh));
    }

    /// Ends the frame: draws the strips' rectangles.
    pub(super) fn end(&mut self) {
        for place in self.places.drain(..) {
            if !place.strips.is_empty() {
                place.painter.set(place.shape, Shape::Vec(place.strips));
            }
        }
    }
}

/// A painted strip: a picture, and its texture once it was shown.
#[derive(Default)]
pub(super) struct Picture {
    image: Arc<ColorImage>,
    texture: Option<TextureHandle>,
    is_uploaded: bool,
}

impl Picture {
    /// Empties the picture, for `columns` times `rows` pixels.
    pub(super) fn clear(&mut self, columns: usize, rows: usize) -> &mut [Color32] {
        self.is_uploaded = false;
        if Arc::get_mut(&mut self.image).is_none() {
            // The renderer has not taken the last one yet.
            self.image = Arc::default();
        }
        let image = Arc::make_mut(&mut self.image);
        image.size = [columns, rows];
        image.source_size = egui::vec2(columns as f32, rows as f32);
        image.pixels.clear();
        image.pixels.resize(columns * rows, Color32::TRANSPARENT);
        &mut image.pixels
    }

    /// Returns the number of columns.
    pub(super) fn columns(&self) -> usize {
        self.image.size[0]
    }

    /// Returns the pixels of the lowest row.
    #[cfg(test)]
    pub(super) fn lowest_row(&self) -> &[Color32] {
        let [columns, rows] = self.image.size;
        &self.image.pixels[(rows - 1) * columns..]
    }

    /// Returns the texture that shows the picture.
    pub(super) fn texture(&mut self, ctx: &Context) -> TextureId {
        let options = TextureOptions::NEAREST;
        let texture = match &mut self.texture {
            Some(texture) => {
                if !self.is_uploaded {
                    texture.set(self.image.clone(), options);
                }
                texture.id()
            }
            None => {
                let texture = ctx.load_texture("strip", self.image.clone(), options);
                self.texture.insert(texture).id()
            }
        };
        self.is_uploaded = true;
        texture
    }
}

/// The pixels of a lane, row by row.
pub(super) struct Strip<'a> {
    pixels: &'a mut [Color32],
    columns: usize,
    /// Column of the first pixel, counted from the window's left edge.
    left: i64,
    /// The column painted last that is coarser than the data.
    stacked: Option<i64>,
}

/// The edges of a bar, as positions in columns.
#[derive(Clone, Copy, Debug)]
struct Edges {
    from: f64,
    until: f64,
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
    /// The kind of parts that are stacked in columns that are coarser than the data.
    pub(super) stacked: Stacked,
    /// Number of rows for the stacked parts.
    pub(super) rows: usize,
    /// For points: the number of columns of each, regardless of its block's duration.
    pub(super) point: Option<usize>,
}

impl Columns {
    /// Returns whether bars look the same in both except for their positions.
    pub(super) fn draws_like(&self, other: &Columns) -> bool {
        let looks = |it: &Columns| (it.gap_from, it.wide_from, it.point, it.rows);
        looks(self) == looks(other)
    }

    /// Returns whether a block is drawn as a bar, and not as a part of the columns that it is in.
    pub(super) fn is_bar(&self, block: &Block) -> bool {
        let length = block.end - block.start;
        block.count == 1 && length as f64 * self.columns_per_nano >= 1.0
    }

    /// Returns the number of rows that a picture of these blocks needs: one if there is nothing to stack.
    pub(super) fn rows_for(&self, blocks: &[Block]) -> usize {
        match blocks.iter().all(|block| self.is_bar(block)) {
            true => 1,
            false => self.rows,
        }
    }
}

impl<'a> Strip<'a> {
    /// Returns a strip of `columns` columns of which the first is the column `left`.
    pub(super) fn new(pixels: &'a mut [Color32], columns: usize, left: i64) -> Strip<'a> {
        Strip {
            pixels,
            columns: columns.max(1),
            left,
            stacked: None,
        }
    }

    /// Paints blocks sorted by time. Bars with at least `wide_from` columns are appended to `wide`.
    pub(super) fn paint(
        &mut self,
        blocks: &[Block],
        columns: &Columns,
        mut color: impl FnMut(&Block) -> Color32,
        fading: &Fading<'_>,
        wide: &mut Vec<Block>,
    ) {
        if let Some(width) = columns.point {
            self.paint_points(blocks, columns, width, color);
            return;
        }
        let base = columns.base - self.left as f64;
        let position = |time: i64| {
            let nanos = time.saturating_sub(columns.start) as f64;
            base + nanos * columns.columns_per_nano
        };
        // The part of a block before the strip is measured only in the column before the first one.
        let (first, last) = (-1.0, self.columns as f64 + 1.0);
        let mut afar = Afar::new(columns.stacked);
        for block in blocks {
            let (from, until) = (position(block.start), position(block.end));
            if columns.is_bar(block) {
                afar.bar(block, from, until, |column| self.stack(&column, &mut color));
                let edges = Edges {
                    from: from.clamp(first, last),
                    until: until.clamp(first, last),
                };
                let width = self.bar(block, edges, columns, color(block), fading);
                if width >= columns.wide_from {
                    wide.push(*block);
                }
            } else if until >= first && from <= last {
                afar.thin(block, from, until, |column| self.stack(&column, &mut color));
            }
        }
        afar.finish(|column| self.stack(&column, &mut color));
    }

    /// Paints a bar between two positions, rounded to whole columns; returns the number of its columns.
    fn bar(
        &mut self,
        block: &Block,
        edges: Edges,
        columns: &Columns,
        fill: Color32,
        fading: &Fading<'_>,
    ) -> usize {
        // (Through integers: rounding a float is a slow function call.)
        let column = |position: f64| ((position + 0.5).max(0.0) as usize).min(self.columns);
        let from = column(edges.from);
        let to = column(edges.until).max(from + 1);
        let width = to - from;
        let gap = usize::from(to - from > columns.gap_from);
        // A column that is coarser than the data was painted together with the start of this bar.
        let is_stacked = |column: usize| self.stacked == Some(column as i64);
        let from = from + usize::from(is_stacked(from));
        let (until, is_cut) = ((to - gap).min(self.columns), to >= self.columns);
        for row in self.pixels.chunks_exact_mut(self.columns) {
            if let Some(bar) = row.get_mut(from..until) {
                bar.fill(fill);
            }
        }
        // An end past the edge is not visible: no fading there.
        if !is_cut && fading.is_open(block) {
            let end = to - gap;
            let steps = fading.steps(end.saturating_sub(from), 1.0);
            for (at, share) in (end - steps.len()..end).zip(steps) {
                for row in self.pixels.chunks_exact_mut(self.columns) {
                    if let Some(pixel) = row.get_mut(at) {
                        *pixel = fading.mixed(*pixel, share);
                    }
                }
            }
        }
        width
    }

    /// Paints a column that is coarser than the data.
    fn stack(&mut self, column: &Column, color: &mut impl FnMut(&Block) -> Color32) {
        self.stacked = Some(column.at);
        let at = usize::try_from(column.at).ok();
        let Some(at) = at.filter(|at| *at < self.columns) else {
            return;
        };
        let rows = self.pixels.len() / self.columns;
        let mut row = rows;
        for (part, height) in column.heights(rows).into_iter().enumerate() {
            if height > 0 {
                let fill = color(&column.block_of(part));
                for _ in 0..height.min(row) {
                    row -= 1;
                    self.pixels[row * self.columns + at] = fill;
                }
            }
        }
        for row in 0..row {
            self.pixels[row * self.columns + at] = Color32::TRANSPARENT;
        }
    }

    /// Paints points, each `width` columns wide: a band whose height grows with the number of points, and a full tick
    /// for a point that is alone.
    fn paint_points(
        &mut self,
        blocks: &[Block],
        columns: &Columns,
        width: usize,
        mut color: impl FnMut(&Block) -> Color32,
    ) {
        let base = columns.base - self.left as f64 + 0.5;
        let column = |block: &Block| {
            let nanos = block.start.saturating_sub(columns.start) as f64;
            (base + nanos * columns.columns_per_nano).floor() as i64
        };
        let rows = self.pixels.len() / self.columns;
        let alone = (ALONE * width) as i64;
        let mut before = i64::MIN / 2;
        let mut rest = blocks;
        while let Some((first, after)) = rest.split_first() {
            let at = column(first);
            let count = after.iter().take_while(|block| column(block) == at).count();
            let (same, others) = after.split_at(count);
            let mut all = *first;
            all.count += same.iter().map(|block| block.count).sum::<u32>();
            rest = others;
            let next = rest.first().map_or(i64::MAX / 2, column);
            let is_alone = all.count == 1 && at - before >= alone && next - at >= alone;
            before = at;
            let height = match is_alone {
                true => rows,
                false => {
                    // A band has its own colour, also if it contains a single event.
                    all.count = all.count.max(2);
                    points_height(all.count, rows)
                }
            };
            let fill = color(&all);
            for column in at.max(0)..(at + width as i64).min(self.columns as i64) {
                for row in rows - height..rows {
                    self.pixels[row * self.columns + column as usize] = fill;
                }
            }
        }
    }
}

/// Points at least this many times their width away from others are alone.
const ALONE: usize = 12;

/// Returns how many of `rows` rows a column with several points takes: a third for a few, all for ten thousand.
fn points_height(count: u32, rows: usize) -> usize {
    let share = 0.34 + 0.66 * (f64::from(count).log10() / 4.0).min(1.0);
    ((share * rows as f64).round() as usize).clamp(1, rows.max(1))
}

#[cfg(test)]
mod tests {
    use super::super::bars::Bars;
    use super::*;
    use crate::gui::soft::{self, Soft};
    use crate::index::lod::PARTS;
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
            times: times(length),
        }
    }

    fn times(length: i64) -> [f32; PARTS] {
        let mut times = [0.0; PARTS];
        times[0] = length as f32;
        times
    }

    fn color(label: u32) -> Color32 {
        [
            Color32::from_rgb(200, 30, 77),
            Color32::from_rgb(1, 254, 90),
        ][label as usize]
    }

    /// Draws the picture of a lane of 60 points whose left edge is at `left`.
    fn picture(left: f32, scale: f32, paint: impl Fn(&mut egui::Ui, Rect)) -> soft::Picture {
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
        let room = strips.room().unwrap_or_else(|| panic!("there is room"));
        let width = room.width as f64;
        // The strip has five columns left of the view, and two right of it.
        let count = room.width + 7;
        let columns = Columns {
            start: 0,
            columns_per_nano: f64::from(scale),
            base: f64::from(area.left() * scale),
            gap_from: (3.0 * scale) as usize,
            wide_from: 4,
            stacked: Stacked::Names,
            rows: 12,
            point: None,
        };
        let mut picture = Picture::default();
        assert_eq!(columns.rows_for(blocks), 1);
        let mut strip = Strip::new(picture.clear(count, 1), count, room.left - 5);
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
        let shown = Shown {
            texture: picture.texture(ui.ctx()),
            columns: count,
            from: 5.0,
            until: 5.0 + width,
        };
        strips.add(area, &shown);
        strips.end();
        // The texture must outlive the frame.
        ui.data_mut(|data| data.insert_temp(egui::Id::NULL, picture.texture));
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

    /// Returns the colours of each column of a strip of four columns of 100 ns, from the bottom.
    fn stacks(blocks: &[Block], rows: usize, point: Option<usize>) -> Vec<Vec<Color32>> {
        let mut pixels = vec![Color32::TRANSPARENT; 4 * rows];
        let columns = Columns {
            start: 1_000,
            columns_per_nano: 0.01,
            base: 0.0,
            gap_from: 3,
            wide_from: 4,
            stacked: Stacked::Names,
            rows,
            point,
        };
        let mut wide = Vec::new();
        Strip::new(&mut pixels, 4, 0).paint(
            blocks,
            &columns,
            |block| color(block.label),
            &Fading::onto(Color32::BLACK),
            &mut wide,
        );
        assert!(wide.is_empty());
        let column = |at: usize| (0..rows).rev().map(|row| pixels[row * 4 + at]).collect();
        (0..4).map(column).collect()
    }

    #[test]
    fn a_column_of_thin_blocks_is_as_high_as_they_fill_it() {
        let blocks = [
            (1_010, 10, 0),
            (1_020, 30, 1),
            (1_110, 10, 0),
            (1_140, 10, 0),
            (1_390, 10, 1),
        ]
        .map(block);
        let (none, a, b) = (Color32::TRANSPARENT, color(0), color(1));
        let seen = stacks(&blocks, 5, None);
        assert_eq!(seen[0], [b, b, none, none, none]);
        assert_eq!(seen[1], [a, none, none, none, none]);
        assert_eq!(seen[2], [none; 5]);
        // A tenth of a column is still visible.
        assert_eq!(seen[3], [b, none, none, none, none]);
    }

    #[test]
    fn a_short_item_between_long_ones_is_seen() {
        let blocks = [(900, 240, 0), (1_140, 2, 1), (1_142, 400, 0)].map(block);
        let (a, b) = (color(0), color(1));
        let seen = stacks(&blocks, 5, None);
        assert_eq!(seen[0], [a; 5]);
        assert_eq!(seen[1], [a, a, a, a, b]);
        assert_eq!(seen[2], [a; 5]);
        assert_eq!(seen[3], [a; 5]);
    }

    #[test]
    fn many_points_are_a_band_and_a_lone_one_a_tick() {
        let none = Color32::TRANSPARENT;
        let many = |start, count| Block {
            count,
            ..block((start, 0, 0))
        };
        let seen = stacks(
            &[many(1_010, 3), many(1_130, 10_000), many(1_340, 1)],
            5,
            Some(1),
        );
        let filled = |column: &[Color32]| column.iter().filter(|it| **it != none).count();
        let filled: Vec<usize> = seen.iter().map(|column| filled(column)).collect();
        assert_eq!(filled, [2, 5, 0, 2]);
        let seen = stacks(&[many(1_110, 1)], 5, Some(1));
        assert_eq!(seen[1], [color(0); 5]);
    }
}
