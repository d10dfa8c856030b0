//! The table of a comparison, and the distributions of one name.

use crate::base::{Cancelled, Job};
use crate::gui::table::{PaneColumn, TableData};
use crate::gui::tint::Tint;
use crate::query::compare::{
    CompareRow, CompareWhat, Compared, ComparedName, SortBy, distribution,
};
use crate::tables::compared::{CHANGES, COMPARED, How, compared_rows};

/// The number of points of a percentile curve.
const CURVE_POINTS: usize = 160;

/// Returns the rows, the largest change first.
#[must_use]
pub(crate) fn table_of(rows: Vec<CompareRow>, what: CompareWhat) -> TableData {
    let tint = |row: &CompareRow| match what {
        CompareWhat::Slices => Some(Tint::of_name(row.name.as_bytes())),
        CompareWhat::Threads => Some(Tint::of_thread_name(row.name.as_bytes())),
        CompareWhat::States => Tint::of_state_word(&row.name),
        // All events have one colour, so their names get no mark.
        CompareWhat::Events => None,
    };
    let tints = rows.iter().map(tint).collect();
    let columns = columns_of(&rows, what);
    let how = How {
        what,
        by: SortBy::Sum,
    };
    TableData::new(columns, compared_rows(rows, how)).tinted(tints)
}

fn columns_of(rows: &[CompareRow], what: CompareWhat) -> Vec<PaneColumn> {
    let of = |name: &str, title: &'static str, width: f32| {
        PaneColumn::of(&COMPARED, name, width).titled(title)
    };
    let after = |index: usize, width: f32| {
        CHANGES
            .get(index)
            .map(|def| PaneColumn::after(&COMPARED, index, *def, width))
    };
    let has_times = what != CompareWhat::Events;
    // The change comes first: a narrow pane must not hide it.
    let mut columns = vec![of("name", "Name", 180.0)];
    if has_times {
        columns.extend(after(1, 92.0));
        columns.extend(after(0, 84.0));
        columns.extend(
            [after(6, 80.0), after(7, 80.0), after(2, 92.0)]
                .into_iter()
                .flatten(),
        );
        columns.extend([
            of("mean_a", "Mean left", 78.0).about("Total divided by count, on the left"),
            of("mean_b", "Mean right", 78.0).about("Total divided by count, on the right"),
        ]);
    }
    let mut sides = rows.iter().flat_map(|row| [row.left, row.right]).flatten();
    if sides.any(|side| side.unfinished > 0) {
        columns.extend([
            of("unfinished_a", "Unfinished left", 98.0).about(
                "How many never ended, on the left; only this column and the next count them",
            ),
            of("at_least_a", "At least left", 86.0)
                .about("The least total duration of the unfinished items, on the left"),
            of("unfinished_b", "Unfinished right", 104.0).about(
                "How many never ended, on the right; only this column and the next count them",
            ),
            of("at_least_b", "At least right", 92.0)
                .about("The least total duration of the unfinished items, on the right"),
        ]);
    }
    columns.extend(
        [after(3, 96.0), after(4, 76.0), after(5, 82.0)]
            .into_iter()
            .flatten(),
    );
    if has_times {
        columns.extend([
            of("p50_a", "p50 left", 80.0).about("Half are at most this long, on the left"),
            of("p50_b", "p50 right", 80.0).about("Half are at most this long, on the right"),
            of("p95_a", "p95 left", 80.0).about("95 of 100 are at most this long, on the left"),
            of("p95_b", "p95 right", 80.0).about("95 of 100 are at most this long, on the right"),
        ]);
    }
    if what == CompareWhat::Slices {
        columns.push(of("kind", "Kind", 96.0).about("What kind of slices they are"));
    }
    columns.push(of("category", "Category", 100.0));
    columns
}

/// Returns the percentile curve of a name.
///
/// # Errors
/// Errors if the job is cancelled.
pub(crate) fn curve_of(
    compared: Compared<'_>,
    what: CompareWhat,
    name: ComparedName<'_>,
    job: &Job,
) -> Result<Vec<[f64; 2]>, Cancelled> {
    Ok(distribution(compared, what, name, job)?.curve(CURVE_POINTS))
}
