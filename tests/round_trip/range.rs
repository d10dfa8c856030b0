//! The middle third of every trace, exported and read again: what lies in it is there, cut at its borders.

use std::collections::BTreeMap;

use threadline::base::{TimeSpan, Timestamp};
use threadline::export::Selection;
use threadline::load::LoadedTrace;

use super::{Normal, Rows, difference, export_to, load, table, told_flows, traces};

/// A row's number; `None` where there is none.
fn number(row: &BTreeMap<String, String>, column: &str) -> Option<i64> {
    row[column].parse().ok()
}

/// `ts` and `dur` as they are once the range, which ends before the trace, has cut them. Who is cut while running does
/// then what nobody knows.
fn cut(rows: Rows, span: TimeSpan) -> Rows {
    let cut_row = |mut row: BTreeMap<String, String>| {
        let start = number(&row, "ts")?;
        let end = number(&row, "dur").map(|dur| start + dur);
        let from = start.max(span.start.0);
        row.insert("ts".to_owned(), from.to_string());
        let last = end.map_or(span.end.0, |end| end.min(span.end.0));
        row.insert("dur".to_owned(), (last - from).to_string());
        if end.is_none_or(|end| end > span.end.0) && row.contains_key("end_state") {
            row.insert("end_state".to_owned(), "?".to_owned());
        }
        Some(row)
    };
    rows.into_iter().filter_map(cut_row).collect()
}

/// What a table's rows of the source are in the exported range; `None`: it cannot be said so simply.
fn expected(source: &LoadedTrace, name: &str, span: TimeSpan) -> Rows {
    let rows = table(source, name, span);
    let is_inside = |row: &BTreeMap<String, String>, column: &str| {
        number(row, column).is_some_and(|time| span.contains(Timestamp(time)))
    };
    match name {
        "slices" | "runs" => cut(rows, span),
        "flows" => {
            let rows = told_flows(source, rows).into_iter();
            rows.filter(|row| is_inside(row, "from_ts") && is_inside(row, "to_ts"))
                .collect()
        }
        _ => rows
            .into_iter()
            .filter(|row| is_inside(row, "ts"))
            .collect(),
    }
}

/// Rows that the source has only by the range: what lasts at its start, stubs that arrows need.
fn is_of_the_border(name: &str, row: &BTreeMap<String, String>, span: TimeSpan) -> bool {
    let at = |column: &str| number(row, column);
    match name {
        "slices" => at("dur") == Some(1),
        "counters" => at("ts") == Some(span.start.0),
        "flows" => {
            let ends = [at("from_ts"), at("to_ts")];
            ends.contains(&Some(span.start.0)) || ends.contains(&Some(span.end.0 - 1))
        }
        _ => false,
    }
}

#[test]
fn the_middle_of_every_trace_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut row_count = 0;
    for path in traces() {
        let Some(source) = load(&path) else {
            continue;
        };
        let whole = source.trace.span;
        let third = (whole.end.0 - whole.start.0) / 3;
        let at = |thirds: i64| Timestamp(whole.start.0 + thirds * third);
        let span = TimeSpan::new(at(1), at(2));
        if third == 0 || whole.start.0 < 0 {
            continue;
        }
        let normal = Normal::new(&source);
        let again = export_to(folder.path(), &source, &Selection::range(span));
        let all = TimeSpan::new(Timestamp::MIN, Timestamp::MAX);
        for name in [
            "slices", "instants", "counters", "flows", "runs", "logs", "blobs",
        ] {
            let theirs = table(&again, name, all);
            let (of_border, theirs): (Rows, Rows) = theirs
                .into_iter()
                .partition(|row| is_of_the_border(name, row, span));
            let ours = normal.rows(name, expected(&source, name, span));
            // Long bytes become blobs.
            if name == "blobs" && ours.is_empty() {
                continue;
            }
            let mut theirs = normal.rows(name, theirs);
            row_count += ours.len();
            // What the border may bring may be of the source as well.
            let lacking = difference(&ours, &theirs);
            let lacking = lacking.iter().filter_map(|line| line.strip_prefix("- "));
            let of_border = normal.rows(name, of_border);
            theirs.extend(
                lacking
                    .filter(|line| of_border.iter().any(|other| other == line))
                    .map(str::to_owned),
            );
            let differs = difference(&ours, &theirs);
            if !differs.is_empty() {
                let file = path.file_name().unwrap().to_string_lossy();
                let some: Vec<String> = differs.iter().take(4).cloned().collect();
                wrong.push(format!(
                    "{file} {name}: {} of {} rows, e.g.\n    {}",
                    differs.len(),
                    ours.len(),
                    some.join("\n    ")
                ));
            }
        }
    }
    assert!(row_count > 10_000, "only {row_count} rows were compared");
    assert!(
        wrong.is_empty(),
        "{} tables differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
