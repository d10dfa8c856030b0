//! A merged call tree as a table whose rows expand, and totals by name.

use egui::{RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};
use rustc_hash::FxHashSet;

use super::name_expression;
use super::paint::{amount, total_of};
use crate::gui::heading::{Heading, heading_ui};
use crate::gui::pane::Scene;
use crate::gui::table::{PaneColumn, ROW_HEIGHT, TEXT_SIZE, TableData, row_info};
use crate::gui::tint::Tint;
use crate::query::flame::{Flame, Node, Unit};
use crate::query::process_rows::Order;
use crate::tables::flames::{NAME_EXTRAS, NAMES, name_rows};
use crate::tables::{Cell, ColumnKind, MadeRow};
use crate::view::{Action, Effect, ruler};

/// The quantity by which sibling rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Name,
    Total,
    Own,
    Count,
    Unfinished,
}

const TOP_DOWN: &[Heading<By>] = &[
    Heading::new("Name", By::Name).about("What it is called"),
    Heading::number("Total", By::Total)
        .about("With all that it calls; ≥: some never ended, and count with what was seen of them"),
    Heading::number("Of all", By::Total).about("Total, as a share of the total of the graph"),
    Heading::number("Self", By::Own).about("Without what it calls"),
    Heading::number("Count", By::Count).about("How many that ended"),
    UNFINISHED,
];

const BOTTOM_UP: &[Heading<By>] = &[
    Heading::new("Name", By::Name).about("What it is called; below it, who calls it"),
    Heading::number("Self", By::Own)
        .about("Without what it calls; of a caller, the part of that under it"),
    Heading::number("Of all", By::Own).about("Self, as a share of the total of the graph"),
    Heading::number("Total", By::Total)
        .about("With all that it calls; of a caller, the part of that under it"),
    Heading::number("Count", By::Count).about("How many that ended"),
    UNFINISHED,
];

/// The column is left out if all slices ended.
const UNFINISHED: Heading<By> =
    Heading::number("Unfinished", By::Unfinished).about("How many never ended");

/// The state of a tree: which rows are open, and how they are sorted.
#[derive(Debug)]
pub(crate) struct TreeTable {
    open: FxHashSet<u32>,
    is_begun: bool,
    /// Whether the tree contains slices that never ended.
    has_unfinished: bool,
    /// The quantity by which rows are sorted initially, and of which they show the share.
    size: By,
    sort: By,
    order: Order,
    /// The search text, and the rows in order with their depth; computed again when `open`, the order or the text
    /// changes.
    rows: Option<(String, Vec<(u32, u32)>)>,
}

impl Default for TreeTable {
    fn default() -> TreeTable {
        TreeTable::top_down()
    }
}

impl TreeTable {
    /// Returns a table of callers, with the nodes that they call below them.
    pub(crate) fn top_down() -> TreeTable {
        TreeTable::by(By::Total)
    }

    /// Returns a table of nodes with own time, with their callers below them.
    pub(crate) fn bottom_up() -> TreeTable {
        TreeTable::by(By::Own)
    }

    fn by(size: By) -> TreeTable {
        TreeTable {
            open: FxHashSet::default(),
            is_begun: false,
            has_unfinished: false,
            size,
            sort: size,
            order: Order::Descending,
            rows: None,
        }
    }

    /// Draws the tree; names that contain `find` are highlighted.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        name: &str,
        flame: &Flame,
        find: &str,
        actions: &mut Vec<Action>,
    ) {
        if !self.is_begun {
            self.is_begun = true;
            self.has_unfinished = flame.nodes.iter().any(|node| node.unfinished > 0);
            self.open_widest(flame);
        }
        let wanted = find.to_lowercase();
        if self.rows.as_ref().is_none_or(|(of, _)| *of != wanted) {
            self.rows = Some((wanted.clone(), self.flat(flame)));
        }
        let rows = self.rows.take().map(|(_, rows)| rows).unwrap_or_default();
        let mut toggled = None;
        let sorted = (self.sort, self.order);
        let whole = flame.nodes.first().map_or(1, |node| node.total).max(1);
        let headings = match self.size {
            By::Own => BOTTOM_UP,
            _ => TOP_DOWN,
        };
        let columns = headings.len() - usize::from(!self.has_unfinished);
        let headings = headings.get(..columns).unwrap_or(headings);
        TableBuilder::new(ui)
            .id_salt(name)
            .min_scrolled_height(0.0)
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
            .column(Column::initial(380.0).at_least(120.0).clip(true))
            .columns(Column::initial(90.0).at_least(50.0).clip(true), columns - 1)
            .header(22.0, |mut header| {
                heading_ui(&mut header, headings, &mut self.sort, &mut self.order);
            })
            .body(|body| {
                body.rows(ROW_HEIGHT, rows.len(), |mut row| {
                    let Some(&(id, depth)) = rows.get(row.index()) else {
                        return;
                    };
                    let Some(node) = flame.nodes.get(id as usize) else {
                        return;
                    };
                    let title = flame.name(id);
                    row.col(|ui| {
                        ui.add_space(depth.min(60) as f32 * 12.0);
                        let mark = match (node.children.is_empty(), self.open.contains(&id)) {
                            (true, _) => "   ",
                            (false, true) => "⏷",
                            (false, false) => "⏵",
                        };
                        // A selectable label would take the click from its row.
                        let mark = RichText::new(mark).size(10.0).monospace();
                        ui.add(egui::Label::new(mark).selectable(false));
                        let mut text = RichText::new(title).size(TEXT_SIZE);
                        if !wanted.is_empty() && title.to_lowercase().contains(&wanted) {
                            text = text.strong().color(scene.palette.accent);
                        }
                        ui.add(egui::Label::new(text).truncate().selectable(false));
                    });
                    let (own, total) = (amount(flame, node.own, scene), total_of(flame, id, scene));
                    let (size, first, other) = match self.size {
                        By::Own => (node.own, own, total),
                        _ => (node.total, total, own),
                    };
                    let counted =
                        |count: u64| ruler::grouped(i64::try_from(count).unwrap_or(i64::MAX));
                    let unfinished = match node.unfinished {
                        0 => String::new(),
                        open => counted(open),
                    };
                    let share = format!("{:.1} %", 100.0 * size as f64 / whole as f64);
                    let cells = [first, share, other, counted(node.count), unfinished];
                    for text in cells.iter().take(columns - 1) {
                        row.col(|ui| {
                            let layout = egui::Layout::right_to_left(egui::Align::Center);
                            ui.with_layout(layout, |ui| {
                                let text = RichText::new(text).size(TEXT_SIZE);
                                ui.add(egui::Label::new(text).truncate().selectable(false));
                            });
                        });
                    }
                    let response = row.response();
                    response.widget_info(|| {
                        let texts = std::iter::once(title).chain(cells.iter().map(String::as_str));
                        row_info(headings.iter().map(Heading::title).zip(texts))
                    });
                    if response.clicked() {
                        toggled = Some(id);
                    }
                    response.context_menu(|ui| {
                        if ui.button("Mark in the timeline").clicked() {
                            actions.push(Action::Search(name_expression(title)));
                            ui.close();
                        }
                        if ui.button("Copy the name").clicked() {
                            actions.push(Action::Do(Effect::Copy(title.to_owned())));
                            ui.close();
                        }
                    });
                });
            });
        if let Some(id) = toggled {
            if !self.open.remove(&id) {
                self.open.insert(id);
            }
        } else if sorted == (self.sort, self.order) {
            self.rows = Some((wanted, rows));
        }
    }

    /// Opens the largest child again and again, until it is smaller than three quarters of its parent.
    fn open_widest(&mut self, flame: &Flame) {
        let mut at = 0_u32;
        for _ in 0..12 {
            let Some(node) = flame.nodes.get(at as usize) else {
                return;
            };
            let Some(&first) = node.children.first() else {
                return;
            };
            self.open.insert(at);
            // The root has a total only, which counts for both.
            let size = |node: &Node| match self.size {
                By::Own if node.depth > 0 => node.own,
                _ => node.total,
            };
            if flame.nodes.get(first as usize).map_or(0, size) * 4 < size(node) * 3 {
                return;
            }
            at = first;
        }
    }

    fn flat(&self, flame: &Flame) -> Vec<(u32, u32)> {
        let mut rows = Vec::new();
        let mut stack: Vec<(u32, u32)> = Vec::new();
        let children = |id: u32| self.sorted_children(flame, id);
        stack.extend(children(0).iter().rev().map(|&id| (id, 0)));
        while let Some((id, depth)) = stack.pop() {
            rows.push((id, depth));
            if self.open.contains(&id) {
                stack.extend(children(id).iter().rev().map(|&id| (id, depth + 1)));
            }
        }
        rows
    }

    fn sorted_children(&self, flame: &Flame, id: u32) -> Vec<u32> {
        let node = flame.nodes.get(id as usize);
        let mut children = node.map_or_else(Vec::new, |node| node.children.clone());
        let number = |id: u32| {
            let node = flame.nodes.get(id as usize);
            node.map_or(0, |node| match self.sort {
                By::Name => 0,
                By::Total => i128::from(node.total),
                By::Own => i128::from(node.own),
                By::Count => i128::from(node.count),
                By::Unfinished => i128::from(node.unfinished),
            })
        };
        children.sort_by(|&a, &b| {
            let order = match self.sort {
                By::Name => flame.name(a).cmp(flame.name(b)),
                _ => number(a).cmp(&number(b)),
            };
            match self.order {
                Order::Ascending => order,
                Order::Descending => order.reverse(),
            }
        });
        children
    }
}

/// Returns a table of totals by name.
#[must_use]
pub fn by_name(flame: &Flame) -> TableData {
    let of = |name: &str, width: f32| PaneColumn::of(&NAMES, name, width);
    let [total, share] = NAME_EXTRAS;
    let mut columns = vec![
        of("name", 260.0),
        of("self", 90.0).about("Without what it calls"),
        PaneColumn::after(&NAMES, 1, share, 80.0),
        PaneColumn::after(&NAMES, 0, total, 90.0),
        of("count", 80.0).about("How many that ended"),
        of("unfinished", 80.0),
        of("at_least", 90.0)
            .about("How long the unfinished ones certainly lasted: a part of the total"),
    ];
    if flame.unit == Unit::Samples {
        for column in &mut columns {
            if column.def.kind == ColumnKind::Duration {
                column.def.kind = ColumnKind::Count;
            }
        }
    }
    let rows = name_rows(flame, usize::MAX);
    let tint = |row: &MadeRow| match row.cells.first() {
        Some(Cell::Text(name)) => Some(Tint::of_name(name.as_bytes())),
        _ => None,
    };
    let tints = rows.iter().map(tint).collect();
    TableData::new(columns, rows).tinted(tints)
}
