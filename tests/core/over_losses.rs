//! What is claimed of a recording of which events were lost is true of the whole recording.
//!
//! `tests/cases/over_losses/` has recordings twice: whole, and with lines taken out and the kernel's word for it in their
//! place. Every duration, wait and state that the second is said to have must stand in the first.

use std::collections::HashSet;
use std::process::Command;

const RECORDINGS: &[&str] = &["syscalls", "fgraph", "waking", "waking2", "preempted"];

type Row = serde_json::Value;

fn table(name: &str, recording: &str) -> Vec<Row> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/over_losses");
    let file = format!("{folder}/{recording}.ftrace.txt.zst");
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
    let output = command
        .args(["table", name, &file, "--format", "json"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The columns of the rows that are known to their ends, and how many are not.
fn known(rows: &[Row], columns: &[&str]) -> (HashSet<String>, usize) {
    let is_known =
        |row: &&Row| !row["dur"].is_null() && row["spans_loss"] != 1 && row["state"] != "unknown";
    let known = rows.iter().filter(is_known);
    let texts = known.map(|row| {
        columns
            .iter()
            .map(|name| format!("{} ", row[*name]))
            .collect()
    });
    let texts: HashSet<String> = texts.collect();
    (texts, rows.iter().filter(|row| !is_known(row)).count())
}

/// Holds the rows that say something to those of the whole recording; how many say that they know nothing.
fn holds(name: &str, columns: &[&str], recording: &str) -> usize {
    let is_running = |row: &Row| row["state"] == "running";
    let (running, lossy): (Vec<Row>, Vec<Row>) =
        table(name, recording).into_iter().partition(is_running);
    let whole = table(name, &format!("{recording}-whole"));
    let (lossy, unknown) = known(&lossy, columns);
    let all = known(&whole, columns).0;
    // What only its end tells of has no name.
    let is_false = |text: &&String| !all.contains(*text) && !text.contains("(entry lost)");
    let mut false_ones: Vec<&String> = lossy.iter().filter(is_false).collect();
    false_ones.sort();
    assert!(
        false_ones.is_empty(),
        "{recording}: {name}: {false_ones:#?}"
    );
    // Who runs when events are lost was seen to run until then.
    let span = |row: &Row| {
        let start = row["ts"].as_i64().unwrap();
        (
            row["tid"].as_i64(),
            start,
            row["dur"].as_i64().map_or(i64::MAX, |dur| start + dur),
        )
    };
    let truly: Vec<_> = whole
        .iter()
        .filter(|row| is_running(row))
        .map(span)
        .collect();
    for (tid, start, end) in running.iter().map(span) {
        let around =
            |run: &&(Option<i64>, i64, i64)| run.0 == tid && run.1 <= start && end <= run.2;
        assert!(
            truly.iter().any(|run| around(&run)),
            "{recording}: {tid:?} {start} {end}"
        );
    }
    // And it says most of what it can.
    let most = all.len() - truly.len().min(all.len());
    assert!(
        lossy.len() * 3 >= most,
        "{recording}: {} of {most}",
        lossy.len()
    );
    unknown
}

#[test]
fn durations_of_slices_are_those_of_the_whole_recording() {
    let by_name = |name: &str| match name {
        // How long calls took is measured; when they began follows from that.
        "fgraph" => vec!["dur", "name", "tid"],
        _ => vec!["ts", "dur", "name", "tid"],
    };
    let unknown: Vec<usize> = RECORDINGS
        .iter()
        .map(|name| holds("slices", &by_name(name), name))
        .collect();
    assert!(unknown[0] > 0 && unknown[1] > 0, "{unknown:?}");
}

#[test]
fn states_and_waits_are_those_of_the_whole_recording() {
    let columns = ["ts", "dur", "state", "tid"];
    for name in RECORDINGS {
        holds("states", &columns, name);
    }
}

/// An entry at a depth proves that all calls at this depth or deeper are over: all reads and writes of this recording
/// were entered at depth 0, also those after a loss, at which other calls were open.
#[test]
fn a_call_after_a_loss_is_as_deep_as_the_recorder_says() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/sample-traces/function-graph.dat"
    );
    let all = crate::program::rows(&["table", "slices", file]);
    let outer = all
        .iter()
        .filter(|row| ["vfs_read", "vfs_write"].contains(&row["name"].as_str()));
    let depths: Vec<&str> = outer.map(|row| row["depth"].as_str()).collect();
    assert_eq!(depths.len(), 187);
    assert!(depths.iter().all(|depth| *depth == "0"), "{depths:?}");
}
