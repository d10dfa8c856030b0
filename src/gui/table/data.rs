//! The description of a table in a pane: its columns with widths and titles, its rows, and marks of rows.

use std::sync::Arc;

use egui::Ui;

use crate::gui::tint::Tint;
use crate::tables::{Cell, ColumnDef, MadeRow, RowSource};

/// The height of a row, in points.
pub(crate) const ROW_HEIGHT: f32 = 18.0;
/// The size of text in tables, in points.
pub(crate) const TEXT_SIZE: f32 = 12.0;

/// A pane narrower than this, in points, has no room for anything beside a table.
const NARROW: f32 = 620.0;
/// The gap between a table and the panel beside it, in points.
const COMPANION_GAP: f32 = 12.0;
/// A column of a table in a pane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaneColumn {
    /// The definition of the column.
    pub def: ColumnDef<'static>,
    /// Its index in the cells of a row.
    pub at: usize,
    /// Its initial width, in points; its least width if it grows.
    pub width: f32,
    /// Whether it takes the width that the other columns leave.
    pub grows: bool,
    /// Whether values other than zero are drawn in the colour of errors.
    pub counts_trouble: bool,
}

impl PaneColumn {
    /// Returns the column called `name` of a table; the first column if there is no such name.
    #[must_use]
    pub fn of(columns: &[ColumnDef<'static>], name: &str, width: f32) -> PaneColumn {
        let at = columns.iter().position(|column| column.name == name);
        let at = at.unwrap_or_default();
        debug_assert!(
            columns.get(at).is_some_and(|column| column.name == name),
            "no column {name}"
        );
        PaneColumn {
            def: columns
                .get(at)
                .copied()
                .unwrap_or(crate::tables::columns::NAME),
            at,
            width,
            grows: false,
            counts_trouble: false,
        }
    }

    /// Returns a column for panes only: its cell has index `index` among those after the table's columns.
    #[must_use]
    pub fn after(
        columns: &[ColumnDef<'static>],
        index: usize,
        def: ColumnDef<'static>,
        width: f32,
    ) -> PaneColumn {
        PaneColumn {
            def,
            at: columns.len() + index,
            width,
            grows: false,
            counts_trouble: false,
        }
    }

    /// Returns the column with another title.
    #[must_use]
    pub(crate) fn titled(mut self, title: &'static str) -> PaneColumn {
        self.def.title = title;
        self
    }

    /// Returns the column with another explanation.
    #[must_use]
    pub fn about(mut self, about: &'static str) -> PaneColumn {
        self.def.about = about;
        self
    }

    /// Returns the column as one that takes the width that the other columns leave.
    #[must_use]
    pub fn growing(self) -> PaneColumn {
        PaneColumn {
            grows: true,
            ..self
        }
    }

    /// Returns the column as one that draws values other than zero in the colour of errors.
    #[must_use]
    pub(crate) fn counting_trouble(self) -> PaneColumn {
        PaneColumn {
            counts_trouble: true,
            ..self
        }
    }

    /// Returns the column's cell of a row.
    #[must_use]
    pub fn cell<'a>(&self, cells: &'a [Cell]) -> &'a Cell {
        cells.get(self.at).unwrap_or(&Cell::None)
    }

    /// Returns whether the column's cell of a row is drawn in the colour of errors.
    pub(super) fn is_trouble(&self, cells: &[Cell]) -> bool {
        let count = cells.get(self.at);
        self.counts_trouble && matches!(count, Some(Cell::Int(count)) if *count != 0)
    }
}

/// The content of a table in a pane.
#[derive(Clone)]
pub(crate) struct TableData {
    /// The columns.
    pub columns: Vec<PaneColumn>,
    /// The rows, in their order before the user sorts them.
    pub rows: Arc<dyn RowSource>,
    /// Marks of rows, by row; may be shorter than the table.
    pub tints: Vec<Option<Tint>>,
}

impl Default for TableData {
    fn default() -> TableData {
        TableData::made(Vec::new(), Vec::new())
    }
}

impl TableData {
    /// Returns a table of the rows of a source, without marks.
    #[must_use]
    pub fn new(columns: Vec<PaneColumn>, rows: impl RowSource + 'static) -> TableData {
        TableData {
            columns,
            rows: Arc::new(rows),
            tints: Vec::new(),
        }
    }

    /// Returns a table of rows whose cells are made already: the cells belong to `columns` in order.
    #[must_use]
    pub fn made(columns: Vec<(ColumnDef<'static>, f32)>, rows: Vec<MadeRow>) -> TableData {
        let column = |(at, (def, width))| PaneColumn {
            def,
            at,
            width,
            grows: false,
            counts_trouble: false,
        };
        let columns = columns.into_iter().enumerate().map(column).collect();
        TableData::new(columns, rows)
    }

    /// Returns the table with marks by row.
    #[must_use]
    pub(crate) fn tinted(self, tints: Vec<Option<Tint>>) -> TableData {
        TableData { tints, ..self }
    }

    /// Returns a panel for content that belongs to the table: beside it, from the end of a column on; below it in a
    /// narrow pane.
    pub(crate) fn companion(&self, ui: &Ui, name: &'static str) -> egui::Panel {
        let room = ui.available_size();
        if room.x < NARROW && room.y > room.x * 0.6 {
            // Another id, so that each position keeps its own size.
            let id = ui.scope_id().with((name, "below"));
            return egui::Panel::bottom(id)
                .resizable(true)
                .default_size(room.y * 0.55);
        }
        let width = self.width_within(ui, room.x * 0.52) + COMPANION_GAP;
        egui::Panel::right(ui.scope_id().with(name))
            .resizable(true)
            .default_size((room.x - width).clamp(280.0, 1100.0))
    }

    /// Returns the width of all columns, in points.
    pub fn width(&self, ui: &Ui) -> f32 {
        self.width_within(ui, f32::INFINITY)
    }

    /// Returns the width of the columns that fit into `most`, in points.
    pub(crate) fn width_within(&self, ui: &Ui, most: f32) -> f32 {
        let gap = ui.spacing().item_spacing.x;
        let mut width = 0.0;
        for column in &self.columns {
            let wider = width + column.width + gap;
            if wider > most {
                break;
            }
            width = wider;
        }
        width
    }
}
