//! The call tree and the callers of a flame graph as tables whose rows open, and totals by name.

use std::sync::Arc;

use egui::{RichText, Ui};
use rustc_hash::FxHashSet;

use super::name_expression;
use crate::gui::pane::Scene;
use crate::gui::table::{DataTable, OpenRule, Order, PaneColumn, Parts, TEXT_SIZE, TableData};
use crate::gui::tint::Tint;
use crate::query::flame::{Flame, Node, Unit};
use crate::tables::flames::{NAME_EXTRAS, NAMES, Size, TREE, TREE_EXTRAS, name_rows, tree_rows};
use crate::tables::{Cell, ColumnKind, MadeRow};
use crate::view::{Action, Effect};

/// The index of the column by which rows are sorted at first.
const BY_SIZE: usize = 1;
/// The most rows that are open at first.
const MOST_OPEN: usize = 12;

/// Returns a call tree as a table: by total time with callees below their callers, or by own time with callers below.
#[must_use]
pub(super) fn call_tree(flame: &Arc<Flame>, size: Size) -> TableData {
    let of = |name: &str, width: f32| PaneColumn::of(&TREE, name, width);
    let [total, own] = TREE_EXTRAS;
    let total = PaneColumn::after(&TREE, 0, total, 90.0);
    let own = PaneColumn::after(&TREE, 1, own, 90.0);
    let share = of("share", 90.0).titled("Of all");
    let name = of("name", 200.0).growing().drawn();
    let sizes = match size {
        Size::Total => [
            name.about("What it is called"),
            total.about(
                "With all that it calls; ≥: some never ended, and count with their least duration",
            ),
            share.about("Total, as a share of the total of the graph"),
            own.about("Without what it calls"),
        ],
        Size::Own => [
            name.about("What it is called; below it, who calls it"),
            own.about("Without what it calls; of a caller, the part of that under it"),
            share.about("Self, as a share of the total of the graph"),
            total.about("With all that it calls; of a caller, the part of that under it"),
        ],
    };
    let mut columns = Vec::from(sizes);
    columns.push(of("count", 90.0).about("How many that ended"));
    if flame.nodes.iter().any(|node| node.unfinished > 0) {
        let unfinished = of("unfinished", 90.0).about("How many never ended");
        columns.push(unfinished.hiding_zero());
    }
    count_samples(flame, &mut columns);
    TableData::new(columns, tree_rows(flame.clone(), size, usize::MAX)).into_tree()
}

/// Returns the state of a call tree in which the largest child is open again and again, until it is smaller than three
/// quarters of its parent.
#[must_use]
pub(super) fn first_view(flame: &Flame, size: Size) -> DataTable {
    let mut table = DataTable::sorted(BY_SIZE, Order::Descending);
    table.open_all(OpenRule::None);
    // The root has no own time, so its total is used in both cases.
    let size_of = |node: &Node| match size {
        Size::Own if node.depth > 0 => node.own,
        _ => node.total,
    };
    let mut at = 0_u32;
    for _ in 0..MOST_OPEN {
        let node = flame.nodes.get(at as usize);
        let first = node.and_then(|node| node.children.first().copied());
        let (Some(node), Some(first)) = (node, first) else {
            break;
        };
        table.open(at);
        let inside = flame.nodes.get(first as usize).map_or(0, size_of);
        // Totals of damaged files are as large as numbers can be.
        if i128::from(inside) * 4 < i128::from(size_of(node)) * 3 {
            break;
        }
        at = first;
    }
    table
}

/// Draws a call tree; names that contain `find` are highlighted.
pub(super) fn tree_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    name: &str,
    table: &mut DataTable,
    data: &Arc<TableData>,
    find: &str,
    actions: &mut Vec<Action>,
) {
    let wanted = find.to_lowercase();
    let names = TREE.columns.iter();
    let at = names.take_while(|column| column.name != "name").count();
    let name_of = |row: usize| match data.rows.cell(scene.loaded, row, at) {
        Cell::Text(name) => name.into_string(),
        _ => String::new(),
    };
    let mut draw = |ui: &mut Ui, row: usize, _: &PaneColumn| {
        let name = name_of(row);
        let text = RichText::new(&name).size(TEXT_SIZE);
        let text = match !wanted.is_empty() && name.to_lowercase().contains(&wanted) {
            true => text.strong().color(scene.palette.accent),
            false => text,
        };
        ui.add(egui::Label::new(text).truncate().selectable(false));
    };
    let menu = |ui: &mut Ui, row: usize, actions: &mut Vec<Action>| {
        if ui.button("Mark in the timeline").clicked() {
            actions.push(Action::Search(name_expression(&name_of(row))));
            ui.close();
        }
        if ui.button("Copy the name").clicked() {
            actions.push(Action::Do(Effect::Copy(name_of(row))));
            ui.close();
        }
    };
    let parts = Parts {
        draw: &mut draw,
        menu,
    };
    let answer = table.ui_with_cells(ui, scene, name, data, actions, parts);
    if let Some(row) = answer.clicked {
        table.toggle(data, row);
    }
}

/// In a graph of samples, turns the columns of times into columns of counts.
fn count_samples(flame: &Flame, columns: &mut [PaneColumn]) {
    if flame.unit != Unit::Samples {
        return;
    }
    for column in columns {
        if column.def.kind == ColumnKind::Duration {
            column.def.kind = ColumnKind::Count;
        }
    }
}

/// Returns a table of totals by name.
#[must_use]
pub(super) fn by_name(flame: &Flame) -> TableData {
    let of = |name: &str, width: f32| PaneColumn::of(&NAMES, name, width);
    let [total, own, share] = NAME_EXTRAS;
    let mut columns = vec![
        of("name", 260.0),
        PaneColumn::after(&NAMES, 1, own, 90.0),
        PaneColumn::after(&NAMES, 2, share, 80.0),
        PaneColumn::after(&NAMES, 0, total, 90.0),
        of("count", 80.0).about("How many that ended"),
        of("unfinished", 80.0),
        of("at_least", 90.0)
            .about("The least total duration of the unfinished slices, which is part of the total"),
    ];
    count_samples(flame, &mut columns);
    let rows = name_rows(flame, usize::MAX);
    let mut seen = FxHashSet::default();
    let mut names = rows.iter().filter_map(|row| match row.cells.first() {
        Some(Cell::Text(name)) => Some(&**name),
        _ => None,
    });
    if names.any(|name| !seen.insert(name)) {
        // A program and a system call may have one name.
        columns.insert(1, of("kind", 110.0));
    }
    let tint = |row: &MadeRow| match row.cells.first() {
        Some(Cell::Text(name)) => Some(Tint::of_name(name.as_bytes())),
        _ => None,
    };
    let tints = rows.iter().map(tint).collect();
    TableData::new(columns, rows).tinted(tints)
}
