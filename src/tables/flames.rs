//! Tables of call trees, and of names with their totals.

use std::sync::Arc;

use super::columns::{AT_LEAST, NAME, UNFINISHED};
use super::rows::{MadeRow, RowsOfIds};
use super::{Cell, ColumnDef, RowSource, Rows, TableDef, Unit};
use crate::load::LoadedTrace;
use crate::query::flame::{Flame, Node, Unit as FlameUnit};

/// A call tree. A total includes the least durations of unfinished slices: `unfinished` and `at_least` are
/// their number and their share of the total, in ns.
pub(crate) const TREE: TableDef = TableDef {
    name: "call_tree",
    title: "Call tree",
    about: "Nested slices or recorded stacks, merged by their paths.",
    columns: &[
        ColumnDef::count("depth", "Depth", "How many callers are above it.").minor(),
        NAME,
        TOTAL,
        OWN,
        COUNT,
        ColumnDef::number("share", "Share", Unit::Percent, "Its share of the whole."),
        UNFINISHED,
        AT_LEAST,
    ],
    stored: None,
    rows: Rows::Answer("flame FILE --as tree|bottom-up"),
};
/// Names with their totals.
pub(crate) const NAMES: TableDef = TableDef {
    name: "call_names",
    title: "Call names",
    about: "The names of a call tree with their totals.",
    columns: &[
        NAME,
        TOTAL,
        OWN,
        COUNT,
        UNFINISHED,
        AT_LEAST,
        ColumnDef::text("kind", "Kind", "The kind of slices.").minor(),
    ],
    stored: None,
    rows: Rows::Answer("flame FILE --as names"),
};

const TOTAL: ColumnDef<'static> =
    ColumnDef::duration("total", "Total", "How long it lasted, with what it called.");
const OWN: ColumnDef<'static> =
    ColumnDef::duration("self", "Self", "How long it lasted without what it called.");
const COUNT: ColumnDef<'static> = ColumnDef::count("count", "Count", "How often it was called.");

/// For panes only: cells after those of [`TREE`], the total and the own time, either of which may be a lower bound.
pub(crate) const TREE_EXTRAS: [ColumnDef<'static>; 2] = [NAME_EXTRAS[0], NAME_EXTRAS[1]];

/// For panes only: cells after those of [`NAMES`].
pub(crate) const NAME_EXTRAS: [ColumnDef<'static>; 3] = [
    ColumnDef::duration(
        "total_at_least",
        "Total",
        "With all that it calls; recursion counts once",
    ),
    ColumnDef::duration("self_at_least", "Self", "Without what it calls"),
    ColumnDef::number(
        "share",
        "Of all",
        Unit::Percent,
        "Self, as a share of the total of the graph",
    ),
];

/// Returns at most `limit` rows of [`NAMES`], followed by cells of [`NAME_EXTRAS`].
pub(crate) fn name_rows(flame: &Flame, limit: usize) -> Vec<MadeRow> {
    let whole = flame.nodes.first().map_or(1, |node| node.total).max(1) as f64;
    let rows = flame.by_name().into_iter().take(limit).map(|row| {
        MadeRow::new([
            row.name.into(),
            row.total.into(),
            row.own.into(),
            row.count.into(),
            row.unfinished.into(),
            row.unfinished_ns.into(),
            row.kind.map_or(Cell::None, |kind| kind.word().into()),
            bounded(row.total, row.unfinished, flame.unit),
            bounded(row.own, row.unfinished, flame.unit),
            Cell::percent(row.own as f64 / whole),
        ])
    });
    rows.collect()
}

/// Returns a sum of times: a lower bound if it contains unfinished slices.
fn bounded(sum: i64, unfinished: u64, unit: FlameUnit) -> Cell<'static> {
    match (unfinished, unit) {
        (1.., FlameUnit::Nanos) => Cell::AtLeast(sum.into()),
        _ => sum.into(),
    }
}

/// The quantity whose shares a call tree shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// Total time: callees are below their callers.
    Total,
    /// Own time: callers are below.
    Own,
}

/// Returns at most `limit` rows of [`TREE`], followed by cells of [`TREE_EXTRAS`]: each node directly before the nodes
/// that it calls. The key of a row is the index of its node.
pub(crate) fn tree_rows(flame: Arc<Flame>, size: Size, limit: usize) -> impl RowSource {
    let mut nodes = in_depth(&flame);
    nodes.truncate(limit);
    let depth = |node: &TreeNode| node.depth.saturating_sub(1);
    RowsOfIds::new(nodes, Tree { flame, size }, tree_cells).nested(depth, |node| node.id)
}

/// The call tree of a table.
struct Tree {
    flame: Arc<Flame>,
    size: Size,
}

/// A node of a call tree, and the number of nodes above it.
struct TreeNode {
    id: u32,
    depth: u32,
}

/// Returns all nodes except the root, each directly before the nodes that it calls.
fn in_depth(flame: &Flame) -> Vec<TreeNode> {
    let mut order = Vec::with_capacity(flame.nodes.len());
    let mut open = vec![0];
    while let Some(id) = open.pop() {
        let Some(node) = flame.nodes.get(id as usize) else {
            continue;
        };
        if id != 0 {
            let depth = node.depth;
            order.push(TreeNode { id, depth });
        }
        open.extend(node.children.iter().rev());
    }
    order
}

fn tree_cells<'a>(
    _: &'a LoadedTrace,
    Tree { flame, size }: &'a Tree,
    &TreeNode { id, depth }: &'a TreeNode,
    cells: &mut Vec<Cell<'a>>,
) {
    let node: &Node = &flame.nodes[id as usize];
    let part = match size {
        Size::Total => node.total,
        Size::Own => node.own,
    };
    let share = part as f64 / flame.nodes[0].total.max(1) as f64;
    cells.extend([
        depth.into(),
        flame.name(id).into(),
        node.total.into(),
        node.own.into(),
        node.count.into(),
        Cell::percent(share),
        node.unfinished.into(),
        node.unfinished_ns.into(),
        match flame.is_at_least(id) {
            true => Cell::AtLeast(node.total.into()),
            false => node.total.into(),
        },
        bounded(node.own, node.unfinished, flame.unit),
    ]);
}
