//! A comparison as a table, and the distributions of one name.

use crate::base::{Cancelled, Job};
use crate::gui::table::{Cell, TableData, TableRow, column};
use crate::gui::tint::Tint;
use crate::query::compare::{CompareRow, CompareWhat, Compared, Side, distribution};
use crate::trace::SliceKind;

/// Points of a percentile curve.
const CURVE_POINTS: usize = 160;

/// The rows in their order: the largest change first.
#[must_use]
pub fn table_of(rows: &[CompareRow], what: CompareWhat) -> TableData {
    // What changed stands first: a narrow pane must not hide it.
    let mut columns = vec![column("Name", 180.0, "What it is called")];
    if what != CompareWhat::Events {
        columns.extend([
            column("Total change", 92.0, "Right against left"),
            column("Difference", 84.0, "Right less left"),
            column("Total left", 80.0, "Together, on the left"),
            column("Total right", 80.0, "Together, on the right"),
            column("Mean change", 92.0, "Right against left"),
            column("Mean left", 78.0, "Total divided by count, on the left"),
            column("Mean right", 78.0, "Total divided by count, on the right"),
        ]);
    }
    columns.extend([
        column("Count change", 96.0, "Right against left"),
        column("Count left", 76.0, "How many on the left"),
        column("Count right", 82.0, "How many on the right"),
    ]);
    if what != CompareWhat::Events {
        columns.extend([
            column("p50 left", 80.0, "Half are not longer, on the left"),
            column("p50 right", 80.0, "Half are not longer, on the right"),
            column("p95 left", 80.0, "95 of 100 are not longer, on the left"),
            column("p95 right", 80.0, "95 of 100 are not longer, on the right"),
        ]);
    }
    let sides = rows.iter().flat_map(|row| [row.left, row.right]).flatten();
    let has_unfinished = sides.into_iter().any(|side| side.unfinished > 0);
    if has_unfinished {
        columns.extend([
            column(
                "Unfinished left",
                98.0,
                "How many never ended on the left: they are in no other number but the next",
            ),
            column(
                "At least left",
                86.0,
                "How long the unfinished ones on the left certainly lasted, together",
            ),
            column(
                "Unfinished right",
                104.0,
                "How many never ended on the right: they are in no other number but the next",
            ),
            column(
                "At least right",
                92.0,
                "How long the unfinished ones on the right certainly lasted, together",
            ),
        ]);
    }
    if what == CompareWhat::Slices {
        columns.push(column("Kind", 96.0, "What kind of slices they are"));
    }
    columns.push(column("Category", 100.0, "The category or system"));
    let row = |row: &CompareRow| {
        let (left, right) = (row.left, row.right);
        let count = |side: Option<Side>| side.map_or(0, |side| side.count);
        let counts = [left, right].map(|side| side.map(|side| side.count as f64));
        let sums = [left, right].map(|side| side.map(|side| side.sum_ns as f64));
        let sum = |side: Option<Side>| side.map_or(0, |side| side.sum_ns);
        // What has not ended has no mean.
        let ended = |side: Option<Side>| side.filter(|side| side.count > 0);
        let mean = |side: Option<Side>| ended(side).map(|side| side.mean_ns());
        let length = |ns: Option<i64>| ns.map_or(Cell::None, |ns| Cell::Length(i128::from(ns)));
        let mut cells = vec![Cell::Text(row.name.clone())];
        if what != CompareWhat::Events {
            // What is on one side only has no mean that could have changed.
            let mean_change = match (mean(left), mean(right)) {
                (Some(left), Some(right)) => change([Some(left as f64), Some(right as f64)]),
                _ => Cell::None,
            };
            cells.extend([
                change(sums),
                Cell::Length(sum(right) - sum(left)),
                Cell::Length(sum(left)),
                Cell::Length(sum(right)),
                mean_change,
                length(mean(left)),
                length(mean(right)),
            ]);
        }
        cells.extend([
            change(counts),
            Cell::Count(count(left)),
            Cell::Count(count(right)),
        ]);
        if what != CompareWhat::Events {
            let of =
                |side: Option<Side>, value: fn(Side) -> Option<i64>| length(side.and_then(value));
            cells.extend([
                of(left, |side| side.p50_ns),
                of(right, |side| side.p50_ns),
                of(left, |side| side.p95_ns),
                of(right, |side| side.p95_ns),
            ]);
        }
        if has_unfinished {
            for side in [left, right] {
                cells.extend(match side.filter(|side| side.unfinished > 0) {
                    None => [Cell::None, Cell::None],
                    Some(side) => [
                        Cell::Count(side.unfinished),
                        Cell::Length(side.unfinished_ns),
                    ],
                });
            }
        }
        if what == CompareWhat::Slices {
            let kind = row.kind.map_or("", SliceKind::word);
            cells.push(Cell::Text(kind.to_owned()));
        }
        cells.push(Cell::Text(row.category.clone()));
        TableRow {
            cells,
            item: None,
            tint: match what {
                CompareWhat::Slices => Some(Tint::of_name(row.name.as_bytes())),
                CompareWhat::Threads => Some(Tint::of_thread_name(row.name.as_bytes())),
                CompareWhat::States => Tint::of_state_word(&row.name),
                // Points are all of one colour.
                CompareWhat::Events => None,
            },
        }
    };
    TableData {
        columns,
        rows: rows.iter().map(row).collect(),
    }
}

/// Right against left; what is on one side only is new or gone.
fn change(sides: [Option<f64>; 2]) -> Cell {
    match sides {
        [None, Some(_)] => Cell::Change(f64::INFINITY),
        [Some(_), None] => Cell::Change(f64::NEG_INFINITY),
        [Some(0.0), Some(0.0)] => Cell::Change(0.0),
        [Some(0.0), Some(_)] | [None, None] => Cell::None,
        [Some(left), Some(right)] => Cell::Change(right / left - 1.0),
    }
}

/// The percentile curve of a name.
///
/// # Errors
/// If the job is cancelled.
pub fn curve_of(
    compared: Compared<'_>,
    what: CompareWhat,
    name: (&str, &str, Option<SliceKind>),
    job: &Job,
) -> Result<Vec<[f64; 2]>, Cancelled> {
    Ok(distribution(compared, what, name, job)?.curve(CURVE_POINTS))
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
        let rows = [
            row(side(2, 10), None),
            row(None, side(2, 10)),
            row(side(2, 10), side(4, 30)),
        ];
        let table = table_of(&rows, CompareWhat::Slices);
        let place = |name: &str| {
            table
                .columns
                .iter()
                .position(|it| it.title == name)
                .unwrap_or(0)
        };
        let changes = |name: &str| -> Vec<Cell> {
            table
                .rows
                .iter()
                .map(|row| row.cells[place(name)].clone())
                .collect()
        };
        let (gone, new) = (Cell::Change(f64::NEG_INFINITY), Cell::Change(f64::INFINITY));
        assert_eq!(
            changes("Total change"),
            [gone.clone(), new.clone(), Cell::Change(2.0)]
        );
        assert_eq!(changes("Count change"), [gone, new, Cell::Change(1.0)]);
        // 5 ns on the left, 7 on the right.
        assert_eq!(
            changes("Mean change"),
            [Cell::None, Cell::None, Cell::Change(7.0 / 5.0 - 1.0)]
        );
    }
}
