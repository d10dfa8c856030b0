//! Comparison of names between two traces, or two parts of one trace.

use super::columns::{CATEGORY, NAME};
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, TableDef, Unit};
use crate::event::SliceKind;
use crate::load::LoadedTrace;
use crate::query::compare::{CompareRow, CompareWhat, Side, SortBy};

/// A comparison.
pub(crate) const COMPARED: TableDef = TableDef {
    name: "comparison",
    title: "Comparison",
    about: "Names with their counts and durations in two traces.",
    columns: &[
        NAME,
        CATEGORY,
        ColumnDef::duration(
            "change",
            "Change",
            "B minus A, of the column that rows are sorted by.",
        ),
        ColumnDef::count("count_a", "Count A", "How many there are in A."),
        ColumnDef::count("count_b", "Count B", "How many there are in B."),
        ColumnDef::duration("sum_a", "Sum A", "Their total duration in A."),
        ColumnDef::duration("sum_b", "Sum B", "Their total duration in B."),
        ColumnDef::duration("mean_a", "Mean A", "Their mean duration in A."),
        ColumnDef::duration("mean_b", "Mean B", "Their mean duration in B."),
        ColumnDef::duration(
            "p50_a",
            "Median A",
            "Half of them lasted at most this long in A.",
        )
        .minor(),
        ColumnDef::duration(
            "p50_b",
            "Median B",
            "Half of them lasted at most this long in B.",
        )
        .minor(),
        ColumnDef::duration(
            "p95_a",
            "95 % A",
            "95 of 100 lasted at most this long in A.",
        )
        .minor(),
        ColumnDef::duration(
            "p95_b",
            "95 % B",
            "95 of 100 lasted at most this long in B.",
        )
        .minor(),
        ColumnDef::duration("max_a", "Longest A", "The longest duration in A."),
        ColumnDef::duration("max_b", "Longest B", "The longest duration in B."),
        ColumnDef::text("kind", "Kind", "The kind of slices.").minor(),
        ColumnDef::count("unfinished_a", "Unfinished A", "How many never ended in A.").minor(),
        ColumnDef::count("unfinished_b", "Unfinished B", "How many never ended in B.").minor(),
        ColumnDef::duration(
            "at_least_a",
            "At least A",
            "The least total duration of the unfinished items in A.",
        )
        .kept(),
        ColumnDef::duration(
            "at_least_b",
            "At least B",
            "The least total duration of the unfinished items in B.",
        )
        .kept(),
    ],
    stored: None,
    rows: Rows::Answer("compare A B"),
};

/// The change of the count, for rows that are sorted by count.
pub(crate) const CHANGED_COUNT: ColumnDef<'static> =
    ColumnDef::count("change", "Change", "The count in B minus the count in A.");

/// For panes only: changes, all except the first relative to the value before; then counts and sums, which are 0 if a
/// name is missing on a side.
pub(crate) const CHANGES: [ColumnDef<'static>; 8] = [
    ColumnDef::duration("sum_difference", "Difference", "Right minus left"),
    ColumnDef::number(
        "sum_change",
        "Total change",
        Unit::Change,
        "Right against left",
    ),
    ColumnDef::number(
        "mean_change",
        "Mean change",
        Unit::Change,
        "Right against left",
    ),
    ColumnDef::number(
        "count_change",
        "Count change",
        Unit::Change,
        "Right against left",
    ),
    ColumnDef::count("count_left", "Count left", "How many on the left"),
    ColumnDef::count("count_right", "Count right", "How many on the right"),
    ColumnDef::duration("sum_left", "Total left", "Total duration, on the left"),
    ColumnDef::duration("sum_right", "Total right", "Total duration, on the right"),
];

/// The kind of comparison, and the change that is in the first column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub what: CompareWhat,
    pub by: SortBy,
}

/// Returns rows of [`COMPARED`], followed by cells of [`CHANGES`].
pub(crate) fn compared_rows(rows: Vec<CompareRow>, how: How) -> impl RowSource {
    RowsOfIds::new(rows, how, |_: &LoadedTrace, how, row, cells| {
        cells.extend(row_cells(row, *how));
    })
}

fn row_cells(row: &CompareRow, How { what, by }: How) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell> = vec![
        row.name.as_str().into(),
        row.category.as_str().into(),
        row.change(by).into(),
    ];
    let has_times = what != CompareWhat::Events;
    let both = |cell: &dyn Fn(&Side) -> Cell<'static>| {
        [&row.left, &row.right].map(|side| side.as_ref().map_or(Cell::None, cell))
    };
    cells.extend(both(&|side| side.count.into()));
    let time = |value: Cell<'static>| if has_times { value } else { Cell::None };
    cells.extend(both(&|side| time(side.sum_ns.into())));
    // The mean of no values is empty, not 0.
    let mean = |side: &Side| (side.count > 0).then(|| side.mean_ns());
    cells.extend(both(&|side| time(mean(side).into())));
    cells.extend(both(&|side| side.p50_ns.into()));
    cells.extend(both(&|side| side.p95_ns.into()));
    cells.extend(both(&|side| side.max_ns.into()));
    cells.push(row.kind.map(SliceKind::word).into());
    cells.extend(both(&|side| time(side.unfinished.into())));
    cells.extend(both(&|side| time(side.unfinished_ns.into())));
    let sides = [row.left, row.right];
    let sum = |side: Option<Side>| side.map_or(0, |side| side.sum_ns);
    cells.push(time((sum(row.right) - sum(row.left)).into()));
    cells.push(change(sides.map(|side| side.map(|it| it.sum_ns as f64))));
    // A name on one side only has no change of its mean.
    cells.push(match sides.map(|side| side.as_ref().and_then(mean)) {
        [Some(left), Some(right)] => change([Some(left as f64), Some(right as f64)]),
        _ => Cell::None,
    });
    cells.push(change(sides.map(|side| side.map(|it| it.count as f64))));
    cells.extend(sides.map(|side| side.map_or(0, |side| side.count).into()));
    cells.extend(sides.map(|side| time(sum(side).into())));
    cells
}

/// The change from left to right; infinite if the value exists on one side only.
fn change(sides: [Option<f64>; 2]) -> Cell<'static> {
    match sides {
        [None, Some(_)] => Cell::Float(f64::INFINITY),
        [Some(_), None] => Cell::Float(f64::NEG_INFINITY),
        [Some(0.0), Some(0.0)] => Cell::Float(0.0),
        [Some(0.0), Some(_)] | [None, None] => Cell::None,
        [Some(left), Some(right)] => Cell::Float(right / left - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_one_side_only_is_new_or_gone_and_has_no_change_of_its_mean() {
        let side = |count, sum_ns| {
            Some(Side {
                count,
                sum_ns,
                ..Side::default()
            })
        };
        let row = |left, right| CompareRow {
            name: "read".to_owned(),
            category: String::new(),
            kind: None,
            left,
            right,
        };
        let how = How {
            what: CompareWhat::Slices,
            by: SortBy::Sum,
        };
        let changes = |left, right| {
            let first = COMPARED.columns.len() + 1;
            let row = row(left, right);
            let cells = row_cells(&row, how).into_iter().map(Cell::into_owned);
            cells.skip(first).take(3).collect::<Vec<_>>()
        };
        let (gone, new) = (Cell::Float(f64::NEG_INFINITY), Cell::Float(f64::INFINITY));
        assert_eq!(changes(side(2, 10), None), [gone.clone(), Cell::None, gone]);
        assert_eq!(changes(None, side(2, 10)), [new.clone(), Cell::None, new]);
        // 5 ns on the left, 7 ns on the right.
        assert_eq!(
            changes(side(2, 10), side(4, 30)),
            [
                Cell::Float(2.0),
                Cell::Float(7.0 / 5.0 - 1.0),
                Cell::Float(1.0)
            ]
        );
    }
}
