//! Horizontal positions of a lane's blocks, in points and snapped to whole pixels.

use super::afar::Stacked;
use super::bars::Bars;
use super::draw::Draw;
use super::open_ends::Fading;
use super::strips::Columns;
use crate::base::Timestamp;
use crate::query::visible::Block;
use crate::view::Scale;
use crate::view::rows::{LaneKind, Summarised};
use egui::{Color32, Rect, pos2};
use std::ops::RangeInclusive;

/// Bars wider than this, in points, leave a pixel free before the next.
const GAP_FROM_POINTS: f32 = 3.0;

/// Maps the blocks of a lane to its pixels.
pub(super) struct Across {
    area: Rect,
    scale: Scale,
    is_instants: bool,
    stacked: Stacked,
    pixels_per_point: f32,
    /// Size of a pixel, in points.
    point: f32,
    /// Duration of a pixel, in ns: a shorter block is drawn one pixel wide.
    pixel_nanos: i64,
}

impl Across {
    pub(super) fn new(
        kind: LaneKind,
        area: Rect,
        draw: &Draw<'_>,
        pixels_per_point: f32,
    ) -> Across {
        let pixel_nanos = draw.scale.nanos_per_point() / f64::from(pixels_per_point);
        Across {
            area,
            scale: draw.scale,
            is_instants: matches!(kind, LaneKind::Instants(_)),
            stacked: match kind {
                LaneKind::States(_) | LaneKind::Summary(_, Summarised::States) => Stacked::States,
                LaneKind::Profile { .. } => Stacked::Profile,
                _ => Stacked::Names,
            },
            pixels_per_point,
            point: 1.0 / pixels_per_point,
            pixel_nanos: pixel_nanos as i64,
        }
    }

    /// Returns the pixel edge nearest to `x`, in points. (Through integers: rounding a float is a slow function call.)
    fn snapped(&self, x: f32) -> f32 {
        let pixel = (f64::from(x * self.pixels_per_point) + 4096.5) as i32 - 4096;
        pixel as f32 * self.point
    }

    /// Returns the left and right edge of a block in the window, in points; `None` if it is not visible.
    pub(super) fn edges(&self, block: &Block) -> Option<(f32, f32)> {
        let (area, point) = (self.area, self.point);
        let x = |time| area.left() + self.scale.x_from_time(Timestamp(time));
        let left = self.snapped(x(block.start).max(area.left() - 1.0));
        let right = if self.is_instants {
            left + point.max(1.0)
        } else if block.end - block.start < self.pixel_nanos {
            left + point
        } else {
            let to = x(block.end).min(area.right() + 1.0);
            self.snapped(to).max(left + point)
        };
        (right >= area.left() && left <= area.right()).then_some((left, right))
    }

    /// Returns the drawn right edge of a bar: wide bars leave a pixel free as a gap to their neighbour.
    pub(super) fn shown(&self, left: f32, right: f32) -> f32 {
        match right - left > GAP_FROM_POINTS {
            true => right - self.point,
            false => right,
        }
    }

    /// Fades a bar towards its end, unless the end is past the lane's edge.
    pub(super) fn fade(
        &self,
        bars: &mut Bars<'_>,
        bar: RangeInclusive<f32>,
        fill: Color32,
        fading: &Fading<'_>,
    ) {
        let (left, right) = bar.into_inner();
        if right > self.area.right() {
            return;
        }
        let pixels = ((right - left) / self.point).round().max(1.0) as usize;
        let steps = fading.steps(pixels, 1.0);
        let first = right - steps.len() as f32 * self.point;
        for (at, share) in steps.into_iter().enumerate() {
            let x = first + at as f32 * self.point;
            bars.add(x, x + self.point, fading.mixed(fill, share));
        }
    }

    /// Returns the lane's rectangle.
    pub(super) fn area(&self) -> Rect {
        self.area
    }

    pub(super) fn rect(&self, left: f32, right: f32) -> Rect {
        let (top, bottom) = (self.area.top(), self.area.bottom());
        Rect::from_min_max(pos2(left, top), pos2(self.shown(left, right), bottom))
    }

    /// Returns the mapping for strips of `rows` rows; bars at least `wide_from` points wide will be reported individually.
    pub(super) fn columns(&self, wide_from: f32, rows: usize) -> Columns {
        let pixels = f64::from(self.pixels_per_point);
        Columns {
            start: self.scale.span().start.0,
            columns_per_nano: pixels / self.scale.nanos_per_point(),
            base: f64::from(self.area.left()) * pixels,
            gap_from: (GAP_FROM_POINTS * self.pixels_per_point) as usize,
            wide_from: (wide_from * self.pixels_per_point).ceil() as usize,
            stacked: self.stacked,
            rows,
            point: (self.is_instants).then(|| self.pixels_per_point.round().max(1.0) as usize),
        }
    }
}
