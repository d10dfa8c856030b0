//! Begins and ends of calls and probes: whose table numbers them, and what is known of those that did not return.

use crate::program::{case, number, rows, stdout};

/// A child of a 32-bit program runs the same program until its own execve: `sched_process_fork` says whose child it is.
#[test]
fn calls_of_a_32_bit_programs_child_are_named_by_its_table() {
    let file = case("ftrace_text/forked-32.ftrace");
    let rows = rows(&["table", "slices", &file]);
    let own = rows.iter().filter(|row| row["tid"] == "19816");
    let names: Vec<&str> = own.map(|row| row["name"].as_str()).collect();
    assert_eq!(
        names,
        ["getpid", "write", "open", "read", "close", "nanosleep"]
    );
    let info = stdout(&["info", &file]);
    assert!(!info.contains("undecided_syscall_names"), "{info}");
}

/// A probe whose return was not recorded is counted: open to the end of its thread if nothing came after it.
#[test]
fn a_call_of_a_probe_that_did_not_return_is_unfinished() {
    let file = case("ftrace_text/killed-in-probe.ftrace");
    let slices = rows(&["table", "slices", &file]);
    let work: Vec<&str> = slices
        .iter()
        .filter(|row| row["name"] == "work")
        .map(|row| row["dur"].as_str())
        .collect();
    assert_eq!(work, ["35201000", "2094000", "\\N"]);
    let stats = rows(&["stats", &file, "--of", "slices", "--format", "tsv"]);
    let work = stats.iter().find(|row| row["group"] == "work").unwrap();
    assert_eq!((&*work["count"], &*work["unfinished"]), ("2", "1"));
    assert!(number(work, "at_least") > 100_000_000);
    // Others came after it: it is not known to have lasted at all.
    let lines = std::fs::read_to_string(&file).unwrap();
    let returned = "            hang-27350   [001] DBZff  2619.558168: work__return:";
    let lines: Vec<&str> = lines
        .lines()
        .filter(|line| !line.starts_with(returned))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lost.ftrace");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let stats = rows(&[
        "stats",
        path.to_str().unwrap(),
        "--of",
        "slices",
        "--format",
        "tsv",
    ]);
    let work = stats.iter().find(|row| row["group"] == "work").unwrap();
    assert_eq!((&*work["count"], &*work["unfinished"]), ("1", "2"));
}
