//! The description of a table in a pane: its columns with widths and titles, its rows, and marks of rows.

use std::borrow::Cow;
use std::sync::Arc;

use egui::Ui;

use super::order::Order;
use super::tree::Tree;
use crate::base::dev_assert;
use crate::gui::tint::Tint;
use crate::load::{LoadedTrace, TraceId};
use crate::query::Item;
use crate::tables::{Cell, ColumnDef, MadeRow, RowSource, TableDef};

/// The height of a row, in points.
pub(crate) const ROW_HEIGHT: f32 = 18.0;
/// The size of text in tables, in points.
pub(crate) const TEXT_SIZE: f32 = 12.0;

/// A pane narrower than this, in points, has no room for anything beside a table.
const NARROW: f32 = 620.0;
/// The gap between a table and the panel beside it, in points.
const COMPANION_GAP: f32 = 12.0;
/// The height of a heading, in points.
pub(super) const HEADING_HEIGHT: f32 = 22.0;
/// The height of a row in which text is edited, in points.
const FIELD_HEIGHT: f32 = 24.0;

/// A column of a table in a pane.
#[derive(Clone, Debug)]
pub(crate) struct PaneColumn {
    /// The definition of the column.
    pub def: ColumnDef<'static>,
    /// Its heading.
    pub title: Cow<'static, str>,
    /// Its index in the cells of a row; `None` if the table has no cells for it.
    pub at: Option<usize>,
    /// Its initial width, in points; its least width if it grows.
    pub width: f32,
    /// Whether it takes the width that the other columns leave.
    pub grows: bool,
    /// Whether its texts are broken into lines where they are longer than the column is wide.
    pub wraps: bool,
    /// Returns whether a cell is drawn in the colour of errors; `None`: no cell is.
    pub trouble: Option<fn(&Cell<'_>) -> bool>,
    /// Whether the pane draws the cells itself, such as fields that are edited.
    pub is_drawn: bool,
    /// Whether the text has a monospaced font.
    pub is_mono: bool,
    /// Whether cells with the number 0 are left empty.
    pub hides_zero: bool,
    /// Whether the heading is at the right, although the cells are texts.
    pub is_at_right: bool,
    /// The text of cells without a value.
    pub none_text: &'static str,
    /// The direction of the first sort by the column; `None`: the kind of the column decides.
    pub first_order: Option<Order>,
}

impl PaneColumn {
    /// Returns the column called `name` of a table; the first column if there is no such name.
    #[must_use]
    pub(crate) fn of(table: &TableDef, name: &str, width: f32) -> PaneColumn {
        let columns = table.columns;
        let at = columns.iter().position(|column| column.name == name);
        let at = at.unwrap_or_default();
        dev_assert!(
            columns.get(at).is_some_and(|column| column.name == name),
            "no column {name}"
        );
        let def = columns.get(at).copied();
        PaneColumn::at(at, def.unwrap_or(crate::tables::columns::NAME), width)
    }

    /// Returns a column whose cell has index `at` in a row.
    #[must_use]
    pub(crate) fn at(at: usize, def: ColumnDef<'static>, width: f32) -> PaneColumn {
        PaneColumn {
            def,
            title: def.title.into(),
            at: Some(at),
            width,
            grows: false,
            wraps: false,
            trouble: None,
            is_drawn: false,
            is_mono: false,
            hides_zero: false,
            is_at_right: false,
            none_text: "",
            first_order: None,
        }
    }

    /// Returns a column for panes only: its cell has index `index` among those after the table's columns.
    #[must_use]
    pub(crate) fn after(
        table: &TableDef,
        index: usize,
        def: ColumnDef<'static>,
        width: f32,
    ) -> PaneColumn {
        let stored = table.stored.map_or(0, |stored| stored.more.len());
        PaneColumn::at(table.columns.len() + stored + index, def, width)
    }

    /// Returns a column of buttons or boxes, which the pane draws: the table has no cells for it, so it is neither
    /// sorted nor copied.
    #[must_use]
    pub(crate) fn of_controls(about: &'static str, width: f32) -> PaneColumn {
        PaneColumn {
            at: None,
            ..PaneColumn::at(0, ColumnDef::text("", "", about), width).drawn()
        }
    }

    /// Returns the column with another width.
    #[must_use]
    pub(crate) fn at_least(self, width: f32) -> PaneColumn {
        PaneColumn { width, ..self }
    }

    /// Returns whether the rows have cells for the column.
    #[must_use]
    pub(super) fn has_cells(&self) -> bool {
        self.at.is_some()
    }

    /// Returns the column as one whose cells the pane draws.
    #[must_use]
    pub(crate) fn drawn(self) -> PaneColumn {
        PaneColumn {
            is_drawn: true,
            ..self
        }
    }

    /// Returns the column with another title.
    #[must_use]
    pub(crate) fn titled(mut self, title: impl Into<Cow<'static, str>>) -> PaneColumn {
        self.title = title.into();
        self
    }

    /// Returns the column with a monospaced font.
    #[must_use]
    pub(crate) fn mono(self) -> PaneColumn {
        PaneColumn {
            is_mono: true,
            ..self
        }
    }

    /// Returns the column with empty cells where the number is 0.
    #[must_use]
    pub(crate) fn hiding_zero(self) -> PaneColumn {
        PaneColumn {
            hides_zero: true,
            ..self
        }
    }

    /// Returns the column with its heading at the right.
    #[must_use]
    pub(crate) fn at_right(self) -> PaneColumn {
        PaneColumn {
            is_at_right: true,
            ..self
        }
    }

    /// Returns the column with a text for cells without a value.
    #[must_use]
    pub(crate) fn with_none(self, none_text: &'static str) -> PaneColumn {
        PaneColumn { none_text, ..self }
    }

    /// Returns the column with another direction of its first sort.
    #[must_use]
    pub(crate) fn first_sorted(self, order: Order) -> PaneColumn {
        PaneColumn {
            first_order: Some(order),
            ..self
        }
    }

    /// Returns the column with another explanation.
    #[must_use]
    pub(crate) fn about(mut self, about: &'static str) -> PaneColumn {
        self.def.about = about;
        self
    }

    /// Returns the column as one that takes the width that the other columns leave.
    #[must_use]
    pub(crate) fn growing(self) -> PaneColumn {
        PaneColumn {
            grows: true,
            ..self
        }
    }

    /// Returns the column as one that takes the width that the other columns leave and breaks its texts into lines.
    #[must_use]
    pub(crate) fn wrapping(self) -> PaneColumn {
        PaneColumn {
            wraps: true,
            ..self.growing()
        }
    }

    /// Returns the column as one that draws values other than zero in the colour of errors.
    #[must_use]
    pub(crate) fn counting_trouble(self) -> PaneColumn {
        self.in_trouble_if(|cell| matches!(cell, Cell::Int(count) if *count != 0))
    }

    /// Returns the column as one that draws cells for which `trouble` is true in the colour of errors.
    #[must_use]
    pub(crate) fn in_trouble_if(self, trouble: fn(&Cell<'_>) -> bool) -> PaneColumn {
        PaneColumn {
            trouble: Some(trouble),
            ..self
        }
    }

    /// Returns the column's cell of a row.
    #[must_use]
    pub(crate) fn cell<'c, 'a>(&self, cells: &'c [Cell<'a>]) -> &'c Cell<'a> {
        let cell = self.at.and_then(|at| cells.get(at));
        cell.unwrap_or(&Cell::None)
    }

    /// Returns whether the column's cell of a row is drawn in the colour of errors.
    pub(super) fn is_trouble(&self, cells: &[Cell<'_>]) -> bool {
        self.trouble
            .is_some_and(|trouble| trouble(self.cell(cells)))
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
    /// The height of each row, in points.
    pub row_height: f32,
    /// The parents and children of the rows, if they are a tree.
    pub tree: Option<Arc<Tree>>,
    /// Returns whether a row of a tree matches a filter, by its item; `None`: the texts of the cells decide.
    pub matches: Option<Matches>,
    /// The generation of the trace whose ids the rows contain; `None` if the rows are made anew for each generation.
    pub of: Option<TraceId>,
}

/// Returns whether the row about an item matches a filter, which is in lower case.
pub(crate) type Matches = fn(&LoadedTrace, Item, &str) -> bool;

impl Default for TableData {
    fn default() -> TableData {
        TableData::new(Vec::new(), Vec::<MadeRow>::new())
    }
}

impl TableData {
    /// Returns a table of the rows of a source, without marks.
    #[must_use]
    pub(crate) fn new(columns: Vec<PaneColumn>, rows: impl RowSource + 'static) -> TableData {
        TableData {
            columns,
            rows: Arc::new(rows),
            tints: Vec::new(),
            row_height: ROW_HEIGHT,
            tree: None,
            matches: None,
            of: None,
        }
    }

    /// Returns the table as one whose rows contain ids of this generation of a trace. While a newer generation is shown,
    /// only the cells that were drawn before are drawn, and a click finds the row's item in the newer one.
    #[must_use]
    pub(crate) fn about(self, trace: TraceId) -> TableData {
        let of = Some(trace);
        TableData { of, ..self }
    }

    /// Returns whether the rows contain ids of another generation than the one that is shown.
    #[must_use]
    pub(crate) fn is_stale(&self, shown: TraceId) -> bool {
        self.of.is_some_and(|of| of != shown)
    }

    /// Returns the item of a row, if its id is one of the generation that is shown.
    #[must_use]
    pub(crate) fn item(&self, shown: &LoadedTrace, row: usize) -> Option<Item> {
        let is_current = !self.is_stale(shown.id);
        is_current.then(|| self.rows.item(shown, row))?
    }

    /// Returns the table as a tree whose rows open and close: the rows are in preorder.
    #[must_use]
    pub(crate) fn into_tree(self) -> TableData {
        let tree = Some(Arc::new(Tree::new(self.rows.as_ref())));
        TableData { tree, ..self }
    }

    /// Returns whether cells are made by a task, and rows are not sorted.
    #[must_use]
    pub(super) fn is_slow(&self) -> bool {
        self.rows.slow_key().is_some()
    }

    /// Returns the table with rows that have room for fields and buttons.
    #[must_use]
    pub(crate) fn with_fields(self) -> TableData {
        TableData {
            row_height: FIELD_HEIGHT,
            ..self
        }
    }

    /// Returns the height of the table in points if at most `most` rows are seen at once: the heading, the rows, and a
    /// scroll bar for columns that are wider than the pane.
    pub(crate) fn height(&self, ui: &Ui, most: usize) -> f32 {
        let spacing = ui.spacing();
        let row = self.row_height + spacing.item_spacing.y;
        let bar = spacing.scroll.allocated_width() + spacing.item_spacing.y;
        HEADING_HEIGHT + row * self.rows.len().min(most) as f32 + bar
    }

    /// Returns the table with marks by row.
    #[must_use]
    pub(crate) fn tinted(self, tints: Vec<Option<Tint>>) -> TableData {
        TableData { tints, ..self }
    }

    /// Returns a panel for content that belongs to the table: right of it, starting at the right edge of a column; in a
    /// narrow pane below it.
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
    pub(crate) fn width(&self, ui: &Ui) -> f32 {
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
