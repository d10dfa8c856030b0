//! Traces in which there is very much of one thing: what is near is told whole, what is left out is said.
//! (`.ci/growth` counts what this costs.)

use std::fmt::Write as _;
use std::process::Command;

/// What `threadline ARGUMENTS FILE` prints as rows of a table, by column, for a file of this text.
fn rows(arguments: &[&str], name: &str, text: &str) -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(arguments)
        .args(["--format", "json"])
        .arg(&path)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// An strace text of (pid, call, result), a microsecond apart.
fn strace(calls: impl IntoIterator<Item = (usize, String, usize)>) -> String {
    let mut text = String::new();
    for (at, (pid, call, result)) in calls.into_iter().enumerate() {
        writeln!(text, "{pid} 1000.{at:06} {call} = {result}").unwrap();
    }
    text
}

fn append(path: &str) -> String {
    format!(r#"openat(AT_FDCWD, "{path}", O_WRONLY|O_APPEND)"#)
}

fn read(path: &str) -> String {
    format!(r#"openat(AT_FDCWD, "{path}", O_RDONLY)"#)
}

/// A file that many processes write and as many read.
fn log_of(count: usize) -> String {
    let writers = (0..count).map(|at| (10 + at, append("/tmp/log"), 3));
    let readers = (0..count).map(|at| (10 + count + at, read("/tmp/log"), 3));
    strace(writers.chain(readers))
}

fn is_left_out(row: &serde_json::Value) -> bool {
    row["code"] == "dependencies_left_out"
}

#[test]
fn who_reads_what_many_wrote_depends_on_all_of_them() {
    let table = ["table", "file_dependencies"];
    assert_eq!(rows(&table, "log.strace", &log_of(60)).len(), 60 * 60);
    let codes = rows(&["table", "diagnostics"], "log.strace", &log_of(60));
    assert!(!codes.iter().any(is_left_out), "{codes:?}");
}

#[test]
fn dependencies_are_as_many_as_the_trace_is_long_and_the_rest_is_said() {
    let count = 400;
    let found = rows(
        &["table", "file_dependencies"],
        "log.strace",
        &log_of(count),
    )
    .len();
    assert!(found >= 16 * 2 * count && found < count * count, "{found}");
    let codes = rows(&["table", "diagnostics"], "log.strace", &log_of(count));
    assert!(codes.iter().any(is_left_out), "{codes:?}");
}

#[test]
fn a_reader_who_comes_again_depends_on_those_who_wrote_meanwhile() {
    let calls = [
        (10, append("/tmp/log"), 3),
        (12, read("/tmp/log"), 3),
        (12, "close(3)".to_owned(), 0),
        (11, append("/tmp/log"), 3),
        (12, read("/tmp/log"), 3),
        (10, append("/tmp/log"), 4),
        (12, read("/tmp/log"), 4),
    ];
    let found = rows(
        &["table", "file_dependencies"],
        "log.strace",
        &strace(calls),
    );
    let writers: Vec<&str> = found
        .iter()
        .map(|row| row["writer"].as_str().unwrap_or_default())
        .collect();
    // Who wrote again is depended on again: what it wrote then is new.
    assert_eq!(writers.len(), 3, "{found:?}");
}

/// Slices inside each other, each with a name of its own.
fn nested(count: usize) -> String {
    let mut text = "# tracer: nop\n#\n".to_owned();
    for at in 0..count {
        let mark = format!("B|100|f{at}");
        writeln!(
            text,
            "     app-100   [000] ..... 1000.{at:06}: tracing_mark_write: {mark}"
        )
        .unwrap();
    }
    for at in 0..count {
        writeln!(
            text,
            "     app-100   [000] ..... 1001.{at:06}: tracing_mark_write: E|100"
        )
        .unwrap();
    }
    text
}

#[test]
fn turned_over_each_name_has_its_nearest_callers() {
    let deepest = |count| {
        let rows = rows(
            &["flame", "--as", "bottom-up"],
            "deep.ftrace",
            &nested(count),
        );
        let depths = rows.iter().map(|row| row["depth"].as_u64().unwrap());
        (depths.max().unwrap(), rows.len())
    };
    // All callers of all 80: 80 + 79 + 78 ...
    assert_eq!(deepest(80), (80, 80 * 81 / 2));
    let (depth, count) = deepest(1000);
    assert!((32..=64).contains(&depth), "{depth}");
    assert!(count <= 4096 + 33 * 1000, "{count}");
}

/// A folder of many files that is renamed as often.
fn moved_folder(count: usize) -> String {
    let create =
        |at| format!(r#"openat(AT_FDCWD, "/tmp/d0/f{at}", O_WRONLY|O_CREAT|O_TRUNC, 0666)"#);
    let made = (0..count).map(|at| (10, create(at), 3));
    let rename = |at| format!(r#"rename("/tmp/d{at}", "/tmp/d{}")"#, at + 1);
    strace(made.chain((0..count).map(|at| (10, rename(at), 0))))
}

#[test]
fn files_go_with_their_folder_as_often_as_the_trace_is_long_and_the_rest_is_said() {
    let is_left_out = |row: &serde_json::Value| row["code"] == "moved_files_left_out";
    let codes = |count| rows(&["table", "diagnostics"], "mv.strace", &moved_folder(count));
    assert!(!codes(200).iter().any(is_left_out));
    assert!(codes(400).iter().any(is_left_out));
}

#[test]
fn all_that_went_into_a_file_is_found_though_its_makers_ended_in_another_order() {
    let count = 20;
    let create =
        |path: String| format!(r#"openat(AT_FDCWD, "{path}", O_WRONLY|O_CREAT|O_TRUNC, 0666)"#);
    let each = || 0..count;
    let mut calls: Vec<(usize, String, usize)> = Vec::new();
    calls.extend(each().map(|at| (10, create(format!("/tmp/f{at}")), 3 + at)));
    // What is read between two ends went only into what ended later.
    for at in each() {
        calls.push((10, read(&format!("/tmp/in{at}")), 3 + count));
        calls.push((10, format!("close({})", 3 + at), 0));
    }
    calls.extend(each().rev().map(|at| (11, read(&format!("/tmp/f{at}")), 3)));
    calls.push((11, create("/tmp/out".to_owned()), 4));
    let list = |path: &str| {
        rows(
            &["file", "--went-into", path],
            "made.strace",
            &strace(calls.clone()),
        )
    };
    assert_eq!(list("/tmp/out").len(), 2 * count);
    assert_eq!(list("/tmp/f7").len(), 8);
}
