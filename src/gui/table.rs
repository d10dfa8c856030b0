//! A table of numbers and names: sorted by any column, filtered by text, copied as tab-separated text.
//!
//! Only the rows that are seen are drawn. What the rows are is made elsewhere, mostly in the background.

use std::cmp::Ordering;
use std::sync::Arc;

use egui::{Align, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use super::heading::heading_button;
use super::pane::Scene;
use super::tint::Tint;
use crate::base::{Nanos, Timestamp};
use crate::gui::script::one_line;
use crate::gui::shortened::shortened;
use crate::query::Item;
use crate::query::process_rows::Order;
use crate::trace::Length;
use crate::view::{Action, ruler};

/// The height of a row, in points.
pub const ROW_HEIGHT: f32 = 18.0;
/// The size of text in tables, in points.
pub const TEXT_SIZE: f32 = 12.0;

/// Panes narrower than this, in points, have no room for anything beside a table.
const NARROW: f32 = 620.0;
/// Between a table and what stands beside it, in points.
const COMPANION_GAP: f32 = 12.0;

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    None,
    /// A text.
    Text(String),
    /// How many.
    Count(u64),
    /// A length of time in ns.
    Length(i128),
    /// A length of time in ns that something took at least: it never ended.
    AtLeast(i128),
    /// A point in time.
    Time(Timestamp),
    /// A part of a whole, 1 for all of it; drawn with a bar.
    Share(f64),
    /// A change, 1 for twice as much; infinite: what is new, and less than all: what is gone.
    Change(f64),
    /// Any other number.
    Value(f64),
}

impl Cell {
    /// A duration, as far as it is known.
    #[must_use]
    pub fn of_length(length: Length) -> Cell {
        match length {
            Length::Known(ns) => Cell::Length(ns.into()),
            Length::AtLeast(ns) => Cell::AtLeast(ns.into()),
        }
    }

    fn order(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Text(a), Cell::Text(b)) => natural(a, b),
            (Cell::Count(a), Cell::Count(b)) => a.cmp(b),
            (Cell::Length(a), Cell::Length(b)) | (Cell::AtLeast(a), Cell::AtLeast(b)) => a.cmp(b),
            // What never ended may be the longest.
            (Cell::AtLeast(_), Cell::Length(_)) => Ordering::Greater,
            (Cell::Length(_), Cell::AtLeast(_)) => Ordering::Less,
            (Cell::Time(a), Cell::Time(b)) => a.cmp(b),
            (Cell::Share(a), Cell::Share(b))
            | (Cell::Change(a), Cell::Change(b))
            | (Cell::Value(a), Cell::Value(b)) => a.total_cmp(b),
            (Cell::None, Cell::None) => Ordering::Equal,
            (Cell::None, _) => Ordering::Less,
            (_, Cell::None) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Cell::Text(_))
    }

    /// As people read it.
    #[must_use]
    pub fn shown(&self, scene: &Scene<'_>) -> String {
        let origins = scene.state.origins;
        match self {
            Cell::None => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => ruler::grouped(i64::try_from(*count).unwrap_or(i64::MAX)),
            Cell::Length(ns) => {
                let held = (*ns).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
                ruler::column_length_text(Nanos(held), origins.unit)
            }
            Cell::AtLeast(ns) => format!("≥ {}", Cell::Length(*ns).shown(scene)),
            Cell::Time(time) => ruler::full_text(*time, scene.state.time_format, origins),
            Cell::Share(share) => format!("{:.1} %", share * 100.0),
            Cell::Change(f64::INFINITY) => "new".to_owned(),
            Cell::Change(f64::NEG_INFINITY) => "gone".to_owned(),
            Cell::Change(change) => format!("{:+.1} %", change * 100.0),
            Cell::Value(value) => number_text(*value),
        }
    }

    /// As programs read it: whole numbers, times in ns, shares as fractions.
    #[must_use]
    pub fn exact(&self) -> String {
        match self {
            // As in the tables: of what never ended there is no duration.
            Cell::None | Cell::AtLeast(_) => "\\N".to_owned(),
            Cell::Text(text) => text
                .replace('\\', "\\\\")
                .replace('\t', "\\t")
                .replace('\n', "\\n"),
            Cell::Count(count) => count.to_string(),
            Cell::Length(ns) => ns.to_string(),
            Cell::Time(time) => time.0.to_string(),
            Cell::Change(f64::NEG_INFINITY) => "-1".to_owned(),
            Cell::Share(value) | Cell::Change(value) | Cell::Value(value) => value.to_string(),
        }
    }
}

/// A number with as many decimals as say something.
#[must_use]
pub fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        ruler::grouped(value as i64)
    } else if value != 0.0 && (value.abs() >= 1e15 || value.abs() < 1e-3) {
        format!("{value:.3e}")
    } else {
        format!("{value:.3}")
    }
}

/// Texts in order, numbers in them by their value: `CPU 2` before `CPU 10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (in_a, in_b) = (digits(a), digits(b));
        if in_a > 0 && in_b > 0 {
            let number = |text: &[u8], count: usize| -> (usize, Vec<u8>) {
                let kept: Vec<u8> = text[..count]
                    .iter()
                    .copied()
                    .skip_while(|byte| *byte == b'0')
                    .collect();
                (kept.len(), kept)
            };
            let order = number(a, in_a).cmp(&number(b, in_b));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[in_a..], &b[in_b..]);
            continue;
        }
        let (Some(first), Some(second)) = (a.first(), b.first()) else {
            return a.len().cmp(&b.len());
        };
        let order = first.to_ascii_lowercase().cmp(&second.to_ascii_lowercase());
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (&a[1..], &b[1..]);
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// Its heading.
    pub title: &'static str,
    /// What it says, for those who wonder.
    pub about: &'static str,
    /// Its width to begin with, in points.
    pub width: f32,
}

/// A column; keeps lists of them readable.
#[must_use]
pub const fn column(title: &'static str, width: f32, about: &'static str) -> TableColumn {
    TableColumn {
        title,
        about,
        width,
    }
}

/// A row.
#[derive(Clone, Debug, Default)]
pub struct TableRow {
    /// What stands in it, by column.
    pub cells: Vec<Cell>,
    /// What it is about.
    pub item: Option<Item>,
    /// What it is marked with.
    pub tint: Option<Tint>,
}

/// The whole of a table.
#[derive(Clone, Debug, Default)]
pub struct TableData {
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The rows, in the order that they have until the user sorts them.
    pub rows: Vec<TableRow>,
}

/// What the user did to a table.
#[derive(Debug, Default)]
pub struct TableAnswer {
    /// The row that was clicked.
    pub clicked: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Up(usize),
    Down(usize),
}

impl TableData {
    /// A panel for what belongs to the table: beside it, from where a column ends; below it in a narrow pane.
    pub fn companion(&self, ui: &Ui, name: &'static str) -> egui::Panel {
        let room = ui.available_size();
        if room.x < NARROW && room.y > room.x * 0.6 {
            // Another name: each place keeps its own size.
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

    /// How wide as many of its columns are as fit into `most`, in points.
    fn width_within(&self, ui: &Ui, most: f32) -> f32 {
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

/// A table on the screen: its sorting and its filter.
#[derive(Debug, Default)]
pub struct DataTable {
    sort: Option<Sort>,
    filter: String,
    /// What `order` is the order of.
    ordered: Option<(Arc<TableData>, Option<Sort>, String)>,
    order: Vec<u32>,
    shown_first: Option<usize>,
    /// The row whose details stand beside the table; `None`: what is selected is marked.
    detailed: Option<usize>,
}

impl DataTable {
    /// A text that rows must hold, and a button that copies them; to be drawn above the table.
    pub fn tools_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
    ) {
        let field = egui::TextEdit::singleline(&mut self.filter)
            .hint_text("Filter rows")
            .desired_width(110.0);
        let response = ui.add(field);
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter rows"));
        let copy = ui
            .add_enabled(!data.rows.is_empty(), egui::Button::new("Copy"))
            .on_hover_text("Copy the rows as tab-separated text (Ctrl+C over the table)");
        if copy.clicked() {
            self.refresh(data, scene);
            actions.push(Action::Copy(self.text(data)));
        }
    }

    /// Says which row stands beside the table in detail: it is marked, and no other.
    pub fn detail(&mut self, row: Option<usize>) {
        self.detailed = row;
    }

    /// Draws the table into what room there is. `menu` fills the menu of a row.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        name: &str,
        data: &Arc<TableData>,
        actions: &mut Vec<Action>,
        mut menu: impl FnMut(&mut Ui, usize, &mut Vec<Action>),
    ) -> TableAnswer {
        self.refresh(data, scene);
        let mut answer = TableAnswer::default();
        let area = ui.available_rect_before_wrap();
        if is_copied(ui, area) {
            actions.push(Action::Copy(self.text(data)));
        }
        if self.order.is_empty() && !data.rows.is_empty() {
            let rows = crate::view::ruler::counted(data.rows.len(), "row", "rows");
            let words = format!("The filter '{}' hides {rows}.", shortened(&self.filter));
            if filtered_ui(ui, scene, &words) {
                self.filter.clear();
            }
            return answer;
        }
        let sample = |column: usize| data.rows.first()?.cells.get(column);
        egui::ScrollArea::horizontal()
            .id_salt((name, "across"))
            .auto_shrink([false, false])
            .show(ui, |ui| {
                let mut table = TableBuilder::new(ui)
                    .min_scrolled_height(0.0)
                    .id_salt(name)
                    .striped(true)
                    .resizable(true)
                    .auto_shrink([false, false])
                    .sense(Sense::click())
                    .cell_layout(Layout::left_to_right(Align::Center));
                for column in &data.columns {
                    table = table.column(Column::initial(column.width).at_least(40.0).clip(true));
                }
                if let Some(row) = self.shown_first.take() {
                    table = table.scroll_to_row(row, None);
                }
                let body = table.header(22.0, |mut header| {
                    for (at, column) in data.columns.iter().enumerate() {
                        header.col(|ui| {
                            self.heading_ui(ui, at, column, align_of(sample(at)));
                        });
                    }
                });
                body.body(|body| {
                    body.rows(ROW_HEIGHT, self.order.len(), |mut row| {
                        let Some(&index) = self.order.get(row.index()) else {
                            return;
                        };
                        let index = index as usize;
                        let Some(shown) = data.rows.get(index) else {
                            return;
                        };
                        let is_chosen = match self.detailed {
                            Some(detailed) => detailed == index,
                            None => shown.item.is_some() && shown.item == scene.state.selected,
                        };
                        row.set_selected(is_chosen);
                        for (at, _) in data.columns.iter().enumerate() {
                            let cell = shown.cells.get(at).unwrap_or(&Cell::None);
                            let tint = shown.tint.filter(|_| at == 0);
                            row.col(|ui| {
                                ui.with_layout(layout_of(sample(at)), |ui| {
                                    cell_ui(ui, scene, cell, tint);
                                });
                            });
                        }
                        let response = row.response();
                        response.widget_info(|| {
                            let said: Vec<String> =
                                shown.cells.iter().map(|cell| cell.shown(scene)).collect();
                            egui::WidgetInfo::labeled(egui::Role::Row, true, said.join(", "))
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

    fn heading_ui(&mut self, ui: &mut Ui, at: usize, column: &TableColumn, align: Align) {
        let sorted = match self.sort {
            Some(Sort::Up(sorted)) if sorted == at => Some(Order::Ascending),
            Some(Sort::Down(sorted)) if sorted == at => Some(Order::Descending),
            _ => None,
        };
        if heading_button(ui, column.title, column.about, sorted, align).clicked() {
            self.sort = match self.sort {
                Some(Sort::Down(sorted)) if sorted == at => Some(Sort::Up(at)),
                Some(Sort::Up(sorted)) if sorted == at => None,
                _ => Some(Sort::Down(at)),
            };
        }
    }

    /// Sorts and filters anew, if anything changed.
    fn refresh(&mut self, data: &Arc<TableData>, scene: &Scene<'_>) {
        let is_same = self.ordered.as_ref().is_some_and(|(of, sort, filter)| {
            Arc::ptr_eq(of, data) && *sort == self.sort && *filter == self.filter
        });
        if is_same {
            return;
        }
        let wanted = self.filter.to_lowercase();
        let holds = |row: &TableRow| {
            wanted.is_empty()
                || row.cells.iter().any(|cell| {
                    cell.is_text() && cell.shown(scene).to_lowercase().contains(&wanted)
                })
        };
        let rows = data.rows.iter().zip(0..);
        self.order = rows
            .filter(|(row, _)| holds(row))
            .map(|(_, at)| at)
            .collect();
        if let Some(Sort::Up(column) | Sort::Down(column)) = self.sort {
            let is_down = matches!(self.sort, Some(Sort::Down(_)));
            let cell = |at: u32| {
                let row = data.rows.get(at as usize);
                row.and_then(|row| row.cells.get(column))
                    .unwrap_or(&Cell::None)
            };
            self.order.sort_by(|&a, &b| {
                let (a, b) = (cell(a), cell(b));
                // Names begin with A however the numbers go.
                if is_down != a.is_text() {
                    b.order(a)
                } else {
                    a.order(b)
                }
            });
        }
        self.ordered = Some((data.clone(), self.sort, self.filter.clone()));
    }

    /// The rows that are shown, in their order, as tab-separated text with a heading.
    fn text(&self, data: &TableData) -> String {
        let titles: Vec<&str> = data.columns.iter().map(|column| column.title).collect();
        let mut text = titles.join("\t");
        text.push('\n');
        for &at in &self.order {
            let Some(row) = data.rows.get(at as usize) else {
                continue;
            };
            push_line(&mut text, &row.cells);
        }
        text
    }
}

/// Adds a line of these cells to tab-separated text.
pub fn push_line(text: &mut String, cells: &[Cell]) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            text.push('\t');
        }
        text.push_str(&cell.exact());
    }
    text.push('\n');
}

/// Whether what lies in `area` is to be copied: the pointer is there, and Ctrl+C does not mean a text that is typed.
#[must_use]
pub fn is_copied(ui: &Ui, area: egui::Rect) -> bool {
    ui.rect_contains_pointer(area)
        && !ui.ctx().text_edit_focused()
        && ui.input(|input| input.events.contains(&egui::Event::Copy))
}

/// Says that a filter hides everything; whether it is to be cleared.
pub fn filtered_ui(ui: &mut Ui, scene: &Scene<'_>, words: &str) -> bool {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(words).color(scene.palette.weak));
        ui.button("Clear the filter").clicked()
    })
    .inner
}

/// Names stand at the left of their column, numbers at the right.
fn align_of(cell: Option<&Cell>) -> Align {
    if cell.is_none_or(Cell::is_text) {
        Align::Min
    } else {
        Align::Max
    }
}

fn layout_of(cell: Option<&Cell>) -> Layout {
    match align_of(cell) {
        Align::Max => Layout::right_to_left(Align::Center),
        _ => Layout::left_to_right(Align::Center),
    }
}

fn cell_ui(ui: &mut Ui, scene: &Scene<'_>, cell: &Cell, tint: Option<Tint>) {
    let color_by = scene.state.settings.color_by;
    if let Some(color) = tint.and_then(|tint| tint.on_timeline(scene.palette, color_by)) {
        let (rect, _) = ui.allocate_exact_size(egui::vec2(8.0, 10.0), Sense::hover());
        ui.painter().rect_filled(rect, 2, color);
    }
    if let Cell::Share(share) = cell {
        let area = ui.max_rect().shrink2(egui::vec2(0.0, 2.0));
        let width = area.width() * share.clamp(0.0, 1.0) as f32;
        let bar = egui::Rect::from_min_size(area.min, egui::vec2(width, area.height()));
        let color = scene.palette.accent.gamma_multiply(0.28);
        ui.painter().rect_filled(bar, 1, color);
    }
    let text = cell.shown(scene);
    if let (Cell::Length(_) | Cell::AtLeast(_), Some((_, unit))) = (cell, text.rsplit_once(' ')) {
        // Decimals stand below each other, however wide the unit is.
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
    if !text.is_empty() {
        let label = egui::Label::new(one_line(
            ui,
            RichText::new(shortened(&text)).size(TEXT_SIZE),
        ));
        ui.add(label.truncate().selectable(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count() {
        let mut names = vec!["CPU 10", "cpu 2", "CPU 1", "b", "CPU 02"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["b", "CPU 1", "cpu 2", "CPU 02", "CPU 10"]);
    }

    #[test]
    fn numbers_have_the_decimals_they_need() {
        assert_eq!(number_text(1_234.0), "1 234");
        assert_eq!(number_text(0.5), "0.500");
        assert_eq!(number_text(1e-9), "1.000e-9");
    }
}
