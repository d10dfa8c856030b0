//! Rows of several lines: the texts of one column are broken to fit its width.

use std::ops::Range;
use std::sync::Arc;

use egui::{TextWrapMode, Ui};

use super::DataTable;
use super::data::{HEADING_HEIGHT, PaneColumn, TableData};
use super::shown::Marks;
use crate::gui::pane::Scene;
use crate::gui::script::lines;

/// The most rows whose texts are broken; in a longer table each row has one line.
const MOST_WRAPPED: usize = 500;

impl TableData {
    /// Returns the column whose texts are broken into lines; `None` if each row has one line.
    pub(super) fn wrapping(&self) -> Option<&PaneColumn> {
        let is_short = self.rows.len() <= MOST_WRAPPED && !self.is_slow();
        self.columns.iter().find(|it| it.wraps && is_short)
    }

    /// Returns the width in points that the other columns of a table leave for `column`.
    fn room_for(&self, ui: &Ui, column: &PaneColumn, width: f32) -> f32 {
        let others = self.width(ui) - column.width;
        (width - others).max(column.width)
    }
}

impl DataTable {
    /// Returns the height in points of a table of rows of several lines that is `width` points wide and at most `most`
    /// points high: the heading, the rows in view, and a scroll bar for columns that are wider than the pane.
    pub(crate) fn height(
        &mut self,
        ui: &Ui,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        width: f32,
        most: f32,
    ) -> f32 {
        self.refresh(ui, scene, data);
        let spacing = ui.spacing();
        let gap = spacing.item_spacing.y;
        let bar = spacing.scroll.allocated_width() + gap;
        let count = self.order.len(data);
        let rows: f32 = match self.heights(ui, scene, data, 0..count, width) {
            Some(heights) => heights.iter().map(|height| height + gap).sum(),
            None => (data.row_height + gap) * count as f32,
        };
        (HEADING_HEIGHT + gap + rows + bar).min(most)
    }

    /// Returns the height in points of each row at these places of the order, in a table that is `width` points wide;
    /// `None` if each row has one line.
    pub(super) fn heights(
        &mut self,
        ui: &Ui,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        places: Range<usize>,
        width: f32,
    ) -> Option<Vec<f32>> {
        let column = data.wrapping()?;
        // The first frame does not know the width that the table gives to the column.
        let room = (self.wrap_width).unwrap_or_else(|| data.room_for(ui, column, width));
        let mut height_at = |place| {
            let index = self.order.row_at(data, place)?;
            let cells = self.kept.row(scene.loaded, data, index)?;
            let marks = Marks {
                is_mono: column.is_mono,
                ..Marks::default()
            };
            let text = marks.styled(&column.text(&cells, scene));
            let wrap = Some(TextWrapMode::Wrap);
            let font = egui::FontSelection::Default;
            Some(lines(ui, text).into_galley(ui, wrap, room, font).size().y)
        };
        let height = |place| height_at(place).unwrap_or(0.0).max(data.row_height);
        Some(places.map(height).collect())
    }
}
