//! The frame's data that painters of the canvas share: scene, positions of times and rows, and the block under the
//! pointer.

use super::sections::Sections;
use crate::base::{TimeSpan, Timestamp};
use crate::gui::pane::Scene;
use crate::query::Item;
use crate::query::visible::Block;
use crate::view::Scale;
use crate::view::rows::LaneKind;
use egui::{Rangef, Rect};

/// The frame's data for drawing the canvas.
pub(super) struct Draw<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) scale: Scale,
    pub(super) sections: Sections<'a>,
    /// Rectangle of the whole canvas.
    pub(super) canvas: Rect,
}

impl Draw<'_> {
    pub(super) fn x(&self, time: Timestamp) -> f32 {
        self.canvas.left() + self.scale.x_from_time(time)
    }

    pub(super) fn x_range(&self, span: TimeSpan) -> Rangef {
        Rangef::new(self.x(span.start), self.x(span.end))
    }

    pub(super) fn time_at(&self, x: f32) -> Timestamp {
        self.scale.time_from_x(x - self.canvas.left())
    }
}

/// The block under the pointer.
pub(super) struct Hit {
    pub(super) item: Item,
    pub(super) lane: LaneKind,
    pub(super) block: Block,
    pub(super) rect: Rect,
}
