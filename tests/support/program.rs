//! The built program, run with some arguments: its output, as text and as rows.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "a test may panic; not every test needs all of it"
)]

use std::collections::HashMap;
use std::process::{Command, Output};

/// The path of a file of `tests/cases`.
pub fn case(name: &str) -> String {
    format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs the program.
pub fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Returns the program's output; the program must succeed.
pub fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the rows of a command's JSON output.
pub fn json(arguments: &[&str]) -> Vec<serde_json::Value> {
    let text = stdout(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// A row of a command's tab-separated output, by column.
pub type Row = HashMap<String, String>;

/// Returns the rows of a command's tab-separated output.
pub fn rows(arguments: &[&str]) -> Vec<Row> {
    let text = stdout(arguments);
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| -> Row {
        let names = names.iter().map(|name| (*name).to_owned());
        names.zip(line.split('\t').map(str::to_owned)).collect()
    };
    lines.map(row).collect()
}

/// Returns a whole number of a row.
pub fn number(row: &Row, name: &str) -> i64 {
    row[name].parse().unwrap()
}
