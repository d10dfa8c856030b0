//! Cells as people read them: the column's kind and unit decide the format.

use egui::{Align, Layout, RichText, Sense, Ui, Vec2};

use super::data::{PaneColumn, TEXT_SIZE};
use crate::base::{Nanos, Timestamp};
use crate::gui::pane::Scene;
use crate::gui::script::{lines, one_line};
use crate::gui::shortened::shortened;
use crate::gui::tint::Tint;
use crate::tables::{Cell, ColumnDef, ColumnKind, Unit};
use crate::view::ruler;

/// The mean width of a letter of a path, in points.
const LETTER_WIDTH: f32 = 6.6;

/// Returns a cell of a column as people read it.
#[must_use]
pub fn text_of(column: &ColumnDef<'_>, cell: &Cell<'_>, scene: &Scene<'_>) -> String {
    match cell {
        Cell::None => String::new(),
        Cell::Text(text) => text.to_string(),
        Cell::Int(value) => whole_text(column, *value, scene),
        Cell::AtLeast(ns) => format!("≥ {}", whole_text(column, *ns, scene)),
        Cell::Float(value) => match column.unit {
            Unit::Percent => format!("{value:.1} %"),
            Unit::Change if *value == f64::INFINITY => "new".to_owned(),
            Unit::Change if *value == f64::NEG_INFINITY => "gone".to_owned(),
            Unit::Change => format!("{:+.1} %", value * 100.0),
            _ => number_text(*value),
        },
    }
}

impl PaneColumn {
    /// Returns the column's cell of a row as people read it.
    #[must_use]
    pub(crate) fn text(&self, cells: &[Cell<'_>], scene: &Scene<'_>) -> String {
        match self.cell(cells) {
            Cell::None => self.none_text.to_owned(),
            Cell::Int(0) if self.hides_zero => String::new(),
            cell => text_of(&self.def, cell, scene),
        }
    }
}

fn whole_text(column: &ColumnDef<'_>, value: i128, scene: &Scene<'_>) -> String {
    let origins = scene.state.origins;
    let short = value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    match column.kind {
        ColumnKind::Time => ruler::full_text(Timestamp(short), scene.state.time_format, origins),
        ColumnKind::Duration => ruler::column_length_text(Nanos(short), origins.unit),
        ColumnKind::Key | ColumnKind::Row | ColumnKind::Code => value.to_string(),
        ColumnKind::Flag if value == 0 => String::new(),
        ColumnKind::Flag => "yes".to_owned(),
        ColumnKind::Text | ColumnKind::Path | ColumnKind::Count | ColumnKind::Number => {
            ruler::grouped(short)
        }
    }
}

/// Returns a number as text with the significant decimals.
#[must_use]
pub(crate) fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        ruler::grouped(value as i64)
    } else if value != 0.0 && (value.abs() >= 1e15 || value.abs() < 1e-3) {
        format!("{value:.3e}")
    } else {
        format!("{value:.3}")
    }
}

/// Returns the side of its column on which a cell is drawn: texts at the left, numbers at the right.
pub(super) fn align_of(column: &ColumnDef<'_>) -> Align {
    match column.kind {
        ColumnKind::Text | ColumnKind::Path => Align::Min,
        _ => Align::Max,
    }
}

/// Highlighting of a cell.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    /// The colour of a mark before the text.
    pub tint: Option<Tint>,
    /// Whether the text has the colour of errors.
    pub is_trouble: bool,
    /// Whether the text has a monospaced font.
    pub is_mono: bool,
    /// Whether the text is broken into lines.
    pub is_broken: bool,
}

impl Marks {
    /// Returns the text of a cell in the size and font in which it is drawn.
    pub(super) fn styled(self, text: &str) -> RichText {
        let text = RichText::new(shortened(text)).size(TEXT_SIZE);
        match self.is_mono {
            true => text.monospace(),
            false => text,
        }
    }
}

/// Draws a cell; `text` is what [`text_of`] returns for it.
pub(super) fn cell_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    column: &ColumnDef<'_>,
    cell: &Cell<'_>,
    text: &str,
    marks: Marks,
) {
    // Beside a text of several lines the others are beside its first line.
    let across = ui.layout().vertical_align();
    let layout = match align_of(column) {
        Align::Max => Layout::right_to_left(across),
        _ => Layout::left_to_right(across),
    };
    ui.with_layout(layout, |ui| {
        let color_by = scene.state.settings.color_by;
        let tint = marks.tint;
        if let Some(color) = tint.and_then(|tint| tint.on_timeline(scene.palette, color_by)) {
            let (rect, _) = ui.allocate_exact_size(Vec2::new(8.0, 10.0), Sense::hover());
            ui.painter().rect_filled(rect, 2, color);
        }
        match (cell, column.unit) {
            (Cell::Float(share), Unit::Percent) => bar_ui(ui, scene, *share / 100.0),
            (Cell::Int(_) | Cell::AtLeast(_), _) if column.kind == ColumnKind::Duration => {
                align_decimals(ui, text);
            }
            _ => {}
        }
        if text.is_empty() {
            return;
        }
        let end = match column.kind {
            ColumnKind::Path => end_of_path(text, ui.available_width()),
            _ => None,
        };
        let drawn = marks.styled(end.as_deref().unwrap_or(text));
        let drawn = match marks.is_trouble {
            true => drawn.color(scene.palette.error),
            false => drawn,
        };
        if marks.is_broken {
            let label = egui::Label::new(lines(ui, drawn));
            ui.add(label.wrap().selectable(false));
            return;
        }
        let label = egui::Label::new(one_line(ui, drawn));
        let response = ui.add(label.truncate().selectable(false));
        if end.is_some() {
            response.on_hover_text(shortened(text));
        }
    });
}

/// Draws a bar whose length is a share of the column's width.
fn bar_ui(ui: &Ui, scene: &Scene<'_>, share: f64) {
    let area = ui.max_rect().shrink2(Vec2::new(0.0, 2.0));
    let width = area.width() * share.clamp(0.0, 1.0) as f32;
    let bar = egui::Rect::from_min_size(area.min, Vec2::new(width, area.height()));
    let color = scene.palette.accent.gamma_multiply(0.28);
    ui.painter().rect_filled(bar, 1, color);
}

/// Pads a duration so that decimal points are aligned, whatever the width of the unit.
fn align_decimals(ui: &mut Ui, text: &str) {
    let Some((_, unit)) = text.rsplit_once(' ') else {
        return;
    };
    let width = |word: &str| {
        let font = egui::FontId::proportional(TEXT_SIZE);
        let color = egui::Color32::PLACEHOLDER;
        let galley = ui.painter().layout_no_wrap(word.to_owned(), font, color);
        galley.size().x
    };
    let narrower = width("ms") - width(unit);
    if narrower > 0.0 {
        ui.add_space(narrower);
    }
}

/// Returns the end of a path that is too long for its column; `None` if the path fits.
fn end_of_path(path: &str, width: f32) -> Option<String> {
    let room = (width / LETTER_WIDTH).max(8.0) as usize;
    let length = path.chars().count();
    if length <= room {
        return None;
    }
    let end: String = path.chars().skip(length - room + 1).collect();
    Some(format!("…{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_decimals_they_need() {
        assert_eq!(number_text(1_234.0), "1 234");
        assert_eq!(number_text(0.5), "0.500");
        assert_eq!(number_text(1e-9), "1.000e-9");
    }

    #[test]
    fn of_a_long_path_the_end_is_seen() {
        assert_eq!(end_of_path("/a/b", 100.0), None);
        assert_eq!(
            end_of_path("/usr/include/stdio.h", 66.0).as_deref(),
            Some("…e/stdio.h")
        );
    }
}
