//! The middle third of every trace, exported and read again: what lies in it is there, cut at its borders.

use std::collections::{BTreeMap, BTreeSet};

use threadline::base::{TimeSpan, Timestamp};
use threadline::event::Role;
use threadline::event::columns::EventRow;
use threadline::export::Selection;
use threadline::load::LoadedTrace;
use threadline::trace::EventId;

use super::{Normal, Row, Rows, difference, export_to, load, table, traces};

/// A row's number; `None` where there is none.
fn number(row: &Row, column: &str) -> Option<i64> {
    row[column].parse().ok()
}

/// `ts` and `dur` as they are once the range, which ends before the trace, has cut them: what is cut has no duration. What
/// who runs at its end does then is not in it.
fn cut(rows: Rows, span: TimeSpan) -> Rows {
    let cut_row = |mut row: Row| {
        let start = number(&row, "ts")?;
        let end = number(&row, "dur").map(|dur| start + dur);
        row.set("ts", start.max(span.start.0).to_string());
        let is_cut = start < span.start.0 || end.is_none_or(|end| end > span.end.0);
        if is_cut {
            row.set("dur", "\\N".to_owned());
        }
        if end.is_none_or(|end| end >= span.end.0) && row.get("end_state").is_some() {
            let left_as = if is_cut { "\\N" } else { "?" };
            row.set("end_state", left_as.to_owned());
        }
        if is_cut && row.get("end_state").is_some_and(|state| state == "?") {
            row.set("end_state", "\\N".to_owned());
        }
        Some(row)
    };
    rows.into_iter().filter_map(cut_row).collect()
}

/// States but for those of which it is not known until when they lasted, up to the range's end: no record says them, and
/// one that began with a wakeup is read back as a state of no length.
fn without_unknown_ends(mut rows: Rows, span: TimeSpan) -> Rows {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    for row in &rows {
        let at = number(row, "ts").unwrap();
        let time = last.entry(row["tid"].clone()).or_insert(at);
        *time = at.max(*time);
    }
    rows.retain(|row| {
        let start = number(row, "ts").unwrap();
        let is_over = match number(row, "dur") {
            Some(0) => last[&row["tid"]] == start,
            length => length.is_none_or(|length| start + length >= span.end.0),
        };
        row["state"] != "unknown" || !is_over
    });
    rows
}

/// Arrows with an end outside of the range, which is told at its border.
fn clamped(mut rows: Rows, span: TimeSpan) -> Rows {
    for row in &mut rows {
        for column in ["from_ts", "to_ts"] {
            let at = number(row, column).unwrap();
            let at = at.clamp(span.start.0, span.end.0 - 1);
            row.set(column, at.to_string());
        }
    }
    rows
}

/// What the range has of a slice whose measured duration is not what is drawn.
fn share(source: &LoadedTrace, mut row: Row, span: TimeSpan) -> Row {
    let slices = &source.trace.slices;
    let id = number(&row, "id").unwrap() as usize;
    let whole = TimeSpan {
        start: Timestamp(slices.starts.at(id)),
        end: Timestamp(slices.end(id).or_greatest()),
    };
    let part = whole.intersection(span);
    row.set("ts", part.start.0.to_string());
    // What is cut has no duration.
    let is_cut = part != whole;
    let own = slices.part_of_duration(id, whole, part.duration().0);
    let dur = if is_cut {
        "\\N".to_owned()
    } else {
        own.to_string()
    };
    row.set("dur", dur);
    row
}

/// What a table's rows of the source are in the exported range.
fn expected(source: &LoadedTrace, name: &str, span: TimeSpan) -> Rows {
    let rows = table(source, name, span);
    let is_inside = |row: &Row, column: &str| {
        number(row, column).is_some_and(|time| span.contains(Timestamp(time)))
    };
    match name {
        "slices" => {
            let measured = |row: &Row| {
                let id = number(row, "id").unwrap() as usize;
                source.trace.slices.measured(id).is_some()
            };
            let (measured, rows): (Rows, Rows) = rows.into_iter().partition(measured);
            let mut rows = cut(rows, span);
            rows.extend(measured.into_iter().map(|row| share(source, row, span)));
            rows
        }
        "runs" => cut(rows, span),
        "states" => {
            let mut rows = cut(rows, span);
            for row in &mut rows {
                // What ends it is the record of the next state, which is not in the range.
                let end = number(row, "dur").map(|dur| dur + number(row, "ts").unwrap());
                if end == Some(span.end.0) && row["state"] != "running" {
                    row.set("dur", "\\N".to_owned());
                }
            }
            without_unknown_ends(rows, span)
        }
        "flows" => clamped(rows, span),
        _ => rows
            .into_iter()
            .filter(|row| is_inside(row, "ts"))
            .collect(),
    }
}

/// Rows that the source has only by the range: the values that counters have at its start.
fn is_of_the_border(name: &str, row: &Row, span: TimeSpan) -> bool {
    name == "counters" && number(row, "ts") == Some(span.start.0)
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
        let mut normal = Normal::new(&source);
        normal.cut(&source, span);
        let again = export_to(folder.path(), &source, &Selection::range(span));
        let all = TimeSpan::ALL;
        for name in [
            "slices", "instants", "counters", "flows", "runs", "states", "logs", "blobs",
        ] {
            let mut theirs = table(&again, name, all);
            if name == "states" {
                theirs = without_unknown_ends(cut(theirs, span), span);
            }
            if name == "instants" {
                theirs = without_objects(&source, &again, span, theirs);
            }
            let (of_border, theirs): (Rows, Rows) = theirs
                .into_iter()
                .partition(|row| is_of_the_border(name, row, span));
            let ours = normal.rows(name, expected(&source, name, span));
            // Long bytes become blobs; runs that did not come from switches have states when they are read back.
            if ["blobs", "states"].contains(&name) && ours.is_empty() {
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
            // See the test of whole traces.
            let lost = source.trace.diagnostics.count_of("switch_mismatch");
            if name == "states" && (differs.len() as u64) <= 3 * lost {
                continue;
            }
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

/// Tables that have as many rows in the exported file as the source has in the range.
const COUNTED: [&str; 7] = [
    "slices", "instants", "counters", "flows", "runs", "states", "logs",
];

/// Times at which something begins or ends, a few of each sort.
fn times_of(source: &LoadedTrace) -> Vec<i64> {
    let trace = &source.trace;
    let some = |all: Vec<i64>| -> Vec<i64> {
        let step = (all.len() / 3).max(1);
        all.into_iter().skip(step / 2).step_by(step).collect()
    };
    let slices = &trace.slices;
    let flows = trace.flows.rows.iter();
    let mut times = [
        some(slices.starts.iter().collect()),
        some(
            (0..slices.len())
                .map(|index| slices.end(index).or_greatest())
                .collect(),
        ),
        some(flows.clone().map(|flow| flow.from.time.0).collect()),
        some(flows.map(|flow| flow.to.time.0).collect()),
        some(trace.runs.starts.to_vec()),
        some(trace.states.starts.to_vec()),
        some(trace.counters.times.to_vec()),
    ]
    .concat();
    times.retain(|&time| time >= 0 && time < trace.span.end.0);
    times.sort_unstable();
    times.dedup();
    times
}

/// Returns `rows`, the points of the export that was read back, without the userspace objects that the exporter repeats
/// at the range's start: pointers in the range refer to objects that the source names before the range.
fn without_objects(
    source: &LoadedTrace,
    again: &LoadedTrace,
    span: TimeSpan,
    mut rows: Rows,
) -> Rows {
    let is_object = |row: &EventRow| {
        let kind = source.trace.kinds.get(row.kind.index());
        kind.is_some_and(|kind| kind.role == Role::PointerName)
    };
    let events =
        (0..source.trace.events.len() as u32).map(|id| source.trace.events.get(EventId(id)));
    let earlier: BTreeSet<String> = events
        .filter(|event| event.row.time < span.start && is_object(&event.row))
        .map(|event| source.trace.kind_name(event.row.kind).into_owned())
        .collect();
    let start = again.trace.span.start.0;
    for name in &earlier {
        let is_it = |row: &Row| number(row, "ts") == Some(start) && row.get("name") == Some(name);
        if let Some(at) = rows.iter().position(is_it) {
            rows.remove(at);
        }
    }
    rows
}

#[test]
fn a_range_has_as_many_rows_as_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut range_count = 0;
    for path in traces() {
        let Some(source) = load(&path) else {
            continue;
        };
        if source.trace.events.len() > 30_000 {
            continue;
        }
        let times = times_of(&source);
        let step = (times.len() / 3).max(1);
        let pairs = times.iter().zip(times.iter().skip(2)).step_by(step);
        let moments = times.iter().step_by(step).map(|&time| (time, time + 1));
        for (from, until) in pairs.map(|(&from, &until)| (from, until)).chain(moments) {
            let span = TimeSpan::new(Timestamp(from), Timestamp(until));
            let again = export_to(folder.path(), &source, &Selection::range(span));
            range_count += 1;
            for name in COUNTED {
                let mut ours = table(&source, name, span);
                let mut theirs = table(&again, name, TimeSpan::ALL);
                if name == "states" {
                    ours = without_unknown_ends(cut(ours, span), span);
                    theirs = without_unknown_ends(cut(theirs, span), span);
                }
                if name == "counters" {
                    // At the start counters have the values that they had before.
                    let at_start = |rows: &Rows| {
                        let is_at_start = |row: &&Row| number(row, "ts") == Some(from);
                        rows.iter().filter(is_at_start).count()
                    };
                    let told = at_start(&theirs) - at_start(&ours).min(at_start(&theirs));
                    theirs.truncate(theirs.len() - told);
                }
                if name == "states" && ours.is_empty() {
                    // Runs that did not come from switches have states when they are read back.
                    continue;
                }
                // States of who was found running or ran for no time at all, and of lost switches: see the test of whole
                // traces.
                let runs = &source.trace.runs;
                let odd = (0..runs.len()).filter(|&run| {
                    let is_found = runs.events[run].is_none() && runs.ends[run] > from;
                    let is_nothing = runs.ends[run] == runs.starts[run] && runs.starts[run] == from;
                    (is_found && runs.starts[run] < until) || is_nothing
                });
                let lost = source.trace.diagnostics.count_of("switch_mismatch");
                let lost = lost + odd.count() as u64;
                if name == "instants" {
                    theirs = without_objects(&source, &again, span, theirs);
                }
                let difference = ours.len().abs_diff(theirs.len()) as u64;
                if difference > 0 && !(name == "states" && difference <= lost) {
                    wrong.push(format!(
                        "{} {from}..{until} {name}: {} became {}",
                        path.file_name().unwrap().to_string_lossy(),
                        ours.len(),
                        theirs.len()
                    ));
                }
            }
        }
    }
    assert!(range_count > 100, "only {range_count} ranges");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
