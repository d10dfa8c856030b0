//! The tables of the costs of compilers: headers, templates, passes, and the sums that compilers write.

use super::columns::NAME;
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::query::Item;
use crate::query::compiler_costs::{CompilerCost, compiler_costs};
use crate::query::compiler_totals::{CompilerTotal, compiler_totals};

/// Headers, templates and passes with their costs.
pub(crate) const COMPILER_COSTS: TableDef = TableDef {
    name: "compiler_costs",
    title: "Headers, templates, passes",
    about: "What compilers spent their time on, from the traces that clang writes with -ftime-trace: each header, template and pass, over all compilations.",
    columns: &[
        ColumnDef::text("kind", "Kind", "Header, template or pass."),
        NAME,
        ColumnDef::count("count", "Count", "The number of slices with this name."),
        ColumnDef::count(
            "compilations",
            "Compilations",
            "Number of compilations that contain it.",
        ),
        ColumnDef::duration(
            "total",
            "Total",
            "Total time, with all that is nested in it.",
        ),
        ColumnDef::duration("own", "Own", "Total time, without what is nested in it."),
        ColumnDef::duration("longest", "Longest", "The longest duration."),
    ],
    stored: None,
    rows: Rows::Trace(|scope| Box::new(cost_rows(costs_of(scope)))),
};

/// The sums that compilers write.
pub(crate) const COMPILER_TOTALS: TableDef = TableDef {
    name: "compiler_totals",
    title: "Totals of compilers",
    about: "The sums that clang writes at the end of each -ftime-trace, over all compilations: they also count what was too short to be a slice.",
    columns: &[
        NAME,
        ColumnDef::count("count", "Count", "How many slices of that name there were."),
        ColumnDef::count(
            "compilations",
            "Compilations",
            "How many compilations have it.",
        ),
        ColumnDef::duration("total", "Total", "Their total duration."),
        ColumnDef::duration(
            "most",
            "Most",
            "The largest total duration in one compilation.",
        ),
    ],
    stored: None,
    rows: Rows::Trace(|scope| Box::new(total_rows(totals_of(scope)))),
};

fn totals_of(scope: &Scope<'_>) -> Vec<CompilerTotal> {
    let loaded = scope.loaded;
    let is_chosen = |track, event| {
        let time = loaded.trace.events.time(event);
        scope.chosen.span.contains(time) && scope.chosen.has_point(track, event)
    };
    let totals = compiler_totals(&loaded.trace, loaded.reader.as_ref(), is_chosen, scope.job);
    totals.unwrap_or_default()
}

/// Returns rows of [`COMPILER_TOTALS`]; the item of each is the point with the largest sum.
pub(crate) fn total_rows(totals: Vec<CompilerTotal>) -> impl RowSource {
    let rows = RowsOfIds::new(totals, (), |_, (), total: &CompilerTotal, cells| {
        cells.extend([
            Cell::of_bytes(total.name.as_bytes()),
            total.count.into(),
            total.compilations.into(),
            total.total_ns.into(),
            total.most_ns.into(),
        ]);
    });
    rows.about(|(), total| Some(Item::Instant(total.most)))
}

fn costs_of(scope: &Scope<'_>) -> Vec<CompilerCost> {
    let loaded = scope.loaded;
    let is_chosen = |track, slice| scope.has_slice(track, slice);
    let costs = compiler_costs(&loaded.trace, loaded.reader.as_ref(), is_chosen, scope.job);
    costs.unwrap_or_default()
}

/// Returns rows of [`COMPILER_COSTS`]; the item of each is the longest slice.
pub(crate) fn cost_rows(costs: Vec<CompilerCost>) -> impl RowSource {
    let rows = RowsOfIds::new(costs, (), |_, (), cost: &CompilerCost, cells| {
        cells.extend([
            cost.kind.word().into(),
            Cell::of_bytes(cost.name.as_bytes()),
            cost.count.into(),
            cost.compilations.into(),
            cost.total_ns.into(),
            cost.own_ns.into(),
            cost.longest_ns.into(),
        ]);
    });
    rows.about(|(), cost| Some(Item::Slice(cost.longest)))
}
