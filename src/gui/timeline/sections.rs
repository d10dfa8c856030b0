//! Positions of rows on screen: pinned rows at the top, the others below.

use crate::view::ViewState;
use crate::view::rows::{LaneKind, Row, RowLane};
use egui::{Pos2, Rect, pos2, vec2};

/// One of the two stacks of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stack {
    Pinned,
    Body,
}

/// A stack of rows with its rectangle on the canvas.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) stack: Stack,
    pub(super) rect: Rect,
    pub(super) rows: &'a [Row],
    pub(super) scroll: f32,
}

/// Both stacks, from top to bottom.
#[derive(Clone, Copy)]
pub(super) struct Sections<'a>([Section<'a>; 2]);

/// A rectangle, and the part of the window in which it is visible.
pub(super) struct ClippedRect {
    pub(super) rect: Rect,
    pub(super) clip: Rect,
}

/// Returns the place of a lane in a stack; it may be out of view.
fn place_in(section: Section<'_>, RowLane { row, lane }: RowLane<'_>) -> ClippedRect {
    ClippedRect {
        rect: section.lane_rect(row, lane.offset, lane.height),
        clip: section.rect,
    }
}

impl<'a> Sections<'a> {
    /// Divides `canvas` between the stacks.
    pub(super) fn new(state: &'a ViewState, canvas: Rect) -> Sections<'a> {
        let split = canvas.top() + state.pinned_shown(canvas.height());
        let pinned = Rect::from_min_max(canvas.min, pos2(canvas.right(), split));
        let body = Rect::from_min_max(pos2(canvas.left(), split), canvas.max);
        let most = (state.rows.pinned_height() - pinned.height()).max(0.0);
        Sections([
            Section {
                stack: Stack::Pinned,
                rect: pinned,
                rows: state.rows.pinned(),
                scroll: state.pinned_scroll.clamp(0.0, most),
            },
            Section {
                stack: Stack::Body,
                rect: body,
                rows: state.rows.all(),
                scroll: state.scroll,
            },
        ])
    }

    /// Returns the stacks with a height above zero.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Section<'a>> {
        self.0.iter().filter(|section| section.rect.height() > 0.0)
    }

    /// Returns the stack at a position.
    pub(super) fn at(&self, pos: Pos2) -> Option<&Section<'a>> {
        self.iter()
            .find(|section| pos.y >= section.rect.top() && pos.y < section.rect.bottom())
    }

    /// Returns rectangle and clip of a lane, in its row and in its pinned row; they may be out of view.
    pub(super) fn places_of(
        &self,
        state: &ViewState,
        kind: LaneKind,
    ) -> impl Iterator<Item = ClippedRect> + use<> {
        let [pinned, body] = self.0;
        let above = state
            .rows
            .pinned_of_lane(kind)
            .map(|found| place_in(pinned, found));
        let below = state.rows.of_lane(kind).map(|found| place_in(body, found));
        above.into_iter().chain(below)
    }

    /// Returns the y of an arrow's end: the lane's middle, or the closed row that hides the lane.
    pub(super) fn anchor_of(&self, state: &ViewState, kind: LaneKind) -> Option<f32> {
        let [pinned, body] = self.0;
        if let Some(found) = state.rows.pinned_of_lane(kind) {
            return Some(place_in(pinned, found).rect.center().y);
        }
        if let Some(found) = state.rows.of_lane(kind) {
            return Some(place_in(body, found).rect.center().y);
        }
        let row = state.rows.cover_of_lane(kind)?;
        Some(body.row_rect(row).bottom() - 5.0)
    }
}

impl<'a> Section<'a> {
    /// Returns the rectangle of a row of this stack.
    pub(super) fn row_rect(&self, row: &Row) -> Rect {
        let top = self.rect.top() + (row.top - self.scroll).round();
        Rect::from_min_size(
            pos2(self.rect.left(), top),
            vec2(self.rect.width(), row.height),
        )
    }

    fn lane_rect(&self, row: &Row, offset: f32, height: f32) -> Rect {
        let row = self.row_rect(row);
        Rect::from_min_size(
            pos2(row.left(), row.top() + offset),
            vec2(row.width(), height),
        )
    }

    /// Returns the indices of the visible rows.
    pub(super) fn seen(&self) -> std::ops::Range<usize> {
        let (top, bottom) = (self.scroll, self.scroll + self.rect.height());
        let first = self.rows.partition_point(|row| row.bottom() <= top);
        let last = self.rows.partition_point(|row| row.top < bottom);
        first..last.max(first)
    }

    /// Returns the index of the row at `y` on screen, if there is one.
    pub(super) fn row_under(&self, y: f32) -> Option<usize> {
        let at = y - self.rect.top() + self.scroll;
        let index = self.row_at(y)?;
        let row = self.rows.get(index)?;
        (row.top <= at && at < row.bottom()).then_some(index)
    }

    /// Returns the index of the row at `y` on screen; above or below all rows, the nearest one.
    pub(super) fn row_at(&self, y: f32) -> Option<usize> {
        let at = y - self.rect.top() + self.scroll;
        let index = self.rows.partition_point(|row| row.bottom() <= at);
        (!self.rows.is_empty()).then(|| index.min(self.rows.len() - 1))
    }
}
