//! A table in the window: sorted by any column, filtered by text, copied as tab-separated text.
//!
//! ```text
//! TableData (columns of the pane, RowSource) -> RowOrder (sorted, filtered) -> rows in view -> cells -> texts
//! ```
//!
//! A frame makes the cells of the rows in view only, and keeps them for the next frames. The rows come from elsewhere,
//! mostly from tasks.

mod copied;
mod data;
mod order;
mod shown;

use std::sync::Arc;

use egui::{Align, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};
use rustc_hash::FxHashMap;

pub(crate) use self::copied::{COPIES_ROWS, Copying, MOST_COPIED, copy_button, whole_text};
use self::data::HEADING_HEIGHT;
pub(crate) use self::data::{PaneColumn, ROW_HEIGHT, TEXT_SIZE, TableData};
use self::order::{RowOrder, Sort, Wanted};
pub(crate) use self::shown::number_text;
pub use self::shown::text_of;
use self::shown::{Marks, align_of, cell_ui};
use super::heading::heading_button;
use super::pane::Scene;
use crate::gui::shortened::shortened;
use crate::tables::{Cell, ColumnDef};
use crate::view::{Action, ruler};

/// The most rows whose cells are kept from frame to frame.
const MOST_KEPT: usize = 1_000;

/// The user's input to a table.
#[derive(Debug, Default)]
pub(crate) struct TableAnswer {
    /// The row that was clicked.
    pub clicked: Option<usize>,
}

/// Draws a cell of a column that the pane draws itself; takes the row's index and the column.
pub(crate) type DrawCell<'a> = &'a mut dyn FnMut(&mut Ui, usize, &PaneColumn);

/// The state of a table on the screen: its sorting and its filter.
#[derive(Default)]
pub(crate) struct DataTable {
    sort: Option<Sort>,
    filter: String,
    order: RowOrder,
    kept: KeptCells,
    copying: Copying,
    /// The row to which the next frame scrolls.
    wanted: Option<usize>,
    /// The row whose details are drawn beside the table and which is marked; `None`: the selected item's row is
    /// marked.
    detailed: Option<usize>,
}

/// Cells of the rows of one table that were drawn.
#[derive(Default)]
struct KeptCells {
    of: Option<Arc<TableData>>,
    rows: FxHashMap<usize, Arc<[Cell]>>,
}

impl KeptCells {
    fn row(&mut self, scene: &Scene<'_>, data: &Arc<TableData>, row: usize) -> Arc<[Cell]> {
        if !self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, data)) {
            self.of = Some(data.clone());
            self.rows.clear();
        }
        if self.rows.len() >= MOST_KEPT {
            self.rows.clear();
        }
        let make = || {
            let mut cells = Vec::new();
            data.rows.row(scene.loaded, row, &mut cells);
            cells.into()
        };
        self.rows.entry(row).or_insert_with(make).clone()
    }
}

impl DataTable {
    /// Draws the filter and the copy button, above the table.
    pub(crate) fn tools_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
    ) {
        self.filter_ui(ui, "Filter rows");
        let copy = copy_button(ui, data.rows.len(), COPIES_ROWS);
        self.copy_ui(ui, scene, data, &copy, actions);
    }

    /// As `tools_ui`, in a pane with several tables: screen readers name both after the kind of rows.
    pub(crate) fn named_tools_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        what: &str,
        actions: &mut Vec<Action>,
    ) {
        self.filter_ui(ui, &format!("Filter {what}"));
        let copy = copy_button(ui, data.rows.len(), COPIES_ROWS);
        let copy = copy.accessible_name(format!("Copy {what}"));
        self.copy_ui(ui, scene, data, &copy, actions);
    }

    fn filter_ui(&mut self, ui: &mut Ui, name: &str) {
        let field = egui::TextEdit::singleline(&mut self.filter)
            .hint_text("Filter rows")
            .desired_width(110.0);
        let response = ui.add(field);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, name));
    }

    /// Draws the copy button alone, for a pane that has a filter of its own.
    pub(crate) fn copy_button_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
    ) {
        let copy = copy_button(ui, 1, COPIES_ROWS);
        self.copy_ui(ui, scene, data, &copy, actions);
    }

    fn copy_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        copy: &egui::Response,
        actions: &mut Vec<Action>,
    ) {
        self.copying.poll(actions);
        if copy.clicked() {
            self.copy(ui, scene, data);
        }
        self.order.sorting().ui(ui, scene.palette);
    }

    fn copy(&mut self, ui: &Ui, scene: &Scene<'_>, data: &Arc<TableData>) {
        self.refresh(ui, scene, data);
        let order = self.order.rows();
        self.copying
            .start_table(ui.ctx(), scene.loaded, data, order);
    }

    /// Returns whether rows are being sorted or copied.
    #[must_use]
    pub(crate) fn is_waiting(&self) -> bool {
        self.order.is_waiting() || self.copying.is_waiting()
    }

    /// Cancels copying.
    pub(crate) fn stop(&mut self) {
        self.copying.stop();
    }

    /// Marks the row whose details are drawn beside the table, and no other.
    pub fn detail(&mut self, row: Option<usize>) {
        self.detailed = row;
    }

    /// Scrolls to a row in the next frame.
    pub(crate) fn show_row(&mut self, row: usize) {
        self.wanted = Some(row);
    }

    /// Draws the table in the space that is left. `menu` fills the context menu of a row.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        name: &str,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
        menu: impl FnMut(&mut Ui, usize, &mut Vec<Action>),
    ) -> TableAnswer {
        self.ui_with_cells(ui, scene, name, data, actions, (&mut |_, _, _| {}, menu))
    }

    /// As `ui`, in a table with columns whose cells the pane draws.
    pub(crate) fn ui_with_cells(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        name: &str,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
        (draw, mut menu): (DrawCell<'_>, impl FnMut(&mut Ui, usize, &mut Vec<Action>)),
    ) -> TableAnswer {
        self.copying.poll(actions);
        self.refresh(ui, scene, data);
        let mut answer = TableAnswer::default();
        let area = ui.available_rect_before_wrap();
        if is_copied(ui, area) {
            self.copy(ui, scene, data);
        }
        let count = self.order.len(data);
        if count == 0 && !data.rows.is_empty() {
            let rows = ruler::counted(data.rows.len(), "row", "rows");
            let words = format!("The filter '{}' hides {rows}.", shortened(&self.filter));
            if filtered_ui(ui, scene, &words) {
                self.filter.clear();
            }
            return answer;
        }
        egui::ScrollArea::horizontal()
            .id_salt((name, "across"))
            .auto_shrink([false, false])
            .show(ui, |ui| {
                if data.columns.iter().any(|column| column.grows) {
                    // Inside a scroll area the available width is unlimited.
                    ui.set_max_width(area.width().max(data.width(ui)));
                }
                let mut table = TableBuilder::new(ui)
                    .min_scrolled_height(0.0)
                    .id_salt(name)
                    .striped(true)
                    .resizable(true)
                    .auto_shrink([false, false])
                    .sense(Sense::click())
                    .cell_layout(Layout::left_to_right(Align::Center));
                for column in &data.columns {
                    let width = match column.grows {
                        true => Column::remainder().at_least(column.width),
                        false if !column.has_cells() => Column::exact(column.width),
                        false => Column::initial(column.width).at_least(40.0),
                    };
                    table = table.column(width.clip(true));
                }
                if let Some(place) = self.wanted.take().and_then(|row| self.order.place_of(row)) {
                    table = table.scroll_to_row(place, None);
                }
                let body = table.header(HEADING_HEIGHT, |mut header| {
                    for (at, column) in data.columns.iter().enumerate() {
                        header.col(|ui| {
                            if column.has_cells() {
                                self.heading_ui(ui, data, at, &column.def);
                            }
                        });
                    }
                });
                body.body(|body| {
                    body.rows(data.row_height, count, |mut row| {
                        let Some(index) = self.order.row_at(data, row.index()) else {
                            return;
                        };
                        let cells = self.kept.row(scene, data, index);
                        row.set_selected(self.is_marked(scene, data, index));
                        for (at, column) in data.columns.iter().enumerate() {
                            if column.is_drawn {
                                row.col(|ui| draw(ui, index, column));
                                continue;
                            }
                            let cell = column.cell(&cells);
                            let tint = data.tints.get(index).copied().flatten();
                            let marks = Marks {
                                tint: tint.filter(|_| at == 0),
                                is_trouble: column.is_trouble(&cells),
                            };
                            let text = text_of(&column.def, cell, scene);
                            row.col(|ui| cell_ui(ui, scene, &column.def, (cell, &text), marks));
                        }
                        let response = row.response();
                        response.widget_info(|| {
                            let texts = data.columns.iter();
                            row_info(texts.map(|it| {
                                let text = text_of(&it.def, it.cell(&cells), scene);
                                (it.def.title, text)
                            }))
                        });
                        if response.clicked() {
                            answer.clicked = Some(index);
                        }
                        response.context_menu(|ui| menu(ui, index, actions));
                    });
                });
            });
        answer
    }

    fn is_marked(&self, scene: &Scene<'_>, data: &TableData, row: usize) -> bool {
        match self.detailed {
            Some(detailed) => detailed == row,
            None => {
                let item = data.rows.item(scene.loaded, row);
                item.is_some() && item == scene.state.selected
            }
        }
    }

    fn heading_ui(&mut self, ui: &mut Ui, data: &TableData, at: usize, column: &ColumnDef<'_>) {
        let sorted = self.sort.filter(|sort| sort.column == at);
        let sorted = sorted.map(|sort| sort.order);
        let align = align_of(column);
        if heading_button(ui, column.title, column.about, sorted, align).clicked() {
            self.sort = Sort::next(self.sort, data, at);
        }
    }

    /// Sorts and filters again, if anything changed.
    fn refresh(&mut self, ui: &Ui, scene: &Scene<'_>, data: &Arc<TableData>) {
        let wanted = Wanted {
            sort: self.sort,
            filter: self.filter.to_lowercase(),
        };
        self.order.refresh(ui.ctx(), scene.loaded, data, &wanted);
    }
}

/// Returns the text that screen readers read for a row: its first cell, then each column's title with its cell.
#[must_use]
pub(crate) fn row_info<'a, T: AsRef<str>>(
    cells: impl IntoIterator<Item = (&'a str, T)>,
) -> egui::WidgetInfo {
    let mut said = String::new();
    for (at, (title, cell)) in cells.into_iter().enumerate() {
        let cell = cell.as_ref().trim();
        if cell.is_empty() {
            continue;
        }
        if !said.is_empty() {
            said.push_str(", ");
        }
        if at > 0 && !title.is_empty() {
            said.push_str(title);
            said.push(' ');
        }
        said.push_str(cell);
    }
    if said.is_empty() {
        said.push_str("Empty row");
    }
    egui::WidgetInfo::labeled(egui::Role::Row, true, said)
}

/// Returns whether Ctrl+C is to copy the content of `area`: the pointer is there, and no text is being edited.
#[must_use]
pub(crate) fn is_copied(ui: &Ui, area: egui::Rect) -> bool {
    ui.rect_contains_pointer(area)
        && !ui.ctx().text_edit_focused()
        && ui.input(|input| input.events.contains(&egui::Event::Copy))
}

/// Draws a note that the filter hides all rows; returns whether the filter is to be cleared.
pub(crate) fn filtered_ui(ui: &mut Ui, scene: &Scene<'_>, words: &str) -> bool {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(words).color(scene.palette.weak));
        ui.button("Clear the filter").clicked()
    })
    .inner
}
