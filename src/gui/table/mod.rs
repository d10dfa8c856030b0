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
mod heading;
mod kept;
mod order;
mod shown;
mod tree;
mod wrapped;

use std::ops::Range;
use std::sync::Arc;

use egui::{Align, Layout, Rect, RichText, Sense, Ui, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

pub(crate) use self::copied::{COPIES_ROWS, Copying, copy_button};
use self::data::HEADING_HEIGHT;
pub(crate) use self::data::{PaneColumn, TEXT_SIZE, TableData};
use self::heading::heading_button;
use self::kept::KeptCells;
pub(crate) use self::order::Order;
use self::order::{Places, RowOrder, Sort, Wanted};
pub(crate) use self::shown::number_text;
pub use self::shown::text_of;
use self::shown::{Marks, align_of, cell_ui};
pub(crate) use self::tree::OpenRule;
use self::tree::{Opened, TreeMark};
use super::long_list::LongList;
use super::pane::Scene;
use crate::gui::shortened::shortened;
use crate::query::Item;
use crate::view::{Action, ruler};

/// Tables with more rows than this are scrolled by rows: an `f32` cannot represent their height in points exactly.
const LONG: usize = 500_000;
/// The indentation of each level of a tree, in points.
const INDENT: f32 = 14.0;

/// The user's input to a table.
#[derive(Debug, Default)]
pub(crate) struct TableAnswer {
    /// The row that was clicked.
    pub clicked: Option<usize>,
}

/// Draws a cell of a column that the pane draws itself; takes the row's index and the column.
pub(crate) type DrawCell<'a> = &'a mut dyn FnMut(&mut Ui, usize, &PaneColumn);

/// The functions with which a pane draws parts of its table.
pub(crate) struct Parts<'a, M> {
    /// Draws the cells of columns that the pane draws itself.
    pub(crate) draw: DrawCell<'a>,
    /// Draws the menu of a row.
    pub(crate) menu: M,
}

/// The parts of a table that a frame draws.
struct Drawn<'a, 's, M> {
    scene: &'a Scene<'s>,
    name: &'a str,
    data: &'a Arc<TableData>,
    /// Fills the context menu of a row.
    menu: &'a mut M,
    draw: DrawCell<'a>,
}

/// The state of a table on the screen: its sorting and its filter.
#[derive(Default)]
pub(crate) struct DataTable {
    sort: Option<Sort>,
    filter: String,
    /// In a tree: the rows whose children are shown.
    opened: Opened,
    order: RowOrder,
    kept: KeptCells,
    copying: Copying,
    /// Where a long table is scrolled to, and the number of its rows that have room.
    list: LongList,
    seen: usize,
    /// The row to which the next frame scrolls.
    wanted: Option<usize>,
    /// The row whose details are drawn beside the table and which is marked; `None`: the selected item's row is
    /// marked.
    detailed: Option<usize>,
    /// The width in points, in the last frame, of the column whose texts are broken into lines.
    wrap_width: Option<f32>,
}

/// The visible part of a long table.
struct Scrolled {
    /// The area for the table.
    area: Rect,
    /// The rows that it has room for.
    rows: Range<usize>,
}

/// A row and its mark in a tree.
struct PlacedRow {
    index: usize,
    mark: Option<TreeMark>,
}

impl DataTable {
    /// Returns a table that is sorted by the pane's column with index `column` at first.
    #[must_use]
    pub(crate) fn sorted(column: usize, order: Order) -> DataTable {
        DataTable {
            sort: Some(Sort { column, order }),
            ..DataTable::default()
        }
    }

    /// Returns the text of the filter, for a pane that draws the filter's field itself.
    pub(crate) fn filter(&mut self) -> &mut String {
        &mut self.filter
    }

    /// Returns the number of shown rows of a tree that match the filter themselves.
    #[must_use]
    pub(crate) fn match_count(&self) -> usize {
        self.order.match_count()
    }

    /// Opens or closes all rows of a tree.
    pub(crate) fn open_all(&mut self, rule: OpenRule) {
        self.opened = Opened::all(rule);
    }

    /// Opens a row of a tree by its key.
    pub(crate) fn open(&mut self, key: u32) {
        self.opened.open(key);
    }

    /// Opens a row of a tree if it is closed, and closes it if it is open.
    pub(crate) fn toggle(&mut self, data: &TableData, row: usize) {
        self.opened.toggle(data.rows.key(row));
    }

    /// Opens the rows above a row of a tree, and scrolls to the row.
    pub(crate) fn reveal(&mut self, data: &TableData, row: usize) {
        let above = data.tree.iter().flat_map(|tree| tree.above(row as u32));
        above.for_each(|above| self.opened.open(data.rows.key(above as usize)));
        self.show_row(row);
    }

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
        if data.is_stale(scene.loaded.id) {
            return;
        }
        self.refresh(ui, scene, data);
        let order = self.order.rows();
        self.copying
            .start_table(ui.ctx(), scene.loaded, data, order);
    }

    /// Returns whether rows are being made, sorted or copied.
    #[must_use]
    pub(crate) fn is_waiting(&self) -> bool {
        self.order.is_waiting() || self.copying.is_waiting() || self.kept.is_waiting()
    }

    /// Cancels copying.
    pub(crate) fn stop(&mut self) {
        self.copying.stop();
    }

    /// Marks the row whose details are drawn beside the table, and no other.
    pub(crate) fn detail(&mut self, row: Option<usize>) {
        self.detailed = row;
    }

    /// Scrolls to a row in the next frame.
    pub(crate) fn show_row(&mut self, row: usize) {
        self.wanted = Some(row);
    }

    /// Makes a row of a long table the first that is seen.
    pub(crate) fn show_first(&mut self, row: usize) {
        self.list.show_first(row);
    }

    /// Returns the rows of a long table that are seen.
    pub(crate) fn rows_in_view(&self) -> Range<usize> {
        self.list.top()..self.list.top() + self.seen
    }

    /// Draws the table in the space that is left. `menu` fills the context menu of a row.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        name: &str,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
        menu: impl FnMut(&mut Ui, usize, &mut Vec<Action>),
    ) -> TableAnswer {
        let parts = Parts {
            draw: &mut |_, _, _| {},
            menu,
        };
        self.ui_with_cells(ui, scene, name, data, actions, parts)
    }

    /// As `ui`, in a table with columns whose cells the pane draws.
    pub(crate) fn ui_with_cells(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        name: &str,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
        parts: Parts<'_, impl FnMut(&mut Ui, usize, &mut Vec<Action>)>,
    ) -> TableAnswer {
        let Parts { draw, mut menu } = parts;
        self.copying.poll(actions);
        self.refresh(ui, scene, data);
        let mut answer = TableAnswer::default();
        let area = ui.available_rect_before_wrap();
        if is_copied(ui, area) {
            self.copy(ui, scene, data);
        }
        let count = self.order.len(data);
        if count == 0 && !data.rows.is_empty() && !self.order.is_waiting() {
            let rows = ruler::counted(data.rows.len(), "row", "rows");
            let words = format!("The filter '{}' hides {rows}.", shortened(&self.filter));
            if filtered_ui(ui, scene, &words) {
                self.filter.clear();
            }
            return answer;
        }
        let drawn = Drawn {
            scene,
            name,
            data,
            menu: &mut menu,
            draw,
        };
        if !(data.is_slow() || count > LONG) {
            self.rows_ui(ui, drawn, 0..count, actions, &mut answer);
            return answer;
        }
        let Scrolled { area, rows } = self.scrolled(ui, scene, data, count);
        (self.kept).prepare(ui.ctx(), scene.loaded, data, rows.start);
        ui.scope_builder(egui::UiBuilder::new().max_rect(area), |ui| {
            ui.set_clip_rect(area.intersect(ui.clip_rect()));
            self.rows_ui(ui, drawn, rows, actions, &mut answer);
        });
        answer
    }

    /// Draws the scroll bar of a long table; returns the area for the table, and the rows that it has room for.
    fn scrolled(&mut self, ui: &Ui, scene: &Scene<'_>, data: &TableData, count: usize) -> Scrolled {
        let area = ui.available_rect_before_wrap();
        let spacing = ui.spacing().item_spacing.y;
        let step = data.row_height + spacing;
        let top = egui::vec2(0.0, HEADING_HEIGHT + spacing);
        let rows_area = Rect::from_min_max(area.min + top, area.max);
        if let Some(place) = self.wanted_place() {
            self.list.show(place, self.seen);
        }
        let left = (self.list).scroll_ui(ui, rows_area, count, step, scene.palette);
        self.seen = ((left.height() / step).floor() as usize).max(1);
        let first = self.list.top().min(count);
        // The last row may be partly visible.
        let rows = first..(first + self.seen + 1).min(count);
        Scrolled {
            area: Rect::from_min_max(area.min, left.max),
            rows,
        }
    }

    /// Returns the place of the row to which the table is to scroll, once; waits until the rows are in order.
    fn wanted_place(&mut self) -> Option<usize> {
        if self.order.is_waiting() {
            return None;
        }
        self.wanted.take().and_then(|row| self.order.place_of(row))
    }

    /// Draws the headings, and the rows at these places of the order.
    fn rows_ui<M: FnMut(&mut Ui, usize, &mut Vec<Action>)>(
        &mut self,
        ui: &mut Ui,
        mut drawn: Drawn<'_, '_, M>,
        rows: Range<usize>,
        actions: &mut Vec<Action>,
        answer: &mut TableAnswer,
    ) {
        let (name, data) = (drawn.name, drawn.data);
        let count = self.order.len(data);
        let is_whole = rows == (0..count) && !data.is_slow();
        let width = ui.available_width();
        let heights = self.heights(ui, drawn.scene, data, rows.clone(), width);
        let across = match heights {
            Some(_) => Align::Min,
            None => Align::Center,
        };
        egui::ScrollArea::horizontal()
            .id_salt((name, "across"))
            .auto_shrink([false, false])
            .show(ui, |ui| {
                if data.columns.iter().any(|column| column.grows) {
                    // Inside a scroll area the available width is unlimited.
                    ui.set_max_width(width.max(data.width(ui)));
                }
                let mut table = TableBuilder::new(ui)
                    .min_scrolled_height(0.0)
                    .id_salt(name)
                    // Where rows are scrolled one by one, stripes would stay in place.
                    .striped(is_whole)
                    .vscroll(is_whole)
                    .resizable(true)
                    .auto_shrink([false, false])
                    .sense(Sense::click())
                    .cell_layout(Layout::left_to_right(across));
                for column in &data.columns {
                    let width = match column.grows {
                        true => Column::remainder().at_least(column.width),
                        false if column.title.is_empty() => Column::exact(column.width),
                        false => Column::initial(column.width).at_least(40.0),
                    };
                    table = table.column(width.clip(true));
                }
                if let Some(place) = self.wanted_place() {
                    let align = data.tree.as_ref().map(|_| Align::Center);
                    table = table.scroll_to_row(place, align);
                }
                let body = table.header(HEADING_HEIGHT, |mut header| {
                    for (at, column) in data.columns.iter().enumerate() {
                        header.col(|ui| self.heading_ui(ui, data, at, column));
                    }
                });
                let mut draw = |row: TableRow<'_, '_>| {
                    let place = rows.start + row.index();
                    if let Some(index) = self.order.row_at(data, place) {
                        let mark = self.order.mark_at(place);
                        let placed = PlacedRow { index, mark };
                        self.row_ui(row, &mut drawn, placed, actions, answer);
                    }
                };
                body.body(|body| match heights {
                    Some(heights) => body.heterogeneous_rows(heights.into_iter(), &mut draw),
                    None => body.rows(data.row_height, rows.len(), &mut draw),
                });
            });
    }

    fn row_ui<M: FnMut(&mut Ui, usize, &mut Vec<Action>)>(
        &mut self,
        mut row: TableRow<'_, '_>,
        drawn: &mut Drawn<'_, '_, M>,
        PlacedRow { index, mark }: PlacedRow,
        actions: &mut Vec<Action>,
        answer: &mut TableAnswer,
    ) {
        let (scene, data) = (drawn.scene, drawn.data);
        let Some(cells) = self.kept.row(scene.loaded, data, index) else {
            data.columns.iter().for_each(|_| drop(row.col(|_| {})));
            return;
        };
        row.set_selected(self.is_marked(scene, data, index));
        let mut is_toggled = false;
        let mut wrap_width = None;
        for (at, column) in data.columns.iter().enumerate() {
            let mark = mark.filter(|_| at == 0);
            let mut indent = |ui: &mut Ui| {
                if let Some(mark) = mark {
                    let name = || column.text(&cells, scene);
                    is_toggled = tree_mark_ui(ui, scene, data.row_height, mark, &name);
                }
            };
            if column.is_drawn {
                row.col(|ui| {
                    indent(ui);
                    (drawn.draw)(ui, index, column);
                });
                continue;
            }
            let cell = column.cell(&cells);
            let tint = data.tints.get(index).copied().flatten();
            let marks = Marks {
                tint: tint.filter(|_| at == 0),
                is_trouble: column.is_trouble(&cells),
                is_mono: column.is_mono,
                is_broken: data.wrapping().is_some_and(|it| it.at == column.at),
            };
            let text = column.text(&cells, scene);
            row.col(|ui| {
                indent(ui);
                if marks.is_broken {
                    wrap_width = Some(ui.available_width());
                }
                cell_ui(ui, scene, &column.def, cell, &text, marks);
            });
        }
        let response = row.response();
        if wrap_width.is_some() && wrap_width != self.wrap_width {
            // The heights of this frame were made for another width.
            self.wrap_width = wrap_width;
            response.ctx.request_repaint();
        }
        response.widget_info(|| {
            let texts = data.columns.iter();
            row_info(texts.map(|it| RowCell {
                title: it.title.as_ref(),
                text: it.text(&cells, scene),
            }))
        });
        if let Some(mark) = mark {
            response.ctx.accesskit_node_builder(response.id, |node| {
                node.set_level(mark.depth as usize + 1);
                if mark.has_children {
                    node.set_expanded(mark.is_open);
                }
            });
        }
        if is_toggled {
            self.toggle(data, index);
        } else if response.clicked() {
            answer.clicked = Some(index);
        }
        response.context_menu(|ui| (drawn.menu)(ui, index, actions));
    }

    /// Returns the item of a row in the generation of the trace that is shown.
    pub(crate) fn item(
        &self,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        row: usize,
    ) -> Option<Item> {
        self.kept.item(scene.loaded, data, row)
    }

    fn is_marked(&self, scene: &Scene<'_>, data: &TableData, row: usize) -> bool {
        match self.detailed {
            Some(detailed) => detailed == row,
            None => {
                let item = data.item(scene.loaded, row);
                item.is_some() && item == scene.state.selected
            }
        }
    }

    fn heading_ui(&mut self, ui: &mut Ui, data: &TableData, at: usize, column: &PaneColumn) {
        if column.title.is_empty() {
            return;
        }
        if data.is_slow() || !column.has_cells() {
            let title = RichText::new(&*column.title).size(TEXT_SIZE).strong();
            let layout = match align_of(&column.def) {
                Align::Max => Layout::right_to_left(Align::Center),
                _ => Layout::left_to_right(Align::Center),
            };
            let label = egui::Label::new(title).truncate();
            let label = ui.with_layout(layout, |ui| ui.add(label)).inner;
            label.on_hover_text(column.def.about);
            return;
        }
        let sorted = self.sort.filter(|sort| sort.column == at);
        let sorted = sorted.map(|sort| sort.order);
        let align = match column.is_at_right {
            true => Align::Max,
            false => align_of(&column.def),
        };
        if heading_button(ui, &column.title, column.def.about, sorted, align).clicked() {
            self.sort = Sort::next(self.sort, data, at);
        }
    }

    /// Sorts and filters again, if anything changed.
    fn refresh(&mut self, ui: &Ui, scene: &Scene<'_>, data: &Arc<TableData>) {
        if data.is_stale(scene.loaded.id) {
            return;
        }
        let wanted = Wanted {
            sort: self.sort,
            filter: self.filter.to_lowercase(),
            opened: self.opened.clone(),
        };
        let places = match ui.rect_contains_pointer(ui.available_rect_before_wrap()) {
            true => Places::Held,
            false => Places::Free,
        };
        self.order
            .refresh(ui.ctx(), scene.loaded, data, &wanted, places);
    }
}

/// Draws the indentation of a row of a tree, and the triangle that opens and closes the row; returns whether the
/// triangle was clicked. `name` returns the name of the row.
fn tree_mark_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    row_height: f32,
    mark: TreeMark,
    name: &dyn Fn() -> String,
) -> bool {
    ui.spacing_mut().item_spacing.x = 3.0;
    // Levels that are too deep for the column are drawn at the deepest indentation that fits.
    let most = ((ui.available_width() - 60.0) / INDENT).max(0.0);
    ui.add_space(INDENT * (mark.depth as f32).min(most));
    let (area, response) = ui.allocate_exact_size(vec2(13.0, row_height), Sense::click());
    if !mark.is_match {
        ui.visuals_mut().override_text_color = Some(scene.palette.weak);
    }
    if !mark.has_children {
        return false;
    }
    let points = match mark.is_open {
        true => [vec2(-4.0, -2.5), vec2(4.0, -2.5), vec2(0.0, 3.5)],
        false => [vec2(-2.5, -4.0), vec2(3.5, 0.0), vec2(-2.5, 4.0)],
    };
    let color = match response.hovered() {
        true => scene.palette.text,
        false => scene.palette.weak,
    };
    ui.painter().add(egui::Shape::convex_polygon(
        points.map(|at| area.center() + at).to_vec(),
        color,
        egui::Stroke::NONE,
    ));
    response.widget_info(|| {
        let words = format!("Children of {}", name());
        egui::WidgetInfo::labeled(egui::Role::Button, true, words)
    });
    response.clicked()
}

/// A cell for screen readers.
struct RowCell<'a> {
    /// The title of its column.
    title: &'a str,
    text: String,
}

/// Returns the text that screen readers read for a row: its first cell, then each column's title with its cell.
#[must_use]
fn row_info<'a>(cells: impl IntoIterator<Item = RowCell<'a>>) -> egui::WidgetInfo {
    let mut words = String::new();
    for (at, RowCell { title, text }) in cells.into_iter().enumerate() {
        let cell = text.trim();
        if cell.is_empty() {
            continue;
        }
        if !words.is_empty() {
            words.push_str(", ");
        }
        if at > 0 && !title.is_empty() {
            words.push_str(title);
            words.push(' ');
        }
        words.push_str(cell);
    }
    if words.is_empty() {
        words.push_str("Empty row");
    }
    egui::WidgetInfo::labeled(egui::Role::Row, true, words)
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
