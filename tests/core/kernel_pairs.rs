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

/// Start and end (microseconds) of the calls in a text of uprobes of one thread, with the number of events that are none.
fn calls_of_probes(lines: &[(&str, &str)]) -> (Vec<(String, i64, i64)>, usize) {
    let lines = lines
        .iter()
        .map(|(time, text)| format!("              up-30523   [000] DBZff  2033.{time}: {text}\n"));
    let text = format!("# tracer: nop\n#\n{}", lines.collect::<String>());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("twins.ftrace");
    std::fs::write(&file, text).unwrap();
    let file = file.to_string_lossy().into_owned();
    let slices = rows(&["table", "slices", &file]);
    let mut calls: Vec<(String, i64, i64)> = (slices.iter())
        .map(|row| {
            let start = number(row, "ts") / 1000;
            let name = row["name"].clone();
            (name, start - 2_033_000_000, number(row, "dur") / 1000)
        })
        .collect();
    calls.sort_unstable();
    (calls, rows(&["table", "instants", &file]).len())
}

const WORK: &str = "work: (0x55de25b10526) n=1";
const WORK_ARGS: &str = "workargs: (0x55de25b10526) str=\"a\"";
const RETURN: &str = "workret: (0x55de25b10657 <- 0x55de25b10526) ret=0";
const SECOND_RETURN: &str = "workret2: (0x55de25b10657 <- 0x55de25b10526) val=0";

/// Several probes at the entry of one function that calls itself: each return ends one call of each, also if several
/// probes are at the return.
#[test]
fn a_return_ends_the_calls_of_all_probes_at_the_entry() {
    let one = [
        ("100000", WORK),
        ("100001", WORK_ARGS),
        ("100100", WORK),
        ("100101", WORK_ARGS),
        ("100200", RETURN),
        ("100500", RETURN),
    ];
    let call = |name: &str, start, length| (name.to_owned(), start, length);
    let expected = vec![
        call("work", 100_000, 500),
        call("work", 100_100, 100),
        call("workargs", 100_001, 499),
        call("workargs", 100_101, 99),
    ];
    assert_eq!(calls_of_probes(&one), (expected.clone(), 0));
    let [a, b, c, d, inner, outer] = one;
    let two = [
        a,
        b,
        c,
        d,
        inner,
        ("100201", SECOND_RETURN),
        outer,
        ("100501", SECOND_RETURN),
    ];
    assert_eq!(calls_of_probes(&two), (expected, 2));
}

/// The second probe recorded only the outer call: its filter left out the inner one.
#[test]
fn a_filtered_probe_keeps_its_own_call() {
    let lines = [
        ("100000", WORK),
        ("100001", WORK_ARGS),
        ("100100", WORK),
        ("100200", RETURN),
        ("100500", RETURN),
    ];
    let call = |name: &str, start, length| (name.to_owned(), start, length);
    let expected = vec![
        call("work", 100_000, 500),
        call("work", 100_100, 100),
        call("workargs", 100_001, 499),
    ];
    assert_eq!(calls_of_probes(&lines), (expected, 0));
}
