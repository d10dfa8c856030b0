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

/// Several probes at the entry of one function, with a function that calls itself: each return ends one call of each.
#[test]
fn a_return_ends_the_calls_of_all_probes_at_the_entry() {
    let line = |time: &str, text: &str| {
        format!("              up-30523   [000] DBZff  2033.{time}: {text}\n")
    };
    let text = [
        "# tracer: nop\n#\n".to_owned(),
        line("100000", "work: (0x55de25b10526) n=2"),
        line("100001", "workargs: (0x55de25b10526) str=\"a\""),
        line("100100", "work: (0x55de25b10526) n=1"),
        line("100101", "workargs: (0x55de25b10526) str=\"b\""),
        line(
            "100200",
            "workret: (0x55de25b10657 <- 0x55de25b10526) ret=0",
        ),
        line(
            "100500",
            "workret: (0x55de25b10657 <- 0x55de25b10526) ret=0",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("twins.ftrace");
    std::fs::write(&file, text.concat()).unwrap();
    let file = file.to_string_lossy().into_owned();
    let slices = rows(&["table", "slices", &file]);
    let mut calls: Vec<(&str, i64)> = (slices.iter())
        .map(|row| (row["name"].as_str(), number(row, "dur") / 1000))
        .collect();
    calls.sort_unstable();
    let expected = [
        ("work", 100),
        ("work", 500),
        ("workargs", 99),
        ("workargs", 499),
    ];
    assert_eq!(calls, expected);
}
